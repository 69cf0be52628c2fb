import logging
from datetime import datetime

from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

log = logging.getLogger(__name__)


def answer(question):
    started = datetime.now()
    log.info("prompt %s sent at %s", RULES[:20], started.isoformat())
    reply = OpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
    )
    print(f"took {datetime.now() - started}")
    return reply
