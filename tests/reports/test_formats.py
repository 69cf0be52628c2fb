from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prefixwise.core.envelope import envelope
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import UNSAFE, visible
from prefixwise.core.report import (
    Block,
    Column,
    Histogram,
    InputFile,
    Report,
    Series,
    Table,
    Text,
    Tree,
    Unit,
    Waterfall,
)
from prefixwise.reports.format import FORMATS
from prefixwise.reports.formats.markdown import escape
from prefixwise.reports.tables import as_table

SGR = re.compile(r"\x1b\[[0-9;]*m")
# No shrinking aid is lost by reusing the fixture: it only hands out a pure function.
FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NASTY = st.text("\ud800\x1b\x9b\x00\u202e\u200b\u2028\n\r:#[]|`@=-\\<é漢 a", max_size=20)


def report(*blocks: Block) -> Report:
    return Report("prefixwise/test", 1, "test", "Test", blocks)


def unsafe_in(document: str) -> set[str]:
    return set(UNSAFE.findall(document)) - {"\n", "\r"}


def assert_safe(document: str) -> None:
    assert not unsafe_in(document)
    assert "\r" not in document.replace("\r\n", "\n")
    for line in document.splitlines():
        assert not line.lstrip().startswith("::")
    assert "##[" not in document
    document.encode()


@pytest.mark.parametrize("form", FORMATS.names())
@pytest.mark.parametrize("width", [None, 80, 40, 1])
@given(text=ANY_TEXT | NASTY)
@FUZZ
def test_no_format_lets_hostile_text_through(
    make_hostile: Callable[..., Report], form: str, width: int | None, text: str
) -> None:
    hostile = make_hostile(text, (text, "::" + text))
    document = FORMATS.get(form).render(hostile, width=width, colour=False)
    if form == "github":
        assert not unsafe_in(document)
        assert "##[" not in document
        assert {line.split(" ")[0] for line in document.splitlines()[:-1]} == {"::error"}
    elif form == "json":
        # JSON keeps the exact strings; it is quoted and escaped, and no line starts with one.
        assert not unsafe_in(document)
        assert not any(line.lstrip().startswith("::") for line in document.splitlines())
    else:
        assert_safe(document)


@pytest.mark.parametrize("form", FORMATS.names())
@pytest.mark.parametrize("name", ["empty", "emptied", "everything", "hostile"])
def test_colour_adds_nothing_but_colour(reports: dict[str, Report], form: str, name: str) -> None:
    coloured = FORMATS.get(form).render(reports[name], width=80, colour=True)
    plain = FORMATS.get(form).render(reports[name], width=80, colour=False)
    bare = SGR.sub("", coloured)
    assert [line.rstrip() for line in bare.splitlines()] == [line.rstrip() for line in plain.splitlines()]


@pytest.mark.parametrize("form", FORMATS.names())
@pytest.mark.parametrize("name", ["empty", "emptied", "everything", "hostile"])
def test_the_same_report_gives_the_same_document(reports: dict[str, Report], form: str, name: str) -> None:
    render = FORMATS.get(form).render
    assert render(reports[name]) == render(reports[name])


