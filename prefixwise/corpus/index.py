"""Phase 1: requests in, rows and a prefix tree out. The cost grows with the unique text.

An item (a message, a tool, a system block) is recognised by its raw bytes; a pair (node, item) that was walked
before is one look-up. Only new items are decoded, rendered and tokenised.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import msgspec

from prefixwise.core.namespace import SHARED
from prefixwise.core.request import Part, Request, Turn
from prefixwise.core.usage import Usage
from prefixwise.corpus.call import Answer
from prefixwise.corpus.dialect import SHAPE_ERRORS, answer_ids, reply_turn
from prefixwise.corpus.families import Families
from prefixwise.corpus.items import HEAD_KINDS, HEAD_ROLES, Items, Vocabulary, turn_of
from prefixwise.corpus.joins import Joins, KnownCall
from prefixwise.corpus.layouts import Layouts
from prefixwise.corpus.outlines import Beside, Outlines
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.rows import NONE, Row, Rows, numbered
from prefixwise.corpus.taken import Head, Taken
from prefixwise.corpus.template_habits import habits_of
from prefixwise.corpus.tokenizer import ChooseTokenizer, Exactness, Tokenizer, provider_of
from prefixwise.corpus.tokenizers.ids import TokenIds
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.corpus.tree import TokenTree
from prefixwise.corpus.whole_prompts import Place

_RUN = 16384
_RUN_BYTES = 1 << 24
_NO_USAGE = Usage()


class CorpusIndex:
    """Grows rows and tree; call `finish` behind the last `add`.

    Args:
        choose_tokenizer: Finds the tokenizer of a model.
        outlines: Filled with the items of each request, where an analysis needs them.
        layouts: Filled with the blocks of each prompt, where an analysis needs them.
    """

    def __init__(
        self,
        choose_tokenizer: ChooseTokenizer = choose,
        outlines: Outlines | None = None,
        layouts: Layouts | None = None,
    ) -> None:
        self.tree = TokenTree()
        self.rows = Rows(self.tree)
        self.rows.layouts = layouts
        self.vocabularies: dict[str, Vocabulary] = {}
        self.tokenizers: dict[str, tuple[Exactness, str, str]] = {}
        """By model: how far its counts can be trusted, the tokenizer's name, and its note."""
        self._choose = choose_tokenizer
        self._models: dict[tuple[str, str], tuple[Vocabulary, int, int]] = {}
        self._framed: set[int] = set()
        self.outlines = outlines
        self._items = Items(self.tree, outlines, layouts)
        self._walked: dict[int, int] = {}
        self.families = Families()
        self._heads: dict[tuple[int, ...], Head] = {}
        self._namespaces = {SHARED: 0}
        self._param_sets: dict[tuple[tuple[str, bytes], ...], int] = {(): 0}
        self._control_sets: dict[tuple[tuple[str, bytes], ...], int] = {(): 0}
        self._taken: list[Taken] = []
        self._joins = Joins(self.rows)

    def fresh(self, outlines: Outlines | None = None) -> CorpusIndex:
        """Return an empty index that finds tokenizers as this one does."""
        return CorpusIndex(self._choose, outlines)

    def variant(self) -> CorpusIndex:
        """Return an index without rows, with this one's tree, items and names: it pays only for what is new to both."""
        other = copy.copy(self)
        other.rows = self.rows.emptied()
        other.outlines = None
        other._taken, other._joins = [], Joins(other.rows)
        return other

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
            ValueError: An item of it is not what its API says, or its chat template refuses it; it is left out.
            UserError: Its chat template cannot take bodies of its API.
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
        whole = vocabulary.whole_for(request.api)
        if whole.has_media if whole is not None else request.api != "completions":
            self._assume(request, model)
        place = None if whole is None else whole.place(request, items, tools, heads)
        key = (vocabulary.root, *items[:heads], NONE, *items[heads : heads or 1])
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = Head(tuple(items[:heads]), tools, self._new_family(request))
        reply = -1
        if request.has_reply and place is None:
            reply = self._reply(request.api, request.response, request.opens_reply, vocabulary)
        rest = items[heads:]
        if request.opens_reply:
            rest.append(vocabulary.opening)
        self._taken.append(
            Taken(
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
                place,
                () if place is None else self._whole_markers(request, vocabulary, items, place),
                request.id,
                request.marks,
                request.api,
                None if self.outlines is None else Beside.of(request, heads, len(items) - heads),
                request.controls,
            )
        )
        if len(self._taken) >= _RUN or self._items.bytes_queued > _RUN_BYTES:
            self.finish()

    def facts(self) -> tuple[str, ...]:
        """Return a sentence on each chat template and each tokenizer that bears on what a cache can share."""
        by_name: dict[str, list[str]] = {}
        for model, (_, name, _) in self.tokenizers.items():
            by_name.setdefault(name, []).append(model or "(no model)")
        found = []
        for name, models in by_name.items():
            vocabulary = self.vocabularies.get(name)
            if vocabulary is not None and isinstance(vocabulary.tokenizer, PromptTokenizer):
                found.extend(habits_of(vocabulary.tokenizer, models))
        if self._joins.unjoined:
            found.append(
                f"{self._joins.unjoined:,} answers were left alone: several calls have their ids, so nobody can say "
                "whose they are. Read one batch at a time."
            )
        return tuple(found)

    def _leading_heads(self, items: list[int]) -> int:
        is_head = self._items.is_head
        for count, item in enumerate(items):
            if not is_head[item]:
                return count
        return len(items)

    def _reply(self, api: str, response: bytes, opens_reply: bool, vocabulary: Vocabulary) -> int:
        """Return the item of the logged answer, -1 where the log holds none that can be read."""
        by_ids = isinstance(vocabulary.tokenizer, TokenIds)
        try:
            answer = msgspec.json.decode(response)
            turn = reply_turn(api, answer, opens_reply)
        except SHAPE_ERRORS:
            return -1
        if by_ids and (ids := answer_ids(answer)):
            turn = Turn(None, (Part("", ids=ids),))
        if turn is None or not turn.parts:
            return -1
        if by_ids and not turn.parts[0].ids:  # a text that continues ids has none
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
                continue
            made.append(row)
            if self.rows.layouts is not None:
                self.rows.layouts.add_row(taken, self._walked, self.tree)
            if self.outlines is not None and taken.beside is not None:
                rest = taken.rest[:-1] if taken.opened else taken.rest
                self.outlines.add_row(taken.head.items, rest, taken.reply, taken.beside)
        self.rows.extend(made)
        self._taken.clear()
        if self._joins.answers:
            self._joins.fill_in(self._answer)

    def _answer(self, call: KnownCall, response: bytes) -> int:
        """Return the node at which a known call's answer ends, -1 where it cannot be read."""
        if call.vocabulary.whole_for(call.api) is not None:  # its template would have to render the whole again
            return NONE
        reply = self._reply(call.api, response, call.opened, call.vocabulary)
        return self._step(self.rows.node[call.row], reply) if reply >= 0 else NONE

    def _row(self, number: int, taken: Taken) -> Row:
        """Walk one request and return its row, which will have this number."""
        head, rows, usage = taken.head, self.rows, taken.usage
        depth = self.tree.depth
        node, response, tools_end, system_end = taken.place or self._walk_items(taken)
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
            tools_end,
            system_end,
            taken.model,
            taken.provider,
            rows.tenants.number(taken.tenant),
            rows.sessions.number(taken.session),
            rows.replicas.number(taken.replica),
            0 if taken.namespace is SHARED else numbered(self._namespaces, rows.namespaces, taken.namespace),
            numbered(self._param_sets, rows.param_sets, taken.params),
            numbered(self._control_sets, rows.control_sets, taken.controls) if taken.controls else 0,
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

    def _walk_items(self, taken: Taken) -> Place:
        """Walk the items of a request and return where they lead."""
        head, depth = taken.head, self.tree.depth
        if head.node < 0:
            tools_end = self._walk(taken.vocabulary.root, head.items[: head.tools])
            head.tools_end = depth[tools_end]
            head.node = self._walk(tools_end, head.items[head.tools :])
        node = self._walk(head.node, taken.rest)
        response = self._step(node, taken.reply) if taken.reply >= 0 else NONE
        return Place(node, response, head.tools_end, depth[head.node])

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
        return found

    def _assume(self, request: Request, model: int) -> None:
        """Note that prompts of a model hold something that only an assumption says: framing, or tokens of media."""
        if model not in self._framed:
            self._framed.add(model)
            exactness, name, note = self.tokenizers[request.model]
            if exactness is Exactness.EXACT:
                self.tokenizers[request.model] = (Exactness.EXACT_TEXT, name, note)

    def _whole_markers(
        self, request: Request, vocabulary: Vocabulary, items: list[int], place: Place
    ) -> tuple[tuple[int, float], ...]:
        """Return (depth, TTL in seconds) of the cache markers of a prompt that was rendered whole."""
        special, whole = self._items.special, vocabulary.whole
        if whole is None or (request.automatic is None and special.keys().isdisjoint(items)):
            return ()
        found = []
        for count, item in enumerate(items, 1):
            for _, ttl in special[item].markers if item in special else ():
                found.append((whole.depth_behind(request, items[:count], place.node), ttl))
        if request.automatic is not None:
            found.append((whole.depth_behind(request, items, place.node), request.automatic))
        return tuple(found)

    def _vocabulary(self, tokenizer: Tokenizer) -> Vocabulary:
        vocabulary = self.vocabularies.get(tokenizer.name)
        if vocabulary is None:
            vocabulary = Vocabulary(tokenizer, self.tree)
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
        family = self.families.assign(texts)
        if family == len(self.rows.families):
            label = next((text for text in texts if text.strip()), "")
            self.rows.families.append(" ".join(label[:200].split()))
        return family

    def _add_special(self, row: int, taken: Taken) -> None:
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
                if taken.place is None:
                    markers.extend((self.tree.depth[node] + offset, ttl) for offset, ttl in found.markers)
                low += found.band[0]
                high += found.band[1]
            if taken.place is None:
                before, node = node, self._walked[node << 32 | item]
        if taken.place is not None:
            markers.extend(taken.markers)
        elif taken.automatic is not None:  # behind the last message, not behind the opening of the answer
            markers.append((self.tree.depth[before if taken.opened else node], taken.automatic))
        if markers:
            self.rows.markers[row] = tuple(markers)
        if low or high:
            self.rows.bands[row] = (low, high)
