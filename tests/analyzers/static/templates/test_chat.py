"""What chat templates do to prompts: made-up ones with twins, and real ones against what rendering them shows."""

from __future__ import annotations

import pytest
from support.templating import found_in
from support.vocabularies import FOLDER, needs_vocabularies

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.corpus.chat_template import ChatTemplate
from prefixwise.corpus.template_habits import INJECTS_DATE, MOVES_SYSTEM, MOVES_TOOLS, STRIPS_REASONING, TRIMS, habits

HEAD = "{{ bos_token }}{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
LOOP = (
    "{% for m in messages %}<|{{ m.role }}|>{BODY}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
PLAIN = LOOP.replace("{BODY}", "{{ m.content }}")
LAST_USER = (
    "{% set ns = namespace(last_user_index=-1) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set ns.last_user_index = loop.index0 %}{% endif %}{% endfor %}"
)

# Template, and what it is told above info.
MADE_UP = {
    "plain": (HEAD + PLAIN, []),
    "the date of the day": (HEAD + "{{ strftime_now('%d %b %Y') }}" + PLAIN, ["template-date low"]),
    "the minute": ("{{ strftime_now('%H:%M') }}" + PLAIN, ["template-date high"]),
    "the hour": ("{{ strftime_now('%d %b, %H h') }}" + PLAIN, ["template-date medium"]),
    "the year": ("{{ strftime_now('%Y') }}" + PLAIN, []),
    "a date that is kept first": (
        "{% if not date is defined %}{% set date = strftime_now('%d') %}{% endif %}{{ date }}" + PLAIN,
        ["template-date low"],
    ),
    "a date that is never printed": ("{% set date = strftime_now('%d') %}" + PLAIN, []),
    "a date in a condition": ("{% if strftime_now('%d') == '01' %}x{% endif %}" + PLAIN, []),
    "a constant date": ("{% if not date is defined %}{% set date = '26 Jul 2024' %}{% endif %}{{ date }}" + PLAIN, []),
    "a date behind all messages": (PLAIN + "{{ strftime_now('%d') }}", []),
    "a date passed to a macro": (
        "{% macro head(a, when='26 Jul 2024') %}{{ a }}: {{ when }}{% endmacro %}"
        "{{ head('Now', when=strftime_now('%d')) }}" + PLAIN,
        ["template-date low"],
    ),
    "a date in a macro": (
        "{% macro head() %}Now {{ strftime_now('%d') }}{% endmacro %}{{ head() }}" + PLAIN,
        ["template-date low"],
    ),
    "a date in a default prompt": (
        "{% set prompt = 'Today is {d}' %}{% set prompt = prompt.replace('{d}', strftime_now('%d')) %}{{ prompt }}"
        + PLAIN,
        ["template-date low"],
    ),
    "reasoning of the last turn only": (
        LAST_USER
        + LOOP.replace(
            "{BODY}", "{% if loop.index0 > ns.last_user_index %}{{ m.reasoning_content }}{% endif %}{{ m.content }}"
        ),
        ["template-history-dependent low"],
    ),
    "reasoning of all turns": (
        LOOP.replace("{BODY}", "{% if m.reasoning_content %}{{ m.reasoning_content }}{% endif %}{{ m.content }}"),
        [],
    ),
    "reasoning is cut off": (
        LOOP.replace("{BODY}", "{{ m.content.split('</think>')[-1] }}"),
        ["template-history-dependent low"],
    ),
    "reasoning is taken apart and printed": (
        LOOP.replace(
            "{BODY}",
            "{% set thinking = m.content.split('</think>')[0] %}{% set rest = m.content.split('</think>')[-1] %}"
            "<think>{{ thinking }}</think>{{ rest }}",
        ),
        [],
    ),
    "something else is split": (LOOP.replace("{BODY}", "{{ m.content.split('\\n')[-1] }}"), []),
    "tools beside the last message": (
        "{% set users = messages | selectattr('role', 'equalto', 'user') | list %}"
        + LOOP.replace("{BODY}", "{% if tools and m == users[-1] %}{{ tools | tojson }}{% endif %}{{ m.content }}"),
        ["template-history-dependent medium"],
    ),
    "tools beside the first message": (
        LOOP.replace("{BODY}", "{% if tools and loop.first %}{{ tools | tojson }}{% endif %}{{ m.content }}"),
        [],
    ),
    "the system prompt in the last message": (
        "{% set system_message = messages[0].content %}"
        + LOOP.replace("{BODY}", "{% if loop.last %}{{ system_message }}{% endif %}{{ m.content }}"),
        ["template-history-dependent medium"],
    ),
    "commas between tools": (
        "{% for tool in tools %}{{ tool.name }}{% if not loop.last %}, {% endif %}{% endfor %}" + PLAIN,
        [],
    ),
    "tools behind all messages": (PLAIN + "{{ tools | tojson }}", ["template-history-dependent medium"]),
    "a long text behind all messages": (
        PLAIN + "Answer in the language of the question, and say what you do not know, in a sentence.",
        ["template-history-dependent low"],
    ),
    "a long opened reply": (
        PLAIN.replace(
            "<|assistant|>", "<|assistant|> Let me think about this step by step, in the language of the question: "
        ),
        [],
    ),
    "the end of a turn": (
        LOOP.replace(
            "{BODY}", "{{ m.content }}{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}!{% endif %}"
        ),
        [],
    ),
    "the last message opens the reply": (
        LOOP.replace(
            "{BODY}",
            "{{ m.content }}{% if loop.last and add_generation_prompt %}<|assistant|>{{ system_message }}{% endif %}",
        ),
        [],
    ),
    "answers are trimmed": (LOOP.replace("{BODY}", "{{ m.content | trim }}"), ["whitespace-drift low"]),
    "answers are stripped": (LOOP.replace("{BODY}", "{{ m['content'].strip() + '\\n' }}"), ["whitespace-drift low"]),
    "only questions are trimmed": (
        LOOP.replace("{BODY}", "{% if m.role == 'user' %}{{ m.content | trim }}{% else %}{{ m.content }}{% endif %}"),
        [],
    ),
    "the system prompt is trimmed": ("{% set sys = messages[0].content | trim %}{{ sys }}" + PLAIN, []),
    "answers are trimmed to ask about them": (
        LOOP.replace("{BODY}", "{% if m.content | trim %}{{ m.content }}{% endif %}"),
        [],
    ),
}

# What a template is told, by name, where rendering made-up conversations shows something else, and why.
KNOWN = {
    "Kimi-K2-Thinking": "reasoning is printed only behind the last answer without tools",
    "LFM2.5-Instruct": "reasoning is cut off once another answer follows",
    "deepseek-ai-DeepSeek-V3.2": "reasoning of the last turn only, when thinking is asked for",
    "deepseek-ai-DeepSeek-V4": "reasoning of the last turn only, when thinking is asked for",
    "deepseek-ai-DeepSeek-V4-Flash-0731": "reasoning of the last turn only, when thinking is asked for",
    "inclusionai-ling-3.0-flash": "reasoning of the last turn only",
    "CohereForAI-c4ai-command-r-plus-tool_use": "a long text about tools stands behind all messages",
    "mistralai-Mistral-Nemo-Instruct-2407": "tools move, too",
    "Apertus-8B-Instruct": "the date is in the default system prompt",
    "ibm-granite-granite-3.3-2B-Instruct": "the date is in the default system prompt",
    "muse-glimmer": "the date is in the default system prompt",
}
# Answers are trimmed in a branch that the made-up conversations do not reach.
TRIMMED = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NVIDIA-Nemotron-Nano-v2",
    "Qwen3-Coder",
    "fireworks-ai-llama-3-firefunction-v2",
    "llama-cpp-rwkv-world",
    "poolside-Laguna-XS-2.1",
    "poolside-Laguna-XS.2",
}
REAL = sorted(FOLDER.glob("*.jinja"))


