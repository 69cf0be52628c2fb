"""A server of a simulated model, or of the tiny one, in a thread of the test."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from prefixwise.engine.server.app import Server
from prefixwise.engine.server.faults import parse_faults
from prefixwise.engine.server.limits import Limits
from prefixwise.engine.server.listen import bound
from prefixwise.engine.server.served import Served, serve_model
from prefixwise.engine.server.tenants import Tenants
from prefixwise.engine.settings import EngineSettings

QUICK = "sim:a=0,b=0,c=0"


@dataclass
class Serving:
    """A running server: its address, what it serves, and what it warned of."""

    url: str
    served: Served
    client: httpx.Client
    warnings: list[str]

    def chat(self, text: str = "When does the boat leave?", **more: Any) -> httpx.Response:
        """Send a chat completion."""
        headers = more.pop("headers", {})
        messages = [{"role": "user", "content": text}]
        return self.client.post("/v1/chat/completions", json={"messages": messages, **more}, headers=headers)

    def text(self, prompt: Any, **more: Any) -> httpx.Response:
        """Send a completion."""
        headers = more.pop("headers", {})
        return self.client.post("/v1/completions", json={"prompt": prompt, **more}, headers=headers)


def cached(response: httpx.Response) -> int:
    """Return the cached tokens that a response reports."""
    assert response.status_code == 200, response.text
    found: int = response.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return found


@contextlib.contextmanager
def serving(
    model: str = QUICK,
    faults: Sequence[str] = (),
    keys: dict[str, str] | None = None,
    limits: Limits | None = None,
    **settings: Any,
) -> Iterator[Serving]:
    """Run a server while the context lasts."""
    parsed = parse_faults(faults)
    chosen = {"model": model, "files": Path("/nonexistent"), **settings}
    served = serve_model(EngineSettings(**chosen), parsed, "", lambda text: None)
    warnings: list[str] = []
    app = Server(served, Tenants(keys or {}), limits or Limits(), parsed, warn=warnings.append).app()
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
            yield Serving(url, served, client, warnings)
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()
        assert not thread.is_alive(), "the server does not stop"


def wait_until(holds: Any, seconds: float = 10.0) -> None:
    """Wait until something holds; fail when it does not in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
