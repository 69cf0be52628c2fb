"""The envelope that every result file shares, and the kinds of document that it carries."""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import msgspec

from prefixwise import __version__
from prefixwise.core.report import Block, InputFile, Report, Requirement

_FIRST = ("schema", "schema_version", "tool")
"""What every document begins with."""


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


class DocumentKind(msgspec.Struct, frozen=True):
    """A kind of result document, as `prefixwise schema` describes it.

    Attributes:
        schema: Its name, such as `prefixwise/hitrate`.
        version: Changes when fields do in a way that a reader could not expect.
        summary: What it holds, in a few words.
        values: The struct, or union of structs, of its `values`.
        flat: Whether the fields of `values` stand at the top and there are no blocks.
    """

    schema: str
    version: int
    summary: str
    values: Any
    flat: bool = False

    @property
    def name(self) -> str:
        """The name without the tool's: `hitrate`."""
        return self.schema.rpartition("/")[2]

    @property
    def type(self) -> type[msgspec.Struct]:
        """The struct of the whole document."""
        return _flat(self.values) if self.flat else _with_values(self.values)


def envelope(report: Report) -> msgspec.Struct:
    """Return `report` in the shared envelope, or laid flat: a struct whose fields are the document's keys."""
    whole = Envelope(
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
    if not report.flat:
        return whole
    values: type[msgspec.Struct] = type(report.values)
    flat = _flat(values)
    own = report.values.__struct_fields__
    return flat(**{name: getattr(report.values if name in own else whole, name) for name in flat.__struct_fields__})


@cache
def _flat(values: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the struct of a flat document: its schema, the fields of its values, then the rest of the envelope.

    Where both have a field of one name, that of the values is meant.
    """
    own = msgspec.structs.fields(values)
    mine = {field.name for field in own} | {"values", "blocks"}
    shared = [field for field in msgspec.structs.fields(Envelope) if field.name not in mine]
    first = [field for field in shared if field.name in _FIRST]
    fields = [*first, *own, *(field for field in shared if field.name not in _FIRST)]
    renamed = {field.name: field.encode_name for field in fields if field.name != field.encode_name}
    return msgspec.defstruct(
        values.__name__,
        [(field.name, field.type) for field in fields],
        frozen=True,
        rename=renamed or None,
        namespace={"__doc__": values.__doc__},
    )


@cache
def _with_values(values: Any) -> type[msgspec.Struct]:
    """Return the struct of an enveloped document whose values have this type."""
    fields = msgspec.structs.fields(Envelope)
    types = [(field.name, values if field.name == "values" else field.type) for field in fields]
    return msgspec.defstruct("Envelope", types, frozen=True, namespace={"__doc__": Envelope.__doc__})
