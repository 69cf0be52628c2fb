"""Where values become prompts: calls, messages with roles, names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from prefixwise.analyzers.static.python.frames import Bound, Closure, Frame, Instance
from prefixwise.analyzers.static.python.functions import CACHED
from prefixwise.analyzers.static.python.hits import Hit, Strength
from prefixwise.analyzers.static.python.layout import Prompt, Section, frequency_at, lay_out
from prefixwise.analyzers.static.python.messages import Messages, content_of, messages_of, role_of, text_in, tools_of
from prefixwise.analyzers.static.python.modules import Class, Function
from prefixwise.analyzers.static.python.objects import called
from prefixwise.analyzers.static.python.pieces import Hop, Moving, constant_text, leaves
from prefixwise.analyzers.static.python.sink_names import (
    AGENT_KEYS,
    CACHE_KEYS,
    MESSAGE_KEYS,
    NESTED_KEYS,
    ONLY_PROMPTS,
    PROMPT_KEYS,
    PROMPT_METHODS,
    SYSTEM_KEYS,
    TOOL_KEYS,
    is_agent,
    is_chat,
    is_model_call,
    is_prompt_name,
    is_system_name,
    messages_position,
)
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.templates import Filling
from prefixwise.analyzers.static.python.values import Value, capped, movings, text_of
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Where

_A_SENTENCE = 40
"""Characters of constant text that make a text a prompt, where only its name says so."""
_KEY_KINDS = frozenset({VolatileKind.IDENTIFIER, VolatileKind.CLOCK, VolatileKind.COUNTER, VolatileKind.RELATIVE_TIME})
_PACKAGE_REFS = (Function, Class, Closure, Bound, Instance)
_SUMS_UP = re.compile(r"(?i)summar|compact|condens|(?:^|_)titles?(?:$|_)|compress")
"""Names of calls that look at a history once, and not again with the next message."""
_LEARNS = re.compile(r"(?i)\b_?learn|extract|memori[sz]e|reflect")
"""Names of calls that look at the end of a history for what is to be kept of it."""
_JUDGES = re.compile(
    r"(?i)classif|rout(?:er|ing)|(?:^|_)route(?:$|_)|judge|moderat|guardrail|intent|suggest|follow_?up|rewrite"
)
"""Names of what judges the end of a history, or says it anew, for itself."""
_ASKS = re.compile(
    r"(?i)complet|chat|generat|invoke|stream|respond|response|create|ask|call|send|run|predict|infer|llm|model|prompt"
    r"|query|reply|kick_?off|step|converse|gpt|claude|gemini|openai|anthropic|agent"
)
"""What the name says of a call that may ask a model; what only looks at messages is named otherwise."""
_OF_A_LIST = frozenset({VolatileKind.WINDOW, VolatileKind.EXAMPLES})
Given = dict[str, Filling]


def at_call(frame: Frame, site: Site) -> None:
    """Take note of what moves in a prompt that a call sends."""
    given = dict(_named(site.keywords.items()))
    if not given and not site.positional:
        return
    in_package = isinstance(site.callee.ref, _PACKAGE_REFS)
    if "role" in given and _is_constant(given["role"].node) and _makes(site):
        _message(frame, site, given)
    if is_model_call(site.dotted or site.path):
        position = messages_position(site.name)
        if 0 <= position < len(site.positional):
            given.setdefault("messages", site.positional[position])
        _send(frame, site, given, Strength.CALL)
    elif is_agent(site.name) and not in_package:
        _set_up(frame, site, given)
    elif "messages" in given and not in_package and not _only_holds(site.name):
        _send(frame, site, given, Strength.ROLE if _ASKS.search(site.name) else Strength.NAME)
    elif is_chat(site.name) and site.positional and not in_package:
        _send(frame, site, {**given, "messages": site.positional[0]}, Strength.ROLE, only_messages=True)
    else:
        if site.name in PROMPT_METHODS and site.positional:
            given.setdefault("system_prompt", site.positional[0])
        _by_keyword(frame, site, given, Strength.NAME if in_package else Strength.ROLE)
    for name in CACHE_KEYS:
        if name in given:
            _cache_key(frame, given[name].node, name, given[name].value)


def _makes(site: Site) -> bool:
    """Say whether a call makes a message; one that adds it to a conversation puts it at the end."""
    return site.name == "dict" or site.name[:1].isupper()


def _message(frame: Frame, site: Site, given: Given) -> None:
    """Take note of a message with the role of system text that a call makes: `dict(role="system", content=…)`."""
    message = Value(fields=tuple((name, filling.value) for name, filling in given.items()))
    if role_of(message) in ("system", "developer"):
        sent = frame.hop(site.node, f"put into a `{site.path}`")
        lay_out(frame, Prompt([Section(Where.SYSTEM, content_of(message))], Strength.ROLE, sent))


def _only_holds(name: str) -> bool:
    """Say whether what takes messages by this name is an object that holds them: an event, a state, a record."""
    return name == "__init__" or (name[:1].isupper() and not name.endswith(("Request", "Prompt", "Params", "Input")))


def _named(keywords: Iterable[tuple[str, Filling]]) -> Iterator[tuple[str, Filling]]:
    """Go through what a call gives by name, within its nested settings too."""
    for name, filling in keywords:
        yield name, filling
        if name in NESTED_KEYS:
            for inner, value in filling.value.fields or ():
                yield inner, Filling(value, filling.node)


def _filled(frame: Frame, filling: Filling) -> Value:
    """Return what an argument is; of a function what it gives, since the one who takes it will call it."""
    ref = filling.value.ref
    return called(frame, filling.value, filling.node) if isinstance(ref, Function | Closure | Bound) else filling.value


def _send(frame: Frame, site: Site, given: Given, strength: Strength, *, only_messages: bool = False) -> None:
    sections: list[Section] = []
    for name in TOOL_KEYS:
        if name in given and not only_messages:
            sections += tools_of(given[name].value)
    for name in SYSTEM_KEYS:
        if name in given and not only_messages:
            sections.append(Section(Where.SYSTEM, text_in(_filled(frame, given[name]))))
    found = [messages_of(given[name].value) for name in MESSAGE_KEYS if name in given]
    if only_messages and not any(section.area is Where.SYSTEM for part in found for section in part.sections):
        found = [part._replace(sections=()) for part in found]
    if not only_messages:
        found += [_one_text(given[name].value) for name in PROMPT_KEYS if name in given]
    for part in found:
        sections += _system_first(part)
    sent = frame.hop(site.node, f"sent by `{site.path}()`")
    history = any(part.history for part in found) if found else None
    lay_out(frame, Prompt(sections, strength, sent, history))
    for part in found:
        _whole_list(frame, part, strength, sent)


def _system_first(messages: Messages) -> Iterator[Section]:
    yield from (section for section in messages.sections if section.area is Where.SYSTEM)
    yield from (section for section in messages.sections if section.area is not Where.SYSTEM)


def _one_text(value: Value) -> Messages:
    """Return the one message of a call that takes a text, or several of them each by itself."""
    if value.items is not None:
        return Messages(tuple(Section(Where.MESSAGES, text_of(item.value)) for item in value.items[:1]))
    return Messages((Section(Where.MESSAGES, text_of(value)),))


def _whole_list(frame: Frame, messages: Messages, strength: Strength, sent: Hop) -> None:
    if strength is Strength.NAME or _looks_back(frame, sent):
        return
    for mark in messages.marks:
        kind = mark.origin.kind
        evidence = (mark.origin.because,)
        hit = Hit(mark, kind, mark.origin.frequency, Where.MESSAGES, strength, None, sent, kind in _OF_A_LIST, evidence)
        frame.world.hits.add(hit)


def _looks_back(frame: Frame, sent: Hop) -> bool:
    """Say whether a call beside the conversation looks at the end of it, by what it and who makes it are called."""
    function = frame.function
    owner = function.owner.name if function is not None and function.owner is not None else ""
    names = (function.name, owner) if function is not None else ()
    if _SUMS_UP.search(sent.note) or _LEARNS.search(sent.note):
        return True
    return any(_SUMS_UP.search(name) or _JUDGES.search(name) for name in names)


def _set_up(frame: Frame, site: Site, given: Given) -> None:
    sections: list[Section] = []
    if "tools" in given:
        sections += tools_of(given["tools"].value)
    for name in AGENT_KEYS:
        if name in given:
            sections.append(Section(Where.SYSTEM, text_in(_filled(frame, given[name]))))
    lay_out(frame, Prompt(sections, Strength.CALL, frame.hop(site.node, f"given to `{site.path}()`")))


def _by_keyword(frame: Frame, site: Site, given: Given, strength: Strength) -> None:
    sections = [
        Section(Where.SYSTEM, text_in(_filled(frame, filling)))
        for name, filling in given.items()
        if name in ONLY_PROMPTS
    ]
    if sections and sum(constant_text(section.pieces) for section in sections) >= _A_SENTENCE:
        lay_out(frame, Prompt(sections, strength, frame.hop(site.node, f"given to `{site.path}()`")))


def _cache_key(frame: Frame, node: ast.expr, name: str, value: Value) -> None:
    for moving in movings(value):
        origin = moving.origin
        frequency = frequency_at(frame, moving)
        if origin.kind not in _KEY_KINDS or origin.named or origin.precision == "day":
            continue
        sent = frame.hop(node, f"sent as `{name}`")
        moving = Moving(origin._replace(name=name), moving.hops, moving.loops)
        costs = frequency is Frequency.CALL
        evidence = (origin.because,)
        hit = Hit(moving, VolatileKind.CACHE_KEY, frequency, Where.PARAMS, Strength.CALL, None, sent, costs, evidence)
        frame.world.hits.add(hit)


def at_dict(frame: Frame, node: ast.Dict, value: Value) -> None:
    """Take note of what moves in a message, or in the body of a request."""
    role = role_of(value) if _has_constant_role(node) else ""
    sent = frame.hop(node, "put into a message")
    if role in ("system", "developer"):
        lay_out(frame, Prompt([Section(Where.SYSTEM, content_of(value))], Strength.ROLE, sent))
    given = {name: Filling(inner, node) for name, inner in value.fields or ()}
    if "messages" in given and ("model" in given or "system" in given or "tools" in given):
        _body(frame, node, given)
    for key, inner in zip(node.keys, node.values, strict=True):
        name = key.value if isinstance(key, ast.Constant) else None
        if name in CACHE_KEYS and isinstance(name, str):
            _cache_key(frame, inner, name, value.field(name) or Value())
        elif name in ONLY_PROMPTS and isinstance(name, str):
            at_name(frame, inner, name, value.field(name) or Value())


def _has_constant_role(node: ast.Dict) -> bool:
    """Say whether a message says its role itself; one that is told its role is judged where it is sent."""
    pairs = zip(node.keys, node.values, strict=True)
    roles = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "role"]
    return any(map(_is_constant, roles))


def _is_constant(role: ast.expr) -> bool:
    """Say whether a role is written out where it stands, or by the name of a constant."""
    return not isinstance(role, ast.Name) or role.id.isupper()


def _body(frame: Frame, node: ast.Dict, given: Given) -> None:
    sections: list[Section] = []
    if "tools" in given:
        sections += tools_of(given["tools"].value)
    if "system" in given:
        sections.append(Section(Where.SYSTEM, text_in(given["system"].value)))
    messages = messages_of(given["messages"].value)
    sections += _system_first(messages)
    sent = frame.hop(node, "put into the body of a request")
    lay_out(frame, Prompt(sections, Strength.ROLE, sent, messages.history))
    _whole_list(frame, messages, Strength.ROLE, sent)


def at_name(frame: Frame, node: ast.expr, name: str, value: Value) -> None:
    """Take note of what moves in a text that a variable with the name of a prompt holds."""
    if name in CACHE_KEYS:
        _cache_key(frame, node, name, value)
    if not value.pieces or not value.stirs:
        return
    is_system = is_system_name(name) or name in ONLY_PROMPTS
    if is_system or is_prompt_name(name):
        _by_name(frame, value, Where.SYSTEM if is_system else Where.MESSAGES, frame.hop(node, f"held by `{name}`"))


def at_return(frame: Frame, node: ast.expr, value: Value) -> None:
    """Take note of what moves in a text that a function gives which by its name builds prompts."""
    function = frame.function
    if function is None or not value.pieces or not value.stirs:
        return
    if any(name.rsplit(".", 1)[-1] in CACHED for name in function.decorators):
        value = capped(value, Frequency.PROCESS)
    sent = frame.hop(node, f"returned by `{function.name}()`")
    if any(name.endswith((".system_prompt", ".instructions")) for name in function.decorators):
        lay_out(frame, Prompt([Section(Where.SYSTEM, text_of(value))], Strength.CALL, sent))
    elif is_builder(frame, function):
        lay_out(frame, Prompt([Section(Where.SYSTEM, text_of(value))], Strength.ROLE, sent))
    elif is_system_name(function.name):
        _by_name(frame, value, Where.SYSTEM, sent)
    elif is_prompt_name(function.name):
        _by_name(frame, value, Where.MESSAGES, sent)


def is_builder(frame: Frame, function: Function) -> bool:
    """Say whether the configuration names a function as one that builds prompts: by name, or `module:name`."""
    builders = frame.world.builders
    stem = frame.module.path.rsplit(".", 1)[0].replace("/", ".").removesuffix(".__init__")
    owner = f"{function.owner.name}." if function.owner is not None else ""
    full = f".{stem}.{owner}{function.name}"
    return any(full.endswith("." + name.replace(":", ".")) for name in builders)


def _by_name(frame: Frame, value: Value, area: Where, sent: Hop) -> None:
    if area is Where.MESSAGES and _SUMS_UP.search(sent.note):
        return
    pieces = text_of(value)
    sentences = any(isinstance(piece, str) and " " in piece.strip() for piece in leaves(pieces))
    if sentences and constant_text(pieces) >= _A_SENTENCE:
        lay_out(frame, Prompt([Section(area, pieces)], Strength.NAME, sent))
