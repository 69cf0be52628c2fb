"""`prefixwise why`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefixwise.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prefixwise.analyzers.lint.run import Linted
    from prefixwise.cli.console import Console

_CHUNK = 1 << 16


def why(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS...", help="Logs of requests, folders, globs, or - for standard input."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many causes to show.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="Write one line a request, in order of start.")] = False,
    request: Annotated[
        str | None,
        typer.Option("--request", metavar="FILE#N", help="Show one request in full; #N where one file is read."),
    ] = None,
    repro: Annotated[
        Path | None,
        typer.Option(
            "--repro",
            metavar="DIR",
            help="With --request: write the smallest pair that still misses, its words replaced, to a new folder.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Of the words of --repro: the same every time. By default they are others each time."
        ),
    ] = None,
    under: o.Under = None,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
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
    """Say where the prompt tokens of a log went, and why the cache did not serve them.

    \b
    Examples:
      prefixwise why requests.jsonl
      prefixwise why requests.jsonl --all | grep clock-in-prefix
      prefixwise why --request requests.jsonl#17
      prefixwise why --request requests.jsonl#17 --repro miss-17
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import msgspec

    from prefixwise.analyzers.diff_report import unit_of
    from prefixwise.analyzers.lint.run import lint_log
    from prefixwise.analyzers.repro.files import files_of, written
    from prefixwise.analyzers.repro.reproduce import Source, reproduce, words_key
    from prefixwise.analyzers.rule import RULES
    from prefixwise.analyzers.why.examine import examine, row_of
    from prefixwise.analyzers.why.lines import why_lines
    from prefixwise.analyzers.why.report import why_report
    from prefixwise.analyzers.why.request_report import request_report
    from prefixwise.caches.policy import parse_policy
    from prefixwise.caches.rulebook import Rulebook
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.folder import write_folder
    from prefixwise.cli.reading import read_options, read_twice, refuse_overwriting
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.excerpt import Excerpts

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, rules=rules, excerpts=excerpts).here.settings
    if every:
        _check_all(outputs.stdout.name, report, request)
    _check_repro(repro, request, seed)
    files, wanted = _asked_for(paths or [], request)
    policies = [parse_policy(spec) for spec in under or ("vllm", "sglang")]
    for policy in policies:
        unit_of(policy)  # refuses before anything is read what could not be counted after
    reading = read_options(
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
    book, choose, shown = (
        Rulebook(settings.rules),
        chooser(tokenizer or (), chat_template or ()),
        Excerpts(settings.excerpts),
    )
    refuse_overwriting([path for _, path in outputs.files], files)
    with read_twice(files, reading, console, choose) as (corpus, again):
        linted = lint_log(corpus, again, RULES.names(), book, shown)
        if every:
            _write(why_lines(linted, json=outputs.stdout.name == "json"), console)
            _say_what_is_missing(linted, console)
            return
        if wanted is None:
            document = why_report(linted, top)
        else:
            row = row_of(linted, *wanted)
            examined = examine(linted, row, again, choose, shown)
            told = None
            if repro is not None:
                made = reproduce(Source(linted, again, choose, reading), row, policies, words_key(seed))
                write_folder(repro, files_of(made))
                told = written(made, str(repro))
            document = msgspec.structs.replace(request_report(linted, examined, policies, shown, told), seed=seed)
    emit(document, outputs, console)


def _check_all(output_format: str, report: list[str] | None, request: str | None) -> None:
    """Raise UserError for options that do not go with `--all`."""
    from prefixwise.core.errors import UserError

    if request is not None:
        raise UserError("one request or all of them", "--all --request", "leave one of the two away")
    if report or output_format not in ("text", "json"):
        raise UserError("--all writes lines of text, or of JSON", "--all", "leave the other formats and --report away")


def _check_repro(repro: Path | None, request: str | None, seed: int | None) -> None:
    """Raise UserError where the files of a repro cannot be written, or nothing says of which request."""
    from prefixwise.cli.folder import check_folder
    from prefixwise.core.errors import UserError

    if repro is not None and request is None:
        raise UserError("of which request?", f"--repro {repro}", "name it with --request FILE#N")
    if repro is None and seed is not None:
        raise UserError("a seed is for --repro", f"--seed {seed}", "leave it away")
    if repro is not None:
        check_folder(repro, "--repro")


def _asked_for(paths: list[str], request: str | None) -> tuple[list[str], tuple[str, int] | None]:
    """Return the files to read, and (file, record) of the request asked for; the file is empty where one is read.

    Raises:
        UserError: Nothing is to be read, or the request is named in no way that tells which one.
    """
    from prefixwise.cli.reading import relative
    from prefixwise.core.errors import UserError
    from prefixwise.corpus.single import split_address

    if request is None:
        if not paths:
            raise UserError("no log is named", help="prefixwise why requests.jsonl")
        return paths, None
    address = f"#{request}" if request.isdecimal() else request
    path, record = split_address(address)
    if record is None:
        raise UserError("a request is named by its record", f"--request {request}", f"for example {request}#0")
    if not path and len(paths) != 1:
        raise UserError("several files are read", f"--request {request}", f"name the request as FILE#{record}")
    named = relative([path])[0] if path else ""
    return paths or [path], (named, record)


def _say_what_is_missing(linted: Linted, console: Console) -> None:
    """Say on stderr what a report would have said of the log: lines have no place for it."""
    from prefixwise.analyzers.log_notes import log_notes

    corpus = linted.log.corpus
    for file in corpus.inputs:
        if file.broken:
            console.note(f"{file.path}: {file.broken:,} broken record{'' if file.broken == 1 else 's'} left out")
    for note in log_notes(corpus):
        console.note(note)


def _write(lines: Iterable[str], console: Console) -> None:
    """Write lines as they come, many at a time."""
    from prefixwise.cli.emit import write_document

    chunk: list[str] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if size >= _CHUNK:
            write_document("".join(chunk), console)
            chunk, size = [], 0
    write_document("".join(chunk), console)
