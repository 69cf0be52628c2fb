"""Families of traffic: what each injects, how its twins differ, and which rule should say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.breakers.scene import Exchange, Scene, Variant

Build = Callable[[Scene], list[Exchange]]

OPENAI_21 = "openai"
"""The 21 causes and 7 controls over Chat Completions by which tools of this kind were compared before."""
ANTHROPIC_11 = "anthropic"
"""The 11 causes and 2 controls over Messages of the same comparison."""


@dataclass(frozen=True)
class Family:
    """Traffic with one cause, or without any.

    Attributes:
        name: Of the family.
        system: Whose cache it is; a key of `log.CACHES`.
        build: Draws the exchanges of a scene.
        rule: The rule that names the cause; empty for controls.
        also: Other rules that name it as well.
        twins: In which ways its twins are free of the cause; a seed takes one of them in turn.
        differs: Where a record and that of the twin may differ: pointers into the record, `*` for any key.
        comparison: The published comparison that it belongs to, if any.
        needs_usage: Whether only the reported usage shows the cause.
        is_alone: Whether the log holds no second application.
        costs: Whether the cause costs cached tokens by the rules of the cache.
    """

    name: str
    system: str
    build: Build
    rule: str = ""
    also: tuple[str, ...] = ()
    twins: tuple[Variant, ...] = ()
    differs: tuple[str, ...] = ()
    comparison: str = ""
    needs_usage: bool = False
    is_alone: bool = False
    costs: bool = True

    @property
    def what(self) -> str:
        """What is done to the traffic, in a sentence."""
        return (self.build.__doc__ or "").strip()

    @property
    def is_control(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.rule

    def twin(self, seed: int) -> Variant:
        """Return which twin goes with a seed."""
        return self.twins[seed % len(self.twins)]


FAMILIES: dict[str, Family] = {}


def breaker(
    rule: str,
    system: str,
    twins: tuple[Variant, ...],
    differs: tuple[str, ...],
    *,
    also: tuple[str, ...] = (),
    comparison: str = "",
    needs_usage: bool = False,
    is_alone: bool = False,
    costs: bool = True,
) -> Callable[[Build], Build]:
    """Register the decorated function as the family of its name, with a cause."""

    def register(build: Build) -> Build:
        name = build.__name__
        FAMILIES[name] = Family(
            name, system, build, rule, also, twins, differs, comparison, needs_usage, is_alone, costs
        )
        return build

    return register


def control(
    system: str, *, comparison: str = "", needs_usage: bool = False, is_alone: bool = False
) -> Callable[[Build], Build]:
    """Register the decorated function as the family of its name, with nothing wrong."""

    def register(build: Build) -> Build:
        name = build.__name__
        FAMILIES[name] = Family(name, system, build, comparison=comparison, needs_usage=needs_usage, is_alone=is_alone)
        return build

    return register
