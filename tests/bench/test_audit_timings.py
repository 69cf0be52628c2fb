"""What recorded timings come to: evidence, limits, verdicts, and the shapes of files."""

import json
import math
import random

import pytest

from prefixwise.bench.audit.order import Order
from prefixwise.bench.audit.reading import read_timings
from prefixwise.bench.audit.recording import Arm, Level, Probe, Recording
from prefixwise.bench.audit.result import audit_result
from prefixwise.bench.audit.split import holm, split
from prefixwise.bench.audit.verdict import Verdict
from prefixwise.core.errors import UserError

CROSS, MISS, SAME = Arm.CROSS, Arm.MISS, Arm.SAME


def blocks(n, rng, *, share=0.0, own=1.0, saved=0.06, drift=0.0, noise=0.02, arms=(CROSS, MISS, SAME), clock=None):
    """Return a recording of n blocks in which so many foreign and own probes are served from the cache."""
    probes = []
    for block in range(n):
        order = list(arms)
        rng.shuffle(order)
        for arm in order:
            hit = rng.random() < {CROSS: share, SAME: own, MISS: 0.0}[arm]
            time = 0.4 + noise * rng.gauss(0, 1) + (rng.expovariate(10) if rng.random() < 0.12 else 0)
            time = (time - saved * hit) * (1 + drift * len(probes))
            if clock:
                time = max(clock, round(time / clock) * clock)
            probes.append(Probe(arm=arm, times=(max(time, 0.001),), block=block))
    return Recording(name="north → south", level=Level.TENANTS, probes=tuple(probes), matched=True)


def verdict(*recordings):
    found = audit_result(recordings)
    return found.verdict, found.comparisons[0]


def test_tenants_that_share_all_or_some_leak():
    for share, pairs in ((1.0, 60), (0.2, 250)):
        found, one = verdict(blocks(pairs, random.Random(1), share=share))
        assert found is Verdict.LEAK
        assert one.judged.by == "timing"
        assert one.timing.best.sharing.ratio == pytest.approx(share, abs=0.1)
    full = verdict(blocks(60, random.Random(1), share=1.0))[1].timing
    assert full.reached is not None
    assert 0.05 < full.best.shift_s < 0.07
    assert full.best.interval.low < 0.06 < full.best.interval.high


def test_isolation_takes_a_control_and_a_certificate():
    found, one = verdict(blocks(250, random.Random(2), saved=0.12))
    assert found is Verdict.ISOLATED
    assert one.timing.limit <= 0.05
    found, one = verdict(blocks(100, random.Random(2)))
    assert found is Verdict.INCONCLUSIVE
    assert one.judged.needed >= 250
    found, one = verdict(blocks(250, random.Random(2), own=0.0))
    assert found is Verdict.INCONCLUSIVE
    assert "caching is off" in one.judged.reason
    found, one = verdict(blocks(250, random.Random(2), arms=(CROSS, MISS)))
    assert found is Verdict.INCONCLUSIVE
    assert "probes of one's own" in one.judged.reason


def test_a_drift_of_the_whole_server_is_no_leak_and_hides_none():
    for drift in (0.003, -0.0008):
        assert verdict(blocks(120, random.Random(3), drift=drift))[0] is Verdict.INCONCLUSIVE
        assert verdict(blocks(120, random.Random(3), share=1.0, drift=drift, saved=0.15))[0] is Verdict.LEAK


def test_a_coarse_clock_is_read():
    assert verdict(blocks(120, random.Random(4), share=0.6, clock=0.01))[0] is Verdict.LEAK
    assert verdict(blocks(120, random.Random(4), clock=0.01))[0] is not Verdict.LEAK


def test_foreign_probes_that_are_later_are_no_control():
    found, one = verdict(blocks(120, random.Random(5), share=1.0, saved=-0.03, own=0.0))
    assert found is Verdict.INCONCLUSIVE
    assert "do not match" in one.judged.reason


