"""`prefixwise lint`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def lint(
    ctx: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS...",
            help="Logs, prompt files, templates, code, folders, globs, or - for standard input: a log by default.",
        ),
    ],
    select: o.Select = None,
    ignore: o.Ignore = None,
    extend_select: o.ExtendSelect = None,
    extend_ignore: o.ExtendIgnore = None,
    fail_on: o.FailOn = None,
    exit_zero: o.ExitZero = False,
    statistics: Annotated[bool, typer.Option("--statistics", help="Also count the findings of each rule.")] = False,
    show_files: Annotated[
        bool, typer.Option("--show-files", help="Say which files are read, and why others are not; lint nothing.")
    ] = False,
    only_discovered: Annotated[
        bool,
        typer.Option(
            "--only-discovered",
            help="Leave out named files that would not be found in their folder: for hooks, which name every file.",
        ),
    ] = False,
    locked: Annotated[
        bool, typer.Option("--locked", help="Hold prompt files against prefixwise.lock (see prefixwise lock).")
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend sources where that is safe; logs are never edited.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: move text, too; look at what it does.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print fixes as a patch instead of making them.")] = False,
    fixed_copy: Annotated[
        Path | None,
        typer.Option("--fixed-copy", metavar="PATH", help="Write a copy of a log with its requests as they should be."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="FILE", envvar="PREFIXWISE_BASELINE", help="Do not tell the findings that it knows."
        ),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline", metavar="FILE", help="Write the findings of today to it: they are known then."
        ),
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Take out of the baseline what is not there any more.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="REF", help="Tell only what stands on lines that changed since this commit."),
    ] = None,
    stdin_filename: Annotated[
        str | None,
        typer.Option(
            "--stdin-filename", metavar="PATH", help="Lint the text on standard input (-) as if it stood in this file."
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="DIR",
            help="Name the line of these sources that fills in what moves in a log; repeatable.",
        ),
    ] = None,
    provider: o.Provider = None,
    model: o.Model = None,
    syntax: Annotated[
        str | None,
        typer.Option("--syntax", metavar="NAME", help="How placeholders of the prompt files are written (jinja, …)."),
    ] = None,
    rules: o.Rules = None,
    output_format: o.ConfiguredFormat = None,
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    jobs: o.Jobs = None,
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
      prefixwise lint prompts/ src/ --diff --unsafe-fixes
      prefixwise lint requests.jsonl --fixed-copy mended.jsonl
      prefixwise lint . --write-baseline prefixwise-baseline.json
      prefixwise lint . --baseline prefixwise-baseline.json --since origin/main
      prefixwise lint requests.jsonl --source .
      prefixwise lint logs/ --ignore tool-choice-changed --json --report markdown=lint.md
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from functools import partial

    from prefixwise.analyzers.configured import Configured
    from prefixwise.analyzers.static.context import PromptContext
    from prefixwise.analyzers.static.files_report import files_report
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import (
        read_options,
        read_twice,
        refuse_overwriting,
        relative,
        text_on_stdin,
        uncollected,
    )
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.whole_files import write_whole
    from prefixwise.workflows.fixing import fixes_asked
    from prefixwise.workflows.linting import LintAsked, baselines, files_of
    from prefixwise.workflows.linting import lint as run_lint
    from prefixwise.workflows.silencing import Silencing

    console = Console(color, quiet=quiet, progress=not no_progress)
    configured = configurations(
        ctx,
        config,
        isolated=isolated,
        json=json,
        select=select,
        ignore=ignore,
        extend_select=extend_select,
        extend_ignore=extend_ignore,
        fail_on=fail_on,
        exit_zero=exit_zero,
        provider=provider,
        model=model,
        rules=rules,
        output_format=output_format,
        baseline=baseline,
        excerpts=excerpts,
        source=source,
        jobs=jobs,
    )
    here = configured.here
    outputs = parse_outputs(here.settings.output_format, reports=report or (), where=here.where("output-format"))
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
    silencing = Silencing(
        write=write_baseline,
        update=update_baseline,
        since=since,
    )
    unsaved, text = text_on_stdin(paths, stdin_filename, locked=locked, since=since)
    asked = LintAsked(
        paths=tuple(relative(paths)),
        configured=Configured(configured, PromptContext(syntax=syntax or "")),
        settings=here.settings,
        lock=Path("prefixwise.lock") if locked else None,
        statistics=statistics,
        fixes=fixes_asked(fix=fix, unsafe=unsafe_fixes, diff=diff),
        fixed_copy=fixed_copy,
        silencing=silencing,
        unsaved=unsaved,
        text=text,
        only_discovered=only_discovered,
    )
    files = files_of(asked)
    known = baselines(asked, files)
    written = [*(path for _, path in outputs.files), *silencing.written(known), *([fixed_copy] if fixed_copy else [])]
    refuse_overwriting(written, [file.path for file in files.found], silencing.read(known))
    if show_files:
        emit(files_report(files), outputs, console)
        raise typer.Exit
    choose = chooser(tokenizer or (), chat_template or ())
    read_logs = partial(read_twice, options=reading, console=console, choose=choose)
    with uncollected():
        run = run_lint(asked, files, read_logs, write_whole)
    emit(run.report, outputs, console, instead=run.patch if diff else None)
    raise typer.Exit(run.exit_code)
