"""The examples on the threats' pages: the bad ones yield the threat, the good ones nothing of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.auditing import SYSTEM, audit_text, call, found

from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.tenancy.threat import THREATS, threats

_BLOCK = re.compile(r"^```(\w+) (bad|good)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ASKED = {"shared": "shared_tokens", "retention": "retention"}
EXAMPLES = [
    pytest.param(threat.name, *block, id=f"{threat.id}-{block[1]}{number}")
    for threat in threats()
    for number, block in enumerate(_BLOCK.findall(threat.page))
]
UNSALTED = [call("ash", None, 0, system=SYSTEM * 3), call("birch", None, 60, "Do dogs pay?", system=SYSTEM * 3)]
SALTED = [call("ash", "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", 0), call("birch", "3b7e91d04c6fa8e25d10f7c98ab46e21", 60)]


@pytest.mark.parametrize(("name", "kind", "mark", "more", "text"), EXAMPLES)
def test_examples(name: str, kind: str, mark: str, more: str, text: str, tmp_path: Path) -> None:
    asked = {
        _ASKED[key]: float(value) if key == "retention" else int(value)
        for key, value in re.findall(r"(\w+)=(\d+)", more)
    }
    configs = []
    if kind != "jsonl":  # a configuration is judged by a log: of tenants without salts, but where it takes some
        log = SALTED if name in ("eviction-pressure", "salt-constant") else UNSALTED
        configs, text = [(f"engine.{kind}", text)], "".join(json.dumps(record) + "\n" for record in log)
    report = audit_text(tmp_path, text, configs, **asked)
    assert report.inputs[0].broken == 0
    if mark == "bad":
        assert name in found(report)
    elif kind == "jsonl":
        assert [rule for rule in found(report) if rule != "cache-usage-visible"] == []
    else:
        assert name not in found(report)


@pytest.mark.parametrize("threat", threats(), ids=lambda threat: threat.id)
def test_every_page_has_a_title_and_both_kinds_of_example(threat) -> None:
    assert threat.page.startswith("# ")
    assert {mark for _, mark, _, _ in _BLOCK.findall(threat.page)} == {"bad", "good"}


def test_all_threats_are_there_once_and_have_codes_of_their_own() -> None:
    assert [threat.id for threat in threats()] == [f"T{number}" for number in range(1, 23)]
    assert [threat.code for threat in threats()] == [f"PT{number:03}" for number in range(1, 23)]
    assert not {*THREATS.names()} & {*RULES.names()}
