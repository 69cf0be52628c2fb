"""Random request logs as JSONL, with what each record comes to when it is encoded whole."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from support import oracle_tokens
from support.naive import Served

EPOCH = 1_700_000_000
_LONG = "\n".join(f"{'/' if n % 3 else n} step {n} {'-' * 128}" for n in range(16))  # long enough to be cut
TEXTS = (
    "You are terse.",
    "Hi",
    "Hi there",
    _LONG,
    _LONG.replace("step 9", "step nine"),
    "naïve cafe\u0301 \r\n\r\n١٢٣ \u2028end, and on and on and on",
    "",
)
_SAID = st.sampled_from(TEXTS)
_BROKEN = ("{", "nonsense", '{"messages": 5}', "[1, 2", '{"a": 1}', "\x00\x01")


@dataclass
class Log:
    """A log and its oracle."""

    lines: list[str] = field(default_factory=list)
    served: list[Served] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    broken_lines: list[int] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode()


def _around(draw: st.DrawFn, record: dict[str, Any]) -> None:
    """Add times and a tenant."""
    start = draw(st.none() | st.integers(0, 6))
    if start is not None:
        record["start_time"] = EPOCH + start
        length = draw(st.none() | st.integers(0, 3))
        if length is not None:
            record["end_time"] = EPOCH + start + length
    record["tenant"] = draw(st.sampled_from(["Initech-tenant", "Hooli-tenant"]))


def _spaces(draw: st.DrawFn, body: dict[str, Any]) -> None:
    for key, values in (("cache_salt", ["s", "", "t"]), ("lora_path", ["l"]), ("extra_key", ["x", "y"])):
        if draw(st.integers(0, 3)) == 0:
            body[key] = draw(st.sampled_from(values))


@st.composite
def chats(draw: st.DrawFn, past: list[dict[str, Any]]) -> dict[str, Any]:
    """A chat request, often one that carries on an earlier one."""
    pairs = st.tuples(st.sampled_from(["system", "user", "assistant"]), _SAID)
    messages = [list(pair) for pair in draw(st.lists(pairs, min_size=1, max_size=3))]
    earlier = [r for r in past if "messages" in r["request"]]
    model = draw(st.sampled_from(["gpt-4o", "gpt-4", "gpt-oss-20b"]))
    if earlier and draw(st.booleans()):
        before = draw(st.sampled_from(earlier))
        model = before["request"]["model"]
        messages = [[m["role"], m["content"]] for m in before["request"]["messages"]]
        if "response" in before:
            messages.append(["assistant", before["response"]["choices"][0]["message"]["content"]])
        messages.append(["user", draw(_SAID)])
    body: dict[str, Any] = {"model": model, "messages": [{"role": r, "content": c} for r, c in messages]}
    record: dict[str, Any] = {"request": body}
    if draw(st.booleans()):
        record["response"] = {"choices": [{"message": {"role": "assistant", "content": draw(_SAID)}}]}
    return record


@st.composite
def completions(draw: st.DrawFn, past: list[dict[str, Any]]) -> dict[str, Any]:
    """A bare prompt with an answer that it may carry on."""
    text = "".join(draw(st.lists(_SAID, min_size=1, max_size=3))) or "x"
    earlier = [r for r in past if isinstance(r["request"].get("prompt"), str)]
    model = draw(st.sampled_from(["gpt-4o", "gpt-4"]))
    if earlier and draw(st.booleans()):
        before = draw(st.sampled_from(earlier))
        model = before["request"]["model"]
        said = before["response"]["choices"][0]["text"] if "response" in before else ""
        text = before["request"]["prompt"] + said + draw(_SAID)
    record: dict[str, Any] = {"request": {"model": model, "prompt": text}}
    if draw(st.booleans()):
        record["response"] = {"choices": [{"text": draw(_SAID)}]}
    return record


@st.composite
def id_prompts(draw: st.DrawFn, past: list[dict[str, Any]]) -> dict[str, Any]:
    """A prompt as token ids out of a tiny vocabulary."""
    size = draw(st.integers(1, 40))
    ids = [7] * size if draw(st.booleans()) else draw(st.lists(st.integers(0, 2), min_size=1, max_size=9))
    key = draw(st.sampled_from(["prompt", "prompt_token_ids"]))
    return {"request": {"model": draw(st.sampled_from(["m-ids", "gpt-4o"])), key: ids}}


def served_of(record: dict[str, Any]) -> Served:
    """Encode a record whole."""
    body = record["request"]
    model = body["model"]
    answer: list[int] = []
    if "messages" in body:
        name = oracle_tokens.ENCODING_OF[model]
        rendered = oracle_tokens.chat((m["role"], m["content"]) for m in body["messages"])
        prompt = oracle_tokens.encode(name, rendered)
        if "response" in record:
            said = record["response"]["choices"][0]["message"]["content"]
            answer = oracle_tokens.encode(name, rendered + said + oracle_tokens.END)[len(prompt) : -1]
    elif isinstance(body.get("prompt"), str):
        name = oracle_tokens.ENCODING_OF[model]
        prompt = oracle_tokens.encode(name, body["prompt"])
        if "response" in record:
            answer = oracle_tokens.encode(name, record["response"]["choices"][0]["text"])[:-1]
    else:
        prompt = [*body.get("prompt_token_ids", body.get("prompt"))]
    # Ids of one vocabulary are not those of another: a model's prompts in text and in ids share nothing.
    kind = "text" if "messages" in body or isinstance(body.get("prompt"), str) else "ids"
    offset = 0 if kind == "text" else 1 << 33
    return Served(
        model,
        tuple(i + offset for i in prompt),
        tuple(answer),
        body.get("cache_salt"),
        body.get("lora_path"),
        body.get("extra_key"),
        record.get("start_time"),
        record.get("end_time"),
    )


@st.composite
def logs(draw: st.DrawFn, most: int = 9, broken: bool = True) -> Log:
    """A log of mixed bodies, out of order, with ties, missing times, namespaces, answers and broken lines."""
    log = Log()
    for number in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from([chats, chats, completions, id_prompts]))
        record = draw(kind(log.records))
        _around(draw, record)
        if draw(st.booleans()):
            _spaces(draw, record["request"])
        if draw(st.integers(0, 2)) == 0:
            prompt = len(served_of(record).prompt)
            hit = draw(st.integers(0, prompt))
            record["usage"] = {"prompt_tokens": prompt, "prompt_tokens_details": {"cached_tokens": hit}}
        log.records.append(record)
        log.served.append(served_of(record))
        log.lines.append(json.dumps(record, ensure_ascii=draw(st.booleans())))
        if broken and number and draw(st.integers(0, 5)) == 0:
            log.lines.append(draw(st.sampled_from(_BROKEN)))
            log.broken_lines.append(len(log.lines))
    return log
