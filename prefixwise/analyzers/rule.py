"""What a lint rule is: one kind of instability, its page, and how it is seen in a log.

Rules stand in `rules/`, one file a kind. What a rule looks at decides its base class: two requests of which the later
should have continued the earlier (`PairRule`), a stretch of a system prompt or template that moves (`SpanRule`), or
the log as a whole (`LogRule`). They are asked in this order for each pair: pair rules of the stage FRONT (what makes a
cache another cache), then, where the texts part, those of the stage TEXT and the span rules, then, where the texts
agree but usage says that nothing was served, those of the stage BEHIND. The first that claims a pair has it.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.registry import Registry
from prefixwise.core.request import Request

if TYPE_CHECKING:
    from prefixwise.analyzers.fixes.bench import Bench
    from prefixwise.analyzers.fixes.edits import Mended
    from prefixwise.analyzers.fixes.seen import Seen
    from prefixwise.analyzers.lint.claims import Claim
    from prefixwise.analyzers.lint.compared import Compared
    from prefixwise.analyzers.lint.log import Log
    from prefixwise.analyzers.lint.slots import Slot


class Stage(IntEnum):
    """When a pair rule is asked."""

    FRONT = 0
    """Model, parameters, namespace: asked of every pair."""
    TEXT = 1
    """Asked where the texts part, with both documents at hand."""
    BEHIND = 2
    """Asked where the texts agree and usage says miss, or does not say."""


class Rule(ABC):
    """One kind of instability. The docstring of a subclass is its explanation page, in Markdown.

    The page's first line is a title; its fenced blocks ```` ```jsonl bad ```` and ```` ```jsonl good ```` are logs, of
    which the first must yield the rule and the second nothing above info.

    Attributes:
        name: The kind's name; `code`: its alias, a letter for the family and a number.
        summary: One line.
        severity: At its usual place and frequency; position, frequency and size move it.
        fix: How to mend it, one or two sentences; `safety`: whether a tool may do that by itself.
        where: Parts of a request in which it occurs.
        modes: What it can be seen in.
        volatile: What it knows in sources from which prompts are built; seen in them, it is its rule.
        rank: Place in the order in which rules of one base class and stage are asked; low first. Log rules below 50
            are asked before the stage BEHIND.
        everywhere: Whether its causes lie outside applications, so that those of all applications are one finding.
        deployable: Whether a single change between two stable stretches is a deployment and no fault.
        variants_are_meant: Whether several forms side by side, none of which changes inside a conversation, are an
            experiment and no fault.
        of_whole_file: Whether it is about a file and not about a place in it, though it names one.
    """

    name: ClassVar[str]
    code: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity]
    fix: ClassVar[str]
    safety: ClassVar[Safety] = Safety.NONE
    where: ClassVar[tuple[Where, ...]]
    modes: ClassVar[tuple[Mode, ...]] = (Mode.LOG,)
    volatile: ClassVar[frozenset[VolatileKind]] = frozenset()
    rank: ClassVar[int] = 50
    everywhere: ClassVar[bool] = False
    deployable: ClassVar[bool] = True
    variants_are_meant: ClassVar[bool] = True
    of_whole_file: ClassVar[bool] = False

    @property
    def page(self) -> str:
        """The explanation in Markdown."""
        return inspect.cleandoc(type(self).__doc__ or "")

    @property
    def mends(self) -> bool:
        """Whether requests can be mended at all; `repair` says whether those of some claims can."""
        return type(self).repair is not Rule.repair

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - for those that can
        """Return a request as it would have been sent after the fix, None where no request shows the fix.

        Everything but the place is byte for byte what it was, and a request without the place is handed back as it is,
        the same object; nothing is changed in place. To repair what was repaired changes nothing.

        Args:
            request: Any request of the application, whether a claim is about it or not: a prefix is shared only where
                all are mended alike.
            claims: All claims of this rule on the application.
        """
        return None

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:  # noqa: ARG002 - for those that can
        """Return the edits of a source that mend what was seen of the rule's kind, None where none is certain.

        Args:
            seen: What an analysis found.
            bench: The sources it found it in.
        """
        return None

    def weigh(self, log: Log, claims: Sequence[Claim]) -> Severity | None:  # noqa: ARG002 - for rules that count
        """Return how bad the claims of one cause are together, None to leave it to what is usual for the rule."""
        return None


class SourceRule(Rule):
    """Is seen in sources only: what templates and prompt-building code do, whatever is sent."""

    modes: ClassVar[tuple[Mode, ...]] = (Mode.STATIC,)


class PairRule(Rule):
    """Looks at a request and the earlier one that it continues, or resembles.

    Attributes:
        stage: When it is asked; `also_at`: when it is asked too.
        despite_hits: Whether a rule of the stage FRONT is asked of pairs, too, of which usage says that most was
            served; it then looks itself at what its kind can cost.
    """

    stage: ClassVar[Stage] = Stage.TEXT
    also_at: ClassVar[tuple[Stage, ...]] = ()
    despite_hits: ClassVar[bool] = False

    @abstractmethod
    def detect(self, pair: Compared) -> Claim | None:
        """Return what it has to say of a pair, None where it is not its kind."""

    def otherwise(self, pair: Compared) -> Claim | None:  # noqa: ARG002 - for rules that have something to say
        """Return what a text rule says where no rule for moving values knows what moves; by default nothing."""
        return None


class SpanRule(Rule):
    """Looks at one place of the system prompt, or of a template, and the values that stood there over time."""

    @abstractmethod
    def detect(self, slot: Slot) -> Claim | None:
        """Return a claim on every change at this place, None where it is not its kind; its pair is the first change."""


class LogRule(Rule):
    """Looks at everything: conversations, markers, usage."""

    @abstractmethod
    def detect(self, log: Log) -> Iterable[Claim]:
        """Yield what it finds, once a pair or record."""


RULES: Registry[Rule] = Registry("rule", "prefixwise.analyzers.rules", "rules")


def rule_named(name: str) -> Rule:
    """Return the rule of a name or code. Raises UserError with the nearest name otherwise."""
    for rule in RULES:
        if rule.code.lower() == name.lower():
            return rule
    return RULES.get(name)


def chosen_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of the rules that are wanted.

    Args:
        select: Names, codes or beginnings of codes; all rules where there are none.
        ignore: The same; wins.

    Raises:
        UserError: One of them matches no rule.
    """
    return (rules_matching(select) or frozenset(RULES.names())) - rules_matching(ignore)


def rules_matching(wanted: Iterable[str], where: str = "--select, --ignore") -> frozenset[str]:
    """Return the names of the rules that are meant by names, codes or beginnings of codes, with commas between.

    Args:
        wanted: Any of these.
        where: Where they stand, for the message.

    Raises:
        UserError: One of them matches no rule.
    """
    return frozenset(name for one in wanted for part in one.split(",") for name in _matching(part.strip(), where))


def _matching(wanted: str, where: str) -> list[str]:
    by_code = [rule.name for rule in RULES if wanted and rule.code.lower().startswith(wanted.lower())]
    if by_code:
        return by_code
    try:
        return [RULES.get(wanted).name]
    except UserError as error:
        near = error.help.partition("known:")[0]
        what = f"{error.what}, nor a code that begins so"
        raise UserError(what, where, f"{near}`prefixwise rules` lists them") from None
