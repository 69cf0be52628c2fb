"""Tokenizers by folder, `tokenizer.json` and name; chat templates that a user names; what is wrong with them."""

from __future__ import annotations

import builtins
import io
import json
from array import array
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from support.conversations import TEXT
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from transformers.utils.chat_template_utils import render_jinja_template

from prefixwise.cli.tokenizing import chooser
from prefixwise.core.errors import MissingExtraError, UserError
from prefixwise.core.request import Request
from prefixwise.corpus.chat_template import ChatTemplate
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.rendering import render
from prefixwise.corpus.single import read_requests
from prefixwise.corpus.special_tokens import SpecialTokens
from prefixwise.corpus.tokenizers.huggingface import load_tokenizer

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def ids_of(data: bytes) -> list[int]:
    return array("I", data).tolist()


def library(kind: str, special: list[AddedToken] | None = None) -> tokenizers.Tokenizer:
    """Return a small tokenizer: every byte, some pairs, and special tokens."""
    if kind.startswith("metaspace"):
        letters = ["<unk>", "▁", *map(chr, range(33, 127)), "▁t", "he", "▁the"]
        model = models.Unigram([(letter, -float(number)) for number, letter in enumerate(letters)], 0)
        made = tokenizers.Tokenizer(model)
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=kind.split("-")[1])
        made.decoder = decoders.Metaspace()
    else:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        merges = [("h", "e"), ("t", "he"), ("Ġ", "the"), ("l", "l"), ("o", "Ċ")]
        vocabulary = {token: number for number, token in enumerate([*alphabet, *(a + b for a, b in merges)])}
        made = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
        as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=kind == "prefix", use_regex=kind != "cl100k")
        split = [pre_tokenizers.Split(Regex(CL100K), "isolated")] if kind == "cl100k" else []
        made.pre_tokenizer = pre_tokenizers.Sequence([*split, as_bytes])
        made.decoder = decoders.ByteLevel()
    made.add_special_tokens(
        special
        or [AddedToken(text, normalized=False) for text in ("<s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>")]
    )
    return made


def folder_of(path: Path, made: tokenizers.Tokenizer, **config: Any) -> Path:
    path.mkdir(exist_ok=True)
    made.save(str(path / "tokenizer.json"))
    if config:
        (path / "tokenizer_config.json").write_text(json.dumps(config))
    return path


CHATML = {"bos_token": "<s>", "eos_token": {"content": "<|im_end|>", "__type": "AddedToken"}, "chat_template": TEMPLATE}

LIBRARIES: dict[str, tuple[Any, str, bool]] = {
    # What a tokenizer is, why its prompts are encoded whole, whether long texts are cut at lines.
    "plain": (lambda: library("plain"), "", False),
    "cl100k": (lambda: library("cl100k"), "", True),
    "prefix": (lambda: library("prefix"), "", False),
    "metaspace-always": (lambda: library("metaspace-always"), "", False),
    "metaspace-never": (lambda: library("metaspace-never"), "", False),
    "metaspace-first": (lambda: library("metaspace-first"), "a space is put before the first text only", False),
    "rstrip": (
        lambda: library("plain", [AddedToken("<|im_end|>", rstrip=True), AddedToken("<|im_start|>")]),
        "its special tokens swallow white space beside them",
        False,
    ),
    "lstrip": (
        lambda: library("plain", [AddedToken("<|im_start|>", lstrip=True), AddedToken("<|im_end|>")]),
        "its special tokens swallow white space beside them",
        False,
    ),
    "single word": (
        lambda: library("plain", [AddedToken("Hello", single_word=True), AddedToken("<|im_end|>")]),
        "its special tokens look at the characters beside them",
        False,
    ),
}


