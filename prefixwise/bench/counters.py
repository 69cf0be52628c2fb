"""What a server's own counters say of a run: read before and after it, and held against the usage of its answers.

The names are those of vLLM 0.33, SGLang 0.5.23, LMCache and prefixwise serve. They count tokens, since the server
began: only differences say something of a run. Labels (engines, ranks, tiers) are summed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from prefixwise.bench.server_times import ServerTime, server_time_table, server_times
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.prometheus import Page, fetch_page
from prefixwise.core.errors import UserError
from prefixwise.core.report import Block, Column, Table, Unit

AUTO = "auto"
_SETTLE_S = 2.0
"""How long counters may take to show the last request."""


class _Kind(NamedTuple):
    """One thing that a system counts, under the first of these names that its page has."""

    system: str
    what: str
    names: tuple[str, ...]


def _vllm(name: str, *old: str) -> tuple[str, ...]:
    return (f"vllm:{name}_total", f"vllm:{name}", *(f"vllm:{one}_total" for one in old))


_KINDS = (
    _Kind("vLLM", "prompt", _vllm("prompt_tokens")),
    _Kind("vLLM", "looked_up", _vllm("prefix_cache_queries", "gpu_prefix_cache_queries")),
    _Kind("vLLM", "hits", _vllm("prefix_cache_hits", "gpu_prefix_cache_hits")),
    _Kind("vLLM", "external_hits", _vllm("external_prefix_cache_hits")),
    _Kind("SGLang", "prompt", ("sglang:prompt_tokens_total",)),
    _Kind("SGLang", "hits", ("sglang:cached_tokens_total",)),
    _Kind("LMCache", "looked_up", ("lmcache:num_requested_tokens_total", "lmcache:num_requested_tokens")),
    _Kind("LMCache", "hits", ("lmcache:num_hit_tokens_total", "lmcache:num_hit_tokens")),
    _Kind("prefixwise", "hits", ("prefixwise:cached_tokens_total",)),
)
_SERVING = ("vLLM", "SGLang", "prefixwise")
"""Whose hits are the cached tokens of usage. LMCache is asked only for what the engine itself has not."""


class CounterDelta(msgspec.Struct, frozen=True):
    """By how much a counter grew; None where it began anew in between.

    Attributes:
        system: Whose it is.
        what: `prompt` tokens, tokens `looked_up`, `hits` and `external_hits`.
        name: As the page has it.
        tokens: The difference.
    """

    system: str
    what: str
    name: str
    tokens: int | None


class CounterCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The counters of a run, held against the usage of its answers.

    Attributes:
        pages: Where they were read.
        counters: What grew.
        prompt, cached: Tokens that the answers count; None where they do not.
        reset: Whether a server began anew during the run: then its counters say nothing.
        exclusive: Whether the server computed the prompts of this run and no others; None where that is not known.
        agrees: Whether it counts as many cached tokens as the answers say; None where one of them does not say.
        hit_rate: By the counters.
        times: What its histograms of times counted, where it has them.
    """

    pages: tuple[str, ...]
    counters: tuple[CounterDelta, ...]
    prompt: int | None
    cached: int | None
    reset: bool
    exclusive: bool | None
    agrees: bool | None
    hit_rate: float | None
    times: tuple[ServerTime, ...] = ()


class Told(NamedTuple):
    """What answers say: tokens over all of them, None where one of them does not say."""

    prompt: int | None
    cached: int | None


def told(usages: Iterable[tuple[int | None, int | None]], *, complete: bool) -> Told:
    """Return the sums of (prompt, cached) tokens.

    Args:
        usages: Of every answer.
        complete: Whether all requests have one: what a failed one cost the server nobody knows.
    """
    pairs = list(usages)
    prompts, cached = [prompt for prompt, _ in pairs], [hit for _, hit in pairs]
    return Told(_sum(prompts) if complete else None, _sum(cached) if complete else None)


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


class Watch:
    """Reads counters before and after a run.

    Args:
        pages: Addresses of the workers' pages: a router's has no hits.
        headers: Header fields to send.
        endpoint: Whose TLS settings hold.
    """

    def __init__(self, pages: Sequence[str], headers: Mapping[str, str], endpoint: Endpoint) -> None:
        self.pages = tuple(pages)
        self._headers, self._tls = headers, endpoint.tls
        self._before: list[Page] = []

    def begin(self) -> None:
        """Read the counters. Raises UserError where a page cannot be read, or has none that is known."""
        self._before = self._read()
        for page, url in zip(self._before, self.pages, strict=True):
            if not any(page.total(name) is not None for kind in _KINDS for name in kind.names):
                known = ", ".join(dict.fromkeys(kind.system for kind in _KINDS))
                raise UserError("the page has no counter of a prefix cache", url, f"known: those of {known}")

    def check(self, answers: Told) -> CounterCheck:
        """Read them again, wait until they show what the answers say, and compare.

        Raises:
            UserError: A page cannot be read any more.
        """
        deadline = time.monotonic() + _SETTLE_S
        found = self._compare(answers)
        while not found.reset and _behind(found) and time.monotonic() < deadline:
            time.sleep(0.05)
            found = self._compare(answers)
        return found

    def _compare(self, answers: Told) -> CounterCheck:
        return compare(self.pages, self._before, self._read(), answers)

    def _read(self) -> list[Page]:
        return [fetch_page(url, self._headers, self._tls) for url in self.pages]


