"""vLLM's cache: a chain of full blocks, prompts and answers alike; never the whole prompt. Also a relay's, by bytes."""

from __future__ import annotations

from array import array

from benchmarks.breakers.bodies import Json, compact
from benchmarks.breakers.oracles.openai import lay_out, usage
from benchmarks.breakers.oracles.tokens import BYTES, count, framed, ids
from benchmarks.breakers.scene import Exchange

BLOCK = 16
_CLOSED = array("I", [200_007]).tobytes()


class EngineCache:
    """One engine with room for everything.

    Args:
        block: Tokens in a block.
        by_bytes: Whether messages are told apart by their JSON, as relays do, instead of by what a template renders.
    """

    def __init__(self, block: int = BLOCK, by_bytes: bool = False) -> None:
        self._block, self._by_bytes = block, by_bytes
        self._blocks: set[int] = set()

    def serve(self, exchange: Exchange) -> Json:
        """Return the usage of the next request in order of time."""
        body = exchange.body
        prompt = self.prompt(body)
        where = (body["model"], body.get("cache_salt"), body.get("lora_path"))
        length = count(prompt)
        cached = 0
        for end in range(self._block, length, self._block):  # the last token is always computed
            if hash((where, prompt[: end * BYTES])) not in self._blocks:
                break
            cached = end
        known = prompt + self.generated(exchange)
        ends = range(self._block, count(known) + 1, self._block)
        self._blocks |= {hash((where, known[: end * BYTES])) for end in ends}
        return usage(exchange, length, cached)

    def prompt(self, body: Json) -> bytes:
        """Return the packed ids that the engine computes."""
        if "prompt_token_ids" in body:
            return array("I", body["prompt_token_ids"]).tobytes()
        if "prompt" in body:
            return ids(body["prompt"])
        if self._by_bytes:
            return b"".join(framed(message["role"], _json(message)) for message in body["messages"])
        return lay_out(body).prompt

    def generated(self, exchange: Exchange) -> bytes:
        """Return the packed ids of the answer; the last one has no keys and values yet."""
        if self._by_bytes:
            return b""
        if "prompt_token_ids" in exchange.body:
            return array("I", exchange.answer_ids).tobytes()
        text = exchange.answer.text if exchange.raw_text is None else exchange.raw_text
        return ids(text) if "prompt" in exchange.body else ids(text) + _CLOSED


def _json(message: Json) -> str:
    content = message["content"]
    if isinstance(content, list):
        content = [{key: value for key, value in block.items() if key != "cache_control"} for block in content]
    return compact(content)
