"""The user's own request, cold and warm."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest
from support.caching_server import caching
from support.serving import QUICK, serving

from prefixwise.bench.ttft.own_request import OwnRequest
from prefixwise.bench.words import nonce
from prefixwise.clients.protocol import PROTOCOLS, Ask, Cold
from prefixwise.core.errors import UserError
from prefixwise.workflows.benching import TtftAsked, bench_ttft

SYSTEM = "You answer questions about ferries and never guess a fare. " * 8
TOOL = {"type": "function", "function": {"name": "find", "description": "Finds a ferry.", "parameters": {}}}
TURNS = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": "When does it leave?"},
    {"role": "assistant", "content": "At nine."},
    {"role": "user", "content": "And what does it cost?"},
]
CHAT = {"messages": TURNS, "tools": [TOOL]}
OWN = nonce("run", 3)


def made(body: dict, protocol: str, cold: Cold = Cold.NONCE, *, newest: str = "Go on.") -> dict:
    salted = cold is Cold.SALT
    system = f"{'Words:' if salted else OWN} tide boat"
    ask = Ask(model="m", system=system, user=newest, salt=OWN if salted else "")
    return OwnRequest(body, PROTOCOLS.get(protocol), cold).body(ask)


def test_only_the_newest_message_is_replaced_and_a_salt_leaves_the_rest_alone() -> None:
    sent = made(CHAT, "vllm", Cold.SALT)
    assert sent["messages"] == [*TURNS[:3], {"role": "user", "content": "tide boat Go on."}]
    assert sent["tools"] == [TOOL]
    assert (sent["cache_salt"], sent["max_tokens"], sent["model"]) == (OWN, 1, "m")


def test_a_nonce_stands_where_the_model_sees_it_first() -> None:
    """Where tools are rendered in front of the system prompt, it is in the first one's description."""
    hosted = made(CHAT, "openai-chat")
    assert hosted["tools"][0]["function"]["description"] == f"{OWN} Finds a ferry."
    assert hosted["messages"][0] == TURNS[0]
    engine = made(CHAT, "vllm")
    assert engine["messages"][0]["content"] == f"{OWN} {SYSTEM}"
    assert engine["tools"] == [TOOL]


@pytest.mark.parametrize("protocol", ["openai-chat", "vllm"])
def test_two_requests_of_one_pair_share_all_but_the_newest_message(protocol: str) -> None:
    first, second = made(CHAT, protocol, newest="a"), made(CHAT, protocol, newest="b")
    assert first["messages"][:-1] == second["messages"][:-1]
    assert first["tools"] == second["tools"]
    assert first["messages"][-1] != second["messages"][-1]


def test_results_of_tools_stay_with_their_calls() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "at nine"}]}
    body = {"system": SYSTEM, "messages": [{"role": "user", "content": "When?"}, call, result], "max_tokens": 5}
    sent = made(body, "anthropic")
    assert sent["messages"] == [{"role": "user", "content": "tide boat Go on."}]
    assert sent["system"] == f"{OWN} {SYSTEM}"
    longer = {**body, "messages": [*body["messages"], {"role": "user", "content": "Why?"}]}
    assert made(longer, "anthropic")["messages"][:3] == body["messages"]


NEWEST = {
    "gemini": ({"contents": [{"parts": [{"text": "a"}]}]}, lambda sent: sent["contents"][-1]["parts"][-1]["text"]),
    "bedrock": (
        {"messages": [{"role": "user", "content": [{"text": "a"}]}]},
        lambda sent: sent["messages"][-1]["content"][-1]["text"],
    ),
    "openai-responses": (
        {"input": [{"role": "user", "content": "a"}], "instructions": "b"},
        lambda sent: sent["input"][-1]["content"],
    ),
    "openai-completions": ({"prompt": "Once upon a time"}, lambda sent: sent["prompt"]),
}


@pytest.mark.parametrize("protocol", NEWEST)
def test_every_protocol_has_a_newest_message(protocol: str) -> None:
    body, where = NEWEST[protocol]
    assert where(made(body, protocol)).endswith("tide boat Go on.")
    assert OWN in json.dumps(made(body, protocol))


def test_input_as_text_is_replaced_as_a_whole() -> None:
    assert made({"input": "a", "instructions": "b"}, "openai-responses")["input"] == "tide boat Go on."


@pytest.mark.parametrize("body", [{"prompt": [1, 2, 3]}, {}])
def test_what_has_no_text_is_one_clear_error(body: dict) -> None:
    with pytest.raises(UserError, match="no message to replace"):
        made(body, "openai-completions")


# -- whole runs ----------------------------------------------------------------------------------------------


def asked(tmp_path: Path, url: str, **more) -> TtftAsked:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"model": "gpt-4o", "messages": TURNS[:n]}) + "\n" for n in (2, 4)))
    given = {"protocol": "prefixwise", "model": "sim", "items": 4, "controls": 3, "request": f"{path}#1", "block": 16}
    return TtftAsked(target=url, **{**given, **more})


@pytest.mark.parametrize("cold", [Cold.SALT, Cold.NONCE])
def test_a_users_own_request_is_measured(tmp_path: Path, cold: Cold) -> None:
    with serving(QUICK) as running:
        found = bench_ttft(asked(tmp_path, running.url, cold=cold, metrics=("auto",)), print, print).values
    assert found.plan.request.endswith("log.jsonl#1")
    (one,) = found.lengths
    # Bytes are tokens here: system prompt, two turns and what frames them are shared, the newest message is not.
    shared = len(SYSTEM) + len("When does it leave?") + len("At nine.")
    assert shared - 160 < one.length < shared + 120
    assert one.labels == {"cold": {"cold": 4}, "warm": {"warm": 4}, "control": {"cold": 3}}
    assert (found.counters.exclusive, found.counters.agrees) == (True, True)


def test_a_server_that_counts_nothing_gets_the_length_by_our_count(tmp_path: Path) -> None:
    from support.caching_server import Faults

    async def measured():
        async with caching(token_s=0, fixed_s=0, faults=Faults(usage=False)) as server:
            given = asked(tmp_path, f"http://127.0.0.1:{server.port}", protocol="openai-chat", items=2, controls=0)
            values = (await asyncio.to_thread(bench_ttft, given, print, print)).values
            return values, [body["messages"][0]["content"] for body in server.bodies]

    found, systems = asyncio.run(measured())
    assert not found.counted
    assert 60 < found.lengths[0].length < 160  # some 88 words of system prompt
    assert set(Counter(text for text in systems if text.endswith(SYSTEM.strip()[-20:] + " "))) == set(systems)


def test_a_request_that_cannot_be_measured_is_one_clear_error(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9"
    with pytest.raises(UserError, match="one length"):
        bench_ttft(asked(tmp_path, url, lengths=(512,)), print, print)
    with pytest.raises(UserError, match="no record 7"):
        bench_ttft(asked(tmp_path, url, request=f"{tmp_path}/log.jsonl#7"), print, print)
    with pytest.raises(UserError, match="cannot be sent"):
        bench_ttft(asked(tmp_path, url, protocol="anthropic"), print, print)
    with pytest.raises(UserError, match="no connection"):
        bench_ttft(asked(tmp_path, url), print, print)
    with pytest.raises(UserError, match="this run sends"):
        bench_ttft(asked(tmp_path, "https://api.example"), print, print)
