"""The parts of a prompt at a sink: tools, system text, messages, in the order in which caches compare them."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.scripts.evaluate import Evaluator
from prefixwise.analyzers.static.scripts.filling import expanded
from prefixwise.analyzers.static.scripts.functions import looped
from prefixwise.analyzers.static.scripts.module import Module, key_of
from prefixwise.analyzers.static.scripts.sinks import Sink
from prefixwise.analyzers.static.scripts.tree import Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Choice,
    Class,
    Held,
    Instance,
    Items,
    Record,
    Rest,
    Value,
    Via,
    choice,
    core,
    cores,
    held,
    through,
)
from prefixwise.analyzers.static.scripts.walk import Behind, Found, Passed, State, Walk
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence, Where

_TOOLS = ("tools", "functions", "toolConfig", "toolsets")
_SYSTEM = (
    "system",
    "instructions",
    "instruction",
    "systemInstruction",
    "system_instruction",
    "systemPrompt",
    "system_prompt",
    "systemMessage",
    "stateModifier",
    "messageModifier",
)
_MESSAGES = ("history", "messages", "contents", "input", "prompt")
_NESTED = ("config", "options", "params")
_GRAPHS = ("createReactAgent", "createAgent", "createDeepAgent")
_SCHEMAS = words("schema responseSchema responseJsonSchema response_format responseFormat output outputSchema")
_CACHE_KEYS = (VolatileKind.IDENTIFIER, VolatileKind.CLOCK)


def found_at(evaluator: Evaluator, module: Module, sink: Sink) -> Walk:
    """Return what moves in the prompt of a sink."""
    evaluator.start(sink.node)
    place = module.place(sink.node)
    walk = Walk(lambda function: evaluator.invoke(function, (), place))
    if sink.how in ("made", "built"):
        value = choice(evaluator.value(module, node) for node in sink.node.returns())
    else:
        value = evaluator.value(module, sink.node)
        if sink.node.function is None and not looped(sink.node):
            value = held(Frequency.PROCESS, value)
    if "Template" in sink.label or "fromMessages" in sink.label:
        value = expanded(value)
    state = State(Where.SYSTEM)
    if sink.how == "key":
        _walk_key(walk, value, state, module, sink)
    elif sink.how == "system" or sink.how == "made":
        value = value if sink.sure else through(value, _only_text)
        walk.text(value, Behind(), _sent(state, module, sink.node, sink.label, named=not sink.sure))
    elif sink.how == "messages":
        walk.messages(value, _sent(state, module, sink.node, sink.label))
    else:
        for one, inner in _alternatives(value, state):
            _walk_body(walk, one, inner, module, sink)
    if _is_structured(module, sink):
        walk.found = [_beside(found) for found in walk.found]
    return walk


def _only_text(value: Value) -> Value:
    """Return what is named like a prompt where it is text, and nothing where it is an object with more to it."""
    return BLANK if isinstance(value, Record | Instance | Class) else value


def _is_structured(module: Module, sink: Sink) -> bool:
    """Say whether an answer of a given form is asked for, as classifiers beside a conversation do."""
    keys = {module.text(child.fields["key"]) for child in sink.node.bare().children if child.kind == "pair"}
    return bool(keys & _SCHEMAS) or sink.label.endswith(("generateObject", "streamObject"))


def _beside(found: Found) -> Found:
    """Return a window as one that is likely meant."""
    if found.moving.kind is not VolatileKind.WINDOW:
        return found
    return found._replace(moving=found.moving.but(confidence=Confidence.POSSIBLE))


def _sent(state: State, module: Module, node: Node, what: str, *, named: bool = False) -> State:
    note = f"part of {what}" if named else f"sent as {what}"
    return state._replace(steps=(Passed(module.place(node), note), *state.steps))


def _alternatives(value: Value, state: State) -> Iterator[tuple[Value, State]]:
    """Yield what a body may be, each with the steps to it."""
    if isinstance(value, Via | Held):
        yield from _alternatives(value.value, state.after(value))
    elif isinstance(value, Choice):
        for option in value.options:
            yield from _alternatives(option, state)
    else:
        yield value, state


def _walk_body(walk: Walk, value: Value, state: State, module: Module, sink: Sink) -> None:
    if isinstance(value, Record):
        _walk_parts(walk, value, state, module, sink)
    elif sink.how == "built" and isinstance(value, Items):
        walk.messages(value, _sent(state, module, sink.node, sink.label))
    elif sink.how == "built":
        walk.text(value, Behind(), _sent(state, module, sink.node, sink.label))


def _walk_parts(walk: Walk, body: Record, state: State, module: Module, sink: Sink) -> None:
    """Walk messages, system text and tools: from the end of the prompt to its beginning."""

    def sent(key: str, area: Where) -> State:
        node = _value_of(module, sink.node, key)
        return _sent(state._replace(area=area), module, node, f"`{key}` of `{sink.label}`")

    behind = Behind()
    graph = sink.label.endswith(_GRAPHS)
    for key, value in _parts(body, _MESSAGES):
        if key == "prompt" and graph:
            continue
        if key in ("prompt", "input") and not any(isinstance(found, Items) for found in cores(value)):
            walk.text(value, Behind(), sent(key, Where.MESSAGES)._replace(silent=True))
            continue
        found = walk.messages(value, sent(key, Where.MESSAGES))
        behind = Behind(
            max(behind.characters, found.characters), behind.files or found.files, behind.turns or found.turns
        )
    for key, value in reversed(_parts(body, (*_SYSTEM, "prompt") if graph else _SYSTEM)):
        behind = walk.text(_as_text(value), behind, sent(key, Where.SYSTEM))
    for key, value in reversed(_parts(body, _TOOLS)):
        behind = walk.text(value, behind, sent(key, Where.TOOLS))


def _as_text(value: Value) -> Value:
    """Return system text of which a message was made."""
    found = core(value)
    return found.fields.get("content", value) if isinstance(found, Record) and "content" in found.fields else value


def _parts(body: Record, keys: tuple[str, ...]) -> list[tuple[str, Value]]:
    """Return the parts of a request that have one of these keys, in its own fields or what it is nested in."""
    found = [(key, body.fields[key]) for key in keys if key in body.fields]
    inner = [core(body.fields[key]) for key in _NESTED if key in body.fields]
    inner += [core(rest.value if isinstance(rest, Rest) else rest) for rest in body.rest]
    taken = {key for key, _ in found}
    for record in inner:
        if isinstance(record, Record):
            found += [(key, value) for key, value in _parts(record, keys) if key not in taken]
    return [(key, value) for key, value in found if value is not BLANK]


def _value_of(module: Module, node: Node, key: str) -> Node:
    """Return the expression behind a key, the whole where it does not stand there."""
    for child in node.bare().children:
        if child.kind == "pair" and key_of(module, child.fields["key"]) == key:
            return child.fields["value"]
        if child.kind == "shorthand_property_identifier" and module.text(child) == key:
            return child
    return node


def _walk_key(walk: Walk, value: Value, state: State, module: Module, sink: Sink) -> None:
    """Note what moves from call to call in a cache key."""
    inner = Walk(walk.call)
    inner.text(
        value, Behind(files=True), _sent(state._replace(area=Where.PARAMS), module, sink.node, f"`{sink.label}`")
    )
    for found in inner.found:
        if found.moving.kind in _CACHE_KEYS and found.frequency in (Frequency.CALL, Frequency.DAY):
            clause = "requests with another key do not share a cache"
            moving = found.moving.but(kind=VolatileKind.CACHE_KEY, clause=clause)
            walk.found.append(Found(moving, found.area, found.frequency, found.steps, Behind(files=True)))
