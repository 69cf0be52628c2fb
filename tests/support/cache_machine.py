"""Random requests against any prefix cache, with a model that knows every stored prefix by heart.

The model keeps what the events say is stored: for every block the namespace and all tokens up to its end. What a
look-up must find is computed from that by trying, so an index, its events and its counts are held to each other. The
contents of blocks are modelled too: each cell holds what it was computed from, copies and tiers move it, and every
token that a request got from the cache is read back.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from prefixwise.caches.block_keys import Content, with_contents
from prefixwise.caches.events import Demoted, Event, Evicted, Freed, Loaded, Stored, Unregistered
from prefixwise.caches.prefix_cache import BlockTable, Match, PrefixCache
from prefixwise.caches.requests import blocks_for, new_blocks
from prefixwise.caches.stores import MissingBlockError

PLACEHOLDER = 9
Prefix = tuple[Any, tuple[int, ...]]


class Cells:
    """The device's memory: by block, what each token's keys and values were computed from."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[object]] = {}

    def put(self, block: int, contents: object) -> None:
        assert isinstance(contents, list)
        self.blocks[block] = list(contents)

    def get(self, block: int) -> object:
        return list(self.blocks.get(block, []))

    def copy(self, source: int, target: int, tokens: int) -> None:
        self.blocks[target] = self.blocks[source][:tokens]

    def drop(self, block: int) -> None:
        self.blocks.pop(block, None)


class Lossy:
    """A lower tier's memory, of which the test damages entries."""

    def __init__(self) -> None:
        self.blocks: dict[Any, object] = {}
        self.damaged: set[Any] = set()

    def put(self, block: Any, contents: object) -> None:
        self.damaged.discard(block)
        self.blocks[block] = contents

    def get(self, block: Any) -> object:
        if block not in self.blocks or block in self.damaged:
            raise MissingBlockError(block)
        return self.blocks[block]

    def drop(self, block: Any) -> None:
        self.blocks.pop(block, None)
        self.damaged.discard(block)


class Request:
    def __init__(self, tokens: list[int], contents: tuple[Content, ...], table: BlockTable) -> None:
        self.tokens = tokens
        self.contents = contents
        self.table = table
        self.computed = table.cached_tokens
        self.in_step = False
        self.due = 0

    def prefix(self, end: int) -> Prefix:
        return self.table.namespace, tuple(with_contents(self.tokens, self.contents)[:end])


