"""The server: OpenAI's API over the engine, with what vLLM adds for caches."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from prefixwise import __version__
from prefixwise.core.errors import UserError
from prefixwise.engine.request import Account, Finish, Sampling, account_of
from prefixwise.engine.server.answers import Answer, reported
from prefixwise.engine.server.bodies import (
    Body,
    decode_chat,
    decode_text,
    decode_tokenize,
    error_of,
)
from prefixwise.engine.server.faults import Faults
from prefixwise.engine.server.limits import Limits
from prefixwise.engine.server.metrics import Metrics, snapshot
from prefixwise.engine.server.runner import BusyError, Handle, Runner, StoppedError
from prefixwise.engine.server.served import Served
from prefixwise.engine.server.tenants import Tenants, namespace_of

_NO_FAULTS = Faults()
_TEXT_TOKENS = 16
"""Tokens of a completion where the body does not say (OpenAI's default)."""


class _RefusedError(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error", code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = error_of(message, kind, code)


class Server:
    """The endpoints.

    Args:
        served: The model and its engines.
        tenants: Who may ask.
        limits: What is too much.
        faults: What goes wrong on purpose.
        seed: Of the faults that come at random.
        warn: Called with what made a step of an engine fail.
    """

    def __init__(
        self,
        served: Served,
        tenants: Tenants,
        limits: Limits,
        faults: Faults = _NO_FAULTS,
        seed: int = 0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._served = served
        self._tenants = tenants
        self._limits = limits
        self._faults = faults
        self._random = random.Random(seed)  # noqa: S311 - faults, no secrets
        self._metrics = Metrics(served.name)
        self._runners = tuple(Runner(engine, limits.waiting, warn) for engine in served.engines)
        self._turn = 0
        self._last_key = ""
        self._began = time.monotonic()

    def app(self) -> Starlette:
        """Return the application; its engines run from its start to its end."""
        posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/v1/chat/completions": self._chat,
            "/v1/completions": self._text,
            "/tokenize": self._tokenize,
            "/reset_prefix_cache": self._reset,
        }
        gets = {"/v1/models": self._models, "/health": self._health, "/metrics": self._page}
        routes = [Route(path, self._guarded(work), methods=["POST"]) for path, work in posts.items()]
        routes += [Route(path, self._guarded(work), methods=["GET"]) for path, work in gets.items()]
        return Starlette(routes=routes, lifespan=self._lifespan)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:  # noqa: ARG002 - Starlette's signature
        for runner in self._runners:
            runner.start()
        yield
        await asyncio.gather(*(runner.stop() for runner in self._runners))

    def _guarded(self, work: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that answers errors as the API does, and says loudly which faults are on."""

        async def endpoint(request: Request) -> Response:
            try:
                response = await work(request)
            except _RefusedError as refusal:
                response = _json(refusal.body, refusal.status)
            except UserError as problem:
                response = _json(error_of(str(problem), "invalid_request_error"), 400)
            except BusyError as problem:
                response = _json(error_of(f"try again later: {problem}", "rate_limit_error", "queue_full"), 429)
                response.headers["retry-after"] = "1"
            except StoppedError:
                response = _json(error_of("the server is stopping", "server_error"), 503)
            except ClientDisconnect:
                response = Response(status_code=499)
            if self._faults.names:
                response.headers["x-prefixwise-faults"] = ", ".join(self._faults.names)
            return response

        return endpoint

    # -- completions --------------------------------------------------------------------------------------

    async def _chat(self, request: Request) -> Response:
        tenant = self._tenant(request)
        body = decode_chat(await self._read(request))
        prompt = self._served.vocabulary.chat_prompt(body.messages, body.tools, body.chat_template_kwargs)
        return await self._complete(request, body, [prompt], tenant, chat=True)

    async def _text(self, request: Request) -> Response:
        tenant = self._tenant(request)
        body = decode_text(await self._read(request))
        prompts = body.prompts()
        if not 0 < len(prompts) <= self._limits.prompts:
            raise _RefusedError(400, f"a request may have 1 to {self._limits.prompts} prompts, not {len(prompts)}")
        vocabulary = self._served.vocabulary
        ids = [vocabulary.text_prompt(prompt) if isinstance(prompt, str) else prompt for prompt in prompts]
        return await self._complete(request, body, ids, tenant, chat=False)

    async def _complete(
        self, request: Request, body: Body, prompts: list[list[int]], tenant: str, *, chat: bool
    ) -> Response:
        """Run the prompts and answer, whole or as a stream; a client that goes away ends them."""
        self._check_model(body.model)
        samplings = [self._sampling(body, prompt, chat) for prompt in prompts]
        await self._be_faulty(request.headers.get("authorization", ""))
        salt = None if self._random.random() < self._faults.contaminated else body.cache_salt
        namespace = namespace_of(tenant, salt)
        runner = self._runner(body.prompt_cache_key)
        handles: list[Handle] = []
        try:
            for prompt, sampling in zip(prompts, samplings, strict=True):
                handles.append(await runner.submit(prompt, sampling, namespace))
        except BaseException:
            for handle in handles:
                runner.cancel(handle)
            raise
        answer = Answer(chat, self._served.name)
        if body.stream:
            events = self._stream(runner, handles, answer, body.include_usage)
            return StreamingResponse(events, media_type="text/event-stream", headers={"cache-control": "no-cache"})
        accounts = await self._finished(request, runner, handles)
        texts = [handle.request.text for handle in handles]
        content = answer.whole(texts, accounts, reported(accounts, self._faults.usage))
        return Response(content, media_type="application/json")

    async def _finished(self, request: Request, runner: Runner, handles: list[Handle]) -> list[Account]:
        """Wait for requests to end, or for their client to go away."""
        ends = asyncio.create_task(_ends(handles))
        gone = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait((ends, gone), return_when=asyncio.FIRST_COMPLETED)
            if not ends.done():
                raise ClientDisconnect
            reasons = ends.result()
        finally:
            gone.cancel()
            ends.cancel()
            for handle in handles:
                runner.cancel(handle)
        if Finish.ERROR in reasons or Finish.CANCELLED in reasons:
            raise _RefusedError(500, "the engine could not compute the request", "server_error")
        return [self._account(handle) for handle in handles]

    async def _stream(
        self, runner: Runner, handles: list[Handle], answer: Answer, include_usage: bool
    ) -> AsyncIterator[bytes]:
        """Yield the events of a stream; when nobody listens any more, its requests are cancelled."""
        early = self._random.random() < self._faults.early_close
        try:
            async for index, text, finish in _merged(handles):
                if finish in (Finish.ERROR, Finish.CANCELLED):
                    message = "the engine could not compute the request"
                    yield b"data: " + msgspec.json.encode(error_of(message, "server_error")) + b"\n\n"
                    return
                yield answer.chunk(index, text, finish)
                if early and text:
                    return
                if self._faults.slow_chunks:
                    await asyncio.sleep(self._faults.slow_chunks)
            accounts = [self._account(handle) for handle in handles]
            usage = reported(accounts, self._faults.usage)
            if include_usage and usage is not None:
                yield answer.usage(accounts, usage)
            yield b"data: [DONE]\n\n"
        finally:
            for handle in handles:
                runner.cancel(handle)

    def _account(self, handle: Handle) -> Account:
        account = account_of(handle.request)
        self._metrics.note(account)
        return account

    def _sampling(self, body: Body, prompt: list[int], chat: bool) -> Sampling:
        most = self._limits.prompt
        if most is not None and len(prompt) > most:
            raise _RefusedError(
                400,
                f"the prompt has {len(prompt):,} tokens, at most {most:,} are taken",
                code="context_length_exceeded",
            )
        left = self._served.context - len(prompt)
        if left < 1:
            raise _RefusedError(
                400,
                f"the prompt has {len(prompt):,} tokens, prompt and answer at most {self._served.context:,}",
                code="context_length_exceeded",
            )
        return body.sampling(left if chat else min(left, _TEXT_TOKENS))

    def _runner(self, key: str | None) -> Runner:
        """Return the replica for a request: by its key where it has one, else the next."""
        if key is not None:
            return self._runners[hash_of(key) % len(self._runners)]
        if self._faults.scatter:
            return self._random.choice(self._runners)
        self._turn += 1
        return self._runners[self._turn % len(self._runners)]

    async def _be_faulty(self, key: str) -> None:
        faults = self._faults
        wait = faults.delay + faults.drift * (time.monotonic() - self._began)
        if key == self._last_key:
            wait += faults.stirred
        self._last_key = key
        if wait:
            await asyncio.sleep(wait)
        if self._random.random() < faults.errors:
            raise _RefusedError(503, "a fault that was asked for", "server_error")

    # -- the rest -----------------------------------------------------------------------------------------

    async def _tokenize(self, request: Request) -> Response:
        self._tenant(request)
        body = decode_tokenize(await self._read(request))
        vocabulary = self._served.vocabulary
        if body.prompt is not None:
            ids = vocabulary.text_prompt(body.prompt)
        else:
            ids = vocabulary.chat_prompt(body.messages or [], body.tools, body.chat_template_kwargs)
        return _json({"count": len(ids), "max_model_len": self._served.context, "tokens": ids})

    async def _reset(self, request: Request) -> Response:
        self._tenant(request)
        done = [await runner.call(lambda engine: engine.cache.reset()) for runner in self._runners]
        if not all(done):
            raise _RefusedError(409, "requests are running, the cache cannot be reset", "conflict")
        return Response(status_code=200)

    async def _models(self, request: Request) -> Response:
        self._tenant(request)
        model = {
            "id": self._served.name,
            "object": "model",
            "created": 0,
            "owned_by": "prefixwise",
            "max_model_len": self._served.context,
        }
        return _json({"object": "list", "data": [model]})

    async def _health(self, request: Request) -> Response:  # noqa: ARG002
        about = {"version": __version__, "model": self._served.name, **self._served.about}
        return _json({"status": "ok", **about, "faults": list(self._faults.names)})

    async def _page(self, request: Request) -> Response:  # noqa: ARG002
        engines = [await runner.call(snapshot) for runner in self._runners]
        return PlainTextResponse(self._metrics.text(engines), media_type="text/plain; version=0.0.4")

    def _check_model(self, name: str) -> None:
        if name and name != self._served.name:
            what = f"the model {name[:100]!r} is not served, {self._served.name!r} is"
            raise _RefusedError(404, what, code="model_not_found")

    def _tenant(self, request: Request) -> str:
        tenant = self._tenants.tenant(request.headers.get("authorization", ""))
        if tenant is None:
            raise _RefusedError(401, "the API key is missing or not known", "authentication_error", "invalid_api_key")
        return tenant

    async def _read(self, request: Request) -> bytes:
        """Return the body of a request, as far as it is not too large."""
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > self._limits.body:
                raise _RefusedError(413, f"the body is larger than {self._limits.body:,} bytes")
        return bytes(data)


async def _ends(handles: list[Handle]) -> list[Finish]:
    """Wait until all requests have ended; return why they did."""
    found = []
    for handle in handles:
        finish = None
        while finish is None:
            finish = (await handle.updates.get()).finish
        found.append(finish)
    return found


async def _merged(handles: list[Handle]) -> AsyncIterator[tuple[int, str, Finish | None]]:
    """Yield (index, text, end) of several requests as they come; steps that brought no text are passed over."""
    waiting = {asyncio.ensure_future(handle.updates.get()): index for index, handle in enumerate(handles)}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for future in sorted(done, key=waiting.__getitem__):
                index = waiting.pop(future)
                update = future.result()
                if update.finish is None:
                    waiting[asyncio.ensure_future(handles[index].updates.get())] = index
                if update.text or update.finish is not None:
                    yield index, update.text, update.finish
    finally:
        for future in waiting:
            future.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def hash_of(key: str) -> int:
    """Return a number for a cache key, the same in every process."""
    import hashlib

    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big")


def _json(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")
