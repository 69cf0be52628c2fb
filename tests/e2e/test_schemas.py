"""What the commands write is what `prefixwise schema` promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

FIXTURES = Path(__file__).parents[2] / "fixtures"
CLOCK = FIXTURES / "logs" / "desk-clock.jsonl"
FIELDS = ("model", "tenant", "session", "family", "replica", "provider")
EVERY_FIELD = [arg for field in FIELDS for arg in ("--by", field)]
RUNS = [
    ["hitrate", FIXTURES / "logs", *EVERY_FIELD, "--require", "hit_rate>=2"],
    ["hitrate", "noisy.jsonl", "--under", "lru:capacity=10", "--excerpts", "none"],
    ["hitrate", "hostile.jsonl", *EVERY_FIELD],
    ["providers"],
    ["providers", "anthropic"],
    ["providers", "vllm"],
    ["providers", "gpt-5.5"],
    ["diff", f"{CLOCK}#0", f"{CLOCK}#1"],
    ["diff", f"{CLOCK}#0", f"{CLOCK}#0"],
    ["diff", FIXTURES / "prompts" / "desk.md", FIXTURES / "prompts" / "desk-new.md"],
    ["tokens", f"{CLOCK}#0"],
    ["tokens", CLOCK],
    ["tokens", "noisy.jsonl"],
    ["lint", CLOCK],
    ["lint", "model.jsonl", "noisy.jsonl"],
    ["lint", "hostile.jsonl", "--fail-on", "never"],
    ["rules"],
    ["lock", FIXTURES / "prompts"],
    ["explain", "model-changed"],
    ["config"],
    ["config", "noisy.jsonl", "--select", "PW1", "--fail-on", "info", "--exit-zero"],
    ["why", CLOCK],
    ["why", "noisy.jsonl", "--top", "1"],
    ["why", "--request", f"{CLOCK}#0"],
    ["why", "--request", f"{CLOCK}#1"],
    ["why", "--request", f"{CLOCK}#1", "--repro", "miss", "--seed", "1"],
    ["models"],
    ["audit", "timings", FIXTURES / "timings" / "shared.csv"],
    ["schema"],
]


@pytest.mark.parametrize("args", RUNS, ids=lambda args: " ".join(Path(str(arg)).name for arg in args))
def test_documents_are_what_their_schema_says(args: list[object], run: Any, tmp_path: Path, e2e: Any) -> None:
    broken = b'{"messages": 5}\nnot json\n[1, 2\n'
    (tmp_path / "noisy.jsonl").write_bytes(e2e.GOOD + broken + e2e.lines(e2e.chat("hello", model="nobody-knows-9")))
    (tmp_path / "hostile.jsonl").write_bytes(e2e.lines(*[e2e.chat(e2e.HOSTILE, user=e2e.HOSTILE)] * 2))
    asked = e2e.chat()
    answered = [
        *asked["messages"],
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "Thanks."},
    ]
    (tmp_path / "model.jsonl").write_bytes(e2e.lines(asked, e2e.chat(model="gpt-4.1", messages=answered)))
    document = run([*args, "--json"]).check(0, 1).json()
    schema = json.loads(run(["schema", document["schema"]]).check(0).out)
    Draft202012Validator(schema).validate(document)


def test_the_list_names_every_schema(run: Any) -> None:
    document = run(["schema", "--json"]).check(0).json()
    names = [entry["name"] for entry in document["values"]["schemas"]]
    assert {"lint", "hitrate", "diff", "tokens", "providers", "schemas"} <= set(names)
    shown = run(["schema"]).check(0).out
    assert all(name in shown for name in names)


def test_an_unknown_schema_is_one_line_with_the_nearest_name(run: Any) -> None:
    assert "did you mean hitrate?" in run(["schema", "hitrat"]).check(2).err
    assert "no schema called" in run(["schema", "../../etc/passwd"]).check(2).err


def test_a_schema_is_json_on_stdout_and_nothing_else(run: Any, tmp_path: Path) -> None:
    plain = run(["schema", "lint"]).check(0)
    assert plain.out == run(["schema", "prefixwise/lint", "--json"]).check(0).out
    assert plain.err == ""
    run(["schema", "lint", "--output-format", "csv"]).check(2)
    run(["schema", "lint", "--report", "json=x.json"]).check(2)
    assert not (tmp_path / "x.json").exists()
