"""`prefixwise hitrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def hitrate(
    ctx: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS...", help="Logs, traces, folders, globs, or - for standard input.")
    ],
    under: o.Under = None,
    model_shape: o.ModelShape = None,
    by: o.By = None,
    fixes: Annotated[
        bool, typer.Option("--fixes", help="Lint the log, apply each fix to its requests and count them again.")
    ] = False,
    advise: Annotated[
        bool,
        typer.Option("--advise", help="Search for cheaper markers, a better order, renewals, warm-ups; all replayed."),
    ] = False,
    per_request: Annotated[
        Path | None,
        typer.Option("--per-request", metavar="FILE", help="Write the accounts of each request as JSON Lines."),
    ] = None,
    prometheus: Annotated[
        Path | None,
        typer.Option("--prometheus", metavar="FILE", help="Write the figures for Prometheus' textfile collector."),
    ] = None,
    require: o.Require = None,
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
    """Say how many prompt tokens a prefix cache serves: as reported, under each rule, and at most.

    \b
    Examples:
      prefixwise hitrate requests.jsonl
      prefixwise hitrate logs/ --under vllm:block=16 --under sglang --by tenant
      prefixwise hitrate requests.jsonl --under anthropic --under openai:model=gpt-5.6
      prefixwise hitrate logs/ --under vllm:capacity=40GiB --model-shape models/qwen3/config.json
      prefixwise hitrate requests.jsonl --under anthropic --fixes
      prefixwise hitrate requests.jsonl --under anthropic --advise
      prefixwise hitrate requests.jsonl --require "hit_rate>=0.6"
      prefixwise hitrate requests.jsonl --tokenizer models/qwen3/
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from msgspec import structs
    from msgspec.json import encode

    from prefixwise.analyzers.accounts.accounted import accounted, each_request
    from prefixwise.analyzers.advice.advise import advise as advised
    from prefixwise.analyzers.group_names import telling_fields
    from prefixwise.analyzers.hitrate import check_arguments, hit_rate, rules_for
    from prefixwise.analyzers.hitrate_metrics import hit_rate_metrics, last_start
    from prefixwise.analyzers.hitrate_report import FIGURES, hit_rate_report
    from prefixwise.analyzers.lint.run import lint_log
    from prefixwise.analyzers.rule import RULES
    from prefixwise.caches.capacity import for_model
    from prefixwise.caches.rulebook import Rulebook
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read, read_options, read_twice, refuse_overwriting
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.condition import parse_condition
    from prefixwise.core.errors import UserError
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.core.metrics import exposition
    from prefixwise.core.whole_files import write_whole

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, rules=rules, excerpts=excerpts).here.settings
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
    under = for_model(under or (), model_shape)
    book = Rulebook(settings.rules)
    counts_blocks = check_arguments(under, by or (), book)
    conditions = [parse_condition(expression, FIGURES) for expression in require or ()]
    if not fixes and any(condition.figure == "achievable_hit_rate" for condition in conditions):
        raise UserError("the achievable hit rate is counted with the fixes", "--require", "add --fixes")
    written = [path for path in (per_request, prometheus) if path is not None]
    refuse_overwriting([*(path for _, path in outputs.files), *written], paths)
    choose = chooser(tokenizer or (), chat_template or ())
    shown = Excerpts(settings.excerpts)
    paged = not by and any(form.name == "html" for form in (outputs.stdout, *(form for form, _ in outputs.files)))
    if fixes or advise:
        with read_twice(paths, reading, console, choose, layouts=counts_blocks) as (corpus, again):
            asked = under, by or (telling_fields(corpus.rows) if paged else ())
            result = hit_rate(corpus, *asked, shown, book)
            linted = (lint_log(corpus, again, RULES.names(), book, shown), again) if fixes else None
            found = accounted(corpus, *asked, book, linted)
            if advise:
                policy = rules_for(corpus.rows, under, book)[0]
                found = structs.replace(found, advice=advised(corpus, policy, book, again, shown))
    else:
        corpus = read(paths, reading, console, choose, layouts=counts_blocks)
        asked = under, by or (telling_fields(corpus.rows) if paged else ())
        result = hit_rate(corpus, *asked, shown, book)
        found = accounted(corpus, *asked, book)
    if corpus.index is None and tokenizer:
        console.warn("a trace holds no text: --tokenizer changes nothing")
    if per_request is not None:
        write_whole(per_request, b"".join(encode(one) + b"\n" for one in each_request(corpus, found.accounts)))
    document = hit_rate_report(corpus, result, conditions, shown, found, brief=paged)
    if prometheus is not None:
        broken = sum(file.broken for file in corpus.inputs)
        write_whole(prometheus, exposition(hit_rate_metrics(document.values, broken, last_start(corpus.rows))))
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
