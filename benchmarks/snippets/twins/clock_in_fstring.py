from datetime import datetime

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

client = OpenAI()


def answer(question):
    asked = f"It is {datetime.now():%d %B %Y, %H:%M} in the harbour.\n{question}"
    return client.chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": RULES}, {"role": "user", "content": asked}],
    )
