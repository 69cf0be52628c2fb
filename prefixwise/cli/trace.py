"""`prefixwise trace`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def trace(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="Logs, folders, globs, or -.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write the trace here (Parquet).")],
    share: Annotated[
        bool,
        typer.Option("--share", help="Write numbers for ids and names, to hand the trace out."),
    ] = False,
    block: Annotated[
        int, typer.Option("--block", min=0, help="Cut at every N tokens, to join traces; 0 cuts where prompts part.")
    ] = 0,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file", help="Secret of the prefix ids; made when absent. Default: one in your settings folder."
        ),
    ] = None,
    tokenizer: o.Tokenizers = None,
    chat_template: o.ChatTemplates = None,
    input_format: o.InputFormat = None,
    record_path: o.RecordPath = None,
    tenant_field: o.TenantField = None,
    session_field: o.SessionField = None,
    model_field: o.ModelField = None,
    start_field: o.StartField = None,
    end_field: o.EndField = None,
    replica_field: o.ReplicaField = None,
    salt_field: o.SaltField = None,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Write a log as a trace: every request as hashes of its prefixes, without its text.

    `hitrate` on the trace gives the figures of the log. Models, token counts and times stay, with --share too.

    \b
    Examples:
      prefixwise trace requests.jsonl -o requests.parquet
      prefixwise trace logs/ --share -o for-the-vendor.parquet
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.reading import read, read_options, refuse_overwriting, secret_key
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.errors import UserError
    from prefixwise.core.whole_files import write_whole
    from prefixwise.corpus.parquet import need_pyarrow, trace_bytes

    console = Console(color, quiet=quiet, progress=not no_progress)
    options = read_options(
        input_format,
        record_path,
        strict,
        tenant=tenant_field,
        session=session_field,
        model=model_field,
        start=start_field,
        end=end_field,
        replica=replica_field,
        salt=salt_field,
    )
    need_pyarrow()
    _check_output(output)
    refuse_overwriting([output], paths)
    choose = chooser(tokenizer or (), chat_template or ())
    key = b"" if share else secret_key(key_file, console)
    corpus = read(paths, options, console, choose)
    if corpus.index is None:
        raise UserError("the input is a trace already", ", ".join(paths))
    write_whole(output, trace_bytes(corpus.index, key, block, share))
    broken = sum(file.broken for file in corpus.inputs)
    if broken:
        console.warn(f"{broken:,} broken records were left out, the first: {corpus.broken[0]}")
    console.note(f"wrote {len(corpus.rows):,} requests to {output}")


def _check_output(output: Path) -> None:
    """Raise UserError for a place where no trace can be written."""
    from prefixwise.core.errors import UserError

    if str(output) == "-":
        raise UserError("a trace is written to a file", "-o -", "name a file such as requests.parquet")
    if output.is_dir():
        raise UserError("this is a folder, not a file", str(output), "add a name such as requests.parquet")
    if not output.parent.is_dir():
        raise UserError("there is no such folder", str(output.parent), "create it first")
    if not os.access(output.parent, os.W_OK):
        raise UserError("the folder cannot be written to", str(output.parent))
