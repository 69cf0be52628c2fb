"""Runs a builder that no other process can import, in this one: most knobs cannot be turned here."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from prefixwise.analyzers.builder_check.knobs import Surroundings
from prefixwise.analyzers.builder_check.runner import Failure, Ran
from prefixwise.analyzers.builder_check.variables import NAMES

KNOBS_HERE = ("random-seed", "zone", "cwd", "environment")
"""What can be changed in a running process, and set back."""


class InProcessRunner:
    """Calls a function again and again in this process; what it changes it sets back.

    Nobody watches what the function asks for, so a knob that moves nothing counts as not tested.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self.runs = 0
        self.version = ".".join(platform.python_version_tuple()[:2])

    def can(self, turned: Surroundings) -> bool:
        """Say whether the surroundings can be changed so here."""
        if turned.zone is not None and not hasattr(time, "tzset"):
            return False
        here = (turned.variables in ("as they are", "names", "added"), turned.folder != "renamed")
        return all(here) and (turned.clock, turned.hash_seed, turned.locale, turned.order) == (0, 0, None, "native")

    def run(self, turned: Surroundings, read: Collection[str] = (), *, look_for_sets: bool = False) -> Ran:
        """Call the function once in changed surroundings."""
        del read, look_for_sets
        self.runs += 1
        with ExitStack() as stack:
            before = stack.enter_context(_random_numbers(turned.random))
            stack.enter_context(_variables(turned))
            stack.enter_context(_folder(turned))
            try:
                value = json.dumps(_plain(_awaited(self._call())), allow_nan=False)
            except (TypeError, ValueError) as problem:
                return Ran(failure=Failure("call", type(problem).__name__, str(problem)))
            asked = {"random": 1} if random.getstate() != before else {}
        return Ran(value=value, asked=asked)

    def close(self) -> None:
        """Nothing runs."""


def _awaited(value: Any) -> Any:
    if isinstance(value, Awaitable):

        async def wait() -> Any:
            return await value

        return asyncio.run(wait())
    if isinstance(value, AsyncIterator):

        async def collect() -> list[Any]:
            return [item async for item in value]

        return asyncio.run(collect())
    return value


def _plain(value: Any) -> Any:
    """Return a model as the dictionary that it stands for."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return _plain(dump()) if callable(dump) else value


@contextmanager
def _random_numbers(seed: int | None) -> Iterator[object]:
    state = random.getstate()
    if seed is not None:
        random.seed(seed)
    try:
        yield random.getstate()
    finally:
        if seed is not None:
            random.setstate(state)


@contextmanager
def _variables(turned: Surroundings) -> Iterator[None]:
    changed = {"PREFIXWISE_CHECK": "1", "DEBUG": "1"} if turned.variables == "added" else {}
    if turned.variables == "names":
        changed = dict(NAMES)
    if turned.zone is not None:
        changed["TZ"] = turned.zone
    kept = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    _read_zone(turned)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _read_zone(turned)


def _read_zone(turned: Surroundings) -> None:
    if turned.zone is not None and hasattr(time, "tzset"):
        time.tzset()


@contextmanager
def _folder(turned: Surroundings) -> Iterator[None]:
    if turned.folder != "elsewhere":
        yield
        return
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as elsewhere:
        os.chdir(elsewhere)
        try:
            yield
        finally:
            os.chdir(here)
