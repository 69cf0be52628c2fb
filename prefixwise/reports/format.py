"""What a report format is, and where all of them are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from prefixwise.core.registry import Registry
from prefixwise.core.report import Report


class Renderer(Protocol):
    """Turns a report into a document that ends with a line break."""

    def __call__(self, report: Report, *, width: int | None = None, colour: bool = False) -> str:
        """Return the document; `width` is the terminal's in cells (None: unlimited)."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a report.

    Args:
        name: What `--output-format` and `--report` call it.
        media_type: Its MIME type.
        suffix: Usual file suffix, with the dot.
        render: Writes the document. Untrusted text must leave it as `core.excerpt.visible` has it, or
            escaped so that no control or bidi character stays.
        carries_notes: Whether notes and requirements are part of the document; if not, they go to stderr.
        reads_sources: Whether it wants the files into which findings point in `Report.sources`.
    """

    name: str
    media_type: str
    suffix: str
    render: Renderer
    carries_notes: bool = True
    reads_sources: bool = False


FORMATS: Registry[Format] = Registry("report format", "prefixwise.reports.formats", "formats")
