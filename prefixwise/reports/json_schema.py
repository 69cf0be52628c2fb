"""The JSON Schema (2020-12) of a result document, made from the structs that are written."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from prefixwise.core.envelope import DocumentKind

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: DocumentKind) -> dict[str, Any]:
    """Return the schema of the documents of `kind`.

    Every key is required, for every key is written; further keys are allowed, for a later release may add them.
    """
    (reference,), definitions = msgspec.json.schema_components([kind.type], ref_template="#/$defs/{name}")
    name = reference["$ref"].rpartition("/")[2]
    document = _as_written(definitions.pop(name))
    document["properties"] |= {"schema": {"const": kind.schema}, "schema_version": {"const": kind.version}}
    return {
        "$schema": _DIALECT,
        **document,
        "title": f"{kind.schema} {kind.version}",
        "$defs": {name: _as_written(definition) for name, definition in sorted(definitions.items())},
    }


def schema_document(kind: DocumentKind) -> str:
    """Return the schema as a file has it: indented, with a line break at the end."""
    return msgspec.json.format(msgspec.json.encode(json_schema(kind)).decode(), indent=2) + "\n"


def _as_written(schema: Any) -> Any:
    """Return a schema of what is written, where msgspec's is of what it would read: defaults are written too."""
    if isinstance(schema, list):
        return [_as_written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _as_written(value) for key, value in schema.items() if key not in ("default", "discriminator")}
    if isinstance(text := schema.get("description"), str):
        kept["description"] = re.sub(r"\bNone\b", "null", text)
    if schema.get("type") == "object" and "properties" in schema:
        kept["properties"] = {key: _as_written(value) for key, value in schema["properties"].items()}
        kept["required"] = list(schema["properties"])
    return kept
