"""Anthropic's cache: written at markers, read up to 20 positions before a marker, five minutes or an hour."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from benchmarks.breakers.bodies import Json, compact
from benchmarks.breakers.oracles.tokens import count, ids
from benchmarks.breakers.scene import Exchange

LOOK_BACK = 20
MOST_MARKERS = 4
TTL_S = {"5m": 300.0, "1h": 3600.0}
FIRST_TOKEN_S = 0.8
MINIMUM = {"claude-sonnet-4-5": 1024, "claude-sonnet-4-6": 1024, "claude-haiku-4-5": 4096, "claude-opus-4-5": 4096}
BLOCK_TOKENS = 2  # framing of one block
IMAGE_TOKENS = 360
_RUNS = ("tool_use", "tool_result")


@dataclass
class Position:
    """One place at which an entry can end: a block, or a run of tool calls or of their results."""

    level: str
    kind: str
    tokens: int
    """Of the prefix that ends here."""
    digest: bytes
    """Of that prefix and all that its key depends on."""
    ttl: str | None


def positions(body: Json, beta: str = "") -> list[Position]:
    """Return the positions of a prompt in cache order, tools, system, messages; a beta header changes all of them."""
    found: list[Position] = []
    state = hashlib.blake2b(f"{body['model']} {beta}".encode(), digest_size=16)
    tokens = 0
    for level, blocks in _levels(body):
        if level == "messages":  # what the history depends on beside its text
            state.update(compact([body.get("tool_choice"), body.get("thinking")]).encode())
        for block in blocks:
            text = _text(block)
            state.update(f"{level}\0{text}\0".encode())
            tokens += _tokens(block, text)
            marker = block.get("cache_control")
            ttl = marker.get("ttl", "5m") if marker else None
            kind = str(block.get("type", level))
            if found and kind in _RUNS and found[-1].kind == kind and found[-1].ttl is None:
                found.pop()
            found.append(Position(level, kind, tokens, state.copy().digest(), ttl))
    return found


def _levels(body: Json) -> list[tuple[str, list[Json]]]:
    system = body.get("system", [])
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    blocks: list[Json] = []
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        blocks += [{**block, "role": message["role"]} for block in content]
    return [("tools", body.get("tools", [])), ("system", system), ("messages", blocks)]


def _text(block: Json) -> str:
    return compact({key: value for key, value in block.items() if key != "cache_control"})


def _tokens(block: Json, text: str) -> int:
    if block.get("type") == "image":
        return IMAGE_TOKENS + BLOCK_TOKENS
    plain = block.get("text") or block.get("thinking") or text
    return count(ids(plain)) + BLOCK_TOKENS


def refusal(body: Json) -> str:
    """Return why the API refuses a request for its markers; empty where it does not."""
    ttls = [block["cache_control"].get("ttl", "5m") for block in _blocks(body) if block.get("cache_control")]
    if len(ttls) > MOST_MARKERS:
        return f"too many cache_control blocks: {len(ttls)} found, at most {MOST_MARKERS} allowed"
    if unknown := set(ttls) - set(TTL_S):
        return f"cache_control.ttl: input should be '5m' or '1h', not {min(unknown)!r}"
    if "5m" in ttls and "1h" in ttls[ttls.index("5m") :]:
        return "cache_control: a longer ttl must not come after a shorter one"
    return ""


def _blocks(body: Json) -> list[Json]:
    return [block for _, blocks in _levels(body) for block in blocks]


@dataclass
class Entry:
    """What was written at one position."""

    readable: float
    expires: float
    lifetime: float

    def is_alive(self, now: float) -> bool:
        """Whether it is still there at `now`."""
        return now < self.expires


class AnthropicCache:
    """All entries of one workspace, by the digest of their prefix."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Entry] = {}

    def serve(self, exchange: Exchange) -> Json | None:
        """Return the usage of the next request in order of time; None where the API refuses it."""
        if exchange.rejected:
            return None
        body, now = exchange.body, exchange.at
        places = positions(body, exchange.extra.get("request_headers", {}).get("anthropic-beta", ""))
        minimum = next(least for model, least in MINIMUM.items() if body["model"].startswith(model))
        marked = [index for index, place in enumerate(places) if place.ttl and place.tokens >= minimum]
        hits = [hit for hit in (self._look_back(places, marker, now) for marker in marked) if hit is not None]
        read = max((places[hit].tokens for hit in hits), default=0)
        for hit in hits:
            entry = self._entries[places[hit].digest]
            entry.expires = max(entry.expires, now + entry.lifetime)
        for index in marked:
            self._write(places[index], now)
        end = max((places[index].tokens for index in marked), default=0)
        hour = max((places[index].tokens for index in marked if places[index].ttl == "1h"), default=0)
        return _usage(exchange, places[-1].tokens, read, max(0, end - read), max(0, hour - read))

    def _look_back(self, places: list[Position], marker: int, now: float) -> int | None:
        for index in range(marker, max(-1, marker - LOOK_BACK), -1):
            entry = self._entries.get(places[index].digest)
            if entry is not None and entry.is_alive(now) and entry.readable <= now:
                return index
        return None

    def _write(self, place: Position, now: float) -> None:
        known = self._entries.get(place.digest)
        lifetime = TTL_S[place.ttl or "5m"]
        if known is None or not known.is_alive(now):
            self._entries[place.digest] = Entry(now + FIRST_TOKEN_S, now + lifetime, lifetime)
        else:
            known.expires = max(known.expires, now + lifetime)


def _usage(exchange: Exchange, total: int, read: int, written: int, hour: int) -> Json:
    output = count(ids(exchange.answer.text + exchange.answer.thinking)) + 12 * len(exchange.answer.calls) + 1
    by_lifetime = {"ephemeral_5m_input_tokens": written - min(written, hour)}
    return {
        "input_tokens": total - read - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {**by_lifetime, "ephemeral_1h_input_tokens": min(written, hour)},
        "output_tokens": output,
    }
