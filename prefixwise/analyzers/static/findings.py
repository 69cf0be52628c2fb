"""From what analyses of sources found to findings: which rule it is, how bad, and what to do."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.rule import RULES, Rule
from prefixwise.analyzers.static.templates.found import Stranded, TemplateTrait
from prefixwise.analyzers.static.volatile import Frequency, Volatile, VolatileKind
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.finding import Confidence, Finding, Fix, Lost, Mode, Per, Severity, Span, Step, Where

_LONG_QUOTE = 160
_AREAS = {
    Where.TOOLS: "the tools",
    Where.SYSTEM: "the system prompt",
    Where.MESSAGES: "a message in front of the newest one",
    Where.PARAMS: "a parameter of the cache key",
}
_OFTEN = {
    Frequency.CALL: "and is another one on every call",
    Frequency.SESSION: "and is another one in every conversation or for every user",
    Frequency.DAY: "and changes every day",
    Frequency.PROCESS: "and is another one in every process",
    Frequency.DEPLOY: "and differs between machines or deployments",
}
_NOUNS = {
    VolatileKind.CLOCK: "A date or time",
    VolatileKind.RELATIVE_TIME: "An age",
    VolatileKind.IDENTIFIER: "An id or random value",
    VolatileKind.COUNTER: "A counter",
    VolatileKind.ENVIRONMENT: "The state of the environment",
    VolatileKind.RETRIEVED: "Text that is looked up for the request",
    VolatileKind.PERSON: "Data of one user",
    VolatileKind.UNORDERED: "What comes in no fixed order",
    VolatileKind.KEY_ORDER: "JSON whose keys come in no fixed order",
    VolatileKind.EXAMPLES: "A choice of examples",
    VolatileKind.LOCALE: "A value in the format of a locale",
    VolatileKind.WINDOW: "A history that is cut to its last messages",
    VolatileKind.TOOLS: "A list of tools that depends on mode or connection",
    VolatileKind.CACHE_KEY: "A cache key that does not stay",
    VolatileKind.WHITE_SPACE: "Trimmed text",
}
_ORDER = frozenset({VolatileKind.UNORDERED, VolatileKind.KEY_ORDER})
_ABOUT = frozenset(
    {
        VolatileKind.COUNTER,
        VolatileKind.ENVIRONMENT,
        VolatileKind.EXAMPLES,
        VolatileKind.PERSON,
        VolatileKind.RELATIVE_TIME,
        VolatileKind.RETRIEVED,
        VolatileKind.UNORDERED,
        VolatileKind.KEY_ORDER,
    }
)
"""Kinds of values that a message may be about, and whose names stand for much else too."""
_DAYS = frozenset({"day", "longer"})


class Raw(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of sources before its text is cut and its fingerprint is known."""

    rule: Rule
    severity: Severity
    confidence: Confidence
    where: Where
    path: str
    span: Span
    quote: str
    message: str
    flow: tuple[Step, ...] = ()
    evidence: tuple[str, ...] = ()
    lost: Lost | None = None
    mended: Mended | None = None


def source_findings(
    found: Iterable[Volatile | Stranded | TemplateTrait],
    excerpts: Excerpts = Excerpts.MASKED,
    bench: Bench | None = None,
) -> list[Finding]:
    """Return what was found in sources as findings, by file and place; what a deployment changes is left out.

    Args:
        found: In any order.
        excerpts: How much of the sources' own text the findings may show.
        bench: The sources, for fixes; without it no finding has edits.
    """
    raw = [_with_edits(one, thing, bench) for thing in found if (one := _raw(thing)) is not None]
    raw.sort(key=lambda one: (one.path, one.span.start, one.rule.name))
    return list(finished(raw, excerpts))


def _with_edits(raw: Raw, thing: Volatile | Stranded | TemplateTrait, bench: Bench | None) -> Raw:
    try:
        mended = None if bench is None else raw.rule.edit(thing, bench)
    except RecursionError:  # nested too deeply to be mended
        mended = None
    return raw if mended is None else msgspec.structs.replace(raw, mended=mended)


def _raw(thing: Volatile | Stranded | TemplateTrait) -> Raw | None:
    if isinstance(thing, Volatile):
        return _of_volatile(thing)
    return _of_stranded(thing) if isinstance(thing, Stranded) else _of_trait(thing)


def _of_volatile(volatile: Volatile) -> Raw | None:
    rule = rule_of(volatile.kind)
    is_guess = volatile.confidence is Confidence.POSSIBLE
    if is_guess and volatile.kind is VolatileKind.PERSON and volatile.area is Where.TOOLS:
        return None  # what is called `name` there is a tool's
    severity = severity_of(rule, volatile)
    if severity is None:
        return None
    name = f" (`{volatile.name}`)" if volatile.name and volatile.name not in volatile.quote else ""
    behind = volatile.stable_behind
    rest = f", in front of {behind:,} tokens that do not change" if behind else ""
    area = _AREAS.get(volatile.area, "the prompt")
    per = Per.DAY if volatile.frequency is Frequency.DAY else Per.CALL
    return Raw(
        rule=rule,
        severity=severity,
        confidence=volatile.confidence,
        where=Where.SOURCE if volatile.flow else Where.TEMPLATE,
        path=volatile.path,
        span=volatile.span,
        quote=volatile.quote,
        message=f"{_NOUNS[volatile.kind]}{name} gets into {area} {_OFTEN[volatile.frequency]}{rest}.",
        flow=volatile.flow,
        evidence=volatile.evidence,
        lost=Lost(behind, False, per) if behind else None,
    )


