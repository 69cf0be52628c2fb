"""What a prompt is made of: every stretch of it, its tokens, and the blocks it falls into."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.core.envelope import DocumentKind
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.report import Block, Cell, Column, InputFile, Report, Table, Unit
from prefixwise.core.request import Request
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.rendering import Rendered, Stretch, render, tokenizer_of, unpack
from prefixwise.corpus.template_habits import habits_of
from prefixwise.corpus.texts import readable
from prefixwise.corpus.tokenizer import ChooseTokenizer, Exactness
from prefixwise.corpus.tokenizers.openai import choose

_MOST_REQUESTS = 200


class SegmentTokens(msgspec.Struct, frozen=True):
    """One segment: `field` is None for the template's framing; `start` and `end` in tokens, end-exclusive."""

    field: str | None
    kind: str
    role: str
    tokens: int
    start: int
    end: int
    marker: bool


class PromptTokens(msgspec.Struct, frozen=True, tag="prompt", tag_field="of"):
    """The values of the report of one request."""

    model: str
    tokenizer: str
    exactness: Exactness
    note: str
    tokens: int
    block: int
    whole_blocks: int
    segments: tuple[SegmentTokens, ...]


class RequestTokens(msgspec.Struct, frozen=True):
    """The size of one request of a log; `problem` says why it has none."""

    record: int
    model: str
    items: int | None
    tokens: int | None
    problem: str | None = None


class LogTokens(msgspec.Struct, frozen=True, tag="log", tag_field="of"):
    """The values of the report of a log."""

    requests: tuple[RequestTokens, ...]


TOKENS = DocumentKind("prefixwise/tokens", 1, "a prompt's segments, or the sizes of a log", PromptTokens | LogTokens)


def tokens_report(
    requests: Sequence[Request],
    file: InputFile,
    block: int,
    show_blocks: bool = False,
    excerpts: Excerpts = Excerpts.MASKED,
    choose_tokenizer: ChooseTokenizer = choose,
) -> Report:
    """Return the report of one request's segments, or of the sizes of several.

    Args:
        requests: One or several.
        file: Where they were read.
        block: Tokens in a block.
        show_blocks: Whether every block of the one request is listed.
        excerpts: How much prompt text the report may hold.
        choose_tokenizer: Finds the tokenizer of a model.

    Raises:
        ValueError: An item of the one request is not what its API says, or its chat template refuses it.
        UserError: A chat template cannot take bodies of an API.
    """
    values: PromptTokens | LogTokens
    if len(requests) == 1:
        rendered = render(requests[0], tokenizer_of(requests[0], choose_tokenizer))
        blocks: list[Block] = [_segments(rendered, block, excerpts)]
        if show_blocks:
            blocks.append(_blocks(rendered, block, excerpts))
        values = _values(rendered, block)
    else:
        values = LogTokens(tuple(_size(request, choose_tokenizer) for request in requests))
        blocks = [_sizes(values.requests)]
    return Report(
        schema=TOKENS.schema,
        schema_version=TOKENS.version,
        command="tokens",
        title=_title(values, file.path),
        blocks=tuple(blocks),
        values=values,
        inputs=(file,),
        notes=_notes(requests, choose_tokenizer),
    )


def _title(values: PromptTokens | LogTokens, path: str) -> str:
    if isinstance(values, LogTokens):
        return f"Tokens of {path}"
    return f"{path}: {values.tokens:,} token{'' if values.tokens == 1 else 's'}, {_counted_how(values)}"


def _counted_how(values: PromptTokens) -> str:
    """Return how the tokens were counted, in words."""
    name = values.tokenizer.removeprefix("estimate:")
    match values.exactness:
        case Exactness.EXACT:
            return f"counted with {name}"
        case Exactness.EXACT_TEXT:
            return f"counted with {name}; what the provider puts between the messages is assumed"
        case Exactness.ESTIMATED:
            return f"an estimate: {values.note}"


def _notes(requests: Sequence[Request], choose_tokenizer: ChooseTokenizer) -> tuple[str, ...]:
    notes = [] if len(requests) == 1 else ["Name one request as FILE#N to see its segments."]
    models: dict[str, list[str]] = {}
    tokenizers = {}
    for request in requests:
        tokenizer = tokenizer_of(request, choose_tokenizer)
        if isinstance(tokenizer, PromptTokenizer):
            tokenizers[tokenizer.name] = tokenizer
            models.setdefault(tokenizer.name, []).append(request.model or "(no model)")
    for name, tokenizer in tokenizers.items():
        notes.extend(habits_of(tokenizer, list(dict.fromkeys(models[name]))))
    return tuple(notes)


