"""The log as rules see it: rows, conversations, whose cache each request met, and what was seen of its record."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cached_property

from prefixwise.analyzers.lint.conversations import Conversations
from prefixwise.analyzers.lint.leaks import Leak
from prefixwise.analyzers.lint.observed import Observed
from prefixwise.analyzers.lint.recitals import Recital
from prefixwise.analyzers.lint.unfilled_place import Unfilled
from prefixwise.caches.facts import Band, Family, Kind, System
from prefixwise.caches.prices import PriceList
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import Sharing, sharing
from prefixwise.core.request import Mark
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.dialect import DIALECTS
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.rows import NONE, Rows

NOTHING_OBSERVED = Observed()


class Log:
    """Everything that is known of a log before rules are asked.

    Attributes:
        rows, outlines, conversations: The requests in columns, what they say, and how they follow each other.
        observed: By row, what its record shows beside text: markers, headers, diagnostics; most rows have nothing.
        recitals: By row, what long messages say that may recite a conversation; filled in with `observed`.
        explained: Rows whose misses a rule has explained, as far as rules have been asked.
        leaks: Private values in texts that several tenants share.
        unfilled: Placeholders that were sent as they are written.
        times: Start by row in seconds, as `Rows.start_times`.
    """

    def __init__(self, corpus: Corpus, outlines: Outlines, found: Conversations, book: Rulebook) -> None:
        self.corpus = corpus
        self.rows: Rows = corpus.rows
        self.outlines = outlines
        self.conversations = found
        self.book = book
        self.observed: dict[int, Observed] = {}
        self.recitals: dict[int, Recital | None] = {}
        self.explained: set[int] = set()
        self.leaks: list[Leak] = []
        self.unfilled: list[Unfilled] = []
        self.times = self.rows.start_times()
        self._systems: dict[tuple[int, int], tuple[System, ...]] = {}
        self._prices: dict[tuple[int, int], PriceList | None] = {}
        apis = set(DIALECTS.names())
        read = {file.path: file for file in corpus.inputs}
        inputs = [read[path] for path in self.rows.files.names]
        self._formats = [file.format for file in inputs]
        self._holds_bodies = [set(file.format.split(" + ")) <= apis for file in inputs]
        self._is_plain = [file.format in apis and " " not in file.record_path for file in inputs]

    @cached_property
    def sharing(self) -> Sharing:
        """What each prompt shares with any earlier one of its model."""
        return sharing(self.rows, outputs=False)

    @cached_property
    def threads(self) -> dict[int, list[int]]:
        """Rows of each conversation, by start."""
        return self.conversations.rows_of()

    @property
    def applications(self) -> array[int]:
        """By row, the number of its application."""
        return self.conversations.application

    @cached_property
    def families(self) -> dict[int, list[int]]:
        """Rows of each application, by start."""
        found: dict[int, list[int]] = {}
        for row in self.conversations.order:
            found.setdefault(self.applications[row], []).append(row)
        return found

    @cached_property
    def ratio(self) -> array[float]:
        """By row: reported over counted prompt tokens, 1 where the log does not report."""
        pairs = zip(self.rows.reported_prompt, self.rows.prompt_tokens, strict=True)
        return array("d", [said / counted if said > 0 and counted > 0 else 1.0 for said, counted in pairs])

    def of(self, row: int) -> Observed:
        """Return what was observed of a row's record."""
        return self.observed.get(row, NOTHING_OBSERVED)

    def systems(self, row: int) -> tuple[System, ...]:
        """Return the facts on the caches that may have served a row; () where nothing tells whose they are."""
        key = (self.rows.model[row], self.rows.provider[row])
        found = self._systems.get(key)
        if found is None:
            model, provider = self.rows.models[key[0]], self.rows.providers[key[1]]
            found = self._systems[key] = self.book.rules_for(model, provider)
        return found

    def system(self, row: int) -> System | None:
        """Return the facts on the cache that most likely served a row, None where nothing tells."""
        return next(iter(self.systems(row)), None)

    def marker_system(self, row: int) -> System | None:
        """Return the facts on the cache that a row's markers speak to, None where no known one has markers."""
        model = self.model(row)
        return next((one for one in self.systems(row) if one.family_of(model) is Family.BREAKPOINT_LOOK_BACK), None)

    def model(self, row: int) -> str:
        """Return the model of a row, as logged."""
        return self.rows.models[self.rows.model[row]]

    def minimum(self, row: int) -> Band | None:
        """Return the fewest tokens that are cached for a row's model, in the provider's own tokens.

        Where the log itself shows entries that are smaller than the facts say, they count for more.
        """
        system = self.system(row)
        least = None if system is None else system.minimum(self.model(row))
        seen = self._smallest_entries.get(self.rows.model[row])
        if least is None or seen is None:
            return least
        low, high, stated = (None if end is None else min(end, seen) for end in (least.low, least.high, least.stated))
        return Band(low, high, stated)

    def may_be_too_short(self, row: int, tokens: int, unsure: float) -> bool:
        """Say whether so many tokens, in the provider's own, may be too few to be cached.

        Args:
            row: Whose model.
            tokens: Length of a prefix.
            unsure: How far the length may be off.
        """
        seen = self._smallest_entries.get(self.rows.model[row])
        if seen is not None and tokens >= seen:
            return False
        least = self.minimum(row)
        return least is not None and least.high is not None and tokens < least.high + unsure

    def never_cached(self, row: int) -> bool:
        """Say whether a provider caches no prompt that is as short as a row's is reported to be."""
        said, system = self.rows.reported_prompt[row], self.system(row)
        if said == NONE or system is None or system.kind is not Kind.HOSTED:
            return False
        least = self.minimum(row)
        return least is not None and least.low is not None and said < least.low

    @cached_property
    def _smallest_entries(self) -> dict[int, int]:
        """The fewest tokens that any request of a model read from a cache, or wrote to one and nothing else."""
        found: dict[int, int] = {}
        rows = self.rows
        for model, cached, written in zip(rows.model, rows.reported_cached, rows.reported_written, strict=True):
            entry = cached if cached > 0 else written
            if entry > 0:
                found[model] = min(entry, found.get(model, entry))
        return found

    def vendor_names_change(self, row: int) -> bool:
        """Say whether the vendor itself says what changed: then something has, though the log may not show it."""
        diagnosis = self.of(row).diagnosis
        return diagnosis is not None and diagnosis.where is not None

    def is_engine(self, row: int) -> bool:
        """Say whether a row was served by an engine that somebody runs, as far as that can be told."""
        system = self.system(row)
        return system is not None and system.kind is Kind.ENGINE

    def cached(self, row: int) -> int | None:
        """Return the reported cached tokens of a row, None where the log does not say. In the provider's tokens."""
        value = self.rows.reported_cached[row]
        return None if value == NONE else value

    def written(self, row: int) -> int | None:
        """Return the reported written tokens of a row, None where the log does not say."""
        value = self.rows.reported_written[row]
        return None if value == NONE else value

    def uncached(self, row: int) -> int | None:
        """Return the reported prompt tokens of a row that were not read from a cache, None where not reported."""
        said, cached = self.rows.reported_prompt[row], self.rows.reported_cached[row]
        return None if NONE in (said, cached) else said - cached

    def usage_field(self, row: int) -> str | None:
        """Return the pointer of a row's usage in its record, None where an exporter wrote it in a form of its own."""
        if not self.holds_bodies(row):
            return None
        return "record:/response/usage" if self.outlines.answered[row] else "record:/usage"

    def prompt(self, row: int) -> int:
        """Return the prompt tokens of a row: as reported, else as counted."""
        said = self.rows.reported_prompt[row]
        return self.rows.prompt_tokens[row] if said == NONE else said

    def reported_in_common(self, before: int, after: int) -> int | None:
        """Return the tokens of the shorter of two prompts as reported, None where the two reports do not compare.

        Those of different models do not, and a call that was given up may report less than it sent.
        """
        rows = self.rows
        one, other = rows.reported_prompt[before], rows.reported_prompt[after]
        given_up = (rows.marks[before] | rows.marks[after]) & Mark.ABORTED
        if NONE in (one, other) or given_up or rows.model[before] != rows.model[after]:
            return None
        return min(one, other)

    def scaled(self, row: int, tokens: int) -> int:
        """Return counted tokens of a row in the provider's own."""
        return round(tokens * self.ratio[row])

    def usd(self, row: int, tokens: int) -> float | None:
        """Return what so many tokens of a row cost above reading them from the cache; None without a price."""
        rows, key = self.rows, (self.rows.model[row], self.rows.provider[row])
        if key not in self._prices:
            self._prices[key] = self.book.price_list(rows.models[key[0]], rows.providers[key[1]])
        listed = self._prices[key]
        position = -1 if listed is None else listed.position(rows.start[row])
        if listed is None or position < 0:
            return None
        price = listed.prices[position]
        return price.cost(tokens) - price.cost(tokens, tokens)

    def incomplete(self, row: int) -> bool:
        """Say whether the exporter cut, blotted out or left out something of a row's text."""
        return bool(self.rows.marks[row] & (Mark.CUT | Mark.REDACTED | Mark.PARTIAL))

    def format_of(self, row: int) -> str:
        """Return the format of a row's file, as it was recognised."""
        return self._formats[self.rows.file[row]]

    def holds_bodies(self, row: int) -> bool:
        """Say whether a row's file holds request bodies as they were sent, and not what an exporter kept of them."""
        return self._holds_bodies[self.rows.file[row]]

    def is_plain(self, row: int) -> bool:
        """Say whether a row's file holds bodies of one API in one place: then each record is read by itself."""
        return self._is_plain[self.rows.file[row]]

    def turns(self) -> Iterator[tuple[int, int]]:
        """Yield (before, after) of every two requests of which the later continues the earlier, by start."""
        for row in self.conversations.order:
            link = self.conversations.links[row]
            if link is not None and link.turn:
                yield link.before, row
