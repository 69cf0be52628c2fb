"""Fixes as a patch: unified diffs that `git apply` and `patch` take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the patch that turns some texts into others; '' where none differs. Paths are those of `after`, in order.

    Lines end at line feeds alone, as in patches; a carriage return in front of one is part of the line.
    """
    return "".join(line for path in sorted(after) for line in _of_file(path, before[path], after[path]))


def _of_file(path: str, before: str, after: str) -> Iterator[str]:
    old, new = _LINE.findall(before), _LINE.findall(after)
    for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
