"""The tool's own trace: one Parquet row a request, prefixes as keyed ids, no text.

`block_ids[k]` names the prompt's first `block_ends[k]` tokens. By default boundaries stand where prompts of the
corpus part, so that every rule gives the figures of the log; with a block size they stand every so many tokens,
so that traces made with one key can be joined.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from prefixwise import __version__
from prefixwise.core.errors import MissingExtraError, UserError
from prefixwise.core.namespace import Namespace
from prefixwise.core.report import InputFile
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.prefix_ids import node_ids, row_path
from prefixwise.corpus.rows import NONE, Names, Row, Rows
from prefixwise.corpus.tokenizer import Exactness

if TYPE_CHECKING:
    from prefixwise.corpus.traces import TraceRows

SCHEMA = "prefixwise/trace"
SCHEMA_VERSION = 1
_META = b"prefixwise"
_PARTS = ("salt", "cache_key", "adapter", "extra", "cached_content")
_COUNTS = ("record", "line", "prompt_tokens", "answer_tokens", "tools_end", "system_end", "marks")
_REPORTED = ("reported_prompt", "reported_cached", "reported_written", "reported_written_long", "reported_output")
_TIMES = ("start", "end", "ttft")


class TraceMeta(msgspec.Struct, frozen=True):
    """What a trace says of itself, in the file's metadata.

    Attributes:
        block: Block size; 0 where boundaries stand where prompts part.
        shared: Ids and names are numbers that mean something in this file only.
        tokenizers: By model: (exactness, tokenizer, note).
    """

    schema: str
    schema_version: int
    tool_version: str
    block: int
    shared: bool
    tokenizers: dict[str, tuple[Exactness, str, str]]


def need_pyarrow() -> Any:
    """Return the pyarrow module. Raises MissingExtraError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading and writing traces", "data") from None
    return pyarrow


