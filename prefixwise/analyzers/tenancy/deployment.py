"""Configuration of engines, cache stores and gateways: settings with the line that they stand on.

Command lines, YAML, JSON and lines of `NAME=VALUE` are read for settings that bear on how tenants are kept apart; what
is not known is passed over. Names are compared in lower case with `_` for `-`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from prefixwise.analyzers.static.templates.json_text import parse_json
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError
from prefixwise.analyzers.static.templates.trees import NOTHING, Mapping, Scalar, Tree
from prefixwise.analyzers.static.templates.trees import Sequence as ListTree
from prefixwise.analyzers.static.templates.views import View
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import excerpt

_FLAG = re.compile(
    r"(?<![\w-])--(?P<name>[A-Za-z][\w.-]*)(?:[ \t]*=[ \t]*|[ \t]+(?!-))?(?P<value>'[^']*'|\"[^\"]*\"|[^\s'\"\\]+)?"
)
_ARGUMENT = re.compile(r"--[A-Za-z][\w.-]*(?:=.*)?", re.DOTALL)
_VARIABLE = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+|-[ \t]+|ENV[ \t]+)?(?P<name>[A-Z][A-Z0-9_]{2,})[ \t]*=[ \t]*(?P<value>[^\s#]+)"
)
_LARGEST = 1 << 22
_SHOWN = 80
_SYSTEMS = (
    ("vllm", re.compile(r"\bvllm\b|kv[_-]transfer[_-]config|prefix[_-]caching[_-]hash[_-]algo")),
    ("sglang", re.compile(r"\bsglang\b|hicache|schedule[_-]policy|enable[_-]cache[_-]report")),
    ("lmcache", re.compile(r"(?i)\blmcache|\blocal_cpu\b|\bremote_url\b|\bmax_local_cpu_size\b")),
    ("litellm", re.compile(r"litellm")),
    ("tensorrt-llm", re.compile(r"trtllm|tensorrt|kv_cache_config|tokens_per_block|enable_block_reuse")),
    ("dynamo", re.compile(r"\bdynamo\b|nvidia\.com/dynamo")),
    ("mooncake", re.compile(r"(?i)mooncake")),
)
_FILLED_IN = re.compile(r"\$|\{\{|%\(|os\.environ|<[^>]*>")


class Setting(msgspec.Struct, frozen=True):
    """One setting of a configuration file.

    Attributes:
        path, line: Where it stands; lines are 1-based.
        name: Dotted, in lower case, `_` for `-`; `value`: as text, `true` for a flag without one.
        text: The line as a report may show it; `start`, `end`: its offsets in the file.
    """

    path: str
    line: int
    name: str
    value: str
    text: str
    start: int = 0
    end: int = 0

    @property
    def last(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    @property
    def on(self) -> bool:
        """Whether it turns something on."""
        return self.value.strip().lower() not in ("", "false", "0", "no", "off", "none", "null")

    @property
    def is_constant(self) -> bool:
        """Whether the value stands there as it is, and is not filled in from elsewhere."""
        return self.on and _FILLED_IN.search(self.value) is None

    @property
    def place(self) -> str:
        """`FILE:LINE`."""
        return f"{self.path}:{self.line}"


class ConfigFile(msgspec.Struct, frozen=True):
    """One file: what it configures, as far as that can be told, and its settings in order."""

    path: str
    systems: tuple[str, ...]
    settings: tuple[Setting, ...]

    def find(self, *names: str) -> tuple[Setting, ...]:
        """Return the settings whose last part is one of these names."""
        return tuple(setting for setting in self.settings if setting.last in names)


class Deployment(msgspec.Struct, frozen=True):
    """All files of a deployment."""

    files: tuple[ConfigFile, ...] = ()

    def find(self, *names: str, system: str = "") -> tuple[Setting, ...]:
        """Return the settings of that name, in files of that system where one is named."""
        files = (file for file in self.files if not system or system in file.systems)
        return tuple(setting for file in files for setting in file.find(*names))

    def configures(self, *systems: str) -> bool:
        """Say whether a file configures one of these systems."""
        return any(system in file.systems for file in self.files for system in systems)


def read_deployment(paths: Iterable[str]) -> Deployment:
    """Read configuration files. Raises UserError for one that cannot be read."""
    return Deployment(tuple(map(_read, dict.fromkeys(paths))))


def _read(path: str) -> ConfigFile:
    try:
        data = Path(path).read_bytes()[: _LARGEST + 1]
        text = data.decode("utf-8-sig")
    except OSError as problem:
        raise UserError(problem.strerror or str(problem), path, "name a configuration file") from None
    except UnicodeDecodeError:
        raise UserError("is no text in UTF-8", path, "name a configuration file") from None
    if len(data) > _LARGEST:
        raise UserError("is too large for a configuration", path)
    return config_of(path, text)


def config_of(path: str, text: str) -> ConfigFile:
    """Return what a configuration says."""
    lines = _Lines(path, text)
    found = [*_of_tree(lines), *_of_variables(lines)]
    seen = {(setting.line, setting.name, setting.value): setting for setting in found}
    systems = tuple(name for name, sign in _SYSTEMS if sign.search(text) or sign.search(Path(path).name))
    return ConfigFile(path, systems, tuple(sorted(seen.values(), key=lambda one: (one.line, one.name))))


class _Lines:
    """The text of a file, and settings by offset."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def setting(self, at: int, name: str, value: str) -> Setting:
        line = self.text.count("\n", 0, at)
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        shown = excerpt(self.text[start:end].strip(), limit=_SHOWN)
        name, value = name.lower().replace("-", "_"), value.strip("'\" \t")
        return Setting(self.path, line + 1, name, value, shown, start, end)


