"""Slots, each the tokens of one sequence, and a host cache of whole prompts, as in llama.cpp's server.

Source: llama.cpp, `tools/server/server-context.cpp` and `server-task.cpp` of 2026 (`get_available_slot`,
`server_prompt_cache`); read, not run. Nothing is paged and nothing is shared: a request takes an idle slot and keeps
the longest common prefix of what is in it, to the token.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.caches.block_keys import Content, NamespaceId, common_length, with_contents
from prefixwise.caches.bookkeeping import Bookkeeping, add_up, ensure
from prefixwise.caches.events import Allocated, Demoted, Evicted, Freed, Listener, Loaded, Stored, Unregistered, ignore
from prefixwise.caches.prefix_cache import HOST, IDLE, BlockTable, Match, OutOfBlocksError, PrefixCache
from prefixwise.caches.stores import BlockStore, CountingStore

LEAST_SIMILARITY = 0.1
"""`--slot-prompt-similarity`: share of the prompt that a slot must have to be chosen for it."""

SAVE_BELOW = 0.5
"""A slot that would keep less than this share of its tokens is saved to the host cache first."""

LOAD_FROM = 0.25
"""A saved prompt of which less than this share is wanted stays where it is."""


class _Slot:
    """What one slot holds."""

    __slots__ = ("last_used", "namespace", "number", "table", "tokens")

    def __init__(self, number: int) -> None:
        self.number = number
        self.namespace: NamespaceId = 0
        self.tokens: tuple[int, ...] = ()
        self.last_used = 0
        self.table = 0


class _Saved(msgspec.Struct, frozen=True):
    """A prompt in the host cache and the contents of its cells."""

    namespace: NamespaceId
    tokens: tuple[int, ...]
    contents: tuple[object, ...]


class _Found(msgspec.Struct, frozen=True):
    """Handle of a match: the slot (None: all are busy), whether to save it first, what to load into it."""

    slot: _Slot | None
    save: bool = False
    load: _Saved | None = None


class SlotCache(Bookkeeping, PrefixCache):
    """llama.cpp's prompt cache. A block is one token: cell `p` of slot `s` is block `s * slot_tokens + p`.

    Args:
        slots: Slots (`--parallel`).
        slot_tokens: Tokens that one slot can hold.
        host_tokens: Tokens that the host cache holds (`--cache-ram` in MiB over the size of a token); 0 for none.
        similarity: See `LEAST_SIMILARITY`; 0 always takes the slot that was used longest ago.
        device: Contents of the cells; counted by default.
        listener: Called with every event.
    """

    def __init__(
        self,
        slots: int,
        slot_tokens: int,
        *,
        host_tokens: int = 0,
        similarity: float = LEAST_SIMILARITY,
        device: BlockStore[int] | None = None,
        listener: Listener = ignore,
    ) -> None:
        super().__init__(1, slots * slot_tokens, listener)
        self.slot_tokens = slot_tokens
        self._slots = [_Slot(number) for number in range(slots)]
        self._host_tokens = host_tokens
        self._similarity = similarity
        self._saved: list[_Saved] = []
        self._device: BlockStore[int] = CountingStore() if device is None else device
        # Tokens that each table had committed before the step in progress.
        self._step: dict[int, int] | None = None

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,  # noqa: ARG002 - the protocol's
    ) -> Match:
        """Return what the slot that this prompt would get has of it, or what would be loaded into that slot."""
        padded = tuple(with_contents(tokens, contents))
        most = max(0, len(padded) - 1 if limit is None else min(limit, len(padded)))
        slot, save = self._choose(padded, namespace)
        if slot is None:
            return Match(namespace, len(padded), (), 0, 0, {}, contents=tuple(contents), handle=_Found(None))
        load = self._better_saved(slot, padded, namespace) if save else None
        matched = self._common(load, padded, namespace) if load else self._common(slot, padded, namespace)
        usable = min(matched, most)
        base = slot.number * self.slot_tokens
        return Match(
            namespace=namespace,
            tokens=len(padded),
            blocks=() if load else tuple(range(base, base + usable)),
            matched=matched,
            usable=usable,
            by_tier=add_up([(HOST if load else IDLE, usable)]),
            loads=usable if load else 0,
            contents=tuple(contents),
            handle=_Found(slot, save, load),
        )

    def available(self, held: Match | BlockTable | None = None) -> int:
        """Return the cells of idle slots; for a match or a table those that its slot has left."""
        if held is None:
            return self.slot_tokens * sum(not slot.table for slot in self._slots)
        if isinstance(held, BlockTable):
            return self.slot_tokens - len(held.blocks)
        if self._handle(held).slot is None:
            return 0
        return self.slot_tokens - held.usable

    def lock(self, match: Match, *, priority: int | None = None) -> BlockTable:
        """Take the slot; save its prompt, load a better one, and drop what is not common.

        Raises:
            OutOfBlocksError: All slots are busy.
        """
        found = self._handle(match)
        slot = found.slot
        if slot is None:
            raise OutOfBlocksError("all slots are busy")
        saved = found.save and self._host_tokens > 0 and bool(slot.tokens)
        if saved:
            self._save(slot)
        if found.load:
            self._load(slot, found.load)
        self._shrink()
        lost = len(slot.tokens) - match.usable
        if lost > 0 and (found.load or not saved):
            cells = tuple(self._cells(slot)[match.usable : len(slot.tokens)])
            self._emit(Evicted(self.clock.stamp(), IDLE, lost, cells))
        slot.tokens = slot.tokens[: match.usable]
        slot.namespace = match.namespace
        table = self._open(match, priority)
        slot.table = table.id
        table.blocks.extend(self._cells(slot)[: match.usable])
        table.committed = match.usable
        self._emit_hits(table, match.blocks)
        return table

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Take the next cells of the table's slot."""
        self._require(table)
        if blocks > self.available(table):
            raise OutOfBlocksError(f"{blocks} cells are wanted, {self.available(table)} are left")
        first = len(table.blocks)
        taken = tuple(self._cells(self._slot_of(table))[first : first + blocks])
        self._emit(Allocated(self.clock.stamp(), table.id, taken))
        table.blocks.extend(taken)
        return taken

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Note what the slot holds; others find it when the slot is idle again."""
        computed = len(tokens) if computed is None else computed
        self._require_room(table, computed)
        if self._step is not None:
            self._step.setdefault(table.id, table.committed)
        self._note(table, tokens, computed)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Make the slot idle; it keeps what was computed."""
        self._require_room(table, len(tokens or ()))
        if tokens is not None:
            self._note(table, tokens, len(tokens))
        slot = self._slot_of(table)
        self._close(table)
        before = self._step.pop(table.id, None) if self._step is not None else None
        if tokens is None and before is not None:
            self._cut(slot, before)
        unknown = tuple(table.blocks[len(slot.tokens) :])
        if unknown:
            self._emit(Freed(self.clock.stamp(), unknown))
        slot.table = 0
        slot.last_used = self.clock.stamp()

    def begin_step(self) -> None:
        """Note what is committed from now on. Raises ValueError in a step."""
        if self._step is not None:
            raise ValueError("the last step has not ended")
        self._step = {}

    def end_step(self, ok: bool = True) -> None:
        """Forget, if the step failed, what was committed in it."""
        step, self._step = self._step, None
        if step is None:
            raise ValueError("no step has begun")
        for number, before in step.items() if not ok else ():
            table = self._tables[number]
            table.committed = before
            self._cut(self._slot_of(table), before)

    def reset(self) -> bool:
        """Empty the slots and the host cache."""
        if self._tables:
            return False
        for slot in self._slots:
            slot.tokens = ()
        self._saved.clear()
        return True

    def check_integrity(self) -> None:
        """Raise IntegrityError unless slots, tables and host cache agree."""
        self._count_references()
        busy = sorted(slot.table for slot in self._slots if slot.table)
        ensure(busy == sorted(self._tables), "slots and tables disagree")
        for slot in self._slots:
            ensure(len(slot.tokens) <= self.slot_tokens, f"slot {slot.number} holds too much")
            if slot.table:
                table = self._tables[slot.table]
                cells = list(self._cells(slot)[: len(table.blocks)])
                ensure(table.blocks == cells, f"table {table.id} holds cells of another slot")
                ensure(slot.namespace == table.namespace, f"slot {slot.number} is in another namespace")
                ensure(len(slot.tokens) == table.committed, f"slot {slot.number} and its table disagree")
        total = sum(len(saved.tokens) for saved in self._saved)
        ensure(total <= self._host_tokens or len(self._saved) <= 1, "the host cache holds too much")
        for one in self._saved:
            for other in self._saved:
                contained = one.namespace == other.namespace and other.tokens[: len(one.tokens)] == one.tokens
                ensure(one is other or not contained, "a saved prompt is the beginning of another")

    def slots(self) -> list[tuple[NamespaceId, tuple[int, ...], bool]]:
        """Return by slot its namespace, its tokens (contents replaced by `with_contents`), and whether it is busy."""
        return [(slot.namespace, slot.tokens, slot.table != 0) for slot in self._slots]

    def saved(self) -> list[tuple[NamespaceId, tuple[int, ...]]]:
        """Return the prompts in the host cache, the oldest first."""
        return [(saved.namespace, saved.tokens) for saved in self._saved]

    def _handle(self, match: Match) -> _Found:
        if not isinstance(match.handle, _Found):
            raise ValueError("the match is another cache's")
        return match.handle

    def _cells(self, slot: _Slot) -> range:
        base = slot.number * self.slot_tokens
        return range(base, base + self.slot_tokens)

    def _slot_of(self, table: BlockTable) -> _Slot:
        return next(slot for slot in self._slots if slot.table == table.id)

    def _common(self, held: _Slot | _Saved, tokens: tuple[int, ...], namespace: NamespaceId) -> int:
        return common_length(held.tokens, tokens, 0, len(tokens)) if held.namespace == namespace else 0

    def _choose(self, tokens: tuple[int, ...], namespace: NamespaceId) -> tuple[_Slot | None, bool]:
        """Return the slot for a prompt, and whether the host cache saves it and is asked for a better one."""
        best: _Slot | None = None
        similarity = self._similarity
        for slot in self._slots:
            if slot.table or not slot.tokens or not self._similarity:
                continue
            share = self._common(slot, tokens, namespace) / max(1, len(tokens))
            if share > similarity:
                best, similarity = slot, share
        if best is not None:
            return best, self._common(best, tokens, namespace) < SAVE_BELOW * len(best.tokens)
        for slot in self._slots:
            # Of slots that were used at the same time, at the start, llama.cpp takes the last.
            if not slot.table and (best is None or slot.last_used <= best.last_used):
                best = slot
        return best, best is not None

    def _better_saved(self, slot: _Slot, tokens: tuple[int, ...], namespace: NamespaceId) -> _Saved | None:
        """Return the saved prompt that beats the slot in what is kept of it and in what it brings; empty slots lose."""
        common = self._common(slot, tokens, namespace)
        best: _Saved | None = None
        kept, similarity = common / len(slot.tokens) if slot.tokens else -1.0, common / max(1, len(tokens))
        for saved in self._saved:
            common = self._common(saved, tokens, namespace)
            share = common / len(saved.tokens)
            if share >= LOAD_FROM and share > kept and common / len(tokens) > similarity:
                best, kept, similarity = saved, share, common / len(tokens)
        return best

    def _save(self, slot: _Slot) -> None:
        """Put the slot's prompt into the host cache, instead of those that are its beginning."""
        tokens, namespace = slot.tokens, slot.namespace
        if any(self._common(saved, tokens, namespace) == len(tokens) for saved in self._saved):
            return
        self._saved = [saved for saved in self._saved if self._common(saved, tokens, namespace) < len(saved.tokens)]
        cells = self._cells(slot)[: len(tokens)]
        self._saved.append(_Saved(namespace, tokens, tuple(self._device.get(cell) for cell in cells)))
        for cell in cells:
            self._emit(Demoted(self.clock.stamp(), None, IDLE, HOST, cell))

    def _load(self, slot: _Slot, load: _Saved) -> None:
        """Move a saved prompt into the slot."""
        self._saved = [saved for saved in self._saved if saved is not load]
        slot.tokens, slot.namespace = load.tokens, load.namespace
        for cell, contents in zip(self._cells(slot), load.contents, strict=False):
            self._device.put(cell, contents)
            self._emit(Loaded(self.clock.stamp(), None, cell, HOST))

    def _shrink(self) -> None:
        """Drop the oldest saved prompts until the rest fits; one always stays, as in llama.cpp."""
        while len(self._saved) > 1 and sum(len(saved.tokens) for saved in self._saved) > self._host_tokens:
            oldest = self._saved.pop(0)
            self._emit(Evicted(self.clock.stamp(), HOST, len(oldest.tokens)))

    def _note(self, table: BlockTable, tokens: Sequence[int], computed: int) -> None:
        slot = self._slot_of(table)
        slot.tokens = tuple(with_contents(tokens[:computed], table.contents))
        new = tuple(table.blocks[table.committed : computed])
        table.committed = computed
        if new:
            self._emit(Stored(self.clock.stamp(), table.id, table.namespace, len(new), new))

    def _cut(self, slot: _Slot, length: int) -> None:
        cut = tuple(self._cells(slot)[length : len(slot.tokens)])
        slot.tokens = slot.tokens[:length]
        if cut:
            self._emit(Unregistered(self.clock.stamp(), cut))
