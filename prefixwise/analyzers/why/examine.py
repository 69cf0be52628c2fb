"""One request of a linted log, held against the earlier one that should have served it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.diff import Difference, difference
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.why.document import Part, Setting
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.finding import Verdict
from prefixwise.core.request import Ref, Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.items import HEAD_ROLES
from prefixwise.corpus.rendering import Stretch, render, tokenizer_of
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tokenizer import ChooseTokenizer
from prefixwise.corpus.tokenizers.openai import choose

_AREAS = {"reply": "messages", "tokens": "prompt"}


class Examined(msgspec.Struct, frozen=True):
    """A request and what it was held against.

    Attributes:
        row: Its row; `before`: of the earlier request, None where there is none to compare with.
        relation: `conversation`, `application`, `prefix` or `none`.
        pair: What lint made of the two; None where it did not compare them.
        verdict: How the texts stand to each other.
        request, earlier: Both requests.
        difference: Of the two rendered prompts; None without an earlier one, or where one is text and one token ids.
        parts: What survived, by area.
        settings: What differs beside the text.
        nearest: Row of another earlier request that shares more of its beginning, None where there is none.
    """

    row: int
    before: int | None
    relation: str
    pair: Compared | None
    verdict: Verdict | None
    request: Request
    earlier: Request | None
    difference: Difference | None
    parts: tuple[Part, ...]
    settings: tuple[Setting, ...]
    nearest: int | None


def examine(
    linted: Linted,
    row: int,
    again: Again,
    choose_tokenizer: ChooseTokenizer = choose,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Examined:
    """Look at one request in full.

    Args:
        linted: The log.
        row: The request.
        again: Reads the log once more: the texts of two requests are needed.
        choose_tokenizer: As the log was counted.
        excerpts: How much of the values of parameters and names may be shown.

    Raises:
        UserError: Its chat template cannot take it.
    """
    log = linted.log
    pair = next((pair for pair in linted.pairs if pair.after == row), None)
    partner = log.sharing.partner[row]
    before = pair.before if pair is not None else partner if partner >= 0 else None
    found = requests_of(again, [row] if before is None else [before, row])
    request, earlier = found[row], None if before is None else found[before]
    parted = _difference(earlier, request, choose_tokenizer)
    kept = 0 if parted is None else parted.kept_tokens
    relation = (
        "none" if before is None else "prefix" if pair is None else "conversation" if pair.turn else "application"
    )
    nearer = pair is not None and partner not in (-1, before) and log.sharing.shared[row] > max(kept, pair.kept)
    return Examined(
        row=row,
        before=before,
        relation=relation,
        pair=pair,
        verdict=_verdict(linted, row, pair),
        request=request,
        earlier=earlier,
        difference=parted,
        parts=tuple(_parts(request, earlier, kept, choose_tokenizer)),
        settings=() if before is None else tuple(_settings(linted, before, row, excerpts)),
        nearest=partner if nearer else None,
    )


def row_of(linted: Linted, path: str, record: int) -> int:
    """Return the row of a record; the path may be empty where one file is read.

    Raises:
        UserError: The log has no request there.
    """
    log = linted.log
    rows, inputs = log.rows, log.corpus.inputs
    if not path and len(inputs) > 1:
        raise UserError("several files are read", f"#{record}", f"name the request as FILE#{record}")
    path = path or inputs[0].path
    address = f"{path}#{record}"
    file = next((file for file in inputs if file.path == path), None)
    if file is None:
        files = ", ".join(file.path for file in inputs[:3])
        raise UserError("the request is of no file that was read", address, f"read: {files}")
    for row in range(len(rows)):
        if rows.record[row] == record and rows.files[rows.file[row]] == path:
            return row
    broken = next((found for found in log.corpus.broken if (found.path, found.record) == (path, record)), None)
    if broken is not None:
        raise UserError(f"the record is broken: {broken.reason}", address)
    if record >= file.records:
        raise UserError(f"there is no record {record}; the file has {file.records}, counted from 0", address)
    raise UserError("there is no request: the record was left out, or told of a call that another one holds", address)


def requests_of(again: Again, rows: Sequence[int]) -> dict[int, Request]:
    """Return the requests of some rows, read anew. Raises UserError where the input has changed meanwhile."""
    found: dict[int, Request] = {}
    for row, request in again():
        if row in rows:
            found[row] = request
            if len(found) == len(set(rows)):
                return found
    raise UserError("the input has changed while it was read", help="run the command again")


def _difference(earlier: Request | None, request: Request, choose_tokenizer: ChooseTokenizer) -> Difference | None:
    if earlier is None:
        return None
    try:
        return difference(earlier, request, choose_tokenizer)
    except ValueError:  # text against token ids
        return None


def _verdict(linted: Linted, row: int, pair: Compared | None) -> Verdict | None:
    if pair is None:
        return None
    after = linted.log.rows.ref(row)
    return next((told.verdict for told in linted.values.pairs if told.after == after), pair.verdict)


def _parts(request: Request, earlier: Request | None, kept: int, choose_tokenizer: ChooseTokenizer) -> Iterator[Part]:
    tokenizer = tokenizer_of(earlier or request, choose_tokenizer)
    totals: dict[str, int] = {}
    survived: dict[str, int] = {}
    head = True
    for stretch in render(request, tokenizer).stretches:
        head = head and (stretch.kind != "messages" or stretch.role in HEAD_ROLES)
        area = _area(stretch, head=head)
        totals[area] = totals.get(area, 0) + stretch.tokens
        survived[area] = survived.get(area, 0) + max(0, min(stretch.end, kept) - stretch.start)
    for area, total in totals.items():
        yield Part(area, total, survived[area])


def _area(stretch: Stretch, *, head: bool) -> str:
    if stretch.kind == "messages" and head:
        return "system"
    return _AREAS.get(stretch.kind, stretch.kind)


def _settings(linted: Linted, before: int, after: int, excerpts: Excerpts) -> Iterator[Setting]:
    """Yield what differs beside the text, the values as excerpts: keys and names are a tenant's too."""
    for kind, name, one, other in _all_settings(linted, before, after):
        if one != other:
            shown = [None if value is None else excerpt(value, excerpts) for value in (one, other)]
            yield Setting(kind, name, shown[0], shown[1])


