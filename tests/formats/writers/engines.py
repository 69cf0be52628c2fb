"""Logs of inference servers: vLLM's request lines and SGLang's request log.

vLLM: `RequestLogger` in vllm/entrypoints/logger.py as of 0.10 (the prompt in the line of level INFO, no ids for chats)
and of 0.14 (the prompt and its ids in a line of level DEBUG, `--enable-log-outputs`), with the line format of
vllm/logger.py and lines as users post them. SGLang: `RequestLogger` in sglang 0.5.23 (`srt/utils/request_logger.py`,
`log_utils.py`), level 3, as text and as JSON; its request dumps are pickles and not read. Neither package is in the
test environment; compared by hand.

Readers must know: vLLM's lines have whole seconds, no year and no zone, and nothing of tenants, sessions, usage or the
end of a request without its output line; neither log names the model. Prompts are Python literals with the chat
template applied, so text may be in either kind of quotes. SGLang's `received_time` is of a monotonic clock and no time;
its lines have whole seconds, its JSON has microseconds of local time (here UTC). A call that was given up has no line
of an answer.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload
from formats.writers.plain import Files

_PIECE = re.compile(r"<\|\w+\|>|\s*[^\s<]+|\s+|<")
_END = "<|im_end|>"


def rendered(exchange: Exchange) -> str:
    """Return the prompt as a chat template of the ChatML kind renders it."""
    system = exchange.system
    if exchange.tools:
        tools = "\n".join(bodies.compact(tool) for tool in bodies.chat_tools(exchange.tools))
        system += f"\n\n# Tools\n\n<tools>\n{tools}\n</tools>"
    turns = [f"<|im_start|>system\n{system}{_END}\n"]
    turns += [f"<|im_start|>{_turn(message)}{_END}\n" for message in exchange.messages]
    return "".join(turns) + "<|im_start|>assistant\n"


def _turn(message: Message) -> str:
    if message.role == "tool":
        results = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for _, _, text in message.results)
        return f"user\n{results}"
    return f"{message.role}\n{said(message)}"


def said(message: Message) -> str:
    """Return what the model says, calls as it writes them."""
    calls = [bodies.compact({"name": call.name, "arguments": call.arguments}) for call in message.calls]
    return "\n".join(filter(None, [message.text, *(f"<tool_call>\n{call}\n</tool_call>" for call in calls)]))


def token_ids(text: str) -> list[int]:
    """Return ids for a text, of a made-up vocabulary of words: equal beginnings have equal ids."""
    return [zlib.crc32(piece.encode()) % 151_643 for piece in _PIECE.findall(text)]


# -- vLLM ---------------------------------------------------------------------------------------------------------

_SAMPLING = (
    "SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, temperature=0.2, "
    "top_p=0.95, top_k=20, min_p=0.0, seed=None, stop=[], stop_token_ids=[], bad_words=[], "
    "include_stop_str_in_output=False, ignore_eos=False, max_tokens=900, min_tokens=0, logprobs=None, "
    "prompt_logprobs=None, skip_special_tokens=True, spaces_between_special_tokens=True, truncate_prompt_tokens=None, "
    "{}, extra_args=None)"
)
_STATS = (
    "Engine 000: Avg prompt throughput: 412.7 tokens/s, Avg generation throughput: 31.9 tokens/s, Running: 1 reqs, "
    "Waiting: 0 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 61.3%"
)


def _line(at: float, level: str, source: str, text: str, process: str) -> tuple[float, str]:
    stamp = bodies.iso(int(at), digits=0, zone="")[5:].replace("T", " ")
    return at, f"{process}{level} {stamp} [{source}] {text}"


def _log(found: list[tuple[float, str]]) -> bytes:
    return "".join(f"{line}\n" for _, line in sorted(found, key=lambda entry: entry[0])).encode()


def _id(exchange: Exchange) -> str:
    return f"chatcmpl-{exchange.hex('engine', 32)}"


def vllm_info(workload: Workload) -> Files:
    """vLLM 0.10: the prompt as text in the line that says that a request was received."""
    process = "(APIServer pid=71) "
    route = "Route: /v1/chat/completions, Methods: POST"
    found = [_line(workload.exchanges[0].start - 3, "INFO", "launcher.py:42", route, process)]
    params = _SAMPLING.format("guided_decoding=None")
    for exchange in workload.exchanges:
        text = (
            f"Received request {_id(exchange)}: prompt: {rendered(exchange)!r}, params: {params}, "
            "prompt_token_ids: None, prompt_embeds shape: None, lora_request: None."
        )
        found.append(_line(exchange.start, "INFO", "logger.py:40", text, process))
        if exchange.answer:
            access = '127.0.0.1:52110 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
            found.append((exchange.end, f"{process}INFO:     {access}"))
        if exchange.number % 5 == 0:
            found.append(_line(exchange.end + 1, "INFO", "loggers.py:122", _STATS, process))
    return [("vllm.log", _log(found))]


def vllm_debug(workload: Workload) -> Files:
    """vLLM 0.14 with `VLLM_LOGGING_LEVEL=DEBUG` and outputs: ids beside the text, and what was generated."""
    process = "(APIServer pid=71) "
    params = _SAMPLING.format("structured_outputs=None")
    found: list[tuple[float, str]] = []
    for exchange in workload.exchanges:
        prompt = rendered(exchange)
        details = (
            f"Request {_id(exchange)} details: prompt: {prompt!r}, prompt_token_ids: {token_ids(prompt)}, "
            "prompt_embeds shape: None."
        )
        received = f"Received request {_id(exchange)}: params: {params}, lora_request: None."
        found.append(_line(exchange.start, "DEBUG", "logger.py:49", details, process))
        found.append(_line(exchange.start, "INFO", "logger.py:57", received, process))
        if exchange.answer:
            text = said(exchange.answer)
            reason = "tool_calls" if exchange.answer.calls else "stop"
            output = (
                f"Generated response {_id(exchange)} (streaming complete): output: {text!r}, "
                f"output_token_ids: {token_ids(text + _END)}, finish_reason: {reason}"
            )
            found.append(_line(exchange.end, "INFO", "logger.py:88", output, process))
    return [("vllm.log", _log(found))]


# -- SGLang -------------------------------------------------------------------------------------------------------


def _sampling() -> Json:
    return {
        "temperature": 0.2, "max_new_tokens": 900, "min_new_tokens": 0, "stop": None, "stop_token_ids": None,
        "stop_regex": None, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "presence_penalty": 0.0,
        "frequency_penalty": 0.0, "repetition_penalty": 1.0, "regex": None, "ebnf": None, "n": 1,
        "no_stop_trim": False, "ignore_eos": False, "skip_special_tokens": True, "logit_bias": None,
    }  # fmt: skip


def _object(exchange: Exchange, *, text: bool) -> Json:
    """Return the fields of `GenerateReqInput`; `text` is filled in once the request has been received."""
    prompt = rendered(exchange)
    return {
        "rid": exchange.hex("rid", 32),
        "session_id": None,
        "text": prompt if text else None,
        "input_ids": token_ids(prompt),
        "input_embeds": None,
        "image_data": None,
        "video_data": None,
        "audio_data": None,
        "sampling_params": _sampling(),
        "return_logprob": False,
        "logprob_start_len": -1,
        "top_logprobs_num": 0,
        "token_ids_logprob": None,
        "return_text_in_logprobs": True,
        "stream": True,
        "log_metrics": True,
        "return_hidden_states": False,
        "modalities": [],
        "session_params": None,
        "lora_path": None,
        "lora_id": None,
        "custom_logit_processor": None,
        "bootstrap_host": None,
        "bootstrap_port": None,
        "bootstrap_room": None,
        "data_parallel_rank": None,
        "routing_key": None,
        "conversation_id": None,
        "background": False,
        "priority": None,
        "extra_key": None,
        "no_logs": False,
        "custom_labels": None,
        "received_time": 918_273.5 + exchange.start - int(exchange.start / 3_600) * 3_600,
        "cache_salt": None,
    }


def _out(exchange: Exchange) -> Json:
    assert exchange.answer is not None
    assert exchange.usage is not None
    text = said(exchange.answer)
    return {
        "text": text,
        "output_ids": token_ids(text + _END),
        "meta_info": {
            "id": exchange.hex("rid", 32),
            "finish_reason": {"type": "stop", "matched": 151_645},
            "prompt_tokens": exchange.usage.prompt,
            "weight_version": "default",
            "num_retractions": 0,
            "completion_tokens": exchange.usage.output,
            "cached_tokens": exchange.usage.cached,
            "e2e_latency": exchange.end - exchange.start,
        },
    }


def _python(of: Json) -> str:
    return "GenerateReqInput(" + ", ".join(f"{name}={value!r}" for name, value in of.items()) + ")"


def sglang_text(workload: Workload) -> Files:
    """SGLang's request log as text."""
    found: list[tuple[float, str]] = []

    def line(at: float, text: str) -> None:
        found.append((at, f"[{bodies.iso(int(at), digits=0, zone='', between=' ')}] {text}"))

    for exchange in workload.exchanges:
        line(exchange.start, f"Receive: obj={_python(_object(exchange, text=False))}")
        if exchange.number % 4 == 0:
            batch = (
                "Prefill batch, #new-seq: 1, #new-token: 128, #cached-token: 896, token usage: 0.02, #running-req: 0"
            )
            line(exchange.start + 0.25, batch)
        if exchange.answer:
            line(exchange.end, f"Finish: obj={_python(_object(exchange, text=True))}, out={_out(exchange)!r}")
    return [("sglang.log", _log(found))]


def sglang_json(workload: Workload) -> Files:
    """SGLang's request log as JSON: each line has the log's own time before it."""
    found: list[tuple[float, str]] = []

    def line(at: float, event: str, data: dict[str, Any]) -> None:
        stamp = bodies.iso(int(at), digits=0, zone="", between=" ")
        record = {"timestamp": bodies.iso(at, digits=6, zone=""), "event": event} | data
        found.append((at, f"[{stamp}] {json.dumps(record, ensure_ascii=False)}"))

    for exchange in workload.exchanges:
        rid = exchange.hex("rid", 32)
        line(exchange.start, "request.received", {"rid": rid, "obj": _object(exchange, text=False)})
        if exchange.answer:
            data = {"rid": rid, "obj": _object(exchange, text=True), "out": _out(exchange)}
            line(exchange.end, "request.finished", data)
    return [("sglang-0.log", _log(found))]
