"""Requests as they go over the wire: bodies of every protocol, nonces, keys, addresses."""

import json

import pytest

from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import PROTOCOLS, Ask, Cold
from prefixwise.core.errors import UserError

ASK = Ask(model="m", system="Be brief.", user="When?", max_tokens=32, salt="s1", key="k1", ignore_eos=True)


def endpoint(name: str, address: str = "http://h:8000", **more) -> Endpoint:
    return Endpoint(address, PROTOCOLS.get(name), "m", **more)


def sent(encoded: bytes) -> tuple[str, dict[str, str], dict]:
    """Return path, header fields and body of an encoded request."""
    head, _, body = encoded.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    assert int(fields["content-length"]) == len(body)
    return first.split(" ")[1], fields, json.loads(body)


WANTED = {
    "openai-chat": {"max_completion_tokens": 32, "prompt_cache_key": "k1"},
    "vllm": {"max_tokens": 32, "cache_salt": "s1", "ignore_eos": True, "min_tokens": 32},
    "sglang": {"max_tokens": 32, "cache_salt": "s1", "ignore_eos": True},
    "prefixwise": {"max_tokens": 32, "cache_salt": "s1", "prompt_cache_key": "k1"},
    "deepseek": {"max_tokens": 32, "user_id": "s1"},
    "fireworks": {"prompt_cache_isolation_key": "s1", "prompt_cache_key": "k1"},
    "openrouter": {"session_id": "k1"},
    "openai-completions": {"prompt": "Be brief.When?", "cache_salt": "s1"},
    "openai-responses": {"instructions": "Be brief.", "input": "When?", "max_output_tokens": 32, "store": False},
    "anthropic": {"max_tokens": 32},
    "gemini": {"generationConfig": {"temperature": 0, "maxOutputTokens": 32}},
    "bedrock": {"inferenceConfig": {"temperature": 0, "maxTokens": 32}},
}


@pytest.mark.parametrize("name", WANTED)
def test_a_body_has_the_protocols_own_words(name):
    path, _, body = sent(endpoint(name).ask(ASK))
    assert {field: body.get(field) for field in WANTED[name]} == WANTED[name]
    assert "Be brief." in json.dumps(body)
    assert ("model" in body) is (name not in ("gemini", "bedrock"))
    assert ("/m:" in path or "/m/" in path) is ("model" not in body)


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_usage_is_asked_for_in_streams(name):
    _, fields, body = sent(endpoint(name).ask(ASK))
    if "stream_options" in body:
        assert body["stream_options"] == {"include_usage": True}
        assert "stream_options" not in sent(endpoint(name).ask(Ask(model="m", user="x", stream=False)))[2]
    assert fields["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("anthropic", {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}),
        ("bedrock", {"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]}),
    ],
)
def test_where_caches_need_markers_the_system_prompt_has_one(name, marker):
    body = PROTOCOLS.get(name).body(ASK)
    assert {"system": body["system"]} == marker
    unmarked = PROTOCOLS.get(name).body(Ask(model="m", system="Be brief.", user="When?", marked=False))
    assert "cache" not in json.dumps(unmarked)


OWN = {
    "openai-chat": {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When?"}],
        "max_tokens": 400,
        "seed": 5,
        "metadata": {"a": "b"},
    },
    "anthropic": {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "When?"}],
        "max_tokens": 400,
        "metadata": {"user_id": "u"},
    },
    "openai-responses": {
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "When?"}],
        "reasoning": {"effort": "low"},
    },
    "gemini": {"system_instruction": {"parts": [{"text": "Be brief."}]}, "contents": [{"parts": [{"text": "When?"}]}]},
    "bedrock": {
        "modelId": "x",
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "When?"}]}],
    },
    "openai-completions": {"prompt": "Be brief. When?", "logit_bias": {"5": 1}},
}
TOOLS = {
    "openai-chat": {
        "tools": [
            {"type": "function", "function": {"name": "a", "description": "A."}},
            {"type": "function", "function": {"name": "b"}},
        ]
    },
    "anthropic": {"tools": [{"name": "a", "description": "A.", "input_schema": {}}, {"name": "b", "input_schema": {}}]},
    "openai-responses": {"tools": [{"type": "function", "name": "a", "description": "A."}]},
    "bedrock": {"toolConfig": {"tools": [{"toolSpec": {"name": "a", "description": "A."}}]}},
}


@pytest.mark.parametrize("name", OWN)
def test_a_users_own_body_keeps_what_is_not_the_measurements_business(name):
    own = PROTOCOLS.get(name).own_body(OWN[name], ASK)
    kept = json.dumps(own)
    assert "Be brief." in kept
    assert "When?" in kept
    for field in ("seed", "metadata", "reasoning", "logit_bias"):
        assert own.get(field) == OWN[name].get(field)
    assert "400" not in kept


@pytest.mark.parametrize("name", OWN)
def test_a_nonce_is_the_first_text_of_a_prompt_and_changes_nothing_else(name):
    before = json.dumps(OWN[name])
    begun = PROTOCOLS.get(name).with_nonce(OWN[name], "7f3a")
    assert json.dumps(OWN[name]) == before
    assert json.dumps(begun).replace("7f3a ", "") == before
    assert json.dumps(begun).index("7f3a") < json.dumps(begun).index("brief")


