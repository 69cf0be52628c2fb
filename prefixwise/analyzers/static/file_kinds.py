"""What a file is to lint, by its name and, where that does not tell, by how it begins."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.static.templates.definitions import holds_tools
from prefixwise.core.errors import UserError
from prefixwise.corpus.dialect import SHAPE_ERRORS
from prefixwise.corpus.reader import ReadOptions, export_in, first_bytes, reader_for
from prefixwise.corpus.recognise import recognise
from prefixwise.corpus.records import raw_records
from prefixwise.corpus.signs import key_paths
from prefixwise.corpus.sources import LOG_SUFFIXES, open_plain


class FileKind(StrEnum):
    """What a file is."""

    TEMPLATE = "template"
    PROMPT_TEXT = "prompt-text"
    PYTHON = "python"
    NOTEBOOK = "notebook"
    SCRIPT = "script"
    LOG = "log"

    @property
    def read_as(self) -> FileKind:
        """Which analysis reads it: templates and texts are read alike, and so are Python and its notebooks."""
        return _READ_AS.get(self, self)

    @property
    def is_code(self) -> bool:
        """Whether it is code, which may build prompts or not."""
        return self in _CODE


_READ_AS = {FileKind.PROMPT_TEXT: FileKind.TEMPLATE, FileKind.NOTEBOOK: FileKind.PYTHON}
_CODE = frozenset({FileKind.PYTHON, FileKind.NOTEBOOK, FileKind.SCRIPT})

_BY_SUFFIX = {
    ".py": FileKind.PYTHON,
    ".pyi": FileKind.PYTHON,
    ".ipynb": FileKind.NOTEBOOK,
    **dict.fromkeys((".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"), FileKind.SCRIPT),
    **dict.fromkeys((".prompt", ".prompty"), FileKind.TEMPLATE),
    **dict.fromkeys(
        (".jinja", ".jinja2", ".j2", ".hbs", ".handlebars", ".mustache", ".liquid", ".tmpl"), FileKind.TEMPLATE
    ),
    **dict.fromkeys(
        (".md", ".mdx", ".markdown", ".txt", ".text", ".rst", ".xml", ".yaml", ".yml", ".toml", ""),
        FileKind.PROMPT_TEXT,
    ),
}
_PROMPT_SUFFIXES = (".prompt", ".prompty")
_NAMED_PROMPT = re.compile(r"\.prompt\.(?:md|mdx|txt|ya?ml|json|toml|xml|jinja2?|j2|hbs|mustache)$")
_PROMPT_PATH = re.compile(r"(?i)(?:^|/)prompts?/|system[_-]?prompt|chat[_-]?template")
_NO_PROMPT = re.compile(
    r"(?i)^(?:readme|changelog|contributing|code_of_conduct|security|notice|authors)(?:[._][a-z]{2})?(?:\.(?:mdx?|rst|txt))?$"
    r"|^licen[cs]e(?:[-_.]\w+)?(?:\.(?:md|rst|txt))?$|^requirements(?:[-_.]\w+)*\.txt$"
    r"|^(?:package|package-lock|tsconfig[\w.-]*|composer|manifest|jest\.config|biome|turbo)\.json$"
    r"|^(?:pyproject|Cargo|uv|poetry)\.(?:toml|lock)$|^(?:pnpm-lock|docker-compose[\w.-]*)\.ya?ml$|^(?:CODEOWNERS|Makefile|Dockerfile)$"
)
_PROMPT_TEXT = re.compile(
    rb"(?i)\bprompts?\b|add_generation_prompt|bos_token|<\|(?:im_start|start_header_id|system|user|turn)|"
    rb"\bYou are an?\b|\bassistant\b"
)
_SINKS = tuple(
    b"prompt messages instruction role system backstory generate_content generatecontent generatetext streamtext "
    b"generateobject converse invoke_model completion".split()
)
_GENERATED = re.compile(r"(?i)\.d\.[cm]?ts$|\.min\.[cm]?js$|[.-]bundle\.js$|_pb2(?:_grpc)?\.py$")
_JSON = (".json", ".jsonl", ".ndjson")
_BODIES = re.compile(r"(?:^|/)(?:messages|contents|input)/\*/(?:role|parts|content)\b")
LARGEST = 2_000_000
"""Files with more bytes are left out, logs excepted."""
_WHOLE = 4_000_000
_HEAD = 8192


class ByName(NamedTuple):
    """What a name says: a kind, None for what lint does not read, and why; `unsure` where the content has to tell."""

    kind: FileKind | None
    why: str
    unsure: bool = False


def by_name(path: str) -> ByName:
    """Say what the name of a file in a folder says of it; `path` has `/` and begins at its repository."""
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name[1:] else ""
    kind = _BY_SUFFIX.get(suffix)
    if kind is not None and kind.is_code:
        return ByName(None, "generated code") if _GENERATED.search(name) else ByName(kind, "code", unsure=True)
    if suffix in _PROMPT_SUFFIXES or _NAMED_PROMPT.search(name):
        return ByName(kind or FileKind.PROMPT_TEXT, "named as a prompt")
    prompt_path = _PROMPT_PATH.search(path) is not None and _NO_PROMPT.search(name) is None
    if name.endswith(LOG_SUFFIXES):
        if prompt_path and suffix == ".json":
            return ByName(FileKind.PROMPT_TEXT, "its path says prompt", unsure=True)
        return ByName(FileKind.LOG, "a log of a recognised format", unsure=True)
    if kind is not None and prompt_path:
        return ByName(kind, "its path says prompt")
    if kind is FileKind.TEMPLATE:
        return ByName(kind, "its text says prompt", unsure=True)
    if kind is FileKind.PROMPT_TEXT:
        return ByName(None, "text, but nothing says that it is a prompt: name it, or include it")
    return ByName(None, "neither a prompt, nor code, nor a log")


def is_text_name(name: str) -> bool:
    """Say whether a file is a text or a template by its suffix, whether it is a prompt or not."""
    kind = _BY_SUFFIX.get(name[name.rfind(".") :].lower()) if "." in name[1:] else None
    return kind in (FileKind.TEMPLATE, FileKind.PROMPT_TEXT)


def of_included(path: str, name: str) -> FileKind:
    """Return what a file is that the configuration includes: a text where it is neither code nor a log."""
    kind = of_named(path, name)
    return FileKind.PROMPT_TEXT if kind is FileKind.LOG and _is_text(path) and not is_log(path) else kind


def of_named(path: str, name: str) -> FileKind:
    """Return what a file is that was named and is read whatever it is."""
    lower = name.lower()
    kind = _BY_SUFFIX.get(lower[lower.rfind(".") :] if "." in lower[1:] else "")
    if kind is not None and (kind is not FileKind.PROMPT_TEXT or "." in lower[1:]):
        return kind
    if _NAMED_PROMPT.search(lower):
        return FileKind.PROMPT_TEXT
    if lower.endswith(LOG_SUFFIXES):
        plain = lower.endswith((".json", *(".json.gz", ".json.zst"))) and not is_log(path)
        is_text = plain and (_PROMPT_PATH.search(path) is not None or (lower.endswith(".json") and defines_tools(path)))
        return FileKind.PROMPT_TEXT if is_text else FileKind.LOG
    return FileKind.PROMPT_TEXT if _is_text(path) and not is_log(path) else FileKind.LOG


def of_unsaved(path: str) -> FileKind:
    """Return what a text is that would stand in a file of this name: a prompt where nothing says that it is not."""
    name = path.rpartition("/")[2].lower()
    kind = _BY_SUFFIX.get(name[name.rfind(".") :] if "." in name[1:] else "", FileKind.PROMPT_TEXT)
    if name.endswith(LOG_SUFFIXES) and not _NAMED_PROMPT.search(name):
        return kind if name.endswith(".json") and _PROMPT_PATH.search(path) else FileKind.LOG
    return kind


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return not is_binary(stream.read(_HEAD))
    except OSError:
        return True


def is_binary(data: bytes) -> bool:
    """Say whether a file that begins so is no text in UTF-8."""
    return b"\0" in data[:_HEAD]


def may_build_prompts(data: bytes) -> bool:
    """Say whether code has a word in it without which nothing in it is a prompt."""
    lower = data.lower()
    return any(word in lower for word in _SINKS)


def says_prompt(data: bytes) -> bool:
    """Say whether a template's text speaks of prompts, or is written like one."""
    return _PROMPT_TEXT.search(data) is not None


