"""The audits that the power page is made of."""

from benchmarks import audit_power as power
from prefixwise.bench.audit.recording import Arm
from prefixwise.bench.audit.verdict import Verdict


def test_audits_without_sharing_are_of_every_kind_and_seldom_leak():
    found = [power.null_audit(number) for number in range(2 * len(power.NULLS))]
    assert {name for name, _ in found} == {made.__name__ for made in power.NULLS}
    assert sum(alarm for _, alarm in found) <= 1
    assert power.null_audit(3) == power.null_audit(3)


def test_a_large_effect_is_found_in_both_shapes_and_ends_early_in_blocks():
    for blocks in (False, True):
        leak, _ = power.power_audit((1, 4, 40, blocks, 0))
        assert leak
    assert power.power_audit((1, 4, 60, True, 0))[1] < 60
    assert power.apart_audit((0.0, 8, 0)) == Verdict.ISOLATED.value


def test_a_simulated_audit_has_the_shares_that_were_asked_for():
    import random

    made = power.in_blocks(400, random.Random(1), lambda rng, at: 1.0, 0.25, 1.0, 0.5)
    sooner = {arm: sum(one.times[0] == 0.5 for one in made.of(arm)) / 400 for arm in Arm}
    assert (sooner[Arm.MISS], sooner[Arm.SAME]) == (0, 1)
    assert 0.18 < sooner[Arm.CROSS] < 0.32


def test_a_part_of_the_page_is_renewed_and_the_rest_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(power, "PAGE", tmp_path / "page.md")
    power.write({"null": ["## False alarms", "", "none"], "apart": ["## Isolation", "", "some"]})
    power.write({"power": ["## What is found", "", "much"], "apart": ["## Isolation", "", "all"]})
    text = (tmp_path / "page.md").read_text()
    assert text.startswith(power.HEAD)
    assert [text.index(word) for word in ("none", "much", "all")] == sorted(
        text.index(word) for word in ("none", "much", "all")
    )
    assert "some" not in text.partition("## False alarms")[2]
