"""Configuration as people use it: a monorepo, options over variables over files, `config` and `init`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

RULES = "Name the quay, the time and the fare in every answer.\n" * 40
CLOCK = "It is {{ now }}.\n\n" + RULES
PERSON = "Hello {{ user_name }}.\n\n" + RULES


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(result: Any) -> list[tuple[str, str]]:
    return [(one["path"], one["rule"]) for one in result.json()["findings"]]


def values(result: Any) -> dict[str, tuple[Any, str]]:
    """Return value and origin of each key."""
    settings = result.json()["values"]["settings"]
    return {one["key"]: (one["value"], " ".join(filter(None, one["origins"][-1].values()))) for one in settings}


def test_a_monorepo_has_a_configuration_for_each_project(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {
        ".git/HEAD": "ref: x",
        "pyproject.toml": '[tool.prefixwise]\nignore = ["clock-in-prefix"]\n',
        "desk/prefixwise.toml": 'select = ["PW101"]\nfail-on = "info"\n'
        'per-file-ignores = { "prompts/old/" = ["PW1"] }\n',
        **{f"{folder}prompts/a.md": CLOCK for folder in ("", "desk/")},
        **{f"{folder}prompts/b.md": PERSON for folder in ("", "desk/")},
        "desk/prompts/old/a.md": CLOCK,
    })  # fmt: skip
    expected = [("prompts/b.md", "user-data-first"), ("desk/prompts/a.md", "clock-in-prefix")]
    result = run(["lint", ".", "--json"]).check(1)
    assert sorted(found(result)) == sorted(expected)
    assert result.json()["summary"]["by_rule"] == {"clock-in-prefix": 1, "user-data-first": 1}
    assert result.json()["suppressed"] == []
    forms = (tmp_path / "desk" / "prompts" / "a.md", "prompts/../desk/prompts/b.md", "desk/prompts/old")
    assert [rule for _, rule in found(run(["lint", *forms, "--json"]).check(1))] == ["clock-in-prefix"]
    assert len(found(run(["lint", ".", "--isolated", "--json"]).check(1))) == 5
    only = run(["lint", ".", "--config", "desk/prefixwise.toml", "--json"]).check(1)
    assert {rule for _, rule in found(only)} == {"clock-in-prefix"}


def test_exit_codes_follow_the_configuration_of_the_run(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prompts/a.md": CLOCK, "prefixwise.toml": 'fail-on = "never"', "soft.toml": "exit-zero = true"})
    run(["lint", "prompts"]).check(0)
    run(["lint", "prompts"], env={"PREFIXWISE_FAIL_ON": "error"}).check(1)
    run(["lint", "prompts", "--exit-zero"], env={"PREFIXWISE_FAIL_ON": "error"}).check(0)
    run(["lint", "prompts", "--config", "soft.toml", "--fail-on", "error"]).check(1)
    run(["lint", "prompts"], env={"PREFIXWISE_CONFIG": "soft.toml"}).check(0)


def test_output_and_excerpts_follow_the_configuration(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prompts/a.md": CLOCK, "prefixwise.toml": 'output-format = "json"\nexcerpts = "none"'})
    result = run(["lint", "prompts"]).check(1)
    assert result.json()["findings"][0]["from_text"] is None
    variable = {"PREFIXWISE_OUTPUT_FORMAT": "concise"}
    assert run(["lint", "prompts"], env=variable).check(1).out.startswith("prompts/a.md:1: error")
    full = run(["lint", "prompts", "--json", "--excerpts", "full"], env=variable).check(1)
    assert full.json()["findings"][0]["from_text"] == "{{ now }}"
    plant(tmp_path, {"prefixwise.toml": 'output-format = "jsn"'})
    wrong = run(["lint", "prompts"]).check(2)
    assert "prefixwise.toml: output-format" in wrong.err
    assert "did you mean json?" in wrong.err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("selct = ['PW1']", "prefixwise.toml: selct"),
        ("select = ['PW77']", "prefixwise.toml: select"),
        ("\x1b[31m = 1", "prefixwise.toml"),
        ('"\\u001b[31m\\u202e" = 1', "prefixwise.toml"),
        ('per-file-ignores = { "\\u001b[31m" = ["x"] }', "prefixwise.toml"),
    ],
)
def test_a_wrong_configuration_is_one_clear_error(text: str, where: str, run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prompts/a.md": CLOCK, "prefixwise.toml": text})
    assert where in run(["config"]).check(2).err


def test_every_command_that_reads_the_configuration_refuses_a_wrong_one(run: Any, tmp_path: Path) -> None:
    plant(
        tmp_path, {"prompts/a.md": CLOCK, "prefixwise.toml": "selct = ['PW1']", "builder.py": "def build(): return 'x'"}
    )
    for command in (["lint", "prompts"], ["lock", "prompts"], ["check", "builder.py:build"]):
        assert "prefixwise.toml: selct" in run(command).check(2).err
    assert not (tmp_path / "prefixwise.lock").exists()
    run(["lint", "prompts", "--isolated"]).check(1)


def test_config_says_where_each_value_came_from(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {
        "pyproject.toml": '[tool.prefixwise]\nfail-on = "warning"\nselect = ["PW1"]\n',
        "desk/prefixwise.toml": 'provider = "anthropic"\nmodel = "claude-sonnet-4-5"\n'
        '[[prompt]]\npath = "*.md"\nversion = 2\n',
        "desk/prompts/a.md": CLOCK,
    })  # fmt: skip
    environment = {"PREFIXWISE_PROVIDER": "bedrock", "PREFIXWISE_JOBS": "2"}
    args = ["config", "desk/prompts/a.md", "--ignore", "PW101", "--ignore", "PW2", "--json"]
    result = run(args, env=environment).check(0)
    shown = values(result)
    assert shown["fail-on"] == ("warning", "file pyproject.toml tool.prefixwise.fail-on")
    assert shown["select"] == (None, "default")
    told = run(args[:-1], env=environment).check(0).out
    assert re.search(r"^baseline +– +default", told, re.MULTILINE)
    assert shown["ignore"] == (["PW101", "PW2"], "flag --ignore")
    assert shown["provider"] == ("bedrock", "environment PREFIXWISE_PROVIDER")
    assert shown["model"] == ("claude-sonnet-4-5", "file desk/prefixwise.toml model")
    assert shown["jobs"] == (2, "environment PREFIXWISE_JOBS")
    document = result.json()["values"]
    assert (document["file"], document["run_file"]) == ("desk/prefixwise.toml", "pyproject.toml")
    holds = document["holds"]
    assert (holds["version"], holds["asked"], holds["assumed"]["model"]) == (
        "2",
        {"provider": "bedrock"},
        "claude-sonnet-4-5",
    )
    assert "clock-in-prefix" not in holds["rules"]
    assert "user-data-first" in holds["rules"]
    text = run(["config"]).check(0).out
    assert 'fail-on        "warning"  pyproject.toml: tool.prefixwise.fail-on' in text
    run(["config", "nowhere"]).check(3)


def test_init_writes_a_configuration_that_sets_nothing_and_overwrites_nothing(run: Any, tmp_path: Path) -> None:
    result = run(["init"]).check(0)
    assert (result.out, "prefixwise.toml" in result.err) == ("", True)
    written = (tmp_path / "prefixwise.toml").read_bytes()
    assert all(origin == "default" for _, origin in values(run(["config", "--json"]).check(0)).values())
    run(["init"]).check(2)
    run(["init", "--pyproject"]).check(2)
    assert (tmp_path / "prefixwise.toml").read_bytes() == written
    assert not (tmp_path / "pyproject.toml").exists()


@pytest.mark.parametrize("broken", [b"[project\n", b"[project]\nname = '\xff'\n", b"[tool]\nprefixwise = 1\n"])
def test_init_adds_nothing_to_a_pyproject_that_is_no_toml_or_would_be_none(
    run: Any, tmp_path: Path, broken: bytes
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(broken)
    run(["init", "--pyproject"]).check(2)
    assert (tmp_path / "pyproject.toml").read_bytes() == broken


def test_init_adds_a_section_to_pyproject(run: Any, tmp_path: Path) -> None:
    run(["init", "--pyproject"]).check(2)
    before = "\ufeff[project]\r\nname = 'x'".encode()
    (tmp_path / "pyproject.toml").write_bytes(before)
    run(["init", "--pyproject"]).check(0)
    after = (tmp_path / "pyproject.toml").read_bytes()
    assert after.startswith(before + b"\r\n\r\n[tool.prefixwise]\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
    assert run(["config", "--json"]).check(0).json()["values"]["file"] == "pyproject.toml"
    for again in (["init", "--pyproject"], ["init"]):
        assert "pyproject.toml" in run(again).check(2).err
    assert (tmp_path / "pyproject.toml").read_bytes() == after
    assert not (tmp_path / "prefixwise.toml").exists()


def test_statistics_count_what_each_rule_found(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prompts/a.md": CLOCK, "prompts/b.md": CLOCK, "prompts/c.md": PERSON})
    lines = run(["lint", "prompts", "--statistics", "--output-format", "markdown"]).check(1).out.splitlines()
    counted = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "| PW" in line]
    assert counted == [
        ["clock-in-prefix", "PW101", "2", "2", "0", "0"],
        ["user-data-first", "PW106", "1", "0", "1", "0"],
    ]
    concise = run(["lint", "prompts", "--statistics", "--output-format", "concise"]).check(1).out.splitlines()
    assert concise[-3:] == ["2 clock-in-prefix (PW101)", "1 user-data-first (PW106)", "2 errors, 1 warning"]
    assert "Findings by rule" not in run(["lint", "prompts", "--output-format", "markdown"]).check(1).out


def test_every_number_of_jobs_gives_the_same_bytes(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {f"prompts/{n}.md": (CLOCK, PERSON, RULES, "{% if")[n % 4] for n in range(220)})
    plant(tmp_path, {"builder.py": "prompt = f'{__import__(\"time\").time()}'\n"})
    documents = {run(["lint", ".", "--json", "--jobs", str(jobs)]).check(1).out for jobs in (1, 3)}
    assert len(documents) == 1
    run(["lint", ".", "--jobs", "-1"]).check(2)


def test_versions_for_the_lock_come_from_the_configuration(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prompts/a.md": RULES, "prefixwise.toml": '[[prompt]]\npath = "prompts/"\nversion = "1.10"\n'})
    run(["lock", "prompts"]).check(0)
    assert [one["version"] for one in json.loads((tmp_path / "prefixwise.lock").read_text())["prompts"]] == ["1.10"]
    plant(tmp_path, {"prompts/a.md": RULES.replace("fare", "price", 1)})
    assert found(run(["lint", "prompts", "--locked", "--json"]).check(1)) == [
        ("prompts/a.md", "prompt-version-unbumped")
    ]
    plant(tmp_path, {"prefixwise.toml": '[[prompt]]\npath = "prompts/"\nversion = "1.11"\n'})
    run(["lint", "prompts", "--locked"]).check(0)
    plant(tmp_path, {"prefixwise.toml": 'ignore = ["prompt-version-unbumped"]'})
    run(["lint", "prompts", "--locked"]).check(0)


def test_logs_have_the_rules_of_their_own_configuration(run: Any, tmp_path: Path, e2e: Any) -> None:
    answered = [
        *e2e.chat()["messages"],
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "Thanks."},
    ]
    log = e2e.lines(e2e.chat(), e2e.chat(model="gpt-4.1", messages=answered)).decode()
    plant(tmp_path, {"a/log.jsonl": log, "b/log.jsonl": log, "b/prefixwise.toml": 'ignore = ["model-changed"]'})
    assert ("a/log.jsonl", "model-changed") in found(run(["lint", "a", "--json", "--fail-on", "never"]).check(0))
    assert found(run(["lint", "b", "--json"]).check(0)) == []


def test_no_command_shows_text_where_the_configuration_forbids_it(run: Any, tmp_path: Path, e2e: Any) -> None:
    plant(tmp_path, {"log.jsonl": e2e.lines(e2e.chat("Zebra?"), e2e.chat("Zebra and quagga?")).decode()})
    commands = {
        "diff": ["log.jsonl#0", "log.jsonl#1"],
        "tokens": ["log.jsonl#0", "--blocks"],
        "why": ["log.jsonl", "--request", "log.jsonl#1"],
    }
    shown = {name: run([name, *args]).check(0).out for name, args in commands.items()}
    plant(tmp_path, {"pyproject.toml": '[tool.prefixwise]\nexcerpts = "none"\n'})
    for name, args in commands.items():
        assert "Zebra" in shown[name]
        assert "Zebra" not in run([name, *args]).check(0).out
        if name == "tokens":
            assert run([name, *args, "--isolated"]).check(0).out == shown[name]


def test_facts_of_the_configuration_hold_for_every_command(run: Any, tmp_path: Path) -> None:
    facts = '[systems.vllm]\nname = "Our own gateway"\n'
    plant(tmp_path, {"ci/facts.toml": facts, "ci/prefixwise.toml": 'rules = ["facts.toml"]'})
    assert "Our own gateway" in run(["providers", "vllm", "--config", "ci/prefixwise.toml"]).check(0).out
    assert "Our own gateway" not in run(["providers", "vllm"]).check(0).out


def test_a_hook_that_names_only_excluded_files_is_green_and_says_so(run: Any, tmp_path: Path) -> None:
    plant(tmp_path, {"prefixwise.toml": 'exclude = ["old/"]\nforce-exclude = true\n', "old/prompts/a.md": CLOCK})
    files = ["lint", "old/prompts/a.md", "--report", "sarif=a.sarif", "--update-baseline", "--baseline", "known.json"]
    run(["lint", "old", "--write-baseline", "known.json"]).check(3)
    run(["lint", "old/prompts/a.md", "--write-baseline", "known.json"]).check(0)
    result = run([*files, "--json"]).check(0)
    assert result.json()["findings"] == result.json()["inputs"] == []
    assert any("old/prompts/a.md: left out, excluded by the configuration" in note for note in result.json()["notes"])
    assert run(["lint", "old/prompts/a.md", "--fix", "--diff"]).check(0).out == ""
    run(["lint", "old"]).check(3)
    run(["lint", "old/prompts/a.md", "--isolated"]).check(1)
