"""Phase-2 rows: what is left of a request when its text is gone. Any number of policies replay them.

Columns, not objects: a million requests are about 110 MB, and a replay touches only the columns it needs.
"""

from __future__ import annotations

import copy
import math
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.request import Ref
from prefixwise.core.times import ABSENT
from prefixwise.corpus.layouts import Layouts
from prefixwise.corpus.tree import PrefixTree

NONE = -1
"""An absent count, node or family."""


class Names:
    """Distinct strings by number, in order of first use."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """Return the number of `name`, a new one the first time."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number

    def append(self, name: str) -> int:
        """Add `name` though it may be there already, and return its number; for labels that do not identify."""
        self.names.append(name)
        return len(self.names) - 1

    def __getitem__(self, number: int) -> str:
        return self.names[number]

    def __len__(self) -> int:
        return len(self.names)


def numbered(numbers: dict[Any, int], values: list[Any], value: Any) -> int:
    """Return the number of `value` in `values`, a new one the first time."""
    number = numbers.get(value)
    if number is None:
        number = numbers[value] = len(values)
        values.append(value)
    return number


class Row(msgspec.Struct, gc=False):
    """The values of one row, in the order of `COLUMNS`; the defaults are what a log may not hold."""

    file: int = 0
    record: int = 0
    line: int = 0
    node: int = NONE
    response_node: int = NONE
    family: int = NONE
    prompt_tokens: int = 0
    answer_tokens: int = 0
    tools_end: int = 0
    system_end: int = 0
    model: int = 0
    provider: int = 0
    tenant: int = 0
    session: int = 0
    replica: int = 0
    namespace: int = 0
    param_set: int = 0
    control_set: int = 0
    reported_prompt: int = NONE
    reported_cached: int = NONE
    reported_written: int = NONE
    reported_written_long: int = NONE
    reported_output: int = NONE
    marks: int = 0
    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT


COLUMNS = Row.__struct_fields__
FLOAT_COLUMNS = ("start", "end", "ttft")
PROMPT_COLUMNS = (
    "node",
    "response_node",
    "prompt_tokens",
    "answer_tokens",
    "tools_end",
    "system_end",
    "model",
    "namespace",
    "param_set",
    "control_set",
)
"""What a request asks for, and not what came of it."""


