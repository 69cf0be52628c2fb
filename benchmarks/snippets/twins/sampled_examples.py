import random

from google import genai

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

EXAMPLES = [
    "Q: Is the night boat running?\nA: Yes, at 23:10 from the west pier.",
    "Q: May I take a dog?\nA: On the open deck, on a lead.",
    "Q: Where do cyclists board?\nA: At ramp three, before the cars.",
    "Q: Is there a child fare?\nA: Half price up to eleven years.",
]


def reply(question):
    shown = "\n\n".join(EXAMPLES[:3])
    return genai.Client().models.generate_content(
        model="gemini-2.5-pro",
        contents=question,
        config={"system_instruction": f"Examples:\n{shown}\n\n{RULES}", "seed": random.randrange(2**31)},
    )
