"""Prompts held against their lock: which prefixes changed under an unchanged version, and what that throws away."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.context import OutsideOf, nothing_known
from prefixwise.analyzers.static.lint import SourceFile
from prefixwise.analyzers.static.lock import Lock, LockedPrompt, ReadPrompt, read_prompts
from prefixwise.analyzers.static.lock_cost import kept_segments
from prefixwise.core.finding import Confidence, Finding, Fix, Lost, Mode, Per, Severity, Span, Where

_RULE = "prompt-version-unbumped"
_Key = tuple[str, int]


def locked_findings(
    files: Sequence[SourceFile],
    lock: Lock,
    root: Path = Path(),
    outside: OutsideOf = nothing_known,
) -> list[Finding]:
    """Return what became of locked prompts, by path.

    A prefix that changed while its version did not is an error. New, renamed and removed prompts, and those with
    another version than the locked one, are information. Locked prompts that are not among `files` are not looked at
    while their file exists.

    Args:
        files: What is linted, with paths from the working folder.
        lock: What was locked.
        root: Folder of the lock.
        outside: What is known of each file from outside, as it was when it was locked.
    """
    prompts, _ = read_prompts(files, root, outside)
    now = {_key(prompt.locked): prompt for prompt in prompts}
    then = {_key(prompt): prompt for prompt in lock.prompts}
    read = {prompt.locked.path for prompt in prompts}
    gone = [one for key, one in then.items() if key not in now and (one.path in read or not (root / one.path).exists())]
    found: list[Finding] = []
    for key, prompt in now.items():
        if key in then:
            found += _compared(then[key], prompt, lock.encoding)
        else:
            before = next((one for one in gone if one.segments and one.segments == prompt.locked.segments), None)
            if before is not None:
                gone.remove(before)
            found.append(_new(prompt, before))
    found += [_removed(prompt, root) for prompt in gone]
    return sorted(found, key=lambda finding: (finding.path, finding.span.start if finding.span else 0, finding.message))


def _key(prompt: LockedPrompt) -> _Key:
    return prompt.path, prompt.number


def _compared(then: LockedPrompt, prompt: ReadPrompt, encoding: str) -> Iterator[Finding]:
    now = prompt.locked
    same = then.digests == now.digests
    if same and then.version == now.version:
        return
    if same:
        message = f"{_named(now)} went from {_version(then)} to {_version(now)}; its prefix is the locked one."
        yield _finding(prompt, Severity.INFO, message)
        return
    kept = kept_segments(then, now)
    lost = sum(then.sizes[kept:])
    cost = _cost(then, sum(then.sizes[:kept]), lost)
    span = _span(prompt, kept)
    if then.version != now.version:
        message = f"{_named(now)} went from {_version(then)} to {_version(now)} with another prefix: {cost}."
        yield _finding(prompt, Severity.INFO, message, span, lost)
        return
    said = f"its version is still {now.version}" if now.version else "it has no version that would tell"
    message = f"The prefix of {_named(now)} is not the locked one and {said}: {cost}."
    evidence = (
        (f"segments {kept + 1} to {len(then.segments)} of the locked prefix", f"tokens of {encoding}") if lost else ()
    )
    yield _finding(prompt, Severity.HIGH if then.tokens else Severity.INFO, message, span, lost, evidence)


def _cost(then: LockedPrompt, kept: int, lost: int) -> str:
    if not then.tokens:
        return "it had no constant text in front before"
    if not lost:
        return f"its {then.tokens:,} cached tokens stay, and what stands behind them is computed again"
    if not kept:
        return f"all {then.tokens:,} cached tokens are thrown away, the first segment being another one"
    return f"of {then.tokens:,} cached tokens the first {kept:,} stay and {lost:,} are thrown away"


def _span(prompt: ReadPrompt, kept: int) -> Span:
    """Return where the first segment that is another one stands, or the end of the prefix."""
    segments = prompt.segments
    if kept < len(segments):
        return prompt.source.span(segments[kept].start, segments[kept].end)
    end = segments[-1].end if segments else 0
    return prompt.source.span(end, end)


def _new(prompt: ReadPrompt, before: LockedPrompt | None) -> Finding:
    now = prompt.locked
    if before is not None and before.path != now.path:
        return _finding(prompt, Severity.INFO, f"{_named(now)} is locked as {before.path}, with the same prefix.")
    return _finding(prompt, Severity.INFO, f"{_named(now)} is not in the lock yet.")


def _removed(prompt: LockedPrompt, root: Path) -> Finding:
    message = f"{_named(prompt)} is in the lock and not there any more."
    path = (root / prompt.path).as_posix()
    return _made(path, prompt, Severity.INFO, message, None, None, ())


def _named(prompt: LockedPrompt) -> str:
    return f"prompt {prompt.number + 1} of {prompt.path}" if prompt.number else prompt.path


def _version(prompt: LockedPrompt) -> str:
    return f"version {prompt.version}" if prompt.version else "no version"


def _finding(
    prompt: ReadPrompt,
    severity: Severity,
    message: str,
    span: Span | None = None,
    lost: int = 0,
    evidence: tuple[str, ...] = (),
) -> Finding:
    loss = Lost(lost, False, Per.ONCE) if lost else None
    return _made(prompt.source.path, prompt.locked, severity, message, span, loss, evidence)


def _made(
    path: str,
    prompt: LockedPrompt,
    severity: Severity,
    message: str,
    span: Span | None,
    lost: Lost | None,
    evidence: tuple[str, ...],
) -> Finding:
    rule = RULES.get(_RULE)
    key = f"{_RULE} {prompt.path} {prompt.number}".encode("utf-8", "replace")
    return Finding(
        rule=rule.name,
        code=rule.code,
        severity=severity,
        level=severity.level,
        confidence=Confidence.CERTAIN,
        mode=Mode.STATIC,
        where=Where.TEMPLATE,
        path=path,
        span=span,
        tokens_lost=lost,
        evidence=evidence,
        message=message[0].upper() + message[1:] if message.startswith("prompt ") else message,
        fix=Fix(rule.fix, rule.safety),
        fingerprint=hashlib.blake2b(key, digest_size=8).hexdigest(),
    )
