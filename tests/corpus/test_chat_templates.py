"""Ten real templates with real vocabularies: prompts in the tree are the prompts rendered and encoded whole."""

from __future__ import annotations

import datetime
import functools
import io
import json
from array import array
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.conversations import TOOL, as_rendered, call, conversations
from support.vocabularies import needs_vocabularies, template_path, vocabulary, vocabulary_path

from prefixwise.corpus.chat_template import PINNED_DATE, ChatTemplate
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.template_habits import habits
from prefixwise.corpus.tokenizers.gguf import load_gguf
from prefixwise.corpus.tree import TokenTree

pytestmark = needs_vocabularies

# Template, vocabulary with its special tokens (or its nearest kin), what keeps it from being append-only, whether it
# renders tool calls.
PAIRS = {
    "Qwen-Qwen2.5-7B-Instruct": ("qwen2", (), True),
    "Qwen-Qwen3-0.6B": ("qwen2", ("strips earlier reasoning",), True),
    "Qwen-QwQ-32B": (
        "qwen2",
        ("strips earlier reasoning", "opens a reply otherwise than it renders one"),
        True,
    ),
    "meta-llama-Llama-3.1-8B-Instruct": ("llama-bpe", ("trims white space",), True),
    "meta-llama-Llama-3.2-3B-Instruct": ("llama-bpe", ("trims white space", "injects a date"), True),
    "mistralai-Mistral-Nemo-Instruct-2407": (
        "llama-spm",
        ("moves the system prompt", "opens a reply otherwise than it renders one"),
        False,
    ),
    "microsoft-Phi-3.5-mini-instruct": ("phi-3", (), False),
    "google-gemma-4-31B-it": ("gemma-4", ("opens a reply otherwise than it renders one",), True),
    "CohereForAI-c4ai-command-r-plus-tool_use": ("command-r", ("moves tools",), False),
    "deepseek-ai-DeepSeek-V3.1": ("deepseek-llm", ("strips earlier reasoning",), True),
}


@functools.cache
def own(template: str) -> PromptTokenizer:
    """Return the tokenizer of a pair, with the template."""
    name = PAIRS[template][0]
    tokenizer = load_gguf(vocabulary_path(name), f"{name} + {template}")
    source = template_path(template).read_text(encoding="utf-8")
    tokenizer.template = ChatTemplate({"default": source}, template, tokenizer.named_tokens)
    return tokenizer


@functools.cache
def oracle(template: str) -> Any:
    """Return transformers' own tokenizer object, of which only the template and the named tokens matter."""
    import tokenizers
    import transformers
    import transformers.utils.chat_template_utils as utils

    class Pinned(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime.datetime:
            return PINNED_DATE

    utils.datetime = Pinned  # type: ignore[misc]
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()),
        chat_template=template_path(template).read_text(encoding="utf-8"),
        **own(template).named_tokens,
    )


def rendered_by_transformers(
    template: str, messages: list[dict[str, Any]], tools: Any, opens: bool = True, **more: Any
) -> str | None:
    try:
        text: str = oracle(template).apply_chat_template(
            list(map(as_rendered, messages)), tools=tools, tokenize=False, add_generation_prompt=opens, **more
        )
    except Exception:  # whatever a template raises
        return None
    return text


def read(tokenizer: PromptTokenizer, *records: Any) -> Corpus:
    lines = "\n".join(map(json.dumps, records)).encode()
    index = CorpusIndex(lambda _provider, _model: tokenizer)
    return read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(lines)), index=index)


def prompts(corpus: Corpus) -> dict[int, list[int]]:
    """Return the ids in the tree by record."""
    assert corpus.index is not None
    rows = corpus.rows
    return {rows.record[row]: ids_of(corpus.index.tree.ids(rows.node[row])) for row in range(len(rows))}


def ids_of(data: bytes) -> list[int]:
    return array("I", data).tolist()


def body(messages: list[dict[str, Any]], tools: Any = None, **more: Any) -> dict[str, Any]:
    return {"model": "m", **({"tools": tools} if tools else {}), "messages": messages, **more}


