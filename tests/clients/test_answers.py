"""Answers read from streams of every protocol: what they say, what they count, when they began."""

import asyncio
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.clients.answer import exchange
from prefixwise.clients.aws_events import FrameReader
from prefixwise.clients.connection import Connection
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import Failure
from prefixwise.clients.protocol import PROTOCOLS, Ask, Framing, Output
from prefixwise.clients.server_sent_events import EventReader
from tests.clients.conftest import scripted
from tests.support.event_streams import STREAMS, TEXT, Streamed

NAMES = [f"{one.protocol}-{one.name}".replace(" ", "-") for one in STREAMS]
every_stream = pytest.mark.parametrize("streamed", STREAMS, ids=NAMES)


def content_type(streamed: Streamed) -> bytes:
    aws = PROTOCOLS.get(streamed.protocol).framing is Framing.AWS
    return b"application/vnd.amazon.eventstream" if aws else b"text/event-stream; charset=utf-8"


def head(streamed: Streamed) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: " + content_type(streamed) + b"\r\nconnection: close\r\n\r\n"


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def answered(streamed: Streamed, writes: list[bytes], *, stream: bool = True):
    async with scripted([[*writes, None]]) as server:
        endpoint = Endpoint(f"http://127.0.0.1:{server.port}", PROTOCOLS.get(streamed.protocol), "m")
        connection = await Connection.open(endpoint.host, endpoint.port)
        request = endpoint.ask(Ask(model="m", user="hello", stream=stream))
        return await exchange(connection, endpoint.protocol, request, stream=stream, timeout=5)


def check(streamed: Streamed, answer) -> None:
    assert answer.text == streamed.text
    counted = answer.usage and (answer.usage.prompt_tokens, answer.usage.cached_tokens, answer.usage.output_tokens)
    assert counted == streamed.usage
    assert answer.finish == streamed.finish
    assert streamed.error in answer.error
    assert (answer.failure is None) is streamed.complete
    assert answer.ok is (streamed.complete and not streamed.error)
    if not streamed.complete:
        assert answer.failure is Failure.CUT


@every_stream
def test_a_stream_says_what_it_says_however_it_is_written(run, streamed):
    for writes in ([head(streamed), *streamed.events], [head(streamed) + streamed.data]):
        answer = run(answered(streamed, writes))
        check(streamed, answer)
        assert answer.first_token >= answer.first_event >= answer.first_byte >= answer.sent


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 4000), max_size=8))
def test_a_stream_may_be_cut_inside_events_and_characters(streamed, cuts):
    data = streamed.data
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    writes = [data[a:b] for a, b in pairwise(places)]
    check(streamed, asyncio.run(answered(streamed, [head(streamed), *writes])))


@every_stream
def test_the_first_token_is_the_first_event_with_output(streamed):
    protocol = PROTOCOLS.get(streamed.protocol)
    reader = FrameReader() if protocol.framing is Framing.AWS else EventReader()
    said = [[protocol.part(event) for event in reader.feed(data, 0)] for data in streamed.events]
    outputs = [[piece for part in parts for piece in part.pieces] for parts in said]
    assert next((at for at, found in enumerate(outputs) if found), None) == streamed.first
    every = [piece for found in outputs for piece in found]
    for kind, text in (
        (Output.TEXT, streamed.text),
        (Output.REASONING, streamed.reasoning),
        (Output.TOOL, streamed.tool),
    ):
        assert "".join(piece.text for piece in every if piece.kind is kind) == text


def test_reasoning_is_a_token_but_no_output(run):
    streamed = next(one for one in STREAMS if one.reasoning and one.protocol == "vllm")
    answer = run(answered(streamed, [head(streamed), *(step for event in streamed.events for step in (event, 0.01))]))
    assert answer.first_output > answer.first_token > answer.first_event
    assert len(answer.arrivals) == 6


def test_the_clock_of_the_first_token_is_that_of_its_bytes(run):
    streamed = STREAMS[0]
    role, first, *rest = streamed.events
    answer = run(answered(streamed, [head(streamed), 0.05, role, 0.1, first, 0.05, *rest]))
    assert 0.148 <= answer.ttft < 0.19
    assert 0.198 <= answer.seconds < 0.25


# -- answers without a stream, and refusals ---------------------------------------------------------------

WHOLE = {
    "openai-chat": b'{"id":"c","choices":[{"index":0,"message":{"content":"Yes."},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}',
    "openai-completions": b'{"id":"c","choices":[{"index":0,"text":"Yes.","finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}',
    "openai-responses": b'{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text",'
    b'"text":"Yes."}]}],"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}}',
    "anthropic": b'{"id":"m","type":"message","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn",'
    b'"usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":2}}',
    "gemini": b'{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}],'
    b'"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":4,"candidatesTokenCount":2}}',
    "bedrock": b'{"output":{"message":{"role":"assistant","content":[{"text":"Yes."}]}},"stopReason":"end_turn",'
    b'"usage":{"inputTokens":3,"cacheReadInputTokens":4,"outputTokens":2,"totalTokens":9}}',
}


