"""Sends the requests of a log one after the other, and keeps what was sent for the prediction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import msgspec

from prefixwise.bench.replay.vocabulary import IdReader
from prefixwise.bench.replay.work import Item, Work
from prefixwise.bench.sender import HttpSender, Sent
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.core.request import Request, Section
from prefixwise.corpus.chat_messages import BARE
from prefixwise.corpus.dialect import DIALECTS, SHAPE_ERRORS


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One request that was sent.

    Attributes:
        record: Where the log has it.
        request: What was sent, as a log would hold it; None where it cannot be read back.
        by_server: Whether its tokens are the server's own.
        prompt, cached: Tokens that the server counted; None where it does not say.
        error: Why there is no complete answer, '' where there is one.
    """

    record: str
    request: Request | None
    by_server: bool
    prompt: int | None = None
    cached: int | None = None
    error: str = ""


class VerifyRun:
    """Sends work in order, one request at a time: then nobody can doubt what was in the cache before each.

    Args:
        work: The requests.
        endpoints: Where they go, by the name of the protocol of their body.
        ask: Whether the server is asked for the tokens of each request.
        wait: Seconds between an answer and the next request, for caches that are late to show what they hold.
        tell: Called with (requests answered, all, what they are).
    """

    def __init__(
        self,
        work: Work,
        endpoints: Mapping[str, Endpoint],
        *,
        ask: bool,
        wait: float,
        tell: Callable[[int, int | None, str], None],
    ) -> None:
        self._work, self._endpoints, self._wait, self._tell = work, endpoints, wait, tell
        self._senders = {name: HttpSender(endpoint) for name, endpoint in endpoints.items()}
        # An engine makes ids of bare prompts on the same path as of chats.
        able = next((one for one in endpoints.values() if one.protocol.tokenize), None)
        self._reader = IdReader(able) if ask and able is not None else None

    async def run(self) -> list[Seen]:
        """Send all of it.

        Raises:
            ExchangeError: The endpoint cannot be reached.
        """
        found: list[Seen] = []
        try:
            for sender in self._senders.values():
                await sender.open()
            for item in self._work.items:
                found.append(await self._send(item))
                self._tell(len(found), len(self._work.items), "requests")
                await asyncio.sleep(self._wait)
        finally:
            for sender in self._senders.values():
                await sender.close()
            if self._reader is not None:
                await self._reader.close()
        return found

    async def _send(self, item: Item) -> Seen:
        content = self._work.content(item)
        body = msgspec.json.decode(content)
        endpoint = self._endpoints[item.protocol]
        ids = await self._ids(body)
        began = perf_counter()
        try:
            sent = await self._senders[item.protocol].send_encoded(endpoint.framed(content, stream=True))
        except ExchangeError as problem:
            return Seen(record=item.record, request=None, by_server=False, error=problem.what)
        request = request_sent(content, endpoint, ids, (began, perf_counter()), len(item.record))
        return self._seen(item, sent, request, by_server=ids is not None)

    async def _ids(self, body: dict[str, Any]) -> list[int] | None:
        """Return the ids of a body: its own, or those that the server makes of it where it is asked."""
        if isinstance(body.get("prompt"), list):
            return list(body["prompt"])
        if self._reader is None:
            return None
        names = ("prompt", "messages", "tools", "chat_template_kwargs")
        return await self._reader.ids({name: body[name] for name in names if name in body})

    def _seen(self, item: Item, sent: Sent, request: Request | None, *, by_server: bool) -> Seen:
        answer, usage = sent.answer, sent.answer.usage
        return Seen(
            record=item.record,
            request=request,
            by_server=by_server,
            prompt=usage.prompt_tokens if usage else None,
            cached=usage.cached_tokens if usage else None,
            error="" if answer.ok else answer.error or f"HTTP status {answer.status}",
        )


def request_sent(
    content: bytes, endpoint: Endpoint, ids: list[int] | None, times: tuple[float, float], number: int
) -> Request | None:
    """Return a body that was sent as a request of a log, None where its API cannot read it.

    Args:
        content: The body, as JSON.
        endpoint: Where it went.
        ids: Its token ids; None where they are to be counted here.
        times: When it was sent and answered.
        number: Its place.
    """
    dialect = DIALECTS.get(endpoint.protocol.api)
    try:
        draft = dialect.draft(msgspec.json.decode(content, type=dialect.body))
    except SHAPE_ERRORS:
        return None
    sections, api = draft.sections, dialect.name
    if ids is not None:
        api = BARE
        raw = msgspec.Raw(msgspec.json.encode(ids))
        sections = (Section("tokens", "/prompt_token_ids", [raw], listed=False),)
    return Request(
        "sent",
        number,
        0,
        api,
        dialect.provider,
        endpoint.model,
        sections,
        draft.namespace,
        draft.params,
        times[0],
        times[1],
        opens_reply=draft.opens_reply and ids is None,
    )
