"""What is in a file of a folder has the last word on whether lint reads it."""

from __future__ import annotations

from prefixwise.analyzers.static.file_kinds import (
    LARGEST,
    FileKind,
    defines_tools,
    is_binary,
    is_log,
    may_build_prompts,
    says_prompt,
)


def by_content(path: str, size: int, kind: FileKind, why: str, *, unsure: bool) -> tuple[FileKind | None, str]:
    """Return what a file of a folder is and why; no kind where it is left out, no reason for code without prompts."""
    if kind is FileKind.LOG:
        if not unsure or is_log(path, size=size):
            return kind, why
        tools = path.lower().endswith(".json") and size <= LARGEST and defines_tools(path)
        return (FileKind.PROMPT_TEXT, "definitions of tools") if tools else (None, "no log of a recognised format")
    if size > LARGEST:
        return None, "larger than 2 MB"
    with open(path, "rb") as stream:
        data = stream.read()
    if is_binary(data):
        return None, "binary"
    if kind.is_code:
        return kind, "code that may build prompts" if may_build_prompts(data) else ""
    if not data.strip():
        return None, "empty"
    if kind is FileKind.PROMPT_TEXT and unsure and is_log(path, size=size):
        return FileKind.LOG, "a log of a recognised format"
    if kind is FileKind.TEMPLATE and unsure and not says_prompt(data):
        return None, "a template, but nothing in it speaks of prompts"
    return kind, why
