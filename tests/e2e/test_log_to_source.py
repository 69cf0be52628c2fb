"""`lint LOG --source`: the line that fills in what moves, from the option and from the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.repository import repository
from support.silenced import CONSTANT, write

SOURCE = 'def ask(now):\n    return f"Be kind. It is {now} at the harbour office.\\n" + RULES\n'


def log(folder: Path) -> None:
    texts = (f"Be kind. It is 10:{number:02} at the harbour office.\n{CONSTANT}" for number in range(6))
    talks = ([{"role": "system", "content": text}, {"role": "user", "content": "Which quay?"}] for text in texts)
    write(folder, {"logs/a.jsonl": "".join(json.dumps({"model": "gpt-4o", "messages": one}) + "\n" for one in talks)})


def flows(document: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [
        (step["path"], step["span"]["line"], step["span"]["column"])
        for finding in document["findings"]
        for step in finding["flow"]
    ]


def test_the_line_is_named_in_every_format_that_has_room_for_it(run: Any, tmp_path: Path) -> None:
    log(tmp_path)
    write(tmp_path, {"app/ask.py": SOURCE})
    done = run(["lint", "logs/a.jsonl", "--source", "app", "--json", "--report", "sarif=a.sarif"]).check(1)
    assert flows(done.json()) == [("app/ask.py", 2, 29)]
    (result,) = json.loads((tmp_path / "a.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "logs/a.jsonl"
    related = result["relatedLocations"][0]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "app/ask.py"
    assert related["physicalLocation"]["region"]["startLine"] == 2
    assert flows(run(["lint", "logs/a.jsonl", "--json"]).check(1).json()) == []
    assert "--source nowhere" in run(["lint", "logs/a.jsonl", "--source", "nowhere"]).check(2).err


def test_the_configuration_names_sources_from_where_it_stands(run: Any, tmp_path: Path) -> None:
    repository(tmp_path, {"app/ask.py": SOURCE, "prefixwise.toml": "source = ['app']\n", ".gitignore": "logs/\n"})
    log(tmp_path)
    assert flows(run(["lint", "logs/a.jsonl", "--json"]).check(1).json()) == [("app/ask.py", 2, 29)]
