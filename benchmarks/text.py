"""Seeded English-like text: prose, numbers, paragraphs, source code, JSON. Fast enough to write gigabytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from benchmarks.words import COMMON, GLUE

GLUE_REPEATS = 12  # makes a quarter of all words glue
NUMBER_EVERY = 4  # one sentence in so many carries a number
PARAGRAPH = 5  # sentences


def escape(text: str) -> str:
    """Return `text` as it stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Writer:
    """Writes text from one random generator; the same generator state gives the same text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._pool = list(COMMON) + [word for word in GLUE for _ in range(GLUE_REPEATS)]

    def between(self, bounds: tuple[int, int]) -> int:
        """Return a whole number inside `bounds`, both ends included."""
        low, high = bounds
        return low + int(self.rng.random() * (high - low + 1))

    def words(self, count: int) -> list[str]:
        """Return `count` words."""
        return self.rng.choices(self._pool, k=count)

    def prose(self, count: int) -> str:
        """Return `count` words as sentences, in paragraphs where there are many."""
        words, rand = self.words(count), self.rng.random
        sentences: list[str] = []
        start = 0
        while start < count:
            stop = min(count, start + 5 + int(rand() * 14))
            if count - stop < 4:
                stop = count
            if rand() * NUMBER_EVERY < 1:
                words[stop - 1] = str(int(rand() * 2000))
            if stop - start > 8:
                words[start + 4] += ","
            words[start] = words[start].capitalize()
            words[stop - 1] += "?" if rand() < 0.08 else "."
            sentences.append(" ".join(words[start:stop]))
            start = stop
        if len(sentences) <= PARAGRAPH:
            return " ".join(sentences)
        paragraphs = range(0, len(sentences), PARAGRAPH)
        return "\n\n".join(" ".join(sentences[at : at + PARAGRAPH]) for at in paragraphs)

    def manual(self, count: int) -> str:
        """Return a text of about `count` words as instructions are written: headings, prose and lists."""
        parts = []
        while count > 0:
            size = min(count, self.between((40, 110)))
            heading = "## " + " ".join(self.words(3)).capitalize()
            if self.rng.random() < 0.4:
                items = [f"- {self.prose(self.between((8, 16)))}" for _ in range(max(2, size // 12))]
                parts.append(heading + "\n" + "\n".join(items))
            else:
                parts.append(f"{heading}\n{self.prose(size)}")
            count -= size
        return "\n\n".join(parts)

    def code(self, count: int) -> str:
        """Return a Python function of about `count` words."""
        name, argument, local = (f"{a}_{b}" for a, b in zip(self.words(3), self.rng.choices(COMMON, k=3), strict=True))
        lines = [
            f"def {name}({argument}: str) -> int:",
            f'    """{self.prose(max(6, count // 4))}"""',
            f"    {local} = 0",
        ]
        for _ in range(max(1, count // 14)):
            noun, verb = self.rng.choices(COMMON, k=2)
            lines += [f"    for {noun} in {argument}.split():", f"        {local} += {verb}_{noun}({noun}, limit=16)"]
        return "\n".join([*lines, f"    return {local}"])

    def table(self, count: int) -> str:
        """Return a JSON array of records of about `count` words, as a tool answers."""
        rows = [
            {
                "id": f"rec-{int(self.rng.random() * 90000) + 10000}",
                "status": self.rng.choice(("open", "closed", "waiting", "failed")),
                "amount": round(self.rng.random() * 900, 2),
                "note": self.prose(self.between((6, 14))),
            }
            for _ in range(max(1, count // 16))
        ]
        return json.dumps(rows, indent=1) if self.rng.random() < 0.3 else json.dumps(rows)

    def tool_result(self, count: int) -> str:
        """Return what a tool may answer: records, source code or plain text."""
        kinds: tuple[Callable[[int], str], ...] = (self.table, self.code, self.prose)
        return self.rng.choice(kinds)(count)

    def identifier(self, length: int = 12) -> str:
        """Return `length` hexadecimal digits."""
        return f"{self.rng.getrandbits(length * 4):0{length}x}"

    def uuid(self) -> str:
        """Return a random UUID in its usual spelling."""
        digits = self.identifier(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
