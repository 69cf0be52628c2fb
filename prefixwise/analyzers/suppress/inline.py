"""Findings that comments of the sources ignore, and what there is to say of such comments."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.rule import RULES, Rule
from prefixwise.analyzers.static.context import OutsideOf, nothing_known
from prefixwise.analyzers.static.findings import Raw, finished
from prefixwise.analyzers.static.lint import SourceFile, SourceKind
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.tokens import count_tokens, encoding_name
from prefixwise.analyzers.suppress.commented import Commented, Lines
from prefixwise.analyzers.suppress.comments.prompt_files import prompt_comments
from prefixwise.analyzers.suppress.comments.python_code import python_comments
from prefixwise.analyzers.suppress.comments.script_code import script_comments
from prefixwise.analyzers.suppress.directives import MARK, Directive, Named, directives_in
from prefixwise.analyzers.suppress.sifted import Hidden, Sifted
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.finding import Confidence, Finding, Mode, Where
from prefixwise.core.suppression import Suppression, SuppressionKind

_UNUSED, _UNKNOWN, _COSTLY = "unused-ignore", "unknown-ignore", "costly-ignore"
OWN_RULES = frozenset({_UNUSED, _UNKNOWN, _COSTLY})
"""Rules that are about comments to the linter."""
_LONGEST_REASON = 160
_LONGEST_NAME = 60


class Ran(msgspec.Struct, frozen=True):
    """What a run looked for.

    Attributes:
        wanted: Returns the names of the rules of a path.
        unasked: Rules that were not run for want of an option.
        unjudged: Paths whose ignores may well be used in a run over more files: code that is followed from elsewhere.
        judges: Whether unused and unknown ignores are told at all.
    """

    wanted: Callable[[str], Collection[str]]
    unasked: frozenset[str] = frozenset()
    unjudged: frozenset[str] = frozenset()
    judges: bool = True

    def of(self, path: str) -> frozenset[str]:
        """Return the names of the rules that were run on a file."""
        return frozenset(self.wanted(path)) - self.unasked


class _Ignore(NamedTuple):
    """A directive that names a rule: which lines it is about, None for the file."""

    directive: Directive
    named: Named
    rule: Rule
    lines: tuple[Lines, ...] | None
    line: int

    def covers(self, finding: Finding) -> bool:
        if finding.rule != self.rule.name:
            return False
        if self.lines is None:
            return True
        return any(first <= line <= last for line in _ends(finding) for first, last in self.lines)


class _File(NamedTuple):
    """A file with what its comments say; `where`: what findings about it are about."""

    source: Source
    commented: Commented
    directives: tuple[Directive, ...]
    where: Where


def sift_inline(
    findings: Sequence[Finding],
    files: Iterable[SourceFile],
    ran: Ran,
    outside: OutsideOf = nothing_known,
    given: Mapping[str, bytes] | None = None,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Sifted:
    """Return findings without those that comments ignore, and with what is wrong with the comments themselves.

    Args:
        findings: Of logs and of sources; those of logs always stay.
        files: Sources that were linted, or followed.
        ran: Which rules were run, and what is to be said of comments.
        outside: What is known of each file from outside.
        given: What files hold that are not read from the disk, by path.
        excerpts: How much of the sources' text findings may show.
    """
    hidden: dict[int, Suppression] = {}
    own: list[Raw] = []
    by_path: dict[str, list[tuple[int, Finding]]] = {}
    for number, finding in enumerate(findings):
        if finding.mode is Mode.STATIC:
            by_path.setdefault(finding.path, []).append((number, finding))
    ignores: dict[str, list[_Ignore]] = {}
    for file in sorted(files, key=lambda file: file.path):
        read = _read(file, outside, (given or {}).get(file.path))
        if read is None:
            continue
        ignores[file.path] = list(_ignores(read))
        used: set[_Ignore] = set()
        for number, finding in by_path.get(file.path, ()):
            covering = [ignore for ignore in ignores[file.path] if ignore.covers(finding)]
            used.update(covering)
            if covering:
                hidden[number] = _suppression(covering[0], file.path, excerpts)
        wanted = ran.of(file.path)
        own += _costly(read) if _COSTLY in wanted else ()
        own += _unknown(read) if ran.judges and _UNKNOWN in wanted else ()
        judged = ran.judges and _UNUSED in wanted and file.path not in ran.unjudged
        own += _unused(read, ignores[file.path], used, wanted) if judged else ()
    own.sort(key=lambda one: (one.path, one.span.start, one.rule.name))
    kept = [finding for number, finding in enumerate(findings) if number not in hidden]
    silenced = [Hidden(findings[number], why) for number, why in sorted(hidden.items())]
    for finding in finished(own, excerpts):
        ignore = next((one for one in ignores[finding.path] if one.covers(finding)), None)
        if ignore is None:
            kept.append(finding)
        else:
            silenced.append(Hidden(finding, _suppression(ignore, finding.path, excerpts)))
    return Sifted(_in_order(kept) if own else tuple(kept), tuple(silenced))


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings of logs as they come, then those of sources by file and place."""
    logs = [finding for finding in findings if finding.mode is Mode.LOG]
    sources = [finding for finding in findings if finding.mode is not Mode.LOG]
    sources.sort(key=lambda one: (one.path, one.span.start if one.span else 0, one.rule))
    return (*logs, *sources)