class Rows:
    """All requests of a corpus, in the order in which they were read.

    Attributes:
        node: Where the prompt ends in `tree`; `response_node`: where prompt and answer end, as far as the
            answer has KV (the last sampled token has none); -1 where the log holds no answer.
        prompt_tokens: Tokens of the prompt by our count; `answer_tokens`: of the answer, as far as it
            has KV.
        tools_end, system_end: Depth at which tools, and tools and system, end in cache order.
        param_set: Which set of key parameters (`param_sets`).
        control_set: Which set of wishes to the cache (`control_sets`).
        reported_prompt, reported_cached, reported_written, reported_output: The log's own usage, -1 where absent.
        reported_written_long: Of the written tokens, those for longer than the provider's usual time (Anthropic's
            1 h, OpenAI's 12 h); -1 where the log does not split them.
        marks: `Mark` bits: aborted, cut, redacted, partial.
        start, end: Seconds since the epoch, NaN where absent; `ttft`: seconds.
        markers: By row: (depth, TTL in seconds) of each cache marker, in order.
        bands: By row: (fewer, more) tokens that media of unknown size may add.
        layouts: The blocks of each prompt, where they were asked for.
        token_factors: By model number, what our counts are to be multiplied by to be its provider's, where it is not
            1: limits of a provider are in its own tokens.
    """

    file: array[int]
    record: array[int]
    line: array[int]
    node: array[int]
    response_node: array[int]
    family: array[int]
    prompt_tokens: array[int]
    answer_tokens: array[int]
    tools_end: array[int]
    system_end: array[int]
    model: array[int]
    provider: array[int]
    tenant: array[int]
    session: array[int]
    replica: array[int]
    namespace: array[int]
    param_set: array[int]
    control_set: array[int]
    reported_prompt: array[int]
    reported_cached: array[int]
    reported_written: array[int]
    reported_written_long: array[int]
    reported_output: array[int]
    marks: array[int]
    start: array[float]
    end: array[float]
    ttft: array[float]

    def __init__(self, tree: PrefixTree) -> None:
        self.tree = tree
        for name in COLUMNS:
            setattr(self, name, array("d" if name in FLOAT_COLUMNS else "i"))
        self.files = Names()
        self.models, self.providers, self.tenants, self.sessions, self.replicas = (Names() for _ in range(5))
        self.families = Names()
        self.namespaces: list[Namespace] = [SHARED]
        self.param_sets: list[tuple[tuple[str, bytes], ...]] = [()]
        self.control_sets: list[tuple[tuple[str, bytes], ...]] = [()]
        self.markers: dict[int, tuple[tuple[int, float], ...]] = {}
        self.bands: dict[int, tuple[int, int]] = {}
        self.layouts: Layouts | None = None
        self.token_factors: dict[int, float] = {}
        self.memo: dict[Hashable, Any] = {}
        """What analyses keep with the rows; emptied when rows are added."""
        self._adders: tuple[Callable[[Any], None], ...] = tuple(getattr(self, name).append for name in COLUMNS)

    def __len__(self) -> int:
        return len(self.node)

    def extend(self, rows: list[Row]) -> None:
        """Append many rows, column by column."""
        self.memo.clear()
        for name, values in zip(COLUMNS, zip(*map(msgspec.structs.astuple, rows), strict=True), strict=False):
            getattr(self, name).extend(values)

    def append(self, row: Row) -> None:
        """Append the values of `row`."""
        self.memo.clear()
        for add, value in zip(self._adders, msgspec.structs.astuple(row)):  # noqa: B905 - this is the hot loop
            add(value)

    def emptied(self) -> Rows:
        """Return rows of the same tree and names, of which there are none yet."""
        other = copy.copy(self)
        for name in COLUMNS:
            setattr(other, name, array("d" if name in FLOAT_COLUMNS else "i"))
        other.markers, other.bands, other.memo = {}, {}, {}
        other.layouts = None if self.layouts is None else self.layouts.emptied()
        other._adders = tuple(getattr(other, name).append for name in COLUMNS)
        return other

    def grown(self) -> None:
        """Forget what was worked out on a smaller tree."""
        self.memo.clear()
        if self.layouts is not None:
            self.layouts.forget_nodes()

    def replaced(self, changed: Mapping[int, int], other: Rows) -> Rows:
        """Return these rows with other prompts in some places.

        Args:
            changed: By row of these: the row of `other` whose prompt, namespace and markers it has instead.
            other: Rows of the same tree and names.
        """
        made = copy.copy(self)
        made.memo = {}
        for name in PROMPT_COLUMNS:
            column = array("i", getattr(self, name))
            values = getattr(other, name)
            for row, instead in changed.items():
                column[row] = values[instead]
            setattr(made, name, column)
        made.markers, made.bands = dict(self.markers), dict(self.bands)
        for noted, others in ((made.markers, other.markers), (made.bands, other.bands)):
            _exchange(noted, others, changed)
        if self.layouts is not None and other.layouts is not None:
            made.layouts = self.layouts.replaced(changed, other.layouts)
        return made

    def only(self, chosen: Sequence[int]) -> Rows:
        """Return some of these rows, in that order, over the same tree and names; a row may be chosen twice."""
        made = self.emptied()
        for name in COLUMNS:
            column = getattr(self, name)
            getattr(made, name).extend([column[row] for row in chosen])
        made.markers = {at: self.markers[row] for at, row in enumerate(chosen) if row in self.markers}
        made.bands = {at: self.bands[row] for at, row in enumerate(chosen) if row in self.bands}
        if self.layouts is not None:
            made.layouts = self.layouts.only(chosen, self.tree)
        return made

    def marked(self, markers: Mapping[int, tuple[tuple[int, float], ...]]) -> Rows:
        """Return these rows with other cache markers: by row, (depth, TTL in seconds) of each."""
        made = copy.copy(self)
        made.memo, made.markers = {}, dict(markers)
        return made

    def by_replica(self) -> Rows:
        """Return these rows with a model of its own for each model on each replica, as nothing is shared between."""
        made = copy.copy(self)
        made.memo, made.models, made.model = {}, Names(), array("i")
        numbers: dict[tuple[int, int], int] = {}
        for pair in zip(self.model, self.replica, strict=True):
            if pair not in numbers:
                numbers[pair] = made.models.append(self.models[pair[0]])
            made.model.append(numbers[pair])
        factors = self.token_factors
        made.token_factors = {number: factors[model] for (model, _), number in numbers.items() if model in factors}
        return made

    def ref(self, row: int) -> Ref:
        """Return where the record of `row` stands."""
        return Ref(self.files[self.file[row]], self.record[row], self.line[row] or None)

    def start_times(self) -> list[float]:
        """Return the start of each row, else its end, else the time of the row before it."""
        last = -math.inf
        times = []
        for start, end in zip(self.start, self.end, strict=True):
            last = start if start == start else end if end == end else last
            times.append(last)
        return times

    def by_start(self) -> list[int]:
        """Return the rows in order of start time; equal times keep the order of the file.

        Gateways write at completion, so the order of a file is not the order of arrival.
        """
        times = self.start_times()
        return sorted(range(len(times)), key=times.__getitem__)

    def group(self, field: str) -> tuple[array[int], Names]:
        """Return the column and the names of `model`, `tenant`, `session`, `family` or `replica`."""
        names: Names = getattr(self, GROUPS[field])
        column: array[int] = getattr(self, field)
        return column, names


def _exchange(noted: dict[int, Any], others: Mapping[int, Any], changed: Mapping[int, int]) -> None:
    """Replace what is noted of some rows by what is noted of others."""
    for row, instead in changed.items():
        noted.pop(row, None)
        if instead in others:
            noted[row] = others[instead]


GROUPS = {
    "model": "models",
    "tenant": "tenants",
    "session": "sessions",
    "family": "families",
    "replica": "replicas",
    "provider": "providers",
}
"""What `--by` takes, and which names go with it."""
