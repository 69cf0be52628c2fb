"""What `prefixwise/why` promises to machines: the causes of a log, or one request in full."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.diff_report import Kept
from prefixwise.analyzers.why.accounts import Entry
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.finding import Finding, Verdict
from prefixwise.core.request import Ref


class WhyLog(msgspec.Struct, frozen=True, tag="log", tag_field="of"):
    """Where the prompt tokens of a log went, and why.

    Attributes:
        requests: How many were read; `with_usage`: of how many the log reports cached tokens.
        prompt_tokens: The provider's own count where it reports one, else ours.
        cached_tokens: As reported; None where the log reports none at all.
        accounts: Where the tokens went: every token in one account.
        causes: The costliest findings; `causes_in_all`: how many there are.
    """

    requests: int
    with_usage: int
    prompt_tokens: int
    cached_tokens: int | None
    accounts: tuple[Entry, ...]
    causes: tuple[Finding, ...]
    causes_in_all: int


class Part(msgspec.Struct, frozen=True):
    """How much of one area of the prompt (`tools`, `format`, `system`, `messages`, `template`) the earlier one had."""

    area: str
    tokens: int
    kept_tokens: int


class Setting(msgspec.Struct, frozen=True):
    """What differs beside the text: JSON or a name before and after, None where it is absent.

    `kind` is `model`, `parameter`, `namespace`, `replica`, `tenant`, `header` or `route`.
    """

    kind: str
    name: str
    before: str | None
    after: str | None


class Spot(msgspec.Struct, frozen=True):
    """Where two prompts part: the fields in both, and excerpts around the first difference.

    Attributes:
        before_field, after_field: Pointers into the two bodies; None at the end of a prompt.
        char_offset: Code points that the two values share from their start; None where one is no string.
        text_before: What stands in front of the difference in both.
        before_text, after_text: What stands there.
    """

    before_field: str | None
    after_field: str | None
    char_offset: int | None
    text_before: str
    before_text: str
    after_text: str


class Said(msgspec.Struct, frozen=True):
    """What the log reports of one request, and whether it fits the texts.

    `agrees` is None where nothing is reported, or too little is at stake to tell.
    """

    prompt_tokens: int | None
    cached_tokens: int | None
    written_tokens: int | None
    agrees: bool | None
    sentence: str


class Expected(msgspec.Struct, frozen=True):
    """What a cache should serve to the later request of a pair.

    `cached` as it is, `unbroken` had nothing changed; None where that is not known.
    """

    rule: str
    cached: int | None
    unbroken: int | None
    note: str = ""


class ReproFiles(msgspec.Struct, frozen=True):
    """The smallest pair that still misses, as it was written.

    Attributes:
        folder: Where; `files`: their names.
        rule: What lint says of it; `shows`: whether it still does, now that the words are taken out.
        kept: Words and numbers of the log that had to stay.
        before_tokens, after_tokens: Of the two prompts; `before_were`, `after_were`: of those in the log.
        expected: Cached tokens of the later one, by rule.
    """

    folder: str
    files: tuple[str, ...]
    rule: str
    shows: bool
    kept: tuple[str, ...]
    before_tokens: int
    after_tokens: int
    before_were: int
    after_were: int
    expected: tuple[Expected, ...]


class WhyRequest(msgspec.Struct, frozen=True, tag="request", tag_field="of"):
    """One request, and the earlier one from whose cache it should have been served.

    Attributes:
        request: Where it stands.
        model: As logged.
        summary: What became of it, in one sentence.
        relation: How it stands to `compared_with`: `conversation` (continues it), `application` (resembles it),
            `prefix` (begins with the same text) or `none`.
        seconds: From start to start; None where the log has no times.
        verdict: How the texts stand to each other.
        spot: Where they part; None where they do not.
        prompt_tokens, kept_tokens: Ours, rendered: of the request, and of those that both prompts begin with.
        parts: What survived, by area.
        usage: What the log reports.
        settings: What differs beside the text.
        accounts: Where its prompt tokens went.
        findings: Those that are about it.
        rules: What caches would have served from `compared_with`.
        repro: Where the smallest pair that still misses was written; None where nobody asked for it.
    """

    request: Ref
    model: str
    summary: str
    relation: str
    compared_with: Ref | None
    seconds: float | None
    verdict: Verdict | None
    spot: Spot | None
    prompt_tokens: int
    kept_tokens: int
    parts: tuple[Part, ...]
    usage: Said
    settings: tuple[Setting, ...]
    accounts: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    rules: tuple[Kept, ...]
    repro: ReproFiles | None = None


WHY = DocumentKind("prefixwise/why", 1, "where a log's prompt tokens went and why, or one request", WhyLog | WhyRequest)
