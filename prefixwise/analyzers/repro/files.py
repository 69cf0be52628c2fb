"""What a repro is written as: two bodies, a log, and a page that says what they show and how to replay them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from prefixwise import __version__
from prefixwise.analyzers.repro.reproduce import Repro
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.why.document import Expected, ReproFiles
from prefixwise.analyzers.why.words import gap_words
from prefixwise.core.excerpt import visible

BEFORE, AFTER, LOG, PAGE = "before.json", "after.json", "log.jsonl", "README.md"

_SAFE_NAME = re.compile(r"[\w.:@/-]+")
"""A model's name that no shell takes for anything else."""
_JSON = '-H "Content-Type: application/json"'
_OPENAI = '"${OPENAI_BASE_URL:-https://api.openai.com/v1}/%s" -H "Authorization: Bearer $OPENAI_API_KEY" ' + _JSON
_ENDPOINTS = {
    "openai-chat": _OPENAI % "chat/completions",
    "openai-responses": _OPENAI % "responses",
    "completions": _OPENAI % "completions",
    "anthropic-messages": '"${ANTHROPIC_BASE_URL:-https://api.anthropic.com}/v1/messages" '
    f'-H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: 2023-06-01" {_JSON}',
    "gemini": '"https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent" '
    f'-H "x-goog-api-key: $GEMINI_API_KEY" {_JSON}',
}


def files_of(repro: Repro) -> dict[str, bytes]:
    """Return the files of a repro by name."""
    log = b"".join(line + b"\n" for line in repro.lines)
    return {BEFORE: repro.bodies[0], AFTER: repro.bodies[1], LOG: log, PAGE: page(repro).encode()}


def written(repro: Repro, folder: str) -> ReproFiles:
    """Return what is said of a repro whose files stand in `folder`."""
    return ReproFiles(
        folder=folder,
        files=(BEFORE, AFTER, LOG, PAGE),
        rule=repro.rule,
        shows=repro.shows,
        kept=repro.kept,
        before_tokens=repro.tokens[0],
        after_tokens=repro.tokens[1],
        before_were=repro.were[0],
        after_were=repro.were[1],
        expected=repro.expected,
    )


def page(repro: Repro) -> str:
    """Return the README: what the files are, what they show, what caches should serve, how to replay them."""
    return "\n".join([*_what(repro), "", *_shows(repro), "", *_expected(repro.expected), "", *_replay(repro), ""])


def _what(repro: Repro) -> Iterator[str]:
    alone = repro.before == repro.after
    yield f"# {repro.rule}: the smallest {'request' if alone else 'pair of requests'} that still shows it"
    yield ""
    yield (
        f"Taken out of a log by prefixwise {__version__} and made smaller as long as lint said the same. Words, names "
        "and numbers are replaced by others of the same length, equal ones by equal ones; secrets are masked; images "
        "and other blobs are placeholders."
    )
    yield ""
    yield f"- `{BEFORE}`: the earlier request ({repro.api}), {_size(repro, 0)}"
    yield f"- `{AFTER}`: the request that misses, {_size(repro, 1)}" + (": the same one, sent again" if alone else "")
    others = len(repro.lines) - (1 if alone else 2)
    more = (
        f", records {repro.before} and {repro.after}, with {others} more without which it does not show"
        if others
        else ""
    )
    yield f"- `{LOG}`: {'it' if alone else 'both'} as a log{more}{_beside(repro)}"


def _size(repro: Repro, number: int) -> str:
    return f"{repro.tokens[number]:,} tokens ({repro.were[number]:,} in the log, in its own words)"


def _beside(repro: Repro) -> str:
    parts = [f"with times, {gap_words(repro.gap)} apart: that is what it takes"] if repro.gap is not None else []
    if repro.usage == "recounted":
        parts.append("usage is what the log reported, in proportion to the smaller prompts")
    elif repro.usage == "as reported":
        parts.append("usage is what the log reported for the whole prompts")
    return f"; {'; '.join(parts)}" if parts else ""


def _shows(repro: Repro) -> Iterator[str]:
    rule = RULES.get(repro.rule)
    yield "## What it shows"
    yield ""
    yield f"`prefixwise lint {LOG}` reports {rule.name} ({rule.code}): {rule.summary[0].lower()}{rule.summary[1:]}."
    if repro.field is not None:
        offset = "" if repro.char_offset is None else f", character {repro.char_offset}"
        yield f"It stands at `{visible(repro.field)}`{offset}; both prompts begin with the same {repro.alike:,} tokens."
    yield f"`prefixwise explain {rule.name}` says why that costs something. To mend it: {rule.fix}"
    if not repro.shows:
        yield ""
        yield (
            f"**Not kept:** with its words taken out, lint no longer reports {rule.name} here. What it knew the value "
            "by is a secret, or too much of the text to be left in."
        )
    elif repro.kept:
        yield ""
        kept = ", ".join(f"`{word}`" for word in repro.kept)
        yield f"Kept from the log, for lint would not know the value without: {kept}."


def _expected(expected: tuple[Expected, ...]) -> Iterator[str]:
    yield f"## Cached tokens to expect for `{AFTER}`, right after `{BEFORE}`"
    yield ""
    yield "| cache | as it is | had nothing changed | |"
    yield "| --- | ---: | ---: | --- |"
    for e in expected:
        yield f"| {e.rule} | {_count(e.cached)} | {_count(e.unbroken)} | {e.note} |"


def _count(tokens: int | None) -> str:
    return "not known" if tokens is None else f"{tokens:,}"


def _replay(repro: Repro) -> Iterator[str]:
    yield "## Replay"
    yield ""
    endpoint = _ENDPOINTS.get(repro.api)
    if endpoint is None:
        yield f"Bodies of {repro.api} are what an exporter wrote; send them the way the application does."
        return
    pause = 2 if repro.gap is None else math.ceil(repro.gap)
    yield "Read the cached tokens in the answers' usage:"
    yield ""
    model = repro.model if _SAFE_NAME.fullmatch(repro.model) else "MODEL"
    curl = f"curl -sS {endpoint.replace('{model}', model)} -d @$1"
    yield "```sh"
    yield f"send() {{ {curl}; echo; }}; send {BEFORE}; sleep {pause}; send {AFTER}"
    yield "```"
