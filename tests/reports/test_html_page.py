"""The page: well-formed, nothing in it that runs or is fetched, text as it is."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from test_formats import FUZZ

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding
from prefixwise.core.report import Column, Findings, Report, Series, Table, Text, Tree, Unit
from prefixwise.reports.format import FORMATS
from prefixwise.reports.html import charts

VOID = {"meta", "input", "rect", "circle", "polyline"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section", "article", "div"),
    *("h1", "h2", "h3", "h4", "p", "ul", "li", "dl", "dt", "dd", "pre", "code", "strong", "span", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "label", "input", "select", "option"),
    *("svg", "rect", "circle", "polyline", "text", "b"),
}


class Reader(HTMLParser):
    """Notes tags, attributes and text, and that every tag is closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(report: Report) -> Reader:
    reader = Reader()
    reader.feed(FORMATS.get("html").render(report))
    reader.close()
    assert reader.open == []
    return reader


def report_of(*blocks: Any) -> Report:
    return Report("prefixwise/test", 1, "test", "Test", blocks)


@pytest.mark.parametrize("name", ["empty", "emptied", "everything", "hostile"])
def test_nothing_runs_and_nothing_is_fetched(reports: dict[str, Report], name: str) -> None:
    reader = read(reports[name])
    assert {tag for tag, _ in reader.tags} <= ALLOWED
    names = {attribute for _, attributes in reader.tags for attribute in attributes}
    assert not {one for one in names if one.startswith("on") or one in ("src", "href", "srcset", "action", "style")}
    style = "".join(re.findall(r"<style>(.*?)</style>", FORMATS.get("html").render(reports[name]), re.DOTALL))
    assert "url(" not in style
    assert "@import" not in style
    policy = next(one for tag, one in reader.tags if one.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


@given(text=st.text(st.characters(exclude_categories=()), max_size=30) | st.text("<>&\"'/ !-]script", max_size=30))
@FUZZ
def test_text_is_read_back_as_it_is(text: str) -> None:
    table = Table("t", text, (Column("a", text), Column("b", "B")), ((text, "end"),), text)
    reader = read(report_of(Text("x", ("start", text + "."), ""), table))
    assert visible(text + ".") in "".join(reader.text)
    cells = "".join(reader.text).replace("\n", "")
    assert f"{visible(text)}end" in cells


def test_findings_can_be_filtered_by_level_and_rule(reports: dict[str, Report]) -> None:
    document = FORMATS.get("html").render(reports["everything"])
    reader = read(reports["everything"])
    boxes = [one["id"] for tag, one in reader.tags if tag == "input"]
    assert boxes == ["show-error", "show-warning", "show-info"]
    options = [one["value"] for tag, one in reader.tags if tag == "option"]
    cards = [one["class"] for tag, one in reader.tags if tag == "article"]
    assert options == ["0", "1", "2", "3"]
    assert cards == ["finding error r1", "finding warning r2", "finding info r3"]
    for level in ("error", "warning", "info"):
        assert f"body:has(#show-{level}:not(:checked)) .finding.{level} {{ display: none }}" in document
    for number in "123":
        rule = f'body:has(#rule option[value="{number}"]:checked) .finding:not(.r{number}) {{ display: none }}'
        assert rule in document


def test_one_finding_needs_no_filter_and_rules_explain_themselves(reports: dict[str, Report]) -> None:
    one: Finding = reports["everything"].findings[0]
    reader = read(report_of(Findings("f", "", (one,))))
    assert not [tag for tag, _ in reader.tags if tag in ("input", "select")]
    assert [tag for tag, _ in reader.tags].count("details") == 1
    unknown = msgspec.structs.replace(one, rule="no-such-rule")
    assert "details" not in {tag for tag, _ in read(report_of(Findings("f", "", (unknown,)))).tags}


def widths(markup: Markup) -> list[tuple[float, float]]:
    return [(float(x), float(w)) for x, w in re.findall(r'x="([\d.]+)" width="([\d.]+)"', markup)]


def test_a_waterfall_hangs_together() -> None:
    start, loss, gain, end = map(widths, charts.floating_bars(100.0, (-60.0, 20.0), 60.0))
    assert (start, loss, gain, end) == ([(0, 100)], [(40, 60)], [(40, 20)], [(0, 60)])


def test_bars_show_the_least_value_and_no_nothing() -> None:
    assert widths(charts.bar(50, 200)) == [(0, 25)]
    assert widths(charts.bar(1, 10**9)) == [(0, 0.5)]
    assert widths(charts.bar(0, 10)) == widths(charts.bar(3, 0)) == []


def test_a_gap_in_a_line_is_a_gap() -> None:
    rate = Column("r", "r", Unit.RATE)
    series = Series("s", "S", Column("x", "x"), (0.0, 1.0, 2.0, 3.0), ((rate, (0.0, 1.0, None, 0.5)),))
    lines = [one["points"] for tag, one in read(report_of(series)).tags if tag == "polyline"]
    assert lines == ["0.0,200.0 213.3,0.0", "640.0,100.0"]


def test_parts_of_a_bar_follow_each_other_and_a_wide_one_has_its_letter() -> None:
    drawn = charts.parts([0.5, 0.0, 0.02, 0.48, -0.1], "abcde")
    assert re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', drawn) == [
        ("0.00", "50.00"),
        ("50.00", "2.00"),
        ("52.00", "48.00"),
    ]
    assert re.findall(r">(\w)</text>", drawn) == ["a", "d"]