def watch_of(asked: Sequence[str], endpoint: Endpoint) -> Watch | None:
    """Return what reads the counters that `--metrics` names; None for none.

    Raises:
        UserError: `auto` was asked of a protocol that has no such page.
    """
    pages = []
    for one in asked:
        if one == AUTO and not endpoint.protocol.metrics:
            raise UserError(f"{endpoint.protocol.title} has no page of metrics", "--metrics auto", "name its address")
        pages.append(endpoint.url(endpoint.protocol.metrics) if one == AUTO else one)
    fields = {**endpoint.protocol.headers(endpoint.key), **dict(endpoint.headers)}
    own = all(one == AUTO for one in asked)  # a key is for its own endpoint, not for an address that was typed
    return Watch(tuple(dict.fromkeys(pages)), fields if own else {}, endpoint) if pages else None


def compare(pages: Sequence[str], before: Sequence[Page], after: Sequence[Page], answers: Told) -> CounterCheck:
    """Return what pages before and after a run say of it."""
    reset = any(_began_anew(a, b) for a, b in zip(before, after, strict=True))
    counters = tuple(_deltas(before, after, reset=reset))
    grown = {(one.system, one.what): one.tokens for one in counters}
    serving = next((system for system in _SERVING if grown.get((system, "hits")) is not None), None)
    prompt = next((grown[system, "prompt"] for system in _SERVING if grown.get((system, "prompt")) is not None), None)
    hits = None if serving is None else grown[serving, "hits"]
    if hits is not None:
        hits += grown.get(("vLLM", "external_hits")) or 0 if serving == "vLLM" else 0
    looked_up = grown.get(("vLLM", "looked_up")) or prompt
    return CounterCheck(
        pages=tuple(pages),
        counters=counters,
        prompt=answers.prompt,
        cached=answers.cached,
        reset=reset,
        exclusive=None if prompt is None or answers.prompt is None else prompt == answers.prompt,
        agrees=None if hits is None or answers.cached is None else hits == answers.cached,
        hit_rate=hits / looked_up if hits is not None and looked_up else None,
        times=() if reset else server_times(before, after),
    )


def _deltas(before: Sequence[Page], after: Sequence[Page], *, reset: bool) -> Iterable[CounterDelta]:
    for kind in _KINDS:
        name = next((one for one in kind.names if any(page.series(one) for page in after)), None)
        if name is not None:
            grown = sum((b.total(name) or 0.0) - (a.total(name) or 0.0) for a, b in zip(before, after, strict=True))
            yield CounterDelta(kind.system, kind.what, name, None if reset else round(grown))


def _began_anew(before: Page, after: Page) -> bool:
    """Say whether a server began anew: a counter fell or is gone, or the server says that it began at another time."""
    for kind in _KINDS:
        for name in kind.names:
            later = after.series(name)
            if any(later.get(labels, -1.0) < value for labels, value in before.series(name).items()):
                return True
            created = f"{name.removesuffix('_total')}_created"
            if _differs(before.series(created), after.series(created)):
                return True
    return _differs(before.series("process_start_time_seconds"), after.series("process_start_time_seconds"))


def _differs(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    return any(after.get(labels, value) != value for labels, value in before.items())


def _behind(found: CounterCheck) -> bool:
    """Say whether counters are smaller than what the answers say: the last request may not be counted yet."""
    wanted = {"prompt": found.prompt, "hits": found.cached}
    return any(
        one.system in _SERVING and (most := wanted.get(one.what)) is not None and (one.tokens or 0) < most
        for one in found.counters
    )


_WORDS = {
    "prompt": "prompt tokens",
    "looked_up": "tokens looked up",
    "hits": "cached tokens",
    "external_hits": "cached elsewhere",
}


def counter_blocks(found: CounterCheck | None) -> tuple[Block, ...]:
    """Return the table of a check; nothing without one."""
    if found is None:
        return ()
    columns = (
        Column("system", "counter of"),
        Column("what", "counts"),
        Column("name", "name"),
        Column("tokens", "grew by", Unit.TOKENS),
        Column("answers", "answers say", Unit.TOKENS),
    )
    said = {"prompt": found.prompt, "hits": found.cached}
    rows = tuple(
        (one.system, _WORDS[one.what], one.name, one.tokens, said.get(one.what) if one.system in _SERVING else None)
        for one in found.counters
    )
    counted = Table("counters", "The server's own counters", columns, rows, f"Read from {', '.join(found.pages)}.")
    return (counted, server_time_table(found.times)) if found.times else (counted,)


def counter_notes(found: CounterCheck | None) -> tuple[str, ...]:
    """Return what a reader has to know of a check."""
    if found is None:
        return ()
    if found.reset:
        return ("a server began anew during the run: its counters say nothing of it",)
    notes = []
    if found.exclusive is False:
        notes.append(
            "the server computed other prompts than those of this run: its cache is shared, or pages are missing"
        )
    if found.agrees is False and found.exclusive is not False:
        notes.append("the server's counters and the usage of its answers disagree on cached tokens")
    return tuple(notes)
