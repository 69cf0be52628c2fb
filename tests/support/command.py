"""Runs the command as a user does: a process of its own, its exit code and its two streams."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What must never reach a terminal as it is: C0 but tab and line feed, DEL, C1, bidi and zero-width characters.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
HOSTILE = (
    "\x1b[31mRED\x1b[0m\x1b]0;title\x07\x9b31m\x00\u202eevil\u2066\u200b\x85\u2028|`<b>[x](y)\r\n"
    "::error::x ##[group] \ud800 \U000e0041"
)

Run = Callable[..., "Result"]


@dataclass(frozen=True)
class Result:
    """How one run ended."""

    code: int
    out: str
    err: str

    def check(self, *codes: int) -> Result:
        """Assert what holds for every run: the exit code, no traceback, nothing raw, errors on stderr alone."""
        assert self.code in codes, f"exit code {self.code}, not {codes}\n{self.err[:2000]}"
        both = self.out + self.err
        assert "Traceback" not in both
        assert "internal error" not in self.err, self.err[:2000]
        assert not UNSAFE.search(both.replace("\r\n", "\n")), UNSAFE.findall(both.replace("\r\n", "\n"))[:5]
        if self.code in (2, 3):
            assert self.out == ""
            assert len(re.findall(r"^[Ee]rror: ", self.err, re.MULTILINE)) == 1, self.err[:2000]
        return self

    def json(self) -> Any:
        """Return stdout as JSON: it must be one document and nothing else."""
        return json.loads(self.out)


def environment(home: Path, extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without what would change the output."""
    changing = ("PREFIXWISE_", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "COV_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    return {**clean, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), **(extra or {})}


def command(args: Sequence[object]) -> list[str]:
    """Return the command line that runs prefixwise with `args`."""
    return [sys.executable, "-m", "prefixwise", *map(str, args)]


def like_any_user() -> None:
    """Give up root's right to pass over file permissions; nothing to do for anybody else."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def chat(text: str = "When is the next ferry?", **more: Any) -> dict[str, Any]:
    """Return a Chat Completions body."""
    system = "You answer questions about ferries. " * 12
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return {"model": "gpt-4o", "messages": messages, **more}


def lines(*records: Any) -> bytes:
    """Return records as JSONL."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


# Prompts as token ids: no vocabulary is loaded for them, which takes longer than all the rest of a run.
GOOD = lines(*({"model": "gpt-4o", "prompt": [*range(90), number]} for number in range(5)))
