"""Fixes that are not made: a note says why, and the file stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest
from support.fixing import fix_folder

from prefixwise.analyzers.fixes.rounds import FixedSources, Fixer
from prefixwise.analyzers.static.context import nothing_known
from prefixwise.core.finding import Edit, Finding, Fix, Safety
from prefixwise.workflows.fixing import FixAsked, mend

RULES = "Name the quay, the time and the fare in every answer.\n" * 40
PROMPT = f"{RULES}\nIt is {{{{ now }}}}.\n"
TOP = f"It is {{{{ now }}}}.\n\n{RULES}"


def finding(path: str, *edits: Edit, rule: str = "clock-in-prefix", fingerprint: str = "1") -> Finding:
    """Return a finding of a real prompt with other edits."""
    (found,) = fix_folder({"prompts/desk.md": TOP}, unsafe=False).found
    fix = Fix("Mend it.", Safety.SAFE, edits)
    return msgspec.structs.replace(found, rule=rule, path=path, fix=fix, fingerprint=fingerprint)


def outcome(path: str, text: str, edit: Edit, after: Callable[[Finding], tuple[Finding, ...]]) -> FixedSources:
    one = finding(path, edit)

    def lint(texts: Mapping[str, str], _only: object) -> tuple[Finding, ...]:
        return after(one) if texts.get(path, text) != text else (one,)

    return Fixer(lambda _: text, lint, nothing_known, unsafe=False).fixed((one,))


@pytest.mark.parametrize(
    ("path", "text", "edit", "why"),
    [
        ("app.py", "x = (1)\n", Edit("app.py", 4, 5, ""), "would not parse any more"),
        ("a.json", '{"a": 1}', Edit("a.json", 7, 8, ""), "would not parse any more"),
        ("prompts/a.j2", "{% if x %}a{% endif %}", Edit("prompts/a.j2", 11, 22, ""), "could not be read any more"),
        ("prompts/desk.md", PROMPT, Edit("prompts/desk.md", 0, 0, "{{ user_name }}\n"), "a cache would serve"),
    ],
)
def test_what_breaks_a_file_or_costs_more_is_not_made(path: str, text: str, edit: Edit, why: str) -> None:
    fixed = outcome(path, text, edit, lambda _: ())
    assert fixed.after == {}
    assert [why in one.why for one in fixed.refused] == [True]


def test_a_fix_must_do_away_with_its_finding_and_bring_no_other() -> None:
    edit = Edit("prompts/desk.md", 0, 0, "Be kind.\n")
    stays = outcome("prompts/desk.md", PROMPT, edit, lambda one: (one,))
    assert [one.why for one in stays.refused] == ["it would not do away with what was found"]
    other = finding("prompts/desk.md", rule="counter-in-prefix", fingerprint="2")
    new = outcome("prompts/desk.md", PROMPT, edit, lambda _: (other,))
    assert [one.why for one in new.refused] == ["counter-in-prefix would be found instead"]
    made = outcome("prompts/desk.md", PROMPT, edit, lambda _: ())
    assert made.after == {"prompts/desk.md": "Be kind.\n" + PROMPT}


def test_of_two_fixes_that_overlap_the_first_is_made_and_the_other_looked_at_again() -> None:
    path, text = "prompts/desk.md", "abc " + PROMPT
    first = finding(path, Edit(path, 0, 2, "x"))
    second = finding(path, Edit(path, 1, 3, "y"), rule="counter-in-prefix", fingerprint="2")

    def lint(texts: Mapping[str, str], _only: object) -> tuple[Finding, ...]:
        now = texts.get(path, text)
        return (first, second) if now == text else (second,) if now.startswith("xc") else ()

    fixed = Fixer(lambda _: text, lint, nothing_known, unsafe=False).fixed((first, second))
    assert [one.rule for one in fixed.made] == ["clock-in-prefix", "counter-in-prefix"]
    assert fixed.after[path].startswith("xyName")


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = (tmp_path / "desk.md").as_posix()
    Path(path).write_text(PROMPT)
    one = finding(path, Edit(path, 0, 0, "Be kind.\n"))

    def lint(given: Mapping[str, bytes], _only: object) -> tuple[Finding, ...]:
        if not given or given[path].decode() == PROMPT:
            return (one,)
        Path(path).write_text("Somebody wrote this.\n")
        return ()

    mended = mend(FixAsked(), lint, nothing_known)
    assert mended.notes == (f"{path}: not mended: it changed while it was looked at",)
    assert Path(path).read_text() == "Somebody wrote this.\n"
