from datetime import datetime

from jinja2 import Environment
from openai import OpenAI

SYSTEM = Environment().from_string(
    """Current time: {{ clock }}
You grade essays of a language school from one to six.
Judge structure, vocabulary, grammar and register, each in one sentence.
Quote at most ten words of the essay."""
)


def grade(essay):
    return OpenAI().chat.completions.create(
        model="gpt-4.1",
        messages=[
            {"role": "system", "content": SYSTEM.render(clock=datetime.utcnow())},
            {"role": "user", "content": essay},
        ],
    )
