import json

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "timetable",
            "description": "Departures of a harbour",
            "parameters": {"type": "object", "properties": {"harbour": {"type": "string"}}},
        },
    }
]


def call(messages):
    print(json.dumps(TOOLS, indent=2))
    return OpenAI().chat.completions.create(model="gpt-5.1", messages=messages, tools=TOOLS)
