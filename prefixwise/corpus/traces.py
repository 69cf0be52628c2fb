"""Traces: requests without text, as block hashes. Mooncake's JSONL and the tool's own Parquet load into the same rows."""

from __future__ import annotations

import io
import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.report import InputFile
from prefixwise.corpus.reader import Broken, ReadOptions
from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.tree import PrefixTree

_PARQUET_MAGIC = b"PAR1"
_MOONCAKE_KEY = b'"hash_ids"'


class MooncakeRecord(msgspec.Struct):
    """One line of a Mooncake trace: `hash_ids` name the prompt's blocks, each with all before it."""

    input_length: int
    hash_ids: list[int]
    timestamp: float = float("nan")
    output_length: int = 0


def is_trace(path: str, head: bytes, options: ReadOptions) -> bool:
    """Say whether a file is a trace, by its first bytes or by the user's word."""
    if options.input_format in ("mooncake", "trace"):
        return True
    return not options.input_format and (head.startswith(_PARQUET_MAGIC) or _MOONCAKE_KEY in head.partition(b"\n")[0])


class TraceRows:
    """Collects rows of one or more traces; depths are set at the end, when the block size is known."""

    def __init__(self) -> None:
        self.tree = PrefixTree()
        self.root = self.tree.add_root()
        self.rows = Rows(self.tree)
        self.children: dict[tuple[int, int], int] = {}
        self.least_block, self.most_block = 1, 2**31
        self.block = 0
        self.accesses = 0

    def add_mooncake(self, path: str, number: int, line: int, record: MooncakeRecord) -> None:
        """Add one request. Raises ValueError where the ids do not fit the length."""
        count, length = len(record.hash_ids), record.input_length
        if count == 0 or length <= 0:
            raise ValueError("no blocks")
        least = max(self.least_block, -(-length // count))
        most = min(self.most_block, (length - 1) // (count - 1) if count > 1 else self.most_block)
        if least > most:
            raise ValueError(f"{count} hash ids for {length} tokens fit no block size of the lines before")
        self.least_block, self.most_block = least, most
        node = self.root
        children, depth, parents = self.children, self.tree.depth, self.tree.parent
        for level, block in enumerate(record.hash_ids, 1):
            child = children.get((node, block))
            if child is None:
                child = children[node, block] = len(parents)
                parents.append(node)
                depth.append(-level)
            node = child
        depth[node] = length if depth[node] < 0 else depth[node]
        self.accesses += count
        row = Row(
            file=self.rows.files.number(path), record=number, line=line, node=node, prompt_tokens=length,
            output=NONE, start=record.timestamp / 1000.0,
        )  # fmt: skip
        self._name_absent(row)
        self.rows.append(row)

    def _name_absent(self, row: Row) -> None:
        rows = self.rows
        for names in (rows.models, rows.tenants, rows.sessions, rows.replicas, rows.providers):
            names.number("")
        row.family = NONE

    def finish(self) -> Rows:
        """Set the depths that depend on the block size, and return the rows."""
        if self.least_block > 1 or self.most_block < 2**31:
            self.block = _power_of_two(self.least_block, self.most_block)
            depth = self.tree.depth
            for node, value in enumerate(depth):
                if value < 0:
                    depth[node] = -value * self.block
            self.tree.grain = self.block
        return self.rows

    def facts(self) -> tuple[str, ...]:
        """Say what was counted in the trace's own blocks."""
        if not self.accesses:
            return ()
        distinct = len(self.tree) - 1
        repeats = self.accesses - distinct
        return (
            f"trace of {self.block}-token blocks: {self.accesses:,} block accesses, {distinct:,} distinct, "
            f"{repeats:,} repeats ({repeats / self.accesses:.2%} of blocks)",
        )


def _power_of_two(least: int, most: int) -> int:
    """Return the power of two between the bounds (block sizes are), else the least size that fits."""
    size = 1 << (least - 1).bit_length()
    return size if size <= most else least


def read_trace(
    path: str, stream: io.BufferedReader, traces: TraceRows, broken: list[Broken], options: ReadOptions
) -> InputFile:
    """Read one trace file into `traces`."""
    if options.input_format != "mooncake" and stream.peek(4)[:4] == _PARQUET_MAGIC:
        from prefixwise.corpus.parquet import read_parquet

        return read_parquet(path, stream, traces)
    decode = msgspec.json.Decoder(MooncakeRecord).decode
    number = failures = 0
    for line, data in enumerate(stream, 1):
        if data.isspace():
            continue
        try:
            traces.add_mooncake(path, number, line, decode(data))
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            failures += 1
            broken.append(Broken(path, number, line, str(problem)))
            if options.strict:
                raise UserError(str(problem), f"{path}, line {line}") from None
        number += 1
    return InputFile(path, "mooncake trace", "trace", "", number, failures)

