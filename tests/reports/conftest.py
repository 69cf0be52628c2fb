"""Three reports that every format must render: empty, one of each block, hostile."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from prefixwise.core.finding import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Lost,
    Mode,
    Occurrence,
    Pair,
    Per,
    Safety,
    Severity,
    Span,
    Step,
    Where,
)
from prefixwise.core.report import (
    Block,
    Column,
    Findings,
    Histogram,
    InputFile,
    Matrix,
    Page,
    Report,
    Requirement,
    Series,
    Table,
    Text,
    Tree,
    Unit,
    Waterfall,
)
from prefixwise.core.request import Ref

HOSTILE = (
    "\x1b[31m\x1b]0;title\x07\x9b2J \x00 a\nb\r\tc \u202edesrever\u2066 zero\u200bwidth \ufeff\u2028 \ud800 \U000e0041"
    " [bold]x[/bold] :smile: @octocat www.evil.com https://evil.com #123 GH-1 `code` *em* _em_ ~~no~~ $a$ $b$"
    " | pipe \\| <script>alert(1)</script> &amp; ![img](http://e.vil/x.png) ##[error]x ##vso[task.x]"
    " ]]> --> </style> </details> %0A::error::x a%20b/c d#e?f"
)
STARTS = (
    "::error::x",
    "  ::error::x",
    "=1+1",
    "+1",
    "-1+2",
    "@SUM(1)",
    "\t=1",
    "# head",
    "- item",
    "1. one",
    "> quote",
)
PAGE = """A clock stands in the system prompt.

The prompt changes each time the clock does, **and nothing behind it is cached**. A date that stays, such as
`2026-03-02` in an example, is none.

```jsonl bad
{"messages": [{"role": "system", "content": "It is 09:14:07. You answer questions about ferries, briefly."}]}
{"messages": [{"role": "system", "content": "It is 09:14:52. You answer questions about ferries, briefly."}]}
```

## What helps

- Put the time into the newest message,
  where nothing follows it.
- Leave it away.

