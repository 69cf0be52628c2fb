"""Ids: whose they are by what is done with them, and what of an object is one."""

from __future__ import annotations

import ast

from prefixwise.analyzers.static.name_words import CALL_NOUNS, ID_HEADS, RANDOM_WORDS, SESSION_NOUNS, words
from prefixwise.analyzers.static.names import name_words
from prefixwise.analyzers.static.python.modules import own_nodes, path_of
from prefixwise.analyzers.static.python.pieces import Moving, Piece
from prefixwise.analyzers.static.python.values import Value, moved
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_PARTS = words("hex int bytes urn fields node time generation_time value str")
"""Fields of an id that are the id."""
_OWN = ID_HEADS | RANDOM_WORDS | words("token hash")
_ASKED = ("get", "getattr")


def kept_for_a_conversation(value: Value) -> Value:
    """Return a value whose ids are made once for a conversation."""

    def rarer(piece: Moving) -> Piece | None:
        origin = piece.origin
        if origin.kind is not VolatileKind.IDENTIFIER or origin.frequency is not Frequency.CALL:
            return piece
        return piece._replace(origin=origin._replace(frequency=Frequency.SESSION))

    return moved(value, rarer) if value.stirs else value


def of_what_is_called(value: Value, name: str) -> Value:
    """Return a value as it is under this name: `session_id = uuid4()` is another id in every session, not call."""
    return kept_for_a_conversation(value) if value.stirs and _is_of_a_session(name) else value


def where_missing(value: Value, asked: ast.expr) -> Value:
    """Return what is taken where `asked` gave nothing: an id is then made once, unless its name is that of a call's."""
    return kept_for_a_conversation(value) if value.stirs and not set(name_words(path_of(asked))) & CALL_NOUNS else value


def is_asked_for_first(function: ast.AST) -> bool:
    """Say whether a function gives what is kept elsewhere, and makes a new value only where that is missing."""
    read: set[str] = set()
    tested: set[str] = set()
    given: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            called = node.value.func if isinstance(node.value, ast.Call) else None
            if called is not None and path_of(called).rsplit(".", 1)[-1] in _ASKED:
                read.add(node.targets[0].id)
        elif isinstance(node, ast.If):
            tested |= {inner.id for inner in ast.walk(node.test) if isinstance(inner, ast.Name)}
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
            given.add(node.value.id)
    return bool(read & tested & given)


def is_handed_on(piece: Moving, field: str) -> bool:
    """Say whether what moves an object moves this field of it: an id among its fields says nothing of its text."""
    if piece.origin.kind is not VolatileKind.IDENTIFIER or field in _PARTS:
        return True
    return bool(_OWN & set(name_words(field)))


def _is_of_a_session(name: str) -> bool:
    found = set(name_words(name.rsplit(".", 1)[-1]))
    return bool(found & SESSION_NOUNS and found & (ID_HEADS | {"key"})) and not found & CALL_NOUNS
