"""Grade `prefixwise lint` on labelled cases: `python -m benchmarks.cases [FOLDER]`, by default `fixtures/cases`.

A case is a folder with `expected.json` (schema `cachecase/1`) and its input. Logs are linted by the command line, as a
user would, sources (mode `static`) by the library below it. Both are graded:

- An expected finding is *found* when a finding has its kind as rule (or one of its `alternatives`), a level that is not
  info (unless info is expected), and one occurrence with the expected pair or record, the expected field and the
  expected offset. A field agrees when it is equal, below the expected one, or above it by a pointer of at least two
  segments (one where the expected value stands right below a top-level key). Offsets agree within eight characters,
  where both are given. In sources the expected field is `FILE:LINE`, which agrees within one line, or a file.
- A *false alarm* is a finding above info whose rule is not expected in its case, or that rests on a text that must
  not be flagged: in logs it shows that text, in sources it stands there.

Verdicts of pairs are compared and counted, but not graded. Exit codes: 0 all right, 1 something missed or a false
alarm or a run that failed, 2 no case in the folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.case_runs import Json, LintFailedError, lint

ROOT = Path(__file__).parents[1]
OURS = ROOT / "fixtures" / "cases"
SLACK = 8
"""Characters by which an offset may differ."""

Linter = Callable[[Path, Json], Json]


@dataclass(frozen=True)
class Miss:
    """An expected finding that was not reported; `nearest` says how far the closest one came."""

    kind: str
    place: str
    nearest: str

    def __str__(self) -> str:
        return f"missed {self.kind} {self.place}: {self.nearest}"


@dataclass(frozen=True)
class Alarm:
    """A finding that should not be there."""

    rule: str
    level: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"false alarm {self.rule} ({self.level}) {self.place}: {self.reason}"


@dataclass
class Grade:
    """How one case went."""

    case: str
    expected: int = 0
    misses: list[Miss] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    failure: str = ""
    pairs: int = 0
    pairs_agreeing: int = 0

    @property
    def found(self) -> int:
        """Expected findings that were reported."""
        return self.expected - len(self.misses)

    @property
    def is_right(self) -> bool:
        """Whether nothing was missed and nothing reported that should not be."""
        return not (self.misses or self.alarms or self.failure)


# -- one case -----------------------------------------------------------------------------------------------------


def grade(answer: Json, document: Json, sources: Mapping[str, str] | None = None) -> Grade:
    """Grade what `lint` said (its JSON document) by the `expected.json` of a case.

    Args:
        answer: What `expected.json` holds.
        document: What was said.
        sources: Of a static case, the text of each file by its name; None for a log.
    """
    findings = document["findings"]
    result = Grade(answer["id"], len(answer["findings"]))
    for expected in answer["findings"]:
        way = None if sources is not None else answer["input"].get("record_path", "")
        nearest = _nearest(expected, findings, way)
        if nearest:
            result.misses.append(Miss(expected["kind"], place_of(expected), nearest))
    accepted = {kind for expected in answer["findings"] for kind in _kinds(expected)}
    accepted |= set(answer.get("alternatives", ()))
    texts = [one["text"] for one in answer["must_not_flag"] if one["text"]]
    result.alarms = list(_alarms(findings, accepted, texts, sources))
    result.pairs = len(answer["pairs"])
    result.pairs_agreeing = _agreeing(answer["pairs"], document.get("pairs", ()))
    return result


def _kinds(expected: Json) -> set[str]:
    return {expected["kind"], *expected.get("alternatives", ())}


def _alarms(
    findings: Iterable[Json], accepted: set[str], innocent: Sequence[str], sources: Mapping[str, str] | None
) -> Iterator[Alarm]:
    for finding in findings:
        if finding["level"] == "info":
            continue
        rests_on = next((text for text in innocent if _rests_on(finding, text, sources)), None)
        if finding["rule"] not in accepted:
            yield Alarm(finding["rule"], finding["level"], place_of(finding), "not expected in this case")
        elif rests_on is not None:
            yield Alarm(finding["rule"], finding["level"], place_of(finding), f"rests on {rests_on!r}")


def _rests_on(finding: Json, text: str, sources: Mapping[str, str] | None) -> bool:
    """Say whether a finding shows a text or, of sources, stands in it."""
    if sources is None:
        return any(text in (finding.get(key) or "") for key in ("from_text", "to_text"))
    span, source = finding["span"], _source_of(finding["path"], sources)
    starts = (at for at in range(len(source)) if source.startswith(text, at))
    return any(at < span["end"] and span["start"] < at + len(text) for at in starts)


def _source_of(path: str, sources: Mapping[str, str]) -> str:
    """Return the text of the file of a case that a path ends with."""
    return next((text for name, text in sources.items() if f"/{path}".endswith(f"/{name}")), "")


def _nearest(expected: Json, findings: Iterable[Json], record_path: str | None) -> str:
    """Return '' where an expected finding was reported, else how far the closest one came.

    Args:
        expected: The finding.
        findings: What was said.
        record_path: Where the body stands in a record; None for sources.
    """
    steps = (
        f"no finding of {' or '.join(sorted(_kinds(expected)))}",
        "reported as info only",
        "in another file" if record_path is None else "no occurrence has the pair or record",
        "in another line" if record_path is None else "another field",
        "another offset",
    )
    best = 0
    for finding in findings:
        if finding["rule"] not in _kinds(expected):
            continue
        if finding["level"] == "info" and expected["severity"] != "info":
            best = max(best, 1)
            continue
        for occurrence in finding.get("occurrences") or [finding]:
            reached = _agreement(expected, occurrence, record_path)
            if reached == len(steps):
                return ""
            best = max(best, reached)
        best = max(best, 2)
    return steps[best]


def _agreement(expected: Json, occurrence: Json, record_path: str | None) -> int:
    """Return 2 where pair or record differ, 3 where the field does, 4 where the offset does, 5 where all agree."""
    if record_path is None:
        return _agreement_of_sources(expected, occurrence)
    if not _same_records(expected, occurrence):
        return 2
    if expected.get("field") is not None and not same_field(expected["field"], occurrence.get("field"), record_path):
        return 3
    wanted, given = expected.get("char_offset"), occurrence.get("char_offset")
    if wanted is not None and given is not None and abs(wanted - given) > SLACK:
        return 4
    return 5


def _agreement_of_sources(expected: Json, finding: Json) -> int:
    """Return 2 where the file differs, 3 where the line does, 5 where both agree."""
    name, _, line = expected["field"].rpartition(":")
    if not name:
        name, line = line, ""
    if not f"/{finding['path']}".endswith(f"/{name}"):
        return 2
    return 5 if not line or abs(finding["span"]["line"] - int(line)) <= 1 else 3


def _same_records(expected: Json, occurrence: Json) -> bool:
    pair, record = occurrence.get("pair"), occurrence.get("record")
    if "pair" in expected:
        wanted = expected["pair"]
        return bool(pair) and (pair["from"]["record"], pair["to"]["record"]) == (wanted["from"], wanted["to"])
    number = expected.get("record", expected.get("request"))
    if number is None:
        return True
    return number in {ref["record"] for ref in (record, pair and pair["to"]) if ref}


def same_field(wanted: str, given: str | None, record_path: str = "") -> bool:
    """Say whether a reported field agrees with the expected one.

    `*` stands for any one segment. A field outside the body begins with `record:`; answers write it plainly as well,
    and with the place of the record in its file before it.

    Args:
        wanted: As in `expected.json`.
        given: As `lint` reports it.
        record_path: Where the body stands, as in `expected.json`.
    """
    if given is None:
        return False
    path = _segments(record_path)
    ways = [path] + [path[: n + 1] for n, key in enumerate(path) if key == "*"]
    return any(_agree(one, two) for one in _forms(wanted, ways) for two in _forms(given, ways))


def _segments(pointer: str) -> list[str]:
    return pointer.removeprefix("record:").split("/")[1:]


def _forms(pointer: str, ways: Iterable[list[str]]) -> list[list[str]]:
    """Return a pointer as it is, and without the way to the body or record that it may begin with."""
    keys = _segments(pointer)
    return [keys] + [keys[len(way) :] for way in ways if way and len(keys) > len(way) and _begins(keys, way)]


def _begins(keys: Sequence[str], way: Sequence[str]) -> bool:
    return len(keys) >= len(way) and all("*" in (a, b) or a == b for a, b in zip(keys, way, strict=False))


def _agree(wanted: list[str], given: list[str]) -> bool:
    if len(given) >= len(wanted):
        return _begins(given, wanted)
    return _begins(wanted, given) and (len(given) >= 2 or (len(given) == 1 and len(wanted) == 2))


def _agreeing(wanted: Iterable[Json], given: Iterable[Json]) -> int:
    """Return how many pairs have the expected verdict."""
    said = {(pair["from"]["record"], pair["to"]["record"], pair["verdict"]) for pair in given}
    return sum((pair["from"], pair["to"], pair["verdict"]) in said for pair in wanted)


def place_of(one: Json) -> str:
    """Return in short what a finding, expected or reported, is about."""
    pair, record = one.get("pair"), one.get("record")
    if pair:
        numbers = [end["record"] if isinstance(end, dict) else end for end in (pair["from"], pair["to"])]
        where = f"{numbers[0]}->{numbers[1]}"
    elif one.get("span"):
        where = f"{one['path']}:{one['span']['line']}"
    else:
        number = record["record"] if isinstance(record, dict) else record
        where = "" if number is None else f"#{number}"
    return " ".join(filter(None, (where, one.get("field")))) or "(file)"


# -- a folder of cases --------------------------------------------------------------------------------------------


def grade_folder(folder: Path, run: Linter = lint) -> Grade:
    """Grade one case."""
    answer = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    given = answer["input"]
    is_static = given["mode"] == "static"
    sources = {name: (folder / name).read_bytes().decode() for name in given["files"]} if is_static else None
    try:
        return grade(answer, run(folder, given), sources)
    except LintFailedError as problem:
        return Grade(answer["id"], len(answer["findings"]), failure=str(problem))


def cases_in(folder: Path, only: str = "") -> list[Path]:
    """Return the cases of a folder, by name."""
    return sorted(path.parent for path in folder.glob("*/expected.json") if only in path.parent.name)


def table(grades: Iterable[Grade], *, everything: bool = False) -> Iterator[str]:
    """Yield a line for each case that went wrong, or for each one, with what went wrong below it."""
    for one in grades:
        if one.is_right and not everything:
            continue
        state = "ok" if one.is_right else "FAILED" if one.failure else "WRONG"
        yield f"{state:6} {one.case:52} {one.found if not one.failure else 0}/{one.expected} found"
        yield from (f"         {line}" for line in (*one.misses, *one.alarms, *filter(None, [one.failure])))


def totals(grades: Sequence[Grade]) -> str:
    """Return the figures of all cases in one line."""
    expected, failed = sum(one.expected for one in grades), sum(bool(one.failure) for one in grades)
    found = sum(one.found for one in grades if not one.failure)
    parts = [
        f"{sum(one.is_right for one in grades)} of {len(grades)} cases right",
        f"{found} of {expected} findings found",
        f"{sum(len(one.alarms) for one in grades)} false alarms",
        f"{failed} runs failed",
        f"{sum(one.pairs_agreeing for one in grades)} of {sum(one.pairs for one in grades)} pairs as expected",
    ]
    return "; ".join(parts)


def main(arguments: Sequence[str] | None = None, run: Linter = lint) -> int:
    """Grade the cases of a folder and print what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cases", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=OURS)
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with TEXT in their names")
    parser.add_argument("--all", action="store_true", help="a line for each case, not only for those that went wrong")
    given = parser.parse_args(arguments)
    folders = cases_in(given.folder.resolve(), given.only)
    if not folders:
        print(f"no cases in {given.folder}", file=sys.stderr)
        return 2
    grades = [grade_folder(folder, run) for folder in folders]
    for line in table(grades, everything=given.all):
        print(line)
    print(totals(grades))
    return 0 if all(one.is_right for one in grades) else 1


if __name__ == "__main__":
    sys.exit(main())
