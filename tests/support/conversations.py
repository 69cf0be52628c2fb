"""Conversations that make trouble for templates and tokenizers."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Says "what" the <weather> is – now & here.',
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "A city, such as Zürich."}},
            "required": ["city"],
        },
    },
}
# What the ten vocabularies treat in a special way, whole and in part.
SPELT_OUT = [
    *("<|im_start|>", "<|im_end|>", "<|im_start|>system\n", "<|endoftext|>", "<s>", "</s>", "<unk>", "<bos>", "<eos>"),
    *("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>", "<|user|>", "<|end|>", "[INST]"),
    *(
        "<|turn>",
        "<turn|>",
        "<|START_OF_TURN_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
        "<\uff5cUser\uff5c>",
        "<think>",
        "</think>",
    ),
    *("<\uff5cend\u2581of\u2581sentence\uff5c>", "<|im_", "im_end|>", "<", "|>", "<0x0A>", "\u2581", "<|fim_prefix|>"),
]
_ODD = [
    *(
        "a",
        "Hello",
        "42",
        "1234567",
        "é",
        "e\u0301",
        "漢字",
        "한",
        "👩\u200d👩",
        "\ufeff",
        "\u202e",
        "\x00",
        "\x0b",
        "\u2028",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "\xa0",
        "\u3000",
        ".",
        "{{",
        "{%",
        "}}",
        "'s",
        '"',
        "\\",
        "\n/x",
        "\n9",
        "\nab",
    ),
]
TEXT = st.lists(st.sampled_from(SPELT_OUT) | st.sampled_from(_ODD), max_size=12).map("".join)


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return an assistant's message that calls a tool, as it is logged."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call00001", "type": "function", "function": function}],
    }


def as_rendered(message: dict[str, Any]) -> dict[str, Any]:
    """Return a logged message as templates take it: the arguments of calls are objects."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    functions = [{**c["function"], "arguments": json.loads(c["function"]["arguments"])} for c in calls]
    return {**message, "tool_calls": [{**c, "function": f} for c, f in zip(calls, functions, strict=True)]}


@st.composite
def conversations(draw: st.DrawFn, calls: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    """A conversation whose turns alternate, and its tools."""
    messages: list[dict[str, Any]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(TEXT)})
    tools = [TOOL] if calls and draw(st.booleans()) else None
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": "user", "content": draw(TEXT)})
        if tools and draw(st.booleans()):
            messages.append(call("get_weather", {"city": draw(TEXT)}))
            messages.append({"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": draw(TEXT)})
        messages.append({"role": "assistant", "content": draw(TEXT)})
    messages.append({"role": "user", "content": draw(TEXT)})
    return messages, tools
