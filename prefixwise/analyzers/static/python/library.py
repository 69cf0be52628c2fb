"""What functions of the standard library, and a few of other packages, give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from prefixwise.analyzers.static.names import Judgement, Use, name_words, use
from prefixwise.analyzers.static.python.annotations import set_mark
from prefixwise.analyzers.static.python.calls import (
    SCOPE,
    WINDOW,
    is_about_examples,
    judge_call,
)
from prefixwise.analyzers.static.python.frames import Dotted, Frame
from prefixwise.analyzers.static.python.loops import ENUMERATED, element_of
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.python.mutations import put
from prefixwise.analyzers.static.python.objects import called
from prefixwise.analyzers.static.python.pieces import Element, Moving, leaves
from prefixwise.analyzers.static.python.printing import formatted, in_format, printed
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.templates import Filling
from prefixwise.analyzers.static.python.values import (
    UNKNOWN,
    Item,
    Value,
    joined,
    keys_sorted,
    listed,
    settled,
    text_of,
    unknown,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

Known = Callable[[Frame, Site], Value]
LIBRARY: dict[str, Known] = {}
"""What evaluates a call, by its full name."""
_COUNTED = Judgement(VolatileKind.COUNTER, Frequency.CALL, because="it counts the messages so far")
_HISTORIES = frozenset({"messages", "message", "history", "conversation", "turns", "turn", "transcript"})


def _functions(names: str) -> Callable[[Known], Known]:
    def register(function: Known) -> Known:
        LIBRARY.update(dict.fromkeys(names.split(), function))
        return function

    return register


def _first(site: Site) -> Filling | None:
    return next(iter(site.fillings), None)


@_functions("sorted natsort.natsorted natsorted")
def _sorted(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    given = _first(site)
    if given is None or given.value.items is None:
        return Value(items=(Item(unknown("sorted"), many=True),))
    return settled(given.value)


@_functions("list tuple reversed iter filter itertools.chain.from_iterable itertools.islice collections.deque deque")
def _list(frame: Frame, site: Site) -> Value:
    given = site.argument(1 if site.name == "filter" else 0, "iterable")
    if given is None:
        return Value(items=())
    value = given.value
    marks = tuple(frame.shown(mark, given.node) for mark in value.marks)
    if site.name == "deque" and site.argument(1, "maxlen") is not None:
        marks += (Moving(frame.origin(site.node, WINDOW, "deque"), (), frame.loops),)
    if value.items is not None:
        return Value(items=value.items, marks=marks)
    if value.fields is not None:
        return Value(items=(Item(UNKNOWN, many=True),), marks=marks)
    return Value(items=(Item(Value(pieces=value.pieces or UNKNOWN.pieces), many=True),), marks=marks)


@_functions("itertools.chain asyncio.gather")
def _chain(frame: Frame, site: Site) -> Value:
    items: list[Item] = []
    marks: tuple[Moving, ...] = ()
    for given in site.positional:
        marks += tuple(frame.shown(mark, given.node) for mark in given.value.marks)
        items += given.value.items if given.value.items is not None else (Item(given.value, many=site.name == "chain"),)
    return Value(items=tuple(items) or (Item(UNKNOWN, many=True),), marks=marks)


@_functions("set frozenset")
def _set(frame: Frame, site: Site) -> Value:
    given = _first(site)
    items = given.value.items if given is not None else ()
    if given is not None and items is not None and len(items) < 2 and not any(item.many for item in items):
        return Value(items=items)
    return Value(items=items or (Item(UNKNOWN, many=True),), marks=(set_mark(frame, site.node),))


@_functions("dict collections.OrderedDict collections.defaultdict collections.Counter OrderedDict defaultdict Counter")
def _dict(frame: Frame, site: Site) -> Value:
    found = Value(fields=())
    for given in site.positional:
        value = given.value
        if value.fields is not None:
            found = replace(found, fields=value.fields, marks=value.marks)
        elif value.items is not None:
            found = replace(found, marks=tuple(frame.shown(mark, given.node) for mark in value.marks))
    for name, given in site.keywords.items():
        found = found.with_field(name, given.value)
    return found


@_functions("dict.fromkeys")
def _from_keys(frame: Frame, site: Site) -> Value:
    given = _first(site)
    marks = tuple(frame.shown(mark, given.node) for mark in given.value.marks) if given is not None else ()
    return Value(fields=(), marks=marks)


@_functions("str repr format ascii pprint.pformat pformat bytes")
def _text(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None:
        return Value(pieces=("",), literal="")
    if site.name == "pformat":
        return Value(pieces=printed(frame, keys_sorted(given.value), given.node))
    spec = site.literal(1, "format_spec") if site.name == "format" else ""
    return Value(pieces=formatted(frame, given.value, given.node, spec if isinstance(spec, str) else ""))


@_functions(
    """textwrap.dedent textwrap.fill textwrap.indent textwrap.shorten inspect.cleandoc html.escape html.unescape
    copy.copy copy.deepcopy dataclasses.asdict asdict asyncio.run asyncio.create_task asyncio.ensure_future
    asyncio.shield asyncio.wait_for asyncio.timeout int float round math.floor math.ceil os.fspath os.path.abspath
    os.path.realpath os.path.normpath os.path.expanduser os.path.basename os.path.dirname shlex.quote urllib.parse.quote
    base64.b64encode hashlib.md5 hashlib.sha1 hashlib.sha256 hashlib.sha512
    hashlib.blake2b uuid.UUID typing.cast cast markdown.markdown datetime.datetime.fromtimestamp
    datetime.datetime.utcfromtimestamp datetime.fromtimestamp datetime.datetime.fromisoformat time.mktime time.asctime
    shlex.join os.path.expandvars humanize.naturaldelta humanize.precisedelta sys.intern unicodedata.normalize anyio.run
    string.capwords"""
)
def _same(frame: Frame, site: Site) -> Value:
    position = {"cast": 1, "normalize": 1, "pformat": 0}.get(site.name, 0)
    given = site.argument(position) or _first(site)
    if given is None:
        judged = judge_call(site.dotted)
        return frame.moving(site.node, judged, site.path) if judged is not None else UNKNOWN
    if isinstance(given.value.ref, Dotted) and not given.value.pieces:
        return unknown(site.path)
    return given.value


@_functions("pathlib.Path pathlib.PurePath Path os.path.join uuid.uuid5 uuid.uuid3 operator.concat posixpath.join")
def _all_of_it(frame: Frame, site: Site) -> Value:
    between = "" if site.name.startswith("uuid") else "/"
    return joined([printed(frame, given.value, given.node) for given in site.positional], between)


@_functions("json.dumps orjson.dumps ujson.dumps simplejson.dumps rapidjson.dumps msgspec.json.encode")
def _json(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None:
        return UNKNOWN
    option = site.argument(-1, "option", "order", "sort_keys")
    is_sorted = option is not None and option.value.literal not in (False, None, 0)
    return _dumped(frame, given, is_sorted=is_sorted)


@_functions("yaml.dump yaml.safe_dump")
def _yaml(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None:
        return UNKNOWN
    return _dumped(frame, given, is_sorted=site.literal(-1, "sort_keys") is not False)


def _dumped(frame: Frame, given: Filling, *, is_sorted: bool) -> Value:
    value = keys_sorted(given.value) if is_sorted else _by_key_order(given.value)
    return Value(pieces=printed(frame, value, given.node), fields=given.value.fields, items=given.value.items)


def _by_key_order(value: Value) -> Value:
    """Return a value in which mappings without a fixed order say that it is their keys that move."""
    items = fields = None
    marks = value.marks
    if value.items is not None:
        items = tuple(item._replace(value=_by_key_order(item.value)) for item in value.items)
    if value.fields is not None:
        fields = tuple((key, _by_key_order(inner)) for key, inner in value.fields)
        marks = tuple(
            mark._replace(origin=mark.origin._replace(kind=VolatileKind.KEY_ORDER))
            if mark.origin.kind is VolatileKind.UNORDERED
            else mark
            for mark in marks
        )
    return replace(value, items=items, fields=fields, marks=marks)


@_functions("len")
def _len(frame: Frame, site: Site) -> Value:
    path = path_of(site.node.args[0]) if site.node.args else ""
    words = name_words(path.rsplit(".", 1)[-1])
    if use(path) is Use.TURN and words and words[-1] in _HISTORIES:
        return frame.moving(site.node, _COUNTED, ast.unparse(site.node)[:40])
    return UNKNOWN


@_functions("min max sum any all bool isinstance print input type abs hasattr callable issubclass")
def _nothing(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    return UNKNOWN


@_functions("enumerate")
def _enumerate(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None:
        return UNKNOWN
    members = _list(frame, site)
    pairs = tuple(Item(listed([UNKNOWN, item.value]), many=True) for item in members.items or ())
    return Value(items=pairs or (Item(listed([UNKNOWN, UNKNOWN]), many=True),), marks=members.marks, ref=ENUMERATED)


@_functions("zip")
def _zip(frame: Frame, site: Site) -> Value:
    members = [element_of(frame, given.value, given.node, 0) for given in site.positional]
    marks = tuple(frame.shown(mark, given.node) for given in site.positional for mark in given.value.marks)
    plain = [
        Value(pieces=tuple(piece for piece in leaves(text_of(value)) if not isinstance(piece, Element)))
        for value in members
    ]
    return Value(items=(Item(listed(plain), many=True),), marks=marks)


@_functions("map")
def _map(frame: Frame, site: Site) -> Value:
    function, given = site.argument(0), site.argument(1)
    if function is None or given is None:
        return UNKNOWN
    marks = tuple(frame.shown(mark, given.node) for mark in given.value.marks)
    member = element_of(frame, settled(given.value), given.node, 0)
    result = member if isinstance(function.value.ref, Dotted) else called(frame, function.value, function.node)
    return Value(items=(Item(result, many=True),), marks=marks)


@_functions("next")
def _next(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None or not given.value.marks or path_of(given.node) != "iter":
        return UNKNOWN
    return Value(pieces=tuple(frame.shown(mark, given.node) for mark in given.value.marks))


@_functions("vars")
def _vars(frame: Frame, site: Site) -> Value:
    return Value(fields=(), marks=(Moving(frame.origin(site.node, SCOPE, site.path), (), frame.loops),))


@_functions("locals globals")
def _scope(frame: Frame, site: Site) -> Value:
    fields = tuple((name, value) for name, value in frame.env.items() if "." not in name)
    return Value(fields=fields, marks=(Moving(frame.origin(site.node, SCOPE, site.path), (), frame.loops),))


@_functions("hash")
def _hash(frame: Frame, site: Site) -> Value:
    given, judged = _first(site), judge_call("hash")
    if given is None or judged is None or isinstance(given.value.literal, int | float):
        return UNKNOWN
    pieces = text_of(given.value)
    if not pieces or not all(isinstance(piece, str) for piece in pieces):  # another value may have another hash
        judged = judged._replace(frequency=Frequency.SESSION, confidence=Confidence.POSSIBLE)
    return frame.moving(site.node, judged, site.path)


@_functions("getattr")
def _getattr(frame: Frame, site: Site) -> Value:
    name = site.literal(1)
    if not isinstance(name, str) or not site.node.args:
        return UNKNOWN
    node = ast.copy_location(ast.Attribute(site.node.args[0], name, ast.Load()), site.node)
    return frame.value(node)


@_functions("time.strftime strftime")
def _strftime(frame: Frame, site: Site) -> Value:
    text, judged = site.literal(0, "format"), judge_call("time.time")
    given = site.argument(1, "t")
    value = given.value if given is not None else frame.moving(site.node, judged, site.path) if judged else UNKNOWN
    return in_format(value, text) if isinstance(text, str) else value


@_functions("datetime.datetime.strftime datetime.strftime datetime.date.strftime date.strftime")
def _unbound_strftime(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    given, text = site.argument(0), site.literal(1)
    if given is None:
        return UNKNOWN
    return in_format(given.value, text) if isinstance(text, str) else given.value


@_functions("time.localtime time.gmtime time.ctime arrow.get")
def _now_without_arguments(frame: Frame, site: Site) -> Value:
    given, judged = _first(site), judge_call(site.dotted)
    if given is not None or judged is None:
        return given.value if given is not None else UNKNOWN
    return frame.moving(site.node, judged, site.path)


@_functions("random.shuffle numpy.random.shuffle np.random.shuffle")
def _shuffle(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is not None and not is_seeded(frame):
        kind = VolatileKind.EXAMPLES if is_about_examples(path_of(given.node)) else VolatileKind.UNORDERED
        judged = Judgement(kind, Frequency.CALL, because="it is shuffled at random")
        mark = Moving(frame.origin(site.node, judged, path_of(given.node)), (), frame.loops)
        held = given.value if given.value.items is not None else Value(items=(Item(UNKNOWN, many=True),))
        put(frame, given.node, replace(held, marks=(*held.marks, mark)))
    return UNKNOWN


SEED = "(seed)"
"""The name under which a frame keeps that random numbers begin with a fixed seed."""


@_functions("random.seed numpy.random.seed np.random.seed")
def _seed(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is not None and not given.value.stirs:
        frame.env[SEED] = UNKNOWN
    return UNKNOWN


def is_seeded(frame: Frame) -> bool:
    """Say whether random numbers begin with a fixed seed in this function."""
    return SEED in frame.env


@_functions("random.Random numpy.random.default_rng np.random.default_rng random.SystemRandom")
def _generator(frame: Frame, site: Site) -> Value:
    given = _first(site)
    is_fixed = given is not None and not given.value.stirs and frame.function is not None
    return UNKNOWN if is_fixed else Value(ref=Dotted("random"))


@_functions("functools.partial partial asyncio.to_thread")
def _partial(frame: Frame, site: Site) -> Value:
    given = _first(site)
    if given is None:
        return UNKNOWN
    return called(frame, given.value, given.node) if site.name == "to_thread" else given.value


@_functions("io.StringIO StringIO")
def _buffer(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    return Value(items=tuple(Item(given.value) for given in site.positional))


@_functions("dataclasses.replace")
def _replaced(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    found = site.positional[0].value if site.positional else UNKNOWN
    for name, given in site.keywords.items():
        found = found.with_field(name, given.value)
    return found
