"""Every format with what it carries of the workload, so that each expectation is exact and none is loosened.

A format lists what it lacks in words (`lacks`) and in values: which requests are in it, whose tenants and sessions,
which usage counts, which times. What a format does not carry has to be absent in what is read: -1, NaN or an empty
name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from formats.workload import ANTHROPIC_MODEL, ENGINE_MODEL, GEMINI_MODEL, OPENAI_MODEL, Exchange, Workload
from formats.writers import (
    batches,
    bedrock,
    claude_code,
    codex,
    engines,
    helicone,
    langfuse,
    langsmith,
    litellm,
    otel,
    otel_vendors,
    plain,
    tables,
    vercel,
)
from formats.writers.plain import Files
from prefixwise.corpus.reader import ReadOptions

Name = Callable[[Exchange], str]


def nothing(_exchange: Exchange) -> str:
    """Name what is not carried."""
    return ""


def own_tenant(exchange: Exchange) -> str:
    """Name the tenant as it is."""
    return exchange.tenant


def own_session(exchange: Exchange) -> str:
    """Name the session as it is."""
    return exchange.session


def own_model(exchange: Exchange) -> str:
    """Name the model as it is."""
    return exchange.model


def own_replica(exchange: Exchange) -> str:
    """Name the replica as it is."""
    return exchange.replica


def in_order(workload: Workload) -> list[Exchange]:
    """Return all requests, in order of start."""
    return workload.exchanges


def only_answered(workload: Workload) -> list[Exchange]:
    """Return the requests that have an answer."""
    return workload.answered


def _conversations(workload: Workload) -> list[Exchange]:
    return [exchange for chat in tables.shared(workload) for exchange in chat]


OPENAI_COUNTS = ("prompt", "cached", "output")
ALL_COUNTS = ("prompt", "cached", "written", "output")


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        write: Writes the workload.
        model: Model that the workload asks.
        holds: The requests that are in it, in the order of time, or of the file where it has no times.
        starts: Places of a second that start times have: 3, or 0 for whole seconds cut off; None without times.
        ends: Whether it says when answers ended; `ttft`: whether it says when their first token came, or of which.
        year: Whether start times have a year.
        tenant, session, model_name, replica: The names that it gives to what the workload names.
        counts: The usage counts that it carries; of some requests fewer, by `counts_of`.
        like: Which plain log holds the same prompts: `chat`, `responses`, `anthropic`, `gemini`, `prompt`
            (an application's own text), `engine` (a chat template's) or `ids`.
        without: What of the prompt it lacks: `system`, `tools`.
        answers: Whether it holds answers whole, calls with them.
        tool_shape: Whether calls and tools stand in it in the JSON of `like`, so that a session with tools has
            just the same tokens; else only sessions without tools are held to that.
        options: What the user has to say; nothing for nearly all.
        lacks: What it cannot carry, in words.
    """

    write: Callable[[Workload], Files]
    model: str = OPENAI_MODEL
    holds: Callable[[Workload], list[Exchange]] = in_order
    starts: int | None = 3
    year: bool = True
    ends: bool = True
    ttft: bool | Callable[[Exchange], bool] = True
    tenant: Name = own_tenant
    session: Name = own_session
    model_name: Name = own_model
    replica: Name | None = None
    counts: tuple[str, ...] = OPENAI_COUNTS
    counts_of: Callable[[Exchange], tuple[str, ...]] | None = None
    like: str = "chat"
    without: frozenset[str] = frozenset()
    answers: bool = True
    tool_shape: bool = True
    options: ReadOptions = field(default_factory=ReadOptions)
    lacks: str = "tokens written"

    def carried(self, exchange: Exchange) -> tuple[str, ...]:
        """Return the usage counts that it carries of a request."""
        return self.counts_of(exchange) if self.counts_of else self.counts

    def says_first_token(self, exchange: Exchange) -> bool:
        """Say whether it tells when the first token of a request came."""
        return self.ttft(exchange) if callable(self.ttft) else self.ttft


def _vercel_counts(exchange: Exchange) -> tuple[str, ...]:
    return OPENAI_COUNTS if vercel.streams(exchange) else ("prompt", "output")