def test_arms_one_after_the_other_are_no_measurement():
    rng = random.Random(6)
    probes = [Probe(arm=arm, times=(0.4 + 0.01 * rng.random(),)) for arm in (MISS, CROSS) for _ in range(40)]
    assert verdict(Recording(name="x", probes=tuple(probes)))[0] is Verdict.INVALID


def test_always_the_same_turn_decides_nothing():
    rng = random.Random(7)
    probes = [
        Probe(arm=arm, times=((0.3 if arm is CROSS else 0.4) + 0.01 * rng.random(),))
        for _ in range(60)
        for arm in (MISS, CROSS)
    ]
    found, one = verdict(Recording(name="x", probes=tuple(probes)))
    assert one.timing.order is Order.FIXED
    assert found is Verdict.INCONCLUSIVE


def test_one_cached_prefix_is_a_leak_whatever_the_times_say():
    recording = blocks(60, random.Random(8))
    probes = list(recording.probes)
    at = next(at for at, one in enumerate(probes) if one.arm is CROSS)
    told = [Probe(arm=one.arm, times=one.times, block=one.block, cached=3000 * (one.arm is SAME)) for one in probes]
    clean = Recording(name="x", probes=tuple(told), header=0)
    found, one = verdict(clean)
    assert found is Verdict.ISOLATED
    assert one.usage.limit == pytest.approx(1 - 0.05 ** (1 / 60))
    told[at] = Probe(arm=CROSS, times=probes[at].times, block=probes[at].block, cached=2048)
    found, one = verdict(Recording(name="x", probes=tuple(told), header=0))
    assert found is Verdict.LEAK
    assert one.judged.by == "usage"
    assert one.usage.cross.hits == 1


def test_hits_are_divided_by_all_probes_that_were_sent():
    probes = [Probe(arm=CROSS, cached=4000 if at < 36 else None) for at in range(250)]
    probes += [Probe(arm=MISS) for _ in range(250)]
    found, one = verdict(Recording(name="x", probes=tuple(probes)))
    assert found is Verdict.LEAK
    cross = one.usage.cross
    assert (cross.sent, cross.known, cross.hits) == (250, 36, 36)
    assert (cross.share.low, cross.share.high) == pytest.approx((0.103, 0.194), abs=0.001)


@pytest.mark.parametrize("header", [None, 20])
def test_counts_that_call_new_prompts_cached_are_not_believed(header):
    probes = [Probe(arm=arm, cached=4000) for _ in range(80) for arm in (CROSS, MISS, SAME)]
    found, one = verdict(Recording(name="x", probes=tuple(probes), header=header))
    assert found is Verdict.INCONCLUSIVE
    assert not one.usage.believed


def test_what_every_prompt_begins_with_is_no_hit():
    probes = [
        Probe(arm=arm, cached=cached) for _ in range(80) for arm, cached in ((CROSS, 16), (MISS, 16), (SAME, 3904))
    ]
    found, one = verdict(Recording(name="x", probes=tuple(probes), block=16))
    assert found is Verdict.ISOLATED
    assert one.usage.floor == 16


def test_the_error_is_split_and_adds_up():
    for count in (1, 2, 12):
        parts = split(count)
        assert count * parts.sequential + parts.final == pytest.approx(1e-3)
        assert parts.threshold == pytest.approx(10_000 * count)
    assert holm([0.0003, 0.9, 0.0004], 9e-4) == [True, False, True]
    assert holm([0.0004, 0.9, 0.0004], 9e-4) == [False, False, False]


def test_a_leak_of_one_pair_is_the_verdict_and_needs_more_evidence_among_many():
    clean = [blocks(120, random.Random(seed)) for seed in range(3)]
    found = audit_result([*clean, blocks(120, random.Random(9), share=1.0)])
    assert found.verdict is Verdict.LEAK
    assert [one.judged.verdict is Verdict.LEAK for one in found.comparisons] == [False, False, False, True]
    alone = audit_result([blocks(120, random.Random(9), share=1.0)])
    assert found.comparisons[3].timing.reached >= alone.comparisons[0].timing.reached