@pytest.mark.parametrize("template", PAIRS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_prompts_in_the_tree_are_rendered_as_by_transformers_and_encoded_in_one_go(
    template: str, data: st.DataObject
) -> None:
    tokenizer = own(template)
    messages, tools = data.draw(conversations(PAIRS[template][2]))
    if template.endswith("tool_use"):
        tools = [TOOL]
    ends = [end for end, message in enumerate(messages, 1) if message["role"] in ("user", "tool")]
    beginnings = [messages[:end] for end in ends]  # every prompt of the conversation, the longer ones later
    whole = [rendered_by_transformers(template, beginning, tools) for beginning in beginnings]
    if not any(text is not None for text in whole):
        return
    corpus = read(tokenizer, *(body(beginning, tools) for beginning in beginnings))
    found = prompts(corpus)
    for record, text in enumerate(whole):
        assert (record in found) == (text is not None)
        if text is not None:
            assert found[record] == ids_of(tokenizer.encode_prompt(text))


@pytest.mark.parametrize("template", PAIRS)
def test_every_pair_renders_a_plain_conversation(template: str) -> None:
    tokenizer = own(template)
    messages = [
        {"role": "system", "content": "Be brief.\n" * 300},
        {"role": "user", "content": "Weather in Zürich?"},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "And <|im_end|> tomorrow?"},
    ]
    tools = [TOOL] if PAIRS[template][2] or template.endswith("tool_use") else None
    if PAIRS[template][2]:
        messages[2:2] = [
            call("get_weather", {"city": "Zürich"}),
            {"role": "tool", "name": "get_weather", "content": "rain"},
        ]
    text = rendered_by_transformers(template, messages, tools)
    assert text is not None
    corpus = read(tokenizer, body(messages, tools))
    assert prompts(corpus)[0] == ids_of(tokenizer.encode_prompt(text))
    ((exactness, _, _),) = corpus.tokenizers.values()
    assert exactness == "exact"
    lines = [line for segment in tokenizer.segments(text) for line in tokenizer.lines(segment)]
    joined = b"".join(map(tokenizer.encode_prompt, lines))
    assert joined == tokenizer.encode_prompt(text)


@pytest.mark.parametrize("template", PAIRS)
def test_what_keeps_a_template_from_being_append_only_is_found_by_rendering(template: str) -> None:
    found = own(template).template
    assert found is not None
    assert habits(found) == PAIRS[template][1]


@pytest.mark.parametrize("opens", [False, True])
def test_arguments_of_the_request_reach_the_template(opens: bool) -> None:
    template = "Qwen-Qwen3-0.6B"
    messages = [{"role": "user", "content": "Hi"}]
    asked = {"chat_template_kwargs": {"enable_thinking": False}, "add_generation_prompt": opens}
    corpus = read(own(template), body(messages), body(messages, **asked))
    text = rendered_by_transformers(template, messages, None, opens, enable_thinking=False)
    plain = rendered_by_transformers(template, messages, None)
    assert text is not None
    assert plain is not None
    assert text != plain
    encode = own(template).encode_prompt
    assert prompts(corpus) == {0: ids_of(encode(plain)), 1: ids_of(encode(text))}


def answered(messages: list[dict[str, Any]], answer: Any) -> dict[str, Any]:
    return {"request": body(messages), "response": {"choices": [{"message": answer}]}}


def test_an_answer_continues_the_prompt_without_the_token_that_ended_it() -> None:
    tokenizer = own("Qwen-Qwen2.5-7B-Instruct")
    first = [{"role": "user", "content": "What is it?"}]
    said = {"role": "assistant", "content": "A test.\nOf two lines."}
    corpus = read(tokenizer, answered(first, said), body([*first, said, {"role": "user", "content": "Why?"}]))
    assert corpus.index is not None
    rows, tree = corpus.rows, corpus.index.tree
    answer = ids_of(tokenizer.encode_prompt(said["content"]))
    assert ids_of(tree.ids(rows.response_node[0])) == prompts(corpus)[0] + answer
    assert rows.answer_tokens[0] == len(answer)
    assert rows.response_node[0] in tree.path(rows.node[1])  # the next turn finds all of it


