"""Writes the generated parts of the documentation; `--check` only says whether they are up to date.

`docs/cli.md` holds the help of every command, `docs/lint-rules.md` the page of every rule, `docs/audit-threats.md` that
of every threat, `docs/configuration.md` a table of every key, and the README's reports are what the commands print.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefixwise.analyzers.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this folder's rules and commands, as `run` has them
SHOWN = {
    "report": ("hitrate", "fixtures/logs/desk-clock.jsonl"),
    "lint": ("lint", "fixtures/cases/python-set-joined-langchain", "--fail-on", "never"),
}
"""What the README shows, by the name of its place."""
KEYS = ("<!-- keys:begin -->", "<!-- keys:end -->")
ENTRIES = ("<!-- entries:begin -->", "<!-- entries:end -->")


def run(*arguments: str) -> str:
    """Return what the command line prints, 80 cells wide and without colour."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERMINAL_WIDTH": "80"}
    environment.pop("PREFIXWISE_OUTPUT_FORMAT", None)
    command = [sys.executable, "-m", "prefixwise", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.replace("python -m prefixwise", "prefixwise")


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, and of every command of a command, in the order of the help."""
    from typer.main import get_command

    from prefixwise.cli.app import app

    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        yield (name,)
        yield from ((name, below) for below in getattr(command, "commands", ()))


def cli_page() -> str:
    """Return `docs/cli.md`."""
    parts = ["# Commands\n\n<!-- Written by docs/generate.py: edit the help texts, not this page. -->\n"]
    parts.append(f"```text\n{run('--help').rstrip()}\n```\n")
    parts.extend(f"## {' '.join(name)}\n\n```text\n{run(*name, '--help').rstrip()}\n```\n" for name in commands())
    return "\n".join(parts)


def rules_page() -> str:
    """Return `docs/lint-rules.md`."""
    from prefixwise.analyzers.rule import RULES

    return _pages_of(
        RULES,
        "# Lint rules",
        "`prefixwise rules` lists them, `prefixwise explain RULE` shows a page. A fix that is *safe* may be applied\n"
        "without a look, an *unsafe* one needs a look, *none* has to be done by hand.",
    )


def threats_page() -> str:
    """Return `docs/audit-threats.md`."""
    from prefixwise.analyzers.tenancy.threat import threats

    return _pages_of(
        threats(),
        "# Threats that audits look for",
        "`prefixwise audit logs` looks for them, `prefixwise explain NAME` shows a page. Severities are for tenants\n"
        "that do not trust each other; `--one-trust-domain` takes a step off.",
    )


def _pages_of(rules: Iterable[Rule], title: str, opening: str) -> str:
    from prefixwise.analyzers.rule_pages import explain_report
    from prefixwise.reports.format import FORMATS

    rules = sorted(rules, key=lambda rule: rule.code)
    render = FORMATS.get("markdown").render
    rows = [f"| {r.code} | [{r.name}](#{r.name}-{r.code.lower()}) | {r.summary} | {r.safety} |" for r in rules]
    parts = [
        title,
        "<!-- Written by docs/generate.py: edit the rules' docstrings, not this page. -->",
        opening,
        "\n".join(["| code | rule | what goes wrong | fix |", "| --- | --- | --- | --- |", *rows]),
        *(render(explain_report(rule)).rstrip("\n") for rule in rules),
    ]
    return "\n\n".join(parts) + "\n"


def readme() -> str:
    """Return the README with its reports renewed."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, words in SHOWN.items():
        shown = f"```text\n$ prefixwise {' '.join(words)}\n{run(*words).rstrip()}\n```"
        text = _between(text, (f"<!-- {name}:begin -->", f"<!-- {name}:end -->"), shown)
    return text


def configuration_page() -> str:
    """Return `docs/configuration.md` with its tables of keys renewed."""
    sys.path.insert(0, str(ROOT))
    from prefixwise.core.config.keys import KeyPage, key_pages
    from prefixwise.core.config.settings import PromptEntry

    def row(page: KeyPage) -> str:
        return f"| `{page.name}` | {page.summary} | {_code(page.default)} | {_code(page.example)} |"

    head = "| key | what it says | default | example |\n| --- | --- | --- | --- |"
    pages = key_pages()
    groups = (("each file", True), ("the whole run", False))
    tables = [
        "\n".join([f"For {whose}:\n\n{head}", *(row(page) for page in pages if page.per_file is per_file)])
        for whose, per_file in groups
    ]
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    text = _between(text, KEYS, "\n\n".join(tables))
    return _between(text, ENTRIES, "\n".join([head, *map(row, key_pages(PromptEntry))]))


def _code(text: str) -> str:
    return f"`{text}`" if text else "–"


def _between(text: str, marks: tuple[str, str], new: str) -> str:
    before, _, rest = text.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return f"{before}{marks[0]}\n{new}\n{marks[1]}{after}"


def main() -> int:
    """Write or check every page; return the exit code."""
    stale = []
    pages = (
        ("docs/cli.md", cli_page()),
        ("docs/lint-rules.md", rules_page()),
        ("docs/audit-threats.md", threats_page()),
        ("docs/configuration.md", configuration_page()),
        ("README.md", readme()),
    )
    for path, text in ((ROOT / name, text) for name, text in pages):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.stderr.write(f"out of date: {', '.join(str(p.relative_to(ROOT)) for p in stale)}; run `make docs`\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
