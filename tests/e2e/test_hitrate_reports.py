"""What `hitrate` writes in each format: groups that nobody asked for, and no word that may not be shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.fleet_log import write_fleet

FORMS = ("html", "json", "text", "markdown", "csv")
WORDS = ("You answer for", "Looks up", "Question 1")


def written(run: Any, folder: Path, *options: str) -> dict[str, str]:
    """Return what one run writes, by format."""
    log = write_fleet(folder / "fleet.jsonl", 24)
    run(["hitrate", log, *options, *(f"--report={form}={folder / form}.out" for form in FORMS)]).check(0)
    return {form: (folder / f"{form}.out").read_text(encoding="utf-8") for form in FORMS}


def test_no_word_of_a_prompt_is_written_where_none_may_be(run: Any, tmp_path: Path) -> None:
    hidden = written(run, tmp_path, "--by", "family", "--fixes", "--excerpts", "none")
    assert not [(form, word) for form, text in hidden.items() for word in WORDS if word in text]
    shown = written(run, tmp_path, "--by", "family", "--fixes")
    assert [form for form, text in shown.items() if WORDS[0] in text] == list(FORMS)


def test_a_page_has_groups_unasked_and_other_runs_have_not(run: Any, tmp_path: Path) -> None:
    asked = written(run, tmp_path)
    assert "Where they went, by tenant" in asked["html"]
    assert set(json.loads(asked["json"])["values"]["by"]) == {"model", "tenant", "family"}
    alone = json.loads(run(["hitrate", tmp_path / "fleet.jsonl", "--json"]).check(0).out)
    assert alone["values"]["by"] == {}
    assert not {block["name"] for block in alone["blocks"]} & {"by_tenant", "accounts_by_tenant"}
