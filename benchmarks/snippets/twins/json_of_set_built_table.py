import json

import boto3

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def stock(bookings):
    held = {booking["deck"] for booking in bookings}
    table = {deck: sum(b["deck"] == deck for b in bookings) for deck in held}
    return json.dumps(table, sort_keys=True)


def ask(bookings, question):
    return boto3.client("bedrock-runtime").converse(
        modelId="anthropic.claude-sonnet-4-5-20250929-v1:0",
        system=[{"text": RULES}, {"text": "Decks: " + stock(bookings)}, {"cachePoint": {"type": "default"}}],
        messages=[{"role": "user", "content": [{"text": question}]}],
    )
