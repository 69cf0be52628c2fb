import os

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

VERSION = os.environ.get("APP_VERSION", "dev")


def answer(question):
    return OpenAI().chat.completions.create(
        model=os.environ["CHAT_MODEL"],
        messages=[
            {"role": "system", "content": f"Ferry desk {VERSION}\n{RULES}"},
            {"role": "user", "content": question},
        ],
    )