def trace_bytes(index: CorpusIndex, key: bytes, block: int = 0, share: bool = False) -> bytes:
    """Return a corpus as a trace, the content of a Parquet file.

    Args:
        index: The corpus with its text.
        key: Secret of the ids (unused under `share`).
        block: Block size, or 0.
        share: Number ids densely and replace the names of tenants, sessions, replicas and namespaces.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    pyarrow = need_pyarrow()
    table = pyarrow.table(_columns(index, key, block, share))
    names = {name: _without_owner(name, n) if share else name for n, name in enumerate(index.rows.models.names)}
    tokenizers = {names[model]: known for model, known in index.tokenizers.items()}
    meta = TraceMeta(SCHEMA, SCHEMA_VERSION, __version__, block, share, tokenizers)
    table = table.replace_schema_metadata({_META: msgspec.json.encode(meta)})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _columns(index: CorpusIndex, key: bytes, block: int, share: bool) -> dict[str, Any]:
    import pyarrow as pa

    rows, tree = index.rows, index.tree
    ids = node_ids(index, key, block)
    dense: dict[int, int] = {}
    number: Callable[[int], int] = (lambda i: dense.setdefault(i, len(dense))) if share else (lambda i: i)
    prompts: list[tuple[list[int], Sequence[int]]] = []
    answers: list[tuple[list[int] | None, Sequence[int] | None]] = []
    for row in range(len(rows)):
        numbers, ends = row_path(tree, ids, rows.node[row], block=block)
        prompts.append(([number(i) for i in numbers], ends))
        if rows.response_node[row] == NONE:
            answers.append((None, None))
        else:
            start = rows.prompt_tokens[row] // (block or 1) * (block or 1)  # the answer fills the last block
            numbers, ends = row_path(tree, ids, rows.response_node[row], start, block)
            answers.append(([number(i) for i in numbers], ends))
    columns: dict[str, Any] = {
        "block_ids": pa.array([p[0] for p in prompts], pa.list_(pa.int64())),
        "block_ends": pa.array([p[1] for p in prompts], pa.list_(pa.int32())),
        "answer_ids": pa.array([a[0] for a in answers], pa.list_(pa.int64())),
        "answer_ends": pa.array([a[1] for a in answers], pa.list_(pa.int32())),
    }
    for name in _COUNTS:
        columns[name] = pa.array(getattr(rows, name), pa.int32())
    for name in (*_REPORTED, "family"):
        columns[name] = pa.array([None if v == NONE else v for v in getattr(rows, name)], pa.int32())
    for name in _TIMES:
        columns[name] = pa.array([None if v != v else v for v in getattr(rows, name)], pa.float64())
    columns |= _name_columns(rows, share)
    columns |= _namespace_columns(rows, key, share)
    columns["params"] = pa.array(_param_lists(rows, key, share), pa.list_(pa.string()))
    for place, name in enumerate(("media_fewer", "media_more")):
        columns[name] = pa.array([rows.bands.get(row, (0, 0))[place] for row in range(len(rows))], pa.int32())
    columns["marker_ends"] = pa.array(
        [[at for at, _ in rows.markers.get(row, ())] or None for row in range(len(rows))], pa.list_(pa.int32())
    )
    columns["marker_ttls"] = pa.array(
        [[ttl for _, ttl in rows.markers.get(row, ())] or None for row in range(len(rows))], pa.list_(pa.float64())
    )
    return columns


def _name_columns(rows: Rows, share: bool) -> dict[str, Any]:
    import pyarrow as pa

    columns = {}
    models = [_without_owner(name, n) if share else name for n, name in enumerate(rows.models.names)]
    for field, shown in (("model", models), ("provider", rows.providers.names)):
        columns[field] = pa.array([shown[n] for n in getattr(rows, field)], pa.string()).dictionary_encode()
    for field, names in (
        ("tenant", rows.tenants), ("session", rows.sessions), ("replica", rows.replicas), ("file", rows.files),
    ):  # fmt: skip
        shown = [_pseudonym(field, n) if share and name else name for n, name in enumerate(names.names)]
        columns[field] = pa.array([shown[n] for n in getattr(rows, field)], pa.string()).dictionary_encode()
    return columns


def _without_owner(model: str, number: int) -> str:
    """Return a model's name without what its owner put into it: `ft:gpt-4o:acme::x` becomes `ft:gpt-4o:model-3`."""
    parts = model.split(":")
    return f"{parts[0]}:{parts[1]}:model-{number}" if parts[0] == "ft" and len(parts) > 2 else model


def _pseudonym(field: str, number: int) -> str:
    return f"{field}-{number}"


def _namespace_columns(rows: Rows, key: bytes, share: bool) -> dict[str, Any]:
    """Namespaces are secrets (salts) or name customers: they leave as keyed hashes, or as numbers."""
    import pyarrow as pa

    columns = {}
    for part in _PARTS:
        known = Names()
        shown: list[str | None] = []
        for space in rows.namespaces:
            value = getattr(space, part)
            if value is None:
                shown.append(None)
            elif share:
                shown.append(_pseudonym(part, known.number(value)))
            else:
                shown.append(
                    hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=key, digest_size=8).hexdigest()
                )
        columns[f"namespace_{part}"] = pa.array([shown[n] for n in rows.namespace], pa.string()).dictionary_encode()
    return columns


def _param_lists(rows: Rows, key: bytes, share: bool) -> list[list[str]]:
    """Return by row `name=value` of each key parameter, the value as a keyed hash or a number."""
    known: dict[str, Names] = {}
    shown = []
    for params in rows.param_sets:
        pairs = []
        for name, value in params:
            if share:
                text = str(known.setdefault(name, Names()).number(value.decode("utf-8", "replace")))
            else:
                text = hashlib.blake2b(value, key=key, digest_size=8).hexdigest()
            pairs.append(f"{name}={text}")
        shown.append(pairs)
    return [shown[number] for number in rows.param_set]


