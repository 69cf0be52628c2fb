"""The prompts of a live audit: random words that nobody has sent, and no guess at anybody's text."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from prefixwise.bench.audit.plan import Comparison, LivePlan
from prefixwise.bench.audit.trials import Trial
from prefixwise.bench.words import Vocabulary, nonce
from prefixwise.clients.protocol import Ask

_LEAST_END = 32
"""Tokens at least behind what a prompt and its probe have in common."""


class Part(StrEnum):
    """Who sends a prompt; its end begins with this word, so that the ends differ from their first token on."""

    FIRST = "First"
    PROBE = "Second"


class Prompts:
    """Makes the requests of a plan.

    Args:
        plan: What is run.
        words: Words of known cost.
    """

    def __init__(self, plan: LivePlan, words: Vocabulary) -> None:
        self._plan, self._words = plan, words

    def ask(self, comparison: Comparison, trial: Trial, part: Part, *, sham: bool = False, salt: str = "") -> Ask:
        """Return a request of a trial.

        Args:
            comparison: Whose trial it is.
            trial: Its place.
            part: Who sends it.
            sham: Whether it is the other prompt, which nobody looks for.
            salt: Cache namespace to ask for.
        """
        own = nonce(f"{self._plan.run}/{comparison.name}/{trial.arm}/{sham}", trial.block)
        return self.made(own, part, salt)

    def other(self, number: int, attempt: int, salt: str = "") -> Ask:
        """Return a request that has nothing to do with any trial, nor with what an earlier attempt at the run sent."""
        return self.made(nonce(f"{self._plan.run}/other", number, attempt), Part.FIRST, salt)

    def made(self, own: str, part: Part, salt: str = "") -> Ask:
        """Return a request with the plan's number of tokens whose beginning is made of a nonce."""
        shared = self._words.text(self._plan.prefix, f"{own} shared")
        rest = max(_LEAST_END, self._plan.tokens - self._plan.prefix)
        end = self._words.text(self._words.around + rest, f"{own} {part}")
        return Ask(
            model=self._plan.model,
            system=f"{own}{shared}",
            user=f"{part}{end}",
            max_tokens=1,
            ignore_eos=True,
            salt=salt,
        )


def salt_of(run: str, tenant: str) -> str:
    """Return the salt of a tenant in a run: the run's name is random, so nobody can guess it."""
    return hashlib.blake2b(tenant.encode("utf-8", "replace"), key=run.encode()[:64], digest_size=16).hexdigest()