def test_the_environment_does_not_change_the_document(
    reports: dict[str, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    render = FORMATS.get("text").render
    before = render(reports["everything"], width=80), render(reports["everything"], colour=True)
    for name, value in {"COLUMNS": "33", "NO_COLOR": "1", "TERM": "dumb", "FORCE_COLOR": "1", "LINES": "3"}.items():
        monkeypatch.setenv(name, value)
    assert (render(reports["everything"], width=80), render(reports["everything"], colour=True)) == before


def test_the_text_format_has_two_names() -> None:
    assert FORMATS.get("full") is FORMATS.get("text")
    assert "full" not in FORMATS.names()
    with pytest.raises(UserError, match="no report format called 'ful'") as error:
        FORMATS.get("ful")
    assert error.value.help.startswith("did you mean full?")


# -- text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [None, 120, 80, 60, 40])
def test_no_character_of_a_cell_is_lost_at_any_width(reports: dict[str, Report], width: int | None) -> None:
    document = FORMATS.get("text").render(reports["everything"], width=width)
    joined = re.sub(r"\s", "", document)
    for cell in ("app/[t].py:3", "deep/" * 20 + "x.jinja:12", "1.5GiB", "$412.50", ">99.9%", "38,512,000"):
        assert cell in joined
    assert "…" not in document


@pytest.mark.parametrize("width", [120, 80, 60, 44])
def test_lines_fit_the_width(reports: dict[str, Report], width: int) -> None:
    from rich.cells import cell_len

    document = FORMATS.get("text").render(reports["everything"], width=width)
    assert max(map(cell_len, document.splitlines())) <= width


def test_a_table_whose_numbers_do_not_fit_becomes_records() -> None:
    columns = (Column("name", "name"), *(Column(f"n{i}", f"number {i}", Unit.TOKENS) for i in range(12)))
    table = Table("t", "Wide", columns, (("a", *range(1_000_000, 1_000_012)),))
    document = FORMATS.get("text").render(report(table), width=80)
    assert "number 11  1,000,011" in document
    assert "number 0   1,000,000" in document


def test_of_many_files_only_some_are_named() -> None:
    fine = tuple(InputFile(f"fine-{n}.jsonl", "otel", "log", "", 1, 0) for n in range(20))
    wrong = tuple(InputFile(f"wrong-{n}.jsonl", "", "log", "", 1, 1, "no request found") for n in range(9))
    render = FORMATS.get("text").render
    shown = render(msgspec.structs.replace(report(), inputs=fine + wrong))
    assert "29 files, 29 records" in shown
    assert "fine-" not in shown
    assert shown.count("wrong-") == 6
    assert "and 3 more" in shown
    assert "more" not in render(msgspec.structs.replace(report(), inputs=wrong[:6]))


def test_markup_in_text_is_only_text() -> None:
    document = FORMATS.get("text").render(report(Text("t", ("[bold]x[/bold] :smile: [/]",))), width=80, colour=True)
    assert "[bold]x[/bold] :smile: [/]" in document


def test_many_points_are_sampled_and_said_so() -> None:
    line = (Column("y", "y", Unit.RATE), tuple(i / 100 for i in range(100)))
    series = Series("s", "S", Column("x", "x", Unit.COUNT), tuple(float(i) for i in range(100)), (line,))
    document = FORMATS.get("text").render(report(series))
    assert "12 of 100 points" in document
    assert "▁▁" in document


@pytest.mark.parametrize("form", FORMATS.names())
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -1e300, 5e-324, 10**40])
@pytest.mark.parametrize("unit", list(Unit))
def test_no_number_breaks_a_format(form: str, value: float, unit: Unit) -> None:
    column = Column("c", "c", unit)
    small = value if isinstance(value, float) else 1.0
    blocks: tuple[Block, ...] = (
        Table("t", "t", (column,), ((value,),)),
        Waterfall("w", "w", unit, ("a", small), (("b", small),), ("c", small)),
        Series("s", "s", column, (small, 1.0), ((column, (small, None)),)),
        Histogram("h", "h", column, (0, small), (1,)),
    )
    document = FORMATS.get(form).render(report(*blocks), width=80, colour=False)
    assert document.endswith("\n")
    if form == "json":
        assert [block["name"] for block in json.loads(document)["blocks"]] == ["t", "w", "s", "h"]
    elif form == "csv":
        assert {"t", "w", "s", "h"} <= {line.partition(",")[0] for line in document.splitlines()}


def test_a_deep_tree_stays_readable() -> None:
    tree = Tree(
        "t", "T", (Column("n", "n", Unit.COUNT),), tuple((depth, f"level {depth}", depth) for depth in range(40))
    )
    document = FORMATS.get("text").render(report(tree), width=80)
    assert "⋯" in document
    assert "level 39" in document


# -- json -------------------------------------------------------------------------------------------------


def spelled_out(text: str) -> str:
    """A lone surrogate, as JSON or as itself, is the one thing that JSON cannot carry to every parser."""
    return text.replace(r" \ud800 ", r" \\ud800 ")


@pytest.mark.parametrize("name", ["empty", "emptied", "everything", "hostile"])
def test_json_parses_back_to_the_same_values(reports: dict[str, Report], name: str) -> None:
    document = FORMATS.get("json").render(reports[name])
    parsed = json.loads(document)
    assert parsed == json.loads(spelled_out(json.dumps(msgspec.to_builtins(envelope(reports[name])))))
    assert parsed == msgspec.json.decode(document)
    assert list(parsed)[:3] == ["schema", "schema_version", "tool"]
    assert document.endswith("}\n")


