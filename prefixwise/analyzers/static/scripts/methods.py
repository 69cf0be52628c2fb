"""Methods of texts, times, lists and maps, and functions that every script has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import Judgement, judge
from prefixwise.analyzers.static.scripts import calls, members, windows
from prefixwise.analyzers.static.scripts.clocks import AGES, printed
from prefixwise.analyzers.static.scripts.filling import replaced
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Class,
    Const,
    Function,
    Instance,
    Items,
    Joined,
    Keyed,
    Moving,
    Named,
    Namespace,
    Record,
    Rest,
    Value,
    choice,
    core,
    cores,
    joined,
    plain_text,
    through,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.called import Call

_SAME = words(
    "trim trimStart trimEnd toUpperCase toLowerCase padStart padEnd normalize toString valueOf substring "
    "substr slice split join repeat toFixed toPrecision text json filter flat reverse toReversed values keys "
    "entries toArray catch finally optional nullable default strict passthrough min max compact uniq uniqBy "
    "fill with sync stdout toLocaleUpperCase toLocaleLowerCase all toJSON flatten unref withStructuredOutput"
)
_TRUTHS = words(
    "some every includes has startsWith endsWith indexOf lastIndexOf findIndex test localeCompare forEach push "
    "unshift set add delete clear match exec search isBefore isAfter equals"
)
_ONE = frozenset({"find", "at", "pop", "shift", "findLast", "charAt", "get", "next"})
_LISTS_TOOLS = frozenset({"listTools", "list_tools"})
_USER_LOCALE = re.compile(r"(?i)(?:user|session|customer|req|request|visitor|navigator|profile)\w*[.?]+(?:locale|lang)")


def method_value(call: Call, receiver: Value) -> Value | None:
    """Return what a method of a value returns, None where nothing is known of it."""
    if call.method in _LISTS_TOOLS and not isinstance(core(receiver), Instance | Record):
        because = "a server may list its tools in another order each time"
        return members.listed(because, call.place, call.name, Named(call.name, call.place), Confidence.POSSIBLE)
    if isinstance(core(receiver), Instance | Class | Namespace | Record):
        found = [_method(call, one) for one in cores(receiver)]
        return choice(one for one in found if one is not None) if any(one is not None for one in found) else None
    known = True

    def of(inner: Value) -> Value:
        nonlocal known
        found = _method(call, inner)
        known = known and found is not None
        return found if found is not None else inner

    value = through(receiver, of)
    return value if known else None


def _method(call: Call, inner: Value) -> Value | None:
    if isinstance(inner, Instance | Class | Namespace | Record):
        return _of_object(call, inner)
    method = call.method
    if method in AGES:
        because = "it says how long ago something was"
        return members.moving(
            Judgement(VolatileKind.RELATIVE_TIME, Frequency.CALL, because=because), call.place, call.name
        )
    if isinstance(inner, Moving) and not inner.order and inner.kind is VolatileKind.CLOCK:
        return _of_clock(call, inner)
    if method.startswith("toLocale") and not isinstance(inner, Moving):
        return _in_locale(call, inner)
    if method in ("replace", "replaceAll"):
        return replaced(call, inner)
    if method in _TRUTHS:
        return BLANK
    of_list = _of_list(call, inner)
    if of_list is not None:
        return of_list
    if method in _SAME:
        return members.widened(inner, call.module.place(call.callee.fields["object"].bare()), call.place)
    if method in _ONE and not isinstance(inner, Named):
        return members.element(call.evaluator, inner, call.place)
    if method == "describe":
        return joined(inner, call.value(0))
    return inner if isinstance(inner, Moving | Const | Joined) and not _is_special(call) else None


def _is_special(call: Call) -> bool:
    return calls.retrieval(call.method, call.receiver) is not None or calls.drawn(call.method, "") is not None


def _of_object(call: Call, inner: Value) -> Value | None:
    """Return what a method of an object of the package returns."""
    if isinstance(inner, Record) and _CLOCK_FORMAT in inner.fields:
        return _formatted(call, inner.fields[_CLOCK_FORMAT])
    found = members.member(call.evaluator, inner, call.method, call.place)
    function = core(found)
    if isinstance(function, Function):
        value = call.evaluator.invoke(function, call.arguments(), call.place, call.name)
        looked_up = (
            calls.retrieval(call.method, call.receiver) if call.nodes and isinstance(core(value), Named) else None
        )
        return members.moving(looked_up, call.place, call.name) if looked_up is not None else value
    if isinstance(function, Class) and call.made:
        return Instance(function.module, function.node)
    if call.method == "describe":
        return joined(inner, call.value(0))
    return inner if call.method in _SAME and isinstance(inner, Record) else None


def _of_clock(call: Call, clock: Moving) -> Value:
    whole = call.callee.fields["object"].bare()
    direct = clock.place == call.module.place(whole)
    clock = clock.but(place=call.place) if direct else clock
    arguments = [call.text(index) for index in range(len(call.nodes))]
    return printed(clock, call.method, arguments, call.options())


def _in_locale(call: Call, inner: Value) -> Value:
    """Return a number or a text as it is printed in a locale."""
    if isinstance(inner, Named) and judge(inner.name) is None and _USER_LOCALE.search(call.module.text(call.node)):
        found = Judgement(VolatileKind.LOCALE, Frequency.SESSION, because="it is printed as the user's locale has it")
        return members.moving(found._replace(confidence=Confidence.POSSIBLE), call.place, call.name)
    if not isinstance(inner, Named):
        return inner
    money = call.options().get("style") == "currency"
    return Named(inner.name.rpartition(".")[2] if money else inner.name, call.place)


def _of_list(call: Call, inner: Value) -> Value | None:
    method = call.method
    if method == "slice" and (sign := windows.last_of(inner, call.text(0), call.place, counted=len(call.nodes) == 1)):
        return Items((sign, Rest(inner)))
    if method in ("map", "flatMap"):
        return mapped(call, inner, core(call.value(0)))
    if method in ("sort", "toSorted"):
        return members.shuffled_or_sorted(inner, call.module, call.nodes, call.place)
    if method == "then":
        function = core(call.value(0))
        return call.evaluator.invoke(function, (inner,), call.place) if isinstance(function, Function) else inner
    if method == "concat" and not isinstance(inner, Const | Joined):
        return Items((Rest(inner), *(Rest(value) for value in call.values())))
    if method == "concat":
        return joined(inner, *call.values())
    if method in ("reduce", "reduceRight"):
        return _reduced(call, inner)
    return None


def mapped(call: Call, value: Value, function: Value) -> Value:
    """Return a list with a function applied to each of its elements."""

    def each(inner: Value) -> Value:
        if isinstance(inner, Items):
            return type(inner)(_mapped_item(call, item, function) for item in inner.items)
        found = _apply(call, function, members.element(call.evaluator, inner, call.place))
        return Items((*members.signs(inner), Rest(Items((found,)))))

    return through(value, each)


def _mapped_item(call: Call, item: Value, function: Value) -> Value:
    if isinstance(item, Rest):
        return Rest(mapped(call, item.value, function))
    if isinstance(item, Moving) and item.order:
        return item
    return _apply(call, function, item)


def _apply(call: Call, function: Value, argument: Value) -> Value:
    if isinstance(function, Function):
        return call.evaluator.invoke(function, (argument,), call.place)
    return argument


def _reduced(call: Call, inner: Value) -> Value:
    function = core(call.value(0))
    if not isinstance(function, Function):
        return inner
    item = members.element(call.evaluator, inner, call.place)
    found = call.evaluator.invoke(function, (call.value(1), item), call.place)
    return Items((*members.signs(inner), found))


_CLOCK_FORMAT = "Intl.DateTimeFormat"


def _formatted(call: Call, options: Value) -> Value:
    """Return what `new Intl.DateTimeFormat(…).format(time)` returns: the time of the call where none is given."""
    now = members.moving(calls.CALLS[":Date"], call.place, call.name)
    found = core(options)
    names = {name: plain_text(field) for name, field in found.fields.items()} if isinstance(found, Record) else {}

    def of(value: Value) -> Value:
        if not isinstance(value, Moving):
            return value
        return printed(value.but(place=call.place), "toLocaleDateString", [], names)

    return through(call.value(0) if call.nodes else now, of)


def static_value(call: Call) -> Value | None:
    """Return what a function returns that every script has; None for any other."""
    name = call.qualified
    if name is None or not name.startswith((":", "zod:")):
        return None
    name = name.removeprefix(":")
    if name.startswith("zod:"):
        return joined(*call.values())
    if name in ("Set", "Map", "Array", "Array.from", "Array.of", "WeakMap"):
        return _collected(call, name)
    if name.startswith("Object."):
        return _of_objects(call, name.removeprefix("Object."))
    if name == "JSON.stringify":
        return sorted_json(call) if core(call.value(1)) is not BLANK else _as_json(call.value(0))
    if name in ("JSON.parse", "Promise.all", "Promise.allSettled", "Promise.resolve", "structuredClone"):
        return call.value(0)
    if name.startswith(("Math.", "Number", "String", "BigInt", "parse", "encodeURI", "decodeURI")):
        return joined(*call.values())
    if name == "Intl.DateTimeFormat":
        return Record({_CLOCK_FORMAT: call.value(1)})
    return BLANK if name.startswith(("console.", "Symbol", "Error", "RegExp", "Boolean")) else None


def _collected(call: Call, name: str) -> Value:
    if not call.nodes or (name == "Array" and call.made):
        return Items(())
    if name == "Array.of":
        return Items(call.values())
    found = Items((Rest(call.value(0)),))
    function = core(call.value(1))
    return mapped(call, found, function) if isinstance(function, Function) else found


def _of_objects(call: Call, method: str) -> Value | None:
    value = call.value(0)
    if method in ("freeze", "seal"):
        return value
    if method == "fromEntries":
        return Keyed((Rest(value),))
    if method == "assign":
        found = [core(argument) for argument in call.values()]
        fields: dict[str, Value] = {}
        for record in found:
            fields.update(record.fields if isinstance(record, Record) else {})
        return Record(fields, tuple(other for other in found if not isinstance(other, Record)))
    if method not in ("keys", "values", "entries"):
        return None

    def of(inner: Value) -> Value:
        if not isinstance(inner, Record):
            return Items((Rest(inner),))
        names = [Const(name) for name in inner.fields]
        items = names if method == "keys" else list(inner.fields.values())
        return Items((*items, *(Rest(rest) for rest in inner.rest)))

    return through(value, of)


def _as_json(value: Value) -> Value:
    """Return the JSON of a value: of one that was put together in no fixed order, the keys move."""
    if not _is_keyed(value):
        return value

    def of(inner: Value) -> Value:
        if isinstance(inner, Items):
            return type(inner)(of(item) for item in inner.items)
        if isinstance(inner, Rest):
            return Rest(_as_json(inner.value))
        if isinstance(inner, Moving) and inner.kind is VolatileKind.UNORDERED and inner.order:
            return inner.but(kind=VolatileKind.KEY_ORDER, clause="its JSON has the keys in the order of insertion")
        return inner

    return through(value, of)


def _is_keyed(value: Value) -> bool:
    found = core(value)
    if isinstance(found, Items):
        return isinstance(found, Keyed) or any(isinstance(item, Rest) and _is_keyed(item.value) for item in found.items)
    return False


def sorted_json(call: Call) -> Value:
    """Return the JSON of a value with sorted keys."""
    return members.in_order(call.value(0))