class CacheMachine(RuleBasedStateMachine):
    """Subclasses make the cache and say what a look-up finds."""

    cache: PrefixCache
    follows_events = True

    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        raise NotImplementedError

    def expected(self, prompt: Prefix, limit: int) -> int:
        """Return the usable tokens that the stored prefixes allow."""
        size = self.cache.block_size
        blocks = 0
        while (blocks + 1) * size <= limit and self.is_stored(prompt, (blocks + 1) * size):
            blocks += 1
        return blocks * size

    def is_stored(self, prompt: Prefix, end: int) -> bool:
        return (prompt[0], prompt[1][:end]) in self.stored.values()

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        self.events: list[Event] = []
        self.cells = Cells()
        self.cache = self.make(data.draw, self.cells, self.events.append)
        self.requests: list[Request] = []
        self.stored: dict[int, Prefix] = {}
        self.held: set[int] = set()
        self.prompts: list[list[int]] = [[0, 1, 0, 0, 1, 1, 0, 1], [1, 1, 1, 0, 1], []]
        self.stepping = False
        self.last_time = 0

    def follow(self, request: Request | None = None) -> None:
        """Bring the model up to what the events say."""
        for event in self.events:
            assert event.time > self.last_time
            self.last_time = event.time
            if not self.follows_events:
                continue
            if isinstance(event, Stored):
                owner = next(one for one in [*self.requests, request] if one and one.table.id == event.table)
                self.note_stored(owner, event)
            elif isinstance(event, Evicted | Unregistered):
                for block in event.blocks:
                    if isinstance(event, Evicted):
                        assert block not in self.held, "a held block was evicted"
                        assert block in self.stored, "what was not stored was evicted"
                    self.stored.pop(block, None)
            elif isinstance(event, Demoted) and event.block is not None:
                self.stored.pop(event.block)
            elif isinstance(event, Loaded):
                assert request is not None
                end = (request.table.blocks.index(event.block) + 1) * self.cache.block_size
                self.stored[event.block] = request.prefix(end)
            elif isinstance(event, Freed):
                for block in event.blocks:
                    assert block not in self.stored, "what can be found was freed"
        self.events.clear()
        self.held = {block for one in self.requests for block in one.table.blocks}

    def note_stored(self, owner: Request, event: Stored) -> None:
        size, stored = self.cache.block_size, event.tokens
        last = owner.table.blocks.index(event.blocks[-1])
        first = last - len(event.blocks) + 1
        for index, block in zip(range(first, last + 1), event.blocks, strict=True):
            assert block not in self.stored, "a block is stored twice"
            self.stored[block] = owner.prefix(index * size + min(size, stored))
            stored -= size

    def compute(self, request: Request, end: int) -> None:
        """Fill the cells of the tokens up to `end`."""
        size = self.cache.block_size
        for index in range(request.computed, end):
            cells = self.cells.blocks.setdefault(request.table.blocks[index // size], [])
            cells.extend([None] * (size - len(cells)))
            cells[index % size] = request.prefix(index + 1)
        request.computed = end

    @rule(
        prompt=st.integers(0, 30),
        cut=st.sampled_from([0, 2, 3, 5, 99, 99, 99, 99]),
        more=st.lists(st.integers(0, 1), max_size=5),
        namespace=st.sampled_from([0, 0, 0, b"a"]),
        content=st.sampled_from([None, None, None, None, "cat", "dog"]),
        part=st.sampled_from([0.3, 0.6, 1, 1]),
        priority=st.sampled_from([None, 0, 2, 60]),
    )
    def admit(
        self, prompt: int, cut: int, more: list[int], namespace: Any, content: str | None, part: float,
        priority: int | None,
    ) -> None:  # fmt: skip
        base = self.prompts[prompt % len(self.prompts)]
        tokens = base[:cut] + more or [0]
        # Short enough to fit now and then, in a cache that is small enough to be full all the time.
        tokens = tokens[:14]
        contents: tuple[Content, ...] = ()
        if content and len(tokens) > 4:
            contents = (Content(2, 2, content),)
            tokens[2:4] = [PLACEHOLDER] * 2
        self.prompts = [*self.prompts[-5:], tokens]
        padded = namespace, tuple(with_contents(tokens, contents))
        match = self.cache.match(tokens, namespace, contents=contents)
        again = self.cache.match(tokens, namespace, contents=contents, earlier=match)
        self.follow()
        assert (again.blocks, again.usable, again.by_tier) == (match.blocks, match.usable, match.by_tier)
        expected = self.expected(padded, len(tokens) - 1)
        assert match.usable == expected, (match.usable, padded)
        assert match.usable <= match.matched <= len(tokens)
        assert sum(match.by_tier.values()) == match.usable
        if new_blocks(again, self.cache.block_size) > self.cache.available(again):
            return
        self.start(Request(list(tokens), contents, self.lock(again, priority)), part)

    def lock(self, match: Match, priority: int | None) -> BlockTable:
        before = self.cache.available(match)
        damaged = self.has_damage()
        table = self.cache.lock(match, priority=priority)
        assert table.cached_tokens <= match.usable
        assert table.cached_tokens == match.usable or damaged
        assert self.cache.available(table) >= before
        return table

    def start(self, request: Request, part: float) -> None:
        self.follow(request)
        end = request.computed + max(1, int((len(request.tokens) - request.computed) * part))
        self.requests.append(request)
        self.schedule(request, end)

    def schedule(self, request: Request, end: int) -> None:
        """Give a request room for its tokens up to `end`, compute them and commit; if there is room."""
        needed = blocks_for(end, self.cache.block_size) - len(request.table.blocks)
        if needed > self.cache.available(request.table):
            return
        if needed > 0:
            taken = self.cache.take(request.table, needed)
            assert len(set(taken)) == needed
            assert list(taken) == request.table.blocks[-needed:]
            self.follow()
        if not self.stepping:
            self.compute(request, end)
            self.cache.commit(request.table, request.tokens, end)
        else:
            request.in_step = True
            request.due = end
            self.cache.commit(request.table, request.tokens, end)
        self.follow()

    @precondition(lambda self: self.requests)
    @rule(which=st.integers(0, 30), token=st.integers(0, 2), count=st.integers(1, 6))
    def go_on(self, which: int, token: int, count: int) -> None:
        """Compute the next chunk of a prompt, or the next token of an answer."""
        request = self.requests[which % len(self.requests)]
        if request.in_step:
            return
        left = len(request.tokens) - request.computed
        if not left:
            request.tokens.append(token)
            left = 1
        self.schedule(request, request.computed + min(left, count))

    def release(self, request: Request, tokens: list[int] | None) -> None:
        self.cache.release(request.table, tokens)
        self.follow(request)

    @precondition(lambda self: self.requests)
    @rule(which=st.integers(0, 30))
    def finish(self, which: int) -> None:
        request = self.requests[which % len(self.requests)]
        if request.in_step:
            return
        self.requests.remove(request)
        computed = request.tokens[: request.computed]
        self.prompts = [*self.prompts[-5:], computed]
        self.release(request, computed)

    @precondition(lambda self: self.requests)
    @rule(which=st.integers(0, 30))
    def abort(self, which: int) -> None:
        """Abort a request; in a step also those that were scheduled after it, which may have been given its blocks."""
        first = which % len(self.requests)
        request = self.requests[first]
        gone = [request]
        if request.in_step:
            gone += [other for other in self.requests if other.in_step and other is not request]
        for one in gone:
            self.requests.remove(one)
            self.release(one, None)

    @precondition(lambda self: not self.stepping)
    @rule()
    def begin_step(self) -> None:
        self.cache.begin_step()
        self.stepping = True

    @precondition(lambda self: self.stepping)
    @rule(ok=st.sampled_from([True, True, False]))
    def end_step(self, ok: bool) -> None:
        self.stepping = False
        scheduled = [request for request in self.requests if request.in_step]
        for request in scheduled:
            request.in_step = False
            if ok:
                self.compute(request, request.due)
        self.cache.end_step(ok)
        self.follow()
        for request in scheduled if not ok else ():
            self.requests.remove(request)
            self.release(request, None)

    @precondition(lambda self: not self.requests and not self.stepping)
    @rule()
    def reset(self) -> None:
        assert self.cache.reset()
        self.stored.clear()

    @rule(seed=st.integers(0, 2**32 - 1))
    def busy(self, seed: int) -> None:
        """Do many of the other things, so that a run is long enough for a full cache and for hits in every tier."""
        chance = random.Random(seed)
        for _ in range(80):
            kind = chance.choice(["admit"] * 8 + ["go_on"] * 4 + ["finish"] * 5 + ["abort"] + ["step"] * 3)
            if kind == "admit":
                self.admit(
                    prompt=chance.randrange(31),
                    cut=chance.choice([0, 2, 3, 5, 99, 99, 99, 99]),
                    more=[chance.randrange(2) for _ in range(chance.choice([0, 1, 1, 3, 5]))],
                    namespace=chance.choice([0, 0, 0, b"a"]),
                    content=chance.choice([None, None, None, None, "cat", "dog"]),
                    part=chance.choice([0.3, 1, 1]),
                    priority=chance.choice([None, 0, 2, 60]),
                )
            elif kind == "step" and self.stepping:
                self.end_step(ok=chance.random() < 0.7)
            elif kind == "step":
                self.begin_step()
            elif self.requests and kind == "go_on":
                self.go_on(which=chance.randrange(31), token=chance.randrange(3), count=chance.randrange(1, 7))
            elif self.requests and kind == "finish":
                self.finish(which=chance.randrange(31))
            elif self.requests and kind == "abort":
                self.abort(which=chance.randrange(31))
            self.disturb(chance)
            self.holds()

    def has_damage(self) -> bool:
        """Return whether a load may fail."""
        return False

    def disturb(self, chance: random.Random) -> None:
        """Damage what can be damaged; caches with tiers below override this."""

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "cache"):
            return
        self.cache.check_integrity()
        size = self.cache.block_size
        for request in self.requests:
            if request.in_step:
                continue
            for index in range(request.computed):
                held = self.cells.blocks[request.table.blocks[index // size]][index % size]
                assert held == request.prefix(index + 1), "a request was given what is not its own"

    def teardown(self) -> None:
        if not hasattr(self, "cache"):
            return
        if self.stepping:
            self.end_step(True)
        for request in self.requests:
            self.cache.release(request.table)
        self.cache.check_integrity()
        assert self.cache.available() == self.cache.capacity
        assert self.cache.reset()
        assert self.cache.available() == self.cache.capacity
