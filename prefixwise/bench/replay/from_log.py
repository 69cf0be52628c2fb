"""From a log to the requests of a replay."""

from __future__ import annotations

import msgspec

from prefixwise.bench.replay.bodies import UnsendableError, body_of, dressed, protocol_for
from prefixwise.bench.replay.work import Item, Work
from prefixwise.bench.words import nonce
from prefixwise.clients.protocol import Ask, Cold, Protocol
from prefixwise.core.errors import UserError
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.rows import NONE, Rows

USUAL_OUTPUT = 16
"""Tokens of an answer whose length nobody logged or named."""


class Dress(msgspec.Struct, frozen=True):
    """What a replay puts around each logged body.

    Attributes:
        run: Name of the run.
        model: Model, as the endpoint calls it.
        cold: How the run is kept apart from what the cache holds; None for not at all.
        output: Tokens of every answer; None for as many as were logged.
    """

    run: str
    model: str
    cold: Cold | None
    output: int | None

    @property
    def salted(self) -> bool:
        """Whether salts keep the run apart."""
        return self.cold in (Cold.SALT, Cold.ISOLATION_KEY)

    def salt(self, logged: str | None) -> str:
        """Return the namespace of a request: those of the log stay apart from each other."""
        if not self.salted:
            return logged or ""
        return self.run if logged is None else f"{self.run}/{logged}"

    @property
    def nonce(self) -> str:
        """What stands in front of every prompt, the same in all, so that they share what they shared."""
        return nonce(self.run, 0) if self.cold is Cold.NONCE else ""


def chosen(rows: Rows, model: str | None, limit: int | None) -> list[int]:
    """Return the rows that are replayed, in order of arrival.

    Args:
        rows: Of the input.
        model: Only requests to this model of the log; None for all, where there is one only.
        limit: Most requests.

    Raises:
        UserError: None is left, or they went to several models: a cache of one is no cache of another.
    """
    names = [rows.models.names[number] for number in sorted(set(rows.model))]
    if model is None and len(names) > 1:
        known = ", ".join(name or "(no name)" for name in names)
        raise UserError("the log has requests to several models", help=f"name one with --log-model: {known}")
    order = [row for row in rows.by_start() if model is None or rows.models.names[rows.model[row]] == model]
    if not order:
        raise UserError(f"the log has no request to {model!r}", "--log-model", f"it has: {', '.join(names)}", 3)
    return order[:limit]


def arrivals(rows: Rows, order: list[int], *, needed: bool) -> list[float]:
    """Return for each row of `order` the seconds since the first one.

    Raises:
        UserError: They are `needed`, and the log does not have them.
    """
    times = [rows.start[row] for row in order]
    if any(time != time for time in times):
        if needed:
            raise UserError(
                "the log does not say when its requests came", help="replay them in closed loop: --concurrency 8"
            )
        return [0.0] * len(order)
    return [time - times[0] for time in times]


def work_of_log(
    rows: Rows, again: Again, order: list[int], at: list[float], protocol: Protocol, dress: Dress, work: Work
) -> None:
    """Fill `work` with the requests of a log.

    Args:
        rows: The log.
        again: Reads its requests.
        order: Rows to be replayed, in order.
        at: When each arrives.
        protocol: Of the endpoint.
        dress: What is put around each body.
        work: Filled; what cannot be sent is counted there.

    Raises:
        UserError: Nothing can be sent.
    """
    number_of = {row: number for number, row in enumerate(order)}
    for row, request in again():
        if (number := number_of.get(row)) is None:
            continue
        try:
            own, body = _body(request, protocol, dress, dress.output or logged_output(rows, row))
        except UnsendableError as problem:
            work.left_out[str(problem)] += 1
            continue
        place, size = work.keep(body)
        session = rows.sessions.names[rows.session[row]]
        salt = dress.salt(request.namespace.salt)
        tokens = rows.prompt_tokens[row]
        work.items.append(Item(number, str(request.ref), at[number], session, own.name, salt, tokens, place, size))
    work.sort()
    if not work.items:
        why = next(iter(work.left_out), "there is none")
        raise UserError(f"no request can be sent: {why}", help="name the endpoint's --protocol", exit_code=3)


def _body(request: Request, protocol: Protocol, dress: Dress, output: int) -> tuple[Protocol, dict[str, object]]:
    own = protocol_for(protocol, request.api)
    space = request.namespace
    ask = Ask(
        model=dress.model,
        user="",
        max_tokens=output,
        ignore_eos=True,
        salt=dress.salt(space.salt),
        key=space.cache_key or "",
    )
    return own, dressed(body_of(request, own), own, ask, dress.nonce)


def logged_output(rows: Rows, row: int) -> int:
    """Return how long the answer to a request was, in tokens; a usual length where nobody logged it."""
    logged = rows.reported_output[row]
    if logged == NONE and rows.response_node[row] != NONE:
        logged = rows.answer_tokens[row]
    return max(1, logged) if logged != NONE else USUAL_OUTPUT
