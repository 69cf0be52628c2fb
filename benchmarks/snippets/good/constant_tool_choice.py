from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

TOOLS = [{"type": "function", "name": "book", "parameters": {"type": "object", "properties": {}}}]


def force(question):
    return OpenAI().responses.create(
        model="gpt-5.1",
        instructions=RULES,
        input=question,
        tools=TOOLS,
        tool_choice={"type": "function", "name": "book"},
    )
