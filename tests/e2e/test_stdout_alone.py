"""stdout is one document and nothing else, whatever there is to warn of: every format, every command."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from prefixwise.reports.format import FORMATS

CONSTANT = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 40
BUILDER = f'''import re
from datetime import datetime
from openai import OpenAI

PATTERN = re.compile("\\d+")  # an escape that Python warns of
RULES = """{CONSTANT}"""

def ask(question):
    if question is "":
        return None
    system = f"It is {{datetime.now():%H:%M}}. " + RULES
    messages = [{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]
    return OpenAI().chat.completions.create(model="gpt-4o", messages=messages)
'''
BLOCKED = """import sys


class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("tree_sitter", "pyarrow", "zstandard", "tokenizers"):
            raise ModuleNotFoundError(name, name=name)


sys.meta_path.insert(0, Blocked)
"""


@pytest.fixture
def noisy(tmp_path: Path, e2e: Any) -> dict[str, str]:
    """Fill the folder with everything that there is a warning for; return an environment that warns of more."""
    systems = [{"role": "system", "content": f"It is 2026-11-03 10:{number:02}. {CONSTANT}"} for number in range(6)]
    calls = [e2e.chat() | {"messages": [first, {"role": "user", "content": "Which quay?"}]} for first in systems]
    files = {
        "calls.jsonl": e2e.lines(*calls[:3]) + b'{"messages": 5}\nnot json\n\n[1, 2\n' + e2e.lines(*calls[3:]),
        "ask.py": BUILDER.encode(),
        "broken.py": b"messages = [\n",
        "ask.ts": b"export const messages = [`It is ${Date.now()}`];\n",
        "prompts/latin.md": "Grüße".encode("latin-1"),
        "prompts/broken.j2": b"{% if %}{{ now }}",
        "prompts/ignored.j2": b"{# prefixwise: ignore[none-such] #}\n" + CONSTANT.encode(),
        "prompts/closed.md": b"Be brief.",
        "blocked/sitecustomize.py": BLOCKED.encode(),
        "known.json": b'{"schema": "prefixwise/baseline", "schema_version": 1, "sources": {}, "logs": {}}',
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "prompts" / "closed.md").chmod(0)
    path = os.pathsep.join([str(tmp_path / "blocked"), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "PYTHONASYNCIODEBUG": "1"}


def one_document(form: str, text: str) -> None:
    """Take a document apart in its own language; whatever else is on stdout breaks it."""
    assert "Warning" not in text
    if form in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(text)
    elif form == "junit":
        JUnitXml.fromstring(text.encode())
    elif form == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(text), strict=True) if row}) <= 8
    elif form == "html":
        assert text.startswith("<!doctype html>")
        assert text.endswith("</html>\n")
        assert text.count("<html") == text.count("</html>") == 1
    elif form == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in text.splitlines()[:-1])
    elif form == "concise":
        lines = text.splitlines()
        assert all(
            re.match(r"(calls\.jsonl#|ask\.py:|prompts/ignored\.j2:)\d+.*: (error|warning) ", one) for one in lines[:-1]
        )
        assert lines[-1] == "2 errors, 1 warning"
    else:
        assert text.removeprefix("## ").startswith("2 errors and 1 warning in 6 requests and 6 source files\n")


@pytest.mark.parametrize("form", FORMATS.names())
def test_lint_writes_one_document(run: Any, noisy: dict[str, str], form: str) -> None:
    result = run(["lint", ".", "--output-format", form], env=noisy, ordinary_user=True).check(1)
    one_document(form, result.out)
    said = result.out + result.err
    assert all(words in said for words in ("extra, which is not installed", "prompts/closed.md", "prompts/latin.md"))
    assert "Warning" not in result.err


COMMANDS = [
    ["hitrate", "calls.jsonl"],
    ["why", "calls.jsonl"],
    ["tokens", "calls.jsonl#0"],
    ["diff", "calls.jsonl#0", "calls.jsonl#1"],
    ["providers"],
    ["rules"],
    ["explain", "clock-in-prefix"],
    ["config", "prompts"],
    ["schema"],
    ["lint", ".", "--show-files"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_other_commands_write_one_document(run: Any, noisy: dict[str, str], command: list[str]) -> None:
    result = run([*command, "--json"], env=noisy, ordinary_user=True).check(0)
    one_document("json", result.out)
    assert "Warning" not in result.err
