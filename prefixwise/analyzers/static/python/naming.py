"""What names say in code, where they say less than in a template.

A placeholder `{{ name }}` is filled for somebody; in code `name` is that of a tool or field as often as a person's,
`context` an object that is passed around, `chunk` a piece of an answer that is streamed.
"""

from __future__ import annotations

import ast

from prefixwise.analyzers.static.name_words import PERSONS, RETRIEVAL_HEADS, VAGUE_MODIFIERS, WEAK_PERSONS, words
from prefixwise.analyzers.static.names import Judgement, judge, name_words
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

_TEXTS = words(
    "page_content content text body snippet excerpt get_content get_text page_contents contents summary memory fact"
)
_OWN = PERSONS - WEAK_PERSONS
_SURE_ALONE = (
    words("first name"),
    words("last name"),
    words("full name"),
    words("email address"),
    words("phone number"),
    words("birthday"),
    words("date birth"),
)


def judge_variable(node: ast.expr, path: str) -> Judgement | None:
    """Say whether a variable, attribute or key with this path changes by itself, as far as its name tells in code."""
    return _in_code(judge(path), path, is_part=not isinstance(node, ast.Name))


def judge_placeholder(name: str) -> Judgement | None:
    """Say the same of a placeholder that code fills with something that is not known."""
    return _in_code(judge(name), name, is_part=False)


def is_text(name: str) -> bool:
    """Say whether an attribute or method of this name gives the text of what was looked up."""
    return name in _TEXTS


def _in_code(judged: Judgement | None, path: str, *, is_part: bool) -> Judgement | None:
    if judged is None or not _holds(judged, path, is_part=is_part):
        return None
    if judged.kind is VolatileKind.RETRIEVED:  # what is called a context may be instructions
        return _of_user(judged._replace(confidence=Confidence.POSSIBLE), path)
    return judged


def _of_user(judged: Judgement, path: str) -> Judgement:
    """Return what a name says of looked-up text: what code calls the memory of a user is read when a session begins."""
    is_of_user = judged.kind is VolatileKind.RETRIEVED and name_words(path)[-2:] == ("user", "memory")
    return judged._replace(frequency=Frequency.SESSION) if is_of_user else judged


def _holds(judged: Judgement, path: str, *, is_part: bool) -> bool:
    """Say whether what a name says may be believed; `is_part` of one that is looked up in something else."""
    if path[:1].isupper() and "." in path:
        return False  # a member of a class or enumeration: `Role.user`
    if judged.kind is VolatileKind.CLOCK and path == "dt":
        return False  # some point in time
    if judged.kind is VolatileKind.PERSON:
        return judged.confidence is not Confidence.POSSIBLE and _is_of_a_person(path)
    if judged.kind is VolatileKind.RETRIEVED:
        last = name_words(path.rsplit(".", 1)[-1])
        is_vague = last[0] in VAGUE_MODIFIERS or last == ("chunk",)
        return not is_vague and not (is_part and len(last) == 1 and last[0] in RETRIEVAL_HEADS)
    return True


def _is_of_a_person(path: str) -> bool:
    found = set(name_words(path))
    return bool(found & _OWN) or any(alone <= found for alone in _SURE_ALONE)
