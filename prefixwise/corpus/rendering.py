"""One request rendered in full: every stretch of it with its place in the body and its token ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import msgspec

from prefixwise.core.request import Part, Request, Turn
from prefixwise.corpus.items import turn_of
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.template import AssumedTemplate
from prefixwise.corpus.tokenizer import BYTES_PER_ID, ChooseTokenizer, Tokenizer, provider_of
from prefixwise.corpus.tokenizers.ids import TokenIds
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.corpus.tree import TokenTree
from prefixwise.corpus.whole_prompts import WholePrompts
from prefixwise.corpus.whole_rendering import whole_spans


class Stretch(msgspec.Struct, frozen=True):
    """A run of tokens of one origin, in cache order.

    Attributes:
        pointer: Where the value stands in the body; of framing, the item that it frames.
        kind: Kind of the section (`tools`, `system`, `messages`, …); `reply` for the opening of the answer, `template`
            for what a chat template put there.
        role: Role of the turn, empty for bare text.
        text: The value itself; empty for framing, media and ids.
        ids: Its token ids.
        start: Tokens before it.
        framing: Whether the template put it there.
        marker: Whether a cache marker stands at its end.
        is_json: Whether `text` is our compact JSON of a value that is no string.
    """

    pointer: str
    kind: str
    role: str
    text: str
    ids: bytes
    start: int
    framing: bool = False
    marker: bool = False
    is_json: bool = False

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        return len(self.ids) // BYTES_PER_ID

    @property
    def end(self) -> int:
        """Tokens up to and with it."""
        return self.start + self.tokens


class Rendered(msgspec.Struct, frozen=True):
    """A request as its stretches; their ids end to end are the prompt.

    `assumed` says whether something in it is an assumption: framing that is not the model's own, tokens of media.
    """

    request: Request
    tokenizer: Tokenizer
    stretches: tuple[Stretch, ...]
    assumed: bool

    @property
    def ids(self) -> bytes:
        """All token ids."""
        return b"".join(stretch.ids for stretch in self.stretches)

    @property
    def tokens(self) -> int:
        """How many tokens the prompt has."""
        return self.stretches[-1].end if self.stretches else 0


def tokenizer_of(request: Request, choose_tokenizer: ChooseTokenizer = choose) -> Tokenizer:
    """Return the tokenizer that counts for `request`."""
    if request.sections and request.sections[0].kind == "tokens":
        return TokenIds()
    return choose_tokenizer(provider_of(request.model, request.provider), request.model)


def render(request: Request, tokenizer: Tokenizer | None = None) -> Rendered:
    """Render `request` with `tokenizer`, by default its own model's.

    Raises:
        ValueError: An item of it is not what its API says, or its chat template refuses it.
        UserError: A chat template cannot take bodies of its API.
    """
    tokenizer = tokenizer or tokenizer_of(request)
    if isinstance(tokenizer, PromptTokenizer):
        whole = WholePrompts(tokenizer, TokenTree(), 0)
        if whole.renders(request.api):
            return Rendered(request, tokenizer, tuple(_whole_stretches(request, whole)), assumed=whole.has_media)
    template = AssumedTemplate(tokenizer)
    stretches: list[Stretch] = []
    at = 0
    for section in request.sections:
        for index, raw in enumerate(section.raw_items()):
            turn = turn_of(request.api, section.kind, raw)
            pointer = section.item_pointer(index)
            for stretch in _turn_stretches(template, turn, section.kind, pointer, at):
                stretches.append(stretch)
                at = stretch.end
    if request.opens_reply:
        stretches.append(Stretch("", "reply", "assistant", "", template.reply, at, framing=True))
    assumed = any(stretch.framing for stretch in stretches)
    return Rendered(request, tokenizer, tuple(stretches), assumed)


def _whole_stretches(request: Request, whole: WholePrompts) -> Iterator[Stretch]:
    at = 0
    for kind, pointer, role, part, ids in whole_spans(request, whole):
        yield Stretch(
            pointer,
            kind,
            role,
            "" if part is None else part.text,
            ids,
            at,
            framing=part is None,
            marker=part is not None and part.marker is not None,
            is_json=part is not None and part.is_json,
        )
        at += len(ids) // BYTES_PER_ID


def _turn_stretches(template: AssumedTemplate, turn: Turn, kind: str, pointer: str, at: int) -> list[Stretch]:
    found: list[Stretch] = []
    pieces = template.pieces(turn)
    index = 0
    while index < len(pieces):
        part_index = pieces[index].part
        run = [pieces[index]]
        while index + len(run) < len(pieces) and pieces[index + len(run)].part == part_index >= 0:
            run.append(pieces[index + len(run)])
        index += len(run)
        ids = b"".join(piece.ids or template.tokenizer.encode(piece.text) for piece in run)
        part = turn.parts[part_index] if part_index >= 0 else Part("")
        found.append(
            Stretch(
                pointer + part.pointer,
                kind,
                turn.role or "",
                part.text,
                ids,
                at,
                framing=part_index < 0,
                marker=part.marker is not None,
                is_json=part.is_json,
            )
        )
        at = found[-1].end
    return found


def unpack(ids: bytes) -> list[int]:
    """Return packed token ids as integers."""
    unpacked = array("I")
    unpacked.frombytes(ids)
    return list(unpacked)
