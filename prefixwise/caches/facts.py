"""What is known about the cache of one provider or engine, typed as far as code needs it.

The facts themselves are TOML files under `caches/rules/`, one a system; `docs/facts.md` describes the format. A value
that sources disagree on, or that nobody states, is a `Band`: whoever counts under it runs both ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from prefixwise.caches.model_names import best_match
from prefixwise.caches.sources import Confidence, Source

Json: TypeAlias = Any
"""A value as TOML gives it: string, number, boolean, date, list or table."""


class Kind(StrEnum):
    """Who runs the cache: a provider behind an API, or an engine that anybody can start."""

    HOSTED = "hosted"
    ENGINE = "engine"


class Family(StrEnum):
    """How a cache matches a prompt; one replay of `caches` each (DESIGN section 5)."""

    BLOCK_HASH_CHAIN = "block-hash-chain"
    """Whole blocks, each named by the hash of itself and all before it."""
    RADIX_TREE = "radix-tree"
    """The longest prefix seen before, in whole pages of `granularity_tokens`; also what says no more than 'prefix'."""
    SLOT = "slot"
    """The longest common prefix with what one slot holds."""
    BREAKPOINT_LOOK_BACK = "breakpoint-look-back"
    """Entries end at markers; each marker of a request looks back over the positions before it."""
    BREAKPOINT_BOUNDARY = "breakpoint-boundary"
    """Entries end at breakpoints; a request looks up the boundaries that it has itself."""
    FIXED_INTERVAL = "fixed-interval"
    """Entries end every so many tokens from the start."""
    PREFIX_UNITS = "prefix-units"
    """Stored units count only when they match whole."""
    NAMED_OBJECT = "named-object"
    """A stored prefix that requests name."""


class Readable(StrEnum):
    """When another request can read what a request writes."""

    SCHEDULED = "scheduled"
    """As soon as its blocks are allocated, before they are computed."""
    FILLED = "filled"
    """As soon as a block is computed."""
    RESPONSE_BEGUN = "response-begun"
    RESPONSE_DONE = "response-done"
    SECONDS_LATER = "seconds-later"
    """Some seconds after it."""


class Band(msgspec.Struct, frozen=True):
    """A number of which the sources give a range.

    Attributes:
        low, high: The ends; None where that end is open.
        stated: What to plan with; None where no source states one value.
    """

    low: int | None
    high: int | None
    stated: int | None = None

    @property
    def exact(self) -> bool:
        """Whether there is one value and no doubt."""
        return self.low is not None and self.low == self.high

    @property
    def ends(self) -> tuple[int, ...]:
        """The known ends, one where both are the same: what a caller runs."""
        return tuple(dict.fromkeys(end for end in (self.low, self.high) if end is not None))


class Lifetime(msgspec.Struct, frozen=True):
    """One lifetime that a request can choose.

    Attributes:
        name: What requests call it (`5m`, `24h`, `in_memory`).
        idle_s: Seconds without use after which an entry goes.
        max_s: Seconds after which it goes in any case; None where nothing says so.
    """

    name: str
    idle_s: Band
    max_s: int | None = None


class Lookup(msgspec.Struct, frozen=True):
    """Which boundaries of a request a breakpoint cache looks up, longest first.

    Attributes:
        explicit_first, explicit_latest: So many explicit markers from either end.
        implicit_latest: So many endings of earlier messages, in implicit mode.
    """

    explicit_first: int = 0
    explicit_latest: int = 0
    implicit_latest: int = 0


class Invalidation(msgspec.Struct, frozen=True):
    """What a change between two requests costs: `keep`, `lost`, or words where that depends on the model."""

    change: str
    tools: str
    system: str
    messages: str


class UsageFields(msgspec.Struct, frozen=True):
    """Where one API reports its counts: dotted paths into the response, empty where it has none or none is known."""

    api: str
    total_input: str = ""
    cached: str = ""
    written: str = ""
    uncached: str = ""


class Multipliers(msgspec.Struct, frozen=True):
    """Prices relative to the model's input price; None where they differ by model or are not known.

    Attributes:
        writes: (TTL as it is named, factor) of each lifetime; the name is empty where there is one price.
    """

    read: float | None = None
    writes: tuple[tuple[str, float], ...] = ()


class Override(msgspec.Struct, frozen=True):
    """A key that a user's file gave, and the file: the sources of the entry do not vouch for it."""

    key: str
    path: str


