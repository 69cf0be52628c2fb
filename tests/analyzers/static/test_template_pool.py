"""Templates read by several processes: the same answers, and what happens where there can be none."""

from __future__ import annotations

import concurrent.futures
import os
from typing import Any

import pytest

from prefixwise.analyzers.static import template_pool
from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.template_pool import TemplateAnswer, TemplateTask, read_all, templates_read

NOTHING = PromptContext()
TEXTS = ("Hello {{ user_name }}, it is {{ now }}.\n" + "Be brief. " * 60, "Be brief.", "{% if", "{{ a.b }} ${x}")
TASKS = [TemplateTask(f"{n}.jinja", TEXTS[n % 4], NOTHING, PromptContext(model="gpt-5")) for n in range(240)]


def die() -> None:
    os._exit(1)


def answers(jobs: int) -> list[TemplateAnswer]:
    with templates_read(TASKS, jobs) as read:
        return read()


def test_several_processes_give_what_one_gives() -> None:
    alone = answers(1)
    assert len(alone) == 240
    assert alone[0].found
    assert alone[2].problems
    assert answers(3) == alone


def test_a_lost_process_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_pool, "_ignore_interrupts", die)
    assert answers(2) == read_all(TASKS)


@pytest.mark.parametrize("problem", [OSError("no semaphores"), ImportError("sem_open"), NotImplementedError()])
def test_a_system_without_processes_loses_nothing(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise problem

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", refuse)
    assert answers(2) == read_all(TASKS)


def test_few_files_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(template_pool, "_started", refuse)
    assert answers(0) == answers(1)
    with templates_read(TASKS[:1], 8) as read:
        assert read() == read_all(TASKS[:1])
