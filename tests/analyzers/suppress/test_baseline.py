"""Baselines: what they hold, what they hide, and how they shrink."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.analyzers.suppress.baseline import (
    Baseline,
    Known,
    baseline_of,
    baseline_text,
    followed,
    read_baseline,
    removable,
    renewed,
    sift_baseline,
)
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Confidence, Finding, Fix, Mode, Safety, Severity, Where
from prefixwise.core.suppression import Suppression, SuppressionKind

FILE = Path("prefixwise-baseline.json")


def finding(
    path: str = "a.md", rule: str = "clock-in-prefix", fingerprint: str = "f0", mode: str = "static"
) -> Finding:
    severity = Severity.HIGH
    return Finding(
        rule=rule,
        code="PW101",
        severity=severity,
        level=severity.level,
        confidence=Confidence.CERTAIN,
        mode=Mode(mode),
        where=Where.SYSTEM,
        path=path,
        message="m",
        fix=Fix("f", Safety.NONE),
        fingerprint=fingerprint,
    )


FINDINGS = st.lists(
    st.builds(
        finding,
        path=st.sampled_from(["a.md", "prompts/b c.md", "prompts/ü.j2"]),
        rule=st.sampled_from(["clock-in-prefix", "user-data-first"]),
        fingerprint=st.sampled_from(["00", "01", "ff"]),
        mode=st.sampled_from(["static", "log"]),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(FINDINGS, st.integers(0, 1000))
def test_a_baseline_hides_what_it_was_written_of_and_nothing_more(findings: list[Finding], seed: int) -> None:
    baseline = baseline_of(findings, FILE)
    shuffled = findings[:]
    random.Random(seed).shuffle(shuffled)
    sifted, left = sift_baseline(shuffled, baseline)
    assert (sifted.kept, left) == ((), Counter())
    assert [one.finding for one in sifted.hidden] == shuffled
    for extra in shuffled[:3]:
        sifted, _ = sift_baseline([*shuffled, extra], baseline)
        assert sifted.kept == (extra,)


@settings(max_examples=100, deadline=None)
@given(findings=FINDINGS, seed=st.integers(0, 1000))
def test_the_text_is_the_same_for_the_same_findings_and_reads_back(findings: list[Finding], seed: int) -> None:
    shuffled = findings[:]
    random.Random(seed).shuffle(shuffled)
    baseline = baseline_of(findings, FILE)
    text = baseline_text(baseline)
    assert baseline_text(baseline_of(shuffled, FILE)) == text
    decoded = msgspec.json.decode(text)
    for files in (decoded["files"], *decoded["files"].values(), decoded["logs"]):
        assert list(files) == sorted(files)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "base.json"
    path.parent.mkdir()
    one, log = finding(str(tmp_path / "prompts" / "a b.md")), finding("log-2026-11-30.jsonl", mode="log")
    path.write_text(baseline_text(baseline_of([one, one, log], path)), encoding="utf-8")
    assert read_baseline(path).counts == {
        Known("../prompts/a b.md", "clock-in-prefix", "f0"): 2,
        Known("", "clock-in-prefix", "f0"): 1,
    }
    assert json.loads(path.read_text()) == {
        "schema": "prefixwise/baseline",
        "schema_version": 1,
        "files": {"../prompts/a b.md": {"clock-in-prefix": {"f0": 2}}},
        "logs": {"clock-in-prefix": {"f0": 1}},
    }


def test_of_equal_findings_the_next_one_is_new() -> None:
    twice = baseline_of([finding(), finding()], FILE)
    sifted, left = sift_baseline([finding()] * 3, twice)
    assert (len(sifted.hidden), len(sifted.kept), left) == (2, 1, Counter())
    sifted, left = sift_baseline([finding()], twice)
    assert (len(sifted.hidden), left.total()) == (1, 1)
    assert sifted.hidden[0].suppression == Suppression(SuppressionKind.BASELINE, "", FILE.as_posix(), None)


def test_logs_have_another_name_tomorrow() -> None:
    baseline = baseline_of([finding("log-1.jsonl", mode="log")], FILE)
    assert sift_baseline([finding("day/log-2.jsonl", mode="log")], baseline)[0].kept == ()
    assert sift_baseline([finding("log-1.jsonl")], baseline)[0].kept != ()


def test_a_file_is_the_same_wherever_lint_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts").mkdir()
    monkeypatch.chdir(tmp_path)
    baseline = baseline_of([finding("prompts/a.md")], Path("base.json"))
    monkeypatch.chdir(tmp_path / "prompts")
    from_here = Baseline(baseline.counts, Path("../base.json"))
    assert sift_baseline([finding("a.md")], from_here)[0].kept == ()


def two(path: str) -> list[Finding]:
    return [finding(path), finding(path, "user-data-first", "f1")]


@pytest.mark.parametrize(
    ("known", "found", "kept"),
    [
        (two("gone.md"), two("here.md"), []),
        ([*two("x/a.md"), *two("x/b.md")], [*two("y/b.md"), *two("y/a.md")], []),
        (two("x/a.md"), two("y/a.md")[:1], []),
        (two("x/a.md"), [*two("y/a.md"), finding("y/a.md", fingerprint="f2")], [("y/a.md", "f2")]),
        (two("gone.md"), two("here.md")[:1], [("here.md", "f0")]),
        (
            two("gone.md"),
            [*two("here.md"), finding("here.md")],
            [("here.md", "f0"), ("here.md", "f0"), ("here.md", "f1")],
        ),
        (two("stays.md"), two("here.md"), [("here.md", "f0"), ("here.md", "f1")]),
        (two("gone.md"), [*two("a.md"), *two("b.md")], [("b.md", "f0"), ("b.md", "f1")]),
        ([*two("gone.md"), *two("here.md")[:1]], two("here.md"), [("here.md", "f1")]),
    ],
)
def test_a_file_that_was_renamed_is_known_by_what_is_found_in_it(
    tmp_path: Path, known: list[Finding], found: list[Finding], kept: list[tuple[str, str]]
) -> None:
    (tmp_path / "stays.md").touch()
    path = tmp_path / "base.json"
    inside = [[msgspec.structs.replace(one, path=str(tmp_path / one.path)) for one in some] for some in (known, found)]
    every = {"clock-in-prefix", "user-data-first"}
    baseline, _ = followed(baseline_of(inside[0], path), inside[1], lambda _: every)
    told = sift_baseline(inside[1], baseline)[0].kept
    assert sorted((Path(one.path).relative_to(tmp_path).as_posix(), one.fingerprint) for one in told) == kept
    assert baseline.counts.total() == len(known)


def test_rules_that_did_not_run_say_nothing_of_a_new_name(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    (before, after) = (two(str(tmp_path / name)) for name in ("gone.md", "here.md"))
    baseline, names = followed(baseline_of(before, path), after[:1], lambda _: {"clock-in-prefix"})
    assert names == {"gone.md": "here.md"}
    assert baseline.counts == baseline_of(after, path).counts


def test_a_file_is_the_same_by_whatever_link_one_got_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    except OSError:  # a system without links for everyone
        return
    monkeypatch.chdir(tmp_path / "real")
    baseline = baseline_of([finding("a.md")], Path("base.json"))
    by_link = Baseline(baseline.counts, tmp_path / "link" / "base.json")
    assert sift_baseline([finding("a.md")], by_link)[0].kept == ()


def test_what_was_not_looked_at_stays() -> None:
    old = baseline_of([finding("a.md"), finding("b.md"), finding("b.md", fingerprint="f1")], FILE)
    now = baseline_of([finding("b.md", fingerprint="f2"), finding("b.md")], FILE)
    new = renewed(old, now, lambda known: known.path == "b.md")
    assert {(known.path, known.fingerprint) for known in new.counts} == {("a.md", "f0"), ("b.md", "f0"), ("b.md", "f2")}
    left = sift_baseline([finding("b.md")], old)[1]
    assert removable(left, lambda known: known.path == "b.md") == {Known("b.md", "clock-in-prefix", "f1"): 1}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "this is no baseline"),
        ("[]", "this is no baseline"),
        ("{", "this is no baseline"),
        ("<<<<<<< HEAD\n{}", "this is no baseline"),
        ("\udcff", "this is no baseline"),
        ("[" * 100_000, "this is no baseline"),
        ('{"schema": "prefixwise/lock", "schema_version": 1, "files": {}, "logs": {}}', "this is no baseline"),
        ('{"schema": "prefixwise/baseline", "schema_version": 1, "files": {}}', "this is no baseline"),
        ('{"schema": "prefixwise/baseline", "schema_version": 1, "files": {}, "logs": {}, "x": 1}', "unknown field"),
        ('{"schema": "prefixwise/baseline", "schema_version": 1, "files": {"a": {"b": {"c": 0}}}, "logs": {}}', ">= 1"),
        ('{"schema": "prefixwise/baseline", "schema_version": 1, "files": {"a": {"b": 1}}, "logs": {}}', "`int`"),
        ('{"schema": "prefixwise/baseline", "schema_version": 2, "anything": {}}', "has version 2"),
    ],
)
def test_a_damaged_baseline_is_one_clear_error(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "base.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as raised:
        read_baseline(path)
    assert what in raised.value.what
    assert raised.value.where == str(path)
    assert "--write-baseline" in raised.value.help
    assert len(raised.value.what) < 200
    assert "\n" not in raised.value.what


def test_a_missing_baseline_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no baseline") as raised:
        read_baseline(tmp_path / "none.json")
    assert "--write-baseline" in raised.value.help
    with pytest.raises(UserError, match="cannot be read"):
        read_baseline(tmp_path)
