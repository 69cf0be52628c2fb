"""The protocol of all prefix caches, and the life of a request in one.

A request goes through `match` (what is there), `lock` (hold it), `take` (blocks for the rest), `commit` (what was or
is about to be computed may be found by others) and `release`. An engine does so chunk by chunk and token by token, a
simulator with whole prompts (`caches.requests`). At block level a simulator passes one number a block as the "tokens"
of a cache of block size 1, and the `limit` that follows from the prompt's real length.

A cache stores no keys and values. It hands out block ids; who holds tensors keeps block `b` of a pool at slots
`b * block_size` to `(b + 1) * block_size - 1`, and a `BlockStore` that copies when the cache says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from prefixwise.caches.block_keys import Content, NamespaceId
from prefixwise.caches.events import LogicalClock

CommitAt: TypeAlias = Literal["schedule", "step"]
"""When committed blocks can be found: at once, also by requests of the same step (vLLM), or after the step."""

RUNNING, IDLE, HOST, DISK, PEER = "running", "idle", "host", "disk", "peer"
"""Tiers: device blocks of a running request, of none, host memory, disk, another replica."""


class OutOfBlocksError(Exception):
    """More blocks were asked for than `available` said; nothing was changed."""


class IntegrityError(AssertionError):
    """A cache is in a state that it must never be in."""


class Match(msgspec.Struct, frozen=True):
    """What a cache has of a prompt.

    Attributes:
        namespace: Namespace that was looked in.
        tokens: Length of the prompt.
        blocks: Device blocks with usable tokens, in order; blocks to be loaded are not among them.
        matched: Prompt tokens that are cached, whether or not the request may use them.
        usable: Prompt tokens that the request need not compute. At most `tokens - 1`, since the last one's logits are
            wanted, in whole blocks where the cache works in blocks.
        by_tier: Usable tokens by tier.
        loads: Device blocks that `lock` will take, for entries of lower tiers and for copies.
        contents: Contents of the prompt.
        handle: The cache's own.
    """

    namespace: NamespaceId
    tokens: int
    blocks: tuple[int, ...]
    matched: int
    usable: int
    by_tier: Mapping[str, int]
    loads: int = 0
    contents: tuple[Content, ...] = ()
    handle: object = None


class BlockTable:
    """The blocks of one running request; made by `lock`, ended by `release`.

    Attributes:
        id: Number of the table, unique in its cache.
        namespace: Namespace of the request.
        contents: Contents of its prompt.
        prompt_tokens: Length of the prompt that was matched.
        priority: Priority that the request was locked with; None is the cache's default.
        blocks: Device blocks in order. Caches that merge duplicates replace some of them in `commit`: read them after.
        cached_tokens: Tokens that need not be computed. Less than `Match.usable` where a load failed.
        by_tier: The same by tier.
        committed: Leading tokens that the cache knows (registered or inserted).
    """

    __slots__ = (
        "blocks", "by_tier", "cached_tokens", "committed", "contents", "id", "namespace", "priority", "prompt_tokens",
    )  # fmt: skip

    def __init__(self, number: int, match: Match, priority: int | None) -> None:
        self.id = number
        self.namespace = match.namespace
        self.contents = match.contents
        self.prompt_tokens = match.tokens
        self.priority = priority
        self.blocks: list[int] = []
        self.cached_tokens = match.usable
        self.by_tier = dict(match.by_tier)
        self.committed = 0


class PrefixCache(Protocol):
    """A prefix cache of one model on one device.

    Calls that make no sense (a table that was released, tokens beyond the table's blocks) raise ValueError.

    Attributes:
        block_size: Tokens in one block.
        capacity: Device blocks that can hold tokens.
        clock: Orders all events; `clock.advance` moves the time of timed retention.
    """

    block_size: int
    capacity: int
    clock: LogicalClock

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,
    ) -> Match:
        """Return what is cached of a prompt. Some caches count a look-up as a use, as the engines do.

        Args:
            tokens: Token ids of the prompt.
            namespace: Only entries of this namespace are found.
            contents: Images and the like among the tokens, in order.
            limit: Most tokens that may be used; all but the last by default.
            earlier: An earlier match of the same request, whose block hashes are reused.
        """
        ...

    def available(self, held: Match | BlockTable | None = None) -> int:
        """Return the blocks that `take` could give: free ones and those that can be evicted.

        With a match: once it is locked, its loads counted off. An engine admits a request when this is at least the
        blocks of the prompt without the matched ones.
        """
        ...

    def lock(self, match: Match, *, priority: int | None = None) -> BlockTable:
        """Hold what was matched and return the request's table. No other call may come between the two.

        Args:
            match: What `match` returned.
            priority: For caches that evict by priority; higher stays longer.

        Raises:
            OutOfBlocksError: There is no room for the match's loads.
        """
        ...

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Append `blocks` free blocks to the table, evicting where needed, and return them.

        Raises:
            OutOfBlocksError: There are fewer.
        """
        ...

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Let others find the request's first `computed` tokens (all by default), as far as the cache's rules go.

        Args:
            table: The request's table; its blocks must have room for the tokens.
            tokens: All tokens of the request, prompt and answer.
            computed: Leading tokens whose keys and values are there, or will be when the step ends.
        """
        ...

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """End the request.

        Args:
            table: Its table, which cannot be used any more.
            tokens: For a request that finished: the tokens whose keys and values are computed (the last sampled one
                has none); they stay findable. None for one that was aborted or preempted: only what was committed
                before stays, and of that nothing from a step that has not ended.
        """
        ...

    def begin_step(self) -> None:
        """Note what is committed from now on, until `end_step`."""
        ...

    def end_step(self, ok: bool = True) -> None:
        """End a step. If it failed, nothing committed in it can be found any more; release its requests next."""
        ...

    def reset(self) -> bool:
        """Forget everything cached; False, and no change, while a request is running."""
        ...

    def check_integrity(self) -> None:
        """Raise IntegrityError unless every block is in exactly one state and all counts agree."""
        ...
