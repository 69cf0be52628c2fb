"""The labelled cases: written by their script, readable as logs, and consistent in what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.reading import read

ROOT = Path(__file__).parents[2]
CASES = ROOT / "fixtures" / "cases"
ALL = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*/expected.json"))]
ANSWERS = [answer for answer in ALL if answer["input"]["mode"] == "log"]
SOURCES = [answer for answer in ALL if answer["input"]["mode"] == "static"]

# What a log can show; each has to be the right answer of at least one case.
KINDS = """
    adapter-changed aux-request-different-prefix breakpoint-below-minimum breakpoint-lost-by-gateway
    breakpoint-misplaced breakpoint-missing breakpoint-over-limit cache-key-unstable cache-salt-unstable
    clock-in-prefix compaction content-shape-flip counter-in-prefix effort-or-thinking-changed env-state-in-prefix
    ephemeral-injection-moved fewshot-unstable header-changed history-rewritten history-window-slides
    image-reencoded implicit-breakpoint-only line-ending-drift locale-dependent-format lookback-exceeded
    model-changed personal-data-in-shared-prefix placeholder-unrendered reasoning-stripped relative-time-in-history
    request-id-in-prefix response-format-changed retrieved-text-in-prefix route-changed schema-key-order
    secret-in-shared-prefix server-side stampede tool-args-reserialised tool-call-id-regenerated tool-choice-changed
    tool-result-pruned tool-schema-drift tools-reordered tools-set-changed ttl-expired ttl-mix ttl-unearned
    ttl-unsupported unicode-drift unordered-iteration usage-convention-mixed usage-double-counted usage-missing
    user-data-first whitespace-drift
""".split()  # noqa: SIM905 - one a line would be a page

# What sources can show.
KINDS_OF_SOURCES = """
    cache-key-unstable clock-in-prefix counter-in-prefix env-state-in-prefix fewshot-unstable history-window-slides
    locale-dependent-format request-id-in-prefix retrieved-text-in-prefix schema-key-order static-text-stranded
    template-date template-history-dependent unordered-iteration user-data-first
""".split()  # noqa: SIM905


def test_the_folder_holds_what_its_script_writes() -> None:
    done = subprocess.run(
        [sys.executable, "fixtures/make_cases.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_kind_that_a_log_can_show_has_a_case() -> None:
    kinds = Counter(finding["kind"] for answer in ANSWERS for finding in answer["findings"])
    assert sorted(kinds) == sorted(KINDS)


def test_there_are_enough_cases_of_either_kind_and_of_many_formats() -> None:
    polarity = Counter(answer["polarity"] for answer in ANSWERS)
    assert polarity["positive"] >= 44
    assert polarity["negative"] >= 12
    assert len({answer["input"]["format"] for answer in ANSWERS}) >= 10


def test_every_kind_that_sources_can_show_has_a_case() -> None:
    kinds = {finding["kind"] for answer in SOURCES for finding in answer["findings"]}
    assert sorted(kinds) == KINDS_OF_SOURCES


def test_there_are_enough_cases_of_sources_with_twins() -> None:
    polarity = Counter(answer["polarity"] for answer in SOURCES)
    assert polarity["positive"] >= 24
    assert polarity["negative"] >= 10
    assert len({answer["input"]["format"] for answer in SOURCES}) >= 10


@pytest.mark.parametrize("answer", SOURCES, ids=lambda answer: answer["id"])
def test_a_case_of_sources_has_the_places_that_it_speaks_of(answer: dict[str, Any]) -> None:
    assert answer["schema"] == "cachecase/1"
    assert (answer["polarity"] == "positive") == bool(answer["findings"])
    folder = CASES / answer["id"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {*answer["input"]["files"], "expected.json"}
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in answer["input"]["files"]}
    for finding in answer["findings"]:
        name, _, line = finding["field"].rpartition(":")
        assert finding["from_text"] in "\n".join(texts[name].split("\n")[int(line) - 1 :])
        assert finding["from_text"].split("\n")[0] in texts[name].split("\n")[int(line) - 1]
    assert all(any(one["text"] in text for text in texts.values()) for one in answer["must_not_flag"])


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["id"])
def test_a_case_reads_whole_and_has_the_records_that_it_speaks_of(answer: dict[str, Any]) -> None:
    assert answer["schema"] == "cachecase/1"
    assert (answer["polarity"] == "positive") == bool(answer["findings"])
    (name,) = answer["input"]["files"]
    requests, broken, _ = read(CASES / answer["id"] / name)
    assert broken == []
    records = {request.record for request in requests}
    assert len(requests) == len(records) >= 2
    pairs = [*answer["pairs"], *(finding["pair"] for finding in answer["findings"] if "pair" in finding)]
    assert {number for pair in pairs for number in (pair["from"], pair["to"])} <= records
    assert {finding["record"] for finding in answer["findings"] if "record" in finding} <= records
