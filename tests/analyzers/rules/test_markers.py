"""Rules on cache markers: missing, lost, misplaced, too many, too early, out of reach, in the wrong order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of
from support.marked import APIS, RULES, START, asks, block, record, request, turns

from prefixwise.core.finding import Confidence, Level, Severity, Where

SILENT = (3000, 0, 0)
WEATHER = ("rain", "sun", "fog", "hail", "snow")
HEAD = {"anthropic": "/system", "bedrock": "/system", "chat": "/messages/0"}


def records_of(one: Any) -> list[int]:
    return [occurrence.record.record for occurrence in one.occurrences if occurrence.record is not None]


# breakpoint-missing


@pytest.mark.parametrize("api", APIS)
def test_no_marker_anywhere(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, asks(api, 4, [SILENT]))
    missing = finding(linted, "breakpoint-missing")
    assert found(linted) == ["breakpoint-missing"]
    assert (missing.field, missing.where, missing.level) == (HEAD[api], Where.SYSTEM, Level.ERROR)
    assert records_of(missing) == [1, 2, 3]
    assert missing.tokens_lost is not None
    assert 3 * 2000 < missing.tokens_lost.value <= 3 * 3000


def test_a_system_text_that_is_a_plain_string(tmp_path: Path) -> None:
    records = asks("anthropic", 4, [SILENT])
    for made in records:
        made["request"]["system"] = RULES
    assert finding(lint_records(tmp_path, records), "breakpoint-missing").field == "/system"


def test_a_conversation_without_a_system_text(tmp_path: Path) -> None:
    records = turns("anthropic", 4, [SILENT], long=600)
    for made in records:
        del made["request"]["system"]
    missing = finding(lint_records(tmp_path, records), "breakpoint-missing")
    assert (missing.field, missing.where) == ("/messages", Where.MESSAGES)


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (asks("anthropic", 2, [SILENT]), "two calls may be chance"),
        (asks("anthropic", 4, [(900, 0, 0)]), "below the minimum"),
        (asks("anthropic", 4, [SILENT], cache_control={"type": "ephemeral"}), "the provider places the marker"),
        (asks("anthropic", 4, [(9, 2991, 0), (9, 0, 2991)], on_system=True), "as it should be"),
        (asks("chat", 4, [SILENT], model="gpt-4o"), "another provider, which caches by itself"),
        (asks("chat", 4, [SILENT], model="my-model"), "nobody knows whose cache it is"),
        (asks("anthropic", 4, [(9, 0, 2991)]), "somebody else sets markers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_where_no_marker_is_missing(records: list[dict[str, Any]], why: str, tmp_path: Path) -> None:
    assert "breakpoint-missing" not in found(lint_records(tmp_path, records))


def test_without_usage_a_missing_marker_is_possible(tmp_path: Path) -> None:
    missing = finding(lint_records(tmp_path, asks("anthropic", 4, [None])), "breakpoint-missing")
    assert (missing.confidence, missing.severity) == (Confidence.POSSIBLE, Severity.MEDIUM)
    assert found(lint_records(tmp_path, asks("anthropic", 4, [None], system=RULES[:3000]))) == []


def test_explicit_mode_without_a_breakpoint(tmp_path: Path) -> None:
    records = [
        {
            "request": {
                "model": "gpt-5.6",
                "instructions": RULES,
                "input": f"Is quay {number} open?",
                "prompt_cache_options": {"mode": "explicit"},
            },
            "response": {"usage": {"input_tokens": 3000, "input_tokens_details": {"cached_tokens": 0}}},
        }
        for number in range(4)
    ]
    missing = finding(lint_records(tmp_path, records), "breakpoint-missing")
    assert (missing.field, missing.where) == ("/prompt_cache_options/mode", Where.PARAMS)


# breakpoint-lost-by-gateway


@pytest.mark.parametrize("api", APIS)
def test_markers_that_nothing_answers(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, asks(api, 4, [SILENT], on_system=True))
    lost = finding(linted, "breakpoint-lost-by-gateway")
    assert found(linted) == ["breakpoint-lost-by-gateway"]
    places = {"anthropic": "/system/0", "bedrock": "/system/1", "chat": "/messages/0/content/0"}
    assert lost.field is not None
    assert lost.field.rpartition("/")[0] == places[api]
    assert (lost.severity, lost.confidence) == (Severity.CRITICAL, Confidence.LIKELY)


def test_a_body_that_was_sent_on_without_markers(tmp_path: Path) -> None:
    client = request("anthropic", ["Is quay 2 open?"], on_system=True)
    upstream = request("anthropic", ["Is quay 2 open?"])
    records = [{"client_request": client, "upstream_request": upstream, "ts": 1_780_000_000}]
    lost = finding(lint_records(tmp_path, records), "breakpoint-lost-by-gateway")
    assert (lost.confidence, lost.evidence[0]) == (
        Confidence.CERTAIN,
        "1 marker at /client_request and none at /upstream_request",
    )
    kept = [{**records[0], "upstream_request": client}]
    assert found(lint_records(tmp_path, kept)) == []


def test_markers_below_the_minimum_are_not_lost(tmp_path: Path) -> None:
    records = asks("anthropic", 4, [(900, 0, 0)], on_system=True)
    assert found(lint_records(tmp_path, records)) == ["breakpoint-below-minimum"]


def test_an_application_that_is_cached_has_lost_no_markers(tmp_path: Path) -> None:
    records = asks("anthropic", 5, [SILENT, SILENT, SILENT, (9, 2991, 0), (9, 0, 2991)], on_system=True)
    assert "breakpoint-lost-by-gateway" not in found(lint_records(tmp_path, records))


# breakpoint-misplaced


@pytest.mark.parametrize("api", APIS)
def test_a_marker_that_stays_while_the_history_grows(api: str, tmp_path: Path) -> None:
    counts = [(4, 3000, 0), (900, 0, 3000), (1800, 0, 3000), (2700, 0, 3000)]
    linted = lint_records(tmp_path, turns(api, 4, counts, long=80, on_system=True, marked={0}))
    stuck = finding(linted, "breakpoint-misplaced")
    assert found(linted) == ["breakpoint-misplaced"]
    assert pairs_of(stuck) == [(1, 2), (2, 3)]
    assert stuck.field is not None
    assert stuck.field.startswith("/messages/1/" if api == "chat" else "/messages/0/")
    assert stuck.tokens_lost is not None
    assert stuck.tokens_lost.value == 900 + 1800


@pytest.mark.parametrize("api", APIS)
def test_a_marker_on_the_system_text_alone(api: str, tmp_path: Path) -> None:
    counts = [(300, 2700, 0), (1300, 0, 2700), (2300, 0, 2700), (3300, 0, 2700)]
    stuck = finding(lint_records(tmp_path, turns(api, 4, counts, long=80, on_system=True)), "breakpoint-misplaced")
    assert stuck.where is Where.SYSTEM


@pytest.mark.parametrize("api", APIS)
def test_a_marker_that_moves_along(api: str, tmp_path: Path) -> None:
    counts = [(4, 3000, 0), (4, 900, 3000), (4, 900, 3900), (4, 900, 4800)]
    records = turns(api, 4, counts, long=80, on_system=True, marked="newest")
    assert found(lint_records(tmp_path, records)) == []


@pytest.mark.parametrize("api", APIS)
def test_a_marker_on_the_question_alone(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, asks(api, 5, [(4, 3000, 0)], marked={0}))
    asked = finding(linted, "breakpoint-misplaced")
    assert found(linted) == ["breakpoint-misplaced"]
    assert (asked.level, asked.where, len(asked.occurrences)) == (Level.ERROR, Where.MESSAGES, 4)


def test_a_marker_on_the_question_and_one_before_it(tmp_path: Path) -> None:
    records = asks("anthropic", 5, [(4, 3000, 0), (4, 20, 2980)], marked={0}, on_system=True)
    assert found(lint_records(tmp_path, records)) == []


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ({"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}, "an empty text"),
        (
            {"type": "thinking", "thinking": "Hm.", "signature": "s", "cache_control": {"type": "ephemeral"}},
            "a thinking",
        ),
    ],
)
def test_a_marker_on_what_cannot_carry_one(odd: dict[str, Any], words: str, tmp_path: Path) -> None:
    body = request("anthropic", ["Hello.", "Hello to you.", "Is quay 2 open?"])
    body["messages"][1]["content"].insert(0, odd)
    misplaced = finding(lint_records(tmp_path, [record("anthropic", body, None)]), "breakpoint-misplaced")
    assert misplaced.field == "/messages/1/content/0/cache_control"
    assert words in misplaced.message


def test_a_marker_behind_a_block_that_changes(tmp_path: Path) -> None:
    records = asks("anthropic", 5, [(4, 3100, 0)])
    for number, made in enumerate(records):
        made["request"]["system"].append(block(f"Weather bulletin: {WEATHER[number]}.", True))
    linted = lint_records(tmp_path, records)
    assert [one.rule for one in linted.values.findings if one.rule == "breakpoint-misplaced"] == [
        "breakpoint-misplaced"
    ]


POINT = {"cachePoint": {"type": "default"}}


def test_a_marker_in_front_of_everything(tmp_path: Path) -> None:
    records = asks("bedrock", 4, [SILENT])
    for made in records:
        made["request"]["system"].insert(0, POINT)
    linted = lint_records(tmp_path, records)
    front = finding(linted, "breakpoint-misplaced")
    assert found(linted) == ["breakpoint-misplaced"]
    assert (front.field, front.confidence) == ("/system/0/cachePoint", Confidence.CERTAIN)
    assert "in front of everything" in front.message


def test_a_marker_in_front_of_everything_beside_a_good_one(tmp_path: Path) -> None:
    records = asks("bedrock", 4, [(4, 3000, 0), (4, 0, 3000)], on_system=True)
    for made in records:
        made["request"]["system"].insert(0, POINT)
    linted = lint_records(tmp_path, records)
    assert found(linted) == []
    assert finding(linted, "breakpoint-misplaced").severity is Severity.INFO


def test_markers_on_nothing_are_not_lost_on_the_way(tmp_path: Path) -> None:
    records = asks("anthropic", 4, [SILENT])
    for made in records:
        made["request"]["system"].append(block("", True))
    assert found(lint_records(tmp_path, records)) == ["breakpoint-misplaced"]


def result_with_point(*points: str) -> dict[str, Any]:
    """Return a request whose tool result carries cache points inside its data, or behind it."""
    result = {"toolUseId": "a", "content": [{"text": "Yes."}, *([POINT] if "inside" in points else [])]}
    body = request("bedrock", ["Is quay 2 open?"])
    body["messages"] += [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "quay", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": result}, *([POINT] if "behind" in points else [])]},
    ]
    return body


def test_a_marker_inside_the_data_of_a_block(tmp_path: Path) -> None:
    body = result_with_point("inside")
    stray = finding(lint_records(tmp_path, [record("bedrock", body, None)]), "breakpoint-misplaced")
    assert stray.field == "/messages/2/content/0/toolResult/content/1/cachePoint"
    assert (stray.severity, stray.where) == (Severity.MEDIUM, Where.MESSAGES)
    schema = request(
        "anthropic", ["Hi."], tools=[{"name": "a", "input_schema": {"cache_control": {"type": "ephemeral"}}}]
    )
    stray = finding(lint_records(tmp_path, [record("anthropic", schema, None)]), "breakpoint-misplaced")
    assert (stray.field, stray.where) == ("/tools/0/input_schema/cache_control", Where.TOOLS)


def test_a_stray_marker_beside_a_good_one(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, [record("bedrock", result_with_point("inside", "behind"), None)])
    assert found(linted) == []
    assert finding(linted, "breakpoint-misplaced").severity is Severity.INFO


def test_what_a_model_wrote_is_no_marker(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "a", "name": "call", "input": {"cache_control": {"type": "ephemeral"}}}
    body = request("anthropic", ["Write a request.", "", "Thanks."])
    body["messages"][1]["content"] = [use]
    assert lint_records(tmp_path, [record("anthropic", body, None)]).values.findings == ()


def test_two_markers_at_one_block(tmp_path: Path) -> None:
    records = asks("bedrock", 4, [(4, 3000, 0), (4, 0, 3000)], on_system=True)
    for made in records:
        made["request"]["system"].append(POINT)
    linted = lint_records(tmp_path, records)
    twice = finding(linted, "breakpoint-misplaced")
    assert (twice.field, twice.severity) == ("/system/2/cachePoint", Severity.INFO)
    for made in records:
        made["request"]["system"] += [POINT, {"text": "Be kind."}, POINT]
    assert finding(lint_records(tmp_path, records), "breakpoint-misplaced").severity is Severity.LOW


def pasted(count: int, counts: tuple[int, int, int], gap: float = 90, **given: Any) -> list[dict[str, Any]]:
    """Return single questions about long texts of their own, behind one text."""
    records = asks("anthropic", count, [(4, 3700, 0), counts], on_system=True, marked={0}, **given)
    for number, made in enumerate(records):
        words = " ".join(f"{WEATHER[(at * 7 + number) % 5]}{at * number}" for at in range(300))
        made["request"]["messages"][0]["content"][0]["text"] += words
        made["ts"] = START + gap * number
    return records


def test_a_question_is_written_for_nobody(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, pasted(14, (4, 700, 3000)))
    dead = next(one for one in linted.values.findings if one.rule == "breakpoint-misplaced")
    assert (dead.severity, dead.field) == (Severity.LOW, "/messages/0/content/0/cache_control")
    assert "writes 700 tokens at 1.25 times the price" in dead.message
    assert records_of(dead) == list(range(1, 10))


@pytest.mark.parametrize(
    "records",
    [
        pasted(14, (4, 60, 3000)),
        pasted(5, (4, 700, 3000)),
        pasted(14, (4, 700, 3000), gap=10),
        [*pasted(14, (4, 700, 3000)), *turns("anthropic", 2, [(4, 20, 3000)], marked="newest", on_system=True)],
        [*pasted(14, (4, 700, 3000)), *pasted(2, (4, 0, 3700))],
    ],
    ids=["little", "few", "may go on", "one goes on", "one is read"],
)
def test_questions_that_may_be_written_for_somebody(records: list[dict[str, Any]], tmp_path: Path) -> None:
    linted = lint_records(tmp_path, records)
    assert "breakpoint-misplaced" not in [one.rule for one in linted.values.findings]


ARN = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/desk"


def test_a_profile_that_hides_its_model(tmp_path: Path) -> None:
    records = asks("bedrock", 4, [(9000, 0, 0)], on_system=True, modelId=ARN, system=RULES * 3)
    lost = finding(lint_records(tmp_path, records), "breakpoint-lost-by-gateway")
    assert (lost.confidence, lost.severity) == (Confidence.POSSIBLE, Severity.MEDIUM)
    short = asks("bedrock", 4, [SILENT], on_system=True, modelId=ARN)
    assert found(lint_records(tmp_path, short)) == []


# breakpoint-over-limit, ttl-mix


@pytest.mark.parametrize("api", APIS)
def test_more_markers_than_are_allowed(api: str, tmp_path: Path) -> None:
    said = [f"Message {number}." for number in range(9)]
    body = request(api, said, {0, 2, 4, 6}, on_system=True)
    over = finding(lint_records(tmp_path, [record(api, body, None)]), "breakpoint-over-limit")
    assert (over.severity, over.confidence, records_of(over)) == (Severity.CRITICAL, Confidence.CERTAIN, [0])
    assert over.field is not None
    assert over.field.startswith("/messages/1/" if api == "chat" else "/messages/0/")
    assert found(lint_records(tmp_path, [record(api, request(api, said, {0, 2, 4}, on_system=True), None)])) == []


def test_an_automatic_marker_counts_unless_one_stands_there(tmp_path: Path) -> None:
    said = [f"Message {number}." for number in range(9)]
    automatic = {"type": "ephemeral"}
    four = request("anthropic", said, {0, 2, 4}, on_system=True, cache_control=automatic)
    assert found(lint_records(tmp_path, [record("anthropic", four, None)])) == ["breakpoint-over-limit"]
    on_last = request("anthropic", said, {2, 4, 8}, on_system=True, cache_control=automatic)
    assert found(lint_records(tmp_path, [record("anthropic", on_last, None)])) == []


def test_openai_may_carry_more_markers(tmp_path: Path) -> None:
    parts = [
        {"type": "input_text", "text": f"Part {number}.", "prompt_cache_breakpoint": {"mode": "explicit"}}
        for number in range(7)
    ]
    body = {"model": "gpt-5.6", "input": [{"role": "user", "content": parts}]}
    assert found(lint_records(tmp_path, [{"request": body}])) == []


def test_a_longer_lifetime_behind_a_shorter_one(tmp_path: Path) -> None:
    body = request("anthropic", ["Is quay 2 open?"], on_system=True)
    body["messages"][0]["content"] = [block("Is quay 2 open?", "1h")]
    mixed = finding(lint_records(tmp_path, [record("anthropic", body, None)]), "ttl-mix")
    assert mixed.field == "/messages/0/content/0/cache_control"
    assert "1 h stands behind one for 5 min" in mixed.message
    right = request("anthropic", ["Is quay 2 open?"], {0}, on_system="1h")
    assert found(lint_records(tmp_path, [record("anthropic", right, None)])) == []


# breakpoint-below-minimum


@pytest.mark.parametrize(("tokens", "confidence"), [(700, Confidence.CERTAIN), (1300, Confidence.LIKELY)])
def test_a_prefix_below_the_minimum(tokens: int, confidence: Confidence, tmp_path: Path) -> None:
    long = "When does it leave? " * 400 if tokens > 1024 else "When does it leave?"
    body = request("anthropic", [long], on_system=True, system=RULES[:2500])
    below = finding(lint_records(tmp_path, [record("anthropic", body, (tokens, 0, 0))]), "breakpoint-below-minimum")
    assert (below.field, below.confidence, below.severity) == ("/system/0/cache_control", confidence, Severity.MEDIUM)


def test_within_the_error_of_the_count_it_is_possible(tmp_path: Path) -> None:
    body = request("anthropic", ["When?"], on_system=True)
    below = finding(lint_records(tmp_path, [record("anthropic", body, (1100, 0, 0))]), "breakpoint-below-minimum")
    assert below.confidence is Confidence.POSSIBLE


def test_a_conversation_that_grows_over_the_minimum(tmp_path: Path) -> None:
    counts = [(700, 0, 0), (900, 0, 0), (4, 1200, 0), (4, 100, 1200)]
    records = turns("anthropic", 4, counts, system=RULES[:1500], marked="newest", on_system=True)
    assert found(lint_records(tmp_path, records)) == []


def test_single_questions_behind_too_little(tmp_path: Path) -> None:
    words = RULES[:3400]
    records = [
        {
            "request": {
                "model": "gpt-4o",
                "messages": [{"role": "system", "content": words}, {"role": "user", "content": f"Is quay {n} open?"}],
            },
            "response": {"usage": {"prompt_tokens": 800, "prompt_tokens_details": {"cached_tokens": 0}}},
        }
        for n in range(6)
    ]
    short = finding(lint_records(tmp_path, records), "breakpoint-below-minimum")
    assert (short.severity, short.field, len(short.occurrences)) == (Severity.LOW, "/messages/0", 5)
    assert found(lint_records(tmp_path, records[:4])) == []


# lookback-exceeded


def wide_turn(
    api: str, blocks: int, counts: list[tuple[int, int, int] | None], kind: str = "text"
) -> list[dict[str, Any]]:
    """Return two requests of which the later adds many blocks: texts, or parallel calls and their results."""
    first = request(api, ["Is quay 2 open?"], {0}, on_system=True)
    later = request(api, ["Is quay 2 open?", "Let me look."], on_system=True)
    marker: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
    if kind == "text":
        added = [block(f"Paste {number}.") for number in range(blocks)]
    else:
        calls = [{"type": "tool_use", "id": f"t{n}", "name": "look", "input": {"quay": n}} for n in range(blocks)]
        later["messages"][1]["content"] = calls
        added = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"Open {n}."} for n in range(blocks)]
    added[-1] |= marker
    later["messages"].append({"role": "user", "content": added})
    return [record(api, first, counts[0], at=0), record(api, later, counts[1], at=30)]


@pytest.mark.parametrize("api", ["anthropic", "chat"])
def test_more_blocks_than_a_marker_looks_back(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, wide_turn(api, 22, [(4, 2700, 0), (4, 400, 2600)]))
    far = finding(linted, "lookback-exceeded")
    assert found(linted) == ["lookback-exceeded"]
    assert (pairs_of(far), far.severity) == ([(0, 1)], Severity.MEDIUM)
    assert far.field == f"/messages/{3 if api == 'chat' else 2}/content/21/cache_control"
    assert far.tokens_lost is not None
    assert far.tokens_lost.value == 100


@pytest.mark.parametrize("kind", ["text", "calls"])
def test_an_entry_that_was_found_all_the_same(kind: str, tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, wide_turn("anthropic", 22, [(4, 2700, 0), (4, 400, 2700)], kind))) == []


def test_runs_of_calls_and_results_are_one_position_each(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, wide_turn("anthropic", 22, [None, None], "calls"))) == []
    far = finding(lint_records(tmp_path, wide_turn("anthropic", 22, [None, None])), "lookback-exceeded")
    assert far.confidence is Confidence.POSSIBLE
    told = lint_records(tmp_path, wide_turn("anthropic", 22, [(4, 2700, 0), (4, 400, 2600)], "calls"))
    assert found(told) == ["lookback-exceeded"]  # the usage knows better


def test_a_marker_half_way_is_in_reach(tmp_path: Path) -> None:
    records = wide_turn("anthropic", 22, [(4, 2700, 0), (4, 400, 2600)])
    records[1]["request"]["messages"][2]["content"][9]["cache_control"] = {"type": "ephemeral"}
    assert "lookback-exceeded" not in found(lint_records(tmp_path, records))


# implicit-breakpoint-only


def developer(
    count: int, counts: list[tuple[int, int]], marked: bool = False, api: str = "responses"
) -> list[dict[str, Any]]:
    found = []
    for number in range(count):
        read, written = counts[min(number, len(counts) - 1)]
        details = {"cached_tokens": read, "cache_write_tokens": written}
        marker = {"prompt_cache_breakpoint": {"mode": "explicit"}} if marked else {}
        kind = "input_text" if api == "responses" else "text"
        said = [
            {"role": "developer", "content": [{"type": kind, "text": RULES, **marker}]},
            {"role": "user", "content": f"Is quay {number} open?"},
        ]
        if api == "responses":
            reported = {"input_tokens": 3000, "input_tokens_details": details}
            found.append({"request": {"model": "gpt-5.6", "input": said}, "response": {"usage": reported}})
        else:
            reported = {"prompt_tokens": 3000, "prompt_tokens_details": details}
            found.append({"request": {"model": "gpt-5.6", "messages": said}, "response": {"usage": reported}})
    return found


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_single_questions_behind_an_unmarked_text(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, developer(4, [(0, 3000)], api=api))
    only = finding(linted, "implicit-breakpoint-only")
    assert found(linted) == ["implicit-breakpoint-only"]
    assert (only.level, only.field) == (Level.ERROR, "/input/0" if api == "responses" else "/messages/0")


def test_a_marked_text_and_a_prewarmed_one(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, developer(4, [(0, 3000), (2980, 20)], marked=True))) == []
    assert found(lint_records(tmp_path, developer(4, [(2980, 20)]))) == []


def test_earlier_models_cache_by_themselves(tmp_path: Path) -> None:
    records = developer(4, [(0, 0), (2944, 0)])
    for made in records:
        made["request"]["model"] = "gpt-5.2"
    assert found(lint_records(tmp_path, records)) == []


def test_a_conversation_that_grows_needs_no_breakpoint(tmp_path: Path) -> None:
    records = []
    for number in range(4):
        said = [
            {"role": ("user", "assistant")[at % 2], "content": f"Message {at}. " * 40} for at in range(2 * number + 1)
        ]
        body = {"model": "gpt-5.6", "instructions": RULES, "input": said}
        details = {"cached_tokens": 3000 * bool(number), "cache_write_tokens": 300 if number else 3000}
        reported = {"input_tokens": 3000 + 300 * number, "input_tokens_details": details}
        records.append({"request": body, "response": {"usage": reported}})
    assert found(lint_records(tmp_path, records)) == []
