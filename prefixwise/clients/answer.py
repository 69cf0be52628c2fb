"""An answer read as it comes: what it says, what it counts, and when its tokens arrived."""

from __future__ import annotations

import msgspec

from prefixwise.clients.aws_events import FrameReader
from prefixwise.clients.connection import Connection
from prefixwise.clients.failures import Exchanged, ExchangeError, Failure
from prefixwise.clients.protocol import Framing, Output, Part, Protocol
from prefixwise.clients.server_sent_events import Event, EventReader
from prefixwise.core.usage import Usage, reported

_TOLD = 300
"""Characters of a refusal that are kept."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange: times in nanoseconds of `perf_counter_ns`, None where there was no such thing.

    Attributes:
        sent: Right before the first byte of the request was written.
        first_byte: The first byte of the answer; `first_event`: the read that ended the first event.
        first_token: The read with the first content, reasoning, refusal or tool call, which is what TTFT means;
            `first_output`: the same without reasoning. None where nothing came, or all at once without a stream.
        end: The last byte.
        arrivals: When each event with output came; several tokens may share one.
        text: The answer without reasoning and tools.
        usage: What the server counted, None where it did not say.
        finish: Why it ended; `status`: of HTTP; `error`: what the server said went wrong, '' for nothing.
        failure: Why there is no complete answer, None where there is one.
        id: The answer's, or the request's at the vendor.
        server_s: Seconds that the server says it took to the first token, None where it does not say.
        reads: How many times bytes arrived; `exchanges`: how many the connection had seen, this one too.
    """

    sent: int
    first_byte: int | None = None
    first_event: int | None = None
    first_token: int | None = None
    first_output: int | None = None
    end: int | None = None
    arrivals: tuple[int, ...] = ()
    text: str = ""
    usage: Usage | None = None
    finish: str = ""
    status: int = 0
    error: str = ""
    failure: Failure | None = None
    id: str = ""
    reads: int = 0
    exchanges: int = 1
    headers: dict[str, str] = {}
    server_s: float | None = None

    @property
    def ok(self) -> bool:
        """Whether it is complete and no refusal."""
        return self.failure is None and self.status == 200 and not self.error

    @property
    def ttft(self) -> float | None:
        """Seconds from sending to the first token."""
        return None if self.first_token is None else (self.first_token - self.sent) / 1e9

    @property
    def seconds(self) -> float | None:
        """Seconds from sending to the last byte."""
        return None if self.end is None else (self.end - self.sent) / 1e9


class _Stream:
    """Collects the parts of an answer as its bytes come."""

    def __init__(self, protocol: Protocol, *, stream: bool) -> None:
        self._protocol = protocol
        self._reader = FrameReader() if protocol.framing is Framing.AWS else EventReader()
        self._streams = stream
        self._begun = False
        self._body: list[bytes] = []
        self._usages: list[bytes] = []
        self._text: list[str] = []
        self.arrivals: list[int] = []
        self.first_event: int | None = None
        self.first_output: int | None = None
        self.finish = self.error = self.id = ""
        self.ended = False
        self.server_s: float | None = None

    def take(self, data: bytes, at: int) -> None:
        """Take bytes of the body."""
        if self._streams and not self._begun:
            self._streams = not data.startswith(b"{")  # a refusal, or a server that does not stream
        self._begun = True
        if self._streams:
            self._events(self._reader.feed(data, at))
        else:
            self._body.append(data)

    def _events(self, events: list[Event]) -> None:
        for event in events:
            try:
                part = self._protocol.part(event)
            except ValueError as problem:
                raise ExchangeError(Failure.MALFORMED, f"an event cannot be read: {problem}") from None
            self.first_event = self.first_event or event.at
            self._part(part, event.at)

    def _part(self, part: Part, at: int) -> None:
        if part.pieces:
            self.arrivals.append(at)
            if any(piece.kind is not Output.REASONING for piece in part.pieces):
                self.first_output = self.first_output or at
        self._text += [piece.text for piece in part.pieces if piece.kind is Output.TEXT]
        if part.usage:
            self._usages.append(part.usage)
        self.finish = part.finish or self.finish
        self.error = part.error or self.error
        self.id = part.id or self.id
        self.server_s = self.server_s if part.server_s is None else part.server_s
        self.ended = self.ended or part.last

    def close(self, exchanged: Exchanged) -> None:
        """Take the end of a complete exchange. Raises ExchangeError where the answer in it is not complete."""
        if exchanged.status != 200:
            said = self._protocol.problem(b"".join(self._body))
            self.error = said[:_TOLD] or f"HTTP status {exchanged.status}"
            return
        if not self._streams:
            self._whole(exchanged)
            return
        self._events(self._reader.finish(exchanged.end))
        if not (self.ended or self.finish or self.error):
            raise ExchangeError(Failure.CUT, "the stream ends before the answer does")

    def _whole(self, exchanged: Exchanged) -> None:
        body = b"".join(self._body)
        try:
            part = self._protocol.whole(body)
        except ValueError as problem:
            raise ExchangeError(Failure.MALFORMED, f"the answer cannot be read: {problem}") from None
        self._part(part, exchanged.end)
        self.arrivals, self.first_output, self.first_event = [], None, None  # it came at once: there is no TTFT

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    def usage(self, headers: dict[str, str]) -> Usage | None:
        """Return what the events counted, later figures in place of earlier ones, completed by the head."""
        events = b"[" + b",".join(self._usages) + b"]" if self._usages else None
        return reported(events, msgspec.json.encode(headers))


