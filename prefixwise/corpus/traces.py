"""Traces: requests without text, as block hashes, collected into rows; their formats stand in `readers/`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.namespace import Namespace
from prefixwise.corpus.rows import Row, Rows
from prefixwise.corpus.tokenizer import Exactness
from prefixwise.corpus.tree import PrefixTree

_LARGEST = 2**31


class MooncakeRecord(msgspec.Struct):
    """One line of a Mooncake trace: `hash_ids` name the prompt's blocks, each with all before it."""

    input_length: int
    hash_ids: list[int]
    timestamp: float = float("nan")
    output_length: int = 0


class TraceRows:
    """Collects the rows of one or more traces.

    Mooncake files do not say their block size; depths are negative block counts until `finish` has it.
    """

    def __init__(self) -> None:
        self.tree = PrefixTree()
        self.root = self._joined_root = self.tree.add_root()
        self.rows = Rows(self.tree)
        self.tokenizers: dict[str, tuple[Exactness, str, str]] = {}
        self._children: dict[tuple[int, int], int] = {}
        self._namespaces = {self.rows.namespaces[0]: 0}
        self._param_sets: dict[tuple[tuple[str, bytes], ...], int] = {(): 0}
        self._families: dict[tuple[str, int], int] = {}
        self._grain = 0
        self._least_block, self._most_block = 1, _LARGEST
        self._accesses = 0
        self._mooncake_nodes = 0

    def start_file(self, grain: int, *, own_root: bool) -> None:
        """Begin a file of blocks of `grain` tokens; ids that mean nothing outside it get a root of their own.

        Raises:
            UserError: The files before it have another block size.
        """
        if self._accesses or self._grain not in (0, grain):
            raise UserError("traces of different block sizes cannot be counted together", help="use one run a size")
        self._grain = grain
        self.root = self.tree.add_root() if own_root else self._joined_root

    def start_mooncake(self, path: str) -> None:
        """Begin a Mooncake file. Raises UserError behind traces of the tool's own kind."""
        if self._grain:
            raise UserError("Mooncake traces cannot be counted together with others", path, "use one run each")

    def walk(self, node: int, ids: Sequence[int], ends: Sequence[int]) -> int:
        """Return the node behind the blocks `ids` that end at `ends`, adding what is new."""
        for block, end in zip(ids, ends, strict=True):
            child = self._children.get((node, block))
            if child is None:
                child = self._children[node, block] = self.tree.add(node, end)
            node = child
        return node

    def namespace(self, space: Namespace) -> int:
        """Return the number of a namespace."""
        number = self._namespaces.get(space)
        if number is None:
            number = self._namespaces[space] = len(self.rows.namespaces)
            self.rows.namespaces.append(space)
        return number

    def param_set(self, params: tuple[tuple[str, bytes], ...]) -> int:
        """Return the number of a set of key parameters."""
        number = self._param_sets.get(params)
        if number is None:
            number = self._param_sets[params] = len(self.rows.param_sets)
            self.rows.param_sets.append(params)
        return number

    def family(self, path: str, number: int) -> int:
        """Return the number of a file's family; a trace has no text by which families of two files could be one."""
        family = self._families.get((path, number))
        if family is None:
            family = self._families[path, number] = self.rows.families.append("")
        return family

    def add_mooncake(self, path: str, number: int, line: int, record: MooncakeRecord) -> None:
        """Add one request. Raises ValueError where its ids do not fit its length."""
        count, length = len(record.hash_ids), record.input_length
        if count == 0 or not 0 < length < _LARGEST:
            raise ValueError("no blocks, or a length that is none")
        least = max(self._least_block, -(-length // count))
        most = min(self._most_block, (length - 1) // (count - 1) if count > 1 else _LARGEST)
        if least > most:
            raise ValueError(f"{count} hash ids for {length} tokens fit no block size of the lines before")
        self._least_block, self._most_block = least, most
        before = len(self.tree)
        node = self._walk_levels(record.hash_ids)
        self._mooncake_nodes += len(self.tree) - before
        if self.tree.depth[node] < 0:
            self.tree.depth[node] = length
        self._accesses += count
        for names in (
            self.rows.models, self.rows.providers, self.rows.tenants, self.rows.sessions, self.rows.replicas,
        ):  # fmt: skip
            names.number("")
        start = record.timestamp / 1000.0
        self.rows.append(
            Row(
                file=self.rows.files.number(path),
                record=number,
                line=line,
                node=node,
                prompt_tokens=length,
                reported_output=record.output_length,
                start=start,
            )
        )

    def _walk_levels(self, ids: list[int]) -> int:
        """Walk blocks whose size is not known yet; a new node's depth is minus its level."""
        node = self.root
        children, parents, depths = self._children, self.tree.parent, self.tree.depth
        for level, block in enumerate(ids, 1):
            child = children.get((node, block))
            if child is None:
                child = children[node, block] = len(parents)
                parents.append(node)
                depths.append(-level)
            node = child
        return node

    def finish(self) -> Rows:
        """Set what depends on the block size, and return the rows."""
        if self._accesses:
            self._grain = _power_of_two(self._least_block, self._most_block)
            depth = self.tree.depth
            for node, value in enumerate(depth):
                if value < 0:
                    depth[node] = -value * self._grain
        self.tree.grain = self._grain
        return self.rows

    def facts(self) -> tuple[str, ...]:
        """Say what was counted in a Mooncake trace's own blocks."""
        if not self._accesses:
            return ()
        repeats = self._accesses - self._mooncake_nodes
        return (
            f"Trace of {self._grain}-token blocks: {self._accesses:,} block accesses, {self._mooncake_nodes:,} "
            f"distinct, {repeats:,} repeats ({100 * repeats / self._accesses:.2f} % of blocks).",
        )


def _power_of_two(least: int, most: int) -> int:
    """Return the power of two between the bounds (block sizes are), else the least size that fits."""
    size = 1 << (least - 1).bit_length()
    return size if size <= most else least
