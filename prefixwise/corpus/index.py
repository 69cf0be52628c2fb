"""Phase 1: requests in, rows and a prefix tree out. The cost grows with the unique text.

An item (a message, a tool, a system block) is recognised by its raw bytes; a pair (node, item) that was walked
before is one look-up. Only new items are decoded, rendered and tokenised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED
from prefixwise.core.request import Request, Turn
from prefixwise.corpus.dialect import DIALECTS
from prefixwise.corpus.families import Families
from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.template import AssumedTemplate
from prefixwise.corpus.tokenizer import BYTES_PER_ID, Exactness, Tokenizer, provider_of
from prefixwise.corpus.tokenizers.ids import TokenIds
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.corpus.tree import TokenTree

_HEAD_KINDS = frozenset({"tools", "format", "system"})
_HEAD_ROLES = frozenset({"system", "developer"})

ChooseTokenizer = Callable[[str, str], Tokenizer]


class Vocabulary:
    """One tokenizer in use: its template, its root in the tree, its known items."""

    def __init__(self, tokenizer: Tokenizer, root: int) -> None:
        self.tokenizer = tokenizer
        self.template = AssumedTemplate(tokenizer)
        self.root = root
        self.items: dict[tuple[str, str], dict[bytes, int]] = {}
        self.lines: dict[str, int] = {}
        self.reply = -1


class _Special(msgspec.Struct, frozen=True):
    """What few items have: cache markers (offset in tokens, TTL in seconds) and media of unknown size."""

    markers: tuple[tuple[int, float], ...]
    band: tuple[int, int]


class CorpusIndex:
    """Grows rows and tree request by request.

    Args:
        choose_tokenizer: Finds the tokenizer of (provider, model).
    """

    def __init__(self, choose_tokenizer: ChooseTokenizer = choose) -> None:
        self.tree = TokenTree()
        self.rows = Rows(self.tree)
        self.vocabularies: dict[str, Vocabulary] = {}
        self.tokenizers: dict[str, tuple[Exactness, str, str]] = {}
        """By model: how far its counts can be trusted, the tokenizer's name, and its note."""
        self._choose = choose_tokenizer
        self._models: dict[tuple[str, str], tuple[Vocabulary, int, int]] = {}
        self._item_segments: list[tuple[int, ...]] = []
        self._is_head = bytearray()
        self._special: dict[int, _Special] = {}
        self._walked: dict[int, int] = {}
        self._families = Families()
        self._family_of_head: dict[int, int] = {}
        self._namespaces = {SHARED: 0}
        self._param_sets: dict[tuple[tuple[str, bytes], ...], int] = {(): 0}
        self._reply_ids: dict[str, bytes] = {}

    def add(self, request: Request) -> None:
        """Take in one request.

        Raises:
            ValueError: An item of it is not what its API says; the rows are as before.
        """
        vocabulary, model, provider = self._model(request)
        row = Row(model=model, provider=provider, start=request.start, end=request.end, ttft=request.ttft)
        node, head, special = self._walk_sections(request, vocabulary, row)
        if request.opens_reply:
            node = self._step(node, vocabulary.reply)
        row.node = node
        row.prompt_tokens = self.tree.depth[node]
        family = self._family_of_head.get(head)
        row.family = self._new_family(request, head) if family is None else family
        if request.response:
            self._add_reply(request, vocabulary, row)
        self._name(row, request)
        if special:
            self._add_special(special)
        self.rows.append(row)

    def _walk_sections(
        self, request: Request, vocabulary: Vocabulary, row: Row
    ) -> tuple[int, int, list[tuple[int, _Special]]]:
        """Walk all items; return the node at the end, the node at the end of the head, and special items."""
        walked, is_head, depth, special = self._walked, self._is_head, self.tree.depth, self._special
        found: list[tuple[int, _Special]] = []
        node = head = root = vocabulary.root
        in_head = True
        for section in request.sections:
            memo = vocabulary.items.get((request.api, section.kind))
            if memo is None:
                memo = vocabulary.items[request.api, section.kind] = {}
            for raw in section.items:
                key = bytes(raw)
                item = memo.get(key)
                if item is None:
                    item = memo[key] = self._new_item(vocabulary, request.api, section.kind, key)
                if special and item in special:
                    found.append((depth[node], special[item]))
                after = walked.get(node << 32 | item)
                node = self._step(node, item) if after is None else after
                if in_head:
                    in_head = bool(is_head[item])
                    if in_head or head == root:
                        head = node
                    if in_head:
                        row.system_end = depth[node]
            if section.kind == "tools":
                row.tools_end = depth[node]
        return node, head, found

    def _step(self, node: int, item: int) -> int:
        """Return the node that `item` leads to from `node`, and remember it."""
        key = node << 32 | item
        after = self._walked.get(key)
        if after is None:
            segments = self._item_segments[item]
            if len(segments) == 1:
                after = self.tree.insert(node, segments[0])
            else:
                after = node
                for segment in segments:
                    after = self.tree.walk(after, segment)
            self._walked[key] = after
        return after

    def _new_item(self, vocabulary: Vocabulary, api: str, kind: str, key: bytes) -> int:
        turn = self._turn(api, kind, key)
        segments, special = self._render(vocabulary, turn)
        item = len(self._item_segments)
        self._item_segments.append(segments)
        self._is_head.append(kind in _HEAD_KINDS or turn.role in _HEAD_ROLES)
        if special is not None:
            self._special[item] = special
        return item

    def _turn(self, api: str, kind: str, key: bytes) -> Turn:
        try:
            return DIALECTS.get(api).turn(kind, msgspec.json.decode(key))
        except RecursionError:
            raise ValueError("nested too deeply") from None

    def _render(self, vocabulary: Vocabulary, turn: Turn) -> tuple[tuple[int, ...], _Special | None]:
        """Return the segments of a turn; short pieces are joined into one, cut lines stay shared."""
        segments: list[int] = []
        markers: list[tuple[int, float]] = []
        pending = bytearray()
        tokens = 0
        pieces = vocabulary.template.pieces(turn)
        for index, piece in enumerate(pieces):
            last_of_part = piece.part >= 0 and (index + 1 == len(pieces) or pieces[index + 1].part != piece.part)
            if piece.cut:
                if pending:
                    segments.append(self.tree.add_segment(bytes(pending)))
                    pending.clear()
                segment = self._line_segment(vocabulary, piece.text)
                segments.append(segment)
                tokens += len(self.tree.segments[segment]) // BYTES_PER_ID
            else:
                ids = piece.ids or self._encode(vocabulary, piece.text)
                pending += ids
                tokens += len(ids) // BYTES_PER_ID
            if last_of_part and (marker := turn.parts[piece.part].marker) is not None:
                markers.append((tokens, marker))
        if pending:
            segments.append(self.tree.add_segment(bytes(pending)))
        low, high = _band(turn)
        special = _Special(tuple(markers), (low, high)) if markers or low or high else None
        return tuple(segments), special

    def _line_segment(self, vocabulary: Vocabulary, text: str) -> int:
        segment = vocabulary.lines.get(text)
        if segment is None:
            segment = vocabulary.lines[text] = self.tree.add_segment(vocabulary.tokenizer.encode(text))
        return segment

    def _encode(self, vocabulary: Vocabulary, text: str) -> bytes:
        """Encode a text; that of a logged answer is encoded when the answer is read and comes again once."""
        ids = self._reply_ids.pop(text, None) if self._reply_ids else None
        return vocabulary.tokenizer.encode(text) if ids is None else ids

    def _model(self, request: Request) -> tuple[Vocabulary, int, int]:
        """Return (vocabulary, number of the model, number of the provider)."""
        given_as_ids = bool(request.sections) and request.sections[0].kind == "tokens"
        key = ("token ids" if given_as_ids else request.provider, request.model)
        found = self._models.get(key)
        if found is None:
            provider = provider_of(request.model, request.provider)
            tokenizer = TokenIds() if given_as_ids else self._choose(provider, request.model)
            found = (
                self._vocabulary(tokenizer),
                self.rows.models.number(request.model),
                self.rows.providers.number(provider),
            )
            bare = all(section.kind in ("prompt", "tokens") for section in request.sections)
            exact = Exactness.EXACT if bare else Exactness.EXACT_TEXT
            self.tokenizers[request.model] = (
                exact if tokenizer.exact else Exactness.ESTIMATED,
                tokenizer.name,
                tokenizer.note,
            )
            self._models[key] = found
        return found

    def _vocabulary(self, tokenizer: Tokenizer) -> Vocabulary:
        vocabulary = self.vocabularies.get(tokenizer.name)
        if vocabulary is None:
            vocabulary = Vocabulary(tokenizer, self.tree.add_root())
            self.vocabularies[tokenizer.name] = vocabulary
            vocabulary.reply = len(self._item_segments)
            self._item_segments.append((self.tree.add_segment(vocabulary.template.reply),))
            self._is_head.append(False)
        return vocabulary

    def _new_family(self, request: Request, head: int) -> int:
        """Return the family of a head that was not met before; -1 for bare ids, which have no text."""
        texts: list[str] = []
        for section in request.sections:
            for raw in section.items:
                if section.kind == "tokens":
                    return NONE
                turn = self._turn(request.api, section.kind, bytes(raw))
                in_head = section.kind in _HEAD_KINDS or turn.role in _HEAD_ROLES
                if in_head or not texts:
                    texts.extend(part.text for part in turn.parts)
                if not in_head:
                    break
        family = self._families.assign(texts)
        if family == len(self.rows.families):
            self.rows.families.number(f"{family}: {' '.join(self._families.heads[family][:200].split())}")
        self._family_of_head[head] = family
        return family

    def _add_reply(self, request: Request, vocabulary: Vocabulary, row: Row) -> None:
        """Continue the tree by the answer, as far as it has KV."""
        try:
            turn = DIALECTS.get(request.api).reply(msgspec.json.decode(request.response))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return
        if turn is None:
            return
        pieces = vocabulary.template.pieces(turn)
        ids = bytearray()
        for piece in pieces[1:-1] if turn.role is not None else pieces:
            text_ids = piece.ids or vocabulary.tokenizer.encode(piece.text)
            ids += text_ids
        if len(turn.parts) == 1 and turn.parts[0].text:
            self._reply_ids[turn.parts[0].text] = bytes(ids)
        if turn.role is None:  # no end token was sampled after the text, so its own last token has no KV
            del ids[-BYTES_PER_ID:]
        if ids:
            row.response_node = self.tree.insert(row.node, self.tree.add_segment(bytes(ids)))
            row.output = len(ids) // BYTES_PER_ID

    def _name(self, row: Row, request: Request) -> None:
        """Fill in where the record stands, who sent it, and what its usage says."""
        rows = self.rows
        row.file, row.record, row.line = rows.files.number(request.path), request.record, request.line
        row.tenant = rows.tenants.number(request.tenant)
        row.session = rows.sessions.number(request.session)
        row.replica = rows.replicas.number(request.replica)
        if request.namespace is not SHARED:
            row.namespace = self._number(self._namespaces, rows.namespaces, request.namespace)
        if request.params:
            row.params = self._number(self._param_sets, rows.param_sets, request.params)
        usage = request.usage
        if usage is not None:
            row.reported_prompt = NONE if usage.prompt_tokens is None else usage.prompt_tokens
            row.cached = NONE if usage.cached_tokens is None else usage.cached_tokens
            row.written = NONE if usage.cache_write_tokens is None else usage.cache_write_tokens
            row.reported_output = NONE if usage.output_tokens is None else usage.output_tokens

    @staticmethod
    def _number(numbers: dict[Any, int], values: list[Any], value: Any) -> int:
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = len(values)
            values.append(value)
        return number

    def _add_special(self, found: list[tuple[int, _Special]]) -> None:
        """Note markers and media bands of the row that is about to be appended."""
        row = len(self.rows)
        markers = tuple((at + offset, ttl) for at, special in found for offset, ttl in special.markers)
        if markers:
            self.rows.markers[row] = markers
        low = sum(special.band[0] for _, special in found)
        high = sum(special.band[1] for _, special in found)
        if low or high:
            self.rows.bands[row] = (low, high)


def _band(turn: Turn) -> tuple[int, int]:
    """Return how many tokens fewer and more the media of unknown size in `turn` may take than counted."""
    low = high = 0
    for part in turn.parts:
        if part.media and part.tokens[0] != part.tokens[1]:
            middle = max(1, sum(part.tokens) // 2)
            low += middle - part.tokens[0]
            high += part.tokens[1] - middle
    return low, high
