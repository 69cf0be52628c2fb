"""What prompts are made of for an endpoint whose tokenizer nobody told us: ids where it takes them, else words."""

from __future__ import annotations

from itertools import count

import httpx
import msgspec

from prefixwise.bench.replay.bodies import UnsendableError, protocol_for
from prefixwise.bench.replay.from_log import Dress
from prefixwise.bench.replay.synthetic import LEAD, IdWriter, WordWriter, Writer
from prefixwise.bench.sender import HttpSender
from prefixwise.bench.words import common_text, nonce, uncounted, vocabulary
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import Ask, Body, Protocol
from prefixwise.core.errors import UserError
from prefixwise.corpus.chat_messages import BARE
from prefixwise.corpus.rows import Rows

_TIMEOUT_S = 60.0


class _Tokens(msgspec.Struct):
    tokens: list[int]


class IdReader:
    """Asks an endpoint for the token ids that it makes of request bodies.

    It computes nothing for that, so its cache stays as it is.

    Args:
        endpoint: Its protocol names the path, '' where it has none.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._fields = {**endpoint.protocol.headers(endpoint.key), **dict(endpoint.headers)}
        # What TLS trusts takes longer to read than a request takes.
        tls = endpoint.tls or False
        self._client = httpx.AsyncClient(verify=tls, timeout=_TIMEOUT_S, trust_env=False, headers=self._fields)

    async def ids(self, body: Body) -> list[int] | None:
        """Return the ids of a body as it is sent, or of `{"prompt": text}`; None where the endpoint does not say."""
        path = self._endpoint.protocol.tokenize
        if not path:
            return None
        asked = {"model": self._endpoint.model, **body}
        try:
            answer = await self._client.post(self._endpoint.url(path), json=asked)
            return msgspec.json.decode(answer.content, type=_Tokens).tokens if answer.status_code == 200 else None
        except (httpx.HTTPError, msgspec.MsgspecError):
            return None

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


async def writer_for(endpoint: Endpoint, rows: Rows, dress: Dress) -> Writer:
    """Return what makes up prompts for an endpoint.

    Args:
        endpoint: Where they go.
        rows: The trace.
        dress: What is put around each body.

    Raises:
        UserError: Its tokens cannot be counted.
        ExchangeError: It cannot be reached.
    """
    try:
        protocol = protocol_for(endpoint.protocol, BARE)
    except UnsendableError:
        protocol = endpoint.protocol
    if protocol.api == BARE:
        reader = IdReader(endpoint)
        ids = await reader.ids({"prompt": common_text()})
        await reader.close()
        if ids:
            return IdWriter(dress.run, rows, protocol, tuple(sorted(set(ids))))
    sender = HttpSender(Endpoint(endpoint.address, protocol, endpoint.model, endpoint.key, endpoint.headers))
    extra = count()

    async def counted(text: str) -> int | None:
        own = nonce(f"{dress.run}/words", next(extra))
        sent = await sender.send(_asking(protocol, endpoint.model, own, text, salted=dress.salted))
        if not sent.answer.ok:
            raise UserError(
                f"the server refuses: {sent.answer.error}", endpoint.address, "check model, key and address"
            )
        return sent.answer.usage.prompt_tokens if sent.answer.usage else None

    async def certain(text: str) -> int:
        tokens = await counted(text)
        if tokens is None:
            raise UserError("the server counts prompt tokens in some answers only", endpoint.address)
        return tokens

    try:
        words = uncounted() if await counted("") is None else await vocabulary(certain)
    finally:
        await sender.close()
    return WordWriter(dress.run, rows, protocol, words)


def _asking(protocol: Protocol, model: str, own: str, text: str, *, salted: bool) -> Body:
    """Return a request whose prompt is `text` and what every one has around it."""
    ask = Ask(model=model, user=f"{LEAD}{text}", ignore_eos=True, salt=own if salted else "")
    return protocol.body(ask) if protocol.api != BARE else protocol.own_body({"prompt": ask.user}, ask)
