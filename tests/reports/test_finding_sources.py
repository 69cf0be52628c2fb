"""The texts that formats count in."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from prefixwise.core.report import Findings, Report, SourceText
from prefixwise.workflows.finding_sources import with_sources


def test_files_with_spans_are_read_but_not_what_is_known_already(
    reports: dict[str, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    in_log, in_source, _ = reports["everything"].findings
    Path("a.py").write_bytes("é\r\n".encode())
    Path("b.py").write_text("on disk")
    Path("raw.py").write_bytes(b"\xff")
    Path("log.jsonl").write_text("{}")
    found = [msgspec.structs.replace(in_source, path=path) for path in ("a.py", "b.py", "raw.py", "gone.py", "a.py")]
    log = msgspec.structs.replace(in_log, path="log.jsonl")
    report = Report("s", 1, "lint", "Lint", (Findings("f", "", (*found, log)),))
    unsaved = SourceText("b.py", "in the editor")
    read = with_sources(msgspec.structs.replace(report, sources=(unsaved,))).sources
    assert read == (unsaved, SourceText("a.py", "é\r\n"))
    assert with_sources(reports["empty"]) is reports["empty"]