class Recording(msgspec.Struct, frozen=True):
    """An exchange as it went over the wire; `answer_of` says what it means.

    Reading events takes longer than receiving them. With many streams at a time one of them would be read while
    another one's bytes wait for the clock, so that is better done when all have been received.
    """

    seen: Exchanged
    parts: list[tuple[bytes, int]]
    exchanges: int
    failure: Failure | None = None
    error: str = ""


async def record(connection: Connection, request: bytes, timeout: float = 600.0) -> Recording:
    """Send an encoded request over an open connection and return what came back, complete or not.

    Failures do not raise, and nothing is retried. A cancelled exchange closes its connection.
    """
    parts: list[tuple[bytes, int]] = []
    try:
        seen = await connection.exchange(request, lambda data, at: parts.append((data, at)), timeout)
    except ExchangeError as problem:
        if problem.seen is None:
            raise
        return Recording(problem.seen, parts, connection.exchanges, problem.failure, problem.what)
    return Recording(seen, parts, connection.exchanges)


def answer_of(recording: Recording, protocol: Protocol, *, stream: bool = True) -> Answer:
    """Return what a recorded exchange says.

    Args:
        recording: The exchange.
        protocol: The protocol of the endpoint.
        stream: Whether a stream was asked for.
    """
    collected = _Stream(protocol, stream=stream)
    seen, failure = recording.seen, recording.failure
    try:
        for data, at in recording.parts:
            collected.take(data, at)
        if failure is None:
            collected.close(seen)
    except ExchangeError as problem:
        failure, collected.error = problem.failure, collected.error or problem.what
    arrivals = tuple(collected.arrivals)
    return Answer(
        sent=seen.sent,
        first_byte=seen.first_byte or None,
        first_event=collected.first_event,
        first_token=arrivals[0] if arrivals else None,
        first_output=collected.first_output,
        end=seen.end or None,
        arrivals=arrivals,
        text=collected.text,
        usage=collected.usage(seen.fields),
        finish=collected.finish,
        status=seen.status,
        error=collected.error or recording.error,
        failure=failure,
        id=seen.fields.get(protocol.request_id) or collected.id,
        reads=seen.reads,
        exchanges=recording.exchanges,
        headers=seen.fields,
        server_s=collected.server_s,
    )


async def exchange(
    connection: Connection, protocol: Protocol, request: bytes, *, stream: bool = True, timeout: float = 600.0
) -> Answer:
    """Send an encoded request over an open connection and return its answer; see `record` and `answer_of`."""
    return answer_of(await record(connection, request, timeout), protocol, stream=stream)
