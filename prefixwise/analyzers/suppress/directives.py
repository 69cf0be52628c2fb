"""What comments tell the linter: `prefixwise: ignore[rule, rule] reason`, and `ignore-file[...]` for a whole file."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.suppress.commented import Comment

MARK = re.compile(rb"prefixwise[ \t]*:")
"""Stands in every file that tells the linter something."""

_DIRECTIVE = re.compile(r"(?:^|#|//|\*)[ \t]*prefixwise[ \t]*:[ \t]*(?P<word>[\w-]*)", re.MULTILINE)
_NAMES = re.compile(r"[ \t]*\[([^\[\]]*)\]")
_NAME = re.compile(r"[^\s,][^,]*")
_END = re.compile(r"[\r\n]|(?:#|//)[ \t]*(?:prefixwise[ \t]*:|noqa\b|type:|pylint:|nosec\b|fmt:)")
_FORM = "write `prefixwise: ignore[rule] reason`"
_LONGEST = 60


class Named(NamedTuple):
    """A rule as a comment names it, and where."""

    name: str
    start: int
    end: int


class Directive(NamedTuple):
    """What one comment says.

    Attributes:
        comment: The comment; `start`, `end`: what of it is the directive.
        whole_file: Whether it is about the file, and not about a place.
        names: The rules that it names.
        reason: Why; '' where it gives no reason.
        fault: Why it has no effect; '' where it has one.
    """

    comment: Comment
    start: int
    end: int
    whole_file: bool
    names: tuple[Named, ...]
    reason: str
    fault: str = ""


def directives_in(comment: Comment) -> list[Directive]:
    """Return what a comment tells the linter, in order; nothing for nearly all comments."""
    if "prefixwise" not in comment.text:
        return []
    found = []
    position = 0
    while (match := _DIRECTIVE.search(comment.text, position)) is not None:
        stop = _END.search(comment.text, match.end())
        position = len(comment.text) if stop is None else stop.start()
        found.append(_directive(comment, match, position))
    return found


def _directive(comment: Comment, match: re.Match[str], end: int) -> Directive:
    word, rest = match["word"], comment.text[match.end() : end]
    names = _NAMES.match(rest)
    start = comment.body + match.start() + match[0].index("prefixwise")
    made = Directive(comment, start, comment.body + end, word == "ignore-file", (), "")
    if word not in ("ignore", "ignore-file"):
        return made._replace(fault=f"`{word[:_LONGEST]}` is nothing that can be said here: {_FORM}")
    if names is None:
        missing = "its bracket does not close" if rest.lstrip().startswith("[") else "it names no rule"
        return made._replace(fault=f"{missing}: {_FORM}")
    inner = comment.body + match.end() + names.start(1)
    named = [(found[0].rstrip(), inner + found.start()) for found in _NAME.finditer(names[1])]
    reason = rest[names.end() :].strip(" \t-–—:")
    made = made._replace(names=tuple(Named(name, at, at + len(name)) for name, at in named), reason=reason)
    return made if named else made._replace(fault=f"it names no rule: {_FORM}")
