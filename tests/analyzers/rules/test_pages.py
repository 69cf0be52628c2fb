"""The examples on the rules' pages, logs and sources: the bad ones yield the rule, the good ones nothing above info."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.linting import found, lint_text
from support.silenced import lint_folder, write

from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Level, Mode

_BLOCK = re.compile(r"^```jsonl (bad|good)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(rule.name, kind, text, id=f"{rule.name}-{kind}{number}")
    for rule in RULES
    for number, (kind, text) in enumerate(_BLOCK.findall(rule.page))
]
_SOURCE = re.compile(r"^```(jinja|python|json) (bad|good)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILES = {"jinja": "prompts/example.j2", "python": "example.py", "json": "prompts/tools.json"}
_OTHERWISE = {
    "unused-ignore", "unknown-ignore", "costly-ignore",  # comments have tests of their own
    "whitespace-drift", "line-ending-drift",  # nobody would see it on a page
    "prompt-version-unbumped",  # takes a lock
}  # fmt: skip
SOURCES = [rule for rule in RULES if Mode.STATIC in rule.modes and rule.name not in _OTHERWISE]


@pytest.mark.parametrize("rule", SOURCES, ids=lambda rule: rule.name)
def test_examples_of_sources(rule, tmp_path: Path) -> None:
    examples = _SOURCE.findall(rule.page)
    assert [kind for _, kind, _ in examples] == ["bad", "good"]
    for language, kind, text in examples:
        write(tmp_path / kind, {_FILES[language]: text})
        linted = lint_folder(tmp_path / kind)
        assert linted.notes == ()
        if kind == "bad":
            assert rule.name in {finding.rule for finding in linted.findings}
        else:
            assert rule.name not in {finding.rule for finding in linted.findings}
            assert [finding for finding in linted.findings if finding.level is not Level.INFO] == []


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
