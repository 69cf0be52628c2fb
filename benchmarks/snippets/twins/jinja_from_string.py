from jinja2 import Environment
from openai import OpenAI

SYSTEM = Environment().from_string(
    """Scale: {{ scale }}
You grade essays of a language school from one to six.
Judge structure, vocabulary, grammar and register, each in one sentence.
Quote at most ten words of the essay."""
)
SCALE = "one is best"


def grade(essay):
    return OpenAI().chat.completions.create(
        model="gpt-4.1",
        messages=[
            {"role": "system", "content": SYSTEM.render(scale=SCALE)},
            {"role": "user", "content": essay},
        ],
    )
