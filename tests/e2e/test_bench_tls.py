"""Measuring over TLS, with a certificate that only its own authority vouches for."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from support.caching_server import CachingServer, ServedInThread, caching
from support.command import Run

from prefixwise.clients.connection import Connection

FAST = ("--items", 6, "--controls", 0, "--block", 16, "--lengths", 128, "--no-progress")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def settings_of(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    return context


def ttft(server: CachingServer) -> tuple[object, ...]:
    target = f"https://localhost:{server.port}"
    return ("bench", "ttft", "--target", target, "--protocol", "vllm", "--model", "m", *FAST)


def test_a_certificate_is_checked_against_the_authorities_that_the_user_names(
    run: Run, tmp_path: Path, authority: trustme.CA
) -> None:
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    with ServedInThread(tls=settings_of(authority), token_s=0.0001, fixed_s=0.01) as server:
        unknown = run(ttft(server)).check(2)
        assert "certificate" in unknown.err.lower()
        values = run((*ttft(server), "--json"), env={"SSL_CERT_FILE": str(trusted)}).check(0, 4).json()["values"]
    assert values["lengths"][0]["labels"]["warm"] == {"warm": 6}


def test_agreeing_on_tls_is_timed_apart_and_before_a_request(authority: trustme.CA) -> None:
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def opened() -> Connection:
        async with caching(tls=settings_of(authority)) as server:
            connection = await Connection.open("localhost", server.port, trusting)
            connection.close()
            return connection

    connecting = asyncio.run(opened()).connecting
    assert connecting.tls_s > 0
    assert connecting.tcp_s >= 0
