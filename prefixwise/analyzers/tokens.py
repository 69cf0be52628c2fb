"""What a prompt is made of: every stretch of it, its tokens, and the blocks it falls into."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.report import Block, Cell, Column, InputFile, Report, Table, Unit
from prefixwise.core.request import Request
from prefixwise.corpus.rendering import Rendered, Stretch, render, unpack
from prefixwise.corpus.texts import readable
from prefixwise.corpus.tokenizer import Exactness

_MOST_REQUESTS = 200


def tokens_report(
    requests: Sequence[Request],
    file: InputFile,
    block: int,
    show_blocks: bool = False,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Report:
    """Return the report of one request's segments, or of the sizes of several.

    Raises:
        ValueError: An item of a request is not what its API says.
    """
    if len(requests) == 1:
        rendered = render(requests[0])
        blocks: list[Block] = [_segments(rendered, block, excerpts)]
        if show_blocks:
            blocks.append(_blocks(rendered, block, excerpts))
        values = _values(rendered, block)
    else:
        blocks = [_sizes(requests)]
        values = {"requests": len(requests)}
    return Report(
        schema="prefixwise/tokens",
        schema_version=1,
        command="tokens",
        title=f"Tokens of {file.path}",
        blocks=tuple(blocks),
        values=values,
        inputs=(file,),
        notes=() if len(requests) == 1 else ("Name one request as FILE#N to see its segments.",),
    )


def _exactness(rendered: Rendered) -> Exactness:
    if not rendered.tokenizer.exact:
        return Exactness.ESTIMATED
    return Exactness.EXACT_TEXT if any(stretch.framing for stretch in rendered.stretches) else Exactness.EXACT


def _segments(rendered: Rendered, block: int, excerpts: Excerpts) -> Table:
    columns = (
        Column("field", "field"),
        Column("role", "role"),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("start", "from", Unit.TOKENS),
        Column("end", "to", Unit.TOKENS),
        Column("blocks", f"blocks of {block}"),
        Column("past_boundary", "past boundary", Unit.TOKENS),
        Column("marker", "marker"),
        Column("text", "text"),
    )
    rows = tuple(_row(stretch, block, excerpts) for stretch in rendered.stretches if not stretch.framing)
    framing = sum(stretch.tokens for stretch in rendered.stretches if stretch.framing)
    whole, rest = divmod(rendered.tokens, block)
    note = (
        f"{rendered.tokens:,} tokens ({rendered.tokenizer.name}, {_exactness(rendered)}), {framing:,} of them the "
        f"template's, between the segments: {whole:,} whole blocks of {block} and {rest} tokens. Past boundary: "
        "tokens at the end that share their block with what follows."
    )
    return Table("segments", "Segments in cache order", columns, rows, note)


def _row(stretch: Stretch, block: int, excerpts: Excerpts) -> tuple[Cell, ...]:
    first, last = stretch.start // block, max(stretch.start, stretch.end - 1) // block
    return (
        stretch.pointer or "(whole prompt)",
        stretch.role or stretch.kind,
        stretch.tokens,
        stretch.start,
        stretch.end,
        str(first) if first == last else f"{first}-{last}",
        stretch.end % block,
        "marker" if stretch.marker else None,
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


def _sizes(requests: Sequence[Request]) -> Table:
    columns: tuple[Column, ...] = (
        Column("request", "request"),
        Column("model", "model"),
        Column("items", "items", Unit.COUNT),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("problem", "broken"),
    )
    rows: list[tuple[Cell, ...]] = []
    for request in requests[:_MOST_REQUESTS]:
        try:
            tokens: int | None = render(request).tokens
            problem = None
        except ValueError as reason:
            tokens, problem = None, str(reason)
        items = sum(len(section.raw_items()) for section in request.sections) if problem is None else None
        rows.append((f"#{request.record}", request.model or None, items, tokens, problem))
    left = len(requests) - _MOST_REQUESTS
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table("requests", "Requests", columns, tuple(rows), f"{left:,} more." if left > 0 else "")


def _values(rendered: Rendered, block: int) -> dict[str, object]:
    return {
        "model": rendered.request.model,
        "tokenizer": rendered.tokenizer.name,
        "exactness": _exactness(rendered).value,
        "note": rendered.tokenizer.note,
        "tokens": rendered.tokens,
        "block": block,
        "whole_blocks": rendered.tokens // block,
        "segments": [
            {
                "field": None if s.framing else s.pointer,
                "kind": s.kind,
                "role": s.role,
                "tokens": s.tokens,
                "start": s.start,
                "end": s.end,
                "marker": s.marker,
            }
            for s in rendered.stretches
        ],
    }
