import json
from datetime import UTC, datetime

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def run_tool(call):
    return json.dumps({"at": datetime.now(UTC).isoformat(), "harbour": call["harbour"], "open": True})


def loop(messages, calls):
    for call in calls:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": run_tool(call)})
    return OpenAI().chat.completions.create(model="gpt-5.1", messages=[{"role": "system", "content": RULES}, *messages])
