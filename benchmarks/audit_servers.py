"""`prefixwise audit live` against bundled servers whose truth is known: `python -m benchmarks.audit_servers`.

Server and command are processes of their own and speak over real sockets. Each case runs with so many seeds; the page
of the target says how many of them have to come out as they should.

    apart      tenants by key: ISOLATED
    shared     no tenants: LEAK, by usage
    hidden     no tenants, no usage: LEAK, by times alone, in 19 of 20 runs
    scattered  no tenants, no usage, five replicas of which one has the prompt: LEAK by times
    off        no cache: INCONCLUSIVE
    stirred    tenants by key, no usage, answers 2 ms sooner after others' traffic: not LEAK
    tier       tenants by key, a host tier that ignores them: LEAK after eviction, ISOLATED before

Exit codes: 0 all reached, 1 a target missed, 2 could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENVIRONMENT = {"NORTH": "key-of-north", "SOUTH": "key-of-south"}
TENANTS = '[tenants]\nnorth = ["key-of-north"]\nsouth = ["key-of-south"]\n'
FRESH, BEHIND = "north → south", "north → south, after eviction"


@dataclass(frozen=True)
class Case:
    """A server, how it is audited, and what has to come out: (comparison, verdicts that are right, by what)."""

    server: tuple[str, ...]
    audit: tuple[str, ...]
    wanted: tuple[tuple[str, tuple[str, ...], str], ...]
    apart: bool = False
    least: float = 1.0


MODEL = ("--model", "sim:a=0.004,b=0.00002,noise=0.1,seed={seed}")
CASES = {
    "apart": Case(MODEL, (), ((FRESH, ("ISOLATED",), "usage"),), apart=True),
    "shared": Case(MODEL, (), ((FRESH, ("LEAK",), "usage"),)),
    "hidden": Case((*MODEL, "--fault", "usage=missing"), (), ((FRESH, ("LEAK",), "timing"),), least=0.95),
    "scattered": Case(
        (*MODEL, "--fault", "usage=missing", "--fault", "replicas=5", "--fault", "scatter"),
        ("--certify",),
        ((FRESH, ("LEAK",), "timing"),),
        least=0.95,
    ),
    "off": Case((*MODEL, "--fault", "no-cache"), ("--blocks", "60"), ((FRESH, ("INCONCLUSIVE",), ""),)),
    "stirred": Case(
        (*MODEL, "--fault", "usage=missing", "--fault", "stirred=0.002"),
        (),
        ((FRESH, ("INCONCLUSIVE", "ISOLATED"), ""),),
        apart=True,
    ),
    "tier": Case(
        (*MODEL, "--capacity", "4ktokens", "--host", "200ktokens", "--write", "back", "--fault", "salt-ignored"),
        ("--evict", "6000"),
        ((FRESH, ("ISOLATED",), "usage"), (BEHIND, ("LEAK",), "usage")),
        apart=True,
    ),
}


def served(case: Case, seed: int, tenants: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return its process and address."""
    arguments = [one.format(seed=seed) for one in case.server]
    if case.apart:
        arguments += ["--tenants", str(tenants)]
    command = [sys.executable, "-m", "prefixwise", "serve", "--port", "0", "--seed", str(seed), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr or ():
        found = re.search(r"(http://\S+)/v1", line)
        if found:
            return process, found[1]
    raise SystemExit(2)


def audited(case: Case, seed: int, tenants: Path, tokens: int) -> dict[str, Any]:
    """Audit a server with a seed; return the judgements by comparison."""
    process, url = served(case, seed, tenants)
    try:
        command = [
            *(sys.executable, "-m", "prefixwise", "audit", "live", "--target", url, "--protocol", "prefixwise"),
            *("--model", "sim", "--tenant", "north=NORTH", "--tenant", "south=SOUTH", "--one-way", "--wait", "0"),
            *("--tokens", str(tokens), "--seed", str(seed), "--no-progress", "--quiet", "--json", *case.audit),
        ]
        done = subprocess.run(
            command, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, text=True, check=False
        )
        found = json.loads(done.stdout)["values"]["audit"]["comparisons"]
        return {one["name"]: one["judged"] for one in found}
    finally:
        process.terminate()
        process.wait()


def right(case: Case, judged: dict[str, Any]) -> bool:
    """Return whether an audit came out as it should."""
    return all(
        judged[name]["verdict"] in verdicts and (not by or judged[name]["by"] == by)
        for name, verdicts, by in case.wanted
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=256)
    asked = parser.parse_args(arguments)
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        tenants = Path(folder) / "tenants.toml"
        tenants.write_text(TENANTS, encoding="utf-8")
        for name in asked.cases.split(","):
            case, began = CASES[name], time.monotonic()
            found = [audited(case, seed, tenants, asked.tokens) for seed in range(asked.seeds)]
            good = sum(right(case, one) for one in found)
            missed |= good < case.least * asked.seeds
            print(f"{name:10} {good} of {asked.seeds} as they should, {time.monotonic() - began:,.0f} s", flush=True)
            for seed, one in enumerate(found):
                if not right(case, one):
                    print(f"    seed {seed}: {one}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
