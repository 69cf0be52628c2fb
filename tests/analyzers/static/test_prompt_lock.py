"""The lock of prompts: what is written, what a change of a prompt is told, and that nothing else is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prefixwise.analyzers.static.files_report import prompt_files
from prefixwise.analyzers.static.lint import SourceFile, SourceKind
from prefixwise.analyzers.static.lock import Lock, lock_of, lock_text, read_lock, read_prompts
from prefixwise.analyzers.static.locked import locked_findings
from prefixwise.analyzers.static.templates.tokens import count_tokens
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding, Level, Per

HEAD = "---\nname: desk\nversion: 1.2.0\n---\n"
RULES = (
    "\n".join(f"Rule {n}: name quay {n} before the fare, and the fare before the time." for n in range(1, 31)) + "\n"
)
TAIL = "Today is {{ today }}.\n{{ question }}\n"
DESK = HEAD + RULES + TAIL


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**texts: str | bytes) -> None:
    for name, text in texts.items():
        path = Path("prompts", f"{name}.md")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def files() -> list[SourceFile]:
    return [SourceFile(path.as_posix(), SourceKind.TEMPLATE) for path in sorted(Path("prompts").iterdir())]


def locked(root: Path = Path()) -> Lock:
    return lock_of(read_prompts(files(), root)[0])


def after(**texts: str | bytes) -> list[Finding]:
    """Return what is found once prompts are changed."""
    lock = locked()
    write(**texts)
    return locked_findings(files(), lock)


def test_a_lock_says_version_tokens_and_hashes() -> None:
    write(desk=DESK)
    lock = locked()
    (prompt,) = lock.prompts
    assert lock.encoding == "o200k_base"
    assert (prompt.path, prompt.number, prompt.version) == ("prompts/desk.md", 0, "1.2.0")
    assert prompt.tokens == sum(prompt.sizes) == count_tokens(RULES + "Today is ")
    assert all(len(digest) == 24 for digest in prompt.digests)
    assert "quay" not in lock_text(lock)


def test_a_lock_is_read_as_it_was_written() -> None:
    write(desk=DESK, other="{{ question }}", empty="")
    Path("prefixwise.lock").write_text(lock_text(locked()))
    assert read_lock(Path("prefixwise.lock")) == locked()
    assert [prompt.path for prompt in locked().prompts] == ["prompts/desk.md", "prompts/empty.md", "prompts/other.md"]
    assert locked_findings(files(), read_lock(Path("prefixwise.lock"))) == []


def test_the_same_prompts_give_the_same_bytes_in_any_order() -> None:
    write(desk=DESK, other=RULES)
    forward, backward = (lock_of(read_prompts(given, Path())[0]) for given in (files(), files()[::-1]))
    assert lock_text(forward) == lock_text(backward)
    assert lock_text(forward).endswith("}\n")
    json.loads(lock_text(forward))


@pytest.mark.parametrize("number", [1, 7, 30])
def test_a_changed_prefix_under_the_same_version_is_an_error_with_its_cost(number: int) -> None:
    write(desk=DESK)
    (found,) = after(desk=DESK.replace(f"Rule {number}:", f"Rule {number}, new:"))
    before = count_tokens("".join(f"{line}\n" for line in RULES.splitlines()[: number - 1]))
    whole = count_tokens(RULES + "Today is ")
    assert (found.rule, found.code, found.level) == ("prompt-version-unbumped", "PW115", Level.ERROR)
    assert found.tokens_lost is not None
    assert (found.tokens_lost.value, found.tokens_lost.per) == (whole - before, Per.ONCE)
    assert found.span is not None
    assert found.span.line == number + 4
    assert "still 1.2.0" in found.message
    if number > 1:
        assert f"the first {before:,} stay and {whole - before:,} are thrown away" in found.message
    else:
        assert f"all {whole:,} cached tokens are thrown away" in found.message


def test_another_version_makes_it_information() -> None:
    write(desk=DESK)
    (found,) = after(desk=DESK.replace("1.2.0", "1.3.0").replace("Rule 4:", "Rule four:"))
    assert found.level is Level.INFO
    assert "from version 1.2.0 to version 1.3.0 with another prefix" in found.message
    assert found.tokens_lost is not None
    (found,) = after(desk=DESK)
    assert "from version 1.3.0 to version 1.2.0" in found.message


def test_another_version_with_the_same_prefix_is_information_without_a_cost() -> None:
    write(desk=DESK)
    (found,) = after(desk=DESK.replace("1.2.0", "1.3.0"))
    assert (found.level, found.tokens_lost) == (Level.INFO, None)


def test_a_prompt_without_a_version_has_nothing_to_tell() -> None:
    write(desk=RULES + TAIL)
    (found,) = after(desk="One more.\n" + RULES + TAIL)
    assert found.level is Level.ERROR
    assert "it has no version" in found.message


def test_text_added_behind_the_prefix_throws_nothing_away_and_moves_what_follows() -> None:
    write(desk=HEAD + RULES + "{{ question }}")
    (found,) = after(desk=HEAD + RULES + "One more rule.\n{{ question }}")
    assert (found.level, found.tokens_lost) == (Level.ERROR, None)
    assert "cached tokens stay" in found.message


@pytest.mark.parametrize(
    "changed",
    [
        DESK,
        DESK.replace("\n", "\r\n"),
        "\ufeff" + DESK,
        DESK + "Answer shortly.\n",
        DESK.replace("{{ today }}", "{{ now }}"),
        DESK.replace("{{ question }}", "<q>{{ message }}</q>"),
        DESK.replace("name: desk", "name: desk\nupdated: 2026-05-01"),
        DESK.replace("version: 1.2.0", 'version: "1.2.0"'),
    ],
    ids=["nothing", "line ends", "mark", "behind", "placeholder", "question", "front matter", "quotes"],
)
def test_what_is_no_other_prefix(changed: str) -> None:
    write(desk=DESK)
    assert after(desk=changed) == []


def test_places_are_right_over_carriage_returns() -> None:
    write(desk=DESK.replace("\n", "\r\n"))
    changed = DESK.replace("Rule 7:", "Rule seven:").replace("\n", "\r\n")
    (found,) = after(desk=changed)
    assert found.span is not None
    assert changed[found.span.start : found.span.end].startswith("Rule seven: name quay 7")
    assert found.span.line == 11


def test_comments_are_no_part_of_a_prefix_and_settings_are() -> None:
    text = "---\ntemplate_format: jinja2\n---\n{# first #}{{ product_name }} desk.\n" + RULES + "{{ question }}"
    write(desk=text)
    assert after(desk=text.replace("first", "second")) == []
    (found,) = after(desk=text.replace("product_name", "brand_name"))
    assert found.level is Level.ERROR


def test_the_role_of_a_text_is_part_of_its_prefix() -> None:
    Path("a.prompty").write_text(f"---\nname: a\n---\nsystem:\n{RULES}\nuser:\n{{{{question}}}}\n")
    given = [SourceFile("a.prompty", SourceKind.TEMPLATE)]
    lock = lock_of(read_prompts(given, Path())[0])
    Path("a.prompty").write_text(f"---\nname: a\n---\nuser:\n{RULES}\n{{{{question}}}}\n")
    (found,) = locked_findings(given, lock)
    assert "all" in found.message


def test_new_removed_and_renamed_prompts_are_information() -> None:
    write(desk=DESK, old=RULES, gone="Say yes.\n" * 9)
    lock = locked()
    Path("prompts/desk.md").rename("prompts/help.md")
    Path("prompts/gone.md").unlink()
    write(fresh="Say no.\n" * 9)
    found = {finding.path: finding for finding in locked_findings(files(), lock)}
    assert {finding.level for finding in found.values()} == {Level.INFO}
    assert set(found) == {"prompts/fresh.md", "prompts/gone.md", "prompts/help.md"}
    assert "is not in the lock yet" in found["prompts/fresh.md"].message
    assert "not there any more" in found["prompts/gone.md"].message
    assert "locked as prompts/desk.md, with the same prefix" in found["prompts/help.md"].message
    assert len({finding.fingerprint for finding in found.values()}) == 3


def test_prompts_that_are_not_linted_are_not_removed() -> None:
    write(desk=DESK, other=RULES)
    assert locked_findings([SourceFile("prompts/other.md", SourceKind.TEMPLATE)], locked()) == []


def test_paths_begin_at_the_folder_of_the_lock() -> None:
    write(desk=DESK)
    os.mkdir("ci")
    lock = locked(Path("ci"))
    assert lock.prompts[0].path == "../prompts/desk.md"
    assert locked_findings(files(), lock, Path("ci")) == []
    write(desk=RULES + DESK)
    (found,) = locked_findings(files(), lock, Path("ci"))
    assert found.path == "prompts/desk.md"


def test_each_prompt_of_a_file_is_locked_by_itself() -> None:
    body = RULES.replace("\n", "\n    ")
    text = "a:\n  version: 1\n  template: |\n    {0}\nb:\n  version: 2\n  template: |\n    {0}\n".format(body.strip())
    Path("prompts.yaml").write_text(text)
    given = [SourceFile("prompts.yaml", SourceKind.TEMPLATE)]
    lock = lock_of(read_prompts(given, Path())[0])
    assert [(prompt.number, prompt.version) for prompt in lock.prompts] == [(0, "1"), (1, "2")]
    first, _, second = text.rpartition("b:")
    Path("prompts.yaml").write_text(first + "b:" + second.replace("Rule 9:", "Rule nine:"))
    (found,) = locked_findings(given, lock)
    assert "prefix of prompt 2 of prompts.yaml" in found.message
    assert found.span is not None
    assert found.span.line > text[: text.index("b:")].count("\n")


def test_what_cannot_be_locked_is_said() -> None:
    chat = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
    )
    write(broken="{% if %}", binary=b"\xff\xfe\x00", chat=chat)
    prompts, notes = read_prompts([*files(), SourceFile("nowhere.md", SourceKind.TEMPLATE)], Path())
    assert prompts == []
    assert len(notes) == 4
    assert all("not locked: " in note for note in notes)
    assert read_prompts([SourceFile("a.py", SourceKind.PYTHON)], Path()) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"schema": "prefixwise/lint", "schema_version": 1, "encoding": "x", "prompts": []}',
        '{"schema": "prefixwise/lock", "schema_version": 9, "encoding": "x", "prompts": []}',
        '{"schema": "prefixwise/lock", "schema_version": 1, "encoding": "x", "prompts": [{"path": "a", "number": 0, '
        '"version": "", "tokens": 1, "segments": ["one ab"]}]}',
    ],
)
def test_what_is_no_lock_is_one_clear_error(text: str) -> None:
    Path("prefixwise.lock").write_text(text)
    with pytest.raises(UserError) as caught:
        read_lock(Path("prefixwise.lock"))
    assert "prefixwise lock PATHS" in caught.value.help
    with pytest.raises(UserError, match="no lock"):
        read_lock(Path("nowhere.lock"))


def test_folders_are_looked_through_for_prompts() -> None:
    for name in (
        "prompts/a.md", "prompts/deep/b.yaml", "prompts/c.py", "src/d.prompt", "src/e.prompty", "src/system_prompt.txt",
        "src/readme.md", "node_modules/prompts/f.md", ".hidden/prompts/g.md",
    ):  # fmt: skip
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x")
    assert [file.path for file in prompt_files(["."])] == [
        "prompts/a.md", "prompts/deep/b.yaml", "src/d.prompt", "src/e.prompty", "src/system_prompt.txt",
    ]  # fmt: skip
    assert [file.path for file in prompt_files(["prompts"])] == ["prompts/a.md", "prompts/deep/b.yaml"]
    assert [file.path for file in prompt_files(["src/readme.md", "src/readme.md"])] == ["src/readme.md"]
