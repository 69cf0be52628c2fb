"""HTTP/1.1 responses, server-sent events and AWS frames, cut anywhere."""

import re
from itertools import pairwise

import h11
import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import example, given
from hypothesis import strategies as st

from prefixwise.clients.aws_events import FrameReader
from prefixwise.clients.failures import ExchangeError, Failure
from prefixwise.clients.http_framing import Head, ResponseReader
from prefixwise.clients.server_sent_events import EventReader
from tests.support.aws_frames import frame

CUTS = st.lists(st.integers(0, 400), max_size=12)


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in pairwise(places)]


def theirs(data: bytes) -> tuple[int, bytes]:
    """Return status and body as h11 reads them."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    connection.receive_data(b"")
    status, body = 0, b""
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return status, body


RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1A\r\n" + b"a" * 26 + b"\r\n0\r\nX-Late: 1\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 200 \r\nConnection: close\r\n\r\nuntil the end",
    b"HTTP/1.0 200 OK\r\n\r\nold",
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
]


@pytest.mark.parametrize("data", RESPONSES, ids=range(len(RESPONSES)))
@given(cuts=CUTS)
@example(cuts=list(range(400)))
def test_a_response_is_read_as_h11_reads_it_wherever_it_is_cut(data, cuts):
    reader, body = ResponseReader(), b""
    for piece in pieces_of(data, cuts):
        body += b"".join(reader.feed(piece))
    if not reader.done:
        reader.close()
    assert (reader.head.status, body) == theirs(data)
    assert reader.done
    assert reader.rest == b""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no answer of HTTP/1.1"),
        (b"HTTP/1.1 OK\r\n\r\n", "no answer of HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "no header field"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 3, 4\r\n\r\n", "no length"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: +3\r\n\r\n", "no length"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", "no size of a chunk"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n", "longer than it says"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 70000, "no end"),
    ],
)
def test_what_is_no_response_is_refused(data, said):
    with pytest.raises(ExchangeError, match=re.escape(said)) as caught:
        ResponseReader().feed(data)
    assert caught.value.failure is Failure.MALFORMED


@pytest.mark.parametrize("data", [RESPONSES[0][:-1], RESPONSES[1][:-2], RESPONSES[0][:20]])
def test_an_answer_that_ends_early_is_cut(data):
    reader = ResponseReader()
    reader.feed(data)
    with pytest.raises(ExchangeError) as caught:
        reader.close()
    assert caught.value.failure is Failure.CUT


def test_bytes_behind_an_answer_are_seen():
    reader = ResponseReader()
    reader.feed(RESPONSES[0] + b"HTTP/1.1")
    assert reader.rest == b"HTTP/1.1"


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"HTTP/1.1 200 OK", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nconnection: keep-alive", True),
    ],
)
def test_which_connections_stay_open(head, kept):
    assert Head(head).keeps_open is kept


STREAM = (
    "\ufeff: a comment\n\ndata: one\n\ndata:two\r\ndata:  lines\r\n\r\nevent: ping\ndata: {}\r\rid: 7\nretry: 5\n\n"
    "event: lost\n\ndata\n\ndata: grün 🌱 done\n\ndata: [DONE]\n\n"
).encode()
EVENTS = [("", "one"), ("", "two\n lines"), ("ping", "{}"), ("", ""), ("", "grün 🌱 done"), ("", "[DONE]")]


@given(cuts=CUTS)
@example(cuts=list(range(400)))
def test_events_are_those_of_the_specification_wherever_the_stream_is_cut(cuts):
    reader = EventReader()
    events = [event for at, piece in enumerate(pieces_of(STREAM, cuts)) for event in reader.feed(piece, at)]
    assert [(event.type, event.data) for event in events] == EVENTS
    assert not reader.open


def test_an_event_bears_the_time_of_its_last_byte():
    reader = EventReader()
    assert reader.feed(b"data: a", 1) == []
    assert [event.at for event in reader.feed(b"\n\ndata: b\n", 2)] == [2]
    assert [event.at for event in reader.feed(b"\n", 3)] == [3]


@pytest.mark.parametrize("tail", ["data: x", "data: x\n", "data: x\r", "data: x\r\n"])
def test_the_last_event_may_lack_its_empty_line(tail):
    reader = EventReader()
    assert reader.feed(tail.encode(), 1) == []
    assert [event.data for event in reader.finish(2)] == ["x"]
    assert reader.finish(3) == []


FRAMES = b"".join(
    [
        frame("messageStart", '{"role":"assistant"}'),
        frame("contentBlockDelta", '{"delta":{"text":"grün"},"contentBlockIndex":0}'),
        frame("metadata", '{"usage":{"inputTokens":3,"outputTokens":1,"totalTokens":4}}'),
    ]
)


@given(cuts=CUTS)
@example(cuts=list(range(400)))
def test_frames_are_read_as_the_vendor_reads_them(cuts):
    reader, vendor = FrameReader(), EventStreamBuffer()
    vendor.add_data(FRAMES)
    expected = [(one.headers[":event-type"], one.payload.decode()) for one in vendor]
    events = [event for piece in pieces_of(FRAMES, cuts) for event in reader.feed(piece, 1)]
    assert [(event.type, event.data) for event in events] == expected
    assert not reader.open


@pytest.mark.parametrize("place", [0, 9, 20, 60, len(FRAMES) - 2])
def test_a_damaged_frame_is_refused(place):
    damaged = FRAMES[:place] + bytes([FRAMES[place] ^ 1]) + FRAMES[place + 1 :]
    with pytest.raises(ExchangeError, match="damaged"):
        FrameReader().feed(damaged, 1)
