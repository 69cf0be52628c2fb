"""The lock of prompts: which version of each has which prefix, so that no prefix changes unsaid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from prefixwise.analyzers.static.context import OutsideOf, nothing_known
from prefixwise.analyzers.static.lint import SourceFile, SourceKind
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.static_prefix import Segment, static_prefix
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.analyzers.static.templates.tokens import encoding_name
from prefixwise.core.errors import UserError

LOCK_NAME = "prefixwise.lock"
_SCHEMA = "prefixwise/lock"
_VERSION = 1


class LockedPrompt(msgspec.Struct, frozen=True, order=True):
    """One prompt as it was locked.

    Attributes:
        path: Its file, seen from the folder of the lock, with `/`.
        number: Its place among the prompts of the file, from 0.
        version: What the file says of its version, or else the configuration; '' where neither says anything.
        tokens: Tokens of its static prefix.
        segments: Of each segment of that: its tokens and the hash of its bytes, with a blank between.
    """

    path: str
    number: int
    version: str
    tokens: int
    segments: tuple[str, ...]

    @property
    def sizes(self) -> list[int]:
        """The tokens of each segment."""
        return [int(segment.partition(" ")[0]) for segment in self.segments]

    @property
    def digests(self) -> list[str]:
        """The hash of each segment."""
        return [segment.partition(" ")[2] for segment in self.segments]


class Lock(msgspec.Struct, frozen=True):
    """The prompts of a repository, by path; `encoding` says what their tokens were counted by."""

    encoding: str
    prompts: tuple[LockedPrompt, ...]


class _Document(msgspec.Struct, frozen=True):
    schema: str
    schema_version: int
    encoding: str
    prompts: tuple[LockedPrompt, ...]


class ReadPrompt(msgspec.Struct, frozen=True):
    """A prompt as its file has it now, to be locked or held against a lock."""

    locked: LockedPrompt
    source: Source
    segments: tuple[Segment, ...]


def read_prompts(
    files: Iterable[SourceFile],
    root: Path,
    outside: OutsideOf = nothing_known,
) -> tuple[list[ReadPrompt], list[str]]:
    """Return the prompts of files, by path, and notes on those that cannot be locked.

    Code is passed over, and so are models' chat templates: their prefix is what the caller sends.

    Args:
        files: In any order.
        root: Folder of the lock.
        outside: What is known of each file from outside.
    """
    found: list[ReadPrompt] = []
    notes: list[str] = []
    for file in sorted(files, key=lambda file: file.path):
        if file.kind is not SourceKind.TEMPLATE:
            continue
        try:
            source = Source(file.path, Path(file.path).read_bytes().decode("utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            notes.append(f"{file.path}: not locked: {getattr(problem, 'strerror', None) or 'is not UTF-8 text'}")
            continue
        known = outside(file.path)
        template = read_template(source, known.asked, known.assumed)
        notes += [f"{file.path}: not locked: {problem.what}" for problem in template.problems]
        if template.problems:
            continue
        name = Path(os.path.relpath(file.path, root)).as_posix()
        for number, one in enumerate(template.templates):
            if one.chat:
                notes.append(f"{file.path}: not locked: a chat template has no prefix of its own")
                continue
            segments = static_prefix(one)
            written = tuple(f"{segment.tokens} {segment.digest}" for segment in segments)
            tokens = sum(segment.tokens for segment in segments)
            version = one.version or known.version
            found.append(ReadPrompt(LockedPrompt(name, number, version, tokens, written), source, segments))
    return sorted(found, key=lambda prompt: (prompt.locked.path, prompt.locked.number)), notes


def lock_of(prompts: Sequence[ReadPrompt]) -> Lock:
    """Return the lock of prompts as they are now."""
    return Lock(encoding_name(), tuple(sorted(prompt.locked for prompt in prompts)))


def lock_text(lock: Lock) -> str:
    """Return a lock as the text of its file: the same bytes for the same prompts, a segment a line."""
    document = _Document(_SCHEMA, _VERSION, lock.encoding, tuple(sorted(lock.prompts)))
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def read_lock(path: Path) -> Lock:
    """Return the lock in a file. Raises UserError where there is none, or it is none."""
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_Document)
    except FileNotFoundError:
        raise UserError("there is no lock", str(path), "write one: prefixwise lock PATHS...") from None
    except OSError as problem:
        raise UserError(problem.strerror or "cannot be read", str(path)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise UserError(f"this is no lock of prompts: {problem}", str(path), _AGAIN) from None
    if document.schema != _SCHEMA or document.schema_version != _VERSION:
        raise UserError("this lock was written by another version of prefixwise", str(path), _AGAIN)
    wrong = next(_malformed(document.prompts), None)
    if wrong is not None:
        raise UserError(f"this is no lock of prompts: a segment of {wrong} is malformed", str(path), _AGAIN)
    return Lock(document.encoding, tuple(sorted(document.prompts)))


_AGAIN = "write it anew: prefixwise lock PATHS..."


def _malformed(prompts: Iterable[LockedPrompt]) -> Iterator[str]:
    for prompt in prompts:
        for segment in prompt.segments:
            tokens, _, digest = segment.partition(" ")
            if not (tokens.isascii() and tokens.isdecimal() and digest):
                yield prompt.path
