"""Findings on lines that changed since a commit."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repository import commit, git, repository

from prefixwise.analyzers.suppress.since import Changes, changes_since
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Confidence, Finding, Fix, Mode, Safety, Severity, Span, Step, Where

ODD_NAMES = (
    "plain.md",
    "with space.md",
    "prompts/ümlaut.md",
    'quo"te.md',
    "tab\tand\nnewline.md",
    "a/[tenant]/*.md",
    "-x.md",
)
LINES = [f"line {number}\n" for number in range(1, 31)]
TEXT = "".join(LINES)


def at(path: str, line: int, last: int | None = None, rule: str = "clock-in-prefix", **more: object) -> Finding:
    severity = Severity.HIGH
    return Finding(
        rule=rule,
        code="PW101",
        severity=severity,
        level=severity.level,
        confidence=Confidence.CERTAIN,
        where=Where.SYSTEM,
        path=path,
        message="m",
        fix=Fix("f", Safety.NONE),
        fingerprint="0",
        **{"mode": Mode.STATIC, "span": Span(line, 1, last or line, 5, 0, 5), **more},  # type: ignore[arg-type]
    )


def touched(folder: Path, path: str, ref: str = "main", count: int = 40) -> list[int]:
    """Return the lines of a file on which a finding is told."""
    findings = [at(path, line) for line in range(1, count)]
    changes = changes_since(ref, findings, str(folder))
    return [line for line, finding in enumerate(findings, start=1) if changes.touch(finding)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository on a branch of its own, with a file for each odd name."""
    made = repository(tmp_path / "work tree", dict.fromkeys(ODD_NAMES, TEXT))
    git(made, "switch", "--quiet", "--create", "topic")
    return made


def changed(line: int, text: str = "other\n") -> str:
    return "".join([*LINES[: line - 1], text, *LINES[line:]])


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("how", ["committed", "staged", "unstaged"])
def test_changed_lines_of_files_with_odd_names(folder: Path, name: str, how: str) -> None:
    (folder / name).write_text(changed(7))
    if how != "unstaged":
        git(folder, "add", "--all")
    if how == "committed":
        git(folder, "commit", "--quiet", "--message", "x")
    assert touched(folder, name) == [7]
    others = [other for other in ODD_NAMES if other != name]
    assert [touched(folder, other) for other in others[:2]] == [[], []]


def test_lines_that_were_added_and_taken_away(folder: Path) -> None:
    kept = [*LINES[:3], "a\n", "b\n", *LINES[3:10], *LINES[14:]]
    (folder / "plain.md").write_text("".join(kept))
    assert touched(folder, "plain.md") == [4, 5]


def test_line_ends_of_both_kinds(folder: Path) -> None:
    commit(folder, {"crlf.md": TEXT.replace("\n", "\r\n")})
    git(folder, "branch", "--force", "base")
    (folder / "crlf.md").write_bytes(changed(9).replace("\n", "\r\n").encode())
    assert touched(folder, "crlf.md", "base") == [9]


@pytest.mark.parametrize("before", [TEXT, TEXT.replace("\n", "\r\n")])
def test_other_line_ends_bring_no_finding_back_but_those_about_the_file(folder: Path, before: str) -> None:
    commit(folder, {"ends.md": before})
    git(folder, "branch", "--force", "base")
    after = changed(9) if "\r" in before else changed(9).replace("\n", "\r\n")
    (folder / "ends.md").write_bytes(after.encode())
    assert touched(folder, "ends.md", "base") == [9]
    drift = at("ends.md", 2, rule="line-ending-drift")
    assert changes_since("base", [drift], str(folder)).touch(drift)
    assert not changes_since("HEAD", [at("plain.md", 2)], str(folder)).touch(drift)


def test_a_file_that_only_lost_lines_has_changed_as_a_file(folder: Path) -> None:
    (folder / "plain.md").write_text("".join(LINES[:20]))
    locked = at("plain.md", 2, rule="prompt-version-unbumped")
    assert changes_since("main", [locked], str(folder)).touch(locked)
    assert touched(folder, "plain.md") == []