def rule_of(kind: VolatileKind) -> Rule:
    """Return the rule that knows what makes a value change."""
    return next(rule for rule in RULES if kind in rule.volatile)


def severity_of(rule: Rule, volatile: Volatile) -> Severity | None:
    """Return how bad a volatile value is, None where it changes only with a deployment.

    The rule's own severity holds for what changes on every call; less often, or with little behind it, it is milder.
    """
    if volatile.kind is VolatileKind.LOCALE and volatile.frequency in (Frequency.PROCESS, Frequency.DEPLOY):
        return Severity.LOW  # told although it is another machine's: nobody means the text to depend on it
    if volatile.frequency is Frequency.DEPLOY and volatile.kind not in _ORDER:
        return None
    if volatile.frequency is Frequency.PROCESS and volatile.kind not in _ORDER:
        return Severity.INFO
    severity = rule.severity
    if (volatile.kind is VolatileKind.CLOCK and volatile.precision in _DAYS) or volatile.frequency is Frequency.DAY:
        severity = Severity.LOW
    elif volatile.frequency is Frequency.SESSION and severity is Severity.CRITICAL:
        severity = Severity.HIGH
    elif volatile.frequency in (Frequency.PROCESS, Frequency.DEPLOY):
        severity = Severity.MEDIUM
    if volatile.kind is VolatileKind.WINDOW and volatile.confidence is Confidence.POSSIBLE:
        return Severity.INFO  # a call beside the conversation that looks at its end on purpose
    if volatile.confidence is Confidence.POSSIBLE:
        severity = Severity.LOW if severity.rank <= Severity.HIGH.rank else Severity.INFO
    return max(severity, _most(volatile), key=lambda one: one.rank)


def _most(volatile: Volatile) -> Severity:
    """Return how bad a value is at most, by where it stands and what speaks for it."""
    is_handed_over = any(step.note.startswith(("passed as", "returned by")) for step in volatile.flow)
    if volatile.once and volatile.kind is VolatileKind.IDENTIFIER and is_handed_over:
        return Severity.INFO  # of one of the things that the message is about
    if volatile.once:  # what a message is about stands where its author wanted it; a clock or an id is not that
        return Severity.INFO if volatile.kind in _ABOUT else Severity.MEDIUM
    return Severity.MEDIUM if volatile.named and volatile.kind in _ABOUT else Severity.CRITICAL


def _of_stranded(stranded: Stranded) -> Raw:
    least = stranded.minimum
    enough = least is None or stranded.tokens_behind >= least
    severity = Severity.MEDIUM if enough else Severity.INFO
    if stranded.confidence is Confidence.POSSIBLE:
        severity = Severity.INFO  # most variables of which no name tells are settings of the application
    message = (
        f"{stranded.tokens_behind:,} tokens of constant text stand behind the first variable, `{stranded.name}`; in "
        "front of it they would be computed once."
    )
    return Raw(
        rule=RULES.get("static-text-stranded"),
        severity=severity,
        confidence=stranded.confidence,
        where=Where.TEMPLATE,
        path=stranded.path,
        span=stranded.span,
        quote=stranded.quote,
        message=message,
        evidence=stranded.evidence,
        lost=Lost(stranded.tokens_behind, False, Per.CALL),
    )


def _of_trait(trait: TemplateTrait) -> Raw:
    return Raw(
        rule=RULES.get(trait.rule),
        severity=trait.severity,
        confidence=Confidence.CERTAIN,
        where=Where.TEMPLATE,
        path=trait.path,
        span=trait.span,
        quote=trait.quote,
        message=trait.message.rstrip(".") + ".",
        flow=trait.flow,
        evidence=trait.evidence,
        lost=Lost(trait.tokens, False, Per.CALL) if trait.tokens else None,
    )


def finished(raw: list[Raw], excerpts: Excerpts) -> Iterator[Finding]:
    """Yield findings; several of one rule that quote the same in a file are told apart by their order.

    The fingerprint holds neither place nor path, which is another one when lint is started elsewhere.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for one in raw:
        said = " ".join(one.quote.split())
        number = seen[one.path, one.rule.name, said]
        seen[one.path, one.rule.name, said] += 1
        key = "\0".join((one.rule.name, said, str(number))).encode("utf-8", "replace")
        shown = None if excerpts is Excerpts.NONE else excerpt(one.quote, excerpts, _LONG_QUOTE)
        yield Finding(
            rule=one.rule.name,
            code=one.rule.code,
            severity=one.severity,
            level=one.severity.level,
            confidence=one.confidence,
            mode=Mode.STATIC,
            where=one.where,
            path=one.path,
            span=one.span,
            from_text=shown,
            flow=one.flow,
            tokens_lost=one.lost,
            evidence=one.evidence,
            message=one.message,
            fix=_fix(one),
            fingerprint=hashlib.blake2b(key, digest_size=8).hexdigest(),
        )


def _fix(raw: Raw) -> Fix:
    if raw.mended is None:
        return Fix(raw.rule.fix, raw.rule.safety)
    return Fix(raw.rule.fix, raw.mended.safety, raw.mended.edits)
