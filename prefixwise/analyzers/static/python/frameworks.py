"""What constructors of prompt frameworks give: messages with roles, templates."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from prefixwise.analyzers.static.python.calls import SELECTED, WINDOW
from prefixwise.analyzers.static.python.frames import Frame
from prefixwise.analyzers.static.python.hits import Strength
from prefixwise.analyzers.static.python.layout import Prompt, Section, lay_out
from prefixwise.analyzers.static.python.messages import messages_of, role_of
from prefixwise.analyzers.static.python.pieces import Moving
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.templates import Filling, Template, filled, slotted
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, constant, listed, text_of
from prefixwise.core.finding import Where

_ROLES = {
    "SystemMessage": "system",
    "SystemMessagePromptTemplate": "system",
    "SystemMessageParam": "system",
    "ChatCompletionSystemMessageParam": "system",
    "ChatCompletionDeveloperMessageParam": "developer",
    "DeveloperMessage": "developer",
    "SystemPromptPart": "system",
    "HumanMessage": "user",
    "HumanMessagePromptTemplate": "user",
    "UserMessage": "user",
    "ChatCompletionUserMessageParam": "user",
    "AIMessage": "assistant",
    "AIMessagePromptTemplate": "assistant",
    "AssistantMessage": "assistant",
    "ToolMessage": "tool",
}
_STYLES = {"jinja2": "jinja2", "mustache": "mustache", "f-string": "f-string"}
Constructor = Callable[[Frame, Site], Value | None]


def framework_value(frame: Frame, site: Site) -> Value | None:
    """Return what a constructor of a framework gives, None for any other call."""
    parts = site.path.split(".")
    owner = parts[-2] if parts[-1] in ("from_template", "from_messages", "from_examples") and len(parts) > 1 else ""
    name = owner or parts[-1]
    if name in _ROLES:
        return _message(frame, site, _ROLES[name], is_template=bool(owner))
    construct = _CONSTRUCTORS.get(f"{name}.{parts[-1]}" if owner else name)
    if construct is None and site.dotted:
        construct = _CONSTRUCTORS.get(site.dotted)
    return construct(frame, site) if construct is not None else None


def is_framework_name(path: str) -> bool:
    """Say whether a call by this path may give a message or template."""
    return any(part in _ROLES or part in _NAMES for part in path.split(".")[-2:])


def _message(frame: Frame, site: Site, role: str, *, is_template: bool) -> Value:
    content = site.argument(0, "content", "template", "prompt")
    text = content.value if content is not None else UNKNOWN
    if is_template and content is not None:
        text = slotted(frame, text, content.node, _style(site))
    message = Value(fields=(("role", constant(role)), ("content", text)), ref=text.ref if is_template else None)
    if role in ("system", "developer"):
        sent = frame.hop(site.node, f"put into a `{site.path}`")
        lay_out(frame, Prompt([Section(Where.SYSTEM, text_of(text))], Strength.ROLE, sent))
    return message


def _style(site: Site) -> str:
    return _STYLES.get(str(site.literal(-1, "template_format")), "f-string")


def _chat_template(frame: Frame, site: Site) -> Value | None:
    given = site.argument(0, "messages", "message_templates")
    if given is None:
        return None
    nodes = given.node.elts if isinstance(given.node, ast.List | ast.Tuple) else []
    items = []
    for index, item in enumerate(given.value.items or (Item(UNKNOWN, many=True),)):
        node = nodes[index] if index < len(nodes) and len(nodes) == len(given.value.items or ()) else given.node
        items.append(item._replace(value=_slotted_message(frame, item.value, node, _style(site))))
    template = Value(items=tuple(items), marks=given.value.marks, ref=Template(_style(site)))
    return note_template(frame, site.node, _partial(frame, site, template))


def _slotted_message(frame: Frame, message: Value, node: ast.expr, style: str) -> Value:
    if message.items is None or len(message.items) != 2 or not role_of(message):
        return message
    text_node = node.elts[1] if isinstance(node, ast.Tuple) and len(node.elts) == 2 else node
    text = message.items[1].value
    text = slotted(frame, text, text_node, style) if text.items is None and text.fields is None else text
    return replace(message, items=(message.items[0], Item(text)))


def _text_template(frame: Frame, site: Site) -> Value | None:
    given = site.argument(0, "template", "prompt")
    if given is None or given.value.items is not None:
        return None
    return _partial(frame, site, slotted(frame, given.value, given.node, _style(site)))


def _chat_from_text(frame: Frame, site: Site) -> Value | None:
    text = _text_template(frame, site)
    return None if text is None else Value(items=(Item(listed([constant("user"), text])),), ref=text.ref)


def _jinja(frame: Frame, site: Site) -> Value | None:
    given = site.argument(0, "source", "template_source")
    return slotted(frame, given.value, given.node, "jinja2") if given is not None else None


def _string_template(frame: Frame, site: Site) -> Value | None:
    given = site.argument(0, "template")
    return slotted(frame, given.value, given.node, "dollar") if given is not None else None


def _few_shot(frame: Frame, site: Site) -> Value:
    texts: list[tuple[object, ...]] = []
    for name in ("prefix", "examples", "suffix"):
        given = site.argument(-1, name)
        if given is not None:
            marks = tuple(frame.shown(mark, given.node) for mark in given.value.marks)
            texts.append(text_of(replace(given.value, marks=marks)))
        elif name == "examples" and (selector := site.argument(-1, "example_selector")) is not None:
            texts.append(frame.moving(selector.node, SELECTED, "example_selector").pieces)
    value = Value(pieces=tuple(piece for text in texts for piece in text))  # type: ignore[misc]
    sent = frame.hop(site.node, f"put into a `{site.path}`")
    lay_out(frame, Prompt([Section(Where.SYSTEM, value.pieces)], Strength.ROLE, sent))
    return value


def _partial(frame: Frame, site: Site, template: Value) -> Value:
    given = site.argument(-1, "partial_variables")
    if given is None:
        return template
    nodes = {}
    if isinstance(given.node, ast.Dict):
        pairs = zip(given.node.keys, given.node.values, strict=True)
        nodes = {key.value: node for key, node in pairs if isinstance(key, ast.Constant)}
    fillings = {name: Filling(value, nodes.get(name, given.node)) for name, value in given.value.fields or ()}
    return filled(frame, template, fillings)


def note_template(frame: Frame, node: ast.expr, template: Value) -> Value:
    """Take note of what moves in a prompt template of messages, and return it."""
    messages = messages_of(template)
    sent = frame.hop(node, "put into a prompt template")
    history = True if messages.history else None
    lay_out(frame, Prompt(messages.sections, Strength.CALL, sent, history))
    return template


def _window(frame: Frame, site: Site) -> Value | None:
    mark = Moving(frame.origin(site.node, WINDOW, site.path), (), frame.loops)
    return Value(items=(Item(UNKNOWN, many=True),), marks=(mark,))


_CONSTRUCTORS: dict[str, Constructor] = {
    "ChatPromptTemplate.from_messages": _chat_template,
    "ChatPromptTemplate": _chat_template,
    "ChatPromptTemplate.from_template": _chat_from_text,
    "PromptTemplate": _text_template,
    "PromptTemplate.from_template": _text_template,
    "RichPromptTemplate": _jinja,
    "FewShotPromptTemplate": _few_shot,
    "FewShotChatMessagePromptTemplate": _few_shot,
    "trim_messages": _window,
    "from_string": _jinja,
    "jinja2.Template": _jinja,
    "string.Template": _string_template,
}
_NAMES = frozenset(name.split(".")[0] for name in _CONSTRUCTORS)
