"""Which files hold prompts: those that are named, and in folders those that look like it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from prefixwise.analyzers.static.lint import SourceFile, SourceKind

_PROMPTS = re.compile(
    r"\.(?:prompt|prompty)(?:\.\w+)?$|(?:^|/)prompts?/(?:.*/)?[^/]+\.(?:md|txt|j2|jinja2?|hbs|handlebars|mustache|ya?ml|json)$"
    r"|system_?prompt[^/]*\.(?:md|txt|j2|jinja2?|hbs|handlebars|mustache|ya?ml|json)$"
)
_LEFT_OUT = re.compile(r"(?:^|/)(?:\.[^/.][^/]*|node_modules|__pycache__|site-packages|venv)(?:/|$)")


def prompt_files(paths: Iterable[str | Path]) -> list[SourceFile]:
    """Return the prompt files that paths name, by path: files as they are, of folders what looks like a prompt."""
    found = {path.as_posix() for given in paths for path in _expanded(Path(given))}
    return [SourceFile(path, SourceKind.TEMPLATE) for path in sorted(found)]


def _expanded(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for inner in path.rglob("*"):
        below = f"{path.resolve().name}/{inner.relative_to(path).as_posix()}"
        if _PROMPTS.search(below.lower()) and not _LEFT_OUT.search(below.partition("/")[2]) and inner.is_file():
            yield inner
