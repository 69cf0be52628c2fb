"""Settings of a request that are no text and yet part of what a cache goes by: what differs, and whether it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.caches.facts import System
from prefixwise.caches.model_names import names_of
from prefixwise.core.pointer import format_pointer

# What an absent setting is, where its provider says so; a value that is spelt out and equal is no change.
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "/tool_choice/type": ("auto",),
    "/tool_choice/disable_parallel_tool_use": (False,),
    "/parallel_tool_calls": (True,),
    "/thinking/type": ("disabled",),
    "/output_config/effort": ("high",),
    "/speed": ("standard",),
    "/verbosity": ("medium",),
    "/text/verbosity": ("medium",),
    "/text/format/type": ("text",),
    "/service_tier": ("auto", "default", "standard"),
    "/performanceConfig/latency": ("standard",),
    "/generationConfig/responseMimeType": ("text/plain",),
    "/toolConfig/functionCallingConfig/mode": ("AUTO", "MODE_UNSPECIFIED"),
}
_WRAPPED = ("/additionalModelRequestFields",)
_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|amazon|meta|mistral|deepseek|cohere)\.")


class Setting(msgspec.Struct, frozen=True):
    """A setting that differs between two requests.

    Attributes:
        pointer: Where it stands in the body, in the later one where it is there.
        before, after: Its values; None where it is absent.
    """

    pointer: str
    before: Any
    after: Any

    @property
    def name(self) -> str:
        """Its own name and that of the object it stands in, as people write it: `reasoning.effort`."""
        return ".".join(self.pointer.strip("/").split("/")[-2:])

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """The two values as text."""
        return _text(self.before), _text(self.after)

    @property
    def char_offset(self) -> int | None:
        """Code points that the two values share, None where one is no string."""
        if isinstance(self.before, str) and isinstance(self.after, str):
            return common_prefix(self.before, self.after)
        return None


class Bearing(msgspec.Struct, frozen=True):
    """What the facts on a cache say of a setting.

    Attributes:
        counts: Whether a change is a miss; None where the facts do not tell.
        keeps_system: Whether tools and system text are read all the same.
    """

    counts: bool | None
    keeps_system: bool = False


def changed_settings(pair: Compared, wanted: re.Pattern[str]) -> list[Setting]:
    """Return the settings that differ and whose pointer begins as `wanted` says, in the order of the request.

    Values that an absent setting stands for, and null, are no difference to an absent one.
    """
    found = []
    for parameter in pair.parameters:
        before = msgspec.json.decode(parameter.before) if parameter.before else None
        after = msgspec.json.decode(parameter.after) if parameter.after else None
        found += [s for s in _leaves(f"/{parameter.name}", before, after) if wanted.match(_bare(s.pointer))]
    return sorted(found, key=lambda setting: not setting.pointer.endswith(("/type", "/effort")))


def bearing(log: Log, row: int, *names: str) -> Bearing:
    """Return what is known of a setting for the cache that served a row, and for its model's maker.

    Args:
        log: All requests.
        row: The request.
        names: What the facts call the setting, in `key_includes`, `key_excludes` or `invalidation`.
    """
    counts: bool | None = None
    for system in _systems(log, row):
        for change in system.invalidation:
            if change.change in names:
                return Bearing(counts=True, keeps_system="lost" not in (change.tools, change.system))
        if any(name in named for name in names for named in system.key_includes):
            return Bearing(counts=True)
        if any(name in named for name in names for named in system.key_excludes):
            counts = False
    return Bearing(counts)


def _systems(log: Log, row: int) -> tuple[System, ...]:
    """Return the facts on a row's cache, then those on the cache of whoever made its model."""
    model = log.model(row)
    bare = _VENDOR.sub("", names_of(model)[-1])
    maker = log.book.rules_for(bare) if bare != model else ()
    return (*log.systems(row), *maker)


def _bare(pointer: str) -> str:
    for wrapper in _WRAPPED:
        pointer = pointer.removeprefix(wrapper)
    return pointer


def _leaves(pointer: str, before: Any, after: Any) -> Iterator[Setting]:
    if before == after:
        return
    if isinstance(before, dict) or isinstance(after, dict):
        one = before if isinstance(before, dict) else {}
        other = after if isinstance(after, dict) else {}
        for key in dict.fromkeys((*other, *one)):
            yield from _leaves(pointer + format_pointer(key), one.get(key), other.get(key))
        return
    usual = (None, *_DEFAULTS.get(_bare(pointer), ()))
    if not (_is_in(before, usual) and _is_in(after, usual)):
        yield Setting(pointer, before, after)


def _is_in(value: Any, usual: tuple[Any, ...]) -> bool:
    return any(value is known or (type(value) is type(known) and value == known) for known in usual)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()
