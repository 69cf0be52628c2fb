"""Every input of the shared cases loads whole, with the number of records that its answer speaks of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefixwise.corpus.corpus import read_corpus

CASES = Path(__file__).parents[3] / "shared" / "cases"
ANSWERS = sorted(CASES.glob("*/expected.json"))


def records_in(answer: dict) -> int:
    """Return how many records the pairs of an answer name; one for a file that is one prompt or source."""
    pairs = [*answer["pairs"], *(finding["pair"] for finding in answer["findings"] if "pair" in finding)]
    if answer["input"]["format"] == "langfuse_export_json":  # its finding is about the whole file
        return 3
    return max((max(pair["from"], pair["to"]) for pair in pairs), default=0) + 1


@pytest.mark.skipif(not ANSWERS, reason="the shared cases are not here")
def test_every_shared_case_loads() -> None:
    wrong = []
    for path in ANSWERS:
        answer = json.loads(path.read_text())
        corpus = read_corpus([str(path.parent / name) for name in answer["input"]["files"]])
        found = sum(file.records for file in corpus.inputs)
        if found != records_in(answer) or any(file.broken for file in corpus.inputs):
            wrong.append((answer["id"], found, records_in(answer), corpus.broken))
    assert wrong == []
    assert len(ANSWERS) == 46