@pytest.mark.parametrize("name", TOOLS)
def test_where_tools_are_rendered_first_the_nonce_stands_in_them(name):
    body = {**OWN[name], **TOOLS[name]}
    begun = PROTOCOLS.get(name).with_nonce(body, "7f3a")
    assert json.dumps(begun).replace("7f3a ", "") == json.dumps(body)
    assert '"description": "7f3a A."' in json.dumps(begun)


def test_an_engine_renders_the_system_prompt_first():
    begun = PROTOCOLS.get("vllm").with_nonce({**OWN["openai-chat"], **TOOLS["openai-chat"]}, "7f3a")
    assert begun["messages"][0]["content"] == "7f3a Be brief."


@pytest.mark.parametrize(
    ("content", "begun"),
    [
        ("hello", "7f3a hello"),
        ([{"type": "text", "text": "hello"}], [{"type": "text", "text": "7f3a hello"}]),
        (
            [{"type": "image_url"}, {"type": "text", "text": "x"}],
            [{"type": "image_url"}, {"type": "text", "text": "7f3a x"}],
        ),
        ([{"type": "image_url"}], [{"type": "text", "text": "7f3a"}, {"type": "image_url"}]),
    ],
)
def test_contents_of_every_shape_take_a_nonce(content, begun):
    body = PROTOCOLS.get("openai-chat").with_nonce({"messages": [{"role": "user", "content": content}]}, "7f3a")
    assert body["messages"][0]["content"] == begun


def test_a_body_without_text_is_refused():
    with pytest.raises(UserError, match="no text to put a nonce"):
        PROTOCOLS.get("openai-chat").with_nonce({"messages": [{"role": "user", "content": 5}]}, "x")


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("openai-chat", "authorization", "Bearer sk-1"),
        ("anthropic", "x-api-key", "sk-1"),
        ("gemini", "x-goog-api-key", "sk-1"),
    ],
)
def test_a_key_goes_where_the_vendor_wants_it_and_into_no_representation(name, field, value):
    made = endpoint(name, key="sk-1")
    assert sent(made.ask(ASK))[1][field] == value
    assert "sk-1" not in repr(made)
    assert field not in sent(endpoint(name).ask(ASK))[1]


@pytest.mark.parametrize(
    ("address", "name", "url", "host"),
    [
        ("http://localhost:8000", "vllm", "http://localhost:8000/v1/chat/completions", "localhost:8000"),
        ("http://localhost:8000/v1", "vllm", "http://localhost:8000/v1/chat/completions", "localhost:8000"),
        ("http://localhost:8000/v1/", "vllm", "http://localhost:8000/v1/chat/completions", "localhost:8000"),
        ("https://openrouter.ai/api", "openrouter", "https://openrouter.ai/api/v1/chat/completions", "openrouter.ai"),
        (
            "https://openrouter.ai/api/v1",
            "openrouter",
            "https://openrouter.ai/api/v1/chat/completions",
            "openrouter.ai",
        ),
        ("http://[::1]:80/x", "anthropic", "http://[::1]:80/x/v1/messages", "[::1]:80"),
        (
            "https://g.example/v1beta",
            "gemini",
            "https://g.example/v1beta/models/m:streamGenerateContent?alt=sse",
            "g.example",
        ),
    ],
)
def test_an_address_may_end_where_the_protocol_begins(address, name, url, host):
    made = endpoint(name, address)
    assert made.url(made.protocol.path("m", stream=True)) == url
    path, fields, _ = sent(made.ask(ASK))
    assert url.endswith(path)
    assert fields["host"] == host


@pytest.mark.parametrize(
    "address", ["", "localhost:8000", "ftp://h", "http://", "http://h:99999", "http://h/?key=1", "http://h:x"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(UserError, match="no address of an endpoint"):
        endpoint("vllm", address)


@pytest.mark.parametrize("header", [("x y", "1"), ("", "1"), ("x", "a\r\nb: c"), ("x:y", "1")])
def test_a_header_field_cannot_smuggle_another(header):
    with pytest.raises(UserError, match="no header field"):
        endpoint("vllm", headers=(header,))


def test_a_models_name_cannot_leave_its_place_in_the_path():
    path, _, _ = sent(Endpoint("http://h", PROTOCOLS.get("gemini"), "../x y").ask(ASK))
    assert path == "/v1beta/models/..%2Fx%20y:streamGenerateContent?alt=sse"


def test_engines_of_ones_own_can_be_salted_and_vendors_cannot():
    salted = {one.name for one in PROTOCOLS if Cold.SALT in one.cold}
    assert salted == {"vllm", "sglang", "tensorrt-llm", "prefixwise", "openai-completions"}
    assert all(Cold.NONCE in one.cold for one in PROTOCOLS)


def test_what_tls_trusts_is_read_once_and_checks_names():
    """Reading it takes tens of milliseconds, in which no other request can be sent."""
    settings = endpoint("vllm", "https://h").tls
    assert settings is endpoint("openai-chat", "https://other").tls
    assert settings.check_hostname
    assert endpoint("vllm", "http://h").tls is None
