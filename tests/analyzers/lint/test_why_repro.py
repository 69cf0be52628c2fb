"""`why --repro`: the smallest pair that still misses, and what is left of its words."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ferry_desk import clock, talk

from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.repro import structure
from prefixwise.analyzers.repro.deltas import Probes, smallest
from prefixwise.analyzers.repro.files import files_of
from prefixwise.analyzers.repro.pseudonyms import Pseudonyms
from prefixwise.analyzers.repro.redaction import Redactor
from prefixwise.analyzers.repro.reproduce import Repro, Source, reproduce, words_key
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.analyzers.why.examine import row_of
from prefixwise.caches.policy import parse_policy
from prefixwise.core.errors import UserError
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.tokenizers.openai import choose
from tests.support.linting import lint_text

KEY = words_key(7)
CASES = Path(__file__).parents[4] / "shared" / "cases"
OURS = Path(__file__).parents[3] / "fixtures" / "cases"


def source(path: Path, options: ReadOptions = ReadOptions()) -> Source:  # noqa: B008 - frozen
    corpus = read_corpus([str(path)], options, index=CorpusIndex(outlines=Outlines()))

    def again(*, wanted: Any = None) -> Any:
        return requests_again([str(path)], corpus.rows, options, wanted=wanted)

    return Source(lint_log(corpus, again, RULES.names()), again, choose, options)


def repro_of(path: Path, record: int, key: bytes = KEY) -> Repro:
    log = source(path)
    return reproduce(log, row_of(log.linted, str(path), record), [parse_policy("vllm"), parse_policy("sglang")], key)


def write(folder: Path, records: list[Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def redactor(kept: tuple[str, ...] = ()) -> Redactor:
    return Redactor(Pseudonyms(KEY, kept))


# -- other words for the same text ---------------------------------------------------------------------------------

WORDY = st.lists(
    st.sampled_from(
        ["the", "The", "of", "OF", "a", "I", "naïve", "größe", "привет", "漢字", "07", "7", "70", "100", "0"]
    )
    | st.text("abcxyzABC019äß -.,:\n_/", max_size=6),
    max_size=12,
).map(" ".join)


@given(one=WORDY, other=WORDY)
def test_equal_texts_stay_equal_and_unequal_ones_unequal(one: str, other: str) -> None:
    names = redactor()
    first, second, again = names.text(one), names.text(other), names.text(one)
    assert first == again
    assert (first == second) == (one == other)
    assert (len(first), len(second)) == (len(one), len(other))


@given(text=WORDY)
def test_shape_and_case_stay(text: str) -> None:
    def shape(text: str) -> list[str]:
        return ["0" if c.isdecimal() else ("A" if c.isupper() else "a") if c.isalpha() else c for c in text]

    assert shape(redactor().text(text)) == shape(text)


@given(head=WORDY, one=WORDY, other=WORDY)
def test_texts_part_where_they_parted(head: str, one: str, other: str) -> None:
    one, other = head + one, head + other
    at = common_prefix(one, other)
    names = redactor()
    names.part(one, other, at)
    first, second = names.text(one), names.text(other)
    assert first[:at] == second[:at]
    if one != other:
        assert common_prefix(first, second) == at


@given(texts=st.lists(st.text("abcdefgh ", max_size=30), max_size=20))
def test_no_two_words_get_one_name(texts: list[str]) -> None:
    names = redactor()
    words = {word: names.text(word) for text in texts for word in text.split()}
    assert len(set(words.values())) == len(words)


def test_another_key_gives_other_words_and_the_same_key_the_same() -> None:
    text = "Please bring the parts home without pencil marks."
    assert redactor().text(text) == redactor().text(text)
    assert Redactor(Pseudonyms(words_key(8))).text(text) != redactor().text(text)
    assert words_key() != words_key()


def test_kept_words_stay_and_nothing_else_is_called_so() -> None:
    names = redactor(("session", "42"))
    assert names.text("Session 42, SESSION 042") == "Session 42, SESSION 042"
    assert "session" not in names.text(" ".join(f"sessio{c}" for c in "abcdefghijklmopqrstuvwxyz"))


SECRETS = [
    "sk-ant-api03-AbCdEfGhIjKlMnOp1234",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "maria.keller@ferry-line.example",
    "+43 660 1234567",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_never_stay_whatever_is_kept(secret: str) -> None:
    kept = tuple(re.findall(r"[^\W\d_]+|\d+", secret))
    told = redactor(kept).text(f"My key is {secret} and so on")
    assert len(told) == len(f"My key is {secret} and so on")
    assert not any(run in told for run in kept if len(run) > 4)
    assert redactor().text(secret) != redactor().text(secret[:-1] + ("a" if secret[-1] != "a" else "b"))


def test_names_of_the_api_stay_and_a_tenants_names_agree_everywhere() -> None:
    schema = {"type": "object", "properties": {"type": {"type": ["string", "null"]}}, "required": ["type"]}
    tool = {"type": "function", "function": {"name": "get_fare", "parameters": schema, "strict": True}}
    call = {"id": "call_9f", "type": "function", "function": {"name": "get_fare", "arguments": '{"type": "child\\n"}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "The fare?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_9f", "content": '{"fare": 12.5, "adult": true}'},
    ]
    told = redactor().body({"model": "gpt-4o", "tools": [tool], "messages": messages, "tool_choice": "auto"})
    function = told["tools"][0]["function"]
    (name,) = function["parameters"]["properties"]
    assert (told["model"], told["tool_choice"], told["messages"][0]["role"]) == ("gpt-4o", "auto", "user")
    assert function["parameters"]["required"] == [name] != ["type"]
    assert function["parameters"]["properties"][name] == {"type": ["string", "null"]}
    called = told["messages"][1]["tool_calls"][0]
    assert called["function"]["name"] == function["name"] != "get_fare"
    assert list(json.loads(called["function"]["arguments"])) == [name]
    assert told["messages"][2]["tool_call_id"] == called["id"] != "call_9f"
    assert called["id"].startswith("call_")
    result = json.loads(told["messages"][2]["content"])
    assert list(result.values())[1] is True
    assert not {"fare", "adult", "child"} & set(re.findall(r"[a-z]+", json.dumps(told)))


def test_what_a_tenant_shapes_keeps_none_of_its_names() -> None:
    use = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "book",
        "input": {"type": "hotel", "status": "paid", "nights": 3},
    }
    told = redactor().body({"messages": [{"role": "assistant", "content": [use]}]})
    block = told["messages"][0]["content"][0]
    assert block["type"] == "tool_use"
    assert not {"type", "status"} & block["input"].keys()
    assert not {"hotel", "paid", 3} & set(block["input"].values())


def test_blobs_become_short_and_stay_apart() -> None:
    one, other = "A" * 4_000, "A" * 3_999 + "B"
    first, second = redactor().text(one), redactor().text(f"data:image/png;base64,{other}")
    assert len(first) < 60
    assert second.startswith("data:image/png;base64,")
    assert redactor().text(other) not in (first, one)


# -- delta debugging -----------------------------------------------------------------------------------------------


@given(size=st.integers(0, 60), seed=st.integers(0, 10**6))
def test_what_is_needed_is_found_and_nothing_else(size: int, seed: int) -> None:
    needed = set(random.Random(seed).sample(range(size), min(size, seed % 5)))
    found = smallest(range(size), lambda kept: needed <= set(kept), Probes(10**6))
    assert found == sorted(needed)


def test_a_search_without_tries_left_keeps_what_it_has() -> None:
    probes = Probes(3)
    found = smallest(range(100), lambda kept: 70 in kept, probes)
    assert 70 in found
    assert (probes.left, probes.used) == (0, 3)


# -- pairs ---------------------------------------------------------------------------------------------------------


def test_the_pair_is_small_wordless_and_still_shows_the_rule(tmp_path: Path) -> None:
    made = repro_of(write(tmp_path, talk(clock, (0, 0, 0))), 2)
    files = files_of(made)
    assert set(files) == {"before.json", "after.json", "log.jsonl", "README.md"}
    assert made.shows
    assert max(made.tokens) < 120 < min(made.were)
    log = files["log.jsonl"].decode()
    assert [f.rule for f in lint_text(tmp_path, log, "small.jsonl").values.findings] == ["clock-in-prefix"]
    assert [json.loads(line)["request"] for line in log.splitlines()] == [
        json.loads(files[name]) for name in ("before.json", "after.json")
    ]
    assert not set(re.findall(r"[a-z]{4,}", log.lower())) & {"ferry", "quay", "fare", "answer", "desk", "line"}
    page = files["README.md"].decode()
    for said in ("clock-in-prefix (PW101)", "vllm:block=16", "sglang:page=1", "before.json", "curl -sS"):
        assert said in page
    assert all(f"`{word}`" in page for word in made.kept)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    path = write(tmp_path, talk(clock, (0, 0, 0)))
    assert files_of(repro_of(path, 1)) == files_of(repro_of(path, 1))
    assert repro_of(path, 1, words_key(9)).lines != repro_of(path, 1).lines


def test_what_both_begin_with_they_still_do(tmp_path: Path) -> None:
    records = talk("Answer from the timetable.\n" * 3)
    records[1]["request"]["messages"][1]["content"] += " Please look it up in version10beta of it."
    records[0]["request"]["messages"][1]["content"] += " Please look it up in version10bits of it."
    made = repro_of(write(tmp_path, records), 1)
    before, after = ([m["content"] for m in json.loads(b)["messages"]] for b in made.bodies)
    assert made.field is not None
    at = int(made.field.split("/")[2])
    assert before[:at] == after[:at]
    assert common_prefix(before[at], after[at]) == made.char_offset


def test_calls_and_results_stay_together(tmp_path: Path) -> None:
    def step(number: int) -> list[Any]:
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": f"Row {number} of the timetable. " * 9},
        ]

    first = [{"role": "user", "content": "When is the last one?"}, *step(1), *step(2)]
    changed = json.loads(json.dumps(first))
    changed[2]["content"] = "[result left out]"
    requests = [{"model": "gpt-4o", "messages": messages} for messages in (first, [*changed, *step(3)])]
    made = repro_of(write(tmp_path, [{"request": request} for request in requests]), 1)
    for told in map(json.loads, made.bodies):
        calls = {call["id"] for m in told["messages"] for call in m.get("tool_calls") or ()}
        assert calls == {m["tool_call_id"] for m in told["messages"] if m["role"] == "tool"}


def test_a_request_without_a_finding_has_nothing_to_reproduce(tmp_path: Path) -> None:
    path = write(tmp_path, talk("Answer from the timetable."))
    with pytest.raises(UserError, match="nothing to reproduce"):
        repro_of(path, 1)


def test_a_body_that_stands_elsewhere_is_taken_out_whole(tmp_path: Path) -> None:
    records = [{"meta": {"customer": "Initech"}, "payload": {"body": record["request"]}} for record in talk(clock)]
    made = repro_of(write(tmp_path, records), 1)
    assert made.shows
    assert b"nitech" not in b"".join(made.lines)
    assert all(set(json.loads(line)) == {"request"} for line in made.lines)


def test_no_model_name_reaches_the_shell(tmp_path: Path) -> None:
    records = talk(clock)
    for record in records:
        text = record["request"].pop("messages")
        record["request"] = {
            "model": 'gemini-2.5"; touch x; "',
            "systemInstruction": {"parts": [{"text": text[0]["content"]}]},
            "contents": [{"role": "user", "parts": [{"text": m["content"]}]} for m in text[1:]],
        }
    page = files_of(repro_of(write(tmp_path, records), 1))["README.md"].decode()
    assert "models/MODEL:generateContent" in page
    assert "touch" not in page


def _cases() -> list[Any]:
    """Return every shared log, and those of ours with a kind that no log before them has."""
    found: list[Any] = []
    kinds: set[str] = set()
    for folder in (CASES, OURS):
        for file in sorted(folder.glob("*/expected.json")):
            answer = json.loads(file.read_text(encoding="utf-8"))
            expected = {finding["kind"] for finding in answer["findings"]}
            if answer["input"]["mode"] == "log" and (folder == CASES or not expected <= kinds):
                path = file.parent / answer["input"]["files"][0]
                found.append(pytest.param(path, id=f"{folder.parent.name}-{file.parent.name}"))
                kinds |= expected
    if not CASES.is_dir():
        found.append(pytest.param(CASES, marks=pytest.mark.skip(reason="the shared cases are not here"), id="shared"))
    return found


def _first_of_each_rule(linted: Linted) -> dict[str, int]:
    """Return a row for each rule that speaks first of some request."""
    from prefixwise.analyzers.why.about import findings_about

    found: dict[str, int] = {}
    for row in sorted({claim.after for claim in linted.claims}):
        found.setdefault(findings_about(linted, row)[0].rule, row)
    return found


_OF_WHOLE_LOGS = frozenset({"ttl-unearned"})
"""What no few requests show: that in hours nobody paused."""
_API_WORDS = frozenset({"string", "number", "integer", "boolean", "array", "https", "toolu", "success"})


def _written(value: Any) -> set[str]:
    """Return the long words of every text in a JSON value."""
    if isinstance(value, dict):
        return set().union(*map(_written, value.values()))
    if isinstance(value, list):
        return set().union(*map(_written, value))
    return set(re.findall("[a-z]{5,}", value.lower())) if isinstance(value, str) else set()


@pytest.mark.parametrize("path", _cases())
def test_every_finding_of_the_cases_can_be_reproduced_without_its_words(path: Path) -> None:
    log = source(path)
    names = structure.KEYS | structure.NAMED | structure.SETTINGS | _API_WORDS
    known = {word for name in names for word in re.findall("[a-z]{5,}", name.lower())}
    for rule, row in _first_of_each_rule(log.linted).items():
        if rule in _OF_WHOLE_LOGS:
            with pytest.raises(UserError, match="a few around it alone"):
                reproduce(log, row, [parse_policy("vllm")], KEY)
            continue
        made = reproduce(log, row, [parse_policy("vllm")], KEY)
        assert made.rule == rule
        if RULES.get(rule).code.startswith("PW9") and not made.shows:  # it speaks of what is masked in any case
            assert "**Not kept:**" in files_of(made)["README.md"].decode()
        else:
            assert made.shows
        model = re.findall("[a-z]{5,}", log.linted.log.model(row).lower())
        left = set().union(*(_written(json.loads(line)) for line in made.lines))
        request = next(request for number, request in log.again() if number == row)
        theirs = set().union(*(_written(json.loads(bytes(raw))) for s in request.sections for raw in s.raw_items()))
        assert (left & theirs) - known - {*model, *map(str.lower, made.kept)} == set()
