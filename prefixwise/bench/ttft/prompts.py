"""The prompts of a cold-against-warm run: each item's own beginning, and an end that is new in every request."""

from __future__ import annotations

from prefixwise.bench.scout import QUESTION, SALTED, framed
from prefixwise.bench.ttft.plan import Mode, Plan
from prefixwise.bench.ttft.schedule import Arm
from prefixwise.bench.words import NONCE_TOKENS, Vocabulary, nonce
from prefixwise.clients.protocol import Ask

BEHIND = 16
"""Tokens at most that a template puts behind the newest message. They are counted with what is around the words, but
are not shared: a prompt has so many words more that what is shared is at least what was asked for."""


class Prompts:
    """Makes the requests of a plan.

    Args:
        plan: Lengths, mode, and how prompts are made cold.
        words: Words of one token; `around` is the size of a prompt that has the nonce and none of them.
    """

    def __init__(self, plan: Plan, words: Vocabulary) -> None:
        self._plan, self._words = plan, words

    def ask(self, length: int, item: int, arm: Arm, repeat: int = 0, attempt: int = 0) -> Ask:
        """Return a request that shares `length` tokens or a few more, with the plan's own number behind them."""
        own = nonce(f"{self._plan.run}/{length}", item, attempt)
        shared = self._words.text(length + behind(self._words), f"{own} shared")
        replays = self._plan.mode is Mode.REPLAY
        end = f"{own} end" if replays or arm is not Arm.WARM else f"{own} end {repeat}"
        suffix = self._words.text(self._words.around + self._plan.suffix, end)
        return framed(self._plan, own, shared, f"{QUESTION}{suffix}")


def behind(words: Vocabulary) -> int:
    """Return how many tokens may stand behind the shared ones without being a suffix; more where tokens are bytes."""
    return BEHIND * max(cost for _, cost in words.words)


def cold_tokens(plan: Plan, header: int) -> int:
    """Return how many tokens of a cold prompt may be cached: those before and in the nonce, which say nothing."""
    return header if plan.cold in SALTED else header + NONCE_TOKENS