class System(msgspec.Struct, frozen=True, kw_only=True):
    """The cache of one provider, or of one engine.

    Tokens are tokens and times are seconds. None, an empty text or an empty tuple is "not stated".

    Attributes:
        id: Its name among the facts; `name`: for people.
        provider: Whose API it is; empty for engines.
        family: How it matches; None where it passes requests on to another cache.
        family_by_model: (pattern, family) of models that match otherwise.
        applies_to: Patterns of model names.
        opt_in: Whether a request must ask for caching.
        min_tokens: Fewest tokens that are cached; `min_tokens_by_model`: (pattern, band) where models differ.
        granularity_tokens: Tokens that are reused as a whole (block, page, chunk; reporting step for OpenAI).
        ttl_s: How long an unused entry stays when nothing is chosen.
        max_breakpoints: Markers a request may carry or writes it may make; `lookback_positions`: how far a marker
            looks back, itself included.
        total_includes_cached: Whether the reported input count includes cached tokens; None where not known.
        isolation_control: What separates requests more finely than `scope`; `separates`: the same as parts of a
            request's namespace, `may_separate`: those of which that is not certain.
        lookback_joins: Kinds of blocks (`tool_use`, `tool_result`) of which a run is one position.
        lookup: Of breakpoint caches with boundary lookup; `interval_tokens_by_model`: (pattern, tokens between
            breakpoints) of those with fixed intervals, `interval_tokens`: of the other models.
        hidden_tokens_by_model: (pattern, tokens that the provider puts before the prompt and does not count).
        readable_after: When others can read what a request writes; `build_delay_s`: how many seconds later that is.
        output_tokens_cached: Whether answers enter the cache.
        invalidation: What a change of one setting costs.
        service_tiers: (tier, factor on all prices).
        overrides: What came from users' files.
        more: Every other key of the entry, as it stands in the file.
    """

    id: str
    name: str
    kind: Kind
    provider: str = ""
    version: str = ""
    family: Family | None = None
    family_by_model: tuple[tuple[str, Family], ...] = ()
    applies_to: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    activation: str = ""
    opt_in: bool = False
    enabled_by_default: bool | None = None
    min_tokens: Band | None = None
    min_tokens_by_model: tuple[tuple[str, Band], ...] = ()
    granularity_tokens: Band | None = None
    ttl_s: Band | None = None
    ttl_options: tuple[Lifetime, ...] = ()
    ttl_refresh_on_hit: bool | None = None
    max_breakpoints: int | None = None
    lookback_positions: int | None = None
    lookback_joins: tuple[str, ...] = ()
    lookup: Lookup | None = None
    interval_tokens: Band | None = None
    interval_tokens_by_model: tuple[tuple[str, Band], ...] = ()
    hidden_tokens_by_model: tuple[tuple[str, Band], ...] = ()
    readable_after: Readable | None = None
    build_delay_s: Band | None = None
    output_tokens_cached: bool | None = None
    invalidation: tuple[Invalidation, ...] = ()
    render_order: tuple[str, ...] = ()
    key_includes: tuple[str, ...] = ()
    key_excludes: tuple[str, ...] = ()
    scope: str = ""
    isolation_control: str = ""
    separates: tuple[str, ...] = ()
    may_separate: tuple[str, ...] = ()
    usage: tuple[UsageFields, ...] = ()
    total_includes_cached: bool | None = None
    multipliers: Multipliers = Multipliers()
    multipliers_exceptions: tuple[tuple[str, Multipliers], ...] = ()
    service_tiers: tuple[tuple[str, float], ...] = ()
    gotchas: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    as_of: date | None = None
    as_of_approximate: bool = False
    confidence: Confidence = Confidence.USER
    overrides: tuple[Override, ...] = ()
    more: Mapping[str, Json] = {}

    def minimum(self, model: str) -> Band | None:
        """Return the fewest tokens that are cached for `model`."""
        return best_match(self.min_tokens_by_model, model) or self.min_tokens

    def interval(self, model: str) -> Band | None:
        """Return the tokens between two fixed breakpoints of `model`."""
        return best_match(self.interval_tokens_by_model, model) or self.interval_tokens

    def hidden(self, model: str) -> Band | None:
        """Return the tokens before the prompt of `model` that nobody counts."""
        return best_match(self.hidden_tokens_by_model, model)

    def family_of(self, model: str) -> Family | None:
        """Return how prompts of `model` are matched."""
        return best_match(self.family_by_model, model) or self.family

    def multipliers_of(self, model: str) -> Multipliers:
        """Return the relative prices of `model`; what its exception does not name is the general one."""
        own = best_match(self.multipliers_exceptions, model)
        if own is None:
            return self.multipliers
        read = self.multipliers.read if own.read is None else own.read
        return Multipliers(read, own.writes or self.multipliers.writes)


class Volatile(msgspec.Struct, frozen=True):
    """Something that templates or clients put into a prefix and that changes by itself."""

    id: str
    what: str
    volatility: str
    fix: str
    sources: tuple[Source, ...] = ()
    as_of: date | None = None
