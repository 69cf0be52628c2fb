"""The envelope that every result file shares."""

from __future__ import annotations

import platform
from typing import Any

import msgspec

from prefixwise import __version__
from prefixwise.core.report import Block, InputFile, Report, Requirement


class Tool(msgspec.Struct, frozen=True):
    """Which program wrote the file."""

    name: str
    version: str


class Environment(msgspec.Struct, frozen=True):
    """What a result may depend on; nothing that names a person or a machine."""

    python: str
    platform: str


class Envelope(msgspec.Struct, frozen=True):
    """A report as written to a file: schema name and version first, then where it came from."""

    schema: str
    schema_version: int
    tool: Tool
    command: str
    title: str
    environment: Environment
    seed: int | None
    inputs: tuple[InputFile, ...]
    notes: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    values: Any
    blocks: tuple[Block, ...]


def envelope(report: Report) -> Envelope:
    """Return `report` in the shared envelope."""
    return Envelope(
        schema=report.schema,
        schema_version=report.schema_version,
        tool=Tool("prefixwise", __version__),
        command=report.command,
        title=report.title,
        environment=Environment(platform.python_version(), platform.system().lower()),
        seed=report.seed,
        inputs=report.inputs,
        notes=report.notes,
        requirements=report.requirements,
        values=report.values,
        blocks=report.blocks,
    )
