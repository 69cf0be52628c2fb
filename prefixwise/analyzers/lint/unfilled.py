"""Placeholders of templates that reached the provider as they were written, because nothing filled them in.

Braces have many meanings, so only two things count: a double brace (or ERB's tag) around one name in a system text that
speaks of nothing like templates, outside code; and a placeholder of any syntax at a place where another request of the
application, the same on both sides of it, has a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from prefixwise.analyzers.lint.change import Change
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.documents import Document, TurnReader
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.unfilled_place import Unfilled
from prefixwise.analyzers.static.templates.code_regions import Regions, literal_regions
from prefixwise.core.finding import Where
from prefixwise.core.request import Request

_NAME = r"[A-Za-z_]\w{2,60}(?:\.[A-Za-z_]\w{0,60}){0,4}"
_DOUBLE = re.compile(
    rf"(?<![$\\{{/\"'`:(=])(?:\{{\{{\s{{0,3}}{_NAME}\s{{0,3}}\}}\}}|<%=\s{{0,3}}@?{_NAME}\s{{0,3}}%>)(?![}}\"'`/)])"
)
_SHORT = r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,4}"
_ANY = re.compile(
    rf"\{{\{{[-~]?\s{{0,3}}[$#@]?{_SHORT}\s{{0,3}}(?:\|[^{{}}\n]{{0,60}})?[-~]?\}}\}}"
    rf"|\$?\{{\s{{0,3}}{_SHORT}\s{{0,3}}(?:![rsa])?(?::[^{{}}\n]{{0,20}})?\}}"
    rf"|%\({_SHORT}\)[-#0 +]{{0,3}}\d{{0,3}}(?:\.\d{{1,2}})?[sdrfig]|(?<![\w%])%[sd](?!\w)|<%=\s{{0,3}}[^%\n]{{1,60}}%>"
)
_SIGNS = (b"{{", b"<%=")
# Texts that speak of templates show placeholders; so do those that say what is to be written or replaced.
_TALK = re.compile(
    r"(?i)template|templat|placeholder|variabl|merge.?(?:tag|field)|macro\b|handlebars|mustache|jinja|liquid|nunjucks|"
    r"\b(?:erb|ejs|helm|ansible|vue|angular|svelte|django|twig|n8n|zapier|dbt|f-?strings?|printf|shell|bash)\b|"
    r"\bprompts\b|brace|bracket|interpolat|substitut|render|syntax|token\b|verbatim|literal|snippet|escap|"
    r"platzhalter|vorlage|plantilla|marcador|modèle|gabarit|segnaposto|modello|sjabloon|плейсхолдер|шаблон|占位|模板|変数|プレースホルダ"
)
_WRITES = re.compile(
    r"(?i)\b(?:for example|example|e\.g\.|output|reply|respond|write|insert|include|replace|keep|copy|"
    r"format|such as|like this|code|markup|html|subject|greeting|dear|hi|hello|link|tag|snippet|fields?)\b"
)
_NEAR = 160
_RIGHT, _LEAST_RIGHT, _LEAST_AROUND = 24, 8, 24
"""Characters that are compared behind a placeholder, and that both texts must have behind and around it."""
_WIDEST_VALUE = 400
_LEAST_TEMPLATE = 200
_MOST_TEXTS = 20_000
_LONGEST = 200_000
_MOST_PLACES = 1_000


class UnfilledTexts:
    """Looks at each system text once, as the input passes by for the second time.

    Args:
        log: `unfilled` is filled in.
        reader: Decodes items.
    """

    def __init__(self, log: Log, reader: TurnReader) -> None:
        self._log = log
        self._reader = reader
        self._seen: set[int] = set()
        self._known: Counter[str] = Counter()

    def asks(self, row: int, record: bytes) -> bool:
        """Say whether a request may have a placeholder in front of its messages that was not looked at before.

        Args:
            row: The request.
            record: What holds it, b'' where that is not known.
        """
        head = self._log.outlines.head[row]
        if not head or self._seen.issuperset(head) or len(self._seen) >= _MOST_TEXTS:
            return False
        if record and not any(sign in record for sign in _SIGNS):
            self._seen.update(head)
            return False
        return True

    def offer(self, row: int, request: Request) -> None:
        """Look at what a request for which `asks` is true says in front of its messages."""
        head = self._log.outlines.head[row]
        document = Document(row, request, self._reader)
        for index, content in enumerate(head):
            entry = None if content in self._seen else document.entry(index)
            self._seen.add(content)
            if entry is None or entry.where is not Where.SYSTEM:
                continue
            for part in entry.parts:
                if not part.is_json:
                    self._log.unfilled += _constant(row, content, entry.pointer + part.pointer, part.text)

    def compare(self, pair: Compared, change: Change) -> None:
        """Note a placeholder in one of two texts of an application where the other one has a value."""
        if not change.is_text or change.char_offset is None or self._known[change.field] >= _MOST_PLACES:
            return
        shortest = min(len(change.before), len(change.after))
        if change.where is not Where.SYSTEM and (pair.turn or shortest < _LEAST_TEMPLATE):
            return
        sides = (pair.after, change.after, change.before), (pair.before, change.before, change.after)
        for row, text, other in sides:
            found = _filled_elsewhere(text, other, change.char_offset)
            if found is not None:
                start, end, value = found
                place = Unfilled(row, change.where, change.field, start, text[start:end], value=value)
                self._log.unfilled.append(place)
                self._known[change.field] += 1
                return


def _constant(row: int, content: int, field: str, text: str) -> Iterator[Unfilled]:
    """Yield the placeholders of a text that nothing can have meant to stand there."""
    if not ("{{" in text or "<%=" in text) or len(text) > _LONGEST or _TALK.search(text):
        return
    literal = Regions(literal_regions(text))
    for match in _DOUBLE.finditer(text):
        around = text[max(match.start() - _NEAR, 0) : match.start()]
        if not literal.cover(match.start()) and not _WRITES.search(around):
            yield Unfilled(row, Where.SYSTEM, field, match.start(), match[0], content=content)


def _filled_elsewhere(text: str, other: str, parted: int) -> tuple[int, int, str] | None:
    """Return start and end of the placeholder at which a text parts from another one, and the other's value."""
    found = _ANY.finditer(text, max(0, parted - _NEAR), parted + _NEAR)
    match = next((one for one in found if one.end() > parted), None)
    if match is None or match.start() > parted:
        return None
    start, end = match.span()
    behind = text[end : end + _RIGHT]
    if start + len(behind) < _LEAST_AROUND or 0 < len(behind) < _LEAST_RIGHT:
        return None
    stop = other.find(behind, start, start + _WIDEST_VALUE) if behind else len(other)
    value = other[start:stop] if stop > start else ""
    if not value.strip() or len(value) > _WIDEST_VALUE or _ANY.search(value) or "{" in value:
        return None
    near = text[max(0, start - _NEAR) : end + _NEAR]
    return None if _TALK.search(near) or Regions(literal_regions(text)).cover(start) else (start, end, value)