def plain(body: bytes, status: bytes = b"200 OK", more: bytes = b"") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\n" + more + b"content-length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("stream", [False, True], ids=["asked whole", "asked as a stream"])
def test_an_answer_that_comes_at_once_has_no_first_token(run, name, stream):
    answer = run(answered(Streamed("", name, ()), [plain(WHOLE[name])], stream=stream))
    assert answer.ok
    assert answer.text == "Yes."
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (7, 4, 2)
    assert (answer.first_token, answer.ttft, answer.arrivals) == (None, None, ())
    assert answer.seconds > 0


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("openai-chat", b'{"error":{"message":"Rate limit reached.","type":"requests"}}', "Rate limit reached."),
        ("anthropic", b'{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}', "Slow down."),
        ("bedrock", b'{"message":"Too many requests."}', "Too many requests."),
        ("vllm", b'{"detail":[{"msg":"field required"}]}', "field required"),
        ("gemini", b"<html>busy</html>", "HTTP status 429"),
        ("openai-chat", b"", "HTTP status 429"),
    ],
)
def test_a_refusal_says_why(run, name, body, said):
    answer = run(answered(Streamed("", name, ()), [plain(body, b"429 Too Many Requests", b"retry-after: 7\r\n")]))
    assert not answer.ok
    assert answer.failure is None
    assert said in answer.error
    assert answer.status == 429
    assert answer.headers["retry-after"] == "7"


def test_a_page_instead_of_an_answer_is_malformed(run):
    answer = run(answered(Streamed("", "openai-chat", ()), [plain(b"{not json")], stream=False))
    assert answer.failure is Failure.MALFORMED


def test_cached_tokens_may_stand_in_the_head(run):
    body = WHOLE["openai-chat"].replace(b',"prompt_tokens_details":{"cached_tokens":4}', b"")
    more = b"fireworks-prompt-tokens: 7\r\nfireworks-cached-prompt-tokens: 5\r\n"
    answer = run(answered(Streamed("", "fireworks", ()), [plain(body, more=more)], stream=False))
    assert answer.usage.cached_tokens == 5


# -- the vendors' own clients read the same ---------------------------------------------------------------


class Served:
    """The scripted server in a thread of its own, for clients that block."""

    def __init__(self, script: list) -> None:
        self.port = 0
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(script)))

    async def _serve(self, script: list) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with scripted([script]) as server:
            self.port = server.port
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> str:
        self._thread.start()
        self._ready.wait(5)
        return f"http://127.0.0.1:{self.port}"

    def __exit__(self, *problem) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)


def of(protocol: str) -> list:
    return [pytest.param(one, id=one.name) for one in STREAMS if one.protocol == protocol and one.sdk]


def served(streamed: Streamed) -> Served:
    start = b"HTTP/1.1 200 OK\r\ncontent-type: " + content_type(streamed) + b"\r\ntransfer-encoding: chunked\r\n\r\n"
    return Served([start, *(chunked(event) for event in streamed.events), b"0\r\n\r\n"])


@pytest.mark.parametrize("streamed", of("openai-chat"))
def test_openai_reads_the_same_chat(streamed):
    from openai import OpenAI

    with served(streamed) as address, OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        messages = [{"role": "user", "content": "hello"}]
        text, usage = "", None
        for part in client.chat.completions.create(model="m", messages=messages, stream=True):
            text += "".join(choice.delta.content or "" for choice in part.choices)
            usage = part.usage or usage
    assert text == streamed.text
    cached = usage and usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
    assert (usage and (usage.prompt_tokens, cached, usage.completion_tokens)) == streamed.usage


@pytest.mark.parametrize("streamed", of("openai-completions"))
def test_openai_reads_the_same_completion(streamed):
    from openai import OpenAI

    with served(streamed) as address, OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        parts = list(client.completions.create(model="m", prompt="hello", stream=True))
    assert "".join(choice.text for part in parts for choice in part.choices) == streamed.text
    usage = parts[-1].usage
    assert (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens) == streamed.usage


@pytest.mark.parametrize("streamed", of("openai-responses"))
def test_openai_reads_the_same_response(streamed):
    from openai import OpenAI

    with served(streamed) as address, OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        text, usage = "", None
        for event in client.responses.create(model="m", input="hello", stream=True):
            text += event.delta if event.type == "response.output_text.delta" else ""
            usage = event.response.usage if hasattr(event, "response") else usage
    assert text == streamed.text
    assert (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens) == streamed.usage


@pytest.mark.parametrize("streamed", of("anthropic"))
def test_anthropic_reads_the_same_message(streamed):
    from anthropic import Anthropic

    with served(streamed) as address, Anthropic(base_url=address, api_key="k", max_retries=0) as client:
        messages = [{"role": "user", "content": "hello"}]
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            message = stream.get_final_message()
    assert "".join(one.text for one in message.content if one.type == "text") == streamed.text
    usage = message.usage
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    assert (usage.input_tokens + (read or 0) + (written or 0), read, usage.output_tokens) == streamed.usage


@pytest.mark.parametrize("streamed", of("gemini"))
def test_google_reads_the_same_content(streamed):
    from google import genai
    from google.genai import types

    with served(streamed) as address:
        client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=address))
        text, usage = "", None
        for part in client.models.generate_content_stream(model="m", contents="hello"):
            parts = part.candidates[0].content.parts if part.candidates else []
            text += "".join(one.text or "" for one in parts if not one.thought)
            usage = part.usage_metadata or usage
        client.close()
    assert text == streamed.text
    output = usage.candidates_token_count + (usage.thoughts_token_count or 0)
    assert (usage.prompt_token_count, usage.cached_content_token_count, output) == streamed.usage


@pytest.mark.parametrize("streamed", of("bedrock"))
def test_amazon_reads_the_same_conversation(streamed, monkeypatch):
    import botocore.session
    from botocore.config import Config

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    with served(streamed) as address:
        client = botocore.session.get_session().create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=address,
            config=Config(retries={"max_attempts": 0}),
        )
        messages = [{"role": "user", "content": [{"text": "hello"}]}]
        events = list(client.converse_stream(modelId="m", messages=messages)["stream"])
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert "".join(delta.get("text", "") for delta in deltas) == streamed.text == TEXT
    usage = events[-1]["metadata"]["usage"]
    read, written = usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]
    assert (usage["inputTokens"] + read + written, read, usage["outputTokens"]) == streamed.usage
