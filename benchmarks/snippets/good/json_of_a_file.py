import json
from pathlib import Path

import anthropic

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def ask(question):
    fares = json.loads(Path("fares.json").read_text(encoding="utf-8"))
    return anthropic.Anthropic().messages.create(
        model="claude-sonnet-4-5",
        max_tokens=400,
        system=RULES + "\n" + json.dumps(fares),
        messages=[{"role": "user", "content": question}],
    )
