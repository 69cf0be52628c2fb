"""`model-changed`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_settings import with_first_model
from prefixwise.analyzers.lint.stakes import below_minimum, only_goes_back, usage_says, warm
from prefixwise.analyzers.lint.surroundings import last_name
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.caches.model_names import names_of
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Mark, Request

_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|amazon|meta|mistral|deepseek|cohere)\.")
_VERSION = re.compile(r"-v\d+(?::\d+)?$|-latest$")
_NUMBERED = re.compile(r"-00\d$")


class ModelChanged(PairRule):
    """# The model changes inside a conversation

    A cache belongs to one model. A request that continues a conversation on another model (a fallback after an
    overload, a router that picks by the question, a cheaper model for one step) computes the whole history again, and
    where writing costs money it pays for that too. The longer the conversation, the dearer the switch. It can be silent:
    the request names one model, and the answer says that another one gave it.

    Not reported: a change after which usage shows a hit; going back to a model whose entry is still warm; another name of
    the same model (an alias and its dated snapshot, a gateway's prefix, a region); sub-agents, which have conversations
    of their own.

    Keep a conversation on one model. After an overload try the same model again before falling back, the more so the
    larger the context is; switch where a conversation is short or starts anew, and give side tasks a short prompt of
    their own instead of the whole history.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o-mini", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o-2024-08-06", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```
    """  # noqa: E501

    name = "model-changed"
    code = "PW401"
    summary = "A conversation goes on with another model, whose cache has none of it"
    severity = Severity.MEDIUM
    fix = "Keep a conversation on one model; fall back for whole conversations, and give side tasks their own."
    where = (Where.PARAMS,)
    stage = Stage.FRONT
    also_at = (Stage.BEHIND,)
    rank = 10

    def detect(self, pair: Compared) -> Claim | None:
        if not pair.turn:
            return None
        log = pair.log
        before, after = log.model(pair.before), log.model(pair.after)
        if before and after and not same_model(before, after):
            given_up = log.rows.marks[pair.before] & Mark.ABORTED and log.cached(pair.before) is None
            return None if given_up else self._claim(pair, _field(log, pair.after), before, after)
        if pair.served is Served.MISS:  # known only once the records have been looked at
            answered = _answering(log, pair.before), _answering(log, pair.after)
            if answered[0] and answered[1] and not same_model(answered[0][1], answered[1][1]):
                return self._claim(pair, answered[1][0], answered[0][1], answered[1][1])
        return None

    def _claim(self, pair: Compared, field: str, before: str, after: str) -> Claim | None:
        log = pair.log

        def used_it(row: int) -> bool:
            answering = _answering(log, row)
            return same_model(log.model(row) if answering is None else answering[1], after)

        left = warm(log, pair.after, used_it)
        lost = max(0, pair.at_stake - left)
        if only_goes_back(pair, left, lost):
            return None
        uncached = log.uncached(pair.after)
        tokens = log.scaled(pair.after, lost)
        back = ", which has only its older part" if left else ""
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field=field,
            char_offset=common_prefix(before, after),
            from_text=before,
            to_text=after,
            confidence=Confidence.LIKELY if field.startswith("record:") else Confidence.CERTAIN,
            severity=Severity.INFO if below_minimum(pair) else None,
            evidence=usage_says(log, pair.after),
            lost=tokens if uncached is None else min(tokens, uncached),
            message=f"The conversation goes on from `{before[:60]}` to `{after[:60]}`{back}: "
            "a cache belongs to one model, and the history is computed again.",
            cause="model",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_model(request, claims)


def same_model(one: str, other: str) -> bool:
    """Say whether two names are one model's: an alias and its snapshot, with and without a gateway's prefix."""
    if one == other:
        return True
    left, right = _bare(one), _bare(other)
    if left == right:
        return True
    return _undated(one) == _undated(other) and (left == _undated(one) or right == _undated(other))


def _field(log: Log, row: int) -> str:
    if log.format_of(row) == "bedrock":
        return "record:/modelId"
    return "/modelId" if log.rows.providers[log.rows.provider[row]] == "bedrock" else "/model"


def _bare(model: str) -> str:
    return _VERSION.sub("", _VENDOR.sub("", model.rsplit("/", 1)[-1].lower().replace("@", "-")))


def _undated(model: str) -> str:
    return _NUMBERED.sub("", _VENDOR.sub("", names_of(model)[-1].lower()))


def _answering(log: Log, row: int) -> tuple[str, str] | None:
    """Return (pointer, name) of the model that answered, where the record was looked at and says so."""
    return next((place for place in log.of(row).route if last_name(place[0]) in ("model", "modelversion")), None)


RULES.add(ModelChanged.name, ModelChanged())
