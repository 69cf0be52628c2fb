"""The configuration to begin with: every key, explained and commented out."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.core.config.files import SECTION
from prefixwise.core.config.keys import KeyPage, key_pages
from prefixwise.core.config.settings import PromptEntry

_HEAD = "Every key is optional and stands here with an example. `prefixwise config` shows what holds, and why."


def starter(*, section: bool = False) -> str:
    """Return the text of a configuration in which nothing is set yet.

    Args:
        section: For a pyproject.toml: under `[tool.prefixwise]`.
    """
    return "\n".join(_lines(section)) + "\n"


def _lines(section: bool) -> Iterator[str]:
    if section:
        yield f"[{SECTION}]"
    yield f"# {_HEAD}"
    pages = [page for page in key_pages() if page.example]
    yield from _group("For each file, from the configuration nearest to it:", [p for p in pages if p.per_file])
    yield from _group(
        "For a whole run, from the one nearest to the working folder:", [p for p in pages if not p.per_file]
    )
    yield ""
    yield "# What is known of some prompts beside what they say themselves; may be repeated."
    yield f"# [[{SECTION}.prompt]]" if section else "# [[prompt]]"
    for page in key_pages(PromptEntry):
        yield f"# {page.name} = {page.example}  # {page.summary}"


def _group(title: str, pages: list[KeyPage]) -> Iterator[str]:
    yield from ("", f"# -- {title}")
    for page in pages:
        default = f" By default {page.default}." if page.default else ""
        yield from ("", f"# {page.summary}{default}", f"# {page.name} = {page.example}")
