"""The same workload out of every form: requests, times, tenants, sessions, models, usage, and what a cache serves."""

from __future__ import annotations

import functools
import json
import math
import tempfile
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from formats import bodies
from formats.catalogue import FORMATS, Format
from formats.workload import Exchange, build
from formats.writers import engines, plain
from prefixwise.caches.policy import parse_policy
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.rows import Rows

COUNTS = ("prompt", "cached", "written", "output")
EVERY = pytest.mark.parametrize("name", FORMATS)
NAMES = {
    "tenant": attrgetter("tenant"),
    "session": attrgetter("session"),
    "model": attrgetter("model_name"),
    "replica": attrgetter("replica"),
}
NAMED = [(name, field) for name, form in FORMATS.items() for field, of in NAMES.items() if of(form)]
WITH_ANSWERS = [name for name, form in FORMATS.items() if form.answers]


def read(files: plain.Files, form: Format) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, data in files:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            paths.append(str(path))
        return read_corpus(paths, form.options)


@functools.cache
def as_written(name: str) -> Corpus:
    form = FORMATS[name]
    return read(form.write(build(form.model)), form)


@functools.cache
def expected(name: str) -> list[Exchange]:
    form = FORMATS[name]
    return form.holds(build(form.model))


def in_order(name: str, corpus: Corpus) -> list[int]:
    """Return the rows in order of start, or of the file where the format has no times."""
    return corpus.rows.by_start() if FORMATS[name].starts is not None else list(range(len(corpus.rows)))


def named(rows: Rows, field: str, row: int) -> str:
    column, names = rows.group(field)
    return names[column[row]]


def is_time(value: float) -> bool:
    return not math.isnan(value)


# -- what stands around the prompts ---------------------------------------------------------------------------------


def test_the_workload_is_one_whose_order_is_clear() -> None:
    exchanges = build().exchanges
    assert len(exchanges) == 24
    assert len({int(exchange.start) for exchange in exchanges}) == len(exchanges)
    assert len({exchange.tenant for exchange in exchanges}) == 3
    assert len({exchange.session for exchange in exchanges}) == 5
    assert [exchange.answer is None for exchange in exchanges].count(True) == 1
    assert [exchange.twice for exchange in exchanges].count(True) == 1


@EVERY
def test_each_request_is_read_once_and_nothing_is_broken(name: str) -> None:
    corpus = as_written(name)
    assert corpus.broken == ()
    assert len(corpus.rows) == len(expected(name))


@EVERY
def test_times_are_those_of_the_workload(name: str) -> None:
    form, rows = FORMATS[name], as_written(name).rows
    found = [(rows.start[row], rows.end[row], rows.ttft[row]) for row in in_order(name, as_written(name))]
    assert len(found) == len(expected(name))
    for (start, end, ttft), exchange in zip(found, expected(name), strict=True):
        if form.starts is None:
            assert not is_time(start)
        elif form.year:
            at = exchange.start if form.starts else int(exchange.start)
            assert start == pytest.approx(at, abs=1e-4)
        else:
            assert start - found[0][0] == pytest.approx(int(exchange.start) - int(expected(name)[0].start), abs=1e-4)
        if form.ends and exchange.answer:
            assert end - start == pytest.approx(exchange.end - exchange.start, abs=1e-3 if form.starts else 1)
        elif not form.ends:
            assert not is_time(end)
        if not form.says_first_token(exchange):
            assert not is_time(ttft)
        elif exchange.first_token:
            assert ttft == pytest.approx(exchange.first_token - exchange.start, abs=1e-3)


@pytest.mark.parametrize(("name", "field"), NAMED)
def test_names_are_those_of_the_workload(name: str, field: str) -> None:
    rows, name_of = as_written(name).rows, NAMES[field](FORMATS[name])
    found = [named(rows, field, row) for row in in_order(name, as_written(name))]
    assert found == [name_of(exchange) for exchange in expected(name)]


@EVERY
def test_usage_is_that_of_the_workload(name: str) -> None:
    form, rows = FORMATS[name], as_written(name).rows
    found = [
        {what: getattr(rows, f"reported_{what}")[row] for what in COUNTS} for row in in_order(name, as_written(name))
    ]
    wanted = []
    for exchange in expected(name):
        carried = form.carried(exchange) if exchange.usage else ()
        wanted.append({what: getattr(exchange.usage, what) if what in carried else -1 for what in COUNTS})
    assert found == wanted


# -- the prompts ----------------------------------------------------------------------------------------------------


def reference_record(form: Format, exchange: Exchange) -> dict[str, Any]:
    """Return a request as the plain log holds it that a format is compared with."""
    exchange = replace(
        exchange,
        model=form.model_name(exchange),
        system="" if "system" in form.without else exchange.system,
        tools=() if "tools" in form.without else exchange.tools,
    )
    response: Any = None
    request: dict[str, Any] = {"model": exchange.model}
    if form.like == "ids":
        request["prompt_token_ids"] = engines.token_ids(engines.rendered(exchange))
    elif form.like in ("prompt", "engine"):
        request["prompt"] = (plain.prompt_text if form.like == "prompt" else engines.rendered)(exchange)
    else:
        write_request, write_response = {
            "chat": (bodies.chat_request, bodies.chat_response),
            "responses": (bodies.responses_request, bodies.responses_response),
            "anthropic": (bodies.anthropic_request, bodies.anthropic_response),
            "gemini": (bodies.gemini_request, bodies.gemini_response),
        }[form.like]
        request |= write_request(exchange)
        response = write_response(exchange)
    record = plain.wrapped(exchange, request, response)
    if form.starts is None:
        record = {key: value for key, value in record.items() if key not in ("ts", "latency_ms")}
    return record


@functools.cache
def reference(name: str) -> Corpus:
    form = FORMATS[name]
    records = [reference_record(form, exchange) for exchange in expected(name)]
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    return read([("reference.jsonl", data)], Format(plain.openai_chat))


def compare(name: str, found: list[int], wanted: list[int]) -> None:
    """Compare values of requests; those of sessions with tools only where the format keeps their JSON."""
    form = FORMATS[name]
    kept = [form.tool_shape or not (exchange.tools or exchange.agent) for exchange in expected(name)]
    assert [value for value, keep in zip(found, kept, strict=True) if keep] == [
        value for value, keep in zip(wanted, kept, strict=True) if keep
    ]
    for value, aim in zip(found, wanted, strict=True):
        assert value == pytest.approx(aim, rel=0.15, abs=48)


def matched(name: str, corpus: Corpus, rule: str) -> list[int]:
    replay = parse_policy(rule).replay(corpus.rows)
    return [replay.matched[row] for row in in_order(name, corpus)]


@EVERY
def test_prompts_have_the_tokens_of_the_plain_log(name: str) -> None:
    found, wanted = as_written(name), reference(name)
    compare(
        name,
        [found.rows.prompt_tokens[row] for row in in_order(name, found)],
        [wanted.rows.prompt_tokens[row] for row in in_order(name, wanted)],
    )


@EVERY
def test_a_cache_serves_what_it_serves_of_the_plain_log(name: str) -> None:
    rule = "vllm:block=16,outputs=no"
    compare(name, matched(name, as_written(name), rule), matched(name, reference(name), rule))


@pytest.mark.parametrize("name", WITH_ANSWERS)
def test_a_cache_that_keeps_answers_serves_what_it_serves_of_the_plain_log(name: str) -> None:
    rule = "vllm:block=16"
    compare(name, matched(name, as_written(name), rule), matched(name, reference(name), rule))