def lower(made: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    made.normalizer = normalizers.Lowercase()
    return made


def composed(made: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    made.normalizer = normalizers.NFC()
    return made


LIBRARIES["normalized"] = (
    lambda: lower(library("plain", [AddedToken("<|im_start|>", normalized=True), AddedToken("<|im_end|>")])),
    "its special tokens are looked for in normalised text",
    False,
)
LIBRARIES["lowercase"] = (lambda: lower(library("plain")), "", False)
LIBRARIES["composed"] = (lambda: composed(library("cl100k")), "", True)


@pytest.mark.parametrize("kind", LIBRARIES)
@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(TEXT | st.sampled_from(["the\n", "The hello", "x" * 700 + "\nab", "\n\ny"]), max_size=6).map("".join)
)
def test_segments_have_the_ids_of_the_whole(kind: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    make, why, cuts = LIBRARIES[kind]
    folder = folder_of(tmp_path_factory.getbasetemp() / f"own-{kind.replace(' ', '-')}", make())
    tokenizer = load_tokenizer(str(folder))
    assert (tokenizer.whole_because, tokenizer.cuts_lines) == (why, cuts)
    segments = [line for segment in tokenizer.segments(text) for line in tokenizer.lines(segment)]
    assert "".join(segments) == text
    assert len(segments) <= 1 or not why
    whole = make().encode(text, add_special_tokens=False).ids
    assert ids_of(b"".join(map(tokenizer.encode_prompt, segments))) == whole
    assert ids_of(tokenizer.starts(text)[0]) == whole


@pytest.mark.parametrize("kind", LIBRARIES)
def test_a_folder_is_rendered_and_encoded_as_transformers_does_it(kind: str, tmp_path: Path) -> None:
    made = LIBRARIES[kind][0]()
    folder = folder_of(tmp_path / "model", made, **CHATML, tokenizer_class="PreTrainedTokenizerFast")
    messages = [
        {"role": "system", "content": " Hello the  "},
        {"role": "user", "content": "  the Hello <|im_end|>  hello"},
    ]
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    expected = theirs.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
    corpus = read(str(folder), {"model": "m", "messages": messages})
    assert corpus.index is not None
    assert ids_of(corpus.index.tree.ids(corpus.rows.node[0])) == expected
    assert corpus.tokenizers["m"][0] == "exact"


def read(where: str, *records: Any, templates: tuple[str, ...] = (), **options: Any) -> Corpus:
    lines = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()
    index = CorpusIndex(chooser([where], templates))
    return read_corpus(["-"], ReadOptions(**options), stdin=io.BufferedReader(io.BytesIO(lines)), index=index)


def chat(text: str = "Hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def prompt_text(corpus: Corpus, row: int = 0) -> str:
    assert corpus.index is not None
    (vocabulary,) = corpus.index.vocabularies.values()
    return vocabulary.tokenizer.decode(ids_of(corpus.index.tree.ids(corpus.rows.node[row])))


# -- where templates and named tokens come from ----------------------------------------------------------------


def test_a_file_wins_over_the_configuration_and_the_option_over_both(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    assert prompt_text(read(str(folder), chat())) == "<s><|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    (folder / "chat_template.jinja").write_text("file {{ messages[0].content }}")
    assert prompt_text(read(str(folder), chat())) == "file Hi"
    (tmp_path / "other.jinja").write_text("option {{ messages[0].content }}")
    assert prompt_text(read(str(folder), chat(), templates=(str(tmp_path / "other.jinja"),))) == "option Hi"


def test_a_list_of_templates_has_one_for_requests_with_tools(tmp_path: Path) -> None:
    templates = [
        {"name": "default", "template": "plain {{ messages[0].content }}"},
        {"name": "tool_use", "template": "tools {{ tools | tojson }}"},
    ]
    folder = folder_of(tmp_path / "model", library("plain"), chat_template=templates)
    tool = {"type": "function", "function": {"name": "ä<b>", "parameters": {}}}
    corpus = read(str(folder), chat(), chat(tools=[tool]), chat(functions=[tool["function"]]))
    assert prompt_text(corpus, 0) == "plain Hi"
    assert prompt_text(corpus, 1) == f"tools {json.dumps([tool], ensure_ascii=False)}"
    assert prompt_text(corpus, 2) == f"tools {json.dumps([tool], ensure_ascii=False)}"


def test_tokens_that_only_the_configuration_lists_are_added(tmp_path: Path) -> None:
    listed = {"265": {"content": "<tool>", "special": True, "normalized": False}, "x": 3}
    folder = folder_of(tmp_path / "model", library("plain"), added_tokens_decoder=listed)
    tokenizer = load_tokenizer(str(folder))
    assert len(ids_of(tokenizer.encode_prompt("<tool>"))) == 1
    assert len(ids_of(tokenizer.encode("<tool>"))) == 6  # in ordinary text it is six characters


def test_without_a_template_chats_are_exact_in_an_assumed_frame(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"))
    corpus = read(str(folder), chat("the"))
    assert corpus.tokenizers["m"][0] == "exact text, assumed template"
    assert corpus.facts == ("The tokenizer of m brings no chat template: chats get an assumed one.",)


def test_a_bare_prompt_opens_as_the_post_processor_says(tmp_path: Path) -> None:
    made = library("plain")
    start = made.token_to_id("<s>")
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", start)])
    corpus = read(str(folder_of(tmp_path / "model", made)), {"model": "m", "prompt": "the"})
    assert corpus.index is not None
    assert (
        ids_of(corpus.index.tree.ids(corpus.rows.node[0])) == made.encode("the").ids == [start, made.token_to_id("the")]
    )
    assert corpus.tokenizers["m"][0] == "exact"


# -- which model has which -------------------------------------------------------------------------------------


def test_one_model_of_a_log_gets_its_tokenizer_and_the_others_theirs(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    lines = "\n".join(json.dumps(chat() | {"model": model}) for model in ("mine", "gpt-4o")).encode()
    index = CorpusIndex(chooser([f"mine={folder}"], []))
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(lines)), index=index)
    assert {model: name for model, (_, name, _) in corpus.tokenizers.items()} == {
        "mine": str(folder),
        "gpt-4o": "o200k_base",
    }


def test_two_models_with_one_tokenizer_and_two_templates_do_not_share_a_tree(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    (tmp_path / "t.jinja").write_text(TEMPLATE)
    index = CorpusIndex(chooser([str(folder)], [f"b={tmp_path / 't.jinja'}"]))
    lines = "\n".join(json.dumps(chat() | {"model": model}) for model in "ab").encode()
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(lines)), index=index)
    assert len(index.vocabularies) == 2
    assert corpus.rows.node[0] != corpus.rows.node[1]


@pytest.mark.parametrize(
    ("given_tokenizers", "templates", "said"),
    [
        ([], ["x.jinja"], "needs the model's tokenizer"),
        (["missing/folder/x"], [], "no such file or folder"),
        (["missing.json"], [], "no such file or folder"),
        (["empty"], [], "has no tokenizer.json"),
        (["broken"], [], "is no tokenizer.json"),
        (["m="], [], "nothing is named"),
        (["m=good", "m=good"], [], "are given two"),
        (["m=good"], ["n=t.jinja"], "no tokenizer is named for n"),
        (["good"], ["missing.jinja"], "cannot be read as a chat template"),
        (["good"], ["binary.jinja"], "cannot be read as a chat template"),
        (["good"], ["bad.jinja"], "is not valid (line 1"),
        (["config"], [], "cannot be read as JSON"),
    ],
)
def test_what_cannot_be_used_is_said_before_a_log_is_read(
    given_tokenizers: list[str], templates: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder_of(tmp_path / "good", library("plain"))
    folder_of(tmp_path / "config", library("plain"))
    (tmp_path / "config" / "tokenizer_config.json").write_text("{")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "tokenizer.json").write_text('{"model": {}}')
    (tmp_path / "t.jinja").write_text(TEMPLATE)
    (tmp_path / "bad.jinja").write_text("{% if %}")
    (tmp_path / "binary.jinja").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError) as problem:
        chooser(given_tokenizers, templates)
    assert said in str(problem.value)


def test_a_name_that_nobody_has_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked: list[bool] = []

    def gone(name: str, *, local_files_only: bool, **_more: Any) -> str:
        asked.append(local_files_only)
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", gone)
    with pytest.raises(UserError, match="not in the local cache") as problem:
        load_tokenizer("someone/some-model")
    assert problem.value.where == "someone/some-model"
    assert asked == [True, False]  # the cache first


def test_a_name_in_the_cache_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda _name, **options: str(folder))
    assert load_tokenizer("someone/some-model").template is not None


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path / "model", library("plain"))
    kept = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        if name == "tokenizers":
            raise ImportError(name)
        return kept(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError) as problem:
        load_tokenizer(str(folder))
    assert problem.value.help == "pip install 'prefixwise[hf]'"


