"""Where prompts are sent, or named: the places in a module at which the analysis begins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import name_words
from prefixwise.analyzers.static.scripts.module import Module, key_of
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, Node

SINK_WORDS = re.compile(
    r"(?i)prompt|instruction|\brole\b|\bmessages\b|systemMessage|generateContent|generateText|streamText|generateObject"
)
"""What a script has to hold for the analysis to find anything in it."""

_SENDING = re.compile(
    r"(?:completions|responses|messages)\.(?:create|stream|parse|runTools|countTokens)$"
    r"|(?:^|\.)(?:generateText|streamText|generateObject|streamObject|generateContent|generateContentStream|"
    r"startChat|getGenerativeModel|createReactAgent|createAgent|createDeepAgent)$|chats\.create$"
)
_MADE = re.compile(
    r"^(?:\w+\.)?(?:Agent|ToolLoopAgent|Experimental_Agent|DurableAgent|RealtimeAgent|ConverseCommand|"
    r"ConverseStreamCommand|InvokeModelCommand|InvokeModelWithResponseStreamCommand|LlmAgent|ReActAgent)$"
)
_MESSAGE_KEYS = frozenset({"messages", "contents"})
_BODY_KEYS = words(
    "model modelId max_tokens maxTokens maxOutputTokens temperature anthropic_version stream system tools "
    "instructions inferenceConfig toolConfig systemInstruction generationConfig"
)
_KEY_NAMES = frozenset({"prompt_cache_key", "promptCacheKey", "cache_salt", "cacheSalt"})
_SYSTEM_MAKERS = frozenset({"SystemMessage", "fromTemplate", "fromMessages"})
_PROMPT_KEYS = frozenset({"systemPrompt", "system_prompt", "systemInstruction", "systemMessage", "SYSTEM_PROMPT"})
_NO_PROMPT = words(
    "user human question query input image negative token tokens length name id key path file url type hash "
    "version cache count limit size builder manager service store config options props template templates "
    "title label placeholder suggestion suggestions enabled override overrides mode kind schema registry "
    "provider handler callback error cost price usage budget ms timeout response result results completion "
    "answer is has should use"
)
_INSIDE_LISTS = ("spread_element", "ternary_expression", "parenthesized_expression")
_MAKING = frozenset(
    {"get", "build", "create", "make", "generate", "render", "compose", "construct", "assemble", "compile"}
)


class Sink(NamedTuple):
    """A place to begin at.

    Attributes:
        how: `body` (a request, or what makes an agent), `messages` (a list of them), `system` (system text), `made` (a
            function that returns system text), `built` (one that the user names), `key` (a cache key).
        node: The expression, or the function.
        label: What it is called in words.
        sure: Whether it is sent, rather than only named like a prompt.
    """

    how: str
    node: Node
    label: str
    sure: bool = True


def sinks_in(module: Module, builders: Collection[str] = ()) -> list[Sink]:
    """Return where the prompts of a module begin, those that are sent first; `builders` are names of functions."""
    found = [sink for node in module.tree.nodes for sink in _sinks(module, node, builders)]
    distinct = {(id(sink.node), sink.how): sink for sink in reversed(found)}
    return sorted(distinct.values(), key=lambda sink: (not sink.sure, sink.node.start, sink.node.end, sink.how))


def _sinks(module: Module, node: Node, builders: Collection[str]) -> Iterator[Sink]:
    if node.kind in ("call_expression", "new_expression"):
        yield from _of_call(module, node)
    elif node.kind == "object":
        yield from _of_object(module, node)
    elif node.kind == "pair":
        yield from _of_pair(module, node)
    elif node.kind in ("variable_declarator", "assignment_expression", "public_field_definition", "field_definition"):
        yield from _of_name(module, node, builders)
    elif node.kind in FUNCTIONS and "name" in node.fields:
        yield from _of_function(node, module.text(node.fields["name"]), builders)


def _of_call(module: Module, node: Node) -> Iterator[Sink]:
    callee = (node.fields.get("function") or node.fields["constructor"]).bare()
    arguments = node.fields.get("arguments")
    nodes = arguments.children if arguments is not None and arguments.kind == "arguments" else []
    name = re.sub(r"\s+|\?", "", module.text(callee)) if callee.end - callee.start < 200 else ""
    if not nodes or not name:
        return
    short = ".".join(name.split(".")[-3:])
    if (
        _SENDING.search(name)
        or (node.kind == "new_expression" and _MADE.match(name))
        or (short == "query" and "options" in module.text(nodes[0]))
    ):
        yield Sink("body", nodes[0], short)
    last = name.rpartition(".")[2]
    if name == "SystemMessage" or name.endswith("SystemMessagePromptTemplate.fromTemplate"):
        yield _around(node) or Sink("system", nodes[0], name)
    elif last == "fromMessages":
        yield Sink("messages", nodes[0], short)


def _around(node: Node) -> Sink | None:
    """Return the list of messages that a message stands in."""
    outer = node.parent
    while outer is not None and outer.kind in (
        "spread_element",
        "parenthesized_expression",
        "ternary_expression",
        "array",
    ):
        if outer.kind == "array":
            inside = outer.parent
            if inside is None or inside.kind not in (
                "spread_element",
                "ternary_expression",
                "parenthesized_expression",
            ):
                return Sink("messages", outer, "a list of messages")
        outer = outer.parent
    return None


def _of_object(module: Module, node: Node) -> Iterator[Sink]:
    keys = {_key(module, child): child for child in node.children}
    if keys.keys() & _MESSAGE_KEYS and keys.keys() & _BODY_KEYS:
        yield Sink("body", node, "a request")
    role = keys.get("role")
    if role is None or role.kind != "pair" or role.fields["value"].kind != "string":
        return
    content = keys.get("content") or keys.get("parts")
    if key_of(module, role.fields["value"]) in ("system", "developer") and content is not None:
        value = content.fields.get("value", content)
        around = _around(node)
        if around is not None:
            yield around
        elif not _is_appended(module, node):
            yield Sink("system", value, "a system message", sure=_is_put_in_front(module, node))


def _is_put_in_front(module: Module, message: Node) -> bool:
    call = message.parent.parent if message.parent is not None else None
    return (
        call is not None
        and call.kind == "call_expression"
        and ".unshift(" in module.text(call)[: message.start - call.start]
    )


def _is_appended(module: Module, message: Node) -> bool:
    """Say whether a message is put behind others: pushed to a given list, or named behind one that is spread."""
    outer = message.parent
    if outer is not None and outer.kind == "arguments" and outer.parent is not None:
        callee = outer.parent.fields.get("function")
        if callee is None or not module.text(callee).endswith(".push"):
            return False
        base = callee.fields["object"].bare()
        binding = module.binding(module.text(base), base) if base.kind == "identifier" else None
        initial = binding.initial.bare() if binding is not None and binding.initial is not None else None
        return initial is None or initial.kind != "array"
    if outer is None or outer.kind != "variable_declarator":
        return False
    name = module.text(outer.fields["name"])
    lists = (node.children for node in module.tree.nodes if node.kind == "array" and len(node.children) > 1)
    return any(one[0].kind == "spread_element" and any(module.text(item) == name for item in one[1:]) for one in lists)


def _key(module: Module, child: Node) -> str:
    if child.kind == "pair":
        return str(key_of(module, child.fields["key"]))
    return module.text(child) if child.kind == "shorthand_property_identifier" else ""


def _of_pair(module: Module, node: Node) -> Iterator[Sink]:
    key = _key(module, node)
    if key in _KEY_NAMES:
        yield Sink("key", node.fields["value"], key)
    elif key in _PROMPT_KEYS and node.fields["value"].kind not in FUNCTIONS:
        yield Sink("system", node.fields["value"], f"`{key}`", sure=False)


def _of_name(module: Module, node: Node, builders: Collection[str]) -> Iterator[Sink]:
    value = node.fields.get("value") or node.fields.get("right")
    target = node.fields.get("name") or node.fields.get("property") or node.fields.get("left")
    if value is None or target is None:
        return
    target = target.fields.get("property", target)
    if not target.kind.endswith("identifier"):
        return
    name = module.text(target)
    bare = value.bare()
    if bare.kind in FUNCTIONS:
        yield from _of_function(bare, name, builders)
    elif is_prompt_name(name) and bare.kind not in ("array", "object", "new_expression"):
        yield Sink("system", value, f"`{name}`", sure=False)


def _of_function(node: Node, name: str, builders: Collection[str]) -> Iterator[Sink]:
    if name in builders:
        yield Sink("built", node, f"`{name}`")
    elif is_prompt_name(name, made=True):
        yield Sink("made", node, f"`{name}`", sure=False)


def is_prompt_name(name: str, *, made: bool = False) -> bool:
    """Say whether a name is that of a system prompt, or of a function that makes one."""
    words = [word for word in name_words(name) if not word.isdecimal()]
    if made:
        words = words[1:] if words and words[0] in _MAKING else words
    if not words or set(words) & _NO_PROMPT:
        return False
    if name.isupper() and "prompt" in words:
        return True
    system = "system" in words and words[-1] in ("prompt", "message", "text", "instructions", "instruction", "system")
    return (system and len(words) > 1) or (words[-1] in ("instructions",) and bool({"agent", "assistant"} & set(words)))
