from openai import OpenAI

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def respond(index, question):
    passages = index.similarity_search(question, k=4)
    context = "\n---\n".join(passage.page_content for passage in passages)
    return OpenAI().chat.completions.create(
        model="gpt-4.1",
        messages=[
            {"role": "system", "content": RULES},
            {"role": "user", "content": f"Use these passages:\n{context}\n\n{question}"},
        ],
    )