def test_a_tree_is_drawn_as_bars_under_each_other() -> None:
    rows = ((0, "all", 8, 2, None), (1, "left", 5, 1, "clock"), (2, "deep", 4, 4, None), (1, "right", 1, 1, None))
    columns = (Column("size", "size"), Column("own", "own"), Column("mark", "mark"))
    tree = Tree("t", "T", columns, rows, drawn=("size", "own"), marked="mark")
    bars = [one for tag, one in read(report_of(tree)).tags if tag == "svg" and "class" not in one]
    assert [(bar["x"], bar["width"], bar["y"]) for bar in bars] == [
        ("0.000%", "100.000%", "0"),
        ("0.000%", "62.500%", "26"),
        ("0.000%", "50.000%", "52"),
        ("62.500%", "12.500%", "26"),
    ]
    own = [one["width"] for tag, one in read(report_of(tree)).tags if tag == "rect" and one["class"] == "own"]
    assert own == ["25.000%", "20.000%", "100.000%", "100.000%"]
    page = FORMATS.get("html").render(report_of(tree))
    assert page.count('class="rim"') == 1
    assert ">2 ✗ clock: left</text>" in page


def test_levels_that_do_not_fit_are_left_to_the_table() -> None:
    rows = tuple((depth, f"level {depth}", 100 - depth) for depth in range(40))
    page = FORMATS.get("html").render(report_of(Tree("t", "T", (Column("n", "n"),), rows, drawn=("n",))))
    assert "18  level 17</title>" in page
    assert "19  level 18</title>" not in page
    assert "level 39" in page


@pytest.mark.parametrize("drawn", [(), ("a",)], ids=["plain", "drawn"])
def test_what_explains_a_row_unfolds_and_the_first_is_open(drawn: tuple[str, ...]) -> None:
    told = ((("what", "It <moves>."), ("fix", "Hold it.")), (), (("where", "here"),))
    table = Table("t", "T", (Column("a", "A"),), (("x",), ("y",), ("z",)), drawn=drawn, details=told)
    reader = read(report_of(table))
    assert [one for tag, one in reader.tags if tag == "details"] == [{"open": None}, {}]
    assert "It <moves>.\nfixHold it." in "".join(reader.text)
    assert "more\nwherehere" in "".join(reader.text)
