"""Keys, salts, adapters, headers and routes: what keeps the turns of a conversation from finding each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of
from support.talks import SYSTEM, body, record, talk, usage

from prefixwise.core.finding import Confidence, Level, Severity, Where


def turns(api: str, field: str, *values: Any, topic: int = 0, **more: Any) -> list[dict[str, Any]]:
    given = [{} if value is None else {field: value} for value in values]
    return [body(api, turn, topic=topic, **one) | more for turn, one in enumerate(given)]


def with_around(records: list[dict[str, Any]], name: str, *values: Any) -> list[dict[str, Any]]:
    return [made | ({} if value is None else {name: value}) for made, value in zip(records, values, strict=True)]


# Cache keys.


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("hits", ["-", "?", "--h-"])
def test_a_key_made_anew_for_each_turn(api: str, hits: str, tmp_path: Path) -> None:
    requests = turns(api, "prompt_cache_key", "a1", "a2", "b3", "c4")
    linted = lint_records(tmp_path, talk(api, *requests, hits="" if hits == "?" else hits))
    key = finding(linted, "cache-key-unstable")
    assert found(linted) == ["cache-key-unstable"]
    assert pairs_of(key) == [(0, 1), (1, 2), (2, 3)]  # a hit in between is chance
    assert (key.field, key.char_offset, key.from_text, key.to_text) == ("/prompt_cache_key", 1, "a1", "a2")
    assert (key.level, key.where) == (Level.ERROR, Where.PARAMS)


@pytest.mark.parametrize(
    ("model", "values", "hits"),
    [
        ("gpt-5.6", ("a", "a", "a"), "-h"),
        ("gpt-5.6", ("a", "b", "c"), "-h"),
        ("kimi-k2", ("a", "b", "c"), "?"),
        ("my-model", ("a", "b", "c"), "?"),
    ],
)
def test_keys_that_cost_nothing(model: str, values: tuple[str, ...], hits: str, tmp_path: Path) -> None:
    requests = turns("responses", "prompt_cache_key", *values, model=model)
    assert found(lint_records(tmp_path, talk("responses", *requests, hits=hits if hits != "?" else ""))) == []


def test_a_new_key_for_a_new_conversation_is_right(tmp_path: Path) -> None:
    records = []
    for topic in range(5):
        records += talk("chat", *turns("chat", "prompt_cache_key", *[f"c{topic}"] * 2, topic=topic), start=500 * topic)
    assert found(lint_records(tmp_path, records)) == []


def test_a_key_of_its_own_for_each_single_call(tmp_path: Path) -> None:
    calls = [body("responses", 0, topic=n, prompt_cache_key=f"{n}-{n * 7919 % 997}") for n in range(6)]
    records = [record("responses", call, 30 * n, 0) for n, call in enumerate(calls)]
    key = finding(lint_records(tmp_path, records), "cache-key-unstable")
    assert len(key.occurrences) == 5
    served = [record("responses", call, 30 * n, len(SYSTEM) // 5) for n, call in enumerate(calls)]
    assert found(lint_records(tmp_path, served)) == []


@pytest.mark.parametrize(("cached", "rules"), [(None, []), (0, ["cache-key-unstable"]), (len(SYSTEM) // 5, [])])
def test_one_key_for_everything(cached: int | None, rules: list[str], tmp_path: Path) -> None:
    calls = [body("chat", 0, topic=n, prompt_cache_key="everything") for n in range(60)]
    records = [record("chat", call, n, cached) for n, call in enumerate(calls)]
    linted = lint_records(tmp_path, records)
    assert found(linted) == rules
    if cached != len(SYSTEM) // 5:
        key = finding(linted, "cache-key-unstable")
        assert "60 conversations with up to 60 requests a minute" in key.message
        assert key.confidence is Confidence.POSSIBLE


def test_a_session_header_that_changes(tmp_path: Path) -> None:
    records = talk("chat", *(body("chat", turn) | {"model": "grok-4"} for turn in range(3)), hits="-")
    headers = [{"X-Grok-Conv-Id": f"c-{n}", "content-type": "json"} for n in range(3)]
    key = finding(lint_records(tmp_path, with_around(records, "request_headers", *headers)), "cache-key-unstable")
    assert key.field == "record:/request_headers/X-Grok-Conv-Id"
    assert (key.from_text, key.to_text, key.char_offset) == ("c-0", "c-1", 2)


# Salts and adapters.


@pytest.mark.parametrize("field", ["cache_salt", "extra_key"])
def test_a_salt_that_changes_inside_a_conversation(field: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk("chat", *turns("chat", field, "s1", "s2", "s3", model="my-model")))
    salt = finding(linted, "cache-salt-unstable")
    assert found(linted) == ["cache-salt-unstable"]
    assert pairs_of(salt) == [(0, 1), (1, 2)]
    assert (salt.field, salt.from_text, salt.to_text) == (f"/{field}", "s1", "s2")


def salted(*salts: str, tenants: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    calls = [body("chat", 0, topic=n, cache_salt=salt) | {"model": "my-model"} for n, salt in enumerate(salts)]
    return [record("chat", call, 30 * n, **({"tenant": tenants[n]} if tenants else {})) for n, call in enumerate(calls)]


def test_a_salt_made_anew_for_each_call_of_one_tenant(tmp_path: Path) -> None:
    fresh = [f"n{n}" for n in range(9)]
    assert found(lint_records(tmp_path, salted(*fresh, tenants=("t",) * 9))) == ["cache-salt-unstable"]
    assert found(lint_records(tmp_path, salted(*fresh))) == ["cache-salt-unstable"]


def test_a_salt_for_each_tenant_is_right(tmp_path: Path) -> None:
    tenants = ("a", "b", "c", "a", "b", "c", "a", "b", "c")
    assert found(lint_records(tmp_path, salted(*tenants, tenants=tenants))) == []
    assert found(lint_records(tmp_path, salted(*tenants))) == []
    assert found(lint_records(tmp_path, salted(*"abcd", tenants=tuple("abcd")))) == []


def test_an_adapter_for_one_turn(tmp_path: Path) -> None:
    requests = turns("chat", "lora_path", "law", "law", "sum", "law", model="my-model")
    adapter = finding(lint_records(tmp_path, talk("chat", *requests)), "adapter-changed")
    assert pairs_of(adapter) == [(1, 2)]
    assert (adapter.field, adapter.from_text, adapter.to_text) == ("/lora_path", "law", "sum")
    assert found(lint_records(tmp_path, talk("chat", *requests, hits="-h"))) == []


# Headers.


def headed(hits: str, *headers: dict[str, str] | None) -> list[dict[str, Any]]:
    records = talk("anthropic", *(body("anthropic", turn) for turn in range(len(headers))), hits=hits)
    return with_around(records, "headers", *headers)


@pytest.mark.parametrize(
    ("name", "values", "severity"),
    [
        ("anthropic-beta", ("a-1,b-2", "a-1"), Severity.MEDIUM),
        ("Anthropic-Beta", (None, "a-1"), Severity.MEDIUM),
        ("openai-organization", ("org-1", "org-2"), Severity.MEDIUM),
    ],
)
def test_a_header_that_changes_on_a_miss(name: str, values: Any, severity: Severity, tmp_path: Path) -> None:
    headers = [{"accept": "*"} | ({} if value is None else {name: value}) for value in (*values[:1], *values)]
    linted = lint_records(tmp_path, headed("-h-", *headers))
    changed = finding(linted, "header-changed")
    assert found(linted) == ["header-changed"]
    assert pairs_of(changed) == [(1, 2)]
    assert (changed.field, changed.from_text, changed.to_text) == (f"record:/headers/{name}", *values)
    assert (changed.severity, changed.where) == (severity, Where.TRANSPORT)


@pytest.mark.parametrize(
    "headers",
    [
        ({"anthropic-beta": "a,b"}, {"anthropic-beta": "b, a"}),
        ({"x-request-id": "1"}, {"x-request-id": "2"}),
        ({"anthropic-beta": "a"}, None),
    ],
)
def test_headers_that_say_the_same(headers: Any, tmp_path: Path) -> None:
    assert "header-changed" not in found(lint_records(tmp_path, headed("-", *headers)))


def test_without_usage_features_are_information_and_scopes_a_warning(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, headed("", {"anthropic-beta": "a"}, {"anthropic-beta": "b"}))) == []
    scopes = headed("", {"openai-project": "a"}, {"openai-project": "b"})
    assert found(lint_records(tmp_path, scopes)) == ["header-changed"]


# Routes.


def routed(name: str, *values: Any, hits: str = "") -> list[dict[str, Any]]:
    records = talk("chat", *(body("chat", turn) for turn in range(len(values))), hits=hits)
    return with_around(records, name, *values)


@pytest.mark.parametrize("name", ["deployment", "replica", "model_id", "api_base", "provider", "region", "account"])
def test_a_turn_that_goes_elsewhere_and_misses(name: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, routed(name, "east", "east", "west", "east", hits="-h-h"))
    route = finding(linted, "route-changed")
    assert found(linted) == ["route-changed"]
    assert pairs_of(route) == [(1, 2)]
    assert (route.field, route.from_text, route.to_text) == (f"record:/{name}", "east", "west")
    assert (route.where, route.confidence) == (Where.TRANSPORT, Confidence.LIKELY)


def test_a_route_that_an_answer_tells(tmp_path: Path) -> None:
    records = talk("chat", *(body("chat", turn) for turn in range(3)), hits="-h-")
    for made, provider in zip(records, ("Azure", "Azure", "Nova"), strict=True):
        made["response"]["provider"] = provider
    assert finding(lint_records(tmp_path, records), "route-changed").field == "record:/response/provider"


def test_hits_after_a_change_say_that_it_is_none(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, routed("deployment", "a", "b", "c", "d", hits="-h"))) == []


def test_a_place_that_had_the_conversation_is_no_cause(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, routed("deployment", "a", "b", "a", hits="-h-"))
    assert "route-changed" not in found(linted)


def test_turns_that_stay_and_miss_as_often_speak_for_another_cause(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, routed("deployment", "a", "a", "a", "a", "b", hits="-"))
    assert "route-changed" not in found(linted)


def test_a_gateways_own_cache_is_no_route(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, routed("cache_hit", "False", "True", "False", hits="-"))
    assert "route-changed" not in found(linted)


def test_without_usage_only_replicas_of_engines_are_possible(tmp_path: Path) -> None:
    records = routed("replica", "gpu-0", "gpu-1", "gpu-0")
    assert found(lint_records(tmp_path, records)) == []  # a provider's model
    for made in records:
        made["request"]["model"] = "my-model"
    route = finding(lint_records(tmp_path, records), "route-changed")
    assert (route.severity, route.confidence) == (Severity.MEDIUM, Confidence.POSSIBLE)
    assert pairs_of(route) == [(0, 1)]


def test_another_service_tier_is_another_place(tmp_path: Path) -> None:
    requests = turns("responses", "service_tier", "default", "auto", "flex")
    route = finding(lint_records(tmp_path, talk("responses", *requests)), "route-changed")
    assert (route.field, pairs_of(route)) == ("/service_tier", [(1, 2)])


def test_another_speed_is_another_place_where_it_missed(tmp_path: Path) -> None:
    requests = turns("anthropic", "speed", None, "standard", "fast")
    route = finding(lint_records(tmp_path, talk("anthropic", *requests, hits="-h-")), "route-changed")
    assert (route.field, route.from_text, route.to_text) == ("/speed", "standard", "fast")


def test_a_partial_hit_counts_where_turns_that_stay_are_served(tmp_path: Path) -> None:
    read = len(SYSTEM) // 5
    records = []
    for topic in range(4):
        requests = [body("chat", turn, topic=topic) for turn in range(5)]
        for turn, (request, pool) in enumerate(zip(requests, "aabbb", strict=True)):
            whole = round(len(str(request)) / 5)
            made = record("chat", request, 200 * topic + 30 * turn, 0, deployment=f"{pool}{topic}")
            before = round(len(str(requests[turn - 1])) / 5) if turn else read
            made["response"]["usage"] = usage("chat", whole, read if turn in (0, 2) else before)
            records.append(made)
    route = finding(lint_records(tmp_path, records), "route-changed")
    assert pairs_of(route) == [(5 * topic + 1, 5 * topic + 2) for topic in range(4)]