def test_an_answer_that_the_template_renders_otherwise_is_left_out() -> None:
    corpus = read(
        own("Qwen-QwQ-32B"),
        answered([{"role": "user", "content": "Hi"}], {"role": "assistant", "content": "Hello."}),
    )
    assert list(corpus.rows.response_node) == [-1]


def test_a_prefix_space_does_not_part_an_answer_from_its_next_turn() -> None:
    tokenizer = own("microsoft-Phi-3.5-mini-instruct")
    first = [{"role": "user", "content": "Hi"}]
    said = {"role": "assistant", "content": "Hello there."}
    corpus = read(tokenizer, answered(first, said), body([*first, said, {"role": "user", "content": "Why?"}]))
    assert corpus.index is not None
    assert corpus.rows.answer_tokens[0] == len(ids_of(tokenizer.encode("Hello there.")))
    assert corpus.rows.response_node[0] in corpus.index.tree.path(corpus.rows.node[1])


def test_the_head_ends_where_tools_and_system_end() -> None:
    tokenizer = own("Qwen-Qwen2.5-7B-Instruct")
    system, user = {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}
    corpus = read(tokenizer, body([system, user]), body([system, user], [TOOL]))
    head = "<|im_start|>system\nBe kind.<|im_end|>\n"
    assert corpus.rows.system_end[0] == len(ids_of(tokenizer.encode_prompt(head)))
    assert corpus.rows.tools_end[0] == 0
    text = rendered_by_transformers("Qwen-Qwen2.5-7B-Instruct", [system, user], [TOOL])
    assert text is not None
    end = text.index("<|im_end|>\n") + len("<|im_end|>\n")
    assert corpus.rows.system_end[1] == len(ids_of(tokenizer.encode_prompt(text[:end])))


def test_anthropic_bodies_are_rendered_as_the_messages_that_engines_make_of_them() -> None:
    template = "Qwen-Qwen2.5-7B-Instruct"
    request = {
        "model": "m",
        "anthropic_version": "x",
        "system": [
            {"type": "text", "text": "Be "},
            {"type": "text", "text": "kind.", "cache_control": {"type": "ephemeral"}},
        ],
        "tools": [{"name": "get_weather", "description": "Says it.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Zürich"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "rain"}]},
                    {"type": "text", "text": "Thanks."},
                ],
            },
        ],
    }
    function = {"name": "get_weather", "description": "Says it.", "parameters": {"type": "object"}}
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Weather?"},
        {**call("get_weather", {"city": "Zürich"}), "content": "Let me see."},
        {"role": "tool", "content": "rain"},
        {"role": "user", "content": "Thanks."},
    ]
    text = rendered_by_transformers(template, messages, [{"type": "function", "function": function}])
    assert text is not None
    corpus = read(own(template), request)
    assert prompts(corpus)[0] == ids_of(own(template).encode_prompt(text))
    end = text.index("<|im_end|>\n") + len("<|im_end|>\n")
    ((depth, ttl),) = corpus.rows.markers[0]
    assert (depth, ttl) == (len(ids_of(own(template).encode_prompt(text[:end]))), 300.0)


def test_two_images_are_two_prompts_and_one_image_is_one() -> None:
    def asked(data: str) -> dict[str, Any]:
        url = {"url": f"data:image/png;base64,{data}"}
        content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": url}]
        return body([{"role": "user", "content": content}])

    corpus = read(own("Qwen-Qwen2.5-7B-Instruct"), asked("AAAA"), asked("BBBB"), asked("AAAA"))
    first, second, third = prompts(corpus).values()
    assert first == third != second
    assert corpus.tokenizers["m"][0] == "exact text, assumed template"


def test_a_text_that_spells_a_stand_in_out_is_text() -> None:
    spelt = "\ue00000:00:9\ue001"
    url = {"url": "data:image/png;base64,AAAA"}
    content = [{"type": "text", "text": spelt}, {"type": "image_url", "image_url": url}]
    tokenizer = own("Qwen-Qwen2.5-7B-Instruct")
    corpus = read(tokenizer, body([{"role": "user", "content": content}]))
    assert spelt in tokenizer.decode([token for token in prompts(corpus)[0] if token < 1 << 31])


