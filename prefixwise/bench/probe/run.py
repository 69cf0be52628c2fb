"""Runs the probes of a plan, one after the other."""

from __future__ import annotations

import asyncio
import math

from prefixwise.bench.lag import LagMeter
from prefixwise.bench.probe.finding import Finding
from prefixwise.bench.probe.lab import Lab, Say
from prefixwise.bench.probe.plan import Plan, Row
from prefixwise.bench.probe.probe import PROBES, Size, probes
from prefixwise.bench.probe.survey import Survey
from prefixwise.bench.probe.surveying import survey
from prefixwise.bench.rows import RowFile
from prefixwise.bench.scout import Scout
from prefixwise.bench.sender import HttpSender
from prefixwise.clients.endpoint import Endpoint

_BEFORE = 16
"""Requests that find out how words are counted, and warm the server up."""


async def run(plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> tuple[Survey, list[Finding]]:
    """Do all that a plan asks for, or what an earlier run of this file left.

    Raises:
        UserError: The server refuses requests, or its token counts do not add up.
        ExchangeError: It cannot be reached.
    """
    first = HttpSender(endpoint)
    try:
        scout = Scout(plan, endpoint.protocol, first)
        words = await scout.words()
        await scout.warm_up(words, min(plan.length, 512))
    finally:
        await first.close()
    async with LagMeter() as meter:
        lab = Lab(plan, endpoint, words, rows, meter, say)
        try:
            say("whether tokens are counted")
            chosen = probes(plan)
            lab.survey = await survey(lab, times=any(probe.name == "usage" for probe in chosen))
            found = []
            for probe in chosen:
                say(probe.title[0].lower() + probe.title[1:])
                found.append(await probe.run(lab))
            return lab.survey, found
        finally:
            await lab.close()


def size_of(plan: Plan) -> Size:
    """Return the most that a plan sends, and how long it waits. Raises UserError for a probe that is none."""
    chosen = {*probes(plan), PROBES.get("usage")}
    sizes = [probe.size(plan) for probe in chosen]
    requests, tokens = sum(one.requests for one in sizes), sum(one.tokens for one in sizes)
    return Size(requests + _BEFORE, tokens + _BEFORE * plan.length, math.fsum(one.seconds for one in sizes))


def probe(plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> tuple[Survey, list[Finding]]:
    """Run a plan to its end; see `run`."""
    return asyncio.run(run(plan, endpoint, rows, say))
