"""Which calls ask a model, and which names are those of prompts."""

from __future__ import annotations

import re

from prefixwise.analyzers.static.name_words import words

SYSTEM_KEYS = (
    "system",
    "system_prompt",
    "system_instruction",
    "systemInstruction",
    "system_instructions",
    "system_message",
    "instructions",
    "instruction",
    "additional_instructions",
    "developer_message",
)
"""Arguments of model calls that hold system text, in the order in which one call would print them."""
MESSAGE_KEYS = ("messages", "input", "contents", "chat", "conversation", "message")
PROMPT_KEYS = ("prompt", "prompts", "inputs")
TOOL_KEYS = ("tools", "functions", "toolConfig", "tool_config", "tool_choice_tools")
CACHE_KEYS = ("prompt_cache_key", "cache_salt")
NESTED_KEYS = ("config", "generation_config", "extra_body", "toolConfig", "body", "generationConfig", "options")

_SUFFIXES = words(
    """
    completions.create completions.parse completions.stream responses.create responses.parse responses.stream
    messages.create messages.stream messages.parse messages.count_tokens models.generate_content
    models.generate_content_stream generate_content generate_content_async generate_content_stream chats.create
    converse converse_stream invoke_model invoke_model_with_response_stream chat.complete chat.complete_async
    chat.stream chat.stream_async litellm.completion litellm.acompletion litellm.text_completion litellm.responses
    litellm.aresponses Router.completion router.completion router.acompletion ollama.chat ollama.generate
    apply_chat_template assistants.create assistants.update runs.create runs.stream runs.create_and_poll
    threads.create_and_run sessions.create chat_completion create_chat_completion chat_completions.create
    batches.create caches.create ChatCompletion.create ChatCompletion.acreate Completion.create
    """
)
_CALLS = tuple(f".{suffix}" for suffix in sorted(_SUFFIXES))
_POSITIONS = {
    "generate_content": 0,
    "generate_content_async": 0,
    "apply_chat_template": 0,
    "chat_completion": 0,
    "create_chat_completion": 0,
    "completion": 1,
    "acompletion": 1,
    "chat": 1,
}
PROMPT_METHODS = frozenset({"with_instructions", "set_system_prompt", "update_system_prompt", "set_instructions"})
"""Methods that take system text first."""
_CHATS = frozenset({"invoke", "ainvoke", "stream", "astream", "chat", "achat", "stream_chat", "generate", "agenerate"})
_AGENT = re.compile(
    r"(?:Agent|Assistant|GenerativeModel|ChatEngine|AgentWorker|AgentRunner|create_react_agent|create_agent"
    r"|create_deep_agent|create_tool_calling_agent|create_supervisor|initialize_agent|ChatAgent|AgentOptions)$"
)
AGENT_KEYS = (
    "role",
    "goal",
    "backstory",
    "system_prompt",
    "system_message",
    "system_instruction",
    "instructions",
    "instruction",
    "system",
    "prompt",
    "state_modifier",
    "messages_modifier",
    "prefix",
)
ONLY_PROMPTS = words("""system_prompt system_message system_instruction system_instructions sys_prompt system_msg
    system_prompt_template     developer_prompt backstory state_modifier messages_modifier
    append_system_prompt systemInstruction""")
"""Arguments and keys that hold system text whoever takes them."""

_SYSTEM_NAME = re.compile(
    r"(?:^|_)(?:(?:system|sys|developer)_?(?:messages?|msg)|(?:system|sys|developer|base|agent|assistant)_?"
    r"(?:prompts?|instructions?|preamble))(?:$|_(?:text|template|str|base|v\d+|content|for\w*)$)"
)
_SYSTEM_ALONE = re.compile(r"^(?:[A-Z0-9_]+_)?SYSTEM(?:_[A-Z0-9]+)?$")
_PROMPT_NAME = re.compile(r"(?:^|_)(?:prompts?|preamble)(?:$|_)")
_VERB = re.compile(
    r"^_*(?:get|build|make|create|render|generate|compose|format|load|default|construct|prepare|assemble)_"
)


def is_model_call(path: str) -> bool:
    """Say whether a call by this path asks a model."""
    plain = "." + path.replace(".with_raw_response", "").replace(".with_streaming_response", "")
    return plain.endswith(_CALLS)


def messages_position(name: str) -> int:
    """Return at which position such a call takes its messages, -1 where it takes them by name only."""
    return _POSITIONS.get(name, -1)


def is_chat(name: str) -> bool:
    """Say whether a method of this name may take messages first."""
    return name in _CHATS


def is_agent(name: str) -> bool:
    """Say whether a class or function of this name sets up an agent."""
    return _AGENT.search(name) is not None


def is_system_name(name: str) -> bool:
    """Say whether a variable of this name holds system text."""
    return _SYSTEM_ALONE.match(name) is not None or _SYSTEM_NAME.search(_VERB.sub("", name.lower())) is not None


def is_prompt_name(name: str) -> bool:
    """Say whether a variable of this name holds a prompt."""
    return _PROMPT_NAME.search(_VERB.sub("", name.lower())) is not None
