"""Facts: the packaged files are whole and sourced, names find them, a user's files lie over them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from prefixwise.caches.facts import Band, Family, Kind
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sources import Confidence
from prefixwise.core.errors import UserError


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return Rulebook()


def test_every_system_says_where_it_comes_from(book: Rulebook) -> None:
    systems = book.systems()
    assert [system.kind for system in systems] == sorted((s.kind for s in systems), reverse=True)  # providers first
    for system in systems:
        assert system.sources
        assert system.as_of is not None
        assert system.confidence is not Confidence.USER
        assert system.provider in ("", *book.providers)
        assert not system.overrides
    assert {s.family for s in systems} - {None} == set(Family)


def test_every_price_says_where_it_comes_from(book: Rulebook) -> None:
    for prices in book.prices.all():
        assert prices.provider in book.providers
        for price in prices.prices:
            assert price.sources
            assert price.as_of is not None
            assert price.rule in {system.id for system in book.systems()}
            assert price.cached_read is None or price.cached_read <= price.input


@pytest.mark.parametrize(
    ("model", "provider", "rules"),
    [
        ("gpt-5.6-terra", "", ["openai_breakpoint"]),
        ("gpt-5.5-2026-04-01", "openai", ["openai_interval"]),
        ("openai/gpt-4.1", "", ["openai_interval"]),
        ("azure/gpt-4.1", "openai", ["azure_openai"]),
        ("claude-opus-5-20260801", "anthropic", ["anthropic"]),
        ("us.anthropic.claude-opus-4-8", "anthropic", ["bedrock"]),
        ("amazon.nova-pro-v1:0", "", ["bedrock"]),
        ("gemini-2.5-pro", "gemini", ["gemini_implicit", "gemini_explicit"]),
        ("gemini-4-argon", "", ["gemini_implicit"]),
        ("gemini-2.5-pro", "vertex", ["vertex"]),
        ("claude-opus-5", "vertex", ["vertex_claude"]),
        ("MiniMax-M3", "", ["minimax_automatic", "minimax_explicit"]),
        ("MiniMax-M2", "", ["minimax_explicit"]),
        ("qwen3.8-max", "openai", ["dashscope_implicit", "dashscope_explicit"]),
        ("kimi-k3", "fireworks", ["fireworks"]),
        ("openai/gpt-oss-20b", "groq", ["groq"]),
        ("meta-llama/Llama-3.1-8B", "", []),
        ("", "", []),
    ],
)
def test_the_rule_of_a_model(model: str, provider: str, rules: list[str], book: Rulebook) -> None:
    assert [system.id for system in book.rules_for(model, provider)] == rules


def test_bands_keep_both_ends(book: Rulebook) -> None:
    interval, anthropic = book.system("openai_interval"), book.system("anthropic")
    assert interval.min_tokens == Band(1024, 2048, 1024)
    assert interval.minimum("gpt-5.5") == Band(1024, 2048, 2048)
    assert anthropic.minimum("claude-opus-4-7") == Band(2048, 4096, 2048)
    assert anthropic.minimum("claude-opus-5") == Band(512, 512, 512)
    assert anthropic.minimum("claude-opus-5-5-20261001") == Band(512, 512, 512)
    assert anthropic.minimum("claude-opus-4-6") == Band(4096, 4096, 4096)
    assert anthropic.minimum("claude-99") is None
    assert book.system("bedrock").minimum("us.anthropic.claude-haiku-4-5-20251001-v1:0") == Band(4096, 4096, 4096)
    deepseek = book.system("deepseek").granularity_tokens
    assert deepseek is not None
    assert (deepseek.ends, deepseek.exact) == ((64, 128), False)
    assert Band(16, 16, 16).ends == (16,)
    assert Band(1800, None).ends == (1800,)


def test_families_and_factors_by_model(book: Rulebook) -> None:
    azure, anthropic = book.system("azure_openai"), book.system("anthropic")
    assert azure.family_of("gpt-4.1") is Family.FIXED_INTERVAL
    assert azure.family_of("gpt-5.6-luna") is Family.BREAKPOINT_BOUNDARY
    assert anthropic.multipliers_of("claude-opus-5").read == 0.1
    assert anthropic.multipliers_of("claude-opus-5-5").read == 0.05
    assert anthropic.multipliers_of("claude-opus-5-5").writes == (("5m", 1.25), ("1h", 2.0))
    assert book.system("vllm").kind is Kind.ENGINE
    assert book.system("sglang").total_includes_cached is None


@pytest.mark.parametrize(
    ("name", "systems"),
    [
        ("vllm", ["vllm"]),
        ("OpenAI", ["openai_breakpoint", "openai_interval"]),
        ("claude", ["anthropic"]),
        ("google", ["gemini_explicit", "gemini_implicit"]),
        ("deepseek", ["deepseek"]),
        ("gpt-5.5", ["openai_interval"]),
    ],
)
def test_a_name_is_a_systems_a_providers_or_a_models(name: str, systems: list[str], book: Rulebook) -> None:
    assert [system.id for system in book.find(name).systems] == systems


def test_a_model_is_shown_with_every_known_price(book: Rulebook) -> None:
    found = book.find("kimi-k3")
    assert (found.model, [system.id for system in found.systems]) == ("kimi-k3", ["moonshot"])
    assert [prices.provider for prices in found.prices] == ["fireworks", "moonshot"]


def test_an_unknown_name_lists_near_ones(book: Rulebook) -> None:
    with pytest.raises(UserError) as caught:
        book.find("antropic")
    assert "anthropic" in caught.value.help
    with pytest.raises(UserError) as caught:
        book.system("vlm")
    assert "vllm" in caught.value.help


# -- a user's files ---------------------------------------------------------------------------------------

OWN = """
[sources.contract]
title = "Our contract"
date = 2026-10-01

