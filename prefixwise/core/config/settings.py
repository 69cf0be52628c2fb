"""The keys of `[tool.prefixwise]` and of `prefixwise.toml`, with their types, defaults and what they mean.

A new key is a field here, and its name in `PER_FILE` if each file may have it otherwise; the descriptions and examples
are what `prefixwise init` writes and what the documentation shows. An option of the same name is handed to
`cli.configuring.configurations`.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

FailOn: TypeAlias = Literal["error", "warning", "info", "never"]
Role: TypeAlias = Literal["", "system", "user", "assistant", "developer"]


class PromptEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """One `[[prompt]]`: what is known of some prompt files beside what they say themselves; '' for nothing."""

    path: Annotated[str, Meta(description="Which files: a pattern as in .gitignore.", examples=["prompts/support/"])]
    role: Annotated[
        Role,
        Meta(description="Message that they become: system, user, assistant or developer.", examples=["system"]),
    ] = ""
    provider: Annotated[str, Meta(description="Whose API they go to.", examples=["anthropic"])] = ""
    model: Annotated[str, Meta(description="Model that reads them.", examples=["claude-sonnet-4-5"])] = ""
    syntax: Annotated[str, Meta(description="How placeholders are written.", examples=["jinja"])] = ""
    version: Annotated[str | int, Meta(description="Version, for `prefixwise lock`.", examples=["3"])] = ""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """All settings, each with the value that it has where nothing sets it.

    Patterns are those of `.gitignore`, relative to the folder of the configuration that governs the file. Paths of
    files are relative to the configuration that names them.
    """

    extend: Annotated[
        str,
        Meta(description="Another configuration, whose keys hold where this one has none.", examples=["../base.toml"]),
    ] = ""
    select: Annotated[
        tuple[str, ...] | None,
        Meta(description="Rules to run: names, codes, or how codes begin. All of them by default.", examples=[["PW1"]]),
    ] = None
    ignore: Annotated[
        tuple[str, ...],
        Meta(description="Rules to leave out; wins over `select`.", examples=[["static-text-stranded"]]),
    ] = ()
    extend_select: Annotated[
        tuple[str, ...], Meta(description="Rules to run beside those selected.", examples=[["clock-in-prefix"]])
    ] = ()
    extend_ignore: Annotated[
        tuple[str, ...], Meta(description="Rules to leave out beside those ignored.", examples=[["user-data-first"]])
    ] = ()
    per_file_select: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Rules that alone run in files of a pattern.", examples=[{"logs/": ["clock-in-prefix"]}]),
    ] = {}
    per_file_ignores: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Rules to leave out in files of a pattern.", examples=[{"tests/": ["PW1"]}]),
    ] = {}
    include: Annotated[
        tuple[str, ...],
        Meta(description="Texts to lint though nothing says that they are prompts.", examples=[["docs/agents/*.md"]]),
    ] = ()
    exclude: Annotated[
        tuple[str, ...], Meta(description="Files and folders to leave out.", examples=[["examples/", "*.old.md"]])
    ] = ()
    force_exclude: Annotated[
        bool,
        Meta(description="Leave excluded and git-ignored files out even where they are named.", examples=[True]),
    ] = False
    provider: Annotated[str, Meta(description="Whose API the prompts go to.", examples=["openai"])] = ""
    model: Annotated[str, Meta(description="Model that reads the prompts.", examples=["gpt-5"])] = ""
    builders: Annotated[
        tuple[str, ...],
        Meta(
            description="Functions that build prompts: name, Class.name or package.module:name.",
            examples=[["app.prompts:render"]],
        ),
    ] = ()
    prompt: Annotated[
        tuple[PromptEntry, ...], Meta(description="What is known of some prompts; see below.", examples=[])
    ] = ()
    fail_on: Annotated[
        FailOn, Meta(description="Exit with 1 on a finding of this level or worse.", examples=["warning"])
    ] = "error"
    exit_zero: Annotated[bool, Meta(description="Never exit with 1: the same as fail-on = never.", examples=[True])] = (
        False
    )
    output_format: Annotated[
        str, Meta(description="Format that `prefixwise lint` writes to stdout.", examples=["concise"])
    ] = "text"
    excerpts: Annotated[
        Literal["none", "masked", "full"],
        Meta(description="How much of the prompts' text is shown.", examples=["none"]),
    ] = "masked"
    baseline: Annotated[
        str, Meta(description="File of findings that are known and not told.", examples=["prefixwise-baseline.json"])
    ] = ""
    rules: Annotated[
        tuple[str, ...],
        Meta(description="Files of cache facts and prices to lay over the packaged ones.", examples=[["caches.toml"]]),
    ] = ()
    source: Annotated[
        tuple[str, ...],
        Meta(
            description="Folders or files of which the line is named that fills in what moves in a log.",
            examples=[["src", "prompts"]],
        ),
    ] = ()
    jobs: Annotated[int, Meta(ge=0, description="Processes that read sources; 0: as many as pay.", examples=[4])] = 0


PER_FILE = frozenset(
    {
        *("extend", "select", "ignore", "extend-select", "extend-ignore", "per-file-select", "per-file-ignores"),
        *("include", "exclude", "force-exclude", "provider", "model", "builders", "prompt"),
    }
)
"""Keys that are taken from the configuration nearest to each file; the others from the one nearest to the command.

Of those others `fail-on`, `exit-zero` and `baseline` are asked for each finding: its file's own configuration wins,
where it sets them.
"""
PATHS = frozenset({"rules", "baseline", "source"})
"""Keys that name files."""
DEFAULTS = Settings()


def keys() -> tuple[str, ...]:
    """Return the names of all keys, as files have them."""
    return tuple(field.encode_name for field in msgspec.structs.fields(Settings))


def attribute(key: str) -> str:
    """Return the name of the attribute that holds a key."""
    return key.replace("-", "_")