@pytest.mark.parametrize("case", MADE_UP)
def test_what_a_template_does(case):
    text, expected = MADE_UP[case]
    findings = found_in(text, "chat_template.jinja")
    assert findings.templates[0].chat
    assert [f"{found.rule} {found.severity}" for found in findings.traits if found.severity != "info"] == expected


def test_what_is_worth_knowing():
    text = HEAD + "{% for t in tools %}{{ t | tojson }}{% endfor %}" + PLAIN.replace("<|assistant|>", "assistant: ")
    found = {found.rule: found.quote for found in found_in(text, "chat_template.jinja").traits}
    assert found == {"double-bos": "{{ bos_token }}", "schema-key-order": "t | tojson", "token-boundary": "assistant: "}
    sorted_keys = text.replace("t | tojson", "t | tojson(sort_keys=true)")
    assert "schema-key-order" not in {found.rule for found in found_in(sorted_keys, "chat_template.jinja").traits}


def test_the_way_of_a_date():
    text = "{% set date = strftime_now('%d') %}\n{% set head = 'On ' + date %}\n{{ head }}\n" + PLAIN
    (found,) = [found for found in found_in(text, "a.jinja").traits if found.rule == "template-date"]
    assert (found.quote, found.span.line) == ("strftime_now('%d')", 1)
    assert [step.span.line for step in found.flow] == [1, 2, 3]
    assert "in line 3" in found.message


def test_a_template_inside_json():
    inner = '{% set d = strftime_now("%d") %}\\n{{ d }}' + PLAIN
    text = '{"chat_template": "' + inner.replace('"', '\\"') + '"}'
    (found,) = [found for found in found_in(text, "tokenizer_config.json").traits if found.severity != "info"]
    assert (found.rule, found.quote) == ("template-date", 'strftime_now(\\"%d\\")')


def test_a_prompt_with_a_loop_over_messages_is_no_chat_template():
    text = "Sum up:\n{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}"
    findings = found_in(text, "sum.j2")
    assert not findings.templates[0].chat
    assert findings.traits == ()


@needs_vocabularies
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_a_real_template(path):
    text = path.read_text(encoding="utf-8")
    findings = read_template(Source(path.name, text))
    assert findings.problems == ()
    told = {found.rule for found in findings.traits if found.severity != "info"}
    tokens = {f"{name}_token": f"<{name}>" for name in ("bos", "eos", "pad", "unk")}
    seen = habits(ChatTemplate({"default": text}, path.stem, tokens))
    moves = not {STRIPS_REASONING, MOVES_TOOLS, MOVES_SYSTEM}.isdisjoint(seen)
    if path.stem in KNOWN:
        assert told
        return
    assert ("template-history-dependent" in told) == moves
    assert ("template-date" in told) == (INJECTS_DATE in seen)
    if path.stem not in TRIMMED:
        assert ("whitespace-drift" in told) == (TRIMS in seen)