def test_false_alarms_are_rarer_than_one_in_a_hundred():
    """A thousandth is what `python -m benchmarks.audit_power` checks, over 10,000 audits."""
    rng = random.Random(10)
    alarms = sum(verdict(blocks(30, rng))[0] is Verdict.LEAK for _ in range(150))
    assert alarms == 0


def test_power_is_that_of_the_published_table_in_one_cell():
    rng = random.Random(11)
    runs, found = 40, 0
    for _ in range(runs):
        kinds = [CROSS] * 60 + [MISS] * 60
        rng.shuffle(kinds)
        probes = []
        for arm in kinds:
            time = 0.4 + 0.028 * rng.gauss(0, 1) + (rng.expovariate(1 / 0.112) if rng.random() < 0.12 else 0)
            probes.append(Probe(arm=arm, times=(time - 0.056 * (arm is CROSS and rng.random() < 0.5),)))
        found += verdict(Recording(name="x", probes=tuple(probes)))[0] is Verdict.LEAK
    assert found / runs >= 0.8  # 0.93 in 1,000 runs


# -- files -----------------------------------------------------------------------------------------------------------


def rows(n=40, seed=12, share=1.0):
    return [
        {"arm": one.arm.value, "client_ms": round(1000 * one.times[0], 3), "t_s": at, "block": one.block}
        for at, one in enumerate(blocks(n, random.Random(seed), share=share, saved=0.2).probes)
    ]


def as_csv(records, mark=","):
    return "\n".join([mark.join(records[0]), *(mark.join(map(str, one.values())) for one in records)]) + "\n"


