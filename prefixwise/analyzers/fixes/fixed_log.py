"""A log as it would be, had its requests been sent as the rules would have them: what that brings, and its records."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from prefixwise.analyzers.fixes.records import UnwritableError, rewritten
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.rule import RULES
from prefixwise.caches.policy import Policy, parse_policy
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding, Mode, Severity
from prefixwise.core.pointer import ANY, parse_pointer
from prefixwise.core.report import InputFile
from prefixwise.core.request import Request
from prefixwise.corpus.dialect import DIALECTS
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.records import repaired
from prefixwise.corpus.sources import STDIN, open_plain

Again = Callable[[], Iterator[tuple[int, Request]]]
"""Reads the requests of a log once more, with their rows."""

_RULE = "vllm"
_PACKED = (".gz", ".zst", ".parquet")


class Rate(msgspec.Struct, frozen=True):
    """What a cache serves of some requests."""

    prompt_tokens: int
    cached_tokens: int

    @property
    def hit_rate(self) -> float:
        """Cached over prompt tokens."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


class RuleGain(msgspec.Struct, frozen=True):
    """What the repairs of one rule bring on top of those before it; `kept` is False where they bring less."""

    rule: str
    requests: int
    before: Rate
    after: Rate
    kept: bool


class LogRepairs(msgspec.Struct, frozen=True):
    """What there is to repair in a log.

    Attributes:
        under: Label of the cache rule that hit rates are counted under.
        gains: Rules whose repairs were tried, in order.
        unmended: Rules with findings that no request can show a repair of.
        before, after: The log as it is and with all repairs that are kept.
    """

    under: str
    gains: tuple[RuleGain, ...]
    unmended: tuple[str, ...]
    before: Rate
    after: Rate

    @property
    def refused(self) -> tuple[RuleGain, ...]:
        """Rules whose repairs would lower the hit rate."""
        return tuple(gain for gain in self.gains if not gain.kept)


class LogMender:
    """Repairs the requests of one log, as its findings say.

    Args:
        linted: What is known of the log.
        found: The findings that count; those that are only information do not.
        again: Reads the log again.

    Raises:
        UserError: The log is none of request bodies, one a line.
    """

    def __init__(self, linted: Linted, found: Iterable[Finding], again: Again) -> None:
        files = linted.log.corpus.inputs
        if len(files) != 1:
            raise UserError(f"a copy is made of one log, and {len(files)} were given", "--fixed-copy")
        self._file = files[0]
        _check(self._file)
        self._log = linted.log
        self._again = again
        counting = [one for one in found if one.mode is Mode.LOG and one.severity is not Severity.INFO]
        self._rules = tuple(dict.fromkeys(one.rule for one in counting if RULES.get(one.rule).mends))
        self._unmended = tuple(dict.fromkeys(one.rule for one in counting if not RULES.get(one.rule).mends))
        self._claims: dict[tuple[str, int], list[Claim]] = {}
        for claim in linted.claims:
            if claim.rule in self._rules and claim.severity is not Severity.INFO:
                self._claims.setdefault((claim.rule, self._log.applications[claim.after]), []).append(claim)
        self._kept: list[str] = []

    def repairs(self) -> LogRepairs:
        """Try the repairs of each rule, costliest finding first, and keep those that do not lower the hit rate.

        What looks for messages as they were logged comes before what changes them.
        """
        policy = parse_policy(_RULE)
        before = now = self._rate(policy, ())[0]
        gains: list[RuleGain] = []
        unmended = list(self._unmended)
        resent = {rule for (rule, _), claims in self._claims.items() if any(claim.resent for claim in claims)}
        for rule in sorted(self._rules, key=lambda rule: rule not in resent):
            if not any(self._can(rule, row, request) for row, request in self._again()):
                unmended.append(rule)
                continue
            after, changed = self._rate(policy, (*self._kept, rule))
            kept = after.hit_rate >= now.hit_rate
            gains.append(RuleGain(rule, changed, now, after, kept))
            if kept:
                self._kept.append(rule)
                now = after
        return LogRepairs(policy.label, tuple(gains), tuple(unmended), before, now)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the copy, with what `repairs` kept; what is no request is what it was.

        Raises:
            UserError: A record has no place for a change.
        """
        paths = [parse_pointer(path) for path in self._file.record_path.split(" ")]
        requests = self._again()
        row, request = next(requests, (0, None))
        mark = _mark(self._file.path)
        with open_plain(self._file.path) as stream:
            for number, line in enumerate(stream, start=1):
                head, mark = mark, b""
                if request is None or request.line != number:
                    yield head + line
                    continue
                mended = self._mended(row, request, self._kept)
                try:
                    yield head + (line if mended is request else rewritten(line, paths, request, mended))
                except UnwritableError as problem:
                    raise UserError(f"cannot be written with its repairs: {problem}", str(request.ref)) from None
                row, request = next(requests, (0, None))

    def _can(self, rule: str, row: int, request: Request) -> bool:
        ours = self._claims.get((rule, self._log.applications[row]))
        return bool(ours) and RULES.get(rule).repair(request, ours or ()) is not None

    def _mended(self, row: int, request: Request, rules: Sequence[str]) -> Request:
        for rule in rules:
            ours = self._claims.get((rule, self._log.applications[row]))
            if ours:
                request = RULES.get(rule).repair(request, ours) or request
        return request

    def _rate(self, policy: Policy, rules: Sequence[str]) -> tuple[Rate, int]:
        """Return the hit rate of the requests after some repairs, and how many the last of those changed."""
        known = self._log.corpus.index
        index = CorpusIndex() if known is None else known.fresh()
        changed = 0
        for row, request in self._again():
            earlier = self._mended(row, request, rules[:-1])
            mended = self._mended(row, earlier, rules[-1:])
            changed += mended is not earlier
            index.add(mended)
        index.finish()
        cached = policy.replay(index.rows).matched
        return Rate(sum(index.rows.prompt_tokens), sum(cached)), changed


def _check(file: InputFile) -> None:
    is_bodies = set(file.format.split(" + ")) <= set(DIALECTS.names())
    is_packed = file.path.endswith(_PACKED)
    if not is_bodies or is_packed or ANY in file.record_path or file.path == STDIN or not _is_by_line(file.path):
        what = "a copy is made of JSON Lines with a request body in each line, and of nothing else"
        raise UserError(what, file.path, f"this is {file.format}" if not is_bodies else "")


def _mark(path: str) -> bytes:
    """Return the byte-order mark of a UTF-8 file, b'' where it has none."""
    with open(path, "rb") as stream:
        return codecs.BOM_UTF8 if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else b""


def _is_by_line(path: str) -> bool:
    """Say whether each line of a file is a JSON value of its own, by its first."""
    with open_plain(path) as stream:
        first = next((line for line in stream if line.strip()), b"")
    try:
        msgspec.json.decode(first)
    except msgspec.MsgspecError:
        return repaired(first) is not None  # what real logs hold beside the standard
    return True