@settings(max_examples=30, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
@example(text="<|begin_of_text|><|begin_of_text|>")
def test_a_bare_prompt_opens_with_bos_and_is_encoded_whole(text: str) -> None:
    tokenizer = vocabulary("llama-bpe")
    corpus = read(tokenizer, {"model": "m", "prompt": text})
    assert prompts(corpus)[0] == [128000, *ids_of(tokenizer.encode_prompt(text))]


# -- what is done once ------------------------------------------------------------------------------------------


def test_what_was_seen_is_not_rendered_and_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = own("Qwen-Qwen2.5-7B-Instruct")
    rendered: list[int] = []
    encoded: list[str] = []
    render, encode = ChatTemplate.render, type(tokenizer).encode_prompt

    def counting_render(self: ChatTemplate, messages: Any, *more: Any) -> str:
        rendered.append(len(messages))
        return render(self, messages, *more)

    def counting_encode(self: PromptTokenizer, text: str) -> bytes:
        encoded.append(text)
        return encode(self, text)

    tokenizer.template.takes_lists  # type: ignore[union-attr]  # noqa: B018 - found out before the counting begins
    monkeypatch.setattr(ChatTemplate, "render", counting_render)
    monkeypatch.setattr(type(tokenizer), "encode_prompt", counting_encode)
    turns = [{"role": "system", "content": "Be kind."}]
    requests = []
    for number in range(4):
        turns = [*turns, {"role": "user", "content": f"Question {number}."}]
        requests.append(body(turns))
        turns = [*turns, {"role": "assistant", "content": f"Answer {number}."}]
    index = CorpusIndex(lambda _provider, _model: tokenizer)
    lines = "\n".join(map(json.dumps, [*requests, *requests, requests[1]])).encode()
    monkeypatch.setattr(CorpusIndex, "facts", lambda _self: ())
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(lines)), index=index)
    assert len(corpus.rows) == 9
    assert sorted(rendered) == [1, 2, 4, 6, 8]  # the head alone once, and each distinct request
    assert (
        len(encoded) == len(set(encoded)) == 1 + 1 + 4 + 3 + 1
    )  # system and its end, questions, answers, an opened reply


def test_long_texts_that_differ_in_one_line_share_the_others() -> None:
    tokenizer = own("Qwen-Qwen2.5-7B-Instruct")
    lines = [f"Line {number} of the rules: do {'very ' * (number % 9)}new things." for number in range(400)]
    other = [*lines[:200], "This one is new.", *lines[201:]]
    index = CorpusIndex(lambda _provider, _model: tokenizer)
    records = [
        body([{"role": "system", "content": "\n".join(text)}, {"role": "user", "content": "Hi"}])
        for text in (lines, other)
    ]
    data = "\n".join(map(json.dumps, records)).encode()
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(data)), index=index)
    stored = sum(map(len, index.tree.segments)) // 4
    assert stored < 1.2 * corpus.rows.prompt_tokens[0]
    for row, text in enumerate((lines, other)):
        prompt = rendered_by_transformers(
            "Qwen-Qwen2.5-7B-Instruct",
            [{"role": "system", "content": "\n".join(text)}, {"role": "user", "content": "Hi"}],
            None,
        )
        assert prompt is not None
        assert prompts(corpus)[row] == ids_of(tokenizer.encode_prompt(prompt))


def test_the_tree_of_two_vocabularies_has_two_roots() -> None:
    first, second = own("Qwen-Qwen2.5-7B-Instruct"), own("meta-llama-Llama-3.1-8B-Instruct")
    index = CorpusIndex(lambda _provider, model: first if model == "a" else second)
    messages = [{"role": "user", "content": "Hi"}]
    data = "\n".join(json.dumps({"model": model, "messages": messages}) for model in "ab").encode()
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(data)), index=index)
    assert isinstance(index.tree, TokenTree)
    assert len({index.tree.path(node)[0] for node in corpus.rows.node}) == 2
