"""One-off against recurring: what changes once, between two stable stretches, is a deployment and no fault.

Nor is it one that some conversations of an application have one form and others another, as long as none changes its
own: that is an experiment, or two kinds of user.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity, Where

_STABLE = 2
"""Requests in a row that make a stretch stable, and conversations that make a change everybody's."""
_FORMS = 3
_OWN = 0.5
"""Forms in a conversation from which on there are too many for an experiment, or for kinds of user."""
_CROWD, _OWN_OF_CROWD = 10, 0.3
"""So many forms are no kinds of user any more; then fewer a conversation are too many."""
_HEAD = ""
_MODEL = frozenset({"model", "modelId"})
_FORMATS = frozenset({"response_format"})
"""Settings that are printed into the prompt."""


class _Stretch(msgspec.Struct):
    """Where one form of an application's requests stands among them, by start."""

    first: int
    last: int
    requests: int
    conversations: set[int]


def settle(log: Log, claims: Iterable[Claim]) -> None:
    """Make those claims information that are about a deployment or an experiment; rules may have settled it before."""
    stretches = _Stretches(log)
    open_ = [claim for claim in claims if claim.severity is None and claim.before is not None]
    open_ = [claim for claim in open_ if RULES.get(claim.rule).deployable]
    for claim in open_:
        if stretches.is_one_off(claim):
            claim.severity = Severity.INFO
            claim.evidence = (*claim.evidence, "changed once, between two stable stretches: a deployment")
    groups: dict[Hashable, list[Claim]] = {}
    for claim in open_:
        if claim.severity is None and claim.where in (Where.TOOLS, Where.PARAMS):
            groups.setdefault((claim.rule, log.applications[claim.after]), []).append(claim)
    for group in groups.values():
        _settle_forms(log, group)


def _settle_forms(log: Log, claims: list[Claim]) -> None:
    """Judge changes between conversations: each of them is the first sight of another form."""
    links = log.conversations.links
    if any((link := links[claim.after]) is not None and link.turn for claim in claims):
        return
    family = log.applications[claims[0].after]
    conversations = {log.conversations.conversation[row] for row in log.families[family]}
    forms = len(claims) + 1
    if forms >= _FORMS and forms > (_OWN if forms < _CROWD else _OWN_OF_CROWD) * len(conversations):
        return
    # Order says nothing to a model, so nobody experiments with it; it costs no more than one entry a form, though.
    severity = Severity.INFO if RULES.get(claims[0].rule).variants_are_meant else Severity.LOW
    for claim in claims:
        claim.severity = severity
        claim.evidence = (
            *claim.evidence,
            f"{forms} forms in {len(conversations):,} conversations, none changes its own",
        )


class _Stretches:
    """The forms of each application's requests, by what a claim is about: head, model or a setting."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[tuple[int, str], dict[Hashable, _Stretch]] = {}

    def is_one_off(self, claim: Claim) -> bool:
        """Say whether a change is a deployment: once, for all, and for good.

        Every request before it had the one form, every one after it the other, and several on each side. Where a
        conversation changes in its middle, others must have changed with it, as one alone may have grown; where
        conversations differ, each form must be that of several.
        """
        if claim.where not in (Where.TOOLS, Where.SYSTEM, Where.PARAMS) or claim.before is None:
            return False
        about = _about(claim)
        forms = self._forms(self._log.applications[claim.after], about)
        old, new = (forms.get(self._form(row, about)) for row in (claim.before, claim.after))
        if old is None or new is None:  # a conversation that went from one application to another
            return False
        if old.last > new.first or min(old.requests, new.requests) < _STABLE:
            return False
        if any(old.last < form.first and form.last < new.first for form in forms.values()):
            return False
        if min(len(old.conversations), len(new.conversations)) >= _STABLE:
            return True
        link = self._log.conversations.links[claim.after]
        grown = claim.where is not Where.SYSTEM and link is not None and link.turn
        return len(forms) == 2 and not grown

    def _form(self, row: int, about: str) -> Hashable:
        log = self._log
        if about == _HEAD:
            return log.outlines.head[row]
        if about in _MODEL:
            return log.rows.model[row]
        settings = log.rows.param_sets[log.rows.param_set[row]]
        return tuple(value for name, value in settings if name.partition("/")[0] == about)

    def _forms(self, family: int, about: str) -> dict[Hashable, _Stretch]:
        found = self._known.get((family, about))
        if found is None:
            found = self._known[family, about] = {}
            for at, row in enumerate(self._log.families[family]):
                stretch = found.setdefault(self._form(row, about), _Stretch(at, at, 0, set()))
                stretch.last = at
                stretch.requests += 1
                stretch.conversations.add(self._log.conversations.conversation[row])
        return found


def _about(claim: Claim) -> str:
    """Return what a claim is about: the head of the prompt, the model, or the name of a setting."""
    name = (claim.field or "").strip("/").partition("/")[0]
    return name if claim.where is Where.PARAMS and name not in _FORMATS else _HEAD
