"""What lint found, in the words of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from prefixwise.analyzers.rule import RULES
from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Edit, Finding, Level, Safety, Span
from prefixwise.workflows.editor.ignoring import Insertion
from prefixwise.workflows.editor.looking import Look, named
from prefixwise.workflows.editor.positions import Position, Positions

SOURCE = "prefixwise"
_SEVERITIES = {
    Level.ERROR: types.DiagnosticSeverity.Error,
    Level.WARNING: types.DiagnosticSeverity.Warning,
    Level.INFO: types.DiagnosticSeverity.Information,
}
_MOST = 200
"""Diagnostics of a file that are shown: an editor has no use for more."""


def diagnostics(look: Look, positions: Positions) -> list[types.Diagnostic]:
    """Return what is shown in a text: its findings, and what of it could not be read."""
    found = [_diagnostic(finding, positions) for finding in look.findings[:_MOST]]
    for problem in look.problems:
        start = positions.offset_of_line(problem.line)
        message = f"prefixwise cannot read this: {visible(problem.what)}"
        place = range_of(positions, start, positions.line_end(start))
        found.append(types.Diagnostic(place, message, types.DiagnosticSeverity.Information, source=SOURCE))
    return found


def _diagnostic(finding: Finding, positions: Positions) -> types.Diagnostic:
    steps = [step for step in finding.flow if named(step.path) == finding.path]
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(Path(step.path).absolute().as_uri(), range_of_span(step.span, positions)),
            visible(step.note) or "on the way to the prompt",
        )
        for step in steps
    ]
    return types.Diagnostic(
        range=range_of_span(finding.span, positions),
        message=visible(finding.message),
        severity=_SEVERITIES[finding.level],
        code=finding.rule,
        source=SOURCE,
        related_information=related or None,
        data=finding.fingerprint,
    )


def range_of_span(span: Span | None, positions: Positions) -> types.Range:
    """Return the range of a span; the beginning of the text where there is none."""
    return range_of(positions, 0, 0) if span is None else range_of(positions, span.start, span.end)


def range_of(positions: Positions, start: int, end: int) -> types.Range:
    """Return a stretch of a text as a range."""
    return types.Range(place(positions.position(start)), place(positions.position(end)))


def place(position: Position) -> types.Position:
    """Return a position as the protocol has it."""
    return types.Position(position.line, position.character)


def offsets(asked: types.Range, positions: Positions) -> tuple[int, int]:
    """Return a range as offsets."""
    ends = (Position(end.line, end.character) for end in (asked.start, asked.end))
    start, end = (positions.offset(one) for one in ends)
    return start, end


def touched(look: Look, start: int, end: int) -> list[Finding]:
    """Return the findings that a stretch of a text touches."""
    return [one for one in look.findings if one.span is not None and one.span.start <= end and start <= one.span.end]


def fix_action(
    finding: Finding, positions: Positions, document: types.OptionalVersionedTextDocumentIdentifier
) -> types.CodeAction | None:
    """Return what applies a finding's edits; None where it has none, or some for other files."""
    edits = finding.fix.edits
    if not edits or any(edit.path != finding.path for edit in edits):
        return None
    safe = finding.fix.safety is Safety.SAFE
    return types.CodeAction(
        title=f"{visible(finding.fix.summary)}{'' if safe else ' (needs a look)'}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(finding, positions)],
        is_preferred=safe or None,
        edit=_workspace_edit(document, [_text_edit(edit, positions) for edit in edits]),
    )


def ignore_action(
    finding: Finding,
    insertion: Insertion,
    positions: Positions,
    document: types.OptionalVersionedTextDocumentIdentifier,
) -> types.CodeAction:
    """Return what inserts a comment that ignores a finding."""
    edit = types.TextEdit(range_of(positions, insertion.offset, insertion.offset), insertion.text)
    return types.CodeAction(
        title=f"Ignore {finding.rule} here{' (the model gets to read the comment)' if insertion.sent else ''}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(finding, positions)],
        edit=_workspace_edit(document, [edit]),
    )


def _workspace_edit(
    document: types.OptionalVersionedTextDocumentIdentifier, edits: list[types.TextEdit]
) -> types.WorkspaceEdit:
    """Return edits of a document; those of no known version as older clients know them."""
    if document.version is None:
        return types.WorkspaceEdit(changes={document.uri: edits})
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(edits))])


def _text_edit(edit: Edit, positions: Positions) -> types.TextEdit:
    return types.TextEdit(range_of(positions, edit.start, edit.end), edit.text)


def hover(findings: Iterable[Finding], positions: Positions) -> types.Hover | None:
    """Return the pages of the rules of findings, None where there is none."""
    found = list(findings)
    if not found:
        return None
    rules = {one.rule: RULES.get(one.rule) for one in found}
    pages = "\n\n---\n\n".join(f"**{rule.name}** ({rule.code})\n\n{rule.page}" for rule in rules.values())
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, pages), range_of_span(found[0].span, positions))


def hints(look: Look, positions: Positions, start: int, end: int) -> Iterator[types.InlayHint]:
    """Yield where stable prefixes end in a stretch of a text."""
    for stable in look.stable:
        if start <= stable.offset <= end:
            tooltip = "What stands in front of this is the same in every request, so that a cache can keep it."
            yield types.InlayHint(
                place(positions.position(stable.offset)),
                stable.label,
                tooltip=tooltip,
                padding_left=True,
                padding_right=True,
            )
