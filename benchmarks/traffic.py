"""Profiles: what kind of traffic a generated log holds. One TOML file a profile, under `profiles/`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROFILES = Path(__file__).parent / "profiles"
BREAKAGES = ("clock_first", "uuid_middle", "tools_shuffled", "history_rewritten", "user_first")
KINDS = ("chat", "agent", "ask")

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Traffic:
    """One kind of session: `chat` (many turns), `agent` (tool calls and results), `ask` (one question)."""

    kind: str
    share: float  # of all sessions, relative to the other kinds
    turns: Bounds  # requests in a session
    question_words: Bounds  # what the user writes in a turn; in an agent loop, once
    answer_words: Bounds  # what the assistant writes; in an agent loop, beside the call
    result_words: Bounds = (0, 0)  # what a tool answers


@dataclass(frozen=True)
class Profile:
    """The workload of a log. Two-number fields are bounds, drawn from uniformly, both ends included."""

    name: str
    seed: int
    applications: int  # each with a system prompt, tools and a model of its own
    alive: int  # sessions that go on at the same time
    gap_ms: Bounds  # between two requests of one session
    system_words: Bounds
    tools: Bounds
    traffic: tuple[Traffic, ...]
    broken: tuple[tuple[str, float], ...]  # percent of the sessions, by what is broken about them


def load(name: str) -> Profile:
    """Return the profile called `name`, or the one in the file of that path."""
    path = Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"
    raw: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    broken = tuple((str(key), float(value)) for key, value in raw.pop("broken", {}).items())
    traffic = tuple(Traffic(**_bounds(entry)) for entry in raw.pop("traffic"))
    unknown = {key for key, _ in broken} - set(BREAKAGES) | {entry.kind for entry in traffic} - set(KINDS)
    if unknown:
        raise SystemExit(f"{path}: unknown names {', '.join(sorted(unknown))}; known: {', '.join(KINDS + BREAKAGES)}")
    return Profile(name=path.stem, traffic=traffic, broken=broken, **_bounds(raw))


def _bounds(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
