from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from prefixwise.cli import options as o
from prefixwise.reports.format import FORMATS

app = typer.Typer(rich_markup_mode=None)


@app.command()
def command(
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = "masked",
    color: o.Color = "auto",
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    input_format: o.InputFormat = None,
    strict: o.Strict = False,
    record_path: o.RecordPath = None,
    tenant_field: o.TenantField = None,
    session_field: o.SessionField = None,
    model_field: o.ModelField = None,
    start_field: o.StartField = None,
    end_field: o.EndField = None,
    replica_field: o.ReplicaField = None,
    salt_field: o.SaltField = None,
    under: o.Under = None,
    require: o.Require = None,
    by: o.By = None,
    fail_on: o.FailOn = "error",
    select: o.Select = None,
    ignore: o.Ignore = None,
) -> None:
    typer.echo(repr({name: value for name, value in locals().items() if value}))


def run(*arguments: str, env: dict[str, str] | None = None) -> str:
    result = CliRunner().invoke(app, arguments, env=env)
    assert result.exit_code == 0, result.output
    return result.output


def test_defaults() -> None:
    assert run() == "{'output_format': 'text', 'excerpts': 'masked', 'color': 'auto', 'fail_on': 'error'}\n"


def test_every_option_is_read() -> None:
    outputs = ["-q", "--json", "--report", "a=b", "--report", "c=d"]
    shown = run(*outputs, "--under", "vllm", "--under", "x:y=1", "--require", "a>=1", "--by", "tenant")
    assert "'report': ['a=b', 'c=d']" in shown
    assert "'under': ['vllm', 'x:y=1'], 'require': ['a>=1'], 'by': ['tenant']" in shown
    for field in ("tenant", "session", "model", "start", "end", "replica", "salt"):
        assert f"'{field}_field': '/a/b'" in run(f"--{field}-field", "/a/b")
    chosen = run("--fail-on", "never", "--select", "PC", "--select", "ttl-expired", "--ignore", "PC01")
    assert "'fail_on': 'never', 'select': ['PC', 'ttl-expired'], 'ignore': ['PC01']" in chosen
    assert "'record_path': '/rows'" in run("--record-path", "/rows")


def test_the_output_format_may_come_from_the_environment() -> None:
    assert "'output_format': 'json'" in run(env={"PREFIXWISE_OUTPUT_FORMAT": "json"})
    assert "'output_format': 'csv'" in run("--output-format", "csv", env={"PREFIXWISE_OUTPUT_FORMAT": "json"})


@pytest.mark.parametrize("arguments", [["--color", "blue"], ["--excerpts", "some"], ["--fail-on", "high"]])
def test_a_wrong_choice_is_a_usage_error(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_help_reads_plainly() -> None:
    shown = run("--help")
    assert re.search(r"none\W+masked\W+full", shown)
    assert "Also write the report to a file." in shown


def test_the_help_names_every_format() -> None:
    shown = run("--help", env={"COLUMNS": "200"})
    listed = shown.partition("Write this format to stdout: ")[2].partition(".")[0]
    assert sorted(re.findall(r"[a-z]+", listed)) == sorted([*FORMATS.names(), "full", "or"])
