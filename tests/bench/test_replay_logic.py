"""A replay without a server: its pace, its bodies, its made-up prompts, and what rows come to."""

import asyncio
import json
import math
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import pytest
from support.reading import corpus_of, read_one

from prefixwise.bench.replay.bodies import UnsendableError, body_of, dressed, protocol_for
from prefixwise.bench.replay.from_log import Dress, arrivals, chosen
from prefixwise.bench.replay.pace import closed_loop, due, open_loop
from prefixwise.bench.replay.plan import ReplayPlan, ReplayRow
from prefixwise.bench.replay.require import required
from prefixwise.bench.replay.result import replay_result
from prefixwise.bench.replay.run import Client
from prefixwise.bench.replay.synthetic import IdWriter, WordWriter
from prefixwise.bench.replay.work import Item, Work
from prefixwise.bench.words import Vocabulary
from prefixwise.clients.failures import Failure
from prefixwise.clients.protocol import PROTOCOLS, Ask, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Requirement

PLAN = ReplayPlan(run="r", target="t", protocol="vllm", model="m", inputs=("log",), requests=4)
FIXTURES = Path(__file__).parents[2] / "fixtures"


def item(number: int, at: float = 0.0, session: str = "") -> Item:
    return Item(number, f"log#{number}", at, session, "vllm", "", 10, 0, 0)


# -- pace ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "speed", "ramp", "when"),
    [(10, 1, 0, 10), (10, 4, 0, 2.5), (0, 2, 8, 0), (1, 1, 8, 4), (4, 1, 8, 8), (5, 1, 8, 9), (20, 2, 8, 14)],
)
def test_when_a_request_is_due(at, speed, ramp, when):
    """Half a ramp's worth of the log is over when the ramp is: at pace t/8, t seconds see t^2/16 of the log."""
    assert due(at, speed, ramp) == pytest.approx(when)


def test_the_load_of_a_ramp_only_grows():
    times = [due(at / 10, 1.0, 5.0) for at in range(100)]
    gaps = [b - a for a, b in pairwise(times)]
    assert all(b <= a + 1e-9 for a, b in pairwise(gaps))
    assert gaps[-1] == pytest.approx(0.1)


async def paced(loop, items, **more):
    """Return (number, due, sent at) of each item; every answer takes 20 ms."""
    seen = []
    began = perf_counter()

    async def send(one, when):
        seen.append((one.number, when, perf_counter() - began))
        await asyncio.sleep(0.02)

    await loop(items, send, began=began, **more)
    return seen


def test_an_open_loop_sends_when_requests_are_due_and_waits_for_no_answer():
    items = [item(number, 100 + number * 0.01) for number in range(20)]
    seen = asyncio.run(paced(open_loop, items, speed=2.0, ramp=0.0))
    assert [number for number, _, _ in seen] == list(range(20))
    assert [when for _, when, _ in seen] == pytest.approx([number * 0.005 for number in range(20)])
    assert all(at >= when for _, when, at in seen)  # late on a busy machine, never early


def test_a_closed_loop_sends_all_in_order_where_nothing_keeps_it():
    seen = asyncio.run(paced(closed_loop, [item(number) for number in range(9)], concurrency=3, ramp=0.0))
    assert sorted(number for number, _, _ in seen) == list(range(9))
    assert [number for number, _, _ in seen][:3] == [0, 1, 2]


def test_streams_of_a_ramp_begin_one_after_the_other():
    """Eight items of 20 ms on four streams that begin 30 ms apart."""
    seen = asyncio.run(paced(closed_loop, [item(number) for number in range(8)], concurrency=4, ramp=0.12))
    assert [at for _, _, at in seen] == sorted(at for _, _, at in seen)
    assert seen[1][2] >= 0.018  # nobody but the first stream, which waits for its answer
    assert seen[-1][2] >= 0.055


