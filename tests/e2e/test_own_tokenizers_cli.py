"""`--tokenizer` and `--chat-template` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}"
OPENED = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"


@pytest.fixture(autouse=True)
def _model(tmp_path: Path, good: Path) -> None:
    """A byte-level tokenizer without merges, so that every byte of text is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({character: number for number, character in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens([AddedToken(text, normalized=False) for text in ("<|im_start|>", "<|im_end|>")])
    (tmp_path / "model").mkdir()
    made.save(str(tmp_path / "model" / "tokenizer.json"))
    (tmp_path / "model" / "chat_template.jinja").write_text(TEMPLATE + OPENED)
    (tmp_path / "other.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    record = {"model": "own", "messages": [{"role": "user", "content": "Grüße"}]}
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(record)}\n")


# user, line feed, seven bytes of text, the template's two tokens and line feed, then the opened reply
_TOKENS = 1 + 5 + 7 + 2 + 1 + 10


def test_a_log_is_counted_with_the_models_own_tokenizer_and_template(run: Any) -> None:
    values = run(["hitrate", "log.jsonl", "--tokenizer", "model", "--json"]).check(0).json()
    text = json.dumps(values)
    assert f'"prompt_tokens": {2 * _TOKENS}' in text
    assert '"exactness": "exact"' in text
    assert "not append-only: it trims white space" in text


def test_another_template_may_be_named(run: Any) -> None:
    args = ["hitrate", "log.jsonl", "--tokenizer", "own=model", "--chat-template", "own=other.jinja", "--json"]
    assert f'"prompt_tokens": {2 * 7}' in json.dumps(run(args).check(0).json())


def test_one_prompt_is_shown_with_its_template(run: Any) -> None:
    found = run(["tokens", "log.jsonl#0", "--tokenizer", "model"]).check(0)
    assert f"{_TOKENS} tokens, counted with model" in found.out
    assert "Grüße" in found.out
    assert "trims white space" in found.out


def test_two_prompts_are_compared_in_it(run: Any) -> None:
    found = run(["diff", "log.jsonl#0", "log.jsonl#1", "--tokenizer", "model", "--json"]).check(0).json()
    assert "identical" in json.dumps(found)


def test_a_trace_made_with_it_has_the_figures_of_the_log(run: Any) -> None:
    run(["trace", "log.jsonl", "--tokenizer", "model", "-o", "log.parquet"]).check(0)
    counted = run(["hitrate", "log.parquet", "--tokenizer", "model", "--json"]).check(0)
    assert f'"prompt_tokens": {2 * _TOKENS}' in json.dumps(counted.json())
    assert "--tokenizer changes nothing" in counted.err


@pytest.mark.parametrize(
    "args",
    [
        ["--tokenizer", "nothing/here/at-all"],
        ["--tokenizer", "log.jsonl"],
        ["--tokenizer", "other.jinja"],
        ["--tokenizer", "\x1b[31m"],
        ["--tokenizer", ""],
        ["--tokenizer", "own="],
        ["--chat-template", "other.jinja"],
        ["--tokenizer", "model", "--chat-template", "nothing.jinja"],
        ["--tokenizer", "model", "--chat-template", "model"],
        ["--tokenizer", "model", "--chat-template", "log.jsonl", "--strict", "--chat-template", "other.jinja"],
    ],
)
@pytest.mark.parametrize("name", ["hitrate", "tokens"])
def test_what_cannot_be_used_is_one_clear_line(name: str, args: list[str], run: Any) -> None:
    args = [argument for argument in args if name == "hitrate" or argument != "--strict"]
    run([name, "log.jsonl", *args]).check(2)


def test_a_template_that_refuses_a_record_breaks_it_alone(run: Any, tmp_path: Path) -> None:
    refusing = "{% if messages | length > 1 %}{{ raise_exception('one only \x1b[31m') }}{% endif %}" + TEMPLATE
    (tmp_path / "refusing.jinja").write_text(refusing)
    two = {"model": "own", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    with (tmp_path / "log.jsonl").open("a") as log:
        log.write(json.dumps(two) + "\n")
    args = ["log.jsonl", "--tokenizer", "model", "--chat-template", "refusing.jinja"]
    found = run(["hitrate", *args]).check(0)
    assert "2 requests" in found.out
    assert "one only" in found.out
    run(["hitrate", *args, "--strict"]).check(2)
    run(["tokens", "log.jsonl#2", *args[1:]]).check(2)
