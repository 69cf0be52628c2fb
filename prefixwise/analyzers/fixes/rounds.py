"""Fixes of sources, round by round: made in memory, looked at again, and kept only where they do what they promise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from prefixwise.analyzers.fixes.edits import chosen, edited
from prefixwise.analyzers.fixes.replay import PromptReplay, replayed
from prefixwise.analyzers.fixes.still_parses import why_broken
from prefixwise.analyzers.static.context import OutsideOf
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.core.finding import Finding, Safety

_MOST_ROUNDS = 200
_FEW = 16
"""Tokens of the moved text itself that may stand behind its value."""
_CODE = (".py", ".pyi", ".ipynb", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")

Texts = Mapping[str, str]
"""What files hold, by path."""


class Refused(msgspec.Struct, frozen=True):
    """A fix that is not made, and why."""

    finding: Finding
    why: str


class PromptGain(msgspec.Struct, frozen=True):
    """What fixes did to one prompt of a file; `number` is its place among the prompts of the file."""

    path: str
    number: int
    before: PromptReplay
    after: PromptReplay


class FixedSources(msgspec.Struct, frozen=True):
    """What came of the fixes.

    Attributes:
        before, after: The texts of the files that changed, by path.
        made: The findings that are mended, in the order in which they were.
        refused: Fixes that were not made.
        prompts: What changed prompt files give a cache to keep.
        left: What is found in the fixed sources.
    """

    before: dict[str, str]
    after: dict[str, str]
    made: tuple[Finding, ...]
    refused: tuple[Refused, ...]
    prompts: tuple[PromptGain, ...]
    left: tuple[Finding, ...]


class Fixer:
    """Fixes sources in memory.

    Args:
        read: Returns the text of a file, decoded and otherwise unchanged.
        lint: Returns what is found in some files, where some hold other texts than on disk.
        outside: What is known of each file from outside.
        unsafe: Whether fixes are made, too, that a person should look at.
    """

    def __init__(
        self,
        read: Callable[[str], str],
        lint: Callable[[Texts, Collection[str]], tuple[Finding, ...]],
        outside: OutsideOf,
        *,
        unsafe: bool,
    ) -> None:
        self._read = read
        self._lint = lint
        self._outside = outside
        self._wanted = {Safety.SAFE, Safety.UNSAFE} if unsafe else {Safety.SAFE}
        self._texts: dict[str, str] = {}
        self._told: set[tuple[str, str]] = set()
        self._made: list[Finding] = []
        self._refused: dict[tuple[str, str], Refused] = {}

    def fixed(self, found: tuple[Finding, ...]) -> FixedSources:
        """Return the sources with every fix made that can be.

        Args:
            found: What is found in them as they are.
        """
        before: dict[str, str] = {}
        self._told = {_key(one) for one in found}
        for _ in range(_MOST_ROUNDS):
            fixable = [one for one in found if self._is_wanted(one)]
            if not fixable:
                break
            for path in {edit.path for one in fixable for edit in one.fix.edits}:
                before.setdefault(path, self._read(path))
                self._texts.setdefault(path, before[path])
            found = self._round(found, fixable)
        changed = sorted(path for path, text in before.items() if self._texts[path] != text)
        after = {path: self._texts[path] for path in changed}
        prompts = [gain for path in changed for gain in self._gains(path, before[path], after[path])]
        return FixedSources(
            {path: before[path] for path in changed},
            after,
            tuple(self._made),
            tuple(self._refused.values()),
            tuple(prompts),
            found,
        )

    def _is_wanted(self, finding: Finding) -> bool:
        fix = finding.fix
        is_open = _key(finding) in self._told and _key(finding) not in self._refused
        return is_open and bool(fix.edits) and fix.safety in self._wanted

    def _round(self, found: tuple[Finding, ...], fixable: Sequence[Finding]) -> tuple[Finding, ...]:
        """Make as many fixes as fit beside each other; where the outcome is not right, only one."""
        numbers, _ = chosen([one.fix.edits for one in fixable])
        together = [fixable[number] for number in numbers]
        if len(together) > 1:
            left, why = self._tried(found, together)
            if not why:
                return left
        for one in together:
            left, why = self._tried(found, [one])
            if not why:
                return left
            self._refused[_key(one)] = Refused(one, why)
        return found

    def _tried(self, found: tuple[Finding, ...], fixes: Sequence[Finding]) -> tuple[tuple[Finding, ...], str]:
        """Return what is left after fixes, and why they are not to be made; if nothing speaks against it, they are."""
        _, edits = chosen([one.fix.edits for one in fixes])
        texts = dict(self._texts)
        for path in sorted({edit.path for edit in edits}):
            texts[path] = edited(texts[path], [edit for edit in edits if edit.path == path])
            why = why_broken(path, texts[path], self._outside(path)) or self._what_is_lost(path, texts[path])
            if why:
                return found, why
        concerned = sorted({path for one in fixes for path in _paths(one)})
        was, left = self._lint(self._texts, concerned), self._lint(texts, concerned)
        why = _what_is_wrong(was, left, fixes)
        if why:
            return found, why
        self._texts = texts
        self._made += fixes
        known = {_key(one) for one in was}
        return (*(one for one in found if _key(one) not in known), *left), ""

    def _what_is_lost(self, path: str, text: str) -> str:
        for gain in self._gains(path, self._texts[path], text):
            before, after = gain.before.hit_rate, gain.after.hit_rate
            if after < before and gain.after.computed_tokens > gain.before.computed_tokens:
                return f"a cache would serve {after:.1%} of the prompt instead of {before:.1%}"
        return ""

    def _gains(self, path: str, before: str, after: str) -> list[PromptGain]:
        if path.endswith(_CODE):
            return []
        known = self._outside(path)
        both = [read_template(Source(path, text), known.asked, known.assumed).templates for text in (before, after)]
        pairs = enumerate(zip(*both, strict=False))
        return [PromptGain(path, n, replayed(one), replayed(new)) for n, (one, new) in pairs if not one.chat]


def _key(finding: Finding) -> tuple[str, str]:
    return finding.path, finding.fingerprint


def _paths(finding: Finding) -> set[str]:
    """Return the files that a finding and its fix are about."""
    return {finding.path, *(step.path for step in finding.flow), *(edit.path for edit in finding.fix.edits)}


def _what_is_wrong(before: Iterable[Finding], after: Iterable[Finding], fixes: Iterable[Finding]) -> str:
    """Return why fixes do not do what they promise: what they mend is still there, or something new is; else ''."""
    was = {_key(one): one for one in before}
    now = {_key(one): one for one in after}
    if any(_key(one) not in was for one in fixes):
        return "what it does cannot be seen in its files alone"
    new = next((one for key, one in now.items() if key not in was), None)
    if new is not None:
        return f"{new.rule} would be found instead"
    worse = next((one for key, one in now.items() if one.severity.rank < was[key].severity.rank), None)
    if worse is not None:
        return f"{worse.rule} would be {worse.severity}"
    stays = next((one for one in fixes if _stays(one, was, now)), None)
    return "" if stays is None else "it would not do away with what was found"


def _stays(fix: Finding, was: Mapping[tuple[str, str], Finding], now: Mapping[tuple[str, str], Finding]) -> bool:
    """Say whether a finding is still there; of several that quote the same, the number tells."""
    if _key(fix) not in now:
        return False
    alike = [one for one in was.values() if (one.path, one.rule, one.from_text) == (fix.path, fix.rule, fix.from_text)]
    left = [one for one in now.values() if (one.path, one.rule, one.from_text) == (fix.path, fix.rule, fix.from_text)]
    return len(left) >= len(alike) and not _is_less(fix, now[_key(fix)])


def _is_less(before: Finding, after: Finding) -> bool:
    """Say whether less speaks for what is still found: less is lost for it, or a reason is gone and none has come."""
    was = 0 if before.tokens_lost is None else before.tokens_lost.value
    now = 0 if after.tokens_lost is None else after.tokens_lost.value
    return now < was or (now <= was + _FEW and set(after.evidence) < set(before.evidence))