def test_no_two_turns_of_a_conversation_are_under_way_at_a_time():
    items = [item(number, session="ab"[number % 2] if number < 6 else "") for number in range(8)]
    running, most, order = set(), 0, []

    async def send(one, _):
        nonlocal most
        assert not one.session or one.session not in running
        running.add(one.session)
        most = max(most, len(running))
        order.append(one.number)
        await asyncio.sleep(0.005)
        running.discard(one.session)

    asyncio.run(closed_loop(items, send, 4, 0.0, perf_counter()))
    assert sorted(order) == list(range(8))
    assert [number for number in order if number % 2 == 0 and number < 6] == [0, 2, 4]
    assert most >= 3  # the two conversations, and beside them what belongs to none


# -- bodies --------------------------------------------------------------------------------------------------

CHAT = {
    "model": "log-model",
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "When?"}],
    "tools": [{"type": "function", "function": {"name": "find", "parameters": {"b": 1, "a": 2}}}],
    "cache_salt": "tenant",
    "chat_template_kwargs": {"thinking": True},
    "temperature": 1,
    "max_tokens": 999,
}
ANTHROPIC = {
    "model": "claude-opus-5",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "find", "description": "Finds.", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {"q": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "at nine"}]},
    ],
}


def test_a_body_of_the_endpoints_own_api_stays_as_it_is(tmp_path):
    vllm = PROTOCOLS.get("vllm")
    body = body_of(read_one(tmp_path, CHAT), vllm)
    assert json.dumps(body["tools"]) == json.dumps(CHAT["tools"])  # order of keys and all
    assert body["messages"] == CHAT["messages"]
    assert body["chat_template_kwargs"] == {"thinking": True}
    sent = dressed(body, vllm, Ask(model="m", user="", max_tokens=3, ignore_eos=True, salt="run/tenant"), "")
    assert (sent["model"], sent["max_tokens"], sent["cache_salt"]) == ("m", 3, "run/tenant")
    assert "temperature" not in sent


def test_anthropic_bodies_go_to_engines_as_chats(tmp_path):
    body = body_of(read_one(tmp_path, ANTHROPIC), PROTOCOLS.get("vllm"))
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    call = body["messages"][2]["tool_calls"][0]
    assert call["function"] == {"name": "find", "arguments": '{"q":1}'}
    assert body["messages"][3] == {
        "role": "tool",
        "tool_call_id": "t1",
        "content": [{"type": "text", "text": "at nine"}],
    } | {"content": body["messages"][3]["content"]}
    assert "at nine" in json.dumps(body["messages"][3])
    assert body["tools"][0]["function"]["parameters"] == {"type": "object"}
    own = body_of(read_one(tmp_path, ANTHROPIC), PROTOCOLS.get("anthropic"))
    assert own["system"] == ANTHROPIC["system"]  # cache markers stay


@pytest.mark.parametrize(
    ("record", "prompt"),
    [
        ({"prompt": "Once upon"}, "Once upon"),
        ({"prompt_token_ids": [5, 6, 7]}, [5, 6, 7]),
        ({"prompt": [1, 2]}, [1, 2]),
    ],
)
def test_bare_prompts_go_to_the_other_path_of_an_engine(tmp_path, record, prompt):
    own = protocol_for(PROTOCOLS.get("vllm"), "completions")
    assert own.name == "openai-completions"
    assert body_of(read_one(tmp_path, {"model": "m", **record}), own) == {"prompt": prompt}


@pytest.mark.parametrize(
    ("protocol", "api"),
    [("anthropic", "openai-chat"), ("openai-chat", "completions"), ("deepseek", "completions"), ("vllm", "gemini")],
)
def test_what_cannot_be_sent_is_told(protocol, api):
    with pytest.raises(UnsendableError, match="cannot be sent to"):
        protocol_for(PROTOCOLS.get(protocol), api)


