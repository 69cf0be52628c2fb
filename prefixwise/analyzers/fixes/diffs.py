"""Fixes as a patch: unified diffs that `git apply` and `patch` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping

_ODD = re.compile(r'[\x00-\x1f\x7f"\\\ud800-\udfff]')
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the patch that turns some texts into others; '' where none differs. Paths are those of `after`, in order.

    Lines end at line feeds alone, as in patches; a carriage return in front of one is part of the line.
    """
    return "".join(line for path in sorted(after) for line in _of_file(path, before[path], after[path]))


def _of_file(path: str, before: str, after: str) -> Iterator[str]:
    old, new = _LINE.findall(before), _LINE.findall(after)
    for line in difflib.unified_diff(old, new, _quoted(f"a/{path}"), _quoted(f"b/{path}")):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _quoted(path: str) -> str:
    """Return a path as git writes it into a patch: in quotes where a character could be taken for something else."""
    if _ODD.search(path) is None:
        return path
    data = _ODD.sub(lambda match: "".join(f"\\{byte:03o}" for byte in os.fsencode(match[0])), path)
    return f'"{data}"'
