"""Texts that take an editor's patience: many placeholders, many findings, all with fixes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.silenced import inside

from prefixwise.workflows.editor.looking import Look, Looking

FUNCTION = """def ask{0}(now):
    prompt = f"It is {{datetime.datetime.now()}}. {1}"
    system = {{"role": "system", "content": prompt}}
    client.chat.completions.create(model="gpt-4o", messages=[system, {{"role": "user", "content": now}}])
"""
CODE = "import datetime\nimport openai\nclient = openai.OpenAI()\n"


def look_within(folder: Path, name: str, text: str, seconds: float) -> Look:
    with inside(folder):
        looking = Looking()
        looking.look(str(folder / name), text[:200])  # what is imported and read once
        begin = time.process_time()
        look = looking.look(str(folder / name), text)
        assert time.process_time() - begin < seconds
    return look


@pytest.mark.parametrize("name", ["prompts/a.md", "prompts/a.j2"])
def test_thousands_of_placeholders(tmp_path: Path, name: str) -> None:
    look = look_within(tmp_path, name, "Hello {{ now }} and {{ user_name }}\n" * 5000, 5)
    assert look.findings


def test_hundreds_of_findings_with_fixes(tmp_path: Path) -> None:
    text = CODE + "".join(FUNCTION.format(number, "Be kind. " * 30) for number in range(400))
    look = look_within(tmp_path, "ask.py", text, 3)
    assert sum(bool(finding.fix.edits) for finding in look.findings) == 400
