"""The allow-list: beginnings of prompts that all tenants may share, by hash after normalising declared variables.

What is approved is the head of a prompt as a whole: tools and system text, in the order of the cache, up to the first
message. A variable is a regular expression; what it matches counts as the same whatever it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from prefixwise.analyzers.lint.documents import Entry
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Where

SCHEMA = "prefixwise/approved"
VERSION = 1


class Variable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of prompts that may differ: its name, and a regular expression for what stands there."""

    name: str
    pattern: str


class ApprovedPrompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """One prompt: SHA-256 of its normalised head; the rest is for people.

    Attributes:
        sha256: The hash.
        approved: Whether it is; entries that are not are there to be decided on.
        note: What it is; `kind`, `tenants`, `requests`, `tokens`: what was seen of it when the file was written.
    """

    sha256: str
    approved: bool = True
    note: str = ""
    kind: str = ""
    tenants: int = 0
    requests: int = 0
    tokens: int = 0


class ApprovedFile(msgspec.Struct, frozen=True):
    """The file as it is written."""

    schema: str
    schema_version: int
    variables: tuple[Variable, ...] = ()
    prompts: tuple[ApprovedPrompt, ...] = ()


class Approved:
    """What is approved, ready to be asked.

    Args:
        file: What the allow-list says.

    Raises:
        UserError: A variable's expression is none.
    """

    def __init__(self, file: ApprovedFile = ApprovedFile(SCHEMA, VERSION), where: str = "") -> None:  # noqa: B008
        self.file = file
        self._hashes = frozenset(prompt.sha256.lower() for prompt in file.prompts if prompt.approved)
        self._variables = []
        for variable in file.variables:
            try:
                self._variables.append((variable.name, re.compile(variable.pattern)))
            except re.error as problem:
                raise UserError(f"variable {variable.name[:40]!r}: {problem}", where) from None

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def digest(self, head: Iterable[Entry]) -> str:
        """Return the hash of the head of a prompt, '' for one without text."""
        state, any_text = hashlib.sha256(), False
        for entry in head:
            for part in entry.parts:
                text = self.normalised(part.text) if part.text else part.media.hex()
                data = f"{entry.kind}\0{text}".encode("utf-8", "surrogatepass")
                state.update(b"%d:" % len(data) + data)
                any_text = any_text or bool(text)
        return state.hexdigest() if any_text else ""

    def normalised(self, text: str) -> str:
        """Return a text with the values of variables replaced by their names, and line endings made one kind."""
        text = text.replace("\r\n", "\n")
        for name, pattern in self._variables:
            text = pattern.sub(lambda _, name=name: f"\x01{name}\x02", text)  # type: ignore[misc]
        return text

    def holds(self, digest: str) -> bool:
        """Say whether a head of that hash is approved."""
        return digest in self._hashes

    def same_variables(self, prompts: Iterable[ApprovedPrompt]) -> str:
        """Return the text of a file with these prompts, and the variables of this one."""
        file = ApprovedFile(SCHEMA, VERSION, self.file.variables, tuple(prompts))
        return msgspec.json.format(msgspec.json.encode(file), indent=2).decode() + "\n"


def is_head(entry: Entry) -> bool:
    """Say whether an item belongs to the part of a prompt that can be approved."""
    return entry.where is not Where.MESSAGES


def read_approved(path: Path) -> Approved:
    """Read an allow-list. Raises UserError for a file that is none."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise UserError(problem.strerror or str(problem), str(path), "write one with --write-approved") from None
    try:
        file = msgspec.json.decode(data, type=ApprovedFile)
    except msgspec.MsgspecError as problem:
        raise UserError(f"is no allow-list: {problem}", str(path), "write one with --write-approved") from None
    if file.schema != SCHEMA or file.schema_version != VERSION:
        what = f"is {file.schema[:40]} version {file.schema_version}, not {SCHEMA} version {VERSION}"
        raise UserError(what, str(path))
    return Approved(file, str(path))
