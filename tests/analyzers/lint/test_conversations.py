"""Which request continues which: by hand, and against conversations whose course is known, with and without ids."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prefixwise.analyzers.lint.compared import compare
from prefixwise.analyzers.lint.conversations import conversations
from prefixwise.analyzers.lint.log import Log
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.finding import Verdict
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines

Message = dict[str, Any]
SYSTEM = {"role": "system", "content": "You answer questions on the ferry timetable. Name the quay in every answer."}
OTHER = {
    "role": "system",
    "content": "You write the shift plan of a bakery. Nobody works more than five days in a row.",
}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def call(number: str, name: str = "departures", arguments: str = '{"day": 1}') -> Message:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": number, "type": "function", "function": function}],
    }


def result(number: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": number, "content": text}


def request(*messages: Message, system: Message = SYSTEM, **record: Any) -> dict[str, Any]:
    return {**record, "request": {"model": "gpt-4o", "messages": [system, *messages]}}


def log_of(folder: Path, records: Iterable[dict[str, Any]]) -> Log:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    outlines = Outlines()
    corpus = read_corpus([str(path)], index=CorpusIndex(outlines=outlines))
    return Log(corpus, outlines, conversations(corpus.rows, outlines), Rulebook())


def turns(log: Log) -> list[tuple[int, int]]:
    """Return (earlier, later) of the requests that continue one another, by later record."""
    return sorted(log.turns(), key=lambda pair: pair[1])


Q1, Q2, Q3 = user("When does the first ferry leave on Sunday?"), user("Does that one take bicycles?"), user("And dogs?")
A1, A2, A3 = said("At 07:10 from quay 1."), said("Twelve of them, at the bow."), said("On a lead.")

BY_HAND = {
    "one after the other": ([(Q1,), (Q1, A1, Q2), (Q1, A1, Q2, A2, Q3)], [(0, 1), (1, 2)]),
    "a retry repeats the last": ([(Q1,), (Q1, A1, Q2), (Q1, A1, Q2)], [(0, 1), (1, 2)]),
    "back to the start: compared with who used the entry last": (
        [(Q1,), (Q1, A1, Q2), (Q1, A1, Q2, A2, Q3), (Q1,)],
        [(0, 1), (1, 2), (2, 3)],
    ),
    "an edited question forks at its parent": ([(Q1,), (Q1, A1, Q2), (Q1, A1, Q3)], [(0, 1), (0, 2)]),
    "an answer written anew forks at its parent": ([(Q1,), (Q1, A1, Q2), (Q1, A3, Q3)], [(0, 1), (0, 2)]),
    "both branches go on": (
        [(Q1,), (Q1, A1, Q2), (Q1, A1, Q3), (Q1, A1, Q2, A2, Q3), (Q1, A1, Q3, A3, Q2)],
        [(0, 1), (0, 2), (1, 3), (2, 4)],
    ),
    "a window slides": ([(Q1, A1, Q2), (Q2, A2, Q1), (Q1, A3, Q3)], [(0, 1), (1, 2)]),
    "thoughts of the last turn vanish": (
        [
            (Q1,),
            (Q1, {**call("c1"), "reasoning_content": "The table has it."}, result("c1", "07:10, 08:40")),
            (Q1, call("c1"), result("c1", "07:10, 08:40"), A1, Q2),
        ],
        [(0, 1), (1, 2)],
    ),
    "ids of calls are new each time": (
        [
            (Q1,),
            (Q1, call("call_a1a1a1"), result("call_a1a1a1", "07:10, 08:40, 10:10")),
            (
                Q1,
                call("call_b2b2b2"),
                result("call_b2b2b2", "07:10, 08:40, 10:10"),
                call("call_c3c3c3", "bicycles"),
                result("call_c3c3c3", "twelve"),
            ),
        ],
        [(0, 1), (1, 2)],
    ),
    "a result is cut": (
        [
            (Q1, call("call_a1a1a1"), result("call_a1a1a1", "07:10 quay 1, 08:40 quay 2")),
            (Q1, call("call_a1a1a1"), result("call_a1a1a1", "[cut]"), A1, Q2),
        ],
        [(0, 1)],
    ),
    "two calls at once": (
        [
            (Q1,),
            (Q1, {**call("c1"), "tool_calls": [call("c1")["tool_calls"][0], call("c2", "bicycles")["tool_calls"][0]]},
             result("c1", "07:10"), result("c2", "twelve")),
        ],
        [(0, 1)],
    ),
    "the question was wrapped": (
        [(user("<passages>Clause 4.1</passages>\n<question>Yes.</question>"),), (user("Yes."), A1, Q2)],
        [],  # one short word is no proof
    ),
    "a question was wrapped behind a history": (
        [(Q1, A1, user("<passages>Clause 4.1</passages>\n<question>Yes.</question>")), (Q1, A1, user("Yes."), A2, Q3)],
        [(0, 1)],
    ),
    "another Unicode form": (
        [(user("När går första färjan från Kårevik på måndag?"),),
         (user("När går första färjan från Kårevik på måndag?"), A1, Q2)],
        [(0, 1)],
    ),
    "ages are rendered anew": (
        [
            (user("[just now] " + Q1["content"]),),
            (user("[2 minutes ago] " + Q1["content"]), A1, user("[just now] Yes?")),
            (user("[9 minutes ago] " + Q1["content"]), A1, user("[7 minutes ago] Yes?"), A2, user("[just now] No?")),
        ],
        [(0, 1), (1, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str, tmp_path: Path) -> None:
    requests, expected = BY_HAND[name]
    assert turns(log_of(tmp_path, [request(*messages) for messages in requests])) == expected


@pytest.mark.parametrize("name", [name for name in BY_HAND if "wrapped" not in name])
def test_session_ids_change_nothing(name: str, tmp_path: Path) -> None:
    requests, expected = BY_HAND[name]
    assert turns(log_of(tmp_path, [request(*messages, session="s1") for messages in requests])) == expected


def test_the_same_question_in_another_session_is_another_conversation(tmp_path: Path) -> None:
    records = [request(Q1, session="s1"), request(Q1, session="s2"), request(Q1, A1, Q2, session="s1")]
    assert turns(log_of(tmp_path, records)) == [(0, 2)]


def test_a_copied_history_goes_on_under_another_session_id(tmp_path: Path) -> None:
    records = [request(Q1, A1, Q2, session="s1"), request(Q1, A1, Q2, A2, Q3, session="s2")]
    assert turns(log_of(tmp_path, records)) == [(0, 1)]


def test_the_same_question_under_another_prompt_is_another_conversation(tmp_path: Path) -> None:
    assert turns(log_of(tmp_path, [request(Q1), request(Q1, system=OTHER)])) == []


def test_the_system_prompt_may_be_replaced_inside_a_conversation(tmp_path: Path) -> None:
    assert turns(log_of(tmp_path, [request(Q1, A1, Q2), request(Q1, A1, Q2, A2, Q3, system=OTHER)])) == [(0, 1)]


def test_sub_agents_of_one_session_have_conversations_of_their_own(tmp_path: Path) -> None:
    task = user("Look up how many people the bakery has on Monday.")
    records = [
        request(Q1, session="s1"),
        request(task, system=OTHER, session="s1"),
        request(task, call("c9"), result("c9", "six on Monday"), system=OTHER, session="s1"),
        request(Q1, call("c1"), result("c1", "six"), session="s1"),
    ]
    assert turns(log_of(tmp_path, records)) == [(1, 2), (0, 3)]


def test_examples_in_front_do_not_join_conversations(tmp_path: Path) -> None:
    shots = (user("One way or return?"), said("Return."), user("With a car?"), said("Without."))
    records = [request(*shots, user(f"How much is a ticket to island number {number}?")) for number in range(5)]
    assert turns(log_of(tmp_path, records)) == []


def test_common_last_words_do_not_join_conversations(tmp_path: Path) -> None:
    go_on = user("Please go on with the next step of the plan.")
    histories = [
        (user(f"Plan number {n} for the ferry to island {n}."), said(f"Step one of plan {n}.")) for n in range(4)
    ]
    first = [request(*history, go_on) for history in histories]
    second = [request(*history, go_on, said(f"Step two of plan {n}."), go_on) for n, history in enumerate(histories)]
    log = log_of(tmp_path, [*first, *reversed(second)])
    assert turns(log) == [(3, 4), (2, 5), (1, 6), (0, 7)]


def test_an_answer_that_was_logged_tells(tmp_path: Path) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "At 07:10 from quay 1, as on every Sunday."}}]}
    records = [
        request(user("first one sunday pls"), response=answer),
        request(user("When is the first?"), said("At 07:10 from quay 1, as on every Sunday."), Q2),
    ]
    assert turns(log_of(tmp_path, records)) == [(0, 1)]


def test_a_summary_continues_what_it_sums_up(tmp_path: Path) -> None:
    summary = user("Summary of the conversation so far: first ferry 07:10, bicycles twelve.")
    records = [request(Q1, A1, Q2, A2, Q3, session="s1"), request(summary, user("And cats?"), session="s1")]
    assert turns(log_of(tmp_path, records)) == [(0, 1)]


def test_a_log_by_end_is_read_by_start(tmp_path: Path) -> None:
    def at(second: int) -> dict[str, Any]:
        return {"ts": f"2026-03-02T08:00:{second:02}Z", "latency_ms": 500}

    records = [request(Q1, A1, Q2, A2, Q3, **at(40)), request(Q1, **at(0)), request(Q1, A1, Q2, **at(20))]
    assert turns(log_of(tmp_path, records)) == [(2, 0), (1, 2)]


def test_what_is_still_running_cannot_be_continued(tmp_path: Path) -> None:
    records = [
        request(Q1, ts="2026-03-02T08:00:00Z", latency_ms=900),
        request(Q1, A1, Q2, ts="2026-03-02T08:00:10Z", latency_ms=30_000),
        request(Q1, A1, Q2, ts="2026-03-02T08:00:12Z", latency_ms=900),
    ]
    assert turns(log_of(tmp_path, records)) == [(0, 1), (0, 2)]


def test_a_clock_that_runs_ahead_does_not_hide_an_answer(tmp_path: Path) -> None:
    records = [
        request(Q1, A1, Q2, ts="2026-03-02T08:00:00Z", latency_ms=60_000),  # its gateway's end is late
        request(Q1, A1, Q2, A2, Q3, ts="2026-03-02T08:00:20Z", latency_ms=900),
    ]
    assert turns(log_of(tmp_path, records)) == [(0, 1)]


CHATML = "<|im_start|>system\nAnswer from the timetable.<|im_end|>\n"


def chatml(*turns: tuple[str, str]) -> str:
    said = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns)
    return f"{CHATML}{said}<|im_start|>assistant\n"


def test_turns_inside_rendered_prompts_are_seen(tmp_path: Path) -> None:
    thinks = ("assistant", "<think>\nI look it up.\n</think>\n\nOne moment.")
    tool = ("user", "<tool_response>07:10, 08:40, 10:10</tool_response>")
    prompts = [
        chatml(("user", Q1["content"])),
        chatml(("user", "Which quay is the one for the islands in the north?")),
        chatml(("user", Q1["content"]), thinks, tool),
        chatml(("user", Q1["content"]), ("assistant", "One moment."), tool, ("assistant", "07:10."), ("user", "Dogs?")),
    ]
    log = log_of(tmp_path, [{"model": "qwen3-8b", "prompt": prompt} for prompt in prompts])
    assert turns(log) == [(0, 2), (2, 3)]
    links = log.conversations.links
    verdicts = [compare(log, links[row].before, row, turn=True).verdict for row in (2, 3)]  # type: ignore[union-attr]
    assert verdicts == [Verdict.EXTENDS, Verdict.BREAKS]


def test_prompts_of_ids_continue_by_their_ids(tmp_path: Path) -> None:
    first, second = list(range(100, 140)), list(range(300, 340))
    prompts = [first, second, [*first, 7, 8, 9], [*second, 7, 8], [*first, 7, 8, 9, 5]]
    log = log_of(tmp_path, [{"model": "qwen3-8b", "prompt_token_ids": prompt} for prompt in prompts])
    assert turns(log) == [(0, 2), (1, 3), (2, 4)]


# Conversations whose course is known. Each history is what the client keeps; `send` is what it makes of it.

WORDS = ("amber", "anchor", "basin", "beacon", "copper", "cradle", "ember", "fathom", "girder", "hamlet", "ladder")


class Client:
    """A client that talks in several conversations at once, and sends its histories in its own way."""

    def __init__(self, seed: int, send: Callable[[Sequence[Message], random.Random], list[Message]]) -> None:
        self.random = random.Random(seed)
        self.send = send
        self.records: list[dict[str, Any]] = []
        self.truth: list[tuple[int, int]] = []

    def run(self, count: int, steps: int) -> None:
        """Let `count` conversations take turns in any order."""
        histories: list[tuple[list[Message], int | None]] = [([self._question()], None) for _ in range(count)]
        for _ in range(steps):
            at = self.random.randrange(count)
            history, before = histories[at]
            number = self._record(history, before)
            answered = [*history, self._answer()]
            if answered[-1].get("tool_calls"):
                answered.append(result(answered[-1]["tool_calls"][0]["id"], self._text(9)))
            else:
                answered.append(self._question())
            histories[at] = answered, number

    def _record(self, history: list[Message], before: int | None) -> int:
        number = len(self.records)
        self.records.append(request(*self.send(history, self.random)))
        if before is not None:
            self.truth.append((before, number))
        return number

    def _text(self, words: int) -> str:
        return f"{' '.join(self.random.choice(WORDS) for _ in range(words))} {self.random.randrange(10**6)}."

    def _question(self) -> Message:
        return user(f"{self._text(5)} {self._text(4)}")

    def _answer(self) -> Message:
        if self.random.random() < 0.4:
            return call(f"call_{self.random.randrange(16**8):08x}", "look_up", json.dumps({"key": self._text(2)}))
        return said(self._text(12))


def as_kept(history: Sequence[Message], _: random.Random) -> list[Message]:
    return list(history)


def with_window(history: Sequence[Message], _: random.Random) -> list[Message]:
    return list(history[-7:])


def with_reminder(history: Sequence[Message], _: random.Random) -> list[Message]:
    return [*history[:-1], {**history[-1], "content": f"<reminder>Be brief.</reminder>\n{history[-1]['content']}"}]


def with_ages(history: Sequence[Message], chance: random.Random) -> list[Message]:
    del chance
    ages = range(len(history), 0, -1)
    return [
        {**message, "content": f"[{age} minutes ago] {message['content']}"} if message["role"] == "user" else message
        for message, age in zip(history, ages, strict=True)
    ]


def with_new_ids(history: Sequence[Message], chance: random.Random) -> list[Message]:
    text = json.dumps(list(history))
    names = {part for message in history for part in [message.get("tool_call_id")] if part}
    names |= {message["tool_calls"][0]["id"] for message in history if message.get("tool_calls")}
    for name in sorted(names):
        text = text.replace(name, f"call_{chance.randrange(16**8):08x}")
    found: list[Message] = json.loads(text)
    return found


def with_cut_results(history: Sequence[Message], _: random.Random) -> list[Message]:
    return [
        {**message, "content": "[cut]"} if message["role"] == "tool" and at < len(history) - 3 else message
        for at, message in enumerate(history)
    ]


def in_a_template(history: Sequence[Message], _: random.Random) -> list[Message]:
    newest = history[-1]
    if newest["role"] != "user":
        return list(history)
    return [*history[:-1], user(f"Use the table.\n<question>{newest['content']}</question>\nOne sentence.")]


WAYS = (as_kept, with_window, with_reminder, with_ages, with_new_ids, with_cut_results, in_a_template)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("send", WAYS, ids=lambda send: send.__name__)
def test_interleaved_conversations_come_apart(send: Any, seed: int, tmp_path: Path) -> None:
    client = Client(seed, send)
    client.run(count=6, steps=90)
    assert turns(log_of(tmp_path, client.records)) == sorted(client.truth, key=lambda pair: pair[1])


@pytest.mark.parametrize("seed", range(3))
def test_against_every_earlier_request(seed: int, tmp_path: Path) -> None:
    """Where histories are only ever added to, forked and gone back in, the best earlier request is known by force."""
    chance = random.Random(seed)
    known: list[list[Message]] = []
    records = []
    for number in range(120):
        history = list(chance.choice(known)) if known and chance.random() < 0.9 else []
        if history and chance.random() < 0.2:
            history = history[: chance.randrange(1, len(history) + 1, 2)]
        elif history:
            history += [
                said(f"Answer {number} to that, and no other."),
                user(f"Question {number} about quay {number}."),
            ]
        else:
            history = [user(f"Opening question {number} about island {number}.")]
        known.append(history)
        records.append(request(*history))
    log = log_of(tmp_path, records)
    for row, link in enumerate(log.conversations.links):
        mine = known[row]
        best = max((_common(known[other], mine) for other in range(row) if _begins(known[other], mine)), default=0)
        if best == 0:
            assert link is None or not link.turn
            continue
        assert link is not None
        assert link.turn
        theirs = known[link.before]
        assert _common(theirs, mine) == best, (row, link)
        assert theirs[: len(mine)] == mine or mine[: len(theirs)] == theirs


def _common(one: list[Message], other: list[Message]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _begins(earlier: list[Message], later: list[Message]) -> bool:
    return later[: len(earlier)] == earlier or earlier[: len(later)] == later
