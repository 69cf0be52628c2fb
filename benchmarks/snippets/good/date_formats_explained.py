from openai import OpenAI

SYSTEM = """Dates in requests look like 2024-05-31T18:20:00Z; answer with {weekday}, {day} {month} as words.
Write {{curly braces}} as they are. An order number is a UUID such as 7d1c0c9e-2f0e-4a6e-9d53-0c6f0f6f0a11.
If someone writes "today" or "now()", ask which day is meant."""


def answer(question):
    return OpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}],
    )
