"""Measure `prefixwise hitrate` against its yardsticks, all in one run: `python -m benchmarks.measure --help`.

Every figure is the CPU time (user + system) of a child process, interpreter start and imports included; rounds are
interleaved in random order and medians are compared. The yardsticks (`benchmarks/yardsticks.py`):

    decoding      a child that reads the log line by line and decodes every line to Python objects, with msgspec or
                  with orjson, whichever is the quicker here; nothing is kept
    tokenising    a child that builds tiktoken's o200k_base from bpe-openai's rank file, then encodes every distinct
                  text of the log once, from a file prepared beforehand; the decoding of the log is not in it.
                  `load` is the part of it that is interpreter start and building the encoding
    kvlint        version 0.1.1 in an environment of its own, on a log of bare OpenAI bodies, which it needs;
                  hitrate is then measured on that same file. `--kvlint-env DIR` switches it on

Targets: CPU of hitrate at most 2.0 x decoding + 1.2 x tokenising on both profiles; CPU(10 N) - CPU(N) on the same
prompts at most 1.5 x decoding of the added records; a hashed trace of 20,000 requests in 3 s; peak memory at most
500 MB on 50,000 requests; lint at most 2.0 x hitrate on as many; lint of 10,000 prompt files at most 3.0 x reading and
encoding each once; a fiftieth of kvlint's CPU on 20,000 requests. A loaded machine or rounds on both sides of a target
make it inconclusive. Peak memory is the largest single process's `ru_maxrss`.

Exit codes: 0 all reached, 1 a target missed, 2 could not run, 4 a target inconclusive.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

from benchmarks import rival, tables
from benchmarks.children import CannotRunError, Rounds, Verdict, command_under_test, exit_code, judge, run
from benchmarks.traffic import PROFILES

PARTS = ("shared95", "shared50", "repeat", "hashed", "memory", "lint", "prompts")
GENERATOR = ("words", "text", "traffic", "sessions", "generate", "prompt_folder")
ROOT = Path(__file__).parent
DECODING, TOKENISING, ADDED = 2.0, 1.2, 1.5
LINT, PROMPTS = 2.0, 3.0
HASHED_S, MEMORY_MB, KVLINT_TIMES, KVLINT_SIZE = 3.0, 500.0, 50.0, 20_000


class Bench:
    """One measuring run: where its logs lie, what it runs, what it found."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder = given, folder
        self.hitrate = [*command_under_test(given.command), "hitrate"]
        self.measured: dict[str, Rounds] = {}
        self.verdicts: list[Verdict] = []
        sources = [*(ROOT / f"{name}.py" for name in GENERATOR), *sorted(PROFILES.glob("*.toml"))]
        self._stamp = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]

    def log(self, profile: str, requests: int, *options: str) -> Path:
        """Return a generated log, made unless this version of the generator made it before."""
        name = "-".join([profile, str(requests), *(option.strip("-") for option in options), self._stamp])
        path = self.folder / f"{name}.jsonl"
        if not path.exists():
            part = path.with_suffix(".part")
            size = ["--profile", profile, "--requests", str(requests), *options]
            run([sys.executable, "-m", "benchmarks.generate", *size, "-o", str(part)])
            part.rename(path)
        return path

    def yardstick(self, name: str, *arguments: Path) -> list[str]:
        """Return the command of a yardstick."""
        return [sys.executable, "-m", "benchmarks.yardsticks", name, *map(str, arguments)]

    def count(self, log: Path) -> list[str]:
        """Return the command under test on `log`."""
        return [*self.hitrate, str(log), "--under", self.given.under, "--json"]

    def rounds(self, part: str, commands: dict[str, list[str]], number: int) -> Rounds:
        """Run `commands` in interleaved rounds and keep the costs under `part`."""
        print(f"measuring {part}: {number} rounds of {', '.join(commands)}", file=sys.stderr)
        rounds = self.measured.setdefault(part, Rounds(commands, dict(rival.ENVIRONMENT)))
        rounds.run(number, seed=len(self.measured))
        return rounds

    def profile(self, profile: str) -> None:
        """Compare hitrate with decoding and distinct tokenising on one profile."""
        log = self.log(profile, self.given.requests)
        texts = log.with_suffix(".texts")
        if not texts.exists():
            run(self.yardstick("texts", log, texts))
        commands = {
            "msgspec": self.yardstick("msgspec", log),
            "orjson": self.yardstick("orjson", log),
            "load": self.yardstick("load"),
            "tokenising": self.yardstick("tokenise", texts),
            "hitrate": self.count(log),
        }
        rounds = self.rounds(profile, commands, self.given.rounds)
        decoding, tokenising = rounds.cpu(quicker(rounds)), rounds.cpu("tokenising")
        allowed = [DECODING * decode + TOKENISING * tokens for decode, tokens in zip(decoding, tokenising, strict=True)]
        shares = [cpu / most for cpu, most in zip(rounds.cpu("hitrate"), allowed, strict=True)]
        target = f"{profile}: hitrate / ({DECODING} x decoding + {TOKENISING} x tokenising)"
        self.verdicts.append(judge(target, shares, 1.0, loaded=rounds.loaded))

    def repeat(self) -> None:
        """Compare what nine more writings of the same prompts add, to hitrate and to decoding."""
        one = self.log("shared95", self.given.repeat_requests)
        ten = self.log("shared95", self.given.repeat_requests, "--mode", "repeat10")
        commands = {
            f"{name} {label}": make
            for label, log in (("N", one), ("10 N", ten))
            for name, make in (
                ("msgspec", self.yardstick("msgspec", log)),
                ("orjson", self.yardstick("orjson", log)),
                ("hitrate", self.count(log)),
            )
        }
        rounds = self.rounds("repeat", commands, self.given.rounds)
        base = quicker(rounds, " 10 N").removesuffix(" 10 N")
        ratios = [
            (much - little) / max(1e-9, decode_much - decode_little)
            for much, little, decode_much, decode_little in zip(
                *(rounds.cpu(name) for name in ("hitrate 10 N", "hitrate N", f"{base} 10 N", f"{base} N")), strict=True
            )
        ]
        target = "repeat: hitrate(10 N) - hitrate(N) / decoding of the added records"
        self.verdicts.append(judge(target, ratios, ADDED, loaded=rounds.loaded))

    def hashed(self) -> None:
        """Measure a hashed trace."""
        trace = self.log("shared95", self.given.requests, "--hashed")
        commands = {name: self.yardstick(name, trace) for name in ("msgspec", "orjson")}
        rounds = self.rounds("hashed", commands | {"hitrate": self.count(trace)}, self.given.rounds)
        target = f"hashed: CPU s on {self.given.requests:,} requests"
        self.verdicts.append(judge(target, rounds.cpu("hitrate"), HASHED_S, loaded=rounds.loaded))

    def memory(self) -> None:
        """Measure peak memory, once: it does not depend on what else the machine does."""
        log = self.log("shared95", self.given.memory_requests)
        rounds = self.rounds("memory", {"hitrate": self.count(log)}, 1)
        peak = [cost.rss_mb for cost in rounds.costs["hitrate"]]
        self.verdicts.append(judge(f"memory: peak MB on {self.given.memory_requests:,} requests", peak, MEMORY_MB))

    def lint(self) -> None:
        """Compare lint with hitrate on the same logs."""
        for profile in ("shared95", "shared50"):
            log = self.log(profile, self.given.memory_requests)
            lint = [*self.hitrate[:-1], "lint", str(log), "--json", "--fail-on", "never"]
            rounds = self.rounds(f"lint {profile}", {"hitrate": self.count(log), "lint": lint}, self.given.rounds)
            ratios = [ours / base for ours, base in zip(rounds.cpu("lint"), rounds.cpu("hitrate"), strict=True)]
            self.verdicts.append(judge(f"lint / hitrate, {profile}", ratios, LINT, loaded=rounds.loaded))

    def prompts(self) -> None:
        """Compare lint of a folder of prompt files with reading and encoding each of them once."""
        folder = self.folder / f"prompts-{self.given.prompt_files}-{self._stamp}"
        if not folder.exists():
            size = ["--files", str(self.given.prompt_files)]
            run([sys.executable, "-m", "benchmarks.prompt_folder", *size, "-o", str(folder)])
        lint = [*self.hitrate[:-1], "lint", str(folder), "--json", "--fail-on", "never"]
        commands = {"reading and encoding": self.yardstick("folder", folder), "lint": lint}
        rounds = self.rounds("prompts", commands, self.given.rounds)
        ratios = [a / b for a, b in zip(rounds.cpu("lint"), rounds.cpu("reading and encoding"), strict=True)]
        target = f"prompts: lint / reading and encoding {self.given.prompt_files:,} files"
        self.verdicts.append(judge(target, ratios, PROMPTS, loaded=rounds.loaded))

    def kvlint(self) -> None:
        """Compare with kvlint on bare bodies; half the log shows what a further request costs each."""
        script, tokenizer = rival.prepare(Path(self.given.kvlint_env))
        size = self.given.kvlint_requests
        half, whole = (self.log("shared95", number, "--mode", "bodies") for number in (size // 2, size))
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "kvlint.json"
            commands = {
                "kvlint half": rival.command(script, tokenizer, half, report),
                "kvlint": rival.command(script, tokenizer, whole, report),
                "hitrate half": self.count(half),
                "hitrate": self.count(whole),
            }
            rounds = self.rounds("kvlint", commands, self.given.kvlint_rounds)
        ratios = [slow / fast for slow, fast in zip(rounds.cpu("kvlint"), rounds.cpu("hitrate"), strict=True)]
        target = f"kvlint: its CPU / hitrate's on {size:,} requests"
        verdict = judge(target, ratios, KVLINT_TIMES, at_most=False, loaded=rounds.loaded)
        self.verdicts.append(tables.too_small(verdict) if size < KVLINT_SIZE else verdict)


def quicker(rounds: Rounds, suffix: str = "") -> str:
    """Return which of the two decoders took less."""
    return min((f"{name}{suffix}" for name in ("msgspec", "orjson")), key=rounds.median)


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="benchmarks.measure", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--command", metavar="CMD", help="the command under test (default: the installed prefixwise)")
    parser.add_argument("--under", default="vllm:block=16", help="the rule to count under")
    parser.add_argument("--data", metavar="DIR", help="keep generated logs here (default: a temporary folder)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"comma-separated, of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="an odd number (default 5)")
    parser.add_argument("--requests", type=int, default=20_000, help="of a profile and of the hashed trace")
    parser.add_argument("--repeat-requests", type=int, default=5_000, help="N of the repeat part")
    parser.add_argument("--memory-requests", type=int, default=50_000)
    parser.add_argument("--prompt-files", type=int, default=10_000)
    parser.add_argument("--kvlint-env", metavar="DIR", help="also measure kvlint, its environment made here")
    parser.add_argument("--kvlint-requests", type=int, default=1_000)
    parser.add_argument("--kvlint-rounds", type=int, default=3, help="an odd number (default 3)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args()
    given.parts = [part for part in given.parts.split(",") if part]
    if given.rounds % 2 == 0 or given.kvlint_rounds % 2 == 0:
        parser.error("the number of rounds must be odd")
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    return given


def main() -> int:
    """Measure what was asked for, print it, return the exit code."""
    given = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(given.data or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(given, folder)
        try:
            for part in given.parts:
                bench.profile(part) if part.startswith("shared") else getattr(bench, part)()
            if given.kvlint_env:
                bench.kvlint()
        except CannotRunError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    result = tables.as_dict(bench.measured, bench.verdicts)
    print(json.dumps(result, indent=1) if given.json else tables.as_text(result))
    return exit_code(bench.verdicts)


if __name__ == "__main__":
    sys.exit(main())
