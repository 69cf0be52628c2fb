"""What a comment tells the linter, and what it does not."""

from __future__ import annotations

import pytest

from prefixwise.analyzers.suppress.commented import Comment
from prefixwise.analyzers.suppress.directives import Directive, directives_in


def said(text: str, body: int = 100) -> list[Directive]:
    return directives_in(Comment(body - 1, body + len(text), body, text))


@pytest.mark.parametrize(
    ("text", "names", "reason", "whole_file"),
    [
        (" prefixwise: ignore[clock-in-prefix]", ["clock-in-prefix"], "", False),
        (" prefixwise: ignore[clock-in-prefix] one call a day", ["clock-in-prefix"], "one call a day", False),
        ("prefixwise:ignore[PW101,PW106]— both wanted ", ["PW101", "PW106"], "both wanted", False),
        (" prefixwise: ignore[ a , b ,]", ["a", "b"], "", False),
        (" prefixwise: ignore-file[a]: legacy", ["a"], "legacy", True),
        (" noqa: E501  # prefixwise: ignore[a] why  # type: ignore", ["a"], "why", False),
        ("\n * prefixwise: ignore[a] in a block\n * and more\n ", ["a"], "in a block", False),
    ],
)
def test_a_comment_names_rules_and_may_give_a_reason(
    text: str, names: list[str], reason: str, whole_file: bool
) -> None:
    (directive,) = said(text)
    assert [named.name for named in directive.names] == names
    assert [text[named.start - 100 : named.end - 100] for named in directive.names] == names
    assert (directive.reason, directive.whole_file, directive.fault) == (reason, whole_file, "")
    assert text[directive.start - 100 :].startswith("prefixwise")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (" prefixwise: ignore", "names no rule"),
        (" prefixwise: ignore all of it", "names no rule"),
        (" prefixwise: ignore[]", "names no rule"),
        (" prefixwise: ignore[ , ]", "names no rule"),
        (" prefixwise: ignore-file", "names no rule"),
        (" prefixwise: ignore[clock-in-prefix", "does not close"),
        (" prefixwise: disable[clock-in-prefix]", "`disable`"),
        (" prefixwise:", "``"),
    ],
)
def test_what_ignores_nothing_has_a_fault(text: str, fault: str) -> None:
    (directive,) = said(text)
    assert fault in directive.fault
    assert not directive.names


@pytest.mark.parametrize("text", [" see the docs on prefixwise: ignore[a]", " prefixwise finds this", " ignore[a]"])
def test_prose_is_no_directive(text: str) -> None:
    assert said(text) == []


def test_one_comment_may_say_several_things() -> None:
    found = said(" prefixwise: ignore[a] one # prefixwise: ignore[b] two")
    assert [(one.names[0].name, one.reason) for one in found] == [("a", "one"), ("b", "two")]
