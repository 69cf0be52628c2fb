"""What a cache rule gives requests as they were sent."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.caches.policy import Policy
from prefixwise.core.request import Request
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tokenizer import ChooseTokenizer, Exactness


class Predicted(msgspec.Struct, frozen=True):
    """The prompt tokens of a request by our count, and those that the rule gives it."""

    prompt: int
    cached: int


def predicted(
    requests: Sequence[Request | None], policy: Policy, choose: ChooseTokenizer
) -> tuple[list[Predicted | None], Exactness, str]:
    """Return what a rule gives each request, how far the counts can be trusted, and who counted.

    Args:
        requests: As they were sent, in order; None for those that cannot be counted.
        policy: The rule.
        choose: Finds the tokenizer of a model, for requests that are no ids.

    Raises:
        UserError: The rule cannot be counted on these requests.
    """
    index = CorpusIndex(choose)
    places: list[int | None] = []
    count = 0
    for request in requests:
        try:
            if request is not None:
                index.add(request)
        except ValueError:
            request = None
        places.append(None if request is None else count)
        count += request is not None
    index.finish()
    matched = _matched(index.rows, policy)
    found = [None if place is None else Predicted(index.rows.prompt_tokens[place], matched[place]) for place in places]
    exactness, name, _ = next(iter(index.tokenizers.values()), (Exactness.EXACT, "token ids", ""))
    return found, exactness, name


def _matched(rows: Rows, policy: Policy) -> Sequence[int]:
    policy.check(rows)
    return policy.replay(rows).matched
