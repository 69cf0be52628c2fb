"""Measure bounded replays: `python -m benchmarks.replay`.

Rows of many-turn chats (shared system prompts, histories that grow) are made without text, ten million accesses to
blocks of 16 tokens, and replayed under each bounded rule; the figure is block accesses a CPU second of
`Policy.replay`. Target: a million.

Exit codes: 0 all reached, 1 a target missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from prefixwise.caches.policy import parse_policy
from prefixwise.corpus.rows import Row, Rows
from prefixwise.corpus.tree import PrefixTree

BLOCK = 16
RULES = (
    "vllm:block=16,capacity={blocks}",
    "sglang:page=16,capacity={blocks}",
    "lru:block=16,capacity={blocks}",
    "lfu:block=16,capacity={blocks}",
    "fifo:block=16,capacity={blocks}",
    "ttl:block=16,seconds=300",
)
LEAST = 1_000_000


def chats(accesses: int, seed: int = 7) -> Rows:
    """Return rows of chats that access about so many blocks: 60 applications, 300 chats at a time, up to 30 turns."""
    choose = random.Random(seed)
    tree = PrefixTree()
    root = tree.add_root()
    rows = Rows(tree)
    for names in (rows.files, rows.models, rows.providers, rows.tenants, rows.sessions, rows.replicas):
        names.number("")
    systems = [tree.add(root, choose.randrange(400, 1600)) for _ in range(60)]
    alive = [(choose.choice(systems), choose.randrange(1, 30)) for _ in range(300)]
    made, clock = 0, 0.0
    while made < accesses:
        place = choose.randrange(len(alive))
        node, turns = alive[place]
        node = tree.add(node, tree.depth[node] + choose.randrange(40, 200))
        alive[place] = (node, turns - 1) if turns > 1 else (choose.choice(systems), choose.randrange(1, 30))
        clock += choose.random()
        tokens = tree.depth[node]
        rows.append(Row(record=len(rows), node=node, prompt_tokens=tokens, start=clock))
        made += tokens // BLOCK
    return rows


def main() -> int:
    """Replay every rule and print a line for each."""
    parser = argparse.ArgumentParser(prog="benchmarks.replay", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--accesses", type=int, default=10_000_000)
    parser.add_argument("--blocks", type=int, default=50_000, help="capacity of the caches")
    given = parser.parse_args()
    rows = chats(given.accesses)
    accesses = sum(tokens // BLOCK for tokens in rows.prompt_tokens)
    total = sum(rows.prompt_tokens)
    print(f"{len(rows):,} requests, {accesses:,} block accesses")
    missed = 0
    for rule in RULES:
        policy = parse_policy(rule.format(blocks=given.blocks))
        start = time.process_time()
        matched = policy.replay(rows).matched
        speed = accesses / (time.process_time() - start)
        missed += speed < LEAST
        print(f"{policy.label:45} {speed / 1e6:6.2f} M/s   hit rate {sum(matched) / total:.3f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
