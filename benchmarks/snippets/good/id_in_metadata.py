import secrets
import uuid

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def answer(question, user):
    return OpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
        user=user,
        metadata={"request": str(uuid.uuid4())},
        extra_headers={"Idempotency-Key": secrets.token_hex(16)},
    )
