"""Request bodies of the API, and the objects that it answers with.

The shapes are those of OpenAI's Chat Completions and Completions, with vLLM's additions (`cache_salt`, `top_k`,
`stop_token_ids`, `ignore_eos`). What would change an answer and is not done here is refused by name; other fields that
are not known are passed over, as vLLM does.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.engine.request import Account, Sampling

T = TypeVar("T")
_MOST_STOPS = 16
# Fields that change an answer, with the values that change nothing.
_REFUSED: dict[str, tuple[Any, ...]] = {
    "n": (None, 1),
    "best_of": (None, 1),
    "logprobs": (None, False, 0),
    "top_logprobs": (None, 0),
    "prompt_logprobs": (None,),
    "logit_bias": (None, {}),
    "presence_penalty": (None, 0, 0.0),
    "frequency_penalty": (None, 0, 0.0),
    "repetition_penalty": (None, 1, 1.0),
    "min_p": (None, 0, 0.0),
    "min_tokens": (None, 0),
    "response_format": (None, {"type": "text"}),
    "echo": (None, False),
    "suffix": (None, ""),
    "use_beam_search": (None, False),
    "guided_json": (None,),
    "structured_outputs": (None,),
    "audio": (None,),
    "modalities": (None, ["text"]),
    "function_call": (None, "none", "auto"),
    "tool_choice": (None, "none", "auto"),
}


class StreamOptions(msgspec.Struct, frozen=True):
    """What a stream carries besides text."""

    include_usage: bool = False


class Body(msgspec.Struct, frozen=True):
    """What the bodies of both endpoints have in common."""

    model: str = ""
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    cache_salt: str | None = None
    prompt_cache_key: str | None = None

    @property
    def include_usage(self) -> bool:
        """Whether a stream ends with a chunk of usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def sampling(self, most: int) -> Sampling:
        """Return how the answer is drawn; `most` is the most tokens of it where the body does not say.

        Raises:
            UserError: A value makes no sense.
        """
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        if len(stops) > _MOST_STOPS:
            raise UserError(f"there may be {_MOST_STOPS} stop strings, not {len(stops)}")
        asked = self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens
        sampling = Sampling(
            max_tokens=most if asked is None else asked,
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=1.0 if self.top_p is None else self.top_p,
            # vLLM's -1 is all of them.
            top_k=0 if self.top_k in (None, -1) else self.top_k,
            seed=self.seed,
            stop=tuple(stops),
            stop_ids=tuple(self.stop_token_ids or ()),
            ignore_end=self.ignore_eos,
        )
        sampling.check()
        return sampling


class ChatBody(Body, frozen=True):
    """The body of a chat completion."""

    messages: list[Any] = []
    tools: list[Any] | None = None
    chat_template_kwargs: dict[str, Any] | None = None


class TextBody(Body, frozen=True):
    """The body of a completion: one prompt or several, as text or as ids."""

    prompt: Any = ""

    def prompts(self) -> list[str | list[int]]:
        """Return the prompts one by one. Raises UserError for a mixture."""
        given = self.prompt
        if isinstance(given, str):
            return [given]
        if not isinstance(given, list):
            raise UserError("prompt is neither text nor a list")
        if all(isinstance(item, int) and not isinstance(item, bool) for item in given):
            return [given]
        if all(isinstance(item, str) for item in given):
            return list(given)
        if all(isinstance(item, list) and all(type(token) is int for token in item) for item in given):
            return list(given)
        raise UserError("prompt is neither text, nor token ids, nor a list of one of them")


class TokenizeBody(msgspec.Struct, frozen=True):
    """The body of `/tokenize`: a prompt, or messages."""

    prompt: str | None = None
    messages: list[Any] | None = None
    tools: list[Any] | None = None
    chat_template_kwargs: dict[str, Any] | None = None


def decode_chat(data: bytes) -> ChatBody:
    """Return the body of a chat completion. Raises UserError for one that is none, or asks for what is not done."""
    body = _decode(data, ChatBody)
    if not body.messages:
        raise UserError("messages is empty")
    return body


def decode_text(data: bytes) -> TextBody:
    """Return the body of a completion. Raises UserError for one that is none, or asks for what is not done."""
    return _decode(data, TextBody)


def decode_tokenize(data: bytes) -> TokenizeBody:
    """Return the body of `/tokenize`. Raises UserError for one that is none."""
    body = _decode(data, TokenizeBody)
    if (body.prompt is None) == (body.messages is None):
        raise UserError("give either prompt or messages")
    return body


def _decode(data: bytes, kind: type[T]) -> T:
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise UserError("the body is no JSON") from None
    if not isinstance(raw, dict):
        raise UserError("the body is no JSON object")
    for name, harmless in _REFUSED.items():
        if name in raw and raw[name] not in harmless:
            raise UserError(f"{name} is not supported")
    try:
        return msgspec.convert({name: value for name, value in raw.items() if value is not None}, kind)
    except (msgspec.ValidationError, RecursionError) as problem:
        raise UserError(f"the body is not what the API takes: {problem}") from None


def usage_of(accounts: list[Account], cached: int | None) -> dict[str, Any]:
    """Return the usage of a response.

    Args:
        accounts: Of its requests.
        cached: Cached tokens to be reported; None for those of the accounts.
    """
    prompt = sum(account.prompt_tokens for account in accounts)
    output = sum(account.output_tokens for account in accounts)
    found = sum(account.cached_tokens for account in accounts) if cached is None else cached
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": found},
    }


def timings_of(account: Account) -> dict[str, Any]:
    """Return what the server adds to a response about a request: where its tokens came from and how long it took."""
    return {
        "cached_by_tier": account.cached_by_tier,
        "matched_tokens": account.matched_tokens,
        "preemptions": account.preemptions,
        "queue_seconds": account.queue_seconds,
        "prefill_seconds": account.prefill_seconds,
        "decode_seconds": account.decode_seconds,
    }


def error_of(message: str, kind: str, code: str | int | None = None) -> dict[str, Any]:
    """Return an error object."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
