"""Settings are read from command lines, YAML, JSON and variables, each with the line that it stands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixwise.analyzers.tenancy.deployment import Deployment, config_of, read_deployment
from prefixwise.analyzers.tenancy.published import published_events
from prefixwise.core.errors import UserError

SCRIPT = """#!/bin/sh
export PYTHONHASHSEED=0
vllm serve Qwen/Qwen3-8B \\
  --block-size 32 --no-enable-prefix-caching \\
  --kv-events-config '{"enable_kv_cache_events": true, "endpoint": "tcp://*:5557"}'
"""
KUBERNETES = """kind: Deployment
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.33.0
      args:
        - --block-size
        - "32"
        - '--kv-transfer-config={"kv_connector": "LMCacheConnectorV1"}'
        - --enable-prompt-tokens-details
"""
SHELL_IN_YAML = """command: sh -c "python -m sglang.launch_server --page-size 32 --schedule-policy lpm"
"""
JSON = """{
  "kv_cache_config": {
    "enable_block_reuse": true,
    "tokens_per_block": 32
  }
}
"""


def settings(text: str) -> dict[str, tuple[str, int]]:
    return {one.last: (one.value, one.line) for one in config_of("file", text).settings}


@pytest.mark.parametrize(
    ("text", "name", "value", "line"),
    [
        pytest.param(SCRIPT, "block_size", "32", 4, id="flag"),
        pytest.param(SCRIPT, "enable_prefix_caching", "false", 4, id="flag-that-says-no"),
        pytest.param(SCRIPT, "endpoint", "tcp://*:5557", 5, id="json-in-a-flag"),
        pytest.param(SCRIPT, "pythonhashseed", "0", 2, id="variable"),
        pytest.param(KUBERNETES, "block_size", "32", 7, id="argument-and-value"),
        pytest.param(KUBERNETES, "kv_connector", "LMCacheConnectorV1", 9, id="json-in-an-argument"),
        pytest.param(KUBERNETES, "enable_prompt_tokens_details", "true", 10, id="argument-without-value"),
        pytest.param(SHELL_IN_YAML, "page_size", "32", 1, id="command-in-yaml"),
        pytest.param(SHELL_IN_YAML, "schedule_policy", "lpm", 1, id="last-flag-of-a-command"),
        pytest.param(JSON, "tokens_per_block", "32", 4, id="json"),
    ],
)
def test_a_setting_and_its_line(text: str, name: str, value: str, line: int) -> None:
    assert settings(text)[name] == (value, line)


def test_systems_are_told_by_what_stands_in_a_file() -> None:
    assert config_of("a", SCRIPT).systems == ("vllm",)
    assert config_of("a", SHELL_IN_YAML).systems == ("sglang",)
    assert config_of("a", JSON).systems == ("tensorrt-llm",)
    assert config_of("litellm.yaml", "model_list: []").systems == ("litellm",)


@pytest.mark.parametrize(
    ("value", "constant"), [("abc", True), ("${SALT}", False), ("{{ salt }}", False), ("null", False)]
)
def test_a_value_that_is_filled_in_is_no_constant(value: str, constant: bool) -> None:
    (setting,) = config_of("a", f'cache_salt: "{value}"\n').find("cache_salt")
    assert setting.is_constant is constant


@pytest.mark.parametrize(("endpoint", "published"), [("tcp://*:5557", True), ("tcp://127.0.0.1:5557", False)])
def test_events_that_stay_on_the_machine_are_not_published(endpoint: str, published: bool) -> None:
    deployment = Deployment((config_of("a", SCRIPT.replace("tcp://*:5557", endpoint)),))
    assert bool(list(published_events(deployment))) is published


def test_secrets_of_a_line_are_masked() -> None:
    (setting,) = config_of("a", "api_key: sk-proj-9aKx2LmQ7vRt4WzB8nEy6HdJ\n").find("api_key")
    assert "9aKx2LmQ" not in setting.text


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("nothing", "bytes", "."):
        with pytest.raises(UserError):
            read_deployment([str(tmp_path / name)])
