"""Write a seeded request log, or a hashed trace of the same traffic: `python -m benchmarks.generate --help`.

The same profile, seed and size give the same bytes, and a log of N requests is the beginning of any longer one.
Nothing is kept but the applications and the sessions that are alive, so memory does not grow with the log.

Modes:
    log       one gateway record a line: `ts`, `tenant`, `session`, `request` (an OpenAI chat body), `response` (usage)
    repeat10  the N requests of `log`, then the same bodies nine times more with later times and new session names
    bodies    the bare request bodies, for tools that read no gateway records

`--hashed` writes a Mooncake-style trace instead: `timestamp` (ms), `input_length`, `output_length`, `hash_ids`, with
the same arrivals and the same sharing. Token counts in `usage` and in the trace are estimates from characters.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import TextIO

from benchmarks.sessions import Application, Session, Turn, clock
from benchmarks.text import Writer
from benchmarks.traffic import Profile, load

REPEATS = 10
CACHE_MINIMUM, CACHE_STEP = 1024, 128  # how a hosted provider reports cached tokens

Arrival = tuple[int, Session, Turn]


def arrivals(profile: Profile, seed: int) -> Iterator[Arrival]:
    """Yield (ms since the beginning, session, turn) for ever, in time order, sessions interleaved."""
    write = Writer(random.Random(seed))
    applications = [Application(number, profile, write) for number in range(profile.applications)]
    kinds = list(accumulate(traffic.share for traffic in profile.traffic))
    faults = list(accumulate(percent for _, percent in profile.broken))
    names = [name for name, _ in profile.broken]
    made = 0

    def start() -> Session:
        nonlocal made
        made += 1
        application = write.rng.choice(applications)
        traffic = write.rng.choices(profile.traffic, cum_weights=kinds)[0]
        draw = write.rng.random() * 100
        broken = next((name for name, limit in zip(names, faults, strict=True) if draw < limit), "")
        return Session(f"s{made:07d}", application, traffic, broken, write)

    queue = [(write.between((0, profile.gap_ms[1])), slot, start()) for slot in range(profile.alive)]
    heapq.heapify(queue)
    while True:
        now, slot, session = queue[0]
        yield now, session, session.turn(now)
        later = now + write.between(profile.gap_ms)
        heapq.heapreplace(queue, (later, slot, session if session.left else start()))


def record(arrival: Arrival, lap: int = 0, shift: int = 0) -> str:
    """Return the gateway line of a request; `lap` counts earlier writings of the same bodies."""
    now, session, turn = arrival
    shared = turn.prompt_tokens - 1 if lap else turn.shared_tokens
    cached = shared // CACHE_STEP * CACHE_STEP if shared >= CACHE_MINIMUM else 0
    name = f"{session.name}-{lap}" if lap else session.name
    return (
        f'{{"ts":"{clock(now + shift)}","tenant":"{session.tenant}","session":"{name}","request":{body(arrival)},'
        f'"response":{{"usage":{{"prompt_tokens":{turn.prompt_tokens},"completion_tokens":{turn.completion_tokens},'
        f'"prompt_tokens_details":{{"cached_tokens":{cached}}}}}}}}}\n'
    )


def body(arrival: Arrival) -> str:
    """Return the OpenAI chat body of a request."""
    _, session, turn = arrival
    return f'{{"model":"{session.application.model}","messages":[{turn.messages}],"tools":[{turn.tools}]}}'


def write_log(profile: Profile, seed: int, requests: int, out: TextIO, laps: int = 1) -> None:
    """Write `requests` gateway records, `laps` times over."""
    shift = 0
    for lap in range(laps):
        last = 0
        for arrival in islice(arrivals(profile, seed), requests):
            out.write(record(arrival, lap, shift))
            last = arrival[0]
        shift += last + profile.gap_ms[1]


def write_bodies(profile: Profile, seed: int, requests: int, out: TextIO) -> None:
    """Write `requests` bare bodies."""
    for arrival in islice(arrivals(profile, seed), requests):
        out.write(body(arrival) + "\n")


def write_hashed(profile: Profile, seed: int, requests: int, out: TextIO, block: int) -> None:
    """Write a trace of `requests` lines whose equal `hash_ids` are equal prefixes of `block` tokens each.

    A prompt begins with the ids of the session's last prompt, or of the application's first one, as far as the
    turn shares its text; all further ids are new. The last id may stand for a partial block, as in Mooncake's files.
    """
    used = 0
    known: dict[str, list[int]] = {}  # by application; and by session while it lives
    for now, session, turn in islice(arrivals(profile, seed), requests):
        before = known.get(session.name) or known.get(session.application.name, [])
        ids = before[: turn.shared_tokens // block]
        new = -(-turn.prompt_tokens // block) - len(ids)
        ids += range(used, used + new)
        used += new
        if session.left:
            known[session.name] = ids
        else:
            known.pop(session.name, None)
        if session.plain:
            known.setdefault(session.application.name, ids)
        out.write(
            f'{{"timestamp": {now}, "input_length": {turn.prompt_tokens}, "output_length": {turn.completion_tokens}, '
            f'"hash_ids": {ids}}}\n'
        )


def main() -> None:
    """Read the arguments, write the file."""
    parser = argparse.ArgumentParser(prog="benchmarks.generate", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--profile", default="shared95", help="a name under benchmarks/profiles, or a .toml file")
    parser.add_argument("--requests", type=int, default=20_000, metavar="N", help="how many requests (default 20000)")
    parser.add_argument("--mode", choices=("log", "repeat10", "bodies"), default="log")
    parser.add_argument("--hashed", action="store_true", help="a Mooncake-style trace instead of text")
    parser.add_argument("--block", type=int, default=16, help="tokens behind one hash id (default 16)")
    parser.add_argument("--seed", type=int, help="another seed than the profile's")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    given = parser.parse_args()
    if given.requests < 1 or given.block < 1:
        parser.error("--requests and --block must be at least 1")
    profile = load(given.profile)
    seed = profile.seed if given.seed is None else given.seed
    target = Path(given.output) if given.output else sys.stdout.fileno()
    with open(target, "w", encoding="utf-8", newline="\n") as out:
        if given.hashed:
            write_hashed(profile, seed, given.requests, out, given.block)
        elif given.mode == "bodies":
            write_bodies(profile, seed, given.requests, out)
        else:
            write_log(profile, seed, given.requests, out, REPEATS if given.mode == "repeat10" else 1)


if __name__ == "__main__":
    main()