def _gemini_counts(exchange: Exchange) -> tuple[str, ...]:
    return OPENAI_COUNTS if exchange.usage and exchange.usage.cached else ("prompt", "output")


def _model_of_answer(exchange: Exchange) -> str:
    return exchange.model if exchange.answer else ""


_GEMINI = {"model": GEMINI_MODEL, "like": "gemini", "replica": own_replica, "counts_of": _gemini_counts}
_TOOLS = frozenset({"tools"})
_ANTHROPIC = {"model": ANTHROPIC_MODEL, "like": "anthropic", "counts": ALL_COUNTS}
_BEDROCK = _ANTHROPIC | {"starts": 0, "ttft": False, "model_name": bedrock.model_id}
_BARE = {
    "starts": None, "ends": False, "ttft": False, "tenant": nothing, "session": nothing, "counts": (),
    "lacks": "times, tenants, sessions, usage",
}  # fmt: skip
_ENGINE = {
    "model": ENGINE_MODEL, "starts": 0, "ttft": False, "tenant": nothing, "session": nothing, "model_name": nothing,
    "answers": False,
}  # fmt: skip
_TABLE = {"ttft": False, "answers": False, "lacks": "tokens written, calls of answers, time to the first token"}
_EVENTS = {"ttft": False, "without": _TOOLS, "lacks": "tools, tokens written, time to the first token"}
_OTHER = tables.OTHER_NAMES

