"""Each format's document, byte for byte; golden/README.md says how to write them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS

GOLDEN = Path(__file__).parent / "golden"
LAYOUTS: dict[str, tuple[int | None, ...]] = {"text": (None, 80, 44)}
CASES = [
    (name, form, width)
    for name in ("empty", "emptied", "everything", "hostile")
    for form in FORMATS.names()
    for width in LAYOUTS.get(form, (None,))
]


@pytest.mark.parametrize(("name", "form", "width"), CASES)
def test_the_document_is_the_golden_one(reports: dict[str, Report], name: str, form: str, width: int | None) -> None:
    document = FORMATS.get(form).render(reports[name], width=width, colour=False).encode()
    path = GOLDEN / f"{name}{'' if width is None else f'-{width}'}{FORMATS.get(form).suffix}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(document)
    assert document == path.read_bytes()
