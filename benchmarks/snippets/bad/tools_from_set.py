from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

SCHEMAS = {
    "timetable": {"type": "object", "properties": {"harbour": {"type": "string"}}},
    "fare": {"type": "object", "properties": {"class": {"type": "string"}}},
    "cancel": {"type": "object", "properties": {"booking": {"type": "string"}}},
}


def tools_for(roles):
    names = set()
    for role in roles:
        names |= {"timetable", "fare"} if role == "clerk" else {"cancel"}
    return [{"type": "function", "function": {"name": name, "parameters": SCHEMAS[name]}} for name in names]


def call(roles, messages):
    return OpenAI().chat.completions.create(model="gpt-5.1", messages=messages, tools=tools_for(roles))
