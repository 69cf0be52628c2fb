"""Usage that a record holds twice: as the provider said it, and as the exporter wrote it down.

An exporter that takes an input count which already includes the cached part, and writes the cached part beside it as
if it came on top, makes every sum wrong. The provider's own figures in the same record prove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from prefixwise.core.pointer import format_pointer

_INPUT = ("input", "input_tokens", "prompt_tokens", "promptTokens", "inputTokens", "prompt")
_OUTPUT = ("output", "output_tokens", "completion_tokens", "completionTokens", "outputTokens", "completion")
_TOTAL = ("total", "total_tokens", "totalTokens", "totalTokenCount")
_READ = (
    "cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cached_tokens", "cache_read_tokens",
    "cacheReadInputTokens", "prompt_cache_read_tokens", "cache_read",
)  # fmt: skip
_WRITTEN = (
    "cache_creation_input_tokens", "input_cache_creation", "cache_write_tokens", "cache_creation_tokens",
    "cacheWriteInputTokens", "prompt_cache_write_tokens", "cache_creation",
)  # fmt: skip
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_DISJOINT = frozenset({"usageDetails", "usage_details"})
"""Places whose format says that the counts add up: the input is what was neither read nor written."""
_PROMPTS = frozenset({"messages", "contents", "tools", "system", "input", "prompt", "choices", "content"})
_DEEPEST = 5


class Doubled(msgspec.Struct, frozen=True):
    """A usage that counts its cached tokens twice.

    Attributes:
        pointer: Of the exporter's figures, in the record.
        input, cached, written: As the exporter wrote them; `input` is the whole prompt, or more.
        proof: A clause on how that shows.
        is_more: Whether `input` is more than the prompt.
    """

    pointer: str
    input: int
    cached: int
    written: int
    proof: str
    is_more: bool = False


class _Figures(msgspec.Struct, frozen=True):
    """One usage object; `own`: the whole prompt, where the object is in the words of a provider, else None.

    `input_at` is where the input count stands in the object.
    """

    pointer: str
    input_at: str
    input: int
    read: int
    written: int
    output: int
    total: int | None
    own: int | None

    @property
    def cached(self) -> tuple[int, int]:
        """Tokens read, tokens written."""
        return self.read, self.written

    @property
    def adds_up(self) -> bool:
        """Whether its total takes the cached tokens as coming on top of the input."""
        return self.total is not None and self.total == self.input + self.read + self.written + self.output

    @property
    def is_disjoint(self) -> bool:
        """Whether its format says so."""
        return self.total is None and self.pointer.rpartition("/")[2] in _DISJOINT


def doubled_in(record: bytes) -> Doubled | None:
    """Return the usage in a record's JSON that counts its cached tokens twice, None where none can be shown to."""
    try:
        found = list(_usages(msgspec.json.decode(record), "", 0))
    except (msgspec.MsgspecError, RecursionError):
        return None
    for said in found:
        if not said.read + said.written:
            continue
        if said.adds_up and said.own == said.input:
            return _doubled(said, "its total adds the cached tokens to an input that includes them")
        others = [one for one in found if one is not said and one.cached == said.cached and one.own is not None]
        if (said.adds_up or said.is_disjoint) and any(one.own == said.input for one in others):
            return _doubled(said, "the provider's own figures in the record come to the exporter's input alone")
        if any(_holds_twice(said, one.own) for one in others if one.own is not None):
            proof = "it is the provider's own prompt count in the record with the cached part added once more"
            return msgspec.structs.replace(_doubled(said, proof), is_more=True)
    return None


def _holds_twice(said: _Figures, prompt: int) -> bool:
    """Say whether a count is the whole prompt with what was read, or all that was cached, added once more."""
    count = said.input if said.own is None else said.own
    return count > prompt and count - prompt in (said.read, said.read + said.written)


def _doubled(said: _Figures, proof: str) -> Doubled:
    return Doubled(said.pointer or said.input_at, said.input, said.read, said.written, proof)


def _usages(value: Any, pointer: str, depth: int) -> Iterator[_Figures]:
    if isinstance(value, str) and value[:1] == "{" and "tokens" in value and depth:
        try:
            value = msgspec.json.decode(value)
        except msgspec.MsgspecError:
            return
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    figures = _figures(value, pointer)
    if figures is not None:
        yield figures
    for key, inner in value.items():
        if key not in _PROMPTS and isinstance(inner, (dict, str)):
            yield from _usages(inner, pointer + format_pointer(key), depth + 1)


def _figures(value: dict[str, Any], pointer: str) -> _Figures | None:
    given, read, written = _first(value, _INPUT), _first(value, _READ), _first(value, _WRITTEN)
    details = next((inner for key in _DETAILS if isinstance(inner := value.get(key), dict)), None)
    if given is None:
        return None
    own = None
    if details is not None:
        read, written = _first(details, _READ), _first(details, _WRITTEN)
        own = given
    elif "input_tokens" in value and ("cache_read_input_tokens" in value or "cache_creation_input_tokens" in value):
        own = given + (read or 0) + (written or 0)
    if read is None and written is None:
        return None
    output, total = _first(value, _OUTPUT) or 0, _first(value, _TOTAL)
    key = next(name for name in _INPUT if value.get(name) == given)
    return _Figures(pointer, format_pointer(key), given, read or 0, written or 0, output, total, own)


def _first(value: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((value[name] for name in names if type(value.get(name)) is int and value[name] >= 0), None)
