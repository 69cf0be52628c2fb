from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

SHARDS = 8


def reply(passenger, question, clients):
    client = clients[hash(passenger) % SHARDS]
    return client.chat.completions.create(
        model="gpt-4.1",
        messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
    )


CLIENTS = [OpenAI() for _ in range(SHARDS)]
