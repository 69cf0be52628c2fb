import uuid

import anthropic

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def trace_id():
    return uuid.uuid4().hex


def ask(client: anthropic.Anthropic, history):
    return client.messages.create(
        model="claude-sonnet-4-5",
        max_tokens=700,
        system=[{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}],
        messages=history,
        metadata={"user_id": "desk"},
        extra_headers={"x-trace-id": trace_id()},
    )
