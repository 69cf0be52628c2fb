"""Phase 1: requests in, rows and a prefix tree out. The cost grows with the unique text.

An item (a message, a tool, a system block) is recognised by its raw bytes; a pair (node, item) that was walked
before is one look-up. Only new items are decoded, rendered and tokenised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.request import Request
from prefixwise.core.usage import Usage
from prefixwise.corpus.call import Answer
from prefixwise.corpus.dialect import SHAPE_ERRORS, reply_turn
from prefixwise.corpus.families import Families
from prefixwise.corpus.items import HEAD_KINDS, HEAD_ROLES, Items, Vocabulary, turn_of
from prefixwise.corpus.joins import Joins, KnownCall
from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.tokenizer import Exactness, Tokenizer, provider_of
from prefixwise.corpus.tokenizers.ids import TokenIds
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.corpus.tree import TokenTree

ChooseTokenizer = Callable[[str, str], Tokenizer]
"""Returns the tokenizer of (provider, model)."""

_RUN = 16384
_RUN_BYTES = 1 << 24
_NO_USAGE = Usage()


class _Head(msgspec.Struct, gc=False):
    """The leading items of a prompt (tools and system), shared by most requests of an application.

    `node` is where it ends, -1 until it has been walked; `tools` counts the tool items among its items.
    """

    items: tuple[int, ...]
    tools: int
    family: int
    node: int = -1
    tools_end: int = 0


class _Taken(msgspec.Struct, gc=False):
    """A request whose items are known, waiting to be walked; `rest` are the items behind the head.

    It holds what its row needs and nothing of the record: raw items would keep the bytes of whole files alive.
    """

    path: str
    record: int
    line: int
    start: float
    end: float
    ttft: float
    tenant: str
    session: str
    replica: str
    namespace: Namespace
    params: tuple[tuple[str, bytes], ...]
    usage: Usage
    automatic: float | None
    vocabulary: Vocabulary
    model: int
    provider: int
    head: _Head
    rest: list[int]
    opened: bool
    reply: int
    id: str
    marks: int
    api: str


class CorpusIndex:
    """Grows rows and tree; call `finish` behind the last `add`.

    Args:
        choose_tokenizer: Finds the tokenizer of a model.
    """

    def __init__(self, choose_tokenizer: ChooseTokenizer = choose) -> None:
        self.tree = TokenTree()
        self.rows = Rows(self.tree)
        self.vocabularies: dict[str, Vocabulary] = {}
        self.tokenizers: dict[str, tuple[Exactness, str, str]] = {}
        """By model: how far its counts can be trusted, the tokenizer's name, and its note."""
        self._choose = choose_tokenizer
        self._models: dict[tuple[str, str], tuple[Vocabulary, int, int]] = {}
        self._framed: set[int] = set()
        self._items = Items(self.tree)
        self._walked: dict[int, int] = {}
        self._families = Families()
        self._heads: dict[tuple[int, ...], _Head] = {}
        self._namespaces = {SHARED: 0}
        self._param_sets: dict[tuple[tuple[str, bytes], ...], int] = {(): 0}
        self._taken: list[_Taken] = []
        self._joins = Joins(self.rows)

    @property
    def joined(self) -> int:
        """How many records told of a call that was known already."""
        return self._joins.joined

    def join(self, answer: Answer) -> None:
        """Fill in what a later record says of a call; it may come before the call too."""
        self._joins.answers.append(answer)

    def add(self, request: Request) -> None:
        """Take in one request.

        Raises:
            ValueError: An item of it is not what its API says; the request is left out.
        """
        vocabulary, model, provider = self._model(request)
        items: list[int] = []
        tools = heads = 0
        for section in request.sections:
            found = self._items.of_section(vocabulary, request.api, section)
            if heads == len(items):
                heads += self._leading_heads(found)
            items = items + found if items else found
            if section.kind == "tools":
                tools = len(items)
        key = (vocabulary.root, *items[:heads], NONE, *items[heads : heads or 1])
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = _Head(tuple(items[:heads]), tools, self._new_family(request))
        reply = -1
        if request.has_reply:
            reply = self._reply(request.api, request.response, request.opens_reply, vocabulary)
        rest = items[heads:]
        if request.opens_reply:
            rest.append(vocabulary.opening)
        self._taken.append(
            _Taken(
                request.path,
                request.record,
                request.line,
                request.start,
                request.end,
                request.ttft,
                request.tenant,
                request.session,
                request.replica,
                request.namespace,
                request.params,
                request.usage or _NO_USAGE,
                request.automatic,
                vocabulary,
                model,
                provider,
                head,
                rest,
                request.opens_reply,
                reply,
                request.id,
                request.marks,
                request.api,
            )
        )
        if len(self._taken) >= _RUN or self._items.bytes_queued > _RUN_BYTES:
            self.finish()

    def _leading_heads(self, items: list[int]) -> int:
        is_head = self._items.is_head
        for count, item in enumerate(items):
            if not is_head[item]:
                return count
        return len(items)

    def _reply(self, api: str, response: bytes, opens_reply: bool, vocabulary: Vocabulary) -> int:
        """Return the item of the logged answer, -1 where the log holds none that can be read."""
        try:
            turn = reply_turn(api, msgspec.json.decode(response), opens_reply)
        except SHAPE_ERRORS:
            return -1
        if turn is None or not turn.parts:
            return -1
        if isinstance(vocabulary.tokenizer, TokenIds) and not turn.parts[0].ids:  # a text that continues ids has none
            return -1
        return self._items.add_reply(vocabulary, turn)

    def finish(self) -> None:
        """Turn every request taken in so far into a row."""
        self._items.render()
        first = len(self.rows)
        made: list[Row] = []
        for taken in self._taken:
            number = first + len(made)
            row = self._row(number, taken)
            if taken.id and self._joins.is_known(number, row, taken, made):
                self.rows.markers.pop(number, None)
                self.rows.bands.pop(number, None)
            else:
                made.append(row)
        self.rows.extend(made)
        self._taken.clear()
        if self._joins.answers:
            self._joins.fill_in(self._answer)

    def _answer(self, call: KnownCall, response: bytes) -> int:
        """Return the node at which a known call's answer ends, -1 where it cannot be read."""
        reply = self._reply(call.api, response, call.opened, call.vocabulary)
        return self._step(self.rows.node[call.row], reply) if reply >= 0 else NONE

    def _row(self, number: int, taken: _Taken) -> Row:
        """Walk one request and return its row, which will have this number."""
        head, rows, usage = taken.head, self.rows, taken.usage
        depth = self.tree.depth
        if head.node < 0:
            tools_end = self._walk(taken.vocabulary.root, head.items[: head.tools])
            head.tools_end = depth[tools_end]
            head.node = self._walk(tools_end, head.items[head.tools :])
        node = self._walk(head.node, taken.rest)
        response = self._step(node, taken.reply) if taken.reply >= 0 else NONE
        marks = taken.marks
        if self._items.marks:
            for item in self._items.marks.keys() & {*head.items, *taken.rest}:
                marks |= self._items.marks[item]
        if self._items.special or taken.automatic is not None:
            self._add_special(number, taken)
        return Row(  # in the order of its fields: keywords would double its cost
            rows.files.number(taken.path),
            taken.record,
            taken.line,
            node,
            response,
            head.family,
            depth[node],
            depth[response] - depth[node] if response >= 0 else 0,
            head.tools_end,
            depth[head.node],
            taken.model,
            taken.provider,
            rows.tenants.number(taken.tenant),
            rows.sessions.number(taken.session),
            rows.replicas.number(taken.replica),
            0 if taken.namespace is SHARED else _number(self._namespaces, rows.namespaces, taken.namespace),
            _number(self._param_sets, rows.param_sets, taken.params),
            NONE if usage.prompt_tokens is None else usage.prompt_tokens,
            NONE if usage.cached_tokens is None else usage.cached_tokens,
            NONE if usage.cache_write_tokens is None else usage.cache_write_tokens,
            usage.written_long if usage.written_by_ttl else NONE,
            NONE if usage.output_tokens is None else usage.output_tokens,
            marks,
            taken.start,
            taken.end,
            taken.ttft,
        )

    def _walk(self, node: int, items: Sequence[int]) -> int:
        """Return the node that `items` lead to from `node`."""
        get = self._walked.get
        for item in items:
            after = get(node << 32 | item)
            node = self._step(node, item) if after is None else after
        return node

    def _step(self, node: int, item: int) -> int:
        """Return the node that `item` leads to from `node`, and remember it."""
        after = node
        segments = self._items.segments[item]
        if len(segments) == 1:
            after = self.tree.insert(node, segments[0])
        else:
            for segment in segments:
                after = self.tree.walk(after, segment)
        self._walked[node << 32 | item] = after
        return after

    def _model(self, request: Request) -> tuple[Vocabulary, int, int]:
        """Return (vocabulary, number of the model, number of the provider)."""
        given_as_ids = bool(request.sections) and request.sections[0].kind == "tokens"
        key = ("token ids" if given_as_ids else request.provider, request.model)
        found = self._models.get(key)
        if found is None:
            provider = provider_of(request.model, request.provider)
            tokenizer = TokenIds() if given_as_ids else self._choose(provider, request.model)
            found = self._models[key] = (
                self._vocabulary(tokenizer),
                self.rows.models.number(request.model),
                self.rows.providers.number(provider),
            )
            exact = Exactness.EXACT if tokenizer.exact else Exactness.ESTIMATED
            self.tokenizers.setdefault(request.model, (exact, tokenizer.name, tokenizer.note))
        if request.api != "completions" and found[1] not in self._framed:
            self._framed.add(found[1])
            exactness, name, note = self.tokenizers[request.model]
            if exactness is Exactness.EXACT:
                self.tokenizers[request.model] = (Exactness.EXACT_TEXT, name, note)
        return found

    def _vocabulary(self, tokenizer: Tokenizer) -> Vocabulary:
        vocabulary = self.vocabularies.get(tokenizer.name)
        if vocabulary is None:
            vocabulary = Vocabulary(tokenizer, self.tree.add_root())
            self.vocabularies[tokenizer.name] = vocabulary
            opening = self.tree.add_segment(vocabulary.template.reply)
            vocabulary.opening = self._items.add_segments((opening,))
        return vocabulary

    def _new_family(self, request: Request) -> int:
        """Return the family of a head that was not met before, by its system text; -1 for bare ids."""
        texts: list[str] = []
        for section in request.sections:
            if section.kind == "tokens":
                return NONE
            if section.kind in ("tools", "format"):
                continue
            for raw in section.raw_items():
                turn = turn_of(request.api, section.kind, raw)
                in_head = section.kind in HEAD_KINDS or turn.role in HEAD_ROLES
                if in_head or not texts:
                    texts.extend(part.text for part in turn.parts if part.text)
                if not in_head:
                    break
        family = self._families.assign(texts)
        if family == len(self.rows.families):
            label = next((text for text in texts if text.strip()), "")
            self.rows.families.append(" ".join(label[:200].split()))
        return family

    def _add_special(self, row: int, taken: _Taken) -> None:
        """Note the markers and media bands of a row, where it has any."""
        items = (*taken.head.items, *taken.rest)
        special = self._items.special
        if taken.automatic is None and special.keys().isdisjoint(items):
            return
        markers: list[tuple[int, float]] = []
        low = high = 0
        node = before = taken.vocabulary.root
        for item in items:
            if (found := special.get(item)) is not None:
                markers.extend((self.tree.depth[node] + offset, ttl) for offset, ttl in found.markers)
                low += found.band[0]
                high += found.band[1]
            before, node = node, self._walked[node << 32 | item]
        if taken.automatic is not None:  # behind the last message, not behind the opening of the answer
            markers.append((self.tree.depth[before if taken.opened else node], taken.automatic))
        if markers:
            self.rows.markers[row] = tuple(markers)
        if low or high:
            self.rows.bands[row] = (low, high)


def _number(numbers: dict[Any, int], values: list[Any], value: Any) -> int:
    """Return the number of `value` in `values`, a new one the first time."""
    number = numbers.get(value)
    if number is None:
        number = numbers[value] = len(values)
        values.append(value)
    return number