FORMATS: dict[str, Format] = {
    "openai-chat": Format(plain.openai_chat, replica=own_replica),
    "openai-chat-gz": Format(plain.openai_chat_gz, replica=own_replica),
    "openai-chat-zst": Format(plain.openai_chat_zst, replica=own_replica),
    "openai-responses": Format(
        plain.openai_responses, replica=own_replica, like="responses", counts=ALL_COUNTS, lacks=""
    ),
    "anthropic": Format(plain.anthropic, **_ANTHROPIC, replica=own_replica, lacks=""),
    "gemini": Format(
        plain.gemini,
        **_GEMINI,
        model_name=_model_of_answer,
        lacks="tokens written, cached tokens where there are none; the model of a call without an answer",
    ),
    "gemini-named": Format(plain.gemini_named, **_GEMINI, lacks="tokens written, cached tokens where there are none"),
    "litellm-spend-logs": Format(litellm.spend_logs_jsonl, replica=litellm.deployment),
    "litellm-spend-logs-array": Format(litellm.spend_logs_array, replica=litellm.deployment),
    "litellm-logging-payload": Format(litellm.logging_payloads, replica=litellm.deployment),
    "langfuse-api-v2": Format(langfuse.api_v2),
    "langfuse-api-v1": Format(langfuse.api_v1),
    "langfuse-table-json": Format(langfuse.table_json),
    "langfuse-table-jsonl": Format(langfuse.table_jsonl),
    "langfuse-table-csv": Format(langfuse.table_csv),
    "langfuse-blob-jsonl": Format(langfuse.blob_jsonl),
    "helicone-export": Format(helicone.export_jsonl),
    "helicone-query": Format(helicone.query_json),
    "otel-genai": Format(otel.current, tool_shape=False),
    "otel-genai-lines": Format(otel.current_lines, tool_shape=False),
    "otel-genai-structured": Format(otel.structured, tool_shape=False),
    "otel-content-events": Format(
        otel.content_events, **_EVENTS | {"lacks": "tools, cached and written tokens"}, counts=("prompt", "output")
    ),
    "otel-span-events": Format(otel.span_events, **_EVENTS),
    "otel-log-events": Format(
        otel.log_events, **_EVENTS | {"lacks": "models, tools, tokens written, first token"}, model_name=nothing
    ),
    "openllmetry": Format(
        otel_vendors.openllmetry, ttft=False, tool_shape=False, lacks="tokens written, time to the first token"
    ),
    "openinference": Format(otel_vendors.openinference),
    "vercel-ai": Format(
        vercel.spans,
        counts_of=_vercel_counts,
        ttft=vercel.streams,
        tool_shape=False,
        lacks="tokens written; cached tokens and the first token of calls that are not streamed",
    ),
    "claude-code": Format(
        claude_code.transcripts,
        **_ANTHROPIC,
        holds=only_answered,
        ttft=False,
        tenant=nothing,
        session=claude_code.session_id,
        without=frozenset({"system", "tools"}),
        lacks="system prompt, tools, tenants, calls without an answer, time to the first token",
    ),
    "claude-code-subagents": Format(
        claude_code.transcripts_apart,
        **_ANTHROPIC,
        holds=only_answered,
        ttft=False,
        tenant=nothing,
        session=claude_code.session_id,
        without=frozenset({"system", "tools"}),
        lacks="system prompt, tools, tenants, calls without an answer, time to the first token",
    ),
    "codex": Format(
        codex.rollouts,
        like="responses",
        holds=only_answered,
        ttft=False,
        tenant=nothing,
        session=codex.thread_id,
        counts=ALL_COUNTS,
        without=_TOOLS,
        lacks="tools, tenants, calls without an answer, time to the first token",
    ),
    "vllm-info": Format(
        engines.vllm_info,
        **_ENGINE,
        year=False,
        ends=False,
        counts=(),
        like="engine",
        lacks="year, ends, answers, usage, models, tenants, sessions",
    ),
    "vllm-debug": Format(
        engines.vllm_debug, **_ENGINE, year=False, counts=(), like="ids", lacks="year, usage, models, tenants, sessions"
    ),
    "sglang-text": Format(engines.sglang_text, **_ENGINE, like="ids", lacks="models, tenants, sessions"),
    "sglang-json": Format(
        engines.sglang_json, **_ENGINE | {"starts": 3}, like="ids", lacks="models, tenants, sessions"
    ),
    "bedrock-converse": Format(
        bedrock.converse_logs, **_BEDROCK, tool_shape=False, lacks="fractions of a second, first token"
    ),
    "bedrock-cloudwatch": Format(
        bedrock.cloudwatch_events, **_BEDROCK, tool_shape=False, lacks="fractions of a second, first token"
    ),
    "bedrock-invoke": Format(
        bedrock.invoke_logs,
        **_BEDROCK,
        ends=False,
        tenant=bedrock.caller,
        session=nothing,
        lacks="fractions of a second, ends, first token, sessions; the tenant is the caller's ARN",
    ),
    "converse-bodies": Format(
        bedrock.converse_bodies,
        **_BARE,
        model=ANTHROPIC_MODEL,
        model_name=bedrock.model_id,
        like="anthropic",
        answers=False,
        tool_shape=False,
    ),
    "openai-batch": Format(
        batches.openai,
        **_BARE | {"counts": OPENAI_COUNTS, "tenant": own_tenant, "lacks": "times, sessions, tokens written"},
    ),
    "anthropic-batch": Format(
        batches.anthropic,
        **_BARE | _ANTHROPIC | {"tenant": own_tenant, "lacks": "times, sessions"},
    ),
    "langsmith": Format(langsmith.runs),
    "sharegpt": Format(
        tables.conversations,
        **_BARE | {"lacks": "times, tenants, usage, models; the agent's sessions; calls without an answer"}
        | {"session": lambda exchange: f"{exchange.session}_0"},
        holds=_conversations,
        model_name=nothing,
    ),
    "csv-messages": Format(tables.csv_messages, **_TABLE, without=_TOOLS),
    "csv-prompts": Format(tables.csv_prompts, **_TABLE, like="prompt"),
    "csv-other-names": Format(
        tables.csv_other_names,
        **_TABLE | {"lacks": "what the user cannot name: usage, ends, answers"},
        without=_TOOLS,
        ends=False,
        counts=(),
        options=ReadOptions(
            record_path=(_OTHER["messages"],),
            fields={
                "start": (_OTHER["timestamp"],),
                "tenant": (_OTHER["tenant"],),
                "session": (_OTHER["session"],),
                "model": (_OTHER["model"],),
            },
        ),
    ),
    "parquet-messages": Format(tables.parquet_messages, **_TABLE, without=_TOOLS),
    "parquet-nested": Format(tables.parquet_nested, **_TABLE, without=_TOOLS),
    "bare-messages": Format(
        plain.bare_messages, **_BARE, model_name=nothing, without=_TOOLS, answers=False
    ),
    "bare-prompts": Format(plain.bare_prompts, **_BARE, model_name=nothing, like="prompt", answers=False),
}  # fmt: skip
