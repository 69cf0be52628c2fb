"""`prefixwise audit logs` on a log with planted threats and on its clean twin."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
TENANTS = ROOT / "fixtures" / "tenants"
PLANTED, CLEAN = TENANTS / "planted.jsonl", TENANTS / "clean.jsonl"
ENGINE, SOUND_ENGINE = TENANTS / "engine.sh", TENANTS / "engine-clean.sh"
KEY = ("--key-file", "audit.key")
FORMS = ("text", "concise", "json", "sarif", "markdown", "html", "csv", "junit", "gitlab", "github", "rdjson")
SECRET = "zK4-mQw7vB9xTr2"


def planted() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("make_tenants", ROOT / "fixtures" / "make_tenants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.PLANTED
    assert {path.name: path.read_text(encoding="utf-8") for path in TENANTS.iterdir()} == module.files()
    return found


def test_every_planted_threat_is_found_and_the_twin_is_clean(run: Any) -> None:
    document = run(["audit", "logs", PLANTED, *KEY, "--json"]).check(1).json()
    above = {one["rule"] for one in document["values"]["findings"] if one["level"] != "info"}
    assert above == set(planted())
    assert document["values"]["leak"] is True
    clean = run(["audit", "logs", CLEAN, "--deployment", SOUND_ENGINE, *KEY, "--json"]).check(0).json()
    assert clean["values"]["findings"] == []
    assert clean["values"]["pairs"] == []
    assert clean["values"]["leak"] is False


def test_the_engine_s_configuration_is_looked_at(run: Any) -> None:
    document = run(["audit", "logs", PLANTED, "--deployment", ENGINE, *KEY, "--json"]).check(1).json()
    places = {one["rule"]: one["setting"] for one in document["values"]["threats"] if one["setting"]}
    lines = {rule: int(place.rpartition(":")[2]) for rule, place in places.items()}
    assert lines == {
        "fine-grained-cache": 4,
        "namespace-collision": 5,
        "salt-leaves-trust-zone": 6,
        "block-hashes-visible": 6,
        "cache-usage-visible": 7,
    }


def test_documents_are_what_their_schema_says(run: Any) -> None:
    schema = json.loads(run(["schema", "audit-logs"]).check(0).out)
    document = run(["audit", "logs", PLANTED, CLEAN, *KEY, "--json", "--prefill-rate", "8000"]).check(1).json()
    Draft202012Validator(schema).validate(document)


def test_the_same_log_gives_the_same_bytes(run: Any, tmp_path: Path) -> None:
    args = ["audit", "logs", PLANTED, "--deployment", ENGINE, *KEY, "--json"]
    first = run(args).check(1).out
    assert run(args, env={"PYTHONHASHSEED": "7"}).check(1).out == first
    (tmp_path / "audit.key").unlink()
    assert run(args).check(1).out != first  # hashes are of another key


def test_no_format_prints_a_secret_and_every_one_names_the_leak(run: Any, tmp_path: Path) -> None:
    reports = [arg for form in FORMS for arg in ("--report", f"{form}={form}.out")]
    run(["audit", "logs", PLANTED, "--deployment", ENGINE, *KEY, *reports, "--excerpts", "full"]).check(1)
    for form in FORMS:
        shown = (tmp_path / f"{form}.out").read_text(encoding="utf-8")
        assert "salt-reused-between-tenants" in shown, form
        assert SECRET not in shown, form
        if form == "sarif":
            _is_security(json.loads(shown))
        if form == "html":
            assert "Exposure by tenant" in shown
            assert "dogwood" in shown


def _is_security(document: Any) -> None:
    rules = {rule["id"]: rule for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["salt-reused-between-tenants"]["properties"]["security-severity"] == "9.5"
    assert "security" in rules["salt-reused-between-tenants"]["properties"]["tags"]


def test_names_of_tenants_can_be_hidden(run: Any) -> None:
    args = ["audit", "logs", PLANTED, *KEY, "--output-format", "html", "--pseudonyms", "--excerpts", "none"]
    hidden = run(args).check(1).out
    assert "Exposure by tenant" in hidden
    assert "dogwood" not in hidden


def test_exit_codes(run: Any, tmp_path: Path) -> None:
    run(["audit", "logs", PLANTED, *KEY, "--exit-zero"]).check(0)
    run(["audit", "logs", PLANTED, *KEY, "--select", "T5"]).check(0)
    run(["audit", "logs", PLANTED, *KEY, "--select", "T5", "--fail-on", "warning"]).check(1)
    run(["audit", "logs", "nothing.jsonl", *KEY]).check(3)
    (tmp_path / "nobody.jsonl").write_text('{"prompt": "hello", "model": "m"}\n' * 2, encoding="utf-8")
    assert "--tenant-field" in run(["audit", "logs", "nobody.jsonl", *KEY]).check(2).err
    assert "no threat called" in run(["audit", "logs", PLANTED, *KEY, "--select", "salt-absnt"]).check(2).err
    assert "NAME=POINTER" in run(["audit", "logs", PLANTED, *KEY, "--place", "salt=/a"]).check(2).err
    run(["audit", "logs", PLANTED, *KEY, "--deployment", "missing.yaml"]).check(2)


def test_the_allow_list_that_a_log_suggests_can_be_given_back(run: Any, tmp_path: Path) -> None:
    run(["audit", "logs", CLEAN, *KEY, "--write-approved", "approved.json"]).check(0)
    written = json.loads((tmp_path / "approved.json").read_text(encoding="utf-8"))
    assert [(one["kind"], one["tenants"]) for one in written["prompts"]] == [("template-like", 8)]
    document = run(["audit", "logs", CLEAN, *KEY, "--approved", "approved.json", "--json"]).check(0).json()
    kinds = [stretch["kind"] for stretch in document["values"]["shared"]]
    assert "approved" in kinds
    assert "template-like" not in kinds
    assert document["values"]["recommendation"]["isolation"] == "shared prefix, then tenant"


def test_a_trace_is_audited_by_its_tenants(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    run(["trace", PLANTED, "-o", "log.parquet", "--key-file", "trace.key"]).check(0)
    log = run(["audit", "logs", PLANTED, *KEY, "--json"]).check(1).json()["values"]
    trace = run(["audit", "logs", "log.parquet", *KEY, "--json"]).check(1).json()["values"]
    for figure in ("exposed_events", "exposed_tokens", "pairs", "tenants"):
        assert trace[figure] == log[figure], figure
    shared = "shared prefix, then tenant"  # a trace does not know that the prefix holds a secret
    of_log, of_trace = ([one for one in its["isolation"] if one["isolation"] != shared] for its in (log, trace))
    assert of_log == of_trace
    rules = {one["rule"] for one in trace["findings"]}
    assert {"salt-absent", "salt-reused-between-tenants", "tier-ignores-salt"} <= rules
    assert "private-values-between-tenants" not in rules
    assert "no prompts to approve" in run(["audit", "logs", "log.parquet", "--write-approved", "a.json"]).check(2).err


def test_a_threat_is_explained_by_name_code_and_number(run: Any) -> None:
    pages = {run(["explain", name]).check(0).out for name in ("salt-guessable", "pt003", "T3")}
    assert len(pages) == 1
    assert "HMAC" in pages.pop()
    listed = run(["rules", "--threats", "--json"]).check(0).json()["values"]["rules"]
    assert [rule["code"] for rule in listed] == [f"PT{number:03}" for number in range(1, 23)]