def defines_tools(path: str) -> bool:
    """Say whether a JSON file holds definitions of tools."""
    try:
        with open(path, encoding="utf-8") as stream:
            return holds_tools(stream.read(LARGEST))
    except (OSError, UnicodeDecodeError):
        return False


def is_log(path: str, *, size: int = 0) -> bool:
    """Say whether a file is a log of requests in a format that is recognised without options."""
    try:
        if path.lower().endswith(".parquet"):
            return _is_table(path)
        with open_plain(path) as stream:
            head = first_bytes(stream)
            reader = reader_for("", head, ReadOptions())
            if "bodies" in reader.names:
                return _has_bodies(head, lambda: next(iter(raw_records(stream)), None), size)
            return reader.kind == "text" and "text" not in reader.names
    except (UserError, OSError, *SHAPE_ERRORS):
        return False


def _has_bodies(head: bytes, first_record: Callable[[], tuple[int, int, bytes] | None], size: int) -> bool:
    if export_in(head):
        return True
    if size > _WHOLE and not head.partition(b"\n")[0].rstrip().endswith(b"}"):
        return any(_BODIES.search(place) for place in key_paths(head))  # one long document
    record = first_record()
    return record is not None and recognise(msgspec.json.decode(record[2])) is not None


def _is_table(path: str) -> bool:
    """Say whether a Parquet file is a table of requests: one of its columns is that of a prompt."""
    from prefixwise.corpus.parquet import need_pyarrow

    names = need_pyarrow().parquet.read_schema(path).names
    return reader_for("", ",".join(names).encode(), ReadOptions()).names == ("csv",)