@pytest.mark.parametrize("renames", ["true", "false"])
def test_a_renamed_file_has_changed_where_its_text_has(folder: Path, renames: str) -> None:
    git(folder, "config", "diff.renames", renames)
    git(folder, "mv", "with space.md", "prompts/new näme.md")
    about_all = at("prompts/new näme.md", 1, rule="line-ending-drift")
    assert touched(folder, "prompts/new näme.md") == []
    assert not changes_since("main", [about_all], str(folder)).touch(about_all)
    (folder / "prompts/new näme.md").write_text(changed(12))
    assert touched(folder, "prompts/new näme.md") == [12]
    assert changes_since("main", [about_all], str(folder)).touch(about_all)


def test_what_git_does_not_know_has_changed_as_a_whole(folder: Path) -> None:
    (folder / "new.md").write_text(TEXT)
    (folder / ".gitignore").write_text("ignored.md\n")
    (folder / "ignored.md").write_text(TEXT)
    assert touched(folder, "new.md", count=31) == touched(folder, "ignored.md", count=31) == list(range(1, 31))
    git(folder, "add", "--intent-to-add", "new.md")
    assert touched(folder, "new.md", count=31) == list(range(1, 31))


def test_what_happened_on_the_other_branch_is_not_ours(folder: Path) -> None:
    commit(folder, {"plain.md": changed(7)})
    git(folder, "switch", "--quiet", "main")
    commit(folder, {"plain.md": changed(20)})
    git(folder, "switch", "--quiet", "topic")
    assert touched(folder, "plain.md") == [7]


def test_settings_of_the_repository_change_nothing(folder: Path) -> None:
    traps = {
        "diff.external": "false",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.interHunkContext": "20",
        "diff.context": "9",
        "color.ui": "always",
        "core.quotePath": "false",
        "core.fsmonitor": str(folder / "never-run"),
        "diff.trap.textconv": "false",
        "diff.trap.command": "false",
    }
    for key, value in traps.items():
        git(folder, "config", key, value)
    (folder / ".gitattributes").write_text("*.md diff=trap\nbinary.md -diff\n")
    commit(folder, {"binary.md": TEXT, "plain.md": changed(2)})
    git(folder, "branch", "--force", "base")
    (folder / "plain.md").write_text(changed(2).replace("line 9\n", "nine\n").replace("line 11\n", "eleven\n"))
    (folder / "binary.md").write_text(changed(3))
    assert touched(folder, "plain.md", "base") == [9, 11]
    assert touched(folder, "binary.md", "base") == [3]
    assert not (folder / "never-run").exists()


@settings(max_examples=15, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.sampled_from(["replace", "insert", "delete"]), st.integers(0, 19)),
        max_size=6,
        unique_by=lambda edit: edit[1],
    )
)
def test_any_edit_is_found_line_by_line(tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, int]]) -> None:
    folder = repository(tmp_path_factory.mktemp("edits"), {"a.md": "".join(LINES[:20])})
    lines: list[str] = []
    by_line = {line: what for what, line in edits}
    for number, line in enumerate(LINES[:20]):
        what = by_line.get(number)
        lines += {None: [line], "replace": [f"new {number}\n"], "insert": [f"new {number}\n", line], "delete": []}[what]
    (folder / "a.md").write_text("".join(lines))
    expected = [number for number, line in enumerate(lines, start=1) if line.startswith("new")]
    assert touched(folder, "a.md", "HEAD") == expected


def test_places_of_a_finding() -> None:
    changes = Changes({"a.md": ((4, 6),), "b.py": ((10, 10),)})
    step = Step("b.py", Span(9, 1, 11, 1, 0, 9), "sent")
    assert changes.touch(at("a.md", 6))
    assert not changes.touch(at("a.md", 7))
    assert changes.touch(at("a.md", 1, 30))
    assert changes.touch(at("c.py", 1, flow=(step,)))
    assert not changes.touch(at("c.py", 1, flow=(Step("b.py", Span(11, 1, 12, 1, 0, 9), "sent"),)))
    assert not changes.touch(at("a.md", 2, span=Span(2, 1, 4, 1, 0, 9)))  # ends before line 4 begins


def test_a_finding_about_a_file_is_told_when_the_file_changed() -> None:
    changes = Changes({"a.md": ((4, 6),)})
    assert changes.touch(at("a.md", 30, rule="prompt-version-unbumped"))
    assert changes.touch(at("a.md", 1, span=None))
    assert not changes.touch(at("b.md", 5, rule="prompt-version-unbumped"))


