"""The workload that every format holds: 24 requests of five sessions of three tenants, all invented.

It is the truth that the readers are held to: what is here in plain values, the writers put into each vendor's
shape, and a reader must bring back. `build(requests=2000)` makes it longer by further rounds of new sessions.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from formats import texts

BEGIN = datetime(2026, 3, 9, 8, 0, tzinfo=UTC).timestamp()
ROUND_S = 3600.0
OPENAI_MODEL = "gpt-4.1"
ANTHROPIC_MODEL = "claude-sonnet-4-5"
GEMINI_MODEL = "gemini-2.5-flash"
ENGINE_MODEL = "Qwen/Qwen3-8B"
_BLOCK = 128


@dataclass(frozen=True)
class Call:
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Message:
    """One message: `results` (call id, tool name, text) for the role `tool`, text and calls for the others."""

    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Tool:
    """A tool's definition; `parameters` is JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Usage:
    """Reported tokens; `prompt` includes `cached` and `written`."""

    prompt: int
    cached: int
    written: int
    output: int


@dataclass(frozen=True)
class Exchange:
    """One request and its answer.

    Attributes:
        number: 0-based, in order of start.
        agent: Empty, or the name of the sub-agent that asked, inside its parent's session.
        answer: None for a call that the caller gave up; then `usage` and `first_token` are None too.
        twice: Whether an exporter that delivers at least once wrote the record of it twice, under the same id.
    """

    number: int
    tenant: str
    session: str
    agent: str
    model: str
    replica: str
    system: str
    tools: tuple[Tool, ...]
    messages: tuple[Message, ...]
    answer: Message | None
    start: float
    end: float
    first_token: float | None
    usage: Usage | None
    turn: int
    twice: bool = False

    def hex(self, what: str, length: int = 32) -> str:
        """Return an id of the request for one purpose, as hexadecimal digits."""
        digits = hashlib.sha256(f"{self.number}/{what}".encode()).hexdigest()
        return digits[:length]

    def uuid(self, what: str) -> str:
        """Return an id of the request for one purpose, as a UUID."""
        return str(uuid.UUID(self.hex(what), version=4))

    @property
    def request_id(self) -> str:
        """The id under which the caller asked."""
        return self.uuid("request")

    def session_uuid(self) -> str:
        """Return the session's id, for formats in which that is a UUID."""
        return named_uuid(f"{self.session}/{self.agent}" if self.agent else self.session)


@dataclass
class Workload:
    """The requests, in order of start."""

    model: str
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def answered(self) -> list[Exchange]:
        """Those that have an answer."""
        return [exchange for exchange in self.exchanges if exchange.answer]

    def delivered(self) -> list[Exchange]:
        """Return the requests as an exporter writes them: in order of their ends, some of them twice."""
        records = sorted(self.exchanges, key=lambda exchange: (exchange.end, exchange.number))
        again = [exchange for exchange in records if exchange.twice]
        return records + again

    def sessions(self) -> dict[tuple[str, str], list[Exchange]]:
        """Return the requests of each conversation: by (session, sub-agent), in order."""
        found: dict[tuple[str, str], list[Exchange]] = {}
        for exchange in self.exchanges:
            found.setdefault((exchange.session, exchange.agent), []).append(exchange)
        return found


def named_uuid(name: str) -> str:
    """Return a UUID that stands for a name."""
    return str(uuid.UUID(hashlib.sha256(name.encode()).hexdigest()[:32], version=4))


def build(model: str = OPENAI_MODEL, requests: int = 24) -> Workload:
    """Return the workload of `requests` requests to `model`."""
    exchanges: list[Exchange] = []
    number = 0
    while len(exchanges) < requests:
        exchanges.extend(_round(model, number))
        number += 1
    exchanges.sort(key=lambda exchange: exchange.start)
    exchanges = exchanges[:requests]
    return Workload(model, [replace(exchange, number=n) for n, exchange in enumerate(exchanges)])


