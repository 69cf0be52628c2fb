"""A bound on CPU time, for what must not grow out of hand: it ends what runs longer, however busy the machine is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail when the code inside takes more CPU time than this."""

    def stop(*_: Any) -> None:
        raise AssertionError(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
