"""The modules of a package: read when they are needed, found by what imports say."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from prefixwise.analyzers.static.scripts.module import Binding, Export, Module
from prefixwise.analyzers.static.scripts.tree import SUFFIXES, Node, read_tree
from prefixwise.analyzers.static.sources import Source

_SPECIFIER = re.compile(
    r"""(?:\bfrom|\bimport|\brequire|\bimport\s*\(|\brequire\s*\()\s*\(?\s*["']([.@~#/\w][^"'\n]*)["']"""
)
_ALIAS = re.compile(r"^(?:@/|~/|#/?|src/|\$lib/)")
_SCRIPT_SUFFIX = re.compile(r"\.(?:[cm]?[jt]s|[jt]sx)$")
_DEEPEST = 4
"""How many modules a name may be passed on through."""
_LONGEST = 600_000
_LONG, _LONG_LINES = 20_000, 400
_MOST_NODES = 400_000


def is_written(text: str) -> bool:
    """Say whether a script is one that people write, rather than a bundle or a minified one."""
    if len(text) < _LONG:
        return True
    return len(text) <= _LONGEST and text.count("\n") * _LONG_LINES > len(text)


class Program:
    """Modules by path; what is not among the sources is taken for a package from outside."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.sources = sources
        self._modules: dict[str, Module | None] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}

    def module(self, path: str) -> Module | None:
        """Return a module, None for a file that is no script, or not one that people write."""
        if path in self._modules:
            self._modules[path] = found = self._modules.pop(path)  # the last used stand last
            return found
        source = self.sources.get(path)
        readable = source is not None and _SCRIPT_SUFFIX.search(path) and is_written(source.text)
        self._modules[path] = Module(path, read_tree(source)) if source is not None and readable else None
        return self._modules[path]

    def forget(self) -> None:
        """Let go of the modules that have not been used for longest, as many as are too many to keep.

        Nothing that was found before may be used afterwards together with what is found then.
        """
        total = sum(len(module.tree.nodes) for module in self._modules.values() if module is not None)
        for path, module in list(self._modules.items()):
            if total <= _MOST_NODES:
                return
            total -= len(module.tree.nodes) if module is not None else 0
            del self._modules[path]

    def resolve(self, path: str, specifier: str) -> str | None:
        """Return the file that an import in the file `path` names, None for one of another package."""
        key = posixpath.dirname(path), specifier
        if key not in self._resolved:
            self._resolved[key] = self._resolve(path, specifier)
        return self._resolved[key]

    def _resolve(self, path: str, specifier: str) -> str | None:
        if specifier.startswith("."):
            return self._file(posixpath.normpath(posixpath.join(posixpath.dirname(path), specifier)))
        alias = _ALIAS.match(specifier)
        if alias is None:
            return None
        rest = specifier[alias.end() :]
        folder = posixpath.dirname(path)
        while True:
            for base in (folder, posixpath.join(folder, "src"), posixpath.join(folder, "app")):
                found = self._file(posixpath.normpath(posixpath.join(base, rest)))
                if found is not None:
                    return found
            if folder in ("", "/", "."):
                return None
            folder = posixpath.dirname(folder)

    def _file(self, stem: str) -> str | None:
        bare = _SCRIPT_SUFFIX.sub("", stem)
        names = [stem, *(bare + suffix for suffix in SUFFIXES), *(stem + suffix for suffix in SUFFIXES)]
        names += [posixpath.join(stem, "index" + suffix) for suffix in SUFFIXES]
        return next((name for name in names if name in self.sources and _SCRIPT_SUFFIX.search(name)), None)

    def exported(self, module: Module, name: str, depth: int = 0) -> tuple[Module, Binding | Node] | None:
        """Return what a module exports under a name: the name's binding there, or an expression."""
        export = module.exports.get(name)
        if depth > _DEEPEST:
            return None
        if export is not None:
            return self._export(module, export, depth)
        for specifier in module.passed_on:
            other = self.imported(module, specifier)
            found = self.exported(other, name, depth + 1) if other is not None else None
            if found is not None:
                return found
        return None

    def _export(self, module: Module, export: Export, depth: int) -> tuple[Module, Binding | Node] | None:
        if export.module:
            other = self.imported(module, export.module)
            return self.exported(other, export.local, depth + 1) if other is not None else None
        if export.node is not None:
            return module, export.node
        binding = module.binding(export.local, module.tree.root)
        if binding is not None and binding.kind == "import":
            other = self.imported(module, binding.source[0])
            return self.exported(other, binding.source[1], depth + 1) if other is not None else None
        return (module, binding) if binding is not None else None

    def imported(self, module: Module, specifier: str) -> Module | None:
        """Return the module that an import names, None for one of another package."""
        path = self.resolve(module.path, specifier)
        return self.module(path) if path is not None else None

    def importers(self, module: Module) -> Iterator[Module]:
        """Yield the modules that import a module."""
        for path in self._importers.get(module.path, ()):
            found = self.module(path)
            if found is not None:
                yield found

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        importers: dict[str, list[str]] = defaultdict(list)
        for path, source in self.sources.items():
            if not _SCRIPT_SUFFIX.search(path) or not is_written(source.text):
                continue
            for specifier in dict.fromkeys(_SPECIFIER.findall(source.text)):
                target = self.resolve(path, specifier)
                if target is not None and path not in importers[target]:
                    importers[target].append(path)
        return importers
