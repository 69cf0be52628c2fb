"""What a finding says to people, in pieces that each format lays out its own way.

The pieces hold text that is not ours as it came: a format makes it safe.
"""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Confidence, Finding, Level, Lost, Pair, Safety
from prefixwise.core.report import Unit
from prefixwise.core.request import Ref
from prefixwise.reports.numbers import show

_PLACES = 3
"""Places that are named one by one; the rest are counted."""
_SAFETIES = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.NONE: ""}


def named(finding: Finding) -> str:
    """Return the rule, its code, and how sure the finding is where it is not certain."""
    doubt = "" if finding.confidence is Confidence.CERTAIN else f", {finding.confidence}"
    return f"{finding.rule}{f' ({finding.code})' if finding.code else ''}{doubt}"


def loss(finding: Finding) -> str:
    """Return what it cost in all, such as `12,340 tokens · $0.1200 lost`; empty where nobody knows."""
    lost, usd = finding.tokens_lost, finding.usd_lost
    parts = [_tokens(lost)] if lost is not None else []
    parts += [show(usd, Unit.USD)] if usd is not None else []
    return f"{' · '.join(parts)} lost" if parts else ""


def spot(finding: Finding) -> str:
    """Return the field and the character inside it; empty where neither is known."""
    if finding.field is None:
        return ""
    # The pointer of a whole body is the empty string.
    field = finding.field or "the whole body"
    return field if finding.char_offset is None else f"{field}, character {finding.char_offset:,}"


def texts(finding: Finding) -> list[tuple[str, str]]:
    """Return the differing texts behind their signs `-` and `+`; quoted where white space could be overlooked."""
    pairs = [(sign, text) for sign, text in (("-", finding.from_text), ("+", finding.to_text)) if text is not None]
    if not any(text for _, text in pairs):
        return []
    quoted = any(text != text.strip(" ") or not text or "  " in text for _, text in pairs)
    return [(sign, f'"{text}"' if quoted else text) for sign, text in pairs]


def places(finding: Finding) -> str:
    """Return where it shows: the first few pairs or records, and how many more there are.

    A file is named where it differs from the one before, first of all from that of the finding. Empty where there is
    nothing but the place of the finding.
    """
    at = finding.pair.after if finding.pair is not None else finding.record
    path = at.path if at is not None else finding.path
    spots: list[Pair | Ref | None] = [place.pair or place.record for place in finding.occurrences]
    known = list(dict.fromkeys(spot for spot in spots or [finding.pair or finding.record] if spot is not None))
    if len(known) <= 1:
        return _listed([spot for spot in known if isinstance(spot, Pair)], path)
    kinds = {type(spot) for spot in known}
    noun = "places" if len(kinds) > 1 else "pairs" if kinds == {Pair} else "records"
    more = len(known) - _PLACES
    return f"{len(known):,} {noun}: {_listed(known[:_PLACES], path)}{f' and {more:,} more' if more > 0 else ''}"


def steps(finding: Finding) -> list[str]:
    """Return the way of a volatile value from its source to the prompt, a line a step."""
    return [f"{step.path}:{step.span.line}  {step.note}".rstrip() for step in finding.flow]


def remedy(finding: Finding) -> str:
    """Return how to mend it, and, where a tool can, whether that needs a look; empty where there is no way."""
    fix = finding.fix
    if not fix.summary:
        return ""
    if not fix.edits:
        return fix.summary
    edits = f"{len(fix.edits)} edit{'' if len(fix.edits) == 1 else 's'}"
    return f"{fix.summary} ({', '.join(filter(None, (_SAFETIES[fix.safety], edits)))})"


def details(finding: Finding) -> list[tuple[str, str]]:
    """Return (label, text) of all that is said of it behind its message, for formats that know only lines of text."""
    told = [("at", where)] if (where := spot(finding)) else []
    told += texts(finding)
    told += [("in", where)] if (where := places(finding)) else []
    told += [("from", step) for step in steps(finding)]
    told += [("why", fact) for fact in finding.evidence]
    told += [("lost", cost.removesuffix(" lost"))] if (cost := loss(finding)) else []
    told += [("fix", how)] if (how := remedy(finding)) else []
    return [*told, ("also", ", ".join(finding.also_rules))] if finding.also_rules else told


def plain(finding: Finding) -> str:
    """Return its message and all details, a line each, every line made visible."""
    lines = (f"{label} {text}" if label in "-+" else f"{label}: {text}" for label, text in details(finding))
    return "\n".join(map(visible, (finding.message, *lines)))


def tally(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of each level: `2 errors, 1 warning`, or `no findings`."""
    counts = [(level, sum(finding.level is level for finding in findings)) for level in Level]
    words = [f"{count:,} {level}{'' if count == 1 or level is Level.INFO else 's'}" for level, count in counts if count]
    return ", ".join(words) or "no findings"


def _tokens(lost: Lost) -> str:
    about = "" if lost.exact else "about "
    return f"{about}{lost.value:,} token{'' if lost.value == 1 else 's'}"


def _listed(spots: Sequence[Pair | Ref], path: str) -> str:
    shown = []
    for spot in spots:
        refs = (spot.before, spot.after) if isinstance(spot, Pair) else (spot,)
        names = []
        for ref in refs:
            names.append(f"#{ref.record}" if ref.path == path else str(ref))
            path = ref.path
        shown.append("→".join(names))
    return ", ".join(shown)
