"""`prefixwise lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def lint(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS...",
            help="Logs, prompt files, templates, code, folders, globs, or - for a log on standard input.",
        ),
    ],
    select: o.Select = None,
    ignore: o.Ignore = None,
    fail_on: o.FailOn = "error",
    show_files: Annotated[
        bool, typer.Option("--show-files", help="Say which files are read, and why others are not; lint nothing.")
    ] = False,
    locked: Annotated[
        bool, typer.Option("--locked", help="Hold prompt files against prefixwise.lock (see prefixwise lock).")
    ] = False,
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Whose API the prompt files go to.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Model that reads the prompt files.")
    ] = None,
    syntax: Annotated[
        str | None,
        typer.Option("--syntax", metavar="NAME", help="How placeholders of the prompt files are written (jinja, …)."),
    ] = None,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = "masked",
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
    """Find what keeps prompts from being cached: in logs of what was sent, and in the sources that build prompts.

    \b
    Examples:
      prefixwise lint requests.jsonl
      prefixwise lint prompts/ src/ --fail-on warning
      prefixwise lint . --show-files
      prefixwise lint logs/ --ignore tool-choice-changed --json --report markdown=lint.md
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from functools import partial
    from pathlib import Path

    from prefixwise.analyzers.rule import chosen_rules
    from prefixwise.analyzers.static.context import PromptContext
    from prefixwise.analyzers.static.files_report import files_report
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, read_twice, refuse_overwriting, relative
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.core.finding import Level
    from prefixwise.workflows.linting import LintAsked, files_of
    from prefixwise.workflows.linting import lint as run_lint

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
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
    asked = LintAsked(
        paths=tuple(relative(paths)),
        wanted=chosen_rules(select or (), ignore or ()),
        known=PromptContext(provider=provider or "", model=model or "", syntax=syntax or ""),
        rules=tuple(rules or ()),
        lock=Path("prefixwise.lock") if locked else None,
        excerpts=Excerpts(excerpts),
        fail_on=None if fail_on == "never" else Level(fail_on),
    )
    files = files_of(asked)
    refuse_overwriting([path for _, path in outputs.files], [file.path for file in files.found])
    if show_files:
        emit(files_report(files), outputs, console)
        raise typer.Exit
    choose = chooser(tokenizer or (), chat_template or ())
    read_logs = partial(read_twice, options=reading, console=console, choose=choose)
    document = run_lint(asked, files, read_logs)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