```python
def now():
    return "a very long line " * 12
```
Nothing else."""


def findings() -> tuple[Finding, ...]:
    """One of each level: with everything in it and many places, in a source file, and with next to nothing."""
    refs = [Ref("logs/a.jsonl", number, number + 1) for number in range(13)]
    pairs = [Pair(before, after) for before, after in itertools.pairwise(refs)]
    pairs[1] = Pair(Ref("logs/older.jsonl", 7), refs[2])
    deep = "prompts/" + "deep/" * 20 + "x.jinja"
    return (
        Finding(
            rule="clock-in-prefix",
            code="PC01",
            severity=Severity.CRITICAL,
            level=Severity.CRITICAL.level,
            confidence=Confidence.CERTAIN,
            mode=Mode.LOG,
            where=Where.SYSTEM,
            path="logs/a.jsonl",
            record=refs[1],
            pair=pairs[0],
            occurrences=tuple(Occurrence(pair, None, "/messages/0/content", 29) for pair in pairs),
            field="/messages/0/content",
            char_offset=29,
            from_text="2026-03-02T09:14:07Z, answer in 漢字",
            to_text="2026-03-02T09:14:52Z, answer in 漢字",
            tokens_lost=Lost(12340, True, Per.ONCE),
            usd_lost=0.1234,
            evidence=("Usage reports 0 cached tokens of 1,565.", "The vendor's own diagnostics say `system_changed`."),
            message="The system prompt tells the time, so nothing behind it is cached.",
            fix=Fix("Move the time to the newest message.", Safety.UNSAFE),
            fingerprint="0123456789abcdef",
            also_rules=("retrieved-text-in-prefix", "counter-in-prefix"),
        ),
        Finding(
            rule="unordered-iteration",
            code="PO04",
            severity=Severity.MEDIUM,
            level=Severity.MEDIUM.level,
            confidence=Confidence.POSSIBLE,
            mode=Mode.STATIC,
            where=Where.SOURCE,
            path=deep,
            span=Span(12, 5, 12, 20, 300, 315),
            from_text="a ",
            to_text="",
            flow=(
                Step("app/[t].py", Span(3, 1, 3, 9, 40, 48), "a set is made"),
                Step(deep, Span(1, 1, 1, 2, 0, 1), ""),
            ),
            tokens_lost=Lost(1, False, Per.CALL),
            message="Keys come in any order.",
            fix=Fix("Sort them.", Safety.SAFE, (Edit(deep, 300, 315, "sorted(keys)"),)),
            fingerprint="fedcba9876543210",
        ),
        Finding(
            rule="usage-missing",
            code="PU01",
            severity=Severity.INFO,
            level=Severity.INFO.level,
            confidence=Confidence.LIKELY,
            mode=Mode.LOG,
            where=Where.USAGE,
            path="logs/b.jsonl",
            record=Ref("logs/b.jsonl", 0),
            occurrences=(Occurrence(None, Ref("logs/b.jsonl", 0), None, None),),
            message="The log has no usage.",
            fix=Fix("", Safety.NONE),
            fingerprint="00000000",
        ),
    )


def _hostile_finding(text: str, start: str = "") -> Finding:
    ref = Ref(start or text, 1)
    return Finding(
        rule=text,
        code=text,
        severity=Severity.HIGH,
        level=Severity.HIGH.level,
        confidence=Confidence.LIKELY,
        mode=Mode.LOG,
        where=Where.SYSTEM,
        path=start or text,
        record=ref,
        pair=Pair(Ref(text, 0), ref),
        occurrences=(Occurrence(Pair(Ref(text, 0), ref), None, text, 3), Occurrence(None, ref, text, None)),
        field=start or text,
        char_offset=3,
        from_text=start or text,
        to_text=text + " ",
        flow=(Step(start or text, Span(1, 1, 1, 1, 0, 0), text),),
        tokens_lost=Lost(3, False, Per.DAY),
        evidence=(start or text, text),
        message=start or text,
        fix=Fix(start or text, Safety.UNSAFE, (Edit(text, 0, 1, text),)),
        fingerprint=text,
        also_rules=(start or text, text),
    )


def everything() -> Report:
    """One of each block, with absent values, wide characters and a long path."""
    text, tokens, rate = Unit.TEXT, Unit.TOKENS, Unit.RATE
    blocks: tuple[Block, ...] = (
        Text("summary", ("Of 41.2 M prompt tokens, 61.3 % came from the cache.", "漢字 and ünïcödé stay."), "Summary"),
        Table(
            "rules",
            "By cache rule",
            (
                Column("rule", "rule", text),
                Column("block", "block", tokens),
                Column("hit_rate", "hit rate", rate),
                Column("p50", "TTFT p50", Unit.SECONDS),
                Column("kv", "KV", Unit.BYTES),
                Column("saved", "saved", Unit.USD),
                Column("real", "verified", text),
            ),
            (
                ("vllm:block=16", 16, 0.934, 0.0421, 1610612736, 412.5, True),
                ("漢字 rule with a name that is long enough to wrap", 1, 0.99999, 12.5, 512, 0.0123, False),
                ("openai", None, None, None, None, None, None),
            ),
            "Weighted by tokens.",
            ("hit_rate",),
            ((("what", "Blocks of 16 tokens."), ("fix", "Fill the last one.")), (("where", "漢字"),), ()),
        ),
        Table(
            "shares",
            "By tenant",
            (Column("tenant", "tenant"), Column("cached", "cached", rate), Column("new", "new", rate)),
            (("acme", 0.75, 0.25), ("globex", 0.0, 1.0), ("initech", 0.98, 0.02), ("hooli", None, None)),
            drawn=("cached", "new"),
            brief=True,
        ),
        Tree(
            "prefixes",
            "Where prompts part",
            (Column("tokens", "tokens", tokens), Column("own", "own", tokens), Column("broken", "broken by")),
            (
                (0, "system", 7892, 1204, None),
                (1, "tools", 3398, 3310, "tools-reordered (2)"),
                (2, "user", 88, 88, None),
                (1, "tools, older", 3290, 3290, None),
                (0, "no system", None, None, None),
            ),
            drawn=("tokens", "own"),
            marked="broken",
            details=((), (("begins", "{"), ("ends", "}")), (), (), ()),
        ),
        Waterfall(
            "way",
            "From the ceiling to what was reported",
            tokens,
            ("ceiling", 38512000),
            (("misrouted", -4100000), ("evicted", -9370000), ("interaction", 150000)),
            ("reported", 25192000),
        ),
        Series(
            "sizes",
            "Hit rate by cache size",
            Column("size", "cache size", Unit.BYTES),
            (1024.0, 2048.0, 4096.0),
            ((Column("lru", "LRU", rate), (0.1, None, 0.93)), (Column("fifo", "FIFO", rate), (0.05, 0.5, 0.88))),
        ),
        Histogram("gaps", "Gaps", Column("gap", "from", Unit.SECONDS), (0, 0.1, 1, 60), (120, 3400, 3)),
        Matrix("shared", "Shared", rate, ("acme", "globex"), ("acme", "globex"), ((1.0, 0.0001), (None, 1.0))),
        Findings(
            "findings",
            "Findings",
            findings(),
        ),
        Page("page", "A page", PAGE),
    )
    return Report(
        "prefixwise/sample",
        1,
        "sample",
        "Hit rate of 12,480 requests",
        blocks,
        {"hit_rate": 0.613, "none": None, "by": {"acme": [1, 2]}},
        (
            InputFile("logs/a.jsonl", "openai", "log", "", 12480, 3),
            InputFile("logs/readme.txt", "", "log", "", 0, 0, "no records"),
        ),
        ("Token counts are estimated for 2 models.",),
        (Requirement("hit_rate>=0.6", 0.613, True), Requirement("ttft_p99<=0.2", None, False)),
        7,
    )


def _hostile_tree(text: str, starts: tuple[str, ...]) -> Tree:
    """Every row with a picture, a mark and details."""
    columns = (Column("a", text, Unit.TOKENS), Column("b", text))
    rows = ((0, text, 10 * len(starts), None), *((1, start, 10, start) for start in starts))
    details = tuple((("ends", start),) for start in (text, *starts))
    return Tree(text, text, columns, rows, text, ("a", "a"), "b", details, brief=True)


def hostile(text: str = HOSTILE, starts: tuple[str, ...] = STARTS) -> Report:
    """`text` in every field that takes a string, and cells that start with what others obey."""
    column = Column(text, text)
    number = Column(text, text, Unit.TOKENS)
    told = ((("what", text), (text, starts[0])), *((("what", start),) for start in starts[1:]))
    blocks: tuple[Block, ...] = (
        Text(text, (text, *starts), text),
        Table(text, text, (column, number), tuple((start, text) for start in starts), text, (text,), told),
        Table(text, text, (column, number), tuple((start, 1) for start in starts), "", brief=True),
        Tree(text, text, (column, number), ((0, text, text, text), (1, text, None, 1)), text),
        _hostile_tree(text, starts),
        Waterfall(text, text, Unit.TOKENS, (text, 3), ((text, -1), (text, 1)), (text, 3), text),
        Series(text, text, number, (1.0, 2.0), ((number, (1.0, None)),), text),
        Histogram(text, text, number, (0, 1, 2), (1, 0), text),
        Matrix(text, text, Unit.TEXT, (text,), (text,), ((text,),), text),
        Page(text, text, "\n".join((text, *starts, "```jsonl bad", text, "```", "- " + text, "# " + text))),
        Findings(text, text, (_hostile_finding(text), *(_hostile_finding(text, start) for start in starts))),
    )
    return Report(
        text,
        1,
        text,
        text,
        blocks,
        {text: text, "list": [text]},
        (InputFile(text, text, "log", text, 1, 1), InputFile(text, text, "log", text, 1, 1, text)),
        (text, *starts),
        (Requirement(text, 1.0, True), Requirement(text, None, False)),
    )


@pytest.fixture
def make_hostile():
    """The function that builds the hostile report."""
    return hostile


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> dict[str, Report]:
    """The three reports by name; the envelope names a fixed version and platform."""
    monkeypatch.setattr("prefixwise.core.envelope.__version__", "0.0.0")
    monkeypatch.setattr("platform.python_version", lambda: "3.11.0")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    empty = Report("prefixwise/sample", 1, "sample", "Nothing read", ())
    empty_blocks = tuple(msgspec.structs.replace(b, **_EMPTIED[type(b)]) for b in everything().blocks)
    return {
        "empty": empty,
        "everything": everything(),
        "hostile": hostile(),
        "emptied": msgspec.structs.replace(everything(), blocks=empty_blocks),
    }


_EMPTIED: dict[type, dict[str, object]] = {
    Text: {"lines": ()},
    Table: {"rows": ()},
    Tree: {"rows": ()},
    Waterfall: {"steps": (), "start": ("start", 0), "end": ("end", 0)},
    Series: {"points": (), "lines": ()},
    Histogram: {"edges": (), "counts": ()},
    Matrix: {"rows": (), "columns": (), "cells": ()},
    Findings: {"findings": ()},
    Page: {"markdown": ""},
}
