"""Requests that recite a conversation in one message, under a prompt of their own: to sum it up, name it, judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prefixwise.core.request import Request
from prefixwise.corpus.items import turn_of
from prefixwise.corpus.outlines import sentences_of

if TYPE_CHECKING:
    from prefixwise.analyzers.lint.log import Log

LEAST_TOKENS = 600
"""Tokens of a message from which reading it anew costs something."""
_MOST_MESSAGES = 2
_LEAST_SAID = 2
_SHARE = 0.6
"""Share of a conversation's messages, and number of them, that must be recited."""


class Recital(msgspec.Struct, frozen=True):
    """A long message: where it stands, and hashes of its sentences."""

    field: str
    sentences: frozenset[int]


class Recited(msgspec.Struct, frozen=True):
    """A conversation that a message recites: its latest request before, and how many of its messages come again."""

    row: int
    messages: int


def suspects(log: Log) -> frozenset[int]:
    """Return the rows that may recite a conversation: long first messages under a prompt that no conversation has."""
    rows, links = log.rows, log.conversations.links
    talks = {rows.family[row] for row, link in enumerate(links) if link is not None and link.turn}
    if not talks:
        return frozenset()
    return frozenset(
        row
        for row, messages in enumerate(log.outlines.messages)
        if 0 < len(messages) <= _MOST_MESSAGES
        and rows.family[row] not in talks
        and rows.prompt_tokens[row] - rows.system_end[row] >= LEAST_TOKENS
    )


def recital(request: Request) -> Recital | None:
    """Return what the longest message of a request says, None where it has none."""
    section = request.sections[-1]
    raws = list(section.raw_items())
    if section.kind != "messages" or not raws:
        return None
    index = max(range(len(raws)), key=lambda at: len(bytes(raws[at])))
    turn = turn_of(request.api, section.kind, raws[index])
    texts = [part for part in turn.parts if part.text and not part.is_json]
    if not texts:
        return None
    longest = max(texts, key=lambda part: len(part.text))
    return Recital(section.item_pointer(index) + longest.pointer, sentences_of(longest.text))


def recited(log: Log, row: int, said: Recital) -> Recited | None:
    """Return the conversation that a message recites, None where it recites none."""
    votes: dict[int, set[int]] = {}
    for sentence in said.sentences:
        for conversation, content in _sayings(log).get(sentence, ()):
            votes.setdefault(conversation, set()).add(content)
    best: Recited | None = None
    for conversation, contents in sorted(votes.items()):
        start = (log.times[row], row)
        earlier = [other for other in log.threads[conversation] if (log.times[other], other) < start]
        if not earlier or len(contents) < _LEAST_SAID:
            continue
        last = earlier[-1]
        told = {content for content in log.outlines.messages[last] if log.outlines.clues.get(content)}
        if len(contents & told) >= max(_LEAST_SAID, _SHARE * len(told)) and (
            best is None or len(contents) > best.messages
        ):
            best = Recited(last, len(contents & told))
    return best


def _sayings(log: Log) -> dict[int, list[tuple[int, int]]]:
    """Return by sentence the (conversation, message) in which people or tools said it; kept with the rows."""
    key = "sayings of conversations"
    found: dict[int, list[tuple[int, int]]] | None = log.rows.memo.get(key)
    if found is None:
        found = log.rows.memo[key] = {}
        for conversation, thread in log.threads.items():
            if len(thread) > 1:
                contents = dict.fromkeys(content for row in thread for content in log.outlines.messages[row])
                for content in contents:
                    for clue in log.outlines.clues.get(content, ()):
                        found.setdefault(clue, []).append((conversation, content))
    return found