def _of_tree(lines: _Lines) -> Iterator[Setting]:
    """Read YAML or JSON as a tree; what is neither line by line, as a script is."""
    try:
        tree = parse_json(lines.text) if lines.text.lstrip()[:1] in "{[" else parse_yaml(lines.text)
    except UnreadableTemplateError:
        tree = None
    if tree is None or isinstance(tree, Scalar) or _is_command(tree):
        yield from _of_plain_lines(lines)
        yield from _of_flags(lines, View(lines.text))
    else:
        yield from _flat(lines, tree, ())


def _is_command(tree: Tree) -> bool:
    """Say whether what looks like a mapping is a command line with a colon and a space in it."""
    return isinstance(tree, Mapping) and any(" --" in name for name, _ in tree.entries)


def _of_plain_lines(lines: _Lines) -> Iterator[Setting]:
    """Read `name: value` a line where a file is no YAML that can be read as a whole; indentation is not looked at."""
    for match in re.finditer(r"(?m)^[ \t-]*([A-Za-z_][\w.-]*)[ \t]*[:=][ \t]*([^\s#][^\n#]*)", lines.text):
        yield lines.setting(match.start(1), match[1], match[2])


def _flat(lines: _Lines, tree: Tree, names: tuple[str, ...]) -> Iterator[Setting]:
    if isinstance(tree, Mapping):
        for name, inner in tree.entries:
            yield from _flat(lines, inner, (*names, name))
    elif isinstance(tree, ListTree):
        yield from _of_arguments(lines, tree)
        for inner in tree.items:
            if not (isinstance(inner, Scalar) and _ARGUMENT.fullmatch(inner.text)):
                yield from _flat(lines, inner, names)
    else:
        if names:
            at = tree.view.start(0)
            yield lines.setting(at, ".".join(names), tree.text)
            yield from _nested(lines, at, names, tree.text)
        if "--" in tree.text:
            yield from _of_flags(lines, tree.view)


def _of_arguments(lines: _Lines, arguments: ListTree) -> Iterator[Setting]:
    """Read a list of arguments: `--name=value`, or `--name` with its value behind it."""
    items = [item for item in arguments.items if isinstance(item, Scalar)]
    for item, after in itertools.pairwise((*items, NOTHING)):
        if _ARGUMENT.fullmatch(item.text):
            name, equals, value = item.text[2:].partition("=")
            if not equals and not after.text.startswith("-"):
                value = after.text
            yield from _of_flag(lines, item.view.start(0), name, value)


def _nested(lines: _Lines, at: int, names: Sequence[str], value: str) -> Iterator[Setting]:
    """Read the JSON that some settings hold as a text."""
    if not value.lstrip().startswith("{"):
        return
    try:
        decoded = msgspec.json.decode(value)
    except msgspec.MsgspecError:
        return
    for key, inner in _pairs(decoded, ()):
        yield lines.setting(at, ".".join((*names, *key)), inner)


def _pairs(value: object, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _pairs(inner, (*names, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(inner, names)
    else:
        yield names, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _of_flags(lines: _Lines, view: View) -> Iterator[Setting]:
    for match in _FLAG.finditer(view.text):
        yield from _of_flag(lines, view.start(match.start()), match["name"], match["value"] or "")


def _of_flag(lines: _Lines, at: int, name: str, value: str) -> Iterator[Setting]:
    value = value.strip("'\"") or "true"
    if name.startswith("no-"):
        name, value = name[3:], "false"
    yield lines.setting(at, name, value)
    yield from _nested(lines, at, (name,), value)


def _of_variables(lines: _Lines) -> Iterator[Setting]:
    for match in _VARIABLE.finditer(lines.text):
        yield lines.setting(match.start("name"), match["name"], match["value"])
