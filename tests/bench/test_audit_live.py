"""A live audit over real sockets against the bundled server; who is compared with whom; what it costs."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from support.serving import serving

from prefixwise.bench.audit.live import LiveAudit
from prefixwise.bench.audit.looks import recording_of
from prefixwise.bench.audit.plan import (
    Comparison,
    Credential,
    LivePlan,
    LiveRow,
    Stage,
    comparisons,
    labelled,
    requests_of,
)
from prefixwise.bench.audit.recording import Arm, Level
from prefixwise.bench.audit.result import audit_result
from prefixwise.bench.audit.trials import drawn_block
from prefixwise.bench.audit.verdict import Verdict
from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import HttpSender
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import PROTOCOLS
from prefixwise.core.errors import UserError
from prefixwise.workflows.live_audit import LiveAsked, credentials_of, plan_of

KEYS = {"key-north": "north", "key-south": "south"}
NORTH, SOUTH = Credential("north", "NORTH", "key-north"), Credential("south", "SOUTH", "key-south")
SIM = "sim:a=0.001,b=0.00001,noise=0.03"


@pytest.fixture(autouse=True)
def never_late(monkeypatch):
    """Server and client share a process on a machine that others use: that the client is late says nothing here."""
    monkeypatch.setattr("prefixwise.bench.audit.live.LATE", 1e9)


def live_plan(stages=(Stage.FRESH,), salted=(False,), **more) -> LivePlan:
    names = labelled((NORTH, SOUTH))
    made = comparisons(names, both_ways=False, salted=salted, stages=stages)
    given = {"run": "r", "target": "t", "protocol": "prefixwise", "model": "sim", "comparisons": made}
    return LivePlan(**{**given, "tokens": 600, "wait_s": 0.0, "blocks": 60, **more})


def audited(path, url, plan, restart=None):
    """Run a plan; return verdicts by comparison, rows, and the audit."""

    async def run():
        protocol = PROTOCOLS.get(plan.protocol)
        senders = {("direct", name): HttpSender(Endpoint(url, protocol, "sim", key)) for key, name in KEYS.items()}
        with RowFile(path, plan, LiveRow) as rows:
            audit = LiveAudit(
                plan, protocol, senders, {"north": "north", "south": "south"}, rows, lambda _: None, restart
            )
            try:
                await audit.run()
            finally:
                for sender in senders.values():
                    await sender.close()
            return audit, list(rows.rows)

    audit, rows = asyncio.run(run())
    found = audit_result([recording_of(plan, one, rows, audit.stopped) for one in plan.comparisons])
    return {one.name: one.judged for one in found.comparisons}, rows, found


def test_tenants_of_the_bundled_server_are_apart(tmp_path: Path):
    with serving(SIM, keys=KEYS) as running:
        judged, rows, _ = audited(tmp_path / "r.jsonl", running.url, live_plan())
    assert judged["north → south"].verdict is Verdict.ISOLATED
    assert judged["north → south"].by == "usage"
    assert len(rows) == 3 * 60
    assert {row.cached for row in rows if row.arm is not Arm.SAME} == {0}
    text = (tmp_path / "r.jsonl").read_text()
    assert "key-" not in text


def test_without_tenants_one_hit_is_a_leak_at_once_and_a_salt_of_ones_own_helps(tmp_path: Path):
    with serving(SIM) as running:
        judged, rows, _ = audited(tmp_path / "r.jsonl", running.url, live_plan(salted=(False, True)))
    assert judged["north → south"].verdict is Verdict.LEAK
    assert judged["north → south"].by == "usage"
    assert sum(row.condition == "" for row in rows) == 6  # a block, and one more to see whether it repeats
    assert judged["north → south, salted"].verdict is Verdict.ISOLATED


def test_times_alone_find_what_usage_hides(tmp_path: Path):
    with serving("sim:a=0.002,b=0.00002,noise=0.05", faults=["usage=missing"]) as running:
        judged, rows, found = audited(tmp_path / "r.jsonl", running.url, live_plan(tokens=400, blocks=40))
    assert judged["north → south"].verdict is Verdict.LEAK
    assert judged["north → south"].by == "timing"
    assert found.comparisons[0].timing.reached is not None
    assert len(rows) < 3 * 40


def test_a_cache_that_is_off_says_nothing(tmp_path: Path):
    with serving(SIM, faults=["no-cache"]) as running:
        judged, _, _ = audited(tmp_path / "r.jsonl", running.url, live_plan(tokens=200, blocks=20))
    assert judged["north → south"].verdict is Verdict.INCONCLUSIVE
    assert "caching is off" in judged["north → south"].reason


def test_a_tier_that_ignores_salts_leaks_after_eviction_and_not_before(tmp_path: Path):
    plan = live_plan(stages=(Stage.FRESH, Stage.EVICTED), tokens=256, evict_tokens=6000)
    settings = {"capacity": "4ktokens", "host": "200ktokens", "write": "back"}
    for faults, behind in ((["salt-ignored"], Verdict.LEAK), ([], Verdict.ISOLATED)):
        with serving("sim:a=0,b=0.000001", faults=faults, keys=KEYS, **settings) as running:
            judged, _, _ = audited(tmp_path / f"{behind}.jsonl", running.url, plan)
        assert judged["north → south"].verdict is Verdict.ISOLATED
        assert judged["north → south, after eviction"].verdict is behind


def test_a_restart_is_between_all_prompts_of_a_batch_and_their_probes(tmp_path: Path):
    plan = live_plan(stages=(Stage.RESTARTED,), tokens=200, blocks=20)
    restarts = []
    with serving("sim:a=0,b=0", keys=KEYS) as running:

        async def restart():
            restarts.append(running.client.post("/reset_prefix_cache", headers={"authorization": "Bearer key-north"}))

        judged, rows, _ = audited(tmp_path / "r.jsonl", running.url, plan, restart)
    assert [one.status_code for one in restarts] == [200, 200]
    assert {row.cached for row in rows} == {0}
    assert judged["north → south, after restart"].verdict is Verdict.INCONCLUSIVE


def test_a_run_that_was_kept_goes_on_where_it_was(tmp_path: Path):
    path, plan = tmp_path / "r.jsonl", live_plan(tokens=200)
    with serving("sim:a=0,b=0", keys=KEYS) as running:
        audited(path, running.url, plan)
        whole = path.read_bytes()
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:50]))  # 16 blocks and a probe
    with serving("sim:a=0,b=0", keys=KEYS) as running:  # the first one would have the prompts that were cut off
        judged, rows, _ = audited(path, running.url, plan)
    assert judged["north → south"].verdict is Verdict.ISOLATED
    assert path.read_bytes().startswith(b"".join(whole.splitlines(keepends=True)[:50]))
    assert max(row.block for row in rows) == 60  # the one that was begun is not taken up again


def test_a_server_that_refuses_is_left_alone(tmp_path: Path):
    refused = []
    with serving("sim:a=0,b=0", keys=KEYS) as running:
        plan = live_plan(tokens=200, blocks=30)
        protocol = PROTOCOLS.get("prefixwise")

        class Refusing(HttpSender):
            async def send(self, body, *, stream=True):
                found = await super().send(body, stream=stream)
                if len(rows.rows) < 6:
                    return found
                refused.append(body)
                return found._replace(answer=msgspec.structs.replace(found.answer, status=429, error="slow down"))

        async def run():
            senders = {
                ("direct", name): Refusing(Endpoint(running.url, protocol, "sim", key)) for key, name in KEYS.items()
            }
            audit = LiveAudit(plan, protocol, senders, {"north": "north", "south": "south"}, rows, lambda _: None)
            await audit.run()
            for sender in senders.values():
                await sender.close()
            return audit

        with RowFile(tmp_path / "r.jsonl", plan, LiveRow) as rows:
            audit = asyncio.run(run())
    assert "429" in audit.stopped
    assert len(refused) == 2


@pytest.mark.parametrize("sham", [True, False])
def test_what_other_traffic_does_to_times_is_no_leak_with_a_sham(tmp_path: Path, sham: bool):
    """Answers come 30 ms sooner where another tenant asked right before; nobody shares anything."""
    model = "sim:a=0.01,b=0.000001,noise=0.01"
    plan = live_plan(sham=sham, tokens=200, blocks=24)
    with serving(model, keys=KEYS, faults=["usage=missing", "stirred=0.03"]) as running:
        judged, _, _ = audited(tmp_path / "r.jsonl", running.url, plan)
    assert (judged["north → south"].verdict is Verdict.LEAK) is not sham


# -- who, and at what cost -------------------------------------------------------------------------------------------


def test_every_pair_is_compared_each_way_in_all_circumstances():
    names = labelled((NORTH, SOUTH, Credential("north", "OTHER", "k3")))
    assert list(names) == ["north", "south", "north#2"]
    made = comparisons(names, routes=("direct", "http://g"), salted=(False, True), stages=tuple(Stage))
    assert len(made) == len(set(made)) == 6 * 2 * 2 * 3
    assert len({one.name for one in made}) == len(made)
    levels = {(one.victim, one.prober): one.level for one in made}
    assert levels["north", "north#2"] is Level.KEYS
    assert levels["north", "south"] is Level.TENANTS
    one = Comparison("a", "b", Level.TENANTS, "http://g", True, Stage.EVICTED)
    assert one.name == "a → b, through http://g, salted, after eviction"


@pytest.mark.parametrize(
    ("own", "other", "level"),
    [
        ("x/a", "y/a", Level.ORGANISATIONS),
        ("x/a", "x/b", Level.TENANTS),
        ("a", "y/b", Level.TENANTS),
        ("a", "a", Level.KEYS),
    ],
)
def test_names_say_how_far_apart_tenants_are(own, other, level):
    (one,) = comparisons(labelled((Credential(own, "A", "1"), Credential(other, "B", "2"))), both_ways=False)
    assert one.level is level


def test_keys_come_from_the_environment_and_are_in_no_representation():
    found = credentials_of(["north=A", "south = B"], {"A": "secret-1", "B": "secret-2"})
    assert [one.key for one in found] == ["secret-1", "secret-2"]
    assert "secret" not in repr(found)
    plan = plan_of(LiveAsked(target="http://localhost:1", protocol="vllm", model="m", tenants=found))
    assert b"secret" not in msgspec.json.encode(plan)
    for given, said in ((["north"], "a name and a variable"), (["north=NOPE"], "not set")):
        with pytest.raises(UserError, match=said):
            credentials_of(given, {})
    with pytest.raises(UserError, match="same key"):
        labelled((NORTH, Credential("south", "B", "key-north")))
    with pytest.raises(UserError, match="two keys or more"):
        labelled((NORTH,))


def test_a_plan_is_counted_before_it_is_sent():
    # Three probes a block, a prompt before each, and a sham behind one's own.
    assert requests_of(live_plan(blocks=40, tokens=4096)) == (7 * 40, 7 * 40 * 4096)
    plan = live_plan(stages=(Stage.EVICTED,), blocks=40, tokens=1000, evict_tokens=2500, victims=5)
    assert requests_of(plan) == ((3 + 20) * 40 + 4 * 3, 1000 * ((3 + 20) * 40 + 4 * 3))


def test_every_block_has_each_arm_once_and_every_order():
    orders = {tuple(trial.arm for trial in drawn_block(block, "s")) for block in range(100)}
    assert len(orders) == 6
    assert all(set(order) == set(Arm) for order in orders)
    assert drawn_block(3, "s") == drawn_block(3, "s")


def test_salts_are_sent_only_where_there_is_a_field_for_them():
    tenants = (NORTH, SOUTH)
    asked = LiveAsked(target="http://localhost:1", protocol="anthropic", model="m", tenants=tenants, salts="both")
    with pytest.raises(UserError, match="no field for a salt"):
        plan_of(asked)
    both = plan_of(msgspec.structs.replace(asked, protocol="vllm"))
    assert [one.salted for one in both.comparisons] == [False, False, True, True]


def test_a_pause_is_kept_on_other_machines_only():
    asked = LiveAsked(target="http://localhost:1", protocol="vllm", model="m", tenants=(NORTH, SOUTH))
    assert plan_of(asked).pause_s == 0
    assert plan_of(msgspec.structs.replace(asked, target="http://h.example")).pause_s == 0.5
    assert plan_of(msgspec.structs.replace(asked, certify=True)).blocks == 250