def _all_settings(linted: Linted, before: int, after: int) -> Iterator[tuple[str, str, str | None, str | None]]:
    rows = linted.log.rows
    yield "model", "model", _named(rows, "model", before), _named(rows, "model", after)
    one, other = (dict(rows.param_sets[rows.param_set[row]]) for row in (before, after))
    for name in sorted(one.keys() | other.keys()):
        yield "parameter", name, _json(one.get(name)), _json(other.get(name))
    spaces = [rows.namespaces[rows.namespace[row]] for row in (before, after)]
    for name in spaces[0].__struct_fields__:
        yield "namespace", name, getattr(spaces[0], name), getattr(spaces[1], name)
    for kind in ("provider", "tenant", "replica"):
        yield kind, kind, _named(rows, kind, before), _named(rows, kind, after)
    seen = [linted.log.of(row) for row in (before, after)]
    for kind, pairs in (("header", [s.headers for s in seen]), ("route", [s.route for s in seen])):
        values = [dict(pair) for pair in pairs]
        for name in sorted(values[0].keys() | values[1].keys()):
            yield kind, name, values[0].get(name), values[1].get(name)


def _named(rows: Rows, kind: str, row: int) -> str | None:
    column, names = rows.group(kind)
    return names[column[row]] or None


def _json(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def ref_of(linted: Linted, row: int | None) -> Ref | None:
    """Return where a row's record stands."""
    return None if row is None else linted.log.rows.ref(row)
