"""Prompt files: a text or Markdown file is one prompt."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Literal

import msgspec

from prefixwise.core.request import Request, Section
from prefixwise.corpus.reader import READERS, Broken, Reader, ReadOptions
from prefixwise.corpus.sources import PROMPT_SUFFIXES

_MARKDOWN = (".md", ".markdown", ".mdx")


class PromptFile:
    """Reads one file as one prompt, byte for byte as text."""

    mode: Literal["log", "prompt", "trace"] = "prompt"
    record_path = ""

    def __init__(self, path: str, options: ReadOptions) -> None:
        self._path = path
        self.format = options.input_format or ("markdown" if path.endswith(_MARKDOWN) else "text")

    def requests(self, stream: io.BufferedReader) -> Iterator[Request | Broken]:
        """Yield the one prompt; nothing for an empty file."""
        text = stream.read().decode("utf-8", "replace")
        if text:
            raw = msgspec.Raw(msgspec.json.encode(text))
            section = Section("prompt", "", [raw], listed=False)
            yield Request(self._path, 0, 1, "completions", "", "", (section,), opens_reply=False)


def claims(path: str, head: bytes) -> bool:
    """Take what is named like a prompt, and any other text, empty files too."""
    return path.endswith(PROMPT_SUFFIXES) or b"\0" not in head


READERS.add("prompt", Reader(("text", "markdown"), 90, "text", claims, PromptFile))
