"""`cache-key-unstable`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served, compare
from prefixwise.analyzers.lint.key_rate import A_MINUTE, Crowd, crowds
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_settings import with_namespace
from prefixwise.analyzers.lint.single_use import fresh_every_time
from prefixwise.analyzers.lint.stakes import below_minimum, common_served, is_new_start, too_little, usage_says, warm
from prefixwise.analyzers.lint.surroundings import KEY_HEADERS, last_name
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Confidence, Mode, Severity, Where
from prefixwise.core.request import Request

_FIELD = "/prompt_cache_key"
_NAME = "prompt_cache_key"


class CacheKeyUnstable(LogRule):
    """# The cache key does not stay with its conversation

    `prompt_cache_key` and its relatives (`x-grok-conv-id`, session headers) steer requests that share a prefix to one
    machine, and on newer models they are part of what the cache goes by. A key that is made anew for each request (a
    random id, the time, a hash of the visible history) sends each turn where nothing of the conversation is, or hides what
    is there. Hits that occur all the same are chance.

    The other extreme is one key for everything: above about fifteen requests a minute they no longer fit on one machine
    and overflow to others.

    Not reported: a new key for a new conversation; a key that goes back to one whose entry is still warm; keys that the
    engine ignores; changes after which usage always shows hits. Where many requests share one key, it is information
    unless usage shows misses.

    Derive the key from the conversation and keep it. For calls of one turn each, derive it from what they share, such as
    the version of the prompt, split by a number where they come too fast.

    ```jsonl bad
    {"model": "gpt-5.6", "prompt_cache_key": "0f3c", "input": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-5.6", "prompt_cache_key": "92ab", "input": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"input_tokens": 5150, "input_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-5.6", "prompt_cache_key": "chat-1", "input": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-5.6", "prompt_cache_key": "chat-1", "input": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"input_tokens": 5150, "input_tokens_details": {"cached_tokens": 5120}}}
    {"model": "gpt-5.6", "prompt_cache_key": "chat-2", "input": [{"role": "user", "content": "Do dogs pay?"}], "usage": {"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 0}}}
    ```

    In code:

    ```python bad
    from uuid import uuid4

    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        return OpenAI().chat.completions.create(
            model="gpt-5",
            prompt_cache_key=str(uuid4()),
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        return OpenAI().chat.completions.create(
            model="gpt-5",
            prompt_cache_key="ferry-desk",
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "cache-key-unstable"
    code = "PW405"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.CACHE_KEY})
    summary = "The cache key is another one on each turn, or one for far too many requests"
    severity = Severity.HIGH
    fix = "Derive the cache key from the conversation, or from the prompt that calls share, and keep it."
    where = (Where.PARAMS,)
    rank = 10
    deployable = False

    def detect(self, log: Log) -> Iterable[Claim]:
        by_conversation: dict[int, list[Compared]] = {}
        alone: list[Compared] = []
        for row in log.conversations.order:
            link = log.conversations.links[row]
            if link is None or _same_key(log, link.before, row):
                continue
            if link.turn:
                pair = compare(log, link.before, row, turn=True)
                by_conversation.setdefault(log.conversations.conversation[row], []).append(pair)
            elif fresh_every_time(log, row, "cache_key"):
                alone.append(compare(log, link.before, row, turn=False))
        for pairs in by_conversation.values():
            yield from self._turns(pairs)
        yield from self._single_calls(alone)
        for crowd in crowds(log):
            yield from self._crowded(log, crowd)

    def _turns(self, pairs: list[Compared]) -> Iterator[Claim]:
        """Claim every change of a conversation of which some cost something: hits in between are chance."""
        pairs = [pair for pair in pairs if not is_new_start(pair)]
        wanted = [_counts(pair) for pair in pairs]
        if not any(wanted):
            return
        for pair in pairs:
            field, before, after = _keys(pair)
            said = f"the key changes on {len(pairs)} of the conversation's turns"
            message = f"The cache key changes inside a conversation, from {_shown(before)} to {_shown(after)}."
            yield self._claim(pair, field, before, after, message, (said,))

    def _single_calls(self, pairs: list[Compared]) -> Iterator[Claim]:
        """Claim calls of one turn each of which has a key of its own, unless most are served all the same."""
        missed = [pair for pair in pairs if common_served(pair) is not Served.HIT]
        if 2 * len(missed) <= len(pairs):
            return
        message = (
            "Each call has a cache key of its own, so none finds what the calls before it left of the same prompt."
        )
        for pair in missed:
            if _matters(pair.log, pair.after) is not False:
                field, before, after = _keys(pair)
                yield self._claim(pair, field, before, after, message, ())

    def _crowded(self, log: Log, crowd: Crowd) -> Iterator[Claim]:
        hurts = crowd.is_reported and crowd.hurts
        if crowd.is_reported and not hurts:
            return
        for row in crowd.missed if hurts else crowd.rows[:1]:
            yield Claim(
                rule=self.name,
                where=Where.PARAMS,
                after=row,
                field=_FIELD,
                confidence=Confidence.POSSIBLE,
                severity=Severity.MEDIUM if hurts else Severity.INFO,
                lost=log.uncached(row) if hurts else 0,
                evidence=(f"at most {A_MINUTE} requests a minute are advised for one key", *usage_says(log, row)),
                message=f"One cache key serves {crowd.conversations:,} conversations with up to {crowd.peak:,} "
                "requests a minute; what does not fit on one machine overflows to others.",
                cause=("crowd", crowd.key),
            )

    def _claim(
        self, pair: Compared, field: str, before: str | None, after: str | None, message: str, said: tuple[str, ...]
    ) -> Claim:
        free = pair.served is Served.HIT or pair.after in pair.log.explained
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field=field,
            char_offset=None if before is None or after is None else common_prefix(before, after),
            from_text=before,
            to_text=after,
            severity=Severity.INFO if below_minimum(pair) else None,
            evidence=(*said, *usage_says(pair.log, pair.after)),
            lost=0 if free else pair.lost,
            message=message,
            cause=(field.lower(), pair.turn),
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        in_body = any(claim.field == _FIELD and claim.before is not None for claim in claims)
        return with_namespace(request, cache_key=None) if in_body else None


def _same_key(log: Log, before: int, after: int) -> bool:
    rows = log.rows
    one, other = rows.namespace[before], rows.namespace[after]
    if one != other and rows.namespaces[one].cache_key != rows.namespaces[other].cache_key:
        return False
    headers = log.of(before).headers, log.of(after).headers
    return headers[0] == headers[1] or _header(log, before) == _header(log, after)


def _header(log: Log, row: int) -> tuple[str, str] | None:
    return next((place for place in log.of(row).headers if last_name(place[0]) in KEY_HEADERS), None)


def _keys(pair: Compared) -> tuple[str, str | None, str | None]:
    """Return (pointer, before, after) of the key that differs: in the body, else in a header."""
    log, rows = pair.log, pair.log.rows
    one, other = (rows.namespaces[rows.namespace[row]].cache_key for row in (pair.before, pair.after))
    if one != other:
        return _FIELD, one, other
    before, after = _header(log, pair.before), _header(log, pair.after)
    place = after or before
    return "" if place is None else place[0], before and before[1], after and after[1]


def _counts(pair: Compared) -> bool:
    """Say whether a change of the key costs something, as far as the log and the facts tell."""
    field = _keys(pair)[0]
    if pair.served is Served.HIT:
        return False
    matters = _matters(pair.log, pair.after, _NAME if field == _FIELD else last_name(field))
    if matters is False or (matters is None and pair.served is not Served.MISS):
        return False
    log = pair.log
    left = warm(log, pair.after, lambda row: _same_key(log, row, pair.after))
    return pair.served is Served.MISS or not (left and too_little(log, pair.after, pair.at_stake - left))


def _matters(log: Log, row: int, name: str = _NAME) -> bool | None:
    """Say whether the facts on a row's cache speak of a key, None where there are none."""
    systems = log.systems(row)
    if not systems:
        return None
    system = systems[0]
    more = [system.more.get(key, "") for key in ("routing", "request_controls", "key")]
    if name in str((system.key_excludes, system.more.get("ignored_fields", ""))):
        return False
    return True if name in str((system.key_includes, system.isolation_control, more)) else None


def _shown(key: str | None) -> str:
    return "none" if key is None else f"`{key[:40]}`"


RULES.add(CacheKeyUnstable.name, CacheKeyUnstable())
