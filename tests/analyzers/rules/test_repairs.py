"""What a rule's repair makes of requests: nothing of its kind is left, nothing else comes, and more is shared."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.linting import found, lint_files, lint_records
from support.mended import Mended, claims_by_application, mended, requests_of, shared_tokens

from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.rule import RULES, Rule
from prefixwise.core.finding import Mode
from prefixwise.core.request import Request

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "fixtures" / "cases", ROOT.parent / "shared" / "cases")
BAD = re.compile(r"^```jsonl bad\n(.*?)^```", re.MULTILINE | re.DOTALL)

NOT_MENDED = """
    aux-request-different-prefix block-remainder breakpoint-below-minimum breakpoint-lost-by-gateway
    breakpoint-misplaced compaction double-bos header-changed history-window-slides implicit-breakpoint-only
    locale-dependent-format lookback-exceeded personal-data-in-shared-prefix placeholder-unrendered
    retokenisation-drift route-changed secret-in-shared-prefix server-side stampede template-history-dependent
    ttl-expired ttl-mix ttl-unearned ttl-unsupported usage-convention-mixed usage-double-counted usage-missing
""".split()  # noqa: SIM905 - one a line would be a page

# Their fix changes what the cache goes by beside the text: the texts share what they did.
SAME_TEXTS = frozenset(
    {
        *("adapter-changed", "effort-or-thinking-changed", "tool-choice-changed", "cache-key-unstable"),
        *("cache-salt-unstable", "content-shape-flip", "breakpoint-missing", "breakpoint-over-limit"),
    }
)
# What a break hides: a pause shows only where the texts agree.
HIDDEN = {"ttl-expired"}
# Messages that are gone stand in no other request, and examples that are messages are no text.
NOT_KNOWN = {
    ("examples-sampled-as-messages-vllm", "fewshot-unstable"),
    ("reasoning-items-left-out-responses", "reasoning-stripped"),
    ("reminder-before-question-vllm", "ephemeral-injection-moved"),
}


@dataclass(frozen=True)
class Case:
    """A log in which kinds are to be found."""

    name: str
    paths: tuple[str, ...]
    kinds: tuple[str, ...]


def labelled() -> Iterator[Case]:
    for folder in FOLDERS:
        for answer in sorted(folder.glob("*/expected.json")):
            said: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
            kinds = {kind for finding in said["findings"] if RULES.get(kind := finding["kind"]).mends}
            if said["input"]["mode"] == "log" and kinds:
                paths = tuple(str(answer.parent / name) for name in said["input"]["files"])
                yield Case(answer.parent.name, paths, tuple(sorted(kinds)))


def check(folder: Path, case: Case, linted: Linted, kind: str) -> Mended | None:
    """Mend a log for one kind; None where the rule says that it cannot."""
    claims = claims_by_application(linted, kind)
    result = mended(folder, linted, kind, case.paths)
    if result is None:
        return None
    assert not [claim for claim in result.after.claims if claim.rule == kind]
    known = {name for claim in linted.claims for name in claim.also} | set(found(linted)) | HIDDEN
    assert set(found(result.after)) <= set(found(result.before)) | known
    lost = sum(claim.lost or 0 for claim in result.before.claims if claim.rule == kind)
    before, after = shared_tokens(result.before), shared_tokens(result.after)
    assert after >= before
    if lost and kind not in SAME_TEXTS and not _of_answers_only(result):
        assert after > before
    rule = RULES.get(kind)
    for (row, original), new in zip(requests_of(case.paths, linted.log), result.requests, strict=True):
        ours = claims.get(linted.log.applications[row])
        if ours:
            assert rule.repair(new, ours) is new  # to repair it again changes nothing
            assert new == original or new is not original
    return result


def _of_answers_only(result: Mended) -> bool:
    """Say whether only the answers differ from what comes again: then the prompts share what they did."""
    return all(link is None or not link.turn for link in result.before.log.conversations.links) or all(
        pair.verdict != "breaks" for pair in result.before.pairs
    )


@pytest.mark.parametrize("case", list(labelled()), ids=lambda case: case.name)
def test_a_labelled_case_is_mended(tmp_path: Path, case: Case) -> None:
    linted = lint_files(case.paths)
    for kind in case.kinds:
        if any(claim.rule == kind for claim in linted.claims):
            result = check(tmp_path, case, linted, kind)
            assert (result is None) == ((case.name, kind) in NOT_KNOWN)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.mends], ids=lambda rule: rule.name)
def test_the_bad_example_of_a_page_is_mended(tmp_path: Path, rule: Rule) -> None:
    for number, text in enumerate(BAD.findall(rule.page)):
        path = tmp_path / f"page{number}.jsonl"
        path.write_text(text, encoding="utf-8")
        linted = lint_files([str(path)])
        assert any(claim.rule == rule.name for claim in linted.claims)
        assert check(tmp_path, Case("page", (str(path),), (rule.name,)), linted, rule.name) is not None


def test_these_rules_do_not_mend() -> None:
    in_logs = [rule for rule in RULES if Mode.LOG in rule.modes]
    assert sorted(rule.name for rule in in_logs if not rule.mends) == sorted(NOT_MENDED)


def test_a_request_without_the_place_is_the_same_object(tmp_path: Path) -> None:
    # For these, that something is absent is a place too.
    anywhere = {"content-shape-flip", "breakpoint-missing", "effort-or-thinking-changed", "tool-choice-changed"}
    other = [{"model": "another", "messages": [{"role": "user", "content": "Is it open?"}]}]
    bare = lint_records(tmp_path, other, "other.jsonl")
    request = requests_of([str(tmp_path / "other.jsonl")], bare.log)[0][1]
    for case in labelled():
        linted = lint_files(case.paths)
        for kind in case.kinds:
            for claims in claims_by_application(linted, kind).values():
                new = RULES.get(kind).repair(request, claims)
                assert kind in anywhere or new is None or new is request, kind


SYSTEM = "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. "


def clocked() -> list[dict[str, Any]]:
    """A conversation whose system text holds a clock, which stands still once."""
    messages: list[dict[str, str]] = []
    log = []
    for turn, minute in enumerate((14, 15, 15, 16, 18)):
        messages = [*messages, {"role": "user", "content": f"Question {turn}: when does the next ferry leave?"}]
        head = {"role": "system", "content": f"{SYSTEM}Now it is 2026-03-11 09:{minute}. Be brief and friendly."}
        log.append({"model": "gpt-4o", "messages": [head, *messages]})
        messages = [*messages, {"role": "assistant", "content": f"Answer {turn}: at half past."}]
    return log


def mended_clock(tmp_path: Path) -> list[Request]:
    linted = lint_records(tmp_path, clocked())
    result = mended(tmp_path, linted, "clock-in-prefix", [str(tmp_path / "log.jsonl")])
    assert result is not None
    return result.requests


def said_in(request: Request) -> list[str]:
    return [json.loads(bytes(raw))["content"] for raw in request.sections[-1].raw_items()]


def test_a_moved_value_is_said_when_it_changes_and_stays(tmp_path: Path) -> None:
    requests = mended_clock(tmp_path)
    texts = [said_in(request) for request in requests]
    assert {text[0] for text in texts} == {f"{SYSTEM}Now it is 2026-03-11 . Be brief and friendly."}
    last = [said for said in texts[-1][1:] if said.startswith("Question")]
    assert [said.partition("\n\n")[2] for said in last] == [
        "<now>Now it is 2026-03-11 09:14</now>",
        "<now>Now it is 2026-03-11 09:15</now>",
        "",
        "<now>Now it is 2026-03-11 09:16</now>",
        "<now>Now it is 2026-03-11 09:18</now>",
    ]
    for one, other in itertools.pairwise(texts):
        assert other[: len(one)] == one


def test_only_the_place_changes(tmp_path: Path) -> None:
    for request, record in zip(mended_clock(tmp_path), clocked(), strict=True):
        kept = [bytes(raw) for raw in request.sections[-1].raw_items() if b"Answer" in bytes(raw)]
        wanted = [json.dumps(message).encode() for message in record["messages"] if message["role"] == "assistant"]
        assert kept == wanted
