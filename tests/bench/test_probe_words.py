"""Probes of a server of another kind: a token a word, a template in front, and prompts told apart by nonces."""

from __future__ import annotations

from typing import Any

import pytest
from support.caching_server import Faults, ServedInThread

from prefixwise.bench.probe.documented import with_documented
from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.protocol import Cold
from prefixwise.workflows.probing import ProbeAsked, bench_probe


def probed(*only: str, faults: Faults | None = None, protocol: str = "vllm", **server: Any) -> tuple[Finding, ...]:
    with ServedInThread(fixed_s=0.0, token_s=0.0, faults=faults or Faults(), **server) as running:
        asked = ProbeAsked(
            target=f"http://127.0.0.1:{running.port}",
            protocol=protocol,
            model="m",
            only=only,
            length=600,
            longest=1200,
            settle=0.05,
            replicates=2,
            cold=Cold.NONCE,
        )
        return bench_probe(asked, lambda line: None, lambda line: None).values.findings


@pytest.mark.parametrize("header", [5, 40])
@pytest.mark.parametrize("block", [1, 16, 100])
def test_blocks_and_the_shortest_prompt_whatever_stands_in_front(block: int, header: int) -> None:
    size, minimum = probed("block-size", "minimum", block=block, header=header)
    assert (size.verdict, size.value) == (Verdict.MEASURED, block)
    assert minimum.verdict is Verdict.MEASURED
    assert minimum.high <= max(block + 2, 2 * header + 40)


def test_a_constant_count_is_not_believed() -> None:
    usage, block = probed("usage", "block-size", faults=Faults(lies=500))
    assert usage.facts["counting"] == "wrong"
    assert block.verdict in (Verdict.INCONCLUSIVE, Verdict.ABSENT)
    assert block.value is None


def test_a_count_of_the_whole_prompt_is_not_believed() -> None:
    (usage,) = probed("usage", faults=Faults(cold_hits=True))
    assert usage.facts["counting"] == "wrong"


def test_a_small_constant_count_is_not_taken_for_hits() -> None:
    """64 tokens are counted in every prompt, new ones too: fewer than stand around the words here."""
    usage, block = probed("usage", "block-size", faults=Faults(lies=64), header=80)
    assert usage.facts["counting"] in ("zero", "wrong")
    assert block.value is None


def test_another_protocol_is_probed_alike() -> None:
    (size,) = probed("block-size", protocol="openai-chat", block=32)
    assert (size.verdict, size.value, size.documented) == (Verdict.MEASURED, 32, "")


def test_what_is_documented_stands_beside_what_was_seen() -> None:
    (size,) = probed("block-size", block=32)
    assert (size.value, size.documented) == (32, "16 (vllm)")
    found = Finding(probe="minimum", verdict=Verdict.MEASURED, said="")
    for protocol, model, text in (
        ("openai-chat", "gpt-4o", "1,024"),
        ("anthropic", "claude-sonnet-4-5", "1,024 (anthropic)"),
        ("deepseek", "deepseek-chat", "64 to 128 (deepseek)"),
        ("openai-chat", "a-model-of-nobody", ""),
    ):
        (one,) = with_documented([found], protocol, model, Rulebook())
        assert text in one.documented
        assert bool(text) is bool(one.documented)
