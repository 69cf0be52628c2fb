"""Templates read one by one, or by several processes at once: each file is a prompt of its own.

Code is not shared out so: its values are followed from file to file, in one analysis.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.found import Stranded, TemplateTrait
from prefixwise.analyzers.static.templates.parts import Problem
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.analyzers.static.volatile import Volatile

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_PAYS = 10_000
"""Files for which another process pays: two of 5,000 each saved a tenth of the time for a quarter more of the CPU."""
_CHUNK = 100


class TemplateTask(NamedTuple):
    """A template to be read: its path, its text, and what is known of it from outside."""

    path: str
    text: str
    asked: PromptContext
    assumed: PromptContext


class TemplateAnswer(NamedTuple):
    """What was found in a template, and what of it could not be read."""

    found: tuple[Volatile | Stranded | TemplateTrait, ...]
    problems: tuple[Problem, ...]


@contextmanager
def templates_read(tasks: Sequence[TemplateTask], jobs: int = 1) -> Iterator[Callable[[], list[TemplateAnswer]]]:
    """Give what returns the answers, in the order of tasks; other processes work on them until it is called.

    The answers are the same for every number of processes. Where the system allows no processes, or loses one, all is
    read here.

    Args:
        tasks: What to read.
        jobs: Processes; 0 for as many as pay.
    """
    jobs = jobs or min(_processors(), len(tasks) // _PAYS)
    if jobs < 2 or len(tasks) < 2:
        yield lambda: read_all(tasks)
        return
    chunks = [tasks[start : start + _CHUNK] for start in range(0, len(tasks), _CHUNK)]
    pool, futures = _started(chunks, min(jobs, len(chunks)))
    try:
        yield lambda: _collected(futures) or read_all(tasks)
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def read_all(tasks: Sequence[TemplateTask]) -> list[TemplateAnswer]:
    """Return the answers to tasks, in their order."""
    return [_read(task) for task in tasks]


def _read(task: TemplateTask) -> TemplateAnswer:
    template = read_template(Source(task.path, task.text), task.asked, task.assumed)
    return TemplateAnswer((*template.volatiles, *template.stranded, *template.traits), template.problems)


def _started(
    chunks: Sequence[Sequence[TemplateTask]], jobs: int
) -> tuple[ProcessPoolExecutor | None, list[Future[list[TemplateAnswer]]]]:
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    try:
        pool = ProcessPoolExecutor(jobs, initializer=_ignore_interrupts)
        return pool, [pool.submit(read_all, chunk) for chunk in chunks]
    except (ImportError, NotImplementedError, OSError, BrokenExecutor):  # no semaphores, no more processes, or one lost
        return None, []


def _collected(futures: Sequence[Future[list[TemplateAnswer]]]) -> list[TemplateAnswer]:
    """Return all answers; none where a process was lost."""
    from concurrent.futures import BrokenExecutor

    try:
        return [answer for future in futures for answer in future.result()]
    except BrokenExecutor:
        return []


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that was started by the user."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
