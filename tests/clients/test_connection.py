"""Connections to a real server on a socket."""

import asyncio
import time

import pytest

from prefixwise.clients.connection import Connection
from prefixwise.clients.failures import ExchangeError, Failure
from tests.clients.conftest import scripted

ASKED = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


async def answers(scripts, count=1, timeout=5.0):
    """Return what came of `count` exchanges over one connection, and the server."""
    async with scripted(scripts) as server:
        connection = await Connection.open("127.0.0.1", server.port)
        found = []
        for _ in range(count):
            got = []
            seen = await connection.exchange(ASKED, lambda data, at, got=got: got.append((data, at)), timeout)
            found.append((seen, got))
        connection.close()
        return found, server


def test_one_connection_serves_one_exchange_after_the_other(run):
    found, server = run(answers([[OK], [HEAD, b"2\r\nok\r\n0\r\n\r\n"], [OK]], 3))
    assert [b"".join(data for data, _ in got) for _, got in found] == [b"ok"] * 3
    assert server.connections == 1
    assert server.requests == [ASKED] * 3


def test_bytes_bear_the_times_at_which_they_came(run):
    (found, _) = run(answers([[HEAD, 0.05, b"1\r\na\r\n", 0.10, b"1\r\nb\r\n", 0.05, b"0\r\n\r\n"]]))
    seen, got = found[0]
    (first, a), (second, b) = got
    assert (first, second) == (b"a", b"b")
    since = [(at - seen.sent) / 1e9 for at in (seen.first_byte, seen.head, a, b, seen.end)]
    for measured, true in zip(since, (0, 0, 0.05, 0.15, 0.20), strict=True):
        assert true - 0.002 <= measured < true + 0.05
    assert seen.reads == 4
    assert seen.size == 2


@pytest.mark.parametrize(
    ("script", "failure", "status"),
    [
        ([None], Failure.LOST, 0),
        ([b"HTTP/1.1 200 OK\r\ncontent-le", None], Failure.CUT, 0),
        ([HEAD + b"5\r\nhel", None], Failure.CUT, 200),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel", None], Failure.CUT, 200),
        ([b"no http\r\n\r\n"], Failure.MALFORMED, 0),
        ([HEAD, 5.0], Failure.TIMEOUT, 200),
    ],
)
def test_failures_are_told_apart_and_close_the_connection(run, script, failure, status):
    async def fail():
        async with scripted([script]) as server:
            connection = await Connection.open("127.0.0.1", server.port)
            with pytest.raises(ExchangeError) as caught:
                await connection.exchange(ASKED, lambda data, at: None, 0.3)
            assert not connection.usable
            return caught.value

    problem = run(fail())
    assert problem.failure is failure
    assert problem.seen.sent
    assert problem.seen.status == status


def test_an_answer_may_end_with_the_connection(run):
    found, _ = run(answers([[b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall", None]]))
    assert b"".join(data for data, _ in found[0][1]) == b"all"


def test_a_connection_that_the_server_will_close_is_not_used_again(run):
    async def twice():
        async with scripted([[b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"]]) as server:
            connection = await Connection.open("127.0.0.1", server.port)
            await connection.exchange(ASKED, lambda data, at: None)
            assert not connection.usable
            with pytest.raises(RuntimeError, match="not free"):
                await connection.exchange(ASKED, lambda data, at: None)

    run(twice())


def test_two_exchanges_at_once_are_refused(run):
    async def both():
        async with scripted([[0.2, OK]]) as server:
            connection = await Connection.open("127.0.0.1", server.port)
            first = asyncio.create_task(connection.exchange(ASKED, lambda data, at: None))
            await asyncio.sleep(0.05)
            with pytest.raises(RuntimeError, match="not free"):
                await connection.exchange(ASKED, lambda data, at: None)
            assert (await first).status == 200

    run(both())


def test_a_cancelled_exchange_closes_its_connection(run):
    async def cancel():
        async with scripted([[HEAD, 5.0]]) as server:
            connection = await Connection.open("127.0.0.1", server.port)
            task = asyncio.create_task(connection.exchange(ASKED, lambda data, at: None))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not connection.usable

    run(cancel())


def test_nobody_there_is_one_clear_failure(run):
    async def connect():
        async with scripted([]) as server:
            port = server.port
        with pytest.raises(ExchangeError, match=r"no connection to 127\.0\.0\.1") as caught:
            await Connection.open("127.0.0.1", port, timeout=2)
        return caught.value

    assert run(connect()).failure is Failure.CONNECT


def test_a_large_answer_comes_whole(run):
    body = bytes(range(256)) * 4096
    pieces = [HEAD, *(b"%x\r\n%s\r\n" % (8192, body[at : at + 8192]) for at in range(0, len(body), 8192)), b"0\r\n\r\n"]
    began = time.perf_counter()
    found, _ = run(answers([pieces]))
    assert b"".join(data for data, _ in found[0][1]) == body
    assert time.perf_counter() - began < 5