def test_ids_take_no_nonce():
    with pytest.raises(UnsendableError, match="token ids"):
        dressed({"prompt": [1]}, PROTOCOLS.get("openai-completions"), Ask(model="m", user=""), "a b c")


def test_tenants_of_a_log_stay_apart_and_runs_too():
    salted = Dress("r1", "m", Cold.SALT, None)
    assert [salted.salt(None), salted.salt("a"), salted.salt("b")] == ["r1", "r1/a", "r1/b"]
    assert salted.nonce == ""
    noncing = Dress("r1", "m", Cold.NONCE, None)
    assert noncing.salt("a") == "a"
    assert len(noncing.nonce.split()) == 16
    assert noncing.nonce != Dress("r2", "m", Cold.NONCE, None).nonce
    assert Dress("r1", "m", None, None).salt(None) == ""


# -- which requests, and when --------------------------------------------------------------------------------


def logged(at, **more):
    return {"request": {"model": "m", "prompt": [*range(40), at], **more}, "ts": 1_700_000_000 + at}


def test_requests_are_taken_in_order_of_arrival():
    rows = corpus_of(logged(5), logged(1), logged(3)).rows
    assert chosen(rows, None, None) == [1, 2, 0]
    assert chosen(rows, None, 2) == [1, 2]
    assert arrivals(rows, [1, 2, 0], needed=True) == [0, 2, 4]


def test_a_log_without_times_has_no_arrivals():
    rows = corpus_of({"model": "m", "prompt": [1, 2, 3]}).rows
    with pytest.raises(UserError, match="when its requests came"):
        arrivals(rows, [0], needed=True)
    assert arrivals(rows, [0], needed=False) == [0.0]


def test_of_several_models_one_has_to_be_named():
    rows = corpus_of(logged(0), logged(1, model="other"), logged(2)).rows
    with pytest.raises(UserError, match="several models"):
        chosen(rows, None, None)
    assert chosen(rows, "m", None) == [0, 2]
    with pytest.raises(UserError, match="no request to 'nobody'"):
        chosen(rows, "nobody", None)


# -- made-up prompts -----------------------------------------------------------------------------------------

BLOCK = 512
TRACE = [
    {"timestamp": 0, "input_length": 1200, "output_length": 2, "hash_ids": [1, 2, 3]},
    {"timestamp": 1000, "input_length": 1100, "output_length": 2, "hash_ids": [1, 2, 4]},
    {"timestamp": 2000, "input_length": 1300, "output_length": 2, "hash_ids": [1, 5, 6]},
    {"timestamp": 3000, "input_length": 600, "output_length": 2, "hash_ids": [7, 8]},
    {"timestamp": 4000, "input_length": 1536, "output_length": 2, "hash_ids": [1, 2, 3]},
]
SHARED = {(0, 1): 1024, (0, 2): 512, (0, 3): 0, (0, 4): 1200, (1, 2): 512, (1, 4): 1024, (2, 3): 0, (2, 4): 512}


def common(a, b):
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def test_made_up_ids_share_exactly_what_the_trace_says():
    rows = corpus_of(*TRACE).rows
    writer = IdWriter("run", rows, PROTOCOLS.get("openai-completions"), tuple(range(100, 150)))
    prompts = [writer.prompt(row)["prompt"] for row in range(5)]
    assert [len(prompt) for prompt in prompts] == [1200, 1100, 1300, 600, 1536]
    assert {pair: common(prompts[pair[0]], prompts[pair[1]]) for pair in SHARED} == SHARED
    again = IdWriter("run", rows, PROTOCOLS.get("openai-completions"), tuple(range(100, 150)))
    assert [again.prompt(row)["prompt"] for row in range(5)] == prompts
    other = IdWriter("other", rows, PROTOCOLS.get("openai-completions"), tuple(range(100, 150)))
    assert common(other.prompt(0)["prompt"], prompts[0]) < 16


