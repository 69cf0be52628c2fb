import os

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def notices(folder):
    parts = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            parts.append(file.read())
    return "\n\n".join(parts)


def run(folder, question):
    instructions = "Notices of the harbour:\n" + notices(folder) + "\n\n" + RULES
    return OpenAI().responses.create(model="gpt-5.1", instructions=instructions, input=question)
