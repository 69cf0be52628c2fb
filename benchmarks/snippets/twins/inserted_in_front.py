import time

import litellm

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def complete(history):
    messages = [{"role": "system", "content": RULES}, *history]
    messages.append({"role": "user", "content": f"(sent at Unix time {int(time.time())})"})
    return litellm.completion(model="gpt-4.1", messages=messages)