def test_blocks_behind_the_same_one_differ_from_their_first_ids_on():
    """A hundred of them with ten ids: they share one id or two, never more."""
    trace = [{"timestamp": n, "input_length": 1024, "hash_ids": [1, 10 + n]} for n in range(100)]
    rows = corpus_of(*trace).rows
    writer = IdWriter("run", rows, PROTOCOLS.get("openai-completions"), tuple(range(10)))
    prompts = [writer.prompt(row)["prompt"] for row in range(100)]
    shares = {common(prompts[a], prompts[b]) for a in range(100) for b in range(a)}
    assert min(shares) == BLOCK
    assert max(shares) <= BLOCK + 2


@pytest.mark.parametrize("costs", [{"tide": 1, "boat": 1, "rope": 1}, {"a": 2, "bell": 5, "lantern": 8}])
@pytest.mark.parametrize("around", [0, 7])
def test_made_up_words_end_where_the_trace_has_them(costs, around):
    rows = corpus_of(*TRACE).rows
    words = Vocabulary(tuple(costs.items()), around)
    writer = WordWriter("run", rows, PROTOCOLS.get("openai-completions"), words)

    def tokens(row):
        """A token a word, or as many of them as it costs, behind what the server puts there."""
        text = writer.prompt(row)["prompt"].removeprefix("Words:")
        return ["^"] * around + [f"{word} {part}" for word in text.split() for part in range(costs[word])]

    prompts = [tokens(row) for row in range(5)]
    assert [len(prompt) for prompt in prompts] == [1200, 1100, 1300, 600, 1536]
    for (a, b), shared in SHARED.items():
        whole = shared if shared % BLOCK == 0 else shared - max(costs.values())  # a part of a block ends where words do
        assert max(whole, around) <= common(prompts[a], prompts[b]) <= max(shared, around) + 40
    assert writer.near == set()


def test_blocks_that_no_words_fill_are_counted():
    rows = corpus_of({"timestamp": 0, "input_length": 3, "hash_ids": [1]}).rows
    writer = WordWriter("run", rows, PROTOCOLS.get("vllm"), Vocabulary((("bell", 5),), 0))
    assert writer.prompt(0)["messages"][-1]["content"] == "Words: bell"
    assert len(writer.near) == 1


# -- what rows come to ---------------------------------------------------------------------------------------


def row(number, ttft=0.1, **more):
    given = {"due": float(number), "at": float(number), "status": 200, "total": 0.2, "prompt": 100, "cached": 50}
    return ReplayRow(number=number, ttft=ttft, **{**given, "output": 5, "tpot": 0.02, **more})


def test_the_hit_rate_is_weighted_by_tokens_and_absent_is_not_zero():
    rows = [row(0, cached=0), row(1, prompt=300, cached=300), row(2, cached=None), row(3, prompt=None, cached=None)]
    found = replay_result(PLAN, rows)
    assert (found.hit_rate, found.counted, found.complete) == (0.75, 2, 4)
    assert replay_result(PLAN, [row(0, cached=None)]).hit_rate is None


def test_time_to_first_token_from_when_it_was_due_holds_the_waiting():
    found = replay_result(PLAN, [row(0, at=2.0), row(1, at=3.0), row(2, at=4.0)])
    times = {one.name: one.at(0.5).value for one in found.times}
    assert times["ttft"] == pytest.approx(0.1)
    assert times["ttft_from_schedule"] == pytest.approx(2.1)
    assert found.late_median == pytest.approx(2.0)


