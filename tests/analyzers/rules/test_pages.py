"""The examples on the rules' pages are logs: the bad ones yield the rule, the good ones nothing above info."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.linting import found, lint_text

from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Mode

_BLOCK = re.compile(r"^```jsonl (bad|good)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(rule.name, kind, text, id=f"{rule.name}-{kind}{number}")
    for rule in RULES
    for number, (kind, text) in enumerate(_BLOCK.findall(rule.page))
]


@pytest.mark.parametrize(("rule", "kind", "text"), EXAMPLES)
def test_examples(rule: str, kind: str, text: str, tmp_path: Path) -> None:
    linted = lint_text(tmp_path, text)
    assert linted.values.inputs[0].broken == 0
    if kind == "good":
        assert found(linted) == []
    else:
        assert rule in [finding.rule for finding in linted.values.findings]


@pytest.mark.parametrize("rule", [rule for rule in RULES if Mode.LOG in rule.modes], ids=lambda rule: rule.name)
def test_every_page_has_a_title_and_both_kinds_of_example(rule) -> None:
    assert rule.page.startswith("# ")
    assert {kind for kind, _ in _BLOCK.findall(rule.page)} == {"bad", "good"}


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"PW\d{3}", code) for code in codes)
