import random
import time

import openai

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def answer(client, question, tries=4):
    for attempt in range(tries):
        try:
            return client.chat.completions.create(
                model="gpt-5.1",
                messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
                temperature=0.2,
            )
        except openai.RateLimitError:
            time.sleep(2**attempt + random.random())
    return None
