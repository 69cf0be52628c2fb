"""Which functions are worth a look: those whose text speaks of prompts, and those that call them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from prefixwise.analyzers.static.python.frameworks import is_framework_name
from prefixwise.analyzers.static.python.functions import MOST_DEPTH
from prefixwise.analyzers.static.python.modules import Function, Module, path_of
from prefixwise.analyzers.static.python.package import Package
from prefixwise.analyzers.static.python.sink_names import (
    CACHE_KEYS,
    ONLY_PROMPTS,
    PROMPT_METHODS,
    is_agent,
    is_chat,
    is_model_call,
    is_prompt_name,
    is_system_name,
)
from prefixwise.analyzers.static.sources import Source

_SPEAKS = re.compile(
    r"prompt|Prompt|PROMPT|instruction|[\"'](?:system|role|developer|messages|ai|human)[\"']|\b(?:system|role|messages)\s*="
    r"|(?i:sys(?:tem)?_?(?:message|msg|text))|SYSTEM\b|SYSTEM_|preamble|PREAMBLE|backstory|s_modifier|state_modifier"
    r"|developer_|cache_salt|generate_content|\.converse|invoke_model|[Cc]ompletions?\b|\bresponses\.|messages\."
    r"|assistants\.|threads\.|runs\.|sessions\.create|chats\.create|caches\.create|chat_template"
    r"|\.(?:a?chat|a?stream|a?generate|a?invoke|stream_chat|complete)(?:_async)?\(\s*[^)\s]"
    r"|Agent\(|_agent\(|AgentOptions|Assistant|GenerativeModel|ChatEngine|as_chat_engine"
)
"""What the text of code says that sends a prompt or holds one."""
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(\s*(?=[^)\s])")
"""Calls with something to pass."""
_KEYS = frozenset({*ONLY_PROMPTS, *CACHE_KEYS, "messages", "role"})


def speaks_of_prompts(text: str) -> bool:
    """Say whether code may send a prompt or hold one."""
    return _SPEAKS.search(text) is not None


def _sends(node: ast.AST) -> bool:
    """Say whether code sends a prompt, or holds one by its name."""
    return any(_is_sink(inner) for inner in ast.walk(node))


def _is_sink(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        path = path_of(node.func)
        name = path.rsplit(".", 1)[-1]
        if any(keyword.arg in _KEYS for keyword in node.keywords):
            return True
        if is_chat(name) or name in PROMPT_METHODS:
            return bool(node.args)
        return is_model_call(path) or is_agent(name) or is_framework_name(path)
    if isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value in _KEYS for key in node.keys)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _is_prompts(node.name) or any(_is_prompts(path_of(item)) for item in node.decorator_list)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return _is_prompts(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return _is_prompts(node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return isinstance(node.slice, ast.Constant) and node.slice.value in _KEYS
    return False


def _is_prompts(name: str) -> bool:
    return is_system_name(name) or is_prompt_name(name) or name in ONLY_PROMPTS or name.endswith(".instructions")


class Relevance:
    """What is to be looked at in the wanted files of a package.

    Attributes:
        modules: The modules, in order of path, each with the functions in it.
    """

    def __init__(
        self, package: Package, sources: Mapping[str, Source], wanted: Collection[str], builders: bool
    ) -> None:
        self.modules: dict[str, list[Function]] = {}
        self._package = package
        self._builders = builders
        self._calls: dict[str, frozenset[str]] = {}
        rest = []
        for path in sorted(wanted):
            if builders or speaks_of_prompts(sources[path].text):
                self._add(path)
            else:
                rest.append(path)
        self._close(sources, rest)
        self.modules = dict(sorted(self.modules.items()))

    def _add(self, path: str) -> None:
        module = self._package.module(path)
        if module is not None:
            self.modules[path] = [
                item
                for item in _functions(module)
                if self._builders or (speaks_of_prompts(module.text_of(item.node)) and _sends(item.node))
            ]

    def _close(self, sources: Mapping[str, Source], rest: list[str]) -> None:
        """Add the functions that call those found so far, as many calls away as values are followed."""
        new = [function for found in self.modules.values() for function in found]
        for _ in range(MOST_DEPTH):
            names = _Callees(new)
            for path in [path for path in rest if names.called_in(sources[path], _called(sources[path].text))]:
                rest.remove(path)
                if self._package.module(path) is not None:
                    self.modules.setdefault(path, [])
            new = []
            for path, found in self.modules.items():
                module, known = self._package.module(path), set(found)
                for function in _functions(module) if module is not None else ():
                    if function not in known and names.called_in(sources[path], self._calls_of(function)):
                        new.append(function)
                        found.append(function)
            if not new:
                return

    def _calls_of(self, function: Function) -> frozenset[str]:
        if function.key not in self._calls:
            self._calls[function.key] = _called(function.module.text_of(function.node))
        return self._calls[function.key]


class _Callees:
    """Functions that something can be passed to, by the names by which they are called."""

    def __init__(self, functions: list[Function]) -> None:
        self._paths: dict[str, set[str]] = {}
        for function in functions:
            own = 1 if function.owner is not None and "staticmethod" not in function.decorators else 0
            name = _name(function)
            if len(function.parameters) > own and not name.startswith("__"):
                self._paths.setdefault(name, set()).add(function.module.path)
        self._named: dict[tuple[str, str], bool] = {}

    def called_in(self, source: Source, calls: frozenset[str]) -> bool:
        """Say whether one of them may be called with something by code of a file that makes these calls."""
        return any(
            path == source.path or self._names(source, path)
            for name in calls & self._paths.keys()
            for path in self._paths[name]
        )

    def _names(self, source: Source, path: str) -> bool:
        """Say whether a file names another; its text is searched once for all of its functions."""
        key = (source.path, path)
        if key not in self._named:
            self._named[key] = _stem(path) in source.text
        return self._named[key]


def _stem(path: str) -> str:
    """Return how an import names a file."""
    parts = path.rsplit(".", 1)[0].split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def _called(text: str) -> frozenset[str]:
    return frozenset(_CALLED.findall(text))


def _name(function: Function) -> str:
    """Return by what name a function is called: a constructor by that of its class."""
    return function.owner.name if function.name == "__init__" and function.owner is not None else function.name


def _functions(module: Module) -> Iterator[Function]:
    yield from module.functions.values()
    for owner in module.classes.values():
        yield from owner.methods.values()
