"""Write a seeded folder of prompt files as teams keep them: `python -m benchmarks.prompt_folder --files 10000 -o DIR`.

Jinja, Mustache, Handlebars, prompty, dotprompt, Markdown and plain text, spread over folders named `prompts`; most end
with their variables, as they should, and one in twenty begins with a clock, an id or a person. Each is a manual of 60
to 900 words (a median of about 450 tokens). The same seed and number give the same bytes.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from benchmarks.text import Writer

SHARE_OF_FAULTS = 0.05
WORDS = (60, 900)
SHORT = 3  # the least of so many draws: most prompts are short
MOVING = ("now", "request_id", "user_name", "timestamp", "trace_id")
NAMES = ("question", "ticket", "document", "order", "answer", "locale", "product")
OPENING = {
    "jinja": "{{{{ {} }}}}",
    "mustache": "{{{{{}}}}}",
    "hbs": "{{{{{}}}}}",
    "prompty": "{{{{{}}}}}",
    "prompt": "{{{{{}}}}}",
    "md": "{{{}}}",
    "txt": "${{{}}}",
}
"""How a variable is written, by the suffix of a file."""

HEADS = {
    "prompty": "---\nname: {name}\nmodel:\n  api: chat\n---\nsystem:\n",
    "prompt": "---\nmodel: googleai/gemini-2.5-pro\nconfig:\n  temperature: 0.2\n---\n",
}
ASKED = {"prompty": "\nuser:\n"}


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(prog="benchmarks.prompt_folder", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    writer = Writer(rng)
    suffixes = list(OPENING)
    for number in range(given.files):
        suffix = suffixes[number % len(suffixes)]
        folder = given.output / f"team{number % 37:02}" / "prompts"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{'-'.join(writer.words(2))}-{number:05}.{suffix}"
        path.write_text(_prompt(writer, rng, suffix, path.stem), encoding="utf-8")


def _prompt(writer: Writer, rng: random.Random, suffix: str, name: str) -> str:
    words = min(writer.between(WORDS) for _ in range(SHORT))
    moving = rng.random() < SHARE_OF_FAULTS
    first = f"Given: {OPENING[suffix].format(rng.choice(MOVING))}\n" if moving else ""
    variables = [OPENING[suffix].format(one) for one in rng.sample(NAMES, 1 + number_of(rng))]
    head = HEADS.get(suffix, "").format(name=name)
    return f"{head}{first}{writer.manual(words)}\n{ASKED.get(suffix, '')}{' '.join(variables)}\n"


def number_of(rng: random.Random) -> int:
    """Return how many more variables than one a prompt has: mostly none."""
    return min(3, int(rng.expovariate(1.2)))


if __name__ == "__main__":
    main()
