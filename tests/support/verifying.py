"""Logs that are sent to a server, and what comes of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from prefixwise.core.report import Report
from prefixwise.corpus.again import kept, requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.workflows.replaying import Target
from prefixwise.workflows.verifying import VerifyAsked, verify

SYSTEM = "You answer questions about ferries. Never guess a fare.\n" * 12


def chats(count: int, seed: int = 3) -> list[dict[str, Any]]:
    """Return turns of three conversations of two tenants, as they came."""
    rng = random.Random(seed)
    talks: list[list[dict[str, str]]] = [[{"role": "system", "content": SYSTEM}] for _ in range(3)]
    found = []
    for number in range(count):
        place = rng.randrange(3)
        talk = talks[place]
        talk.append({"role": "user", "content": f"Question {rng.randrange(4)}: when does the boat leave?"})
        body = {"model": "gpt-4o", "messages": list(talk), "cache_salt": "ab"[place % 2]}
        found.append({"request": body, "ts": 1_700_000_000 + number})
        talk.append({"role": "assistant", "content": f"At {number} o'clock."})
    return found


def ids(count: int, seed: int = 5) -> list[dict[str, Any]]:
    """Return prompts of ids that share beginnings of every length."""
    rng = random.Random(seed)
    seen: list[list[int]] = [[rng.randrange(250) for _ in range(300)]]
    for _ in range(count):
        prompt = rng.choice(seen)[: rng.randrange(1, 300)] + [rng.randrange(250) for _ in range(rng.randrange(1, 90))]
        seen.append(prompt)
    return [
        {"request": {"model": "m", "prompt_token_ids": one}, "ts": 1_700_000_000 + n} for n, one in enumerate(seen[1:])
    ]


def verified(
    tmp_path: Path,
    records: list[dict[str, Any]],
    url: str,
    protocol: str = "prefixwise",
    *,
    model: str = "sim",
    **more: Any,
) -> Report:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    corpus = read_corpus([str(path)])
    asked = VerifyAsked(target=Target(address=url, protocol=protocol, model=model), **more)
    with kept([str(path)], None) as stdin:  # type: ignore[arg-type]

        def again(*, wanted: Any = None) -> Any:
            return requests_again([str(path)], corpus.rows, ReadOptions(), stdin, wanted)

        return verify(asked, corpus, again, choose, print, lambda *_: None)
