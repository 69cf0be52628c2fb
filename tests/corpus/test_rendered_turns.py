"""Turns inside prompts that came rendered, and how often they begin with the start token."""

from __future__ import annotations

import pytest

from prefixwise.corpus.rendered_turns import start_tokens, turns_in

SYSTEM, ASKED, SAID, ASKED_AGAIN = "Be brief.", "When?", "At <b>7:10</b>.", "And then?\n\nOn Sunday."

RENDERED = {
    "chatml": (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{ASKED}<|im_end|>\n<|im_start|>assistant\n{SAID}"
        f"<|im_end|>\n<|im_start|>user\n{ASKED_AGAIN}<|im_end|>\n<|im_start|>assistant\n"
    ),
    "llama": (
        f"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{SYSTEM}<|eot_id|><|start_header_id|>user"
        f"<|end_header_id|>\n\n{ASKED}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n{SAID}<|eot_id|>"
        f"<|start_header_id|>user<|end_header_id|>\n\n{ASKED_AGAIN}<|eot_id|><|start_header_id|>assistant"
        "<|end_header_id|>\n\n"
    ),
    "harmony": (
        f"<|start|>system<|message|>{SYSTEM}<|end|><|start|>user<|message|>{ASKED}<|end|><|start|>assistant<|channel|>"
        f"final<|message|>{SAID}<|end|><|start|>user<|message|>{ASKED_AGAIN}<|end|><|start|>assistant"
    ),
    "phi": (
        f"<|system|>\n{SYSTEM}<|end|>\n<|user|>\n{ASKED}<|end|>\n<|assistant|>\n{SAID}<|end|>\n<|user|>\n{ASKED_AGAIN}"
        "<|end|>\n<|assistant|>\n"
    ),
}


@pytest.mark.parametrize("name", RENDERED)
def test_turns_come_apart(name: str) -> None:
    turns = turns_in(RENDERED[name])
    closing = ("user", ASKED_AGAIN) if name != "harmony" else ("user", f"{ASKED_AGAIN}<|end|><|start|>assistant")
    assert turns == [("system", SYSTEM), ("user", ASKED), ("assistant", SAID), closing]


def test_families_without_a_system_turn() -> None:
    gemma = "<bos><start_of_turn>user\nWhen?<end_of_turn>\n<start_of_turn>model\nAt 7:10.<end_of_turn>\n"
    assert turns_in(gemma) == [("user", "When?"), ("assistant", "At 7:10.")]
    mistral = "<s>[INST] When? [/INST] At 7:10.</s>[INST] And then? [/INST]"
    assert [role for role, _ in turns_in(mistral)] == ["user", "assistant", "user"]
    deepseek = (
        "<｜begin▁of▁sentence｜>Be brief.<｜User｜>When?<｜Assistant｜>At 7:10.<｜end▁of▁sentence｜><｜User｜>And then?"
    )
    assert turns_in(deepseek) == [("user", "When?"), ("assistant", "At 7:10."), ("user", "And then?")]


@pytest.mark.parametrize(
    "text", ["", "When does it leave?", "<|im_start|>user\nOnly one", "What does <|im_end|> mean?"]
)
def test_other_texts_have_no_turns(text: str) -> None:
    assert turns_in(text) == []


@pytest.mark.parametrize(
    ("text", "count"), [("<s>a", 1), ("<s><s>a", 2), ("a<s>", 0), ("<|begin_of_text|><|begin_of_text|>", 2), ("", 0)]
)
def test_start_tokens(text: str, count: int) -> None:
    assert start_tokens(text) == count
