import anthropic

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""

KEEP = 12


class Desk:
    def __init__(self):
        self.client = anthropic.Anthropic()
        self.history = []

    def say(self, text):
        self.history.append({"role": "user", "content": text})
        answer = self.client.messages.create(
            model="claude-sonnet-4-5", max_tokens=500, system=RULES, messages=self.history
        )
        self.history.append({"role": "assistant", "content": answer.content[0].text})
        return answer

    def shown(self):
        return self.history[-KEEP:]
