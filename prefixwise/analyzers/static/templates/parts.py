"""A prompt template as what it sends: messages in the order in which a cache sees them, and what each is made of."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from prefixwise.core.finding import Where


class UnreadableTemplateError(Exception):
    """A template that cannot be read, and where."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.what = what
        self.offset = offset


class Syntax(StrEnum):
    """How placeholders are written."""

    JINJA = "jinja"
    HANDLEBARS = "handlebars"
    MUSTACHE = "mustache"
    BRACES = "braces"
    """`{{ name }}` in a text that says nothing of its syntax; filters may follow."""
    FORMAT = "format"
    """`{name}`, as `str.format` and f-strings have it; LangChain, LlamaIndex and DSPy too."""
    PERCENT = "percent"
    """`%(name)s`."""
    DOLLAR = "dollar"
    """`${name}`."""
    NONE = "none"
    """Nothing is filled in."""


_ALIASES = {
    "jinja": Syntax.JINJA,
    "jinja2": Syntax.JINJA,
    "liquid": Syntax.JINJA,
    "mustache": Syntax.MUSTACHE,
    "handlebars": Syntax.HANDLEBARS,
    "hbs": Syntax.HANDLEBARS,
    "dotprompt": Syntax.HANDLEBARS,
    "f-string": Syntax.FORMAT,
    "fstring": Syntax.FORMAT,
    "python": Syntax.FORMAT,
    "string.format": Syntax.FORMAT,
}


def syntax_named(name: str) -> Syntax | None:
    """Return the syntax of a name that it has here or elsewhere (`jinja2`, `f-string`); None where it is unknown."""
    name = name.strip().lower()
    if name in _ALIASES:
        return _ALIASES[name]
    return next((syntax for syntax in Syntax if syntax.value == name), None)


class ControlKind(StrEnum):
    """What a control does to the parts inside it."""

    LOOP = "loop"
    CONDITION = "condition"
    ALTERNATIVE = "alternative"
    """What stands in the place of another part: `else`."""


class Control(NamedTuple):
    """A loop or condition around parts: what it asks, and its opening tag."""

    kind: ControlKind
    names: tuple[str, ...]
    start: int
    end: int


class Passage(NamedTuple):
    """A step of a value on its way to where it is printed."""

    start: int
    end: int
    note: str


class Value(NamedTuple):
    """Something that is printed.

    Attributes:
        name: Variable, dotted path or called function; '' for an expression without one.
        filters: What is done to it, as written.
        start, end: Where it comes from: the whole placeholder, or an expression that a variable was set to.
        flow: The way from there to the placeholder, the placeholder last; empty if it is there already.
        loop: The opening tag of the loop that walks over it, if one does.
    """

    name: str
    filters: tuple[str, ...]
    start: int
    end: int
    flow: tuple[Passage, ...] = ()
    loop: Control | None = None


class Text(NamedTuple):
    """Constant text: what is sent, and where it stands."""

    text: str
    start: int
    end: int
    within: tuple[Control, ...] = ()


class Placeholder(NamedTuple):
    """A place where values are filled in, and its text in the file."""

    values: tuple[Value, ...]
    start: int
    end: int
    within: tuple[Control, ...] = ()


Part = Text | Placeholder


class Message(NamedTuple):
    """What is sent in one message; the role is '' where nothing tells it."""

    role: str
    parts: tuple[Part, ...]

    @property
    def says_something(self) -> bool:
        """Whether it is more than white space."""
        return any(not isinstance(part, Text) or part.text.strip() for part in self.parts)

    @property
    def area(self) -> Where:
        """Part of a request that it is; text without a role counts as the system prompt."""
        return Where.SYSTEM if self.role in ("", "system", "developer") else Where.MESSAGES


class Problem(NamedTuple):
    """What could not be read, and where."""

    what: str
    start: int


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt template.

    Attributes:
        syntax: How its placeholders are written.
        messages: In cache order: system prompts first, then the others as they stand.
        roles: Whether the file itself says which message is whose.
        chat: Whether it is a model's chat template, which has no messages of its own.
        version: What its file says of its version, '' where it says nothing.
    """

    syntax: Syntax
    messages: tuple[Message, ...]
    roles: bool = False
    chat: bool = False
    version: str = ""


def in_cache_order(messages: list[Message]) -> tuple[Message, ...]:
    """Return messages with the system prompts in front, otherwise as they stand."""
    return tuple(sorted(messages, key=lambda message: message.area is not Where.SYSTEM))
