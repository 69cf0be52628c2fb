"""What rules for settings share: they differ in the settings that they know, and in what they call them."""

from __future__ import annotations

import re
from typing import ClassVar

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.settings import Bearing, Setting, bearing, changed_settings
from prefixwise.analyzers.lint.stakes import (
    below_minimum,
    messages_at_stake,
    messages_served,
    only_goes_back,
    usage_says,
    warm,
)
from prefixwise.analyzers.rule import PairRule, Stage
from prefixwise.core.finding import Confidence, Severity, Verdict, Where


class ChangedSetting(PairRule):
    """Claims turns between which a setting of its kind changes, where that costs something.

    Attributes:
        wanted: Matches the pointers of its settings from their start.
        known_as: What the facts on caches call them.
        noun: What it calls the setting in its message: "The reasoning effort".
    """

    wanted: ClassVar[re.Pattern[str]]
    known_as: ClassVar[tuple[str, ...]]
    noun: ClassVar[str]
    where = (Where.PARAMS,)
    stage = Stage.FRONT
    despite_hits = True

    def detect(self, pair: Compared) -> Claim | None:
        """Return the claim on a setting of its kind that changes between two turns, where that costs something."""
        if not pair.turn or not pair.parameters:
            return None
        settings = changed_settings(pair, self.wanted)
        if not settings:
            return None
        bears = _rendered(pair) or bearing(pair.log, pair.after, *self.known_as)
        served = messages_served(pair) if bears.keeps_system else pair.served
        if served is Served.HIT or bears.counts is False:
            return None
        lost = _lost(pair, settings[0], bears)
        return None if lost is None else self._claim(pair, settings[0], bears, served, lost)

    def _claim(self, pair: Compared, setting: Setting, bears: Bearing, served: Served, lost: int) -> Claim:
        log = pair.log
        from_text, to_text = setting.texts
        uncached = log.uncached(pair.after)
        tokens = log.scaled(pair.after, lost)
        what = "the messages are" if bears.keeps_system else "the whole prompt is"
        kept = ", tools and system text are kept" if bears.keeps_system else ""
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field=setting.pointer,
            char_offset=setting.char_offset,
            from_text=from_text,
            to_text=to_text,
            confidence=Confidence.LIKELY if bears.counts else Confidence.POSSIBLE,
            severity=self._severity(pair, bears, served),
            evidence=usage_says(log, pair.after),
            lost=tokens if uncached is None else min(tokens, uncached),
            message=f"{self.noun} goes from {_said(from_text)} to {_said(to_text)} inside a conversation: "
            f"{what} computed again{kept}.",
            cause=setting.pointer,
            settings=tuple(p for p in pair.parameters if (setting.pointer + "/").startswith(f"/{p.name}/")),
        )

    def _severity(self, pair: Compared, bears: Bearing, served: Served) -> Severity | None:
        """Return the severity where it is not the rule's own: without facts, only a miss is more than info."""
        if below_minimum(pair):
            return Severity.INFO
        if bears.counts:
            return None
        return Severity.LOW if served is Served.MISS else Severity.INFO


def _said(text: str | None) -> str:
    return "its default" if text is None else f"`{text[:60]}`"


def _rendered(pair: Compared) -> Bearing | None:
    """Return what the rendered tokens say, where a template prints the setting at the top; None elsewhere."""
    agree = pair.verdict in (Verdict.EXTENDS, Verdict.IDENTICAL)
    return Bearing(counts=True) if agree and pair.kept < pair.log.rows.system_end[pair.before] else None


def _lost(pair: Compared, setting: Setting, bears: Bearing) -> int | None:
    """Return the counted tokens that a change costs, None where the conversation only goes back to a warm entry."""
    log, rows = pair.log, pair.log.rows
    name = setting.pointer.strip("/").split("/")[0]

    def of(row: int) -> list[tuple[str, bytes]]:
        return [pair for pair in rows.param_sets[rows.param_set[row]] if pair[0].split("/")[0] == name]

    left = warm(log, pair.after, lambda row: rows.model[row] == rows.model[pair.after] and of(row) == of(pair.after))
    stake = messages_at_stake(pair) if bears.keeps_system else pair.at_stake
    lost = max(0, min(stake, pair.at_stake - left))
    return None if only_goes_back(pair, left, lost) else lost
