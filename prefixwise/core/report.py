"""What every command returns: a `Report` of blocks, which a format renders.

A command never formats anything; a format never computes anything. N commands and M formats
are therefore N + M files.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from prefixwise.core.finding import Finding, Level

Cell: TypeAlias = str | int | float | bool | None
Details: TypeAlias = tuple[tuple[str, str], ...]
"""(Label, text) of what explains a row, for formats that can fold it away."""


class Unit(StrEnum):
    """What a number means; formats decide how it is shown (a rate as percent, seconds as ms, a moment as a date)."""

    TEXT = "text"
    COUNT = "count"
    TOKENS = "tokens"
    RATE = "rate"
    SECONDS = "seconds"
    MOMENT = "moment"
    BYTES = "bytes"
    USD = "usd"


class Column(msgspec.Struct, frozen=True):
    """One column of a table: `name` is the key in machine formats, `title` the heading for people."""

    name: str
    title: str
    unit: Unit = Unit.TEXT


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Prose: one paragraph a line."""

    name: str
    lines: tuple[str, ...]
    title: str = ""


class Table(msgspec.Struct, frozen=True, tag="table"):
    """Rows of cells under typed columns; None is an absent value, which is not zero.

    Attributes:
        drawn: Columns that a format may draw: one as a bar against its largest value, several as the parts of one bar.
        details: What explains each row; empty where nothing does.
        brief: Whether people at a terminal get its first rows only.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    drawn: tuple[str, ...] = ()
    details: tuple[Details, ...] = ()
    brief: bool = False


class Tree(msgspec.Struct, frozen=True, tag="tree"):
    """A hierarchy: each row is (depth, label, then one cell a column).

    Attributes:
        drawn: Columns that a format may draw: one whose value holds those of the rows below, and the part of it that
            is the row's own.
        marked: The column whose text, where a row has one, makes it stand out.
        details: What explains each row; empty where nothing does.
        brief: Whether people at a terminal get its largest rows only and what they stand under, and bars instead of the
            numbers that are drawn.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    drawn: tuple[str, ...] = ()
    marked: str = ""
    details: tuple[Details, ...] = ()
    brief: bool = False


class Waterfall(msgspec.Struct, frozen=True, tag="waterfall"):
    """The way from one total to another: (label, signed change) steps in order."""

    name: str
    title: str
    unit: Unit
    start: tuple[str, float]
    steps: tuple[tuple[str, float], ...]
    end: tuple[str, float]
    note: str = ""


class Series(msgspec.Struct, frozen=True, tag="series"):
    """Named lines over a common x axis; a missing point is None. People at a terminal get no numbers where `brief`."""

    name: str
    title: str
    x: Column
    points: tuple[float, ...]
    lines: tuple[tuple[Column, tuple[float | None, ...]], ...]
    note: str = ""
    brief: bool = False


class Histogram(msgspec.Struct, frozen=True, tag="histogram"):
    """Counts between bin edges; `len(counts) == len(edges) - 1`."""

    name: str
    title: str
    x: Column
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    note: str = ""


class Matrix(msgspec.Struct, frozen=True, tag="matrix"):
    """A cell for each pair of a row label and a column label."""

    name: str
    title: str
    unit: Unit
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    note: str = ""


class Findings(msgspec.Struct, frozen=True, tag="findings"):
    """Findings in the order in which they are to be read; people get three lines of each where `brief`."""

    name: str
    title: str
    findings: tuple[Finding, ...]
    brief: bool = False
    note: str = ""


class Page(msgspec.Struct, frozen=True, tag="page"):
    """An explanation in Markdown whose markup formats keep: ours, never a tenant's text."""

    name: str
    title: str
    markdown: str


Block: TypeAlias = Text | Table | Tree | Waterfall | Series | Histogram | Matrix | Findings | Page


class InputFile(msgspec.Struct, frozen=True):
    """What was read from one file, and as what."""

    path: str
    format: str
    mode: Literal["log", "prompt", "trace"]
    record_path: str
    records: int
    broken: int
    reason_skipped: str = ""
    joined: int = 0
    """Records of a call that another record had already told of."""
    left_out: tuple[tuple[str, int], ...] = ()
    """(Why, how many) of calls that no model computed."""


class SourceText(msgspec.Struct, frozen=True):
    """The text of a file into which findings point, for formats that count lines or bytes in it."""

    path: str
    text: str


class Requirement(msgspec.Struct, frozen=True):
    """A `--require` expression and how it came out.

    `actual` is None when it could not be computed; `low` and `high` are the ends of its interval, where it has one.
    A figure whose interval holds the wanted value decides nothing: then the condition is not met, and `undecided`.
    """

    expression: str
    actual: float | None
    met: bool
    low: float | None = None
    high: float | None = None
    undecided: bool = False

    @property
    def state(self) -> str:
        """How it came out, in a word or two."""
        return "met" if self.met else "undecided" if self.undecided else "not met"

    @property
    def found(self) -> str:
        """What was found, as the end of a sentence."""
        if self.actual is None:
            return "could not be computed"
        between = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"is {self.actual:.4g}{between}"


class Outcome(StrEnum):
    """Whether what was measured says anything."""

    DONE = "done"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


class Report(msgspec.Struct, frozen=True):
    """What a command found out.

    `schema` names the document (`prefixwise/hitrate`), `values` is a struct whose fields a schema
    version promises to machines; `blocks` say the same to people. `notes` are caveats a reader must see. Where `flat`,
    the fields of `values` stand at the top of the machine document and it has no blocks. `fail_on` is the mildest
    level of a finding that makes the command fail, None for never; `fail_on_in` that of files, by path, that have
    another one. `sources` holds the files into which findings point, as far as they could be read, where a format asks
    for them. `outcome` says whether a measurement is one.
    """

    schema: str
    schema_version: int
    command: str
    title: str
    blocks: tuple[Block, ...]
    values: Any = None
    inputs: tuple[InputFile, ...] = ()
    notes: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    seed: int | None = None
    flat: bool = False
    fail_on: Level | None = Level.ERROR
    fail_on_in: dict[str, Level | None] = {}
    sources: tuple[SourceText, ...] = ()
    outcome: Outcome = Outcome.DONE

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all blocks, in the order in which they are to be read, each once."""
        found = (finding for block in self.blocks if isinstance(block, Findings) for finding in block.findings)
        return tuple({id(finding): finding for finding in found}.values())

    @property
    def exit_code(self) -> int:
        """The exit code: 5 for an invalid measurement, 1 for an unmet requirement or a finding at `fail_on`, 4 for what
        remains open, else 0.
        """  # noqa: D205 - one sentence
        if self.outcome is Outcome.INVALID:
            return 5
        unmet = [requirement for requirement in self.requirements if not requirement.met]
        if any(map(self.fails, self.findings)) or not all(requirement.undecided for requirement in unmet):
            return 1
        return 4 if unmet or self.outcome is Outcome.INCONCLUSIVE else 0

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is at the level that fails in its file, or worse."""
        fail_on = self.fail_on_in.get(finding.path, self.fail_on)
        return fail_on is not None and finding.level.rank <= fail_on.rank
