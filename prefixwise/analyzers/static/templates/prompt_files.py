"""Prompts inside YAML and JSON files: which texts are one prompt, and in which role each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.templates.definitions import is_tool
from prefixwise.analyzers.static.templates.front_matter import About, about
from prefixwise.analyzers.static.templates.trees import Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.views import View

_SYSTEM_KEYS = ("system", "system_prompt", "systemPrompt", "system_message", "developer", "system_instruction")
_USER_KEYS = ("user", "user_prompt", "userPrompt", "user_message", "human")
_TEXT_KEYS = ("content", "template", "text", "prompt", "value")
_ROLES = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
}
_CLASS = re.compile(r"(System|Human|AI|Chat)Message")
_SHORTEST = 40
_DEEPEST = 20


class Piece(NamedTuple):
    """A text of a prompt, and the role in which it is sent; '' where none is named."""

    role: str
    view: View


class Prompt(NamedTuple):
    """The texts of one prompt; `chat`: it is a model's chat template."""

    pieces: tuple[Piece, ...]
    about: About
    chat: bool = False


def prompts_of(tree: Tree) -> list[Prompt]:
    """Return the prompts that a file holds."""
    whole = about(tree)
    if isinstance(tree, Mapping) and _is_compiled(tree):
        return []
    return [prompt._replace(about=_completed(prompt.about, whole)) for prompt in _prompts(tree, 0) if prompt.pieces]


def _completed(inner: About, outer: About) -> About:
    context = inner.context.completed(outer.context)
    version = inner.version or outer.version
    return About(
        context, {**outer.declared, **inner.declared}, inner.fixed | outer.fixed, inner.keys | outer.keys, version
    )


def _is_compiled(tree: Mapping) -> bool:
    """Say whether it is a program of DSPy as it saves them: its texts are filled in by nothing."""
    modules = [value for _, value in tree.entries if isinstance(value, Mapping)]
    return any(module.get("signature") is not None and module.get("demos") is not None for module in modules)


def _prompts(tree: Tree, depth: int) -> Iterator[Prompt]:
    if depth > _DEEPEST or isinstance(tree, Scalar):
        if isinstance(tree, Scalar) and len(tree.text) >= _SHORTEST:
            yield Prompt((Piece("", tree.view),), About())
        return
    if isinstance(tree, Sequence):
        pieces = _messages(tree)
        if pieces:
            yield Prompt(tuple(pieces), About())
            return
        for item in tree.items:
            yield from _prompts(item, depth + 1)
        return
    if is_tool(tree):  # an API sends its texts as they are: a place in one braces is that of a path
        for _, value in tree.entries:
            yield from (prompt for prompt in _prompts(value, depth + 1) if _is_filled(prompt))
        return
    found = _chat_templates(tree) or _whole_prompt(tree)
    if found:
        yield from found
        return
    for _, value in tree.entries:
        yield from _prompts(value, depth + 1)


def _is_filled(prompt: Prompt) -> bool:
    return any("{{" in piece.view.text or "{%" in piece.view.text for piece in prompt.pieces)


def _chat_templates(tree: Mapping) -> list[Prompt]:
    given = tree.get("chat_template")
    if isinstance(given, Scalar) and "{%" in given.text:
        return [Prompt((Piece("", given.view),), About(), chat=True)]
    named = given.items if isinstance(given, Sequence) else ()
    views = [item.get("template") for item in named if isinstance(item, Mapping)]
    return [Prompt((Piece("", view.view),), About(), chat=True) for view in views if isinstance(view, Scalar)]


def _whole_prompt(tree: Mapping) -> list[Prompt]:
    """Return the prompt that a mapping is, if it is one: messages, roles as keys, or a template."""
    pieces = [
        *_keyed(tree, _SYSTEM_KEYS, "system"),
        *_messages(tree.get("messages") or _inner_messages(tree)),
        *_few_shot(tree),
        *_keyed(tree, _USER_KEYS, "user"),
    ]
    if not pieces:
        template = tree.get("template", "prompt", "content")
        if isinstance(template, Scalar):
            pieces = [Piece(_role(tree), template.view)]
    return [Prompt(tuple(pieces), about(tree))] if pieces else []


def _inner_messages(tree: Mapping) -> Tree | None:
    inner = tree.get("kwargs", "prompt", "template")
    if isinstance(inner, Mapping):
        return inner.get("messages")
    return inner if isinstance(inner, Sequence) else None


def _keyed(tree: Mapping, keys: tuple[str, ...], role: str) -> list[Piece]:
    found = tree.get(*keys)
    return [Piece(role, found.view)] if isinstance(found, Scalar) and found.text.strip() else []


def _few_shot(tree: Mapping) -> list[Piece]:
    """Return prefix and suffix around examples, as LangChain writes them."""
    prefix, suffix = tree.get("prefix"), tree.get("suffix")
    if not isinstance(prefix, Scalar) or not isinstance(suffix, Scalar):
        return []
    examples = tree.get("examples")
    items = examples.items if isinstance(examples, Sequence) else ()
    values = [value for item in items if isinstance(item, Mapping) for _, value in item.entries]
    shown = [Piece("", value.view) for value in values if isinstance(value, Scalar)]
    return [Piece("", prefix.view), *shown, Piece("", suffix.view)]


def _messages(tree: Tree | None) -> list[Piece]:
    """Return the texts of a list of messages; nothing where it is none."""
    pieces: list[Piece] = []
    for item in tree.items if isinstance(tree, Sequence) else ():
        role, texts = _message(item)
        if not role:
            return []
        pieces += [Piece(role, view) for view in texts]
    return pieces


def _message(item: Tree) -> tuple[str, list[View]]:
    """Return (role, texts) of a message, as a mapping or as a pair; no role where it is none."""
    if isinstance(item, Mapping):
        return _role(item), _texts(item, 0)
    if isinstance(item, Sequence) and len(item.items) == 2 and isinstance(item.items[0], Scalar):
        return _ROLES.get(item.items[0].text.lower(), ""), _texts(item.items[1], 0)
    return "", []


def _role(item: Mapping) -> str:
    said = item.said("role", "type", "author").lower()
    if said in _ROLES:
        return _ROLES[said]
    path = item.get("id")
    last = path.items[-1] if isinstance(path, Sequence) and path.items else None
    named = _CLASS.match(last.text) if isinstance(last, Scalar) else None
    return {"System": "system", "Human": "user", "AI": "assistant"}.get(named[1], "") if named else ""


def _texts(item: Tree, depth: int) -> list[View]:
    if isinstance(item, Scalar):
        return [item.view]
    if depth > _DEEPEST:
        return []
    if isinstance(item, Sequence):
        return [view for inner in item.items for view in _texts(inner, depth + 1)]
    inner = item.get(*_TEXT_KEYS, "kwargs")
    return [] if inner is None else _texts(inner, depth + 1)
