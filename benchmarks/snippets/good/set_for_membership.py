from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

CLOSED = {"west pier", "old quay"}
HARBOURS = ["north basin", "west pier", "old quay", "mole"]


def answer(question):
    still_open = ", ".join(name for name in HARBOURS if name not in CLOSED)
    return OpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[
            {"role": "system", "content": f"Open: {still_open}\n{RULES}"},
            {"role": "user", "content": question},
        ],
    )
