"""What the server can do wrong on purpose, so that clients and measurements can be tested; off by default, and loud."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from prefixwise.core.errors import UserError

USAGES = ("missing", "zero", "lie")


class Faults(msgspec.Struct, frozen=True):
    """The faults that are on; the defaults are none.

    Attributes:
        no_cache: Nothing is reused.
        block: Tokens in a block, whatever the settings say; 0 leaves them.
        fifo: What came first is evicted first.
        ttl: Seconds after which what was not used is not found; 0 for ever.
        ttl_fixed: Seconds after which what was written is not found, used or not; 0 for ever.
        visible: Seconds before which what was written is not found.
        minimum: Tokens of a prompt below which nothing is found.
        usage: `missing`, `zero` (no cached tokens are reported) or `lie` (all but the last prompt token are).
        replicas: Engines with caches of their own behind the one address.
        scatter: Requests without a key of their own go to a replica at random, not in turn.
        drift: Seconds that answers come later for every second since the start.
        stirred: Seconds that an answer comes later unless somebody with another API key asked right before.
        salt_ignored: Salts and tenants are ignored in the tiers below the device.
        contaminated: Share of requests whose salt is ignored, so that what should be cold may be warm.
        delay: Seconds that answers come later.
        errors: Share of requests that end with 503.
        early_close: Share of streams that are closed before their end.
        slow_chunks: Seconds between the chunks of a stream.
    """

    no_cache: bool = False
    block: int = 0
    fifo: bool = False
    ttl: float = 0.0
    ttl_fixed: float = 0.0
    visible: float = 0.0
    minimum: int = 0
    usage: str = ""
    replicas: int = 1
    scatter: bool = False
    drift: float = 0.0
    stirred: float = 0.0
    salt_ignored: bool = False
    contaminated: float = 0.0
    delay: float = 0.0
    errors: float = 0.0
    early_close: float = 0.0
    slow_chunks: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The faults that are on, as `--fault` takes them."""
        found = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value != _NONE[name]:
                found.append(
                    _option(name)
                    if value is True
                    else f"{_option(name)}={value:g}"
                    if name in _NUMBERS
                    else f"{_option(name)}={value}"
                )
        return tuple(found)


_NONE = {name: getattr(Faults(), name) for name in Faults.__struct_fields__}
_NUMBERS = tuple(
    name for name, value in _NONE.items() if isinstance(value, (int, float)) and not isinstance(value, bool)
)
_SHARES = ("contaminated", "errors", "early_close")


def _option(name: str) -> str:
    return name.replace("_", "-")


def parse_faults(given: Iterable[str]) -> Faults:
    """Return the faults that `--fault` names: `no-cache`, `ttl=5`, `usage=zero` and so on.

    Raises:
        UserError: One is not known, or its value makes no sense.
    """
    values: dict[str, object] = {}
    for text in given:
        option, mark, value = text.partition("=")
        name = option.replace("-", "_")
        where = f"--fault {text[:60]}"
        if name not in _NONE or "_" in option:
            raise UserError("there is no such fault", where, f"known: {', '.join(map(_option, _NONE))}")
        if isinstance(_NONE[name], bool):
            if mark:
                raise UserError("this fault has no value", where)
            values[name] = True
        elif name == "usage":
            if value not in USAGES:
                raise UserError("this is no way to report usage", where, f"known: {', '.join(USAGES)}")
            values[name] = value
        else:
            values[name] = _number(name, value, where)
    return Faults(**values)  # type: ignore[arg-type]


def _number(name: str, text: str, where: str) -> float:
    kind = type(_NONE[name])
    if not re.fullmatch(r"\d{1,9}" if kind is int else r"\d{1,9}(\.\d{1,9})?", text):
        raise UserError("the fault needs a number", where, f"for example {_option(name)}={2 if kind is int else 0.5}")
    number: float = kind(text)
    if name in _SHARES and number > 1:
        raise UserError("a share is at most 1", where)
    if name in ("replicas", "block") and not 1 <= number <= (16 if name == "replicas" else 1024):
        raise UserError("this number makes no sense", where)
    return number
