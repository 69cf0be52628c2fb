"""The page of `hitrate` in a browser: it stands, says nothing, opens, fits, and takes no prompt for markup."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import CHROMIUM, Page, browser
from support.command import command, environment
from support.fleet_log import write_fleet

if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

DESK = Path(__file__).parents[2] / "fixtures" / "logs" / "desk-clock.jsonl"
EVIL = "</script><script>document.title='owned';console.error('ran')</script><img src=x onerror=alert(1)>\x1b[31m\u202e"
Fleet = tuple[Path, dict[str, Any]]
POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as shown:
        yield shown


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """The page of a log of three tenants, and its values as JSON."""
    folder = tmp_path_factory.mktemp("fleet")
    log = write_fleet(folder / "fleet.jsonl")
    args = ["hitrate", log, "--fixes", f"--report=html={folder / 'page.html'}", f"--report=json={folder / 'it.json'}"]
    subprocess.run(command(args), env=environment(folder), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "page.html", json.loads((folder / "it.json").read_bytes())["values"]


@pytest.fixture
def shown(page: Page) -> Page:
    page.said.clear()
    return page


def written(run: Any, log: Path, folder: Path, *more: str) -> Path:
    target = folder / "page.html"
    run(["hitrate", str(log), "--fixes", "--report", f"html={target}", *more]).check(0)
    return target


def test_a_page_that_did_run_something_would_be_seen(shown: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(f"<!doctype html><head>{POLICY}</head><script>document.title='owned'</script><img src=x.png>")
    shown.show(bad)
    assert any("script" in said for said in shown.said), shown.said
    bad.write_text("<!doctype html><script>document.title='owned';console.error('ran')</script>")
    shown.said.clear()
    shown.show(bad)
    assert shown.ask("document.title") == "owned"
    assert "ran" in shown.said


def test_what_to_change_first_is_read_first(shown: Page, run: Any, tmp_path: Path) -> None:
    shown.show(written(run, DESK, tmp_path))
    first = shown.ask("document.querySelector('main > section p').innerText")
    assert first.startswith("Change first: clock-in-prefix at ")
    assert "saves 10,638 tokens" in first
    assert shown.ask("document.querySelector('h2').innerText") == "What to change first, and what it saves"
    fix = shown.ask("document.querySelector('.more details[open] dd').innerText")
    assert fix.startswith("Move the date and time to the newest message")
    assert shown.said == []


@pytest.mark.parametrize(("width", "dark"), [(1100, False), (1100, True), (400, False), (400, True)])
def test_it_fits_and_can_be_read(width: int, dark: bool, shown: Page, fleet: Fleet) -> None:
    shown.show(fleet[0], width=width, dark=dark)
    assert shown.ask("document.documentElement.scrollWidth") <= width
    tables = shown.ask("[...document.querySelectorAll('table')].every(t => t.closest('.wide'))")
    assert tables
    assert shown.ask(_WORST_CONTRAST) > 4.5
    assert shown.said == []


_WORST_CONTRAST = """(() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b }
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) }
  const paper = getComputedStyle(document.body).backgroundColor
  const style = (one, name) => getComputedStyle(one)[name]
  const all = names => [...document.querySelectorAll(names)]
  const texts = all('p, td, th, summary, h2, dd, dt').map(e => ratio(style(e, 'color'), paper))
  const parts = all('.letters b').map(e => ratio(style(e, 'color'), style(e, 'backgroundColor')))
  const ink = style(document.querySelector('.icicle text'), 'fill')
  const bars = all('.icicle .span, .icicle .own').map(e => ratio(style(e, 'fill'), ink))
  return Math.min(...texts, ...parts, ...bars)
})()"""


def test_every_picture_has_a_table_behind_it_that_opens(shown: Page, fleet: Fleet) -> None:
    shown.show(fleet[0])
    pictures = "[...document.querySelectorAll('svg.lines, svg.icicle, svg.parts, svg.bar')]"
    assert shown.ask(f"{pictures}.length") > 20
    assert shown.ask(f"{pictures}.every(p => p.closest('section').querySelector('table td.number'))")
    for picture in ("lines", "icicle"):
        numbers = f"document.querySelector('section:has(svg.{picture}) details.numbers')"
        assert shown.ask(f"{numbers}.querySelector('td').checkVisibility()") is False
        shown.click(f"section:has(svg.{picture}) details.numbers > summary")
        assert shown.ask(f"{numbers}.open && {numbers}.querySelector('td').checkVisibility()") is True
    rows = shown.ask("document.querySelectorAll('section:has(svg.icicle) tbody tr:not(.more)').length")
    assert rows == shown.ask("document.querySelectorAll('svg.icicle > svg').length")


def test_a_bar_below_lies_under_the_one_that_holds_it(shown: Page, fleet: Fleet) -> None:
    target, values = fleet
    shown.show(target)
    boxes = shown.ask(
        "[...document.querySelectorAll('svg.icicle > svg > .span')].map(e => e.getBoundingClientRect())"
        ".map(b => [b.left, b.right, b.top, b.bottom])"
    )
    tree = values["sharing_tree"]
    assert len(boxes) == len(tree) > 8
    whole = sum(branch["weight"] for branch in tree if branch["level"] == 0)
    wide = sum(box[1] - box[0] for box, branch in zip(boxes, tree, strict=True) if branch["level"] == 0)
    way: list[list[float]] = []
    for (left, right, top, bottom), branch in zip(boxes, tree, strict=True):
        way = [*way[: branch["level"]], [left, right, top, bottom]]
        assert (right - left) / wide == pytest.approx(branch["weight"] / whole, abs=0.003)
        for above in way[:-1]:
            assert above[0] - 0.5 <= left
            assert right <= above[1] + 0.5
            assert top >= above[3]
    marked = shown.ask("document.querySelectorAll('svg.icicle .rim').length")
    assert marked == sum(bool(branch["broken"]) for branch in tree)
    assert {rule for branch in tree for rule, _ in branch["broken"]} == {"clock-in-prefix", "tools-reordered"}


def test_hostile_prompts_stay_text(shown: Page, run: Any, tmp_path: Path) -> None:
    log = write_fleet(tmp_path / "evil.jsonl", 40, hostile=EVIL)
    target = written(run, log, tmp_path, "--excerpts", "full")
    shown.show(target)
    assert shown.said == []
    assert shown.ask("document.title") == "Prefix cache hit rate of 40 requests"
    assert shown.ask("document.querySelectorAll('script, img, iframe, link, a, [style]').length") == 0
    assert shown.ask("document.querySelector('meta[http-equiv]').content").startswith("default-src 'none'")
    assert "<script>document.title" in shown.ask("document.body.textContent")
    assert "\\x1b[31m\\u202e" in shown.ask("document.body.textContent")
    assert not set("\x1b\u202e") & set(target.read_text(encoding="utf-8"))
