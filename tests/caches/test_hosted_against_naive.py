"""Every family of hosted caches on random requests, against caches that are loops over whole lists of tokens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive_hosted as naive
from support.exact_prompts import Piece, Said, Sent, rows_of

from prefixwise.caches.policy import Reason, Replay, parse_policy
from prefixwise.caches.relaxation import chain
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import sharing

BOOK = Rulebook()
RULES = [
    *("anthropic:minimum=0,model=claude-opus-5", "openai:model=gpt-5.6,minimum=0", "openai:model=gpt-4o,minimum=0"),
    *("deepseek:minimum=0", "xai", "gemini_explicit:minimum=0"),
]
KINDS = {"tools": ["tool"], "system": ["text"], "user": ["text", "result", "media"], "assistant": ["text", "call"]}
PARAMS = [(), (("tool_choice", b'"any"'),), (("speed", b'"fast"'),), (("tool_choice", b'{"type":"auto"}'),)]


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Said, ...]:
    """Return a conversation of few distinct blocks, so that many begin alike."""

    def said(speaker: str, most: int) -> Said:
        count = draw(st.integers(1, most))
        return Said(speaker, tuple(piece(draw(st.sampled_from(KINDS[speaker]))) for _ in range(count)))

    def piece(kind: str) -> Piece:
        ids = draw(st.sampled_from([(1,), (2,), (1, 2), (3, 4, 5), (1, 2, 3, 4)]))
        if kind == "media":
            ids = (9, 9)
        return Piece(ids, kind, draw(st.sampled_from([None, None, None, 300.0, 3600.0])))

    head = [said(name, 2) for name in ("tools", "system") if draw(st.booleans())]
    turns = [said(("user", "assistant")[n % 2], 4) for n in range(draw(st.integers(1, 4)))]
    return (*head, *turns)


@st.composite
def logs(draw: st.DrawFn) -> list[Sent]:
    """Return requests that continue or repeat each other, close together and far apart."""
    sent: list[Sent] = []
    for _ in range(draw(st.integers(1, 8))):
        items = draw(prompts())
        answer = draw(st.sampled_from([(), (1,), (2, 3)]))
        if sent and draw(st.booleans()):
            earlier = draw(st.sampled_from(sent))
            said = (Said("assistant", (Piece(earlier.answer),)),) if earlier.answer else ()
            items = (*earlier.items, *said, *(item for item in items if item.speaker not in ("tools", "system")))
        start = draw(st.sampled_from([0.0, 1.0, 100.0, 300.0, 400.0, 1800.0, 3600.0, 9000.0]))
        lasts = draw(st.sampled_from([None, 0.0, 1.0, 150.0]))
        sent.append(
            Sent(
                items,
                start,
                None if lasts is None else start + lasts,
                None if not lasts else draw(st.sampled_from([None, lasts / 2])),
                draw(st.sampled_from(["m", "n"])),
                draw(st.sampled_from([None, None, "k"])),
                draw(st.sampled_from(PARAMS)),
                answer=answer,
            )
        )
    return sent


def replay(rule: str, sent: list[Sent]) -> Replay:
    return parse_policy(rule, BOOK).replay(rows_of(sent))


def claude_key(request: Sent, speaker: str) -> object:
    """Return what names an entry beside its tokens: tool choice and pictures lose messages, speed all but tools."""
    params = dict(request.params)
    choice, speed = params.get("tool_choice"), params.get("speed")
    choice = None if choice == b'{"type":"auto"}' else choice
    pictures = any(piece.kind == "media" for item in request.items for piece in item.pieces)
    by_level = {"tools": (), "system": (speed,)}
    return request.model, *by_level.get(speaker, (speed, choice, pictures))


@settings(max_examples=300, deadline=None)
@given(sent=logs(), minimum=st.sampled_from([0, 3, 6]), lookback=st.sampled_from([1, 2, 20]))
def test_look_back_reads_and_writes_what_markers_say(sent: list[Sent], minimum: int, lookback: int) -> None:
    found = replay(f"anthropic:model=claude-opus-5,minimum={minimum},markers=logged,lookback={lookback}", sent)
    assert found.written is not None
    assert found.written_long is not None
    shown = list(zip(found.matched, found.written, found.written_long, strict=True))
    assert shown == naive.look_back(sent, claude_key, minimum, ("call", "result"), lookback)


@settings(max_examples=200, deadline=None)
@given(sent=logs(), minimum=st.sampled_from([0, 3, 6]))
def test_boundary_lookup_reads_what_earlier_breakpoints_wrote(sent: list[Sent], minimum: int) -> None:
    found = replay(f"openai:model=gpt-5.6,minimum={minimum}", sent)
    assert found.written is not None
    assert list(zip(found.matched, found.written, strict=True)) == naive.boundary(sent, minimum, 1800.0)


@settings(max_examples=100, deadline=None)
@given(sent=logs(), interval=st.sampled_from([2, 5]), hidden=st.sampled_from([0, 3]), minimum=st.sampled_from([0, 4]))
def test_fixed_intervals_report_the_last_breakpoint_alive(
    sent: list[Sent], interval: int, hidden: int, minimum: int
) -> None:
    rule = f"openai:model=gpt-4o,interval={interval},hidden={hidden},minimum={minimum},granularity=2"
    expected = naive.fixed_interval(sent, 300.0, 3600.0, interval, hidden, 2, minimum)
    assert list(replay(rule, sent).matched) == expected


@settings(max_examples=100, deadline=None)
@given(sent=logs(), unit=st.sampled_from([1, 3]), minimum=st.sampled_from([0, 4]))
def test_whole_prefixes_are_the_longest_alive(sent: list[Sent], unit: int, minimum: int) -> None:
    found = replay(f"xai:ttl=300,granularity={unit},minimum={minimum}", sent)
    assert list(found.matched) == naive.whole_prefix(sent, 300.0, unit, minimum)


@settings(max_examples=150, deadline=None)
@given(sent=logs(), unit=st.sampled_from([1, 2]), minimum=st.sampled_from([0, 3]))
def test_prefix_units_count_only_whole(sent: list[Sent], unit: int, minimum: int) -> None:
    found = replay(f"deepseek:ttl=300,granularity={unit},minimum={minimum},readable=2", sent)
    assert list(found.matched) == naive.prefix_units(sent, 300.0, unit, minimum, 2.0)


@settings(max_examples=100, deadline=None)
@given(sent=logs(), rule=st.sampled_from(RULES))
def test_letting_off_one_thing_after_the_other_ends_at_what_anybody_shared(sent: list[Sent], rule: str) -> None:
    rows = rows_of(sent)
    policy = parse_policy(rule, BOOK)
    ran = policy.replay(rows)
    assert all(0 <= hit <= n for hit, n in zip(ran.matched, rows.prompt_tokens, strict=True))
    assert all(Reason(reason) for reason in ran.reason if reason)
    last = None
    for _, off in chain():
        last = policy.relaxed(off).replay(rows).matched
    assert last == sharing(rows).shared
    least, most = policy.ends() or (policy, policy)
    assert sum(least.replay(rows).matched) <= sum(ran.matched) <= sum(most.replay(rows).matched)