def is_trace(path: str) -> bool:
    """Say whether a Parquet file may be a trace: by its schema, where it can be looked at."""
    try:
        pyarrow = need_pyarrow()
        return _META in (pyarrow.parquet.read_schema(path).metadata or {})
    except (MissingExtraError, OSError, ValueError):
        return True


def read_parquet(path: str, stream: io.BufferedReader, traces: TraceRows) -> InputFile:
    """Read one trace into `traces`.

    Raises:
        UserError: The file is no trace of ours, of a newer schema, or of another block size than those before.
    """
    pyarrow = need_pyarrow()
    try:
        # Not `read_table`: its threads may outlive the reading and abort a process that ends soon after it.
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(stream.read())).read(use_threads=False)
        raw_meta = (table.schema.metadata or {}).get(_META)
        if raw_meta is None:
            raise UserError("is not a prefixwise trace: a Parquet file of something else", path)
        meta = msgspec.json.decode(raw_meta, type=TraceMeta)
    except (pyarrow.ArrowException, OSError, msgspec.MsgspecError) as problem:
        raise UserError(f"is not a prefixwise trace: {str(problem)[:200]}", path) from None
    if meta.schema != SCHEMA or meta.block < 0:
        raise UserError(f"is not a prefixwise trace: schema {meta.schema[:100]!r}, block {meta.block}", path)
    if meta.schema_version > SCHEMA_VERSION:
        raise UserError(f"was written by a newer prefixwise ({meta.tool_version[:20]})", path, "update prefixwise")
    traces.start_file(meta.block or 1, own_root=meta.shared)
    traces.tokenizers.update(meta.tokenizers)
    data = {name: table.column(name).to_pylist() for name in table.column_names}
    data.setdefault("reported_written_long", [None] * table.num_rows)  # traces of before did not keep it
    for number in range(table.num_rows):
        try:
            _add_row(traces, path, number, data, meta.block or 1)
        except (KeyError, ValueError, TypeError, OverflowError) as problem:
            raise UserError(f"the trace is damaged: {type(problem).__name__} {problem}", f"{path}#{number}") from None
    kind = f"{meta.block}-token blocks" if meta.block else "exact"
    return InputFile(path, f"prefixwise trace ({kind})", "trace", "", table.num_rows, 0)


def _add_row(traces: TraceRows, path: str, number: int, data: dict[str, list[Any]], grain: int) -> None:
    rows = traces.rows
    node = traces.walk(traces.root, data["block_ids"][number], data["block_ends"][number])
    row = Row(file=rows.files.number(data["file"][number]), node=node)
    if data["answer_ids"][number] is not None:
        full = traces.tree.parent[node] if traces.tree.depth[node] % grain else node
        row.response_node = traces.walk(full, data["answer_ids"][number], data["answer_ends"][number])
    for name in _COUNTS:
        count = data[name][number]
        if not 0 <= count < 2**31:
            raise ValueError(f"{name} is {count}")
        setattr(row, name, count)
    for name in (*_REPORTED, *_TIMES):
        value = data[name][number]
        if value is not None:
            setattr(row, name, value)
    for field, names in (
        ("model", rows.models), ("provider", rows.providers), ("tenant", rows.tenants),
        ("session", rows.sessions), ("replica", rows.replicas),
    ):  # fmt: skip
        setattr(row, field, names.number(data[field][number]))
    family = data["family"][number]
    row.family = NONE if family is None else traces.family(path, family)
    row.namespace = traces.namespace(Namespace(*(data[f"namespace_{part}"][number] for part in _PARTS)))
    pairs = (pair.partition("=") for pair in data["params"][number])
    row.param_set = traces.param_set(tuple((name, value.encode()) for name, _, value in pairs))
    band = (data["media_fewer"][number], data["media_more"][number])
    if band != (0, 0):
        rows.bands[len(rows)] = band
    ends: Sequence[int] | None = data["marker_ends"][number]
    if ends:
        rows.markers[len(rows)] = tuple(zip(ends, data["marker_ttls"][number], strict=True))
    rows.append(row)
