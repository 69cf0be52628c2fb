"""Listens until it is told to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable

from prefixwise.core.errors import MissingExtraError, UserError
from prefixwise.engine.server.faults import Faults
from prefixwise.engine.server.limits import Limits
from prefixwise.engine.server.served import Served
from prefixwise.engine.server.tenants import Tenants

GRACE = 10
"""Seconds that requests have to end once the server is told to stop."""


def listen(
    served: Served,
    tenants: Tenants,
    limits: Limits,
    faults: Faults,
    seed: int,
    host: str,
    port: int,
    ready: Callable[[str], None],
    warn: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; requests that are running then have some seconds to end.

    Args:
        served: The model and its engines.
        tenants: Who may ask.
        limits: What is too much.
        faults: What goes wrong on purpose.
        seed: Of the faults that come at random.
        host: Address.
        port: Its port; 0 takes a free one.
        ready: Called with the server's address once clients can connect.
        warn: Called with what made a step of an engine fail.

    Raises:
        UserError: The address cannot be taken.
        MissingExtraError: The packages of the server are not installed.
        KeyboardInterrupt: It was SIGINT.
    """
    try:
        import uvicorn

        from prefixwise.engine.server.app import Server
    except ImportError:
        raise MissingExtraError("the server", "engine") from None
    app = Server(served, tenants, limits, faults, seed, warn).app()
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE)
    with bound(host, port) as listening:
        address, actual = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        ready(f"http://{shown}:{actual}")
        server = uvicorn.Server(config)
        caught: list[int] = []

        def stop(number: int, frame: object) -> None:
            caught.append(number)
            server.handle_exit(number, frame)

        # uvicorn's own handlers would raise the signal again when all is done.
        server.capture_signals = contextlib.nullcontext
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            server.run(sockets=[listening])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    if signal.SIGINT in caught:
        raise KeyboardInterrupt


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises UserError where the address cannot be taken."""
    try:
        family, _, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        # asyncio switches Nagle's algorithm off for sockets that say they are TCP only. Left on, the second piece of an
        # answer waits up to 40 ms for the client's acknowledgement of the first.
        found = socket.socket(family, socket.SOCK_STREAM, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except (OSError, OverflowError) as problem:
        raise UserError(
            f"cannot listen there: {problem}", f"{host}:{port}", "choose another --port or --host"
        ) from None
    return found
