"""The files of a package: found by what an import says, parsed when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.analyzers.static.python.modules import Module, UnparsedError
from prefixwise.analyzers.static.python.notebooks import Notebook, is_notebook
from prefixwise.analyzers.static.sources import Source


class Package:
    """Files that may import each other; nothing outside them is looked at."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._paths = {_parts(path): path for path in sorted(sources)}
        self._modules: dict[str, Module | None] = {}
        self.notebooks: dict[str, Notebook] = {}
        self.notes: dict[str, str] = {}

    def module(self, path: str) -> Module | None:
        """Return a file's module, None where it cannot be parsed, which is noted once."""
        if path not in self._modules:
            self._modules[path] = self._read(path)
        return self._modules[path]

    def _read(self, path: str) -> Module | None:
        source = self._sources[path]
        try:
            if is_notebook(path):
                self.notebooks[path] = notebook = Notebook(source)
                source = notebook.code
            return Module(source)
        except UnparsedError as error:
            line = f":{error.line}" if error.line and path not in self.notebooks else ""
            self.notes[path] = f"{path}{line}: not read, this version of Python cannot parse it: {error}"
        return None

    def source(self, path: str) -> Source:
        """Return a file."""
        return self._sources[path]

    def find(self, importer: str, level: int, dotted: str) -> str | None:
        """Return the path of the module that an import in `importer` names, None where it is none of these files.

        A name without dots in front of it may be that of a module in any folder above the importer.
        """
        folder = tuple(importer.replace("\\", "/").split("/")[:-1])
        wanted = tuple(part for part in dotted.split(".") if part)
        if level:
            if level - 1 > len(folder):
                return None
            return self._paths.get((*folder[: len(folder) - level + 1], *wanted))
        for depth in range(len(folder), -1, -1):
            found = self._paths.get((*folder[:depth], *wanted))
            if found is not None:
                return found
        return None


def _parts(path: str) -> tuple[str, ...]:
    parts = path.replace("\\", "/").rsplit(".", 1)[0].split("/")
    return tuple(parts[:-1] if parts[-1] == "__init__" else parts)