@dataclass
class _Chat:
    """A conversation under way."""

    tenant: str
    session: str
    agent: str
    model: str
    replica: str
    system: str
    tools: tuple[Tool, ...]
    messages: list[Message] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    seen: int = 0

    def ask(self, at: float, answer: Message | None, length: float = 2.375, twice: bool = False) -> None:
        """Send what has been said so far at `at`; an answer is said too."""
        prompt = _about_tokens(self)
        cached = min(self.seen, prompt - 1) // _BLOCK * _BLOCK
        written = prompt - cached - 3
        usage = Usage(prompt, cached, written, 7 + len(answer.text) // 4) if answer else None
        self.exchanges.append(
            Exchange(
                0, self.tenant, self.session, self.agent, self.model, self.replica, self.system, self.tools,
                tuple(self.messages), answer, at, at + length, at + 0.375 if answer else None, usage,
                len(self.exchanges), twice,
            )
        )  # fmt: skip
        if answer:
            self.seen = prompt
            self.messages.append(answer)


def _about_tokens(chat: _Chat) -> int:
    """Return a token count as a provider might report it; it is the log's word and need not be ours."""
    said = sum(
        len(message.text) + sum(60 + len(str(call.arguments)) for call in message.calls)
        + sum(40 + len(text) for _, _, text in message.results)
        for message in chat.messages
    )  # fmt: skip
    return (len(chat.system) + said + 220 * len(chat.tools)) // 4 + 4 * len(chat.messages) + 7


def _round(model: str, number: int) -> list[Exchange]:
    """Return one round: three desks' chats, an agent with a helper, and a call that is given up."""
    at = BEGIN + number * ROUND_S
    mark = f"-{number}" if number else ""

    def chat(
        tenant: str, session: str, replica: str, system: str, tools: tuple[Tool, ...] = (), agent: str = ""
    ) -> _Chat:
        return _Chat(tenant, f"{session}{mark}", agent, model, replica, system, tools)

    ardent = chat("ardent-bikes", "desk-frames", "blue-0", texts.DESK)
    nordic = chat("ardent-bikes", "desk-nordic", "blue-1", texts.DESK)
    lumen = chat("lumen-cycles", "desk-brakes", "blue-0", texts.DESK)
    short = chat("quarry-freight", "night-shift", "green-0", texts.NIGHT)
    plain = ((ardent, texts.FRAMES, 0.0), (nordic, texts.NORDIC, 41.25), (lumen, texts.BRAKES, 67.5))
    for conversation, turns, offset in plain:
        for turn, (question, answer) in enumerate(turns):
            conversation.messages.append(Message("user", texts.numbered(question, number)))
            twice = conversation is lumen and turn == 1
            conversation.ask(at + offset + 95 * turn, Message("assistant", answer), twice=twice)
    for turn, (question, answer) in enumerate(texts.SHIFT):
        short.messages.append(Message("user", texts.numbered(question, number)))
        if turn == 1:
            short.ask(at + 130.125 + 110 * turn, None, length=9.5)
        short.ask(at + 144.125 + 110 * turn, Message("assistant", answer))
    exchanges = [exchange for c in (ardent, nordic, lumen, short) for exchange in c.exchanges]
    return exchanges + _agent(chat, at + 500, number)


def _agent(chat: Any, at: float, number: int) -> list[Exchange]:
    """Return an agent's run: text beside a call, two calls at once, one of them answered by a helper of its own."""
    tools = tuple(Tool(*definition) for definition in texts.TOOLS)
    main = chat("quarry-freight", "agent-dispatch", "green-0", texts.DISPATCH, tools)
    helper = chat("quarry-freight", "agent-dispatch", "green-1", texts.HELPER, tools[2:3], "route-helper")

    def call(what: str, name: str, **arguments: Any) -> Call:
        return Call("call_" + hashlib.sha256(f"{what}/{number}".encode()).hexdigest()[:20], name, arguments)

    orders = call("orders", "list_orders", depot="Kiln Lane", due="2026-03-10")
    stock = call("stock", "stock_level", sku="QF-310")
    ask = call("ask", "ask_helper", task="Which road from Kiln Lane to Hollow Wharf is open tonight?")
    road = call("road", "road_state", start="Kiln Lane", goal="Hollow Wharf", hours=[20, 6])
    book = call("book", "book_truck", order="7714", truck="T-09", note="über die B 51, nicht durch den Tunnel")

    main.messages.append(Message("user", texts.numbered(texts.AGENT_TASK, number)))
    main.ask(at, Message("assistant", "I look up the open orders first.", (orders,)))
    main.messages.append(Message("tool", results=((orders.id, orders.name, texts.ORDERS),)))
    main.ask(at + 20, Message("assistant", "", (stock, ask)))
    helper.messages.append(Message("user", ask.arguments["task"]))
    helper.ask(at + 30, Message("assistant", "", (road,)))
    helper.messages.append(Message("tool", results=((road.id, road.name, texts.ROAD),)))
    helper.ask(at + 40, Message("assistant", texts.HELPER_ANSWER))
    main.messages.append(
        Message("tool", results=((stock.id, stock.name, texts.STOCK), (ask.id, ask.name, texts.HELPER_ANSWER)))
    )
    main.ask(at + 50, Message("assistant", texts.AGENT_PLAN))
    main.messages.append(Message("user", "Do it."))
    main.ask(at + 75, Message("assistant", "", (book,)))
    main.messages.append(Message("tool", results=((book.id, book.name, texts.BOOKED),)))
    main.ask(at + 85, Message("assistant", "Truck T-09 is booked for order 7714; it leaves at 20:15."))
    return main.exchanges + helper.exchanges
