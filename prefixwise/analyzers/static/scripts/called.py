"""What calls are worth: those that are known by name, functions of the package, and methods of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.scripts import calls, members, methods, windows
from prefixwise.analyzers.static.scripts.clocks import printed
from prefixwise.analyzers.static.scripts.filling import filled
from prefixwise.analyzers.static.scripts.module import Module
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    FIXED,
    Class,
    Const,
    Frame,
    Function,
    Instance,
    Items,
    Moving,
    Named,
    Record,
    Rest,
    Value,
    core,
    cores,
    held,
    joined,
    plain_text,
    through,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_READS_FILE = re.compile(
    r"^(?:fs|fs/promises|fs-extra)?:(?:promises\.)?readFile(?:Sync)?$|^:(?:Bun\.file|Deno\.readTextFile)"
)
_PASSES = re.compile(
    r"^(?:String|dedent|outdent|stripIndents?|stripIndent|trim\w*|format\w*|escape\w*|encode\w*|indent\w*|wrap\w*|"
    r"truncate\w*|capitalize|lowerCase|upperCase|render\w*|interpolate|fill\w*|template|compile|stringify|"
    r"toText|asText|concat\w*|join\w*|compact|uniq|flatten|Number|parseInt|parseFloat|structuredClone|"
    r"convertToModelMessages|convertToCoreMessages|tool|createTool|dynamicTool|promisify|resolve|cn|clsx)$"
)
_KEEPS = frozenset({"memoize", "once", "memoizeOne", "pMemoize", "lazy", "mem", "memo"})
_KEEPS_FOR_SESSION = frozenset({"useMemo", "useState", "useRef", "useCallback"})
_SORTS = frozenset({"sortBy", "orderBy", "sorted", "naturalSort", "sortKeys", "stableStringify", "canonicalize"})
_STABLE_JSON = re.compile(r"^(?:json-stable-stringify|fast-json-stable-stringify|safe-stable-stringify|canonicalize):")
_ROLES = {
    "SystemMessage": "system",
    "DeveloperMessage": "developer",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
    "ChatMessage": "chat",
    "MessagesPlaceholder": "placeholder",
    "SystemMessagePromptTemplate.fromTemplate": "system",
    "HumanMessagePromptTemplate.fromTemplate": "user",
    "AIMessagePromptTemplate.fromTemplate": "assistant",
}
"""Makers of messages, by the role of what they make."""
_STATIC = {"Object", "Array", "JSON", "Promise", "Math", "Number", "String", "Intl"}


class Call:
    """A call being evaluated: what is called and with what."""

    def __init__(self, evaluator: Evaluator, module: Module, node: Node, frame: Frame | None) -> None:
        self.evaluator = evaluator
        self.module = module
        self.node = node
        self.frame = frame
        self.made = node.kind == "new_expression"
        self.callee = node.fields["constructor" if self.made else "function"].bare()
        arguments = node.fields.get("arguments")
        self.template = arguments if arguments is not None and arguments.kind == "template_string" else None
        self.nodes = arguments.children if arguments is not None and self.template is None else []
        self.place = module.place(node)
        self.qualified = evaluator.qualified(module, self.callee)

    @property
    def method(self) -> str:
        """The last name of what is called."""
        last = self.callee.fields.get("property", self.callee)
        return self.module.text(last) if last.kind.endswith("identifier") else ""

    @property
    def name(self) -> str:
        """What is called, as it is written; '' for a function that stands there itself."""
        if self.callee.kind in FUNCTIONS:
            return ""
        return re.sub(r"\s+|\?", "", self.module.text(self.callee))[:120]

    @property
    def receiver(self) -> str:
        """What stands in front of the method, as it is written; '' for a plain function."""
        return self.name.rpartition(".")[0] if self.callee.kind == "member_expression" else ""

    def value(self, index: int) -> Value:
        """Return an argument, nothing where there is none."""
        if index >= len(self.nodes):
            return BLANK
        node = self.nodes[index]
        if node.kind == "spread_element":
            return members.element(self.evaluator, self._of(node.children[0]), self.module.place(node))
        return self._of(node)

    def values(self) -> tuple[Value, ...]:
        """Return the arguments; spread ones as `Rest`."""
        return tuple(
            Rest(self._of(node.children[0])) if node.kind == "spread_element" else self._of(node) for node in self.nodes
        )

    def arguments(self) -> tuple[Value, ...]:
        """Return the arguments to be evaluated when they are asked for."""
        later = self.evaluator.later
        return tuple(
            Rest(self._of(node.children[0])) if node.kind == "spread_element" else later(self.module, node, self.frame)
            for node in self.nodes
        )

    def _of(self, node: Node) -> Value:
        return self.evaluator.value(self.module, node, self.frame)

    def text(self, index: int) -> str | None:
        """Return an argument that is a constant; the source of one that is not, such as `-LIMIT`."""
        if index >= len(self.nodes):
            return None
        return plain_text(self.value(index)) or self.module.text(self.nodes[index])

    def options(self) -> dict[str, str | None]:
        """Return the fields of an object among the arguments."""
        for value in self.values():
            found = core(value)
            if isinstance(found, Record):
                return {name: plain_text(field) for name, field in found.fields.items()}
        return {}


def call_value(evaluator: Evaluator, module: Module, node: Node, frame: Frame | None) -> Value:
    """Return what a call, or an object that is made, is worth."""
    call = Call(evaluator, module, node, frame)
    known = _known(call)
    if known is not None:
        return known
    if call.name in _ROLES:
        content = members.member(evaluator, call.value(0), "content", call.place)
        whole = isinstance(core(call.value(0)), Record)
        return Record({"role": Const(_ROLES[call.name]), "content": content if whole else call.value(0)})
    if call.callee.kind == "member_expression" and module.text(call.callee.fields["object"]) not in _STATIC:
        receiver = evaluator.value(module, call.callee.fields["object"], frame)
        found = methods.method_value(call, receiver)
        return found if found is not None else _unknown(call)
    static = methods.static_value(call)
    if static is not None:
        return static
    callee = core(evaluator.value(module, call.callee, frame))
    if isinstance(callee, Class) and call.made:
        return Instance(callee.module, callee.node)
    if isinstance(callee, Function):
        return called(call, callee)
    return _unknown(call)


def called(call: Call, function: Function) -> Value:
    """Return what a function of the package returns; by its name, where that alone says that it looks text up."""
    found = call.evaluator.invoke(function, call.arguments(), call.place, call.name)
    if not any(isinstance(value, Moving) for value in cores(found)):
        looked_up = calls.retrieval(call.method, call.receiver) if call.nodes else None
        if looked_up is not None and not _is_constant(found):
            return members.moving(looked_up, call.place, call.name)
    return found


def _is_constant(value: Value) -> bool:
    return all(isinstance(found, Const) or found is BLANK for found in cores(value))


def _known(call: Call) -> Value | None:
    """Return the value of a call that is known by the name of what it calls."""
    name = call.qualified
    if name is None:
        return None
    if call.template is not None:
        return _tagged(call, call.template, name)
    if name in calls.MADE_WITHOUT_ARGUMENTS and not call.nodes:
        return members.moving(calls.MADE_WITHOUT_ARGUMENTS[name], call.place, call.name)
    if name in calls.TIMES:
        return (
            call.value(0) if call.made or name != ":Date" else members.moving(calls.CALLS[":Date"], call.place, "Date")
        )
    if name in calls.CALLS:
        return members.moving(calls.CALLS[name], call.place, call.name)
    if calls.is_runner(name):
        return _command(call, " ".join(text for text in map(_words, call.values()) if text))
    if _READS_FILE.match(name):
        return FIXED
    if name.partition(":")[0] in ("date-fns", "date-fns-tz") or name in ("dateformat:", ":strftime", "strftime:"):
        return _dated(call)
    return methods.sorted_json(call) if _STABLE_JSON.match(name) else None


def _words(value: Value) -> str:
    """Return the words of a command that are constants."""
    found = core(value)
    if isinstance(found, Items):
        return " ".join(filter(None, map(_words, found.items)))
    text = plain_text(found)
    if text is None and not isinstance(found, Record) and hasattr(found, "parts"):
        first = plain_text(found.parts[0])
        return first or ""
    return text or ""


def _command(call: Call, words: str) -> Value:
    found = calls.of_command(words)
    return (
        members.moving(found, call.place, words[:60])
        if found is not None
        else Named(call.name, call.place, called=True)
    )


def _tagged(call: Call, template: Node, name: str) -> Value:
    """Return the value of a tagged template: the output of a command, or the text."""
    if calls.is_runner(name):
        return _command(call, call.module.text(template))
    return call.evaluator.value(call.module, template, call.frame)


def _dated(call: Call) -> Value:
    """Return what a function of a library of dates makes of its first argument."""
    arguments = [call.text(index) for index in range(1, len(call.nodes))]

    def of(value: Value) -> Value:
        if not isinstance(value, Moving):
            return value
        return printed(value.but(place=call.place), call.method, arguments, call.options())

    return through(call.value(0), of)


def _unknown(call: Call) -> Value:
    """Return the value of a function from outside, by its name: it may pass on what it is given."""
    if call.template is not None:
        return call.evaluator.value(call.module, call.template, call.frame)
    method = call.method
    if method in _KEEPS or method in _KEEPS_FOR_SESSION:
        return _kept(call)
    if windows.trims(method):
        return Items(
            (
                windows.window(call.place, f"`{method}` drops the oldest messages", Confidence.LIKELY),
                Rest(call.value(0)),
            )
        )
    if method in _SORTS:
        return members.in_order(call.value(0))
    drawn = calls.drawn(method, call.module.text(call.nodes[0]) if call.nodes else "")
    if drawn is not None:
        return Items((Rest(call.value(0)), members.moving(drawn, call.place, call.name)))
    looked_up = calls.retrieval(method, call.receiver) if call.nodes and not call.made else None
    if looked_up is not None:
        return members.moving(looked_up, call.place, call.name)
    if _PASSES.match(method) and call.nodes:
        return _passed(call)
    return Named(call.name, call.place, called=True)


def _kept(call: Call) -> Value:
    """Return a function, or a value, that is computed once and kept."""
    frequency = Frequency.PROCESS if call.method in _KEEPS else Frequency.SESSION
    found = core(call.value(0))
    if not isinstance(found, Function):
        return held(frequency, call.value(0))
    kept = Function(found.module, found.node, found.frame, found.this, frequency)
    if call.method in ("useMemo", "useState"):
        value = call.evaluator.invoke(kept, (), call.place)
        return value if call.method == "useMemo" else Items((value, BLANK))
    return kept


def _passed(call: Call) -> Value:
    """Return what a function that formats passes on: a time in its format, a template with its values filled in."""
    values = call.values()
    first = core(values[0])
    if isinstance(first, Moving) and first.kind is VolatileKind.CLOCK:
        return _dated(call)
    if len(values) > 1 and isinstance(core(values[1]), Record):
        return filled(values[0], core(values[1]))
    return joined(*values)
