"""Mustache and Handlebars: placeholders, helpers, sections, and roles that are written as helpers (dotprompt)."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.static.templates.parts import (
    Control,
    ControlKind,
    Message,
    Part,
    Placeholder,
    Text,
    UnreadableTemplateError,
    Value,
)
from prefixwise.analyzers.static.templates.views import View

_WORD = re.compile(r"""(?P<string>"[^"]*"|'[^']*')|(?P<bar>\|[^|]*\|)|(?P<key>[\w-]+=)|(?P<path>[^\s()"'=|]+)|[()=|]""")
_STRING = re.compile(r"""(["'])(.*?)\1""")
_ROLE = re.compile(r"""\brole\s*=\s*["'](\w+)["']""")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")
_CONSTANTS = frozenset(
    {"true", "false", "null", "undefined", "else", "as", "this", ".", "@index", "@key", "@first", "@last"}
)
_CONDITIONS = frozenset({"if", "unless", "ifEquals", "unlessEquals", "with", "eq", "ifCond"})
_ROLES = frozenset({"system", "user", "assistant", "developer", "model", "tool"})
_ROLE_BLOCKS = frozenset({"message", "chat", "role"})
_DEEPEST = 40


class _Open(NamedTuple):
    """A section that has not ended yet."""

    name: str
    at: int
    control: Control
    prefix: str
    loops: bool
    role: bool


def handlebars_messages(view: View) -> list[Message]:
    """Return the messages of a template; one without a role where no helper names one.

    Raises:
        UnreadableTemplateError: A tag or section does not end.
    """
    reader = _Reader(view)
    reader.read()
    return [Message(role, tuple(parts)) for role, parts in reader.messages if parts]


