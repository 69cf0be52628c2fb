"""From what a prompt is worth to what moves in it: read from its end, so that what stands behind is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import Judgement, Use, judge, name_words, use
from prefixwise.analyzers.static.scripts import members
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Choice,
    Const,
    Fixed,
    Function,
    Held,
    Items,
    Joined,
    Moving,
    Named,
    Place,
    Placeholder,
    Record,
    Rest,
    Value,
    Via,
    core,
    cores,
    plain_text,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence, Where

_LEAST = 20
"""Fewer characters of constant text are not worth keeping in front of what moves."""
_TOKEN = 4
_BUDGET = 60_000
_NOT_SENT = words(
    "role type id cache_control cacheControl cachePoint providerOptions experimental_providerMetadata "
    "providerMetadata metadata createdAt execute handler func run callback invoke toModelOutput needsApproval "
    "onInputStart additional_kwargs response_metadata tool_call_id"
)
_CONTENT = ("content", "parts", "text", "input_text", "toolCalls", "tool_calls")
_SYSTEM = frozenset({"system", "developer"})
_USER = frozenset({"user", "human"})
_ALWAYS = frozenset({VolatileKind.WINDOW})
_MODE_WORDS = words("mode plan planning connected connection connections online available phase stage")
"""What the name of a function is not enough for to be sure of."""
_ORDERS = frozenset({VolatileKind.UNORDERED, VolatileKind.TOOLS})
_TEXTS = words("doc docs document documents passage passages chunk chunks snippet snippets hit hits excerpt excerpts")
_LASTING = re.compile(r"^[A-Z][A-Z0-9_]+$")
_LASTING_WORDS = frozenset({"prompt", "instructions", "rules", "guidelines", "preamble", "persona"})
_LOOSE_BASES = frozenset(
    {"session", "state", "request", "context", "args", "options", "opts", "params", "props", "input"}
)


class Behind(NamedTuple):
    """What stands behind a place: characters of constant text, files of any length, the turns of a conversation."""

    characters: int = 0
    files: bool = False
    turns: bool = False

    def keeps(self, frequency: Frequency) -> bool:
        """Say whether something is lost when what stands in front changes so often.

        The turns of a conversation are its own: what changes from one conversation to the next costs them nothing.
        """
        own = self.turns and frequency in (Frequency.CALL, Frequency.DAY)
        return self.characters >= _LEAST or self.files or own

    @property
    def tokens(self) -> int | None:
        """How many tokens that is, None where that is not known."""
        return None if self.files or self.turns else self.characters // _TOKEN


class Passed(NamedTuple):
    """A step of a value on its way, with what the step is."""

    place: Place
    note: str


class Found(NamedTuple):
    """Something that moves in a prompt."""

    moving: Moving
    area: Where
    frequency: Frequency
    steps: tuple[Passed, ...]
    behind: Behind


class State(NamedTuple):
    """Where the walk is: the area, the steps taken so far, the last first, and how often the value is computed."""

    area: Where
    steps: tuple[Passed, ...] = ()
    held: Frequency | None = None
    silent: bool = False

    def after(self, value: Via | Held) -> State:
        """Return the state inside a step or what is held."""
        if isinstance(value, Via):
            return self._replace(steps=(*self.steps, Passed(value.place, value.note)))
        slower = self.held is None or value.frequency.rank > self.held.rank
        return self._replace(held=value.frequency) if slower else self


class _Message(NamedTuple):
    """One element of a list of messages: `role`, '' where it is not a constant, `turns` for any number of them."""

    role: str
    value: Value
    state: State


class Walk:
    """Walks values from their end and notes what moves."""

    def __init__(self, call: Callable[[Function], Value]) -> None:
        self.call = call
        self.found: list[Found] = []
        self.excused: set[tuple[str, int]] = set()
        """Places of what moves in newest messages, where it has to."""
        self._left = _BUDGET

    def text(self, value: Value, behind: Behind, state: State) -> Behind:
        """Walk a text, or a list or an object of texts; return what stands behind what comes before."""
        self._left -= 1
        if self._left < 0 or value is BLANK:
            return behind
        if isinstance(value, Const):
            return behind._replace(characters=behind.characters + len(value.text.strip()))
        if isinstance(value, Fixed):
            return behind._replace(files=True)
        if isinstance(value, Via | Held):
            return self.text(value.value, behind, state.after(value))
        if isinstance(value, Moving):
            self._moving(value, behind, state)
            return behind
        if isinstance(value, Named):
            return self._named(value, behind, state)
        if isinstance(value, Choice):
            if state.area is Where.TOOLS and value.when is not None:
                self._tools_by_mode(value, value.when, state)
            return _most([self.text(option, behind, state) for option in value.options])
        if isinstance(value, Function):
            if state.area is Where.TOOLS:
                return behind  # what a tool does
            return self.text(self.call(value), behind, state)
        for part in reversed(_parts(value)):
            behind = self.text(part, behind, state)
        return behind

    def _moving(self, value: Moving, behind: Behind, state: State) -> None:
        frequency = value.frequency
        if state.held is not None and state.held.rank > frequency.rank:
            frequency = state.held
        if state.silent:
            self.excused.add((value.place.module.path, value.place.start))
            return
        own_order = value.kind in _ORDERS and state.area is Where.TOOLS
        if value.kind in _ALWAYS or own_order or behind.keeps(frequency):
            self.found.append(Found(value, state.area, frequency, state.steps, behind))

    def _tools_by_mode(self, value: Choice, when: Place, state: State) -> None:
        """Note tools that are there or not by what may change in a conversation."""
        condition = when.module.tree.source.text[when.start : when.end]
        there = [
            any(isinstance(part, Record | Named | Function | Moving) for part in _deep(one)) for one in value.options
        ]
        comes_and_goes = any(there) and not all(there)
        if comes_and_goes and _MODE_WORDS & set(name_words(condition)):
            because = "tools come and go with what this says"
            found = Judgement(VolatileKind.TOOLS, Frequency.SESSION, confidence=Confidence.POSSIBLE, because=because)
            self._moving(members.moving(found, when, condition[:80]), Behind(files=True), state)

    def _named(self, value: Named, behind: Behind, state: State) -> Behind:
        found = _judged(value.name)
        if isinstance(value, Placeholder):
            state = state._replace(held=None)
        if found is not None:
            if not isinstance(value, Placeholder):  # nothing but a name speaks for it
                if found.kind is VolatileKind.RETRIEVED and name_words(value.name)[-2:] == ("user", "memory"):
                    found = found._replace(frequency=Frequency.SESSION)  # read when a session begins
                found = found._replace(confidence=Confidence.POSSIBLE)
            self._moving(members.moving(found, value.place, value.name), behind, state)
            return behind
        last = value.name.rpartition(".")[2]
        words = set(name_words(last))
        if use(value.name) is Use.SETTLED or _LASTING.match(last) or (words & _LASTING_WORDS and len(words) > 1):
            return behind._replace(files=True)
        return behind

    def messages(self, value: Value, state: State) -> Behind:
        """Walk a list of messages from its end: the newest move by right, as they come anew with every turn."""
        found = list(_flat(value, state, self.call))
        newest = _newest(found)
        behind = Behind()
        for index in range(len(found) - 1, -1, -1):
            message = found[index]
            if message.role == "turns":
                behind = behind._replace(turns=True)
            elif index >= newest:
                self._content(message, Behind(), message.state._replace(silent=True))
            elif message.role == "sign":
                self.text(message.value, behind, message.state)
            elif message.role:
                area = Where.SYSTEM if message.role in _SYSTEM else Where.MESSAGES
                behind = self._content(message, behind, message.state._replace(area=area))
        return behind

    def _content(self, message: _Message, behind: Behind, state: State) -> Behind:
        value = message.value
        if isinstance(value, Record):
            for name in reversed(_CONTENT):
                if name in value.fields:
                    behind = self.text(value.fields[name], behind, state)
            return behind
        return self.text(value, behind, state)


def _deep(value: Value, depth: int = 0) -> Iterator[Value]:
    """Yield what a value may be and what lists in it hold."""
    for one in cores(value):
        yield one
        if isinstance(one, Items | Rest) and depth < 4:
            for part in _parts(one):
                yield from _deep(part, depth + 1)


def _most(found: Iterable[Behind]) -> Behind:
    behind = list(found)
    return Behind(
        max((one.characters for one in behind), default=0),
        any(one.files for one in behind),
        any(one.turns for one in behind),
    )


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Joined):
        return value.parts
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Rest):
        return (value.value,)
    if isinstance(value, Record):
        return (*value.rest, *(field for name, field in value.fields.items() if name not in _NOT_SENT))
    return ()


def _judged(name: str) -> Judgement | None:
    """Judge a name: all of it, its last word where the rest says whose it is only, its first where that is text."""
    found = judge(name)
    base, _, last = name.rpartition(".")
    if found is not None or not base:
        return None if last == "name" and found is not None and found.confidence is Confidence.POSSIBLE else found
    holder = base.rpartition(".")[2].removeprefix("this")
    if len(holder) <= 2 or holder.lower() in _LOOSE_BASES:
        found = judge(last)
        if found is not None and found.kind in (VolatileKind.COUNTER, VolatileKind.CLOCK, VolatileKind.RETRIEVED):
            return found
    whole = judge(base) if holder.lower() in _TEXTS else None
    return whole if whole is not None and whole.kind is VolatileKind.RETRIEVED else None


def _flat(value: Value, state: State, call: Callable[[Function], Value]) -> Iterable[_Message]:
    """Yield the messages of a list in order."""
    if isinstance(value, Via | Held):
        yield from _flat(value.value, state.after(value), call)
    elif isinstance(value, Choice):
        for option in value.options:
            yield from _flat(option, state, call)
    elif isinstance(value, Rest):
        spread = value.value
        yield from (
            _flat(spread, state, call) if not isinstance(core(spread), Named) else (_Message("turns", spread, state),)
        )
    elif isinstance(value, Items):
        role = plain_text(value.items[0]) if len(value.items) == 2 else None
        if role in _SYSTEM | _USER | {"ai", "assistant", "placeholder"}:
            yield _Message("turns" if role == "placeholder" else str(role), value.items[1], state)
            return
        for item in value.items:
            yield from _item(item, state, call)
    elif isinstance(value, Function):
        yield from _flat(call(value), state, call)
    elif value is not BLANK:
        yield from _item(value, state, call, alone=True)


def _item(value: Value, state: State, call: Callable[[Function], Value], *, alone: bool = False) -> Iterable[_Message]:
    if isinstance(value, Moving):
        yield _Message("sign" if value.order else "turns", value, state)
    elif isinstance(value, Record):
        roles = {plain_text(role) for role in cores(value.fields.get("role", BLANK))}
        role = roles.pop() if len(roles) == 1 else ""
        yield _Message(role or "turns", value, state)
    elif isinstance(value, Named):
        whole = alone or value.called
        yield _Message("turns" if whole else "user", value, state)
    elif isinstance(value, Const | Joined | Fixed):
        yield _Message("user", value, state)
    elif isinstance(value, Via | Held | Choice | Rest | Items | Function):
        yield from _flat(value, state, call)
    else:
        yield _Message("turns", value, state)


def _newest(messages: list[_Message]) -> int:
    """Return from where on messages are the newest: the user's, and what is put behind the turns before it."""
    turns = [index for index, message in enumerate(messages) if message.role == "turns"]
    behind = turns[-1] + 1 if turns else len(messages)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role in _USER:
            history = any(
                message.role == "turns" and use(_name(message.value)) is Use.TURN for message in messages[index + 1 :]
            )
            return behind if history else min(index, behind)
    return behind


def _name(value: Value) -> str:
    found = core(value)
    return found.name if isinstance(found, Named) else ""
