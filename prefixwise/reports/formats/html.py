"""`html`: one page that needs nothing else: no script, no network; light or dark as the reader's screen is."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from prefixwise import __version__
from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Confidence, Level
from prefixwise.core.report import Report
from prefixwise.reports import finding_words as words
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.rule_help import rule_help

if TYPE_CHECKING:
    from jinja2 import Template


def render(report: Report, **_layout: object) -> str:
    """Return the page: what came out, the findings with filters by level and rule, all else, the rules' pages."""
    from prefixwise.reports.html.blocks import block_view, page_view

    rules = list(dict.fromkeys(finding.rule for finding in report.findings))
    pages = [(number, name, rule_help(name)) for number, name in enumerate(rules, 1)]
    return _template().render(
        report=report,
        version=__version__,
        tally=words.tally(report.findings),
        levels=[level for level in Level if any(finding.level is level for finding in report.findings)],
        rules=dict(zip(rules, range(1, len(rules) + 1), strict=True)),
        blocks=[block_view(block) for block in report.blocks],
        pages=[(number, name, known, list(page_view(known.page))) for number, name, known in pages if known],
        words=words,
        certain=Confidence.CERTAIN,
    )


@cache
def _template() -> Template:
    """Return the template; every value it prints is made visible and escaped, but for markup of our own."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    folder = files("prefixwise.reports.html")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = (folder / "style.css").read_text(encoding="utf-8")
    environment.globals["style"] = Markup(style)  # noqa: S704 - our own file
    return environment.from_string((folder / "report.html.jinja").read_text(encoding="utf-8"))


FORMATS.add("html", Format("html", "text/html", ".html", render))
