"""LangSmith: runs as its API lists them, a run a line, with messages as LangChain serialises them.

Taken from langsmith 0.15.1 (`schemas.Run`) and langchain-core 1.8.4 (`load.dump`, `messages.ai.UsageMetadata`,
`outputs.LLMResult`), by hand: the packages are not in the test environment.

Readers must know: `session_id` is the tracing project and no conversation, which is `thread_id` (or `session_id`) in
`extra.metadata`; `inputs.messages` is a list of lists; runs of chains and tools stand between those of models; a
message's calls are there twice, as `tool_calls` and in `additional_kwargs`; times are UTC without saying so.
"""

from __future__ import annotations

from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload, named_uuid
from formats.writers.plain import Files, lines

_CLASSES = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}
_PROJECT = named_uuid("tracing project")


def _serialised(role: str, **kwargs: Any) -> Json:
    kind = {"user": "human", "assistant": "ai"}.get(role, role)
    name = _CLASSES[role]
    given = {"type": kind} | kwargs
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": given}


def _messages(message: Message) -> list[Json]:
    if message.role == "tool":
        return [
            _serialised("tool", content=text, tool_call_id=call, name=name, status="success")
            for call, name, text in message.results
        ]
    if message.role == "user":
        return [_serialised("user", content=message.text)]
    return [_serialised("assistant", **_ai(message))]


def _ai(message: Message) -> Json:
    kwargs: Json = {"content": message.text, "tool_calls": [], "invalid_tool_calls": [], "additional_kwargs": {}}
    if message.calls:
        kwargs["tool_calls"] = [
            {"name": c.name, "args": c.arguments, "id": c.id, "type": "tool_call"} for c in message.calls
        ]
        kwargs["additional_kwargs"] = {"tool_calls": bodies.chat_message(message)[0]["tool_calls"]}
    return kwargs


def _outputs(exchange: Exchange) -> Json | None:
    answer, usage = exchange.answer, exchange.usage
    if answer is None or usage is None:
        return None
    reason = "tool_calls" if answer.calls else "stop"
    metadata = {
        "token_usage": bodies.chat_usage(exchange), "model_name": exchange.model, "model_provider": "openai",
        "system_fingerprint": "fp_5d3c1e0a7b", "finish_reason": reason, "logprobs": None,
    }  # fmt: skip
    counted = {
        "input_tokens": usage.prompt, "output_tokens": usage.output, "total_tokens": usage.prompt + usage.output,
        "input_token_details": {"audio": 0, "cache_read": usage.cached},
        "output_token_details": {"audio": 0, "reasoning": 0},
    }  # fmt: skip
    message = _serialised(
        "assistant",
        **_ai(answer),
        response_metadata=metadata,
        usage_metadata=counted,
        id=f"run--{exchange.uuid('run')}-0",
    )
    info = {"finish_reason": reason, "logprobs": None}
    generation = {"text": answer.text, "generation_info": info, "type": "ChatGeneration", "message": message}
    llm_output = {"token_usage": bodies.chat_usage(exchange), "model_name": exchange.model}
    return {"generations": [[generation]], "llm_output": llm_output, "run": None, "type": "LLMResult"}


def _when(seconds: float) -> str:
    return bodies.iso(seconds, digits=6, zone="")


def _run(exchange: Exchange, kind: str, name: str, times: tuple[float, float], **given: Any) -> Json:
    root = exchange.uuid("root")
    own = exchange.uuid("run") if kind == "llm" else root if kind == "chain" else exchange.uuid(name)
    stamp = bodies.iso(times[0], digits=6).replace("-", "").replace(":", "").replace(".", "")
    metadata = {
        "thread_id": exchange.session,
        "user_id": exchange.tenant,
        "replica": exchange.replica,
        "revision_id": "0f3c5a9",
    }
    runtime = {"sdk": "langsmith-py", "sdk_version": "0.15.1", "library": "langchain-core", "runtime": "python"}
    return {
        "id": own,
        "name": name,
        "run_type": kind,
        "start_time": _when(times[0]),
        "end_time": _when(times[1]),
        "extra": {"metadata": metadata, "runtime": runtime},
        "error": None,
        "serialized": None,
        "events": [{"name": "start", "time": _when(times[0])}, {"name": "end", "time": _when(times[1])}],
        "inputs": {},
        "outputs": None,
        "reference_example_id": None,
        "parent_run_id": None if kind == "chain" else root,
        "tags": ["seq:step:1"],
        "session_id": _PROJECT,
        "child_run_ids": None,
        "feedback_stats": {},
        "app_path": f"/o/{named_uuid('organisation')}/projects/p/{_PROJECT}/r/{own}",
        "manifest_id": None,
        "status": "success",
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "first_token_time": None,
        "total_cost": None,
        "parent_run_ids": [] if kind == "chain" else [root],
        "trace_id": root,
        "dotted_order": f"{stamp}{own}",
    } | given


def _model_run(exchange: Exchange) -> Json:
    parameters: Json = {"model": exchange.model, "model_name": exchange.model, "temperature": 0.2, "stream": True}
    if exchange.tools:
        parameters["tools"] = bodies.chat_tools(exchange.tools)
    usage, first = exchange.usage, exchange.first_token
    run = _run(exchange, "llm", "ChatOpenAI", (exchange.start, exchange.end))
    run["extra"]["invocation_params"] = parameters | {"_type": "openai-chat", "stop": None}
    run["extra"]["metadata"] |= {
        "ls_provider": "openai", "ls_model_name": exchange.model, "ls_model_type": "chat", "ls_temperature": 0.2,
    }  # fmt: skip
    system = _serialised("system", content=exchange.system)
    run["inputs"] = {"messages": [[system, *(one for m in exchange.messages for one in _messages(m))]]}
    run["outputs"] = _outputs(exchange)
    if usage and first:
        run |= {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.output,
            "total_tokens": usage.prompt + usage.output,
            "prompt_token_details": {"audio": 0, "cache_read": usage.cached},
            "completion_token_details": {"audio": 0, "reasoning": 0},
            "first_token_time": _when(first),
        }
        run["events"].insert(1, {"name": "new_token", "time": _when(first), "kwargs": {"token": ""}})
    else:
        run |= {"status": "error", "error": "CancelledError()"}
    return run


def runs(workload: Workload) -> Files:
    """Runs of chains, models and tools; a page overlaps the one before it by a run."""
    found: list[Json] = []
    for exchange in workload.delivered():
        around = (exchange.start - 0.05, exchange.end + 0.2)
        question = {"question": exchange.messages[-1].text}
        answer = {"output": exchange.answer.text if exchange.answer else None}
        found.append(_run(exchange, "chain", "RunnableSequence", around, inputs=question, outputs=answer))
        found.append(_model_run(exchange))
        for call in exchange.answer.calls if exchange.answer else ():
            times = (exchange.end + 0.01, exchange.end + 0.1)
            found.append(_run(exchange, "tool", call.name, times, inputs={"input": bodies.compact(call.arguments)}))
    return [("runs.jsonl", lines(found))]