@given(text=ANY_TEXT | NASTY, number=st.floats() | st.integers(-(2**63), 2**64 - 1))
@FUZZ
def test_json_keeps_any_string_and_finite_number(text: str, number: float) -> None:
    document = Report("s", 1, "c", "t", (), {"text": text, text + "key": 1, "number": [number]})
    values = json.loads(FORMATS.get("json").render(document))["values"]
    expected_text = re.sub(r"[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
    assert values["text"] == expected_text
    expected = None if number != number or number in (float("inf"), float("-inf")) else number
    assert values["number"] == [expected]


def test_json_keeps_letters_and_escapes_what_deceives() -> None:
    document = FORMATS.get("json").render(Report("s", 1, "c", "t", (), {"a": "é漢🙂\x85\u202e\U000e0041\x7f"}))
    assert r'"é漢🙂\u0085\u202e\udb40\udc41\u007f"' in document


# -- csv --------------------------------------------------------------------------------------------------


def sections(document: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[]]
    for row in csv.reader(io.StringIO(document, newline=""), strict=True):
        if row:
            found[-1].append(row)
        else:
            found.append([])
    return [section for section in found if section]


@pytest.mark.parametrize("name", ["empty", "emptied", "everything", "hostile"])
def test_csv_parses_back(reports: dict[str, Report], name: str) -> None:
    parsed = sections(FORMATS.get("csv").render(reports[name]))
    tables = [table for table in map(as_table, reports[name].blocks) if table]
    assert len(parsed) == len(tables)
    for section, table in zip(parsed, tables, strict=True):
        header, *rows = section
        assert header == ["table", *(guarded(column.name) for column in table.columns)]
        assert [row[1:] for row in rows] == [[guarded(cell) for cell in row] for row in table.rows]
        assert {row[0] for row in rows} <= {guarded(table.name)}


def guarded(cell: object) -> str:
    if isinstance(cell, str):
        return ("'" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and cell else "") + visible(cell)
    return {None: "", True: "true", False: "false"}[cell] if cell is None or isinstance(cell, bool) else repr(cell)


def test_csv_numbers_are_raw_and_formulas_are_text() -> None:
    table = Table(
        "t", "T", (Column("a", "A"), Column("r", "R", Unit.RATE)), (("=1+1", 0.934), ("-x", -5), ("ok", None))
    )
    document = FORMATS.get("csv").render(report(table))
    assert document == "table,a,r\r\nt,'=1+1,0.934\r\nt,'-x,-5\r\nt,ok,\r\n"


def test_csv_needs_its_notes_on_stderr() -> None:
    assert not FORMATS.get("csv").carries_notes
    assert all(FORMATS.get(name).carries_notes for name in ("text", "json", "markdown"))


# -- markdown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain text_with-dash 1.5", "plain text_with-dash 1.5"),
        ("a|b", r"a\|b"),
        ("\\|", r"\\\|"),
        ("`x` *y* _z_", r"\`x\` \*y\* \_z\_"),
        ("<b>&amp;", "&lt;b>&amp;amp;"),
        ("# no", r"\# no"),
        ("- no", r"\- no"),
        ("-5 %", "-5 %"),
        ("1. no", r"1\. no"),
        ("1.5", "1.5"),
        ("> no", r"\> no"),
        ("@octocat", "@<!-- -->octocat"),
        ("x #12 y", "x #<!-- -->12 y"),
        ("http://e.vil", "http:<!-- -->//e.vil"),
        ("www.e.vil", "www<!-- -->.e.vil"),
        (":smile:", ":<!-- -->smile:"),
        ("[a](b)", r"\[a\](b)"),
        ("![a](b)", r"\!\[a\](b)"),
        ("costs $5", "costs $5"),
        ("$a$", r"\$a\$"),
        ("a\nb", r"a\\nb"),
    ],
)
def test_markdown_text_stays_text(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@given(text=ANY_TEXT | NASTY)
@FUZZ
def test_a_cell_stays_one_cell(text: str) -> None:
    table = Table("t", "", (Column("a", "A"), Column("b", "B")), ((text, "end"),))
    last = FORMATS.get("markdown").render(report(table)).rstrip("\n").splitlines()[-1]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", last)) == 3
    assert last.endswith("| end |")


# -- all --------------------------------------------------------------------------------------------------


def test_only_the_text_format_needs_rich() -> None:
    code = (
        "import sys; from prefixwise.reports.format import FORMATS; from prefixwise.core.report import Report;"
        "r = Report('s', 1, 'c', 't', ());"
        "[f.render(r, width=None, colour=False) for f in FORMATS if f.name != 'text'];"
        "import prefixwise.cli.emit; print('rich' in sys.modules, 'typer' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
