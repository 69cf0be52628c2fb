"""`prefixwise lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def lint(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS...", help="Logs of requests, folders, globs, or - for standard input.")
    ],
    select: o.Select = None,
    ignore: o.Ignore = None,
    fail_on: o.FailOn = "error",
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
    """Find what makes prompt prefixes unstable in a log: where, since when, at what cost, and how to mend it.

    \b
    Examples:
      prefixwise lint requests.jsonl
      prefixwise lint logs/ --fail-on warning --ignore tool-choice-changed
      prefixwise lint requests.jsonl --json --report markdown=lint.md
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.lint.report import lint_report
    from prefixwise.analyzers.lint.run import lint_log
    from prefixwise.analyzers.rule import chosen_rules
    from prefixwise.caches.rulebook import Rulebook
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, read_twice, refuse_overwriting
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.core.finding import Level

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    wanted = chosen_rules(select or (), ignore or ())
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
    book = Rulebook(rules or ())
    refuse_overwriting([path for _, path in outputs.files], paths)
    with read_twice(paths, reading, console, chooser(tokenizer or (), chat_template or ())) as (corpus, again):
        linted = lint_log(corpus, again, wanted, book, Excerpts(excerpts))
    document = lint_report(linted, None, None if fail_on == "never" else Level(fail_on))
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
