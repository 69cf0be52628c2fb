"""The baseline: findings of an earlier day, which a team knows of and lint does not tell again.

It counts, and holds no lines: of each file and rule how often each fingerprint occurs. Findings of logs are counted by
rule and fingerprint alone, which stands for application, rule and field: a log has another name tomorrow.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from prefixwise.analyzers.suppress.sifted import Hidden, Sifted
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding, Mode
from prefixwise.core.suppression import Suppression, SuppressionKind

_SCHEMA = "prefixwise/baseline"
_VERSION = 1
_Counts = dict[str, dict[str, Annotated[int, msgspec.Meta(ge=1)]]]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    schema_version: int
    files: dict[str, _Counts]
    logs: _Counts


class Known(NamedTuple):
    """What findings are known by: a file seen from the folder of the baseline, '' for logs; rule; fingerprint."""

    path: str
    rule: str
    fingerprint: str


class Baseline(NamedTuple):
    """How many findings are known, and in which file that is written."""

    counts: Counter[Known]
    path: Path


def known_as(finding: Finding, baseline: Path) -> Known:
    """Return what a finding is known by in a baseline."""
    path = "" if finding.mode is Mode.LOG else seen_from(baseline, finding.path)
    return Known(path, finding.rule, finding.fingerprint)


def seen_from(baseline: Path, path: str) -> str:
    """Return a file as a baseline names it: from the baseline's folder, with `/`, by whatever links one got there."""
    folder, name = os.path.split(path)
    place = os.path.join(os.path.realpath(folder), name)
    return Path(os.path.relpath(place, os.path.realpath(baseline.parent))).as_posix()


def baseline_of(findings: Iterable[Finding], path: Path) -> Baseline:
    """Return the baseline that holds these findings."""
    return Baseline(Counter(known_as(finding, path) for finding in findings), path)


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline as the text of its file: sorted, one count a line."""
    files: dict[str, _Counts] = {}
    logs: _Counts = {}
    for (path, rule, fingerprint), count in sorted(baseline.counts.items()):
        counts = files.setdefault(path, {}) if path else logs
        counts.setdefault(rule, {})[fingerprint] = count
    document = _Document(_SCHEMA, _VERSION, files, logs)
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file. Raises UserError where there is none, or it is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError("there is no baseline", str(path), f"write one: {_command(path)}") from None
    except OSError as problem:
        raise UserError(f"cannot be read: {problem.strerror}", str(path)) from None
    try:
        said = msgspec.json.decode(data, type=_Said)
        if said.schema == _SCHEMA and said.schema_version != _VERSION:
            raise UserError(
                f"this baseline has version {said.schema_version}, and this is known of {_VERSION} only",
                str(path),
                f"use the prefixwise that wrote it, or delete it and write one: {_command(path)}",
            )
        document = msgspec.json.decode(data, type=_Document)
        if document.schema != _SCHEMA:
            raise msgspec.ValidationError(f"its schema is not {_SCHEMA}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        advice = f"take it back from version control, or delete it and write one: {_command(path)}"
        raise UserError(f"this is no baseline: {problem}", str(path), advice) from None
    counts = [*document.files.items(), ("", document.logs)]
    return Baseline(Counter(dict(_flat(counts))), path)


class _Said(msgspec.Struct):
    schema: Any = None
    schema_version: Any = None


def _flat(counts: Iterable[tuple[str, _Counts]]) -> Iterator[tuple[Known, int]]:
    for path, by_rule in counts:
        for rule, by_fingerprint in by_rule.items():
            yield from ((Known(path, rule, fingerprint), count) for fingerprint, count in by_fingerprint.items())


def _command(path: Path) -> str:
    return f"prefixwise lint PATHS... --write-baseline {path}"


def sift_baseline(findings: Iterable[Finding], baseline: Baseline) -> tuple[Sifted, Counter[Known]]:
    """Return findings without those that a baseline knows, and what it knows that was not found.

    Of equal findings as many are known as it counts; the next one is new.
    """
    left = Counter(baseline.counts)
    why = Suppression(SuppressionKind.BASELINE, "", baseline.path.as_posix(), None)
    kept, hidden = [], []
    for finding in findings:
        known = known_as(finding, baseline.path)
        if left[known] > 0:
            left[known] -= 1
            hidden.append(Hidden(finding, why))
        else:
            kept.append(finding)
    return Sifted(tuple(kept), tuple(hidden)), +left


def followed(
    baseline: Baseline, findings: Iterable[Finding], rules: Callable[[str], Collection[str]]
) -> tuple[Baseline, dict[str, str]]:
    """Return a baseline in which files that were renamed since have their new names, and these by the old ones.

    A file was renamed that is gone, where another one, of which nothing is known, has all of its findings and no other;
    one that keeps its name in another folder has to have some of them.

    Args:
        baseline: What is known.
        findings: What was found, whether it is known or not.
        rules: Returns the names of the rules that were run on a file, whose path is as in findings.
    """
    before, ran = _by_path(baseline.counts), dict[str, frozenset[str]]()
    now: dict[str, Counter[Known]] = {}
    for finding in findings:
        known = known_as(finding, baseline.path)
        if known.path and known.path not in before:
            now.setdefault(known.path, Counter())[known._replace(path="")] += 1
            ran[known.path] = frozenset(rules(finding.path))
    if not now:
        return baseline, {}
    gone = [path for path in before if path and not os.path.lexists(baseline.path.parent / path)]
    names: dict[str, str] = {}
    for alike in (_same_name, _same_findings):
        for new in sorted(now.keys() - names.values()):
            open_still = (old for old in gone if old not in names)
            fits = next((old for old in open_still if alike(old, new, _run(before[old], ran[new]), now[new])), None)
            if fits is not None:
                names[fits] = new
    counts = Counter({one._replace(path=names.get(one.path, one.path)): n for one, n in baseline.counts.items()})
    return Baseline(counts, baseline.path), names


def _by_path(counts: Counter[Known]) -> dict[str, Counter[Known]]:
    found: dict[str, Counter[Known]] = {}
    for known, count in sorted(counts.items()):
        found.setdefault(known.path, Counter())[known._replace(path="")] = count
    return found


def _run(counts: Counter[Known], rules: Collection[str]) -> Counter[Known]:
    """Return what is known by rules that were run."""
    return Counter({known: count for known, count in counts.items() if known.rule in rules})


def _same_name(old: str, new: str, before: Counter[Known], now: Counter[Known]) -> bool:
    return old.rpartition("/")[2] == new.rpartition("/")[2] and bool(before & now)


def _same_findings(_old: str, _new: str, before: Counter[Known], now: Counter[Known]) -> bool:
    return before == now


def renewed(old: Baseline, now: Baseline, looked_at: Callable[[Known], bool]) -> Baseline:
    """Return the baseline of today: what was looked at as it is now, and the rest as it was."""
    rest = {known: count for known, count in old.counts.items() if not looked_at(known)}
    return Baseline(Counter({**rest, **now.counts}), now.path)


def removable(left: Counter[Known], looked_at: Callable[[Known], bool]) -> Counter[Known]:
    """Return what is not there any more of what a baseline knows and was not found."""
    return Counter({known: count for known, count in left.items() if looked_at(known)})
