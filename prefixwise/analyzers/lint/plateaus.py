"""One-off against recurring: what changes once, between two stable stretches of an application, is a deployment."""

from __future__ import annotations

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Where

_STABLE = 2
"""Requests in a row that make a stretch stable."""


def is_one_off(log: Log, claim: Claim) -> bool:
    """Say whether a change of tools or system text is a deployment: once, for all, and for good.

    Every request of the application before it had the one form, every one after it the other, and several on each
    side, in more than one conversation. Forms of a rule that knows its values (a clock, an id) are not looked at.
    """
    if claim.before is None or claim.where not in (Where.TOOLS, Where.SYSTEM) or not RULES.get(claim.rule).deployable:
        return False
    family = log.applications[claim.after]
    heads = log.outlines.head
    old, new = heads[claim.before], heads[claim.after]
    rows = log.families[family]
    olds = [at for at, row in enumerate(rows) if heads[row] == old]
    news = [at for at, row in enumerate(rows) if heads[row] == new]
    if len(olds) < _STABLE or len(news) < _STABLE or len(olds) + len(news) < len(rows):
        return False
    conversations = {log.conversations.conversation[row] for row in rows}
    return max(olds) < min(news) and (len(conversations) > 1 or claim.where is Where.SYSTEM)
