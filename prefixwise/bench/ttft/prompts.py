"""The prompts of a cold-against-warm run: each item's own beginning, and an end that is new in every request."""

from __future__ import annotations

from prefixwise.bench.ttft.plan import Mode, Plan
from prefixwise.bench.ttft.schedule import Arm
from prefixwise.bench.words import Vocabulary, nonce
from prefixwise.clients.protocol import Ask, Cold

QUESTION = "Go on."
"""What stands in the newest message where only the beginning matters."""

_SALTED = (Cold.SALT, Cold.ISOLATION_KEY)


class Prompts:
    """Makes the requests of a plan.

    Args:
        plan: Lengths, mode, and how prompts are made cold.
        words: Words of one token; `around` is the size of a prompt that has the nonce and none of them.
    """

    def __init__(self, plan: Plan, words: Vocabulary) -> None:
        self._plan, self._words = plan, words

    def ask(self, length: int, item: int, arm: Arm, repeat: int = 0, attempt: int = 0) -> Ask:
        """Return a request of `length` shared tokens and the plan's own number behind them."""
        own = nonce(f"{self._plan.run}/{length}", item, attempt)
        shared = self._words.text(length, f"{own} shared")
        replays = self._plan.mode is Mode.REPLAY
        end = f"{own} end" if replays or arm is not Arm.WARM else f"{own} end {repeat}"
        suffix = self._words.text(self._words.around + self._plan.suffix, end)
        return framed(self._plan, own, shared, f"{QUESTION}{suffix}")


def framed(plan: Plan, own: str, shared: str, newest: str = QUESTION) -> Ask:
    """Return a request whose system prompt is `shared`, in a namespace of its own or behind a nonce."""
    salted = plan.cold in _SALTED
    return Ask(
        model=plan.model,
        system=shared.lstrip() if salted else f"{own}{shared}",
        user=newest,
        max_tokens=1,
        ignore_eos=True,
        salt=own if salted else "",
    )