# -- what a template may do ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{{ messages[7].content }}",
        "{{ messages[0].content + 1 }}",
        "{{ messages.append(1) }}",
        "{{ messages.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ 1 / 0 }}",
        "{{ messages | tojson(indent='x', separators=3) }}",
        "{% for x in range(999999999) %}{% endfor %}",
        "{% include '/etc/passwd' %}",
    ],
)
def test_a_template_that_fails_breaks_the_record_and_not_the_run(source: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    good = "{% if messages[0].content == 'good' %}fine{% else %}" + source + "{% endif %}"
    (tmp_path / "t.jinja").write_text(good)
    corpus = read(str(folder), chat(), chat("good"), templates=(str(tmp_path / "t.jinja"),))
    assert list(corpus.rows.record) == [1]
    (broken,) = corpus.broken
    assert "the chat template" in broken.reason


def test_what_templates_expect_is_there_as_in_transformers() -> None:
    source = (
        "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}\n"
        "  {% generation %}{{ m.content | tojson }}{{ tools | tojson(indent=2) }}{% endgeneration %} \n"
        "{% endfor %}{% set ns = namespace(x=1) %}{% set ns.x = 2 %}{{ ns.x }}{{ dict(a=1) }}{{ documents }}"
    )
    messages = [{"role": "user", "content": "<ä> & 'x'"}, {"role": "user", "content": "b"}]
    tools = [{"z": 1, "a": "ü\u2028"}]
    ((theirs,), _) = render_jinja_template([messages], tools, chat_template=source)
    assert ChatTemplate({"default": source}, "t", {}).render(messages, tools) == theirs


def test_the_clock_stands_still_and_is_noticed() -> None:
    template = ChatTemplate({"default": "{{ strftime_now('%d %b %Y') }}"}, "t", {})
    assert not template.reads_clock
    assert template.render([]) == "01 Jan 2026"
    assert template.reads_clock


def test_prompt_text_is_never_run_as_a_template(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    text = "{{ 7 * 7 }}{% raise %}"
    assert text in prompt_text(read(str(folder), chat(text)))


@pytest.mark.parametrize("takes_lists", [False, True])
def test_content_parts_are_joined_for_templates_that_take_strings_only(takes_lists: bool, tmp_path: Path) -> None:
    parts = "{% for p in m.content %}[{{ p.text }}]{% endfor %}"
    one = "{% if m.content is string %}{{ m.content }}{% else %}" + parts + "{% endif %}"
    looping = "{% for m in messages %}" + one + "{% endfor %}"
    plain = "{% for m in messages %}{{ m.content }}{% endfor %}"
    folder = folder_of(tmp_path / "model", library("plain"), chat_template=looping if takes_lists else plain)
    content = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    corpus = read(str(folder), chat() | {"messages": [{"role": "user", "content": content}]})
    assert prompt_text(corpus) == ("[one][two]" if takes_lists else "one\ntwo")


def test_missing_content_is_empty_and_call_arguments_are_objects(tmp_path: Path) -> None:
    source = "{% for m in messages %}<{{ m.content }}|{{ m.tool_calls[0].function.arguments.a }}>{% endfor %}"
    folder = folder_of(tmp_path / "model", library("plain"), chat_template=source)
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "b"}'}}
    corpus = read(str(folder), chat() | {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]})
    assert prompt_text(corpus) == "<|b>"