[systems.anthropic]
lookback_positions = 25
min_tokens_by_model = {"claude-opus-4-7" = [2048, 4096], "claude-new" = 256}
gotchas = ["one only"]

[systems.ours]
name = "Our gateway"
kind = "hosted"
provider = "ours"
family = "block-hash-chain"
granularity_tokens = {low = 16, high = 64}
region = "north"

[[prices]]
provider = "anthropic"
model = "claude-opus-5"
input = 4.0
sources = ["contract"]

[[prices]]
provider = "anthropic"
model = "claude-opus-5"
from = 2026-12-01
input = 3.0

[[prices]]
provider = "ours"
model = "tiny"
input = 0.5
"""


def own_book(tmp_path: Path, *texts: str) -> Rulebook:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.toml").write_text(text, encoding="utf-8")
    return Rulebook([str(tmp_path)])


def test_a_users_file_replaces_given_keys_only(tmp_path: Path, book: Rulebook) -> None:
    mine, packaged = own_book(tmp_path, OWN).system("anthropic"), book.system("anthropic")
    assert mine.lookback_positions == 25
    assert mine.gotchas == ("one only",)
    assert mine.minimum("claude-new") == Band(256, 256, 256)
    assert mine.minimum("claude-opus-4-7") == Band(2048, 4096)
    assert mine.minimum("claude-opus-5") == packaged.minimum("claude-opus-5")
    assert (mine.scope, mine.sources, mine.usage) == (packaged.scope, packaged.sources, packaged.usage)
    path = str(tmp_path / "0.toml")
    assert {(override.key, override.path) for override in mine.overrides} == {
        ("lookback_positions", path),
        ("gotchas", path),
        ("min_tokens_by_model.claude-opus-4-7", path),
        ("min_tokens_by_model.claude-new", path),
    }


def test_a_users_file_adds_systems(tmp_path: Path) -> None:
    ours = own_book(tmp_path, OWN).system("ours")
    assert (ours.family, ours.granularity_tokens) == (Family.BLOCK_HASH_CHAIN, Band(16, 64))
    assert (ours.confidence, ours.as_of, ours.overrides) == (Confidence.USER, None, ())
    assert ours.more == {"region": "north"}


def test_a_users_prices_replace_and_add(tmp_path: Path) -> None:
    mine = own_book(tmp_path, OWN)
    opus = mine.price_list("claude-opus-5", "anthropic")
    assert opus is not None
    before, after = opus.prices
    assert (before.input, before.cached_read, before.write_1h, before.output) == (4.0, 0.5, 10.0, 25.0)
    assert [source.title for source in before.sources] == ["Our contract"]
    assert before.confidence is Confidence.USER
    assert (after.start, after.input, after.cached_read, after.read) == (date(2026, 12, 1), 3.0, None, 3.0)
    assert [source.kind for source in after.sources] == ["user"]
    tiny = mine.price_list("tiny", "ours")
    assert tiny is not None
    assert tiny.prices[0].input == 0.5


def test_tiers_may_stand_in_any_order(tmp_path: Path) -> None:
    tiers = "above = [{tokens = 200, input = 3.0}, {tokens = 100, input = 2.0}]"
    found = own_book(tmp_path, f"[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = 1.0\n{tiers}\n").price_list("m", "p")
    assert found is not None
    assert [tier.tokens for tier in found.prices[0].above] == [100, 200]


def test_the_later_file_wins(tmp_path: Path) -> None:
    mine = own_book(tmp_path, OWN, "[systems.anthropic]\nlookback_positions = 30\n")
    assert mine.system("anthropic").lookback_positions == 30
    assert mine.system("anthropic").gotchas == ("one only",)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a =", "is not TOML: Invalid value"),
        ("[system.x]\nname = 'x'", "'system' is no part of a rule file"),
        ("prices = 3", "prices must be tables of the form [[prices]]"),
        ("[systems]\nx = 3", "systems must be tables of the form [systems.ID]"),
        ("[systems.x]\nname = 'x'", "systems.x: object missing required field `kind`"),
        ("[systems.vllm]\nname = 3", "systems.vllm.name: expected `str`, got `int`"),
        ("[systems.vllm]\nkind = 'cloud'", "systems.vllm.kind: invalid enum value 'cloud'"),
        ("[systems.vllm]\nfamily = 'magic'", "systems.vllm.family: invalid enum value 'magic'"),
        ("[systems.vllm]\nmin_tokens = 'few'", "systems.vllm.min_tokens must be a whole number, [low, high], or"),
        ("[systems.vllm]\nmin_tokens = -1", "systems.vllm.min_tokens must be a whole number, [low, high], or"),
        ("[systems.vllm]\nmin_tokens = [9, 3]", "systems.vllm.min_tokens: low 9 is above high 3"),
        ("[systems.vllm.min_tokens_by_model]\na = 1.5", "systems.vllm.min_tokens_by_model.a must be a whole number"),
        ("[systems.vllm]\nttl_options = 3", "systems.vllm.ttl_options must be a table"),
        ("[systems.vllm]\nusage = 3", "systems.vllm.usage must be a table"),
        ("[systems.vllm]\nmultipliers = 3", "systems.vllm.multipliers must be a table"),
        ("[systems.vllm]\nsources = ['nowhere']", "systems.vllm.sources names 'nowhere', which is not defined"),
        ("[systems.vllm]\nsources = 'nowhere'", "systems.vllm.sources must be a list of source ids"),
        ("[[prices]]\ninput = 3", "prices[0] needs a provider and a model"),
        ("[[prices]]\nprovider = 'p'\nmodel = 'm'", "prices[0] (m): object missing required field `input`"),
        ("[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = -1", "prices[0] (m): a price is not a number from 0 on"),
        ("[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = nan", "prices[0] (m): a price is not a number from 0 on"),
        (
            "[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = 1\nabove = [{tokens = 9, input = -2}]",
            "prices[0] (m): a price is not a number from 0 on",
        ),
        ("[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = 1\nreed = 2", "prices[0] (m).reed is no part of a price"),
        (
            "[[prices]]\nprovider = 'p'\nmodel = 'm'\ninput = 1\nfrom = 3",
            "prices[0] (m).from is not a day such as 2026-12-01",
        ),
        ("[sources.x]\nwhere = 'y'", "sources.x: object missing required field `title`"),
        ("[providers.x]\nresells = 'y'", "providers.x.resells: expected `bool`, got `str`"),
    ],
)
def test_what_is_wrong_in_a_users_file_is_one_clear_line(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        own_book(tmp_path, text)
    assert caught.value.what.startswith(what)
    assert caught.value.where == str(tmp_path / "0.toml")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no \.toml file"):
        Rulebook([str(tmp_path)])
    with pytest.raises(UserError, match="cannot be read"):
        Rulebook([str(tmp_path / "none.toml")])
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(UserError, match="not UTF-8"):
        Rulebook([str(tmp_path / "latin.toml")])
