"""`usage-convention-mixed`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.conventions import Account, Convention, accounts
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Severity, Where
from prefixwise.core.request import Mark

_FEWEST = 3
_PROVEN = 2
_SHARE = 0.03


class UsageConventionMixed(LogRule):
    """# Some records count cached tokens into the input, and some do not

    Two exporters, an upgrade, or a gateway that translates between APIs can leave one log with two conventions: in some
    records the input count holds the cached tokens, in others it does not. Sums and hit rates over such a log are wrong
    in a way that no single record shows.

    Reported where the calls of one application to one model follow two conventions, told by our own count of their
    prompts, three calls each at least; two where more was read from the cache than the input is said to hold. Where all
    of them leave the cached part out although their API includes it, that is reported too.

    Not reported: different models or applications with different conventions, and logs whose prompts were cut.

    **Fix.** Bring every source to one convention before the figures are stored, and store which one it is.

    ```jsonl bad
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"prompt_tokens": 41, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 3 open?"}]}, "response": {"usage": {"prompt_tokens": 41, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 4 open?"}]}, "response": {"usage": {"prompt_tokens": 41, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 5 open?"}]}, "response": {"usage": {"prompt_tokens": 16, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 6 open?"}]}, "response": {"usage": {"prompt_tokens": 16, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 7 open?"}]}, "response": {"usage": {"prompt_tokens": 16, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    ```

    ```jsonl good
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"prompt_tokens": 41, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea. Answer in one sentence and name the quay."}, {"role": "user", "content": "Is quay 3 open?"}]}, "response": {"usage": {"prompt_tokens": 41, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 25}}}}
    ```
    """  # noqa: E501

    name = "usage-convention-mixed"
    code = "PW703"
    summary = "The input count holds the cached tokens in some records and not in others"
    severity = Severity.MEDIUM
    fix = "Bring every source of usage to one convention before the figures are stored, and store which one it is."
    where = (Where.USAGE,)
    everywhere = True
    rank = 6

    def detect(self, log: Log) -> Iterator[Claim]:
        for account in accounts(log):
            odd = account.of(Convention.LEFT_OUT) + account.of(Convention.DOUBLED)
            if len(odd) >= max(_fewest(log, odd), _SHARE * len(account.rows)) and _is_wrong(log, account, odd):
                alike = not account.of(Convention.WHOLE) and _are_proven(log, odd)
                for row in odd:
                    claim = self._claim(log, row, len(odd), len(account.rows))
                    claim.severity = Severity.INFO if alike else self.severity
                    yield claim

    def _claim(self, log: Log, row: int, odd: int, calls: int) -> Claim:
        evidence = f"{log.prompt(row):,} tokens reported for a prompt of about {log.rows.prompt_tokens[row]:,}"
        if log.rows.marks[row] & Mark.REST_ONLY:
            evidence = f"more than the reported input was read or written: {log.prompt(row):,} tokens with it"
        return Claim(
            rule=self.name,
            where=Where.USAGE,
            after=row,
            field=log.usage_field(row),
            cause="mixed",
            evidence=(evidence,),
            message=f"In {odd:,} of {calls:,} calls of this application the input counts cached tokens in another way "
            "than the API does.",
        )


def _is_wrong(log: Log, account: Account, odd: list[int]) -> bool:
    """Say whether conventions differ, or all leave out what they report beside."""
    fewest = _fewest(log, odd)
    if account.of(Convention.WHOLE):
        return len(account.of(Convention.WHOLE)) >= fewest
    left_out = account.of(Convention.LEFT_OUT)
    return len(left_out) >= fewest and all(log.cached(row) is not None for row in left_out)


def _fewest(log: Log, odd: list[int]) -> int:
    """Return how many calls of each convention there must be: fewer where their own figures prove it."""
    return _PROVEN if _are_proven(log, odd) else _FEWEST


def _are_proven(log: Log, odd: list[int]) -> bool:
    """Say whether the records show by themselves that they leave something out; then it has been added here."""
    return all(log.rows.marks[row] & Mark.REST_ONLY for row in odd)


RULES.add(UsageConventionMixed.name, UsageConventionMixed())
