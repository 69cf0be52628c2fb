"""`prefixwise audit` as a user runs it."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.command import Run
from support.serving import serving

TIMINGS = Path(__file__).parents[2] / "fixtures" / "timings"
KEYS = {"key-of-north-1234": "north", "key-of-south-5678": "south"}
ENVIRONMENT = {"NORTH": "key-of-north-1234", "SOUTH": "key-of-south-5678"}
TENANTS = ("--tenant", "north=NORTH", "--tenant", "south=SOUTH", "--one-way", "--no-progress")
SHARED = Path(__file__).parents[3] / "shared" / "data" / "timing_audit"


def live(url: str, *more: object) -> tuple[object, ...]:
    return ("audit", "live", "--target", url, "--protocol", "prefixwise", "--model", "sim", *TENANTS, *more)


def test_recorded_timings_say_leak_or_isolated(run: Run, tmp_path: Path) -> None:
    sarif = tmp_path / "a.sarif"
    found = run(("audit", "timings", TIMINGS / "shared.csv", "--report", f"sarif={sarif}", "--json")).check(1).json()
    (one,) = found["values"]["comparisons"]
    assert found["values"]["verdict"] == one["judged"]["verdict"] == "LEAK"
    ratio = one["timing"]["clocks"][0]["sharing"]
    assert ratio["low"] < 0.3 < ratio["high"]
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "cross-tenant-reuse"
    assert result["level"] == "error"
    apart = run(("audit", "timings", TIMINGS / "apart.csv")).check(0)
    assert apart.out.startswith("ISOLATED")


def test_what_decides_nothing_and_what_is_no_measurement_have_codes_of_their_own(run: Run, tmp_path: Path) -> None:
    lines = (TIMINGS / "apart.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:40]))
    assert run(("audit", "timings", "few.csv")).check(4).out.startswith("INCONCLUSIVE")
    columns = [line.split(",") for line in lines[1:]]
    columns.sort(key=lambda row: row[2])
    sorted_by_arm = [f"{at},{row[2]},{row[3]}" for at, row in enumerate(columns)]
    (tmp_path / "sorted.csv").write_text("\n".join(["t_s,arm,client_ms", *sorted_by_arm]))
    assert run(("audit", "timings", "sorted.csv")).check(5).out.startswith("INVALID")
    (tmp_path / "none.csv").write_text("arm,client_ms\n")
    run(("audit", "timings", "none.csv")).check(3)
    run(("audit", "timings", "absent.csv")).check(2)


def test_the_page_shows_how_times_are_spread(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    run(("audit", "timings", TIMINGS / "shared.csv", "--report", f"html={page}")).check(1)
    text = page.read_text()
    assert text.count("<polyline") == 3
    assert "Foreign probes belong on the line of the controls." in text
    assert len(text) < 200_000


@pytest.mark.skipif(not SHARED.exists(), reason="the recorded audits are not at hand")
@pytest.mark.parametrize(
    ("name", "code", "ks"),
    [
        ("clear_sharing", 1, {"server": 5.2e-32, "client": 1.3e-21}),
        ("no_caching", 4, {"server": 0.56, "client": 0.41}),
        ("weak_partial_sharing", 1, {"client": 6.5e-5}),
    ],
)
def test_recorded_audits_come_out_as_they_should(run: Run, name: str, code: int, ks: dict[str, float]) -> None:
    found = run(("audit", "timings", SHARED / f"{name}.json", "--json"), timeout=90).check(code).json()
    clocks = found["values"]["comparisons"][0]["timing"]["clocks"]
    assert {one["name"]: one["ks_p"] for one in clocks} == pytest.approx(ks, rel=0.02)


def test_a_live_leak_is_found_by_usage_and_no_key_is_written(run: Run, tmp_path: Path) -> None:
    with serving("sim:a=0,b=0") as running:
        asked = live(running.url, "--tokens", 300, "--keep", "rows.jsonl", "--json")
        done = run(asked, env=ENVIRONMENT).check(1)
        schema = json.loads(run(("schema", "audit-live")).check(0).out)
        Draft202012Validator(schema).validate(done.json())
        assert done.json()["values"]["audit"]["comparisons"][0]["judged"]["by"] == "usage"
        again = run(("audit", "timings", "rows.jsonl"))
    assert "LEAK" in again.check(1).out
    assert "at most" in done.err
    assert "requests with" in done.err
    kept = (tmp_path / "rows.jsonl").read_text()
    for text in (done.out, done.err, kept):
        assert not any(key in text for key in KEYS)


def test_live_tenants_that_are_apart_are_said_to_be(run: Run) -> None:
    with serving("sim:a=0,b=0", keys=KEYS) as running:
        done = run(live(running.url, "--tokens", 300, "--wait", 0), env=ENVIRONMENT, timeout=120).check(0)
    assert done.out.startswith("ISOLATED")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--tenant", "x"), "a name and a variable"),
        (("--tenant", "x=UNSET_VARIABLE"), "not set"),
        (("--tenant", "x=NORTH"), "same key"),
        (("--target", "https://h.example", "--model", "m"), "add --yes"),
        (("--target", "https://h.example", "--budget", "1"), "unknown price"),
        (("--protocol", "anthropic", "--salts", "sent"), "no field for a salt"),
        ((), "no connection to 127.0.0.1:9"),
    ],
)
def test_what_cannot_be_audited_is_one_line(run: Run, more: tuple[str, ...], said: str) -> None:
    assert said in run(live("http://127.0.0.1:9", *more), env=ENVIRONMENT).check(2).err


def test_a_key_that_is_refused_is_not_repeated(run: Run) -> None:
    with serving("sim:a=0,b=0", keys={"another": "north"}) as running:
        done = run(live(running.url), env=ENVIRONMENT).check(2)
    assert "HTTP status 401" in done.err
    assert not any(key in done.err for key in KEYS)