def test_goodput_counts_failed_requests_among_those_that_were_sent():
    slos = (("ttft", 0.5), ("tpot", 0.05))
    plan = ReplayPlan(run="r", target="t", protocol="vllm", model="m", inputs=(), requests=6, slo=slos)
    rows = [
        row(0),
        row(1, ttft=0.6),
        row(2, tpot=0.06),
        row(3, at=3.45),  # 0.45 s late: 0.55 s from when it was due
        row(4, status=503, error="busy", ttft=None, total=0.001),
        row(5, output=1, tpot=None),
    ]
    found = replay_result(plan, rows)
    assert [(one.good, one.sent) for one in found.goodput] == [(2, 6), (3, 6), (4, 6)]
    assert found.goodput[0].share == pytest.approx(1 / 3)
    assert 1 / 3 in found.goodput[0].interval
    assert found.failed == {"HTTP 503": 1}
    assert found.success == pytest.approx(5 / 6)


def test_a_p99_needs_299_answers_and_failures_reach_it():
    few, many = [row(n) for n in range(28)], [row(n) for n in range(300)]
    assert replay_result(PLAN, few).times[0].at(0.9).value is None
    assert replay_result(PLAN, many).times[0].at(0.99).value == 0.1
    lost = [row(300 + n, ttft=None, status=0, failure=Failure.CUT, error="cut") for n in range(4)]
    times = replay_result(PLAN, many + lost).times[0]
    assert (times.n, times.at(0.99).value, times.at(0.99).with_failures) == (300, 0.1, None)
    assert replay_result(PLAN, many + lost[:1]).times[0].at(0.99).with_failures == 0.1
    assert replay_result(PLAN, lost).failed == {"cut": 4}


def test_full_load_is_the_longest_span_with_nearly_all_streams_busy():
    plan = ReplayPlan(run="r", target="t", protocol="vllm", model="m", inputs=(), requests=4, concurrency=2, speed=0)
    rows = [
        row(0, at=0.0, total=1.0),
        row(1, at=0.5, total=2.0),
        row(2, at=1.0, total=1.0),
        row(3, at=2.001, total=3.0),
    ]
    steady = replay_result(plan, rows).steady
    assert (steady.start, steady.requests) == (0.5, 3)
    assert steady.end == pytest.approx(2.5, abs=0.01)


def test_a_client_that_is_late_itself_is_told():
    idle, busy = Client((0.0,) * 300, 0.1, 10.0), Client((0.0,) * 290 + (0.05,) * 10, 0.1, 10.0)
    assert not replay_result(PLAN, [row(0)], idle).bound
    assert replay_result(PLAN, [row(0)], busy).bound
    assert replay_result(PLAN, [row(0)], Client((), 0.95, 10.0)).bound
    assert replay_result(PLAN, [row(0)]).loop_p99 is None


def required_of(expression: str, rows, **more) -> Requirement:
    plan = ReplayPlan(run="r", target="t", protocol="vllm", model="m", inputs=(), requests=len(rows), **more)
    return required(parse_condition(expression, ("hit_rate", "goodput", "success")), replay_result(plan, rows))


@pytest.mark.parametrize(
    ("expression", "state"),
    [
        ("hit_rate>=0.5", "met"),
        ("hit_rate>=0.6", "not met"),
        ("success>=1", "met"),
        ("goodput>=0.5", "met"),
        ("goodput>=0.99", "undecided"),
        ("goodput<=0.5", "not met"),
    ],
)
def test_requirements(expression, state):
    slos = (("ttft", 0.5),)
    assert required_of(expression, [row(n) for n in range(30)], slo=slos).state == state


def test_what_was_not_counted_decides_nothing():
    assert required_of("hit_rate>=0.1", [row(0, cached=None)]).state == "undecided"
    assert required_of("goodput>=0.1", [row(0)]).state == "undecided"


def test_bodies_are_kept_in_a_file_and_come_back():
    with Work() as work:
        places = [work.keep({"prompt": "x" * size}) for size in (3, 5000, 1)]
        found = [work.content(Item(n, "", 0, "", "v", "", 1, *place)) for n, place in enumerate(places)]
    assert [len(json.loads(body)["prompt"]) for body in found] == [3, 5000, 1]
    assert math.isclose(sum(size for _, size in places), sum(map(len, found)))