def test_findings_of_logs_are_always_told() -> None:
    assert Changes({}).touch(at("log.jsonl", 1, mode=Mode.LOG, span=None))


def test_a_locked_prompt_that_was_deleted_has_changed(folder: Path) -> None:
    (folder / "plain.md").unlink()
    gone = [at(name, 1, span=None, rule="prompt-version-unbumped") for name in ("plain.md", "long-gone.md")]
    changes = changes_since("main", gone, str(folder))
    assert [changes.touch(finding) for finding in gone] == [True, False]


@pytest.mark.parametrize("ref", ["-x", "--output=owned", "", "a\0b"])
def test_a_ref_is_never_an_option(folder: Path, ref: str) -> None:
    with pytest.raises(UserError, match="no name of a commit"):
        changes_since(ref, [at("plain.md", 1)], str(folder))
    assert not (folder / "owned").exists()


@pytest.mark.parametrize("ref", ["nowhere", "main:plain.md", "main..topic", "HEAD~9", "@{u}", "a b"])
def test_an_unknown_commit_says_to_fetch_it(folder: Path, ref: str) -> None:
    with pytest.raises(UserError, match="no such commit") as raised:
        changes_since(ref, [at("plain.md", 1)], str(folder))
    assert "git fetch" in raised.value.help


def test_a_shallow_clone_says_how_deep_to_fetch(folder: Path, tmp_path: Path) -> None:
    for number in range(3):
        commit(folder, {"plain.md": changed(number + 1)})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=topic", folder.as_uri(), str(clone))
    for ref in ("main", "HEAD~2"):
        with pytest.raises(UserError, match="shallow") as raised:
            changes_since(ref, [at("plain.md", 1)], str(clone))
        assert "fetch-depth: 0" in raised.value.help
    git(clone, "fetch", "--quiet", "--depth=1", "origin", "main:main")
    with pytest.raises(UserError, match="does not reach back") as raised:
        changes_since("main", [at("plain.md", 1)], str(clone))
    assert "fetch-depth: 0" in raised.value.help
    assert touched(clone, "plain.md", "HEAD") == []


def test_histories_without_a_common_commit_are_compared_as_they_are(folder: Path) -> None:
    git(folder, "switch", "--quiet", "--orphan", "alone")
    commit(folder, {"plain.md": changed(5)})
    assert touched(folder, "plain.md") == [5]


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(UserError, match="no work tree"):
        changes_since("main", [], str(tmp_path))


def test_a_file_outside_the_repository_has_changed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(TEXT)
    changes = changes_since("main", [at("../outside.md", 3)], str(folder))
    assert changes.touch(at("../outside.md", 3))


def test_without_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(UserError, match="not installed"):
        changes_since("main", [at("plain.md", 1)], str(folder))


def test_a_repository_of_somebody_else(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    message = "fatal: detected dubious ownership\\n\\tgit config --global --add safe.directory /x"
    fake.write_text(f"#!{shutil.which('sh')}\nprintf '{message}' >&2\nexit 128\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(UserError, match="does not trust") as raised:
        changes_since("main", [at("plain.md", 1)], str(folder))
    assert "safe.directory" in raised.value.help


def test_the_repository_is_left_as_it_is(folder: Path) -> None:
    (folder / "plain.md").write_text(changed(7))
    os.utime(folder / "with space.md", (1, 1))
    before = (folder / ".git" / "index").read_bytes()
    assert touched(folder, "plain.md") == [7]
    assert (folder / ".git" / "index").read_bytes() == before


def test_paths_count_from_where_lint_is_started(folder: Path) -> None:
    (folder / "prompts/ümlaut.md").write_text(changed(7))
    (folder / "plain.md").write_text(changed(9))
    (folder / "link").symlink_to("prompts", target_is_directory=True)
    assert touched(folder / "prompts", "ümlaut.md") == [7]
    assert touched(folder / "prompts", "../plain.md") == [9]
    assert touched(folder, str(folder / "plain.md")) == [9]
    assert touched(folder, "link/ümlaut.md") == [7]
