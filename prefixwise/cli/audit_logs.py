"""`prefixwise audit logs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def logs(
    ctx: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS...", help="Logs, traces, folders, globs, or - for standard input.")
    ],
    tenant_field: o.TenantField = None,
    salt_field: o.SaltField = None,
    place: Annotated[
        list[str] | None,
        typer.Option(
            "--place",
            metavar="NAME=POINTER",
            help="Say where a record holds: affinity, client-salt, credential, endpoint, environment, status or "
            "workspace. May be repeated.",
        ),
    ] = None,
    deployment: Annotated[
        list[str] | None,
        typer.Option(
            "--deployment",
            metavar="FILE",
            help="Read this configuration of an engine, a store or a gateway (vLLM, SGLang, LMCache, LiteLLM, …). "
            "May be repeated.",
        ),
    ] = None,
    approved: Annotated[
        Path | None,
        typer.Option("--approved", metavar="FILE", help="Allow-list of prompts that all tenants may share."),
    ] = None,
    write_approved: Annotated[
        Path | None,
        typer.Option("--write-approved", metavar="FILE", help="Write the allow-list that the log suggests."),
    ] = None,
    shared_prefix_tokens: Annotated[
        int | None,
        typer.Option(
            "--shared-prefix-tokens", metavar="N", min=1, help="The deployment shares so many leading tokens."
        ),
    ] = None,
    ttl: Annotated[
        float | None,
        typer.Option(
            "--ttl", metavar="SECONDS", min=0, help="Entries live so long unused (default: as the rule says)."
        ),
    ] = None,
    retention: Annotated[
        float | None,
        typer.Option("--retention", metavar="SECONDS", min=0, help="By contract, entries must be gone after this."),
    ] = None,
    prefill_rate: Annotated[
        float | None,
        typer.Option(
            "--prefill-rate", metavar="TOKENS", min=0.001, help="Prompt tokens a second that the engine computes."
        ),
    ] = None,
    one_trust_domain: Annotated[
        bool, typer.Option("--one-trust-domain", help="Tenants trust each other: every threat is one step less grave.")
    ] = False,
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Call tenants by keyed hashes instead of their names.")
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file", help="Secret of the keyed hashes; made when absent. Default: one in your settings folder."
        ),
    ] = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    fail_on: o.FailOn = None,
    exit_zero: o.ExitZero = False,
    under: o.Under = None,
    model_shape: o.ModelShape = None,
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
    session_field: o.SessionField = None,
    model_field: o.ModelField = None,
    start_field: o.StartField = None,
    end_field: o.EndField = None,
    replica_field: o.ReplicaField = None,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Find out from logs who could be served whose prompts, why, and what keeping them apart would cost.

    \b
    Examples:
      prefixwise audit logs requests.jsonl --tenant-field /customer
      prefixwise audit logs logs/ --deployment vllm.sh --deployment gateway.yaml
      prefixwise audit logs logs/ --write-approved approved.json
      prefixwise audit logs logs/ --approved approved.json --report html=audit.html --pseudonyms
      prefixwise audit logs trace.parquet --under ttl:seconds=300

    Exit codes: 0 nothing at --fail-on; 1 tenants are not apart; 2 could not run; 3 no input.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.tenancy.approved import Approved, read_approved
    from prefixwise.analyzers.tenancy.asked import AuditAsked
    from prefixwise.analyzers.tenancy.audit import rules_are_known
    from prefixwise.analyzers.tenancy.chosen import chosen_threats
    from prefixwise.analyzers.tenancy.deployment import read_deployment
    from prefixwise.caches.capacity import for_model
    from prefixwise.caches.rulebook import Rulebook
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import places_of, read_options, read_twice, refuse_overwriting, secret_key
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.core.finding import Level
    from prefixwise.core.whole_files import write_whole
    from prefixwise.workflows.auditing_logs import AuditOutput, audit_logs

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
    rules_are_known(under, book)
    output = AuditOutput(
        threats=chosen_threats(select or (), ignore or ()),
        fail_on=None if exit_zero or fail_on == "never" else Level(fail_on or "error"),
        excerpts=Excerpts(settings.excerpts),
        write_approved=write_approved,
    )
    written = [*(path for _, path in outputs.files), *([write_approved] if write_approved else [])]
    given = [Path(path) for path in deployment or ()]
    refuse_overwriting(written, paths, given)
    asked = AuditAsked(
        under=tuple(under),
        approved=Approved() if approved is None else read_approved(approved),
        deployment=read_deployment(deployment or ()),
        places=places_of(place or ()),
        key=secret_key(key_file, console),
        pseudonyms=pseudonyms,
        one_trust_domain=one_trust_domain,
        ttl=ttl,
        shared_tokens=shared_prefix_tokens,
        retention=retention,
        prefill_rate=prefill_rate,
    )
    choose = chooser(tokenizer or (), chat_template or ())
    with read_twice(paths, reading, console, choose) as (corpus, again):
        document = audit_logs(corpus, again, asked, output, book, write_whole)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
