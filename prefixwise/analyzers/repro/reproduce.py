"""From a finding about one request to the smallest pair without its words that still shows it."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.repro.deltas import Probes
from prefixwise.analyzers.repro.oracle import Oracle, Target, shown_in
from prefixwise.analyzers.repro.pseudonyms import KEY_BYTES
from prefixwise.analyzers.repro.samples import Sample, original, sample
from prefixwise.analyzers.repro.shrinking import Pair, shrunk
from prefixwise.analyzers.repro.wording import Reworded, reworded
from prefixwise.analyzers.why.about import findings_about
from prefixwise.analyzers.why.document import Expected
from prefixwise.analyzers.why.examine import requests_of
from prefixwise.caches.policy import Policy
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding, Level
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.tokenizer import ChooseTokenizer

_THREAD = 6
"""Earlier requests of a conversation that are taken along where a pair alone does not show a finding."""
_PLACES = 4
"""Places of a finding whose requests are taken along then."""
_CROWD = 12
"""Requests of the same model that are taken along at last."""
_SHRINKING, _WORDING = 1_500, 600


class Repro(msgspec.Struct, frozen=True):
    """The smallest pair that still misses.

    Attributes:
        rule, where, field, char_offset: What lint says of it, and where.
        api, model: Whose bodies they are.
        shows: Whether lint still says it after the words were taken out.
        kept: Words and numbers that had to stay.
        lines: Of a log that shows it; `before` and `after` are the numbers of the pair in it.
        bodies: The two request bodies, as JSON.
        tokens: Prompt tokens of the pair; `were`: before it was made smaller.
        alike: Tokens that both prompts begin with.
        expected: Cached tokens of the later one, by rule.
        usage: `none`, `as reported`, or `recounted` in proportion to the smaller prompts.
        gap: Seconds between the two, where it takes them to see it.
    """

    rule: str
    where: str
    field: str | None
    char_offset: int | None
    api: str
    model: str
    shows: bool
    kept: tuple[str, ...]
    lines: tuple[bytes, ...]
    before: int
    after: int
    bodies: tuple[bytes, bytes]
    tokens: tuple[int, int]
    were: tuple[int, int]
    alike: int
    expected: tuple[Expected, ...]
    usage: str
    gap: float | None


class Source(msgspec.Struct, frozen=True):
    """The log that a pair is taken from, and how it was read."""

    linted: Linted
    again: Again
    choose: ChooseTokenizer
    options: ReadOptions


def words_key(seed: int | None = None) -> bytes:
    """Return the key of the mapping from words to words: one that nobody knows, or that of a seed."""
    if seed is None:
        return secrets.token_bytes(KEY_BYTES)
    return hashlib.blake2b(str(seed).encode(), digest_size=KEY_BYTES).digest()


def reproduce(source: Source, row: int, policies: Sequence[Policy], key: bytes) -> Repro:
    """Return the smallest pair that shows the costliest finding about a request.

    Args:
        source: The log.
        row: The request.
        policies: Rules of caches to say what they should serve.
        key: What the words that stand in for others are made from.

    Raises:
        UserError: Nothing was found about the request, or it does not show outside its log.
    """
    linted = source.linted
    finding, claim = _costliest(linted, row)
    before = _before(linted, claim)
    target = Target(claim.rule, claim.where, finding.level is Level.INFO, "", claim.before is not None)
    pair, target, oracle = _first_that_shows(source, target, finding, before, row)
    small = shrunk(pair, target, oracle, Probes(_SHRINKING))
    told = reworded(small, _claim_in(oracle, small, target) or claim, target, oracle, key, Probes(_WORDING))
    if not told.shows:  # what was cut away may be what lint knows the value by, where its words are gone
        whole = reworded(pair, claim, target, oracle, key, Probes(_WORDING))
        if whole.shows:
            told = Reworded(shrunk(whole.pair, target, oracle, Probes(_SHRINKING)), whole.kept, shows=True)
    rows = linted.log.rows
    were = (rows.prompt_tokens[row if before is None else before], rows.prompt_tokens[row])
    return _told(told.pair, target, oracle, policies, told.kept, were, shows=told.shows)


def _costliest(linted: Linted, row: int) -> tuple[Finding, Claim]:
    found = findings_about(linted, row)
    if not found:
        raise UserError("nothing was found about the request, so there is nothing to reproduce", _ref(linted, row))
    claim = next(claim for claim in linted.claims if claim.after == row and claim.rule == found[0].rule)
    return found[0], claim


def _before(linted: Linted, claim: Claim) -> int | None:
    link = linted.log.conversations.links[claim.after]
    return claim.before if claim.before is not None else link.before if link is not None else None


def _first_that_shows(
    source: Source, target: Target, finding: Finding, before: int | None, row: int
) -> tuple[Pair, Target, Oracle]:
    """Return the fewest records in the plainest shape that show the target, and who says so."""
    linted = source.linted
    book = linted.log.book
    for rows in _row_sets(linted, finding, before, row):
        requests = requests_of(source.again, rows)
        target = msgspec.structs.replace(target, api=requests[row].api)
        for shape, options in ((_own, ReadOptions()), (_as_read, source.options)):
            samples = shape([requests[number] for number in rows])
            if samples is None:
                continue
            oracle = Oracle(source.choose, book, options)
            pair = Pair(tuple(samples), rows.index(row if before is None else before), rows.index(row))
            if pair.shows(oracle, target):
                return pair, target, oracle
    raise UserError(
        f"{target.rule} does not show in this request and a few around it alone",
        _ref(linted, row),
        "it takes more of the log: reproduce another request of the same cause",
    )


def _row_sets(linted: Linted, finding: Finding, before: int | None, row: int) -> Iterator[list[int]]:
    """Yield which requests to take, fewest first.

    They are the pair; then some of its conversations, and others that show the same; then others of the same model
    too, for rules that compare many.
    """
    log = linted.log
    rows, order = log.rows, {number: at for at, number in enumerate(log.conversations.order)}
    taken = {row} if before is None else {before, row}
    yield sorted(taken, key=order.__getitem__)
    for number in tuple(taken):
        thread = log.threads[log.conversations.conversation[number]]
        at = thread.index(number)
        taken.update(thread[max(0, at - _THREAD) : at + 3])
    shown = [place.pair.after if place.pair else place.record for place in finding.occurrences]
    earlier = [place.pair.before for place in finding.occurrences[:_PLACES] if place.pair]
    places = {(ref.path, ref.record) for ref in (*shown[:_PLACES], *earlier) if ref is not None}
    taken.update(number for number in order if (rows.files[rows.file[number]], rows.record[number]) in places)
    yield sorted(taken, key=order.__getitem__)
    others = [number for number in order if rows.model[number] == rows.model[row] and number not in taken]
    near = sorted(others, key=lambda number: (abs(order[number] - order[row]), order[number]))
    yield sorted({*taken, *near[:_CROWD]}, key=order.__getitem__)


def _own(requests: Sequence[Request]) -> list[Sample] | None:
    starts = [moment for request in requests for moment in (request.start, request.end) if moment == moment]
    since = min(starts, default=math.nan)
    return [sample(request, since) for request in requests]


def _as_read(requests: Sequence[Request]) -> list[Sample] | None:
    found = [original(request) for request in requests]
    return None if None in found else [told for told in found if told is not None]


def _claim_in(oracle: Oracle, pair: Pair, target: Target) -> Claim | None:
    lines = pair.lines(oracle)
    found = None if lines is None else oracle.lint(lines)
    claims = () if found is None else found[0].claims
    return next((claim for claim in claims if claim.rule == target.rule and claim.after == pair.after), None)


def _told(
    pair: Pair,
    target: Target,
    oracle: Oracle,
    policies: Sequence[Policy],
    kept: tuple[str, ...],
    were: tuple[int, int],
    *,
    shows: bool,
) -> Repro:
    lines = pair.lines(oracle)
    found = None if lines is None else oracle.lint(lines)
    if lines is None or found is None:
        raise UserError("the pair cannot be read any more once its words are taken out")
    linted = found[0]
    rows = linted.log.rows
    claim = next((c for c in linted.claims if c.rule == target.rule and c.after == pair.after), None)
    compared = next((p for p in linted.pairs if (p.before, p.after) == (pair.before, pair.after)), None)
    timed = any(key in sample.record for sample in pair.samples for key in ("start_time", "end_time"))
    gap = linted.log.times[pair.after] - linted.log.times[pair.before]
    usage = "none" if rows.reported_prompt[pair.after] < 0 else "as reported" if pair.recounted is None else "recounted"
    return Repro(
        rule=target.rule,
        where=target.where,
        field=claim.field if claim else None,
        char_offset=claim.char_offset if claim else None,
        api=target.api,
        model=linted.log.model(pair.after),
        shows=shows and shown_in(linted, target, pair.before, pair.after),
        kept=kept,
        lines=tuple(lines),
        before=pair.before,
        after=pair.after,
        bodies=(_indented(pair.samples[pair.before].body), _indented(pair.samples[pair.after].body)),
        tokens=(rows.prompt_tokens[pair.before], rows.prompt_tokens[pair.after]),
        were=were,
        alike=compared.kept if compared else 0,
        expected=tuple(_expected(linted, pair, policies)),
        usage=usage,
        gap=gap if timed and 0 <= gap < math.inf else None,
    )


def _expected(linted: Linted, pair: Pair, policies: Sequence[Policy]) -> Iterator[Expected]:
    log = linted.log
    rows, after = log.rows, pair.after
    shared = min(rows.prompt_tokens[pair.before], rows.prompt_tokens[after])
    for policy in policies:
        unit = policy.unit or 1
        unbroken = max(0, min(shared, rows.prompt_tokens[after] - 1)) // unit * unit
        cached = policy.replay(rows).matched[after]
        yield Expected(policy.label, cached, max(cached, unbroken))
    system, least = log.system(after), log.minimum(after)
    fewest = None if least is None else least.low or least.high
    if system is None or fewest is None:
        return
    note = f"keeps {fewest:,} tokens at least: pad both prompts alike to see it there" if shared < fewest else ""
    yield Expected(system.id, 0 if log.sharing.shared[after] < fewest else None, 0 if note else None, note)


def _indented(body: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _ref(linted: Linted, row: int) -> str:
    return str(linted.log.rows.ref(row))
