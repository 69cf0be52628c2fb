"""Run child processes and judge what they cost: CPU time and peak memory, medians over interleaved rounds.

CPU time is user plus system time of the child and of every process that it waited for, as `wait4` reports it: it
includes the start of the interpreter and all imports. Peak memory is `ru_maxrss`, the largest of these processes.
"""

from __future__ import annotations

import math
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

COVERAGE = 0.93  # of the interval of a median; five rounds reach it with their smallest and largest
WIDE = 0.3  # an interval wider than this share of its median, and as near to the target, decides nothing


class CannotRunError(Exception):
    """A child failed: its command and the end of its stderr."""


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    cpu_s: float
    rss_mb: float
    output: str


def run(command: Sequence[str], env: Mapping[str, str] | None = None, keep: int = 400) -> Cost:
    """Run `command` to its end. Raises CannotRunError where it cannot start or does not exit with 0."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            environment = {**os.environ, **(env or {})}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody compiles a program anew each time
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
        except OSError as error:
            raise CannotRunError(f"{command[0]}: {error.strerror}") from error
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(max(0, err.seek(0, os.SEEK_END) - keep))
        complaint = err.read().decode("utf-8", "replace").strip()
        if child.returncode:
            raise CannotRunError(f"`{' '.join(command)}` ended with {child.returncode}: {complaint}")
        out.seek(0)
        output = out.read(keep).decode("utf-8", "replace")
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / scale, output)


def command_under_test(given: str | None) -> list[str]:
    """Return the command to measure: what was given, else the installed script, else the module."""
    if given:
        return shlex.split(given)
    script = Path(sys.executable).with_name("prefixwise")
    return [str(script)] if script.exists() and shutil.which(script) else [sys.executable, "-m", "prefixwise"]


@dataclass
class Rounds:
    """Commands that are run in turn, round after round, in an order shuffled anew each time."""

    commands: dict[str, list[str]]
    env: dict[str, str] = field(default_factory=dict)
    costs: dict[str, list[Cost]] = field(default_factory=lambda: defaultdict(list))
    load: float = 0.0  # the highest load average of the last minute seen before, between and after the rounds

    def run(self, rounds: int, seed: int = 0) -> None:
        """Run every command `rounds` times."""
        rng = random.Random(seed)
        self.load = max(self.load, os.getloadavg()[0])
        for _ in range(rounds):
            names = list(self.commands)
            rng.shuffle(names)
            for name in names:
                self.costs[name].append(run(self.commands[name], self.env))
            self.load = max(self.load, os.getloadavg()[0])

    def cpu(self, name: str) -> list[float]:
        """Return the CPU seconds of a command, one a round."""
        return [cost.cpu_s for cost in self.costs[name]]

    def median(self, name: str) -> float:
        """Return the median of a command's CPU seconds."""
        return statistics.median(self.cpu(name))

    @property
    def loaded(self) -> bool:
        """Whether more processes wanted to run than there are cores."""
        return self.load > (os.cpu_count() or 1)


@dataclass(frozen=True)
class Verdict:
    """A figure against its target: `reached`, `missed`, or `inconclusive` with the reason."""

    target: str
    value: float
    low: float
    high: float
    n: int
    limit: float
    at_most: bool
    verdict: str
    reason: str = ""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the distribution-free interval of the median: the narrowest order statistics that cover enough."""
    ordered, n = sorted(values), len(values)
    inner, tail = 0, 0.0
    for index in range((n - 1) // 2):
        tail += 2 * math.comb(n, index) / 2**n
        if 1 - tail < COVERAGE:
            break
        inner = index
    return ordered[inner], ordered[n - 1 - inner]


def judge(target: str, values: Sequence[float], limit: float, *, at_most: bool = True, loaded: bool = False) -> Verdict:
    """Judge the median of one value a round. A loaded machine or an interval across the target decides nothing."""
    middle = statistics.median(values)
    low, high = interval(values)
    wide = (high - low) / middle if middle else math.inf
    reason = ""
    if loaded:
        reason = "load average above the number of cores"
    elif low <= limit < high:
        reason = "the rounds lie on both sides of the target"
    elif wide > WIDE and abs(limit - middle) < high - low:
        reason = "the rounds differ by more than their distance to the target"
    good = middle <= limit if at_most else middle >= limit
    word = "inconclusive" if reason else "reached" if good else "missed"
    return Verdict(target, middle, low, high, len(values), limit, at_most, word, reason)


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """Return 1 where a target was missed, 4 where one is inconclusive, else 0."""
    words = {verdict.verdict for verdict in verdicts}
    return 1 if "missed" in words else 4 if "inconclusive" in words else 0