def test_reasoning_reaches_the_template_under_all_its_names(tmp_path: Path) -> None:
    source = "{% for m in messages %}{{ m.reasoning_content }}{{ m.thinking }}{% endfor %}"
    folder = folder_of(tmp_path / "model", library("plain"), chat_template=source)
    message = {"role": "assistant", "content": "x", "reasoning": "so"}
    assert prompt_text(read(str(folder), chat() | {"messages": [message]})) == "soso"


@pytest.mark.parametrize(
    "body",
    [{"model": "m", "contents": [{"parts": [{"text": "Hi"}]}]}, {"model": "m", "input": "Hi", "instructions": "x"}],
)
def test_bodies_that_no_template_takes_are_named(body: dict[str, Any], tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    with pytest.raises(UserError, match="cannot be rendered with a chat template") as problem:
        read(str(folder), body)
    assert "MODEL=PATH" in problem.value.help


def test_a_body_of_another_api_behind_good_ones_is_named_too(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", library("plain"), **CHATML)
    with pytest.raises(UserError, match="cannot be rendered with a chat template"):
        read(str(folder), chat(), chat(), {"model": "m", "input": "Hi", "instructions": "x"})


# -- one request, value by value -------------------------------------------------------------------------------


def one(tmp_path: Path, record: Any) -> Request:
    (tmp_path / "log.jsonl").write_text(json.dumps(record))
    requests, _ = read_requests(str(tmp_path / "log.jsonl"), ReadOptions())
    return requests[0]


def test_stretches_of_a_rendered_request_are_its_prompt_and_name_its_values(tmp_path: Path) -> None:
    source = TEMPLATE.replace("{{ message.content }}", "{{ message.content | trim }}")
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    folder = folder_of(tmp_path / "model", library("plain"), chat_template="{{ tools | tojson }}" + source)
    record = chat() | {
        "tools": [tool],
        "messages": [
            {"role": "system", "content": "Be kind.  "},
            {"role": "user", "content": "user"},  # the role's name: only the second one is the content
            {"role": "assistant", "content": "user"},
        ],
    }
    request = one(tmp_path, record)
    tokenizer = load_tokenizer(str(folder))
    rendered = render(request, tokenizer)
    corpus = read(str(folder), record)
    assert corpus.index is not None
    assert rendered.ids == corpus.index.tree.ids(corpus.rows.node[0])
    shown = [(s.pointer, s.kind, tokenizer.decode(ids_of(s.ids))) for s in rendered.stretches]
    assert shown == [
        ("", "template", "["),
        ("/tools/0", "tools", json.dumps(tool)),
        ("", "template", "]<|im_start|>system\n"),
        ("/messages/0/content", "messages", "Be kind."),
        ("", "template", "<|im_end|>\n<|im_start|>user\n"),
        ("/messages/1/content", "messages", "user"),
        ("", "template", "<|im_end|>\n<|im_start|>assistant\n"),
        ("/messages/2/content", "messages", "user"),
        ("", "template", "<|im_end|>\n"),
        ("", "reply", "<|im_start|>assistant\n"),
    ]
    assert not rendered.assumed


# -- special tokens --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("", []),
        ("abc", ["abc"]),
        ("<a>", ["<a>"]),
        ("x<a>y", ["x", "<a>y"]),
        ("<a><a>x<b>", ["<a><a>x", "<b>"]),
        ("<a>\n<b>x", ["<a>\n<b>x"]),
        ("<a>\n \n<b>x", ["<a>\n \n", "<b>x"]),
        ("x\n<b>", ["x\n", "<b>"]),
        ("<ab>x", ["<ab>x"]),
        ("x<c>y", ["x<c>y"]),
    ],
)
def test_texts_are_cut_before_runs_of_special_tokens(text: str, segments: list[str]) -> None:
    assert SpecialTokens(["<a>", "<b>", "<ab>", "<c>", "<"], ["<a>", "<b>"]).segments(text) == segments


@settings(max_examples=200, deadline=None)
@given(
    tokens=st.lists(st.text("ab<", min_size=1, max_size=4), min_size=1, max_size=6),
    text=st.text("ab<c\n", max_size=30),
)
def test_tokens_are_found_as_the_library_finds_them(tokens: list[str], text: str) -> None:
    made = tokenizers.Tokenizer(models.WordLevel({"?": 0}, "?"))
    made.add_special_tokens([AddedToken(token, normalized=False) for token in tokens])
    encoding = made.encode(text, add_special_tokens=False)
    theirs = [offsets for number, offsets in zip(encoding.ids, encoding.offsets, strict=True) if number]
    assert list(SpecialTokens(tokens, tokens).find(text)) == theirs