def _exactness(rendered: Rendered) -> Exactness:
    if not rendered.tokenizer.exact:
        return Exactness.ESTIMATED
    return Exactness.EXACT_TEXT if rendered.assumed else Exactness.EXACT


def _segments(rendered: Rendered, block: int, excerpts: Excerpts) -> Table:
    columns = [
        Column("field", "field"),
        Column("role", "role"),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("end", "total so far", Unit.TOKENS),
        Column("blocks", f"blocks of {block}"),
        Column("past_boundary", "left open", Unit.TOKENS),
        Column("text", "text"),
    ]
    shown = [stretch for stretch in rendered.stretches if not stretch.framing]
    rows = [_row(stretch, block, excerpts) for stretch in shown]
    if any(stretch.marker for stretch in shown):
        columns.append(Column("marker", "marker"))
        rows = [(*row, "ends here" if s.marker else None) for row, s in zip(rows, shown, strict=True)]
    framing = rendered.tokens - sum(stretch.tokens for stretch in shown)
    whole, rest = divmod(rendered.tokens, block)
    marks = f"Between the segments stand {framing:,} tokens that mark roles and turns. " if framing else ""
    note = (
        f"A cache that keeps blocks of {block} tokens can keep {whole:,} of them; the last {rest} tokens fill none and "
        f"are computed anew each time. {marks}Blocks of {block}: those that a segment lies in, counted from 0. Left "
        "open: its tokens at the end of a block that it does not fill; a change in the next segment takes them along."
    )
    return Table("segments", "Segments, in the order in which a cache compares them", tuple(columns), tuple(rows), note)


def _row(stretch: Stretch, block: int, excerpts: Excerpts) -> tuple[Cell, ...]:
    first, last = stretch.start // block, max(stretch.start, stretch.end - 1) // block
    return (
        stretch.pointer or "(whole prompt)",
        stretch.role or stretch.kind,
        stretch.tokens,
        stretch.end,
        str(first) if first == last else f"{first}-{last}",
        stretch.end % block,
        excerpt(stretch.text, excerpts),
    )


def _blocks(rendered: Rendered, block: int, excerpts: Excerpts) -> Table:
    columns = (
        Column("block", "block", Unit.COUNT),
        Column("start", "from", Unit.TOKENS),
        Column("end", "to", Unit.TOKENS),
        Column("text", "text"),
    )
    ids = unpack(rendered.ids)
    rows = []
    for start in range(0, len(ids), block):
        end = min(start + block, len(ids))
        text = readable(rendered.tokenizer, ids[start:end])
        rows.append((start // block, start, end, excerpt(text, excerpts)))
    note = "The last block is not full and is never shared." if len(ids) % block else ""
    return Table("blocks", f"Blocks of {block} tokens", columns, tuple(rows), note)


def _size(request: Request, choose_tokenizer: ChooseTokenizer) -> RequestTokens:
    try:
        items = sum(len(section.raw_items()) for section in request.sections)
        tokens = render(request, tokenizer_of(request, choose_tokenizer)).tokens
        return RequestTokens(request.record, request.model, items, tokens)
    except ValueError as problem:
        return RequestTokens(request.record, request.model, None, None, str(problem))


def _sizes(sizes: Sequence[RequestTokens]) -> Table:
    columns: tuple[Column, ...] = (
        Column("request", "request"),
        Column("model", "model"),
        Column("items", "items", Unit.COUNT),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("problem", "broken"),
    )
    rows: list[tuple[Cell, ...]] = [
        (f"#{size.record}", size.model or None, size.items, size.tokens, size.problem)
        for size in sizes[:_MOST_REQUESTS]
    ]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    left = len(sizes) - _MOST_REQUESTS
    note = f"{left:,} more are in the JSON." if left > 0 else ""
    return Table("requests", "Requests", columns, tuple(rows), note)


def _values(rendered: Rendered, block: int) -> PromptTokens:
    return PromptTokens(
        rendered.request.model,
        rendered.tokenizer.name,
        _exactness(rendered),
        rendered.tokenizer.note,
        rendered.tokens,
        block,
        rendered.tokens // block,
        tuple(
            SegmentTokens(None if s.framing else s.pointer, s.kind, s.role, s.tokens, s.start, s.end, s.marker)
            for s in rendered.stretches
        ),
    )