SHAPES = {
    "a.csv": as_csv,
    "b.csv": lambda records: as_csv(records, ";"),
    "c.jsonl": lambda records: "\n".join(json.dumps(one) for one in records),
    "d.json": json.dumps,
    "e.json": lambda records: json.dumps({"level": "global", "rows": records}),
    "f.json": lambda records: json.dumps({name: [one[name] for one in records] for name in records[0]}),
    "g.jsonl": lambda records: "\n".join(json.dumps(one) for one in [{"sham": True}, *records]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_says_the_same(tmp_path, name):
    path = tmp_path / name
    path.write_text(SHAPES[name](rows()))
    (recording,) = read_timings(path).recordings
    assert [len(recording.of(arm)) for arm in (MISS, SAME, CROSS)] == [40, 40, 40]
    assert verdict(recording)[0] is Verdict.LEAK
    assert recording.probes[5].times == pytest.approx((rows()[5]["client_ms"] / 1000,))


def test_letters_and_columns_are_the_shape_of_the_released_audits(tmp_path):
    rng = random.Random(13)
    arms = list("p" * 60 + "m" * 60)
    rng.shuffle(arms)
    audit = {
        "level": "per_org",
        "arm": "".join(arms),
        "t_s": list(range(120)),
        "client_ms": [300 + 10 * rng.random() - 40 * (arm == "p") for arm in arms],
        "server_ms": [float(rng.randrange(0, 3)) for _ in arms],
    }
    (tmp_path / "a.json").write_text(json.dumps(audit))
    (recording,) = read_timings(tmp_path / "a.json").recordings
    assert recording.clocks == ("client", "server")
    assert recording.level is Level.TENANTS
    assert min(one.times[1] for one in recording.probes) == 0.0005  # 0 ms of a clock of whole ones is less than one
    assert verdict(recording)[0] is Verdict.LEAK
    audit["server_ms"] = None
    (tmp_path / "b.json").write_text(json.dumps(audit))
    assert read_timings(tmp_path / "b.json").recordings[0].clocks == ("client",)


def test_the_files_of_the_published_audits_are_read(tmp_path):
    """A list of records an arm, each alone or with others of its trial, times in seconds."""
    rng = random.Random(15)
    order = list(range(120))
    rng.shuffle(order)
    made = [
        {
            "client_time": 0.4 + 0.01 * rng.random() - 0.05 * (at < 60),
            "server_time": None,
            "sent_timestamp": 5e9 + place,
        }
        for at, place in enumerate(order)
    ]
    audit = {"cache_hit": [[one] for one in made[:60]], "cache_miss": made[60:], "config": {"level": "global"}}
    (tmp_path / "a.json").write_text(json.dumps(audit))
    (recording,) = read_timings(tmp_path / "a.json").recordings
    assert recording.level is Level.ORGANISATIONS
    assert recording.clocks == ("client",)
    found, one = verdict(recording)
    assert found is Verdict.LEAK
    assert one.timing.order is Order.DRAWN


def test_counts_without_times_are_judged_by_the_counts(tmp_path):
    lines = ["arm,cached_tokens", *("cross,0\nmiss,0\nsame,3904" for _ in range(70))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found, one = verdict(*read_timings(tmp_path / "a.csv").recordings)
    assert (found, one.judged.by, one.timing) == (Verdict.ISOLATED, "usage", None)
    (tmp_path / "a.csv").write_text("\n".join([*lines, "cross,2048"]))
    assert verdict(*read_timings(tmp_path / "a.csv").recordings)[0] is Verdict.LEAK


def test_a_clock_that_shows_two_values_only_gives_figures_that_documents_can_hold():
    probes = [
        Probe(arm=arm, times=(0.001 if arm is SAME else 0.04,), block=block)
        for block in range(20)
        for arm in random.Random(block).sample([CROSS, MISS, SAME], 3)
    ]
    (clock,) = verdict(Recording(name="x", probes=tuple(probes)))[1].timing.clocks
    assert clock.sharing.control == 1e6
    assert (clock.p, clock.slower_p) == (1, 1)
    alike = [Probe(arm=one.arm, times=(0.04,), block=one.block) for one in probes]
    (clock,) = verdict(Recording(name="x", probes=tuple(alike)))[1].timing.clocks
    assert (clock.sharing.ratio, clock.sharing.high) == (None, None)


def test_the_order_is_that_of_the_times(tmp_path):
    mixed = rows()
    random.Random(14).shuffle(mixed)
    mixed.sort(key=lambda one: one["arm"])
    (tmp_path / "a.csv").write_text(as_csv(mixed))
    (recording,) = read_timings(tmp_path / "a.csv").recordings
    assert [one.arm.value for one in recording.probes] == [one["arm"] for one in rows()]


def test_pairs_and_circumstances_are_comparisons_of_their_own(tmp_path):
    records = [
        {**one, "victim": victim, "prober": prober}
        for victim, prober, share in (("a", "b", 1.0), ("b", "a", 0.0))
        for one in rows(share=share)
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    found = audit_result(read_timings(tmp_path / "a.json").recordings)
    assert [(one.name, one.judged.verdict) for one in found.comparisons] == [
        ("a → b", Verdict.LEAK),
        ("b → a", Verdict.INCONCLUSIVE),
    ]


def test_broken_records_are_counted_and_left_out(tmp_path):
    records = rows()
    records[3]["arm"], records[7]["client_ms"], records[8]["client_ms"] = "?", "soon", -4
    records[9]["client_ms"] = math.nan
    (tmp_path / "a.csv").write_text(as_csv(records))
    read = read_timings(tmp_path / "a.csv")
    assert read.broken == 1
    assert sum(one.left_out != "" for one in read.recordings[0].probes) == 3
    with pytest.raises(UserError, match="no known arm"):
        read_timings(tmp_path / "a.csv", strict=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column called arm"),
        ("arm,client_ms\n", "no timings"),
        ("{}", "none of the known shapes"),
        ("[]", "no timings"),
        ('{"arm": "pm", "client_ms": [1]}', "1 values for 2 arms"),
        ("{broken", "no JSON"),
        ("a,b\n1,2\n", "no column called arm"),
    ],
)
def test_what_is_no_recording_is_said(tmp_path, text, said):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(UserError, match=said):
        read_timings(tmp_path / "a.txt")