def _ends(finding: Finding) -> tuple[int, ...]:
    """Return the first and the last line of a finding; no line where it is about a file."""
    span = finding.span
    if span is None:
        return ()
    last = span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
    return span.line, last


def _suppression(ignore: _Ignore, path: str, excerpts: Excerpts) -> Suppression:
    reason = excerpt(ignore.directive.reason, excerpts, _LONGEST_REASON)
    return Suppression(SuppressionKind.INLINE, reason, path, ignore.line)


def _read(file: SourceFile, outside: OutsideOf, given: bytes | None) -> _File | None:
    """Return a file with what its comments say, None where they say nothing, or it cannot be read."""
    try:
        data = Path(file.path).read_bytes() if given is None else given
        if MARK.search(data) is None:
            return None
        source = Source(file.path, data.decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    if file.kind is SourceKind.TEMPLATE:
        commented = prompt_comments(source, outside(file.path))
    else:
        commented = python_comments(source) if file.kind is SourceKind.PYTHON else script_comments(source)
    if commented is None:
        return None
    said = tuple(one for comment in commented.comments for one in directives_in(comment))
    where = Where.TEMPLATE if file.kind is SourceKind.TEMPLATE else Where.SOURCE
    return _File(source, commented, said, where) if said else None


def _ignores(file: _File) -> Iterator[_Ignore]:
    for directive in file.directives:
        if directive.fault or _misplaced(file, directive):
            continue
        start, _ = file.commented.place(directive.start, directive.end)
        line, _ = file.source.position(start)
        lines = None
        if not directive.whole_file:
            about = file.commented.about(directive.comment)
            lines = tuple(file.commented.lines_in_file(file.source, one) for one in about)
        for named in directive.names:
            rule = _rule(named.name)
            if rule is not None:
                yield _Ignore(directive, named, rule, lines, line)


def _misplaced(file: _File, directive: Directive) -> bool:
    return directive.whole_file and not file.commented.at_top(directive.comment)


def _rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if name in (rule.name, rule.code)), None)


def _unused(file: _File, ignores: list[_Ignore], used: set[_Ignore], wanted: Collection[str]) -> Iterator[Raw]:
    for ignore in ignores:
        rule = ignore.rule
        if ignore in used or rule.name not in wanted or rule.name in OWN_RULES:
            continue
        place = "in the file" if ignore.lines is None else "there"
        seen = f"finds nothing {place}" if Mode.STATIC in rule.modes else "is seen in logs only"
        yield _raw(file, _UNUSED, ignore.named.start, ignore.named.end, f"The rule {rule.name} {seen}.")


def _unknown(file: _File) -> Iterator[Raw]:
    for directive in file.directives:
        if directive.fault:
            message = f"This comment ignores nothing: {directive.fault}."
            yield _raw(file, _UNKNOWN, directive.start, directive.end, message)
            continue
        if _misplaced(file, directive):
            message = "This comment ignores nothing: `ignore-file` has to stand above everything but comments."
            yield _raw(file, _UNKNOWN, directive.start, directive.end, message)
        for named in directive.names:
            if _rule(named.name) is None:
                name = named.name[:_LONGEST_NAME]
                near = difflib.get_close_matches(name, RULES.names(), n=1)
                message = f"There is no rule `{name}`{f'; did you mean {near[0]}?' if near else '.'}"
                yield _raw(file, _UNKNOWN, named.start, named.end, message)


def _costly(file: _File) -> Iterator[Raw]:
    for comment in dict.fromkeys(directive.comment for directive in file.directives if directive.comment.sent):
        tokens = count_tokens(file.source.text[comment.start : comment.end])
        message = f"This comment to prefixwise is sent to the model: {tokens:,} tokens on each call."
        yield _raw(file, _COSTLY, comment.start, comment.end, message, (f"tokens of {encoding_name()}",))


def _raw(file: _File, rule: str, start: int, end: int, message: str, evidence: tuple[str, ...] = ()) -> Raw:
    start, end = file.commented.place(start, end)
    return Raw(
        rule=RULES.get(rule),
        severity=RULES.get(rule).severity,
        confidence=Confidence.CERTAIN,
        where=file.where,
        path=file.source.path,
        span=file.source.span(start, end),
        quote=file.source.text[start:end],
        message=message,
        evidence=evidence,
    )