class _Reader:
    def __init__(self, view: View) -> None:
        self._view = view
        self._text = view.text
        self._open: list[_Open] = []
        self._delimiters = ("{{", "}}")
        self.messages: list[tuple[str, list[Part]]] = [("", [])]

    def read(self) -> None:
        position = 0
        while True:
            start = self._text.find(self._delimiters[0], position)
            if start < 0:
                break
            if self._text[start - 1 : start] == "\\" and start:
                end = self._find(self._delimiters[1], start, start)
                self._add_text(position, end)
                position = end
                continue
            self._add_text(position, start)
            position = self._tag(start)
        self._add_text(position, len(self._text))
        if self._open:
            raise UnreadableTemplateError(f"the section {self._open[-1].name!r} does not end", self._open[-1].at)

    @property
    def _within(self) -> tuple[Control, ...]:
        return tuple(section.control for section in self._open if not section.role)

    def _find(self, closing: str, start: int, position: int) -> int:
        """Return where a tag ends that begins at `start` and goes on to `position`."""
        end = self._text.find(closing, position)
        if end < 0:
            raise UnreadableTemplateError("a tag does not end", start)
        return end + len(closing)

    def _add_text(self, start: int, end: int) -> None:
        if start < end:
            text = Text(self._text[start:end], self._view.start(start), self._view.end(end), self._within)
            self.messages[-1][1].append(text)

    def _tag(self, start: int) -> int:
        """Read the tag at `start` and return where it ends."""
        opening, closing = self._delimiters
        inner = start + len(opening)
        if self._text.startswith("{{{{", start):
            return self._raw(start)
        if self._text.startswith("{", inner) and opening == "{{":
            end = self._find("}}}", start, start)
            self._output(self._text[inner + 1 : end - 3].strip("~ "), start, end)
            return end
        if self._text.startswith(("!--", "~!--"), inner):
            return self._find(closing, start, self._find("--", start, inner + 4) - 2)
        end = self._find(closing, start, inner)
        said = self._text[inner : end - len(closing)].strip().strip("~").strip()
        if said.startswith("=") and said.endswith("="):
            self._change_delimiters(said, start)
        elif said[:1] in ("#", "^") and said != "^":
            self._open_section(said, start, end)
        elif said[:1] == "/":
            self._close_section(start)
        elif said == "^" or said.split(None, 1)[:1] == ["else"]:
            self._otherwise(start)
        elif said[:1] not in ("!", ">", ""):
            self._output(said.lstrip("&*").strip(), start, end)
        return end

    def _raw(self, start: int) -> int:
        opened = self._find("}}}}", start, start)
        name = self._text[start + 4 : opened - 4].split()[:1]
        closing = self._text.find("{{{{/" + "".join(name), opened)
        if closing < 0:
            raise UnreadableTemplateError("a raw block does not end", start)
        self._add_text(opened, closing)
        return self._find("}}}}", start, closing)

    def _change_delimiters(self, said: str, start: int) -> None:
        pair = said.strip("=").split()
        if len(pair) != 2:
            raise UnreadableTemplateError("delimiters are changed to nothing", start)
        self._delimiters = (pair[0], pair[1])

    def _output(self, said: str, start: int, end: int) -> None:
        role = _role_of(said)
        if role:
            self.messages.append((role, []))
            return
        start, end = self._view.start(start), self._view.end(end)
        values = tuple(self._value(name, (said,) if " " in said else (), start, end) for name in _printed_names(said))
        if values:
            self.messages[-1][1].append(Placeholder(values, start, end, self._within))

    def _value(self, name: str, filters: tuple[str, ...], start: int, end: int) -> Value:
        depth = name.count("../")
        name = name.replace("../", "")
        absolute = name.startswith(("@root.", "@state.")) or depth > 0
        name = name.removeprefix("@root.").removeprefix("@state.").removeprefix("this.").removeprefix("./")
        section = next((section for section in reversed(self._open) if section.prefix), None)
        if section is None or absolute:
            return Value(name.strip("@"), filters, start, end)
        name = section.prefix if name in ("this", ".") else f"{section.prefix}.{name}"
        return Value(name, filters, start, end, (), section.control if section.loops else None)

    def _open_section(self, said: str, start: int, end: int) -> None:
        if len(self._open) == _DEEPEST:
            raise UnreadableTemplateError("sections are nested too deeply", start)
        inverted, name = said[0] == "^", said[1:].strip().lstrip("*>").strip()
        words = name.split(None, 1)
        helper = words[0] if words else ""
        names = _printed_names(words[1]) if len(words) > 1 else [helper]
        role = (
            _role_of(f"role {name.partition('=')[2]}") if helper in _ROLE_BLOCKS else helper if helper in _ROLES else ""
        )
        kind = ControlKind.CONDITION if inverted or helper in _CONDITIONS else ControlKind.LOOP
        control = Control(kind, tuple(names), self._view.start(start), self._view.end(end))
        if role:
            self.messages.append((role, []))
            self._open.append(_Open(helper, start, control, "", False, True))
            return
        scoped = bool(names) and (kind is ControlKind.LOOP or helper == "with")
        prefix = self._value(names[0], (), 0, 0).name if scoped else ""
        self._open.append(_Open(helper, start, control, prefix, kind is ControlKind.LOOP, False))

    def _otherwise(self, start: int) -> None:
        if not self._open:
            raise UnreadableTemplateError("an else stands outside a section", start)
        section = self._open.pop()
        control = section.control._replace(kind=ControlKind.ALTERNATIVE)
        self._open.append(section._replace(control=control, prefix="", loops=False))

    def _close_section(self, start: int) -> None:
        if not self._open:
            raise UnreadableTemplateError("a section is closed that was not opened", start)
        if self._open.pop().role:
            self.messages.append(("", []))


def _role_of(said: str) -> str:
    """Return the role that a helper names: `role "system"`."""
    if said.split(None, 1)[:1] != ["role"]:
        return ""
    found = _STRING.search(said)
    return found[2].lower() if found is not None else ""


def _block_role(helper: str, arguments: list[str]) -> str:
    """Return the role that a block names: `{{#system}}`, `{{#message role="system"}}`."""
    if helper in _ROLES and not arguments:
        return helper
    found = _ROLE.search(arguments[0]) if helper in _ROLE_BLOCKS and arguments else None
    return found[1].lower() if found is not None else ""


def _printed_names(said: str) -> list[str]:
    """Return the variables of a tag, a helper's arguments included; of a helper without arguments itself."""
    words = [(match.lastgroup, match[0]) for match in _WORD.finditer(said)]
    paths = [text for group, text in words if group == "path" and text not in _CONSTANTS and not _NUMBER.match(text)]
    if said.strip() in ("this", "."):
        return ["this"]
    if len(words) > 1 and len(paths) > 1 and words[0] == ("path", paths[0]):
        return paths[1:]
    return paths
