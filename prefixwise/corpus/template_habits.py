"""What a chat template does to earlier turns, found by rendering made-up conversations.

A template is append-only when a conversation's prompt begins with the prompt of each of its beginnings: only then does
a longer conversation find all of a shorter one in the cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from prefixwise.corpus.chat_messages import Message
from prefixwise.corpus.chat_template import PINNED_DATE, ChatTemplate
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer

STRIPS_REASONING = "strips earlier reasoning"
MOVES_SYSTEM = "moves the system prompt"
MOVES_TOOLS = "moves tools"
CHANGES_CALLS = "changes earlier tool calls"
CHANGES_TURNS = "changes earlier turns"
TRIMS = "trims white space"
REOPENS = "opens a reply otherwise than it renders one"
INJECTS_DATE = "injects a date"

_MOST_NAMED = 5
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks something up.",
        "parameters": {"type": "object", "properties": {"key": {"type": "string", "description": "What."}}},
    },
}
_CALL = {
    "id": "call00001",
    "type": "function",
    "function": {"name": "look_up", "arguments": {"key": "value"}},
}


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _said(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


_PLAIN = [_user("First question."), _said("First answer."), _user("Second one."), _said("Second."), _user("Third.")]
_CALLS = [
    _user("First question."),
    _said("", tool_calls=[_CALL]),
    {"role": "tool", "tool_call_id": "call00001", "name": "look_up", "content": "found"},
    _said("First answer."),
    _user("Second one."),
]
_THOUGHTS = "Some thoughts."
_REASONS = [
    _user("First question."),
    _said("First answer.", reasoning_content=_THOUGHTS, thinking=_THOUGHTS),
    _user("Second one."),
]
_THOUGHT = f"<think>\n{_THOUGHTS}\n</think>\n\nFirst answer."


def habits(template: ChatTemplate) -> tuple[str, ...]:
    """Return what keeps `template` from being append-only, in fixed words; nothing where it is.

    Conversations that the template refuses are left out.
    """
    found = []
    if not _keeps(template, _PLAIN):
        found.append(MOVES_SYSTEM if _keeps(template, _PLAIN, system=False) else CHANGES_TURNS)
    elif not _keeps(template, _PLAIN, [_TOOL]):
        found.append(MOVES_TOOLS)
    elif not _keeps(template, _CALLS, [_TOOL]):
        found.append(CHANGES_CALLS)
    if not _keeps_reasoning(template):
        found.append(STRIPS_REASONING)
    if _follows(template, "Answer.") is False:
        found.append(REOPENS)
    elif _follows(template, "\n Answer. \n") is False:
        found.append(TRIMS)
    if template.reads_clock:
        found.append(INJECTS_DATE)
    return tuple(found)


def habits_of(tokenizer: PromptTokenizer, named: Sequence[str]) -> list[str]:
    """Return a sentence each on the template of some models and on how their prompts are encoded, for reports."""
    template = tokenizer.template
    models = f"{', '.join(named[:_MOST_NAMED])}{', …' if len(named) > _MOST_NAMED else ''}"
    found = []
    if template is None:
        found.append(f"The tokenizer of {models} brings no chat template: chats get an assumed one.")
    elif not (found_habits := habits(template)):
        found.append(f"The chat template of {models} is append-only: a longer conversation begins with the shorter.")
    else:
        date = f" (taken as {PINNED_DATE:%Y-%m-%d})" if INJECTS_DATE in found_habits else ""
        found.append(f"The chat template of {models} is not append-only: it {', '.join(found_habits)}{date}.")
    if tokenizer.whole_because:
        found.append(f"Prompts of {models} are encoded whole: {tokenizer.whole_because}.")
    return found


def _rendered(
    template: ChatTemplate, messages: Sequence[Message], tools: Any = None, opens: bool = False, system: bool = True
) -> str | None:
    """Return a prompt, with a system message where the template takes one; None where it refuses."""
    head: Message = {"role": "system", "content": "Be brief."}
    for conversation in ([head, *messages], list(messages)) if system else (list(messages),):
        try:
            return template.render(conversation, tools, opens)
        except ValueError:
            continue
    return None


def _keeps(template: ChatTemplate, messages: Sequence[Message], tools: Any = None, system: bool = True) -> bool:
    """Say whether each prompt of a conversation is where the next one begins, with or without the opened reply."""
    prompts = [
        [_rendered(template, messages[: end + 1], tools, opens, system) for opens in (False, True)]
        for end, message in enumerate(messages)
        if message["role"] != "assistant"
    ]
    kept = [(closed, opened) for closed, opened in prompts if closed is not None and opened is not None]
    return all(later.startswith((closed, opened)) for (closed, opened), (later, _) in itertools.pairwise(kept))


def _keeps_reasoning(template: ChatTemplate) -> bool:
    """Say whether reasoning stays, in the text of an answer or beside it, when the conversation goes on."""
    written = _rendered(template, [*_PLAIN[:1], _said(_THOUGHT), _PLAIN[2]])
    if written is not None and _THOUGHTS not in written:
        return False
    answered, later = (_rendered(template, _REASONS[:count]) for count in (2, 3))
    if answered is None or later is None:
        return True
    end = answered.find("First answer.")
    return end < 0 or later.startswith(answered[:end])


def _follows(template: ChatTemplate, answer: str) -> bool | None:
    """Say whether a prompt and its answer, as it was sampled, are where the prompt of the next turn begins."""
    prompt = _rendered(template, _PLAIN[:1], opens=True)
    later = _rendered(template, [*_PLAIN[:1], _said(answer), _PLAIN[2]])
    if prompt is None or later is None:
        return None
    return later.startswith(prompt + answer)
