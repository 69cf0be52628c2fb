"""`header-changed`."""

from __future__ import annotations

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.stakes import below_minimum, usage_says
from prefixwise.analyzers.lint.surroundings import BETA_HEADERS, SCOPE_HEADERS, last_name
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Confidence, Severity, Where


class HeaderChanged(PairRule):
    """# A header that bears on the cache changes inside a conversation

    Some request headers decide whose cache is asked, or what the provider adds to the prompt, though the body is the
    same: the organisation or project that the call is booked on, and the list of beta features, of which some bring
    instructions or tools of their own. A turn that is sent with other ones may find nothing of the turns before it.

    Looked at are `anthropic-beta`, `anthropic-version`, `openai-beta`, `openai-organization`, `openai-project` and their
    kin, where the log holds request headers.

    Not reported: the same features in another order; a change after which usage shows a hit. Without usage, another
    organisation is a warning and another list of features is information.

    Send the same headers throughout a conversation: switch a feature on for all of it, or for none.

    ```jsonl bad
    {"headers": {"openai-project": "proj-a"}, "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "When is the last ferry?"}]}, "response": {"usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"headers": {"openai-project": "proj-b"}, "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}, "response": {"usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```jsonl good
    {"headers": {"openai-beta": "a,b"}, "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "When is the last ferry?"}]}, "response": {"usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"headers": {"openai-beta": "b, a"}, "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}, "response": {"usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}}
    ```
    """  # noqa: E501

    name = "header-changed"
    code = "PW408"
    summary = "A beta or scope header changes inside a conversation"
    severity = Severity.MEDIUM
    fix = "Send the same organisation, project, version and beta headers throughout a conversation."
    where = (Where.TRANSPORT,)
    stage = Stage.BEHIND
    rank = 20
    deployable = False

    def detect(self, pair: Compared) -> Claim | None:
        log = pair.log
        one = {last_name(pointer): (pointer, value) for pointer, value in log.of(pair.before).headers}
        other = {last_name(pointer): (pointer, value) for pointer, value in log.of(pair.after).headers}
        if not pair.turn or not (one and other):
            return None
        for name in sorted(SCOPE_HEADERS | BETA_HEADERS, key=lambda name: (name in BETA_HEADERS, name)):
            before, after = one.get(name), other.get(name)
            place = after or before
            if place is not None and _words(before) != _words(after):
                return self._claim(pair, name, place[0], before and before[1], after and after[1])
        return None

    def _claim(self, pair: Compared, name: str, field: str, before: str | None, after: str | None) -> Claim | None:
        missed = pair.served is Served.MISS
        unsure = name in BETA_HEADERS and not missed
        return Claim(
            rule=self.name,
            where=Where.TRANSPORT,
            after=pair.after,
            before=pair.before,
            field=field,
            char_offset=common_prefix(before, after) if before is not None and after is not None else None,
            from_text=before,
            to_text=after,
            confidence=Confidence.LIKELY if missed else Confidence.POSSIBLE,
            severity=Severity.INFO if unsure or below_minimum(pair) else None,
            evidence=usage_says(pair.log, pair.after),
            message=f"The header `{name}` changes inside a conversation whose text goes on unchanged"
            f"{', and the turn was not served from the cache' if missed else ''}.",
            cause=name,
        )


def _words(place: tuple[str, str] | None) -> frozenset[str]:
    """Return what a header lists; an absent one lists nothing."""
    return frozenset() if place is None else frozenset(filter(None, map(str.strip, place[1].split(","))))


RULES.add(HeaderChanged.name, HeaderChanged())
