"""The packaged facts hold every entry, source, value and price of the reference that they were made from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from prefixwise.caches.facts import Band
from prefixwise.caches.rulebook import RULES, Rulebook

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "cache_rules.yaml"
pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="the reference is not handed out here")

# What stands at another place, and where a value became an end of a band; the longest prefix of the keys counts.
MOVED = {
    ("source",): ("sources",),
    ("as_of_approx",): ("as_of_approximate",),
    ("block_size_default",): ("granularity_tokens",),
    ("max_writes_per_request",): ("max_breakpoints",),
    ("models",): ("applies_to",),
    ("min_tokens_conflicts",): ("conflicts",),
    ("min_tokens_latest",): ("min_tokens",),
    ("ttl_min_s",): ("ttl_s",),
    ("ttl_max_s",): ("ttl_s",),
    ("ttl_default_s",): ("ttl_s",),
    ("ttl_idle_s",): ("ttl_s",),
    ("breakpoint_interval_tokens",): ("interval_tokens_by_model",),
    ("lookup", "explicit_boundaries", "first"): ("lookup", "explicit_first"),
    ("lookup", "explicit_boundaries", "latest"): ("lookup", "explicit_latest"),
    ("lookup", "direction"): ("lookup_direction",),
    ("lookup", "implicit_extra"): ("lookup_implicit_extra",),
    ("lookup", "conflict"): ("conflicts",),
    ("invalidation", "prefix_preserving"): ("prefix_preserving",),
    ("isolation", "field"): ("isolation_control",),
    ("isolation", "default"): ("scope",),
}
# Notes of which the whole text says that sources disagree stand among the conflicts.
NOTES = {
    ("openai_interval", "min_tokens_note"),
    ("openai_breakpoint", "ttl_options_note"),
    ("deepseek", "granularity_note"),
    ("dashscope_implicit", "min_tokens_note"),
    ("cerebras", "granularity_note"),
}
IN_PRICES = {("gemini_explicit", "storage_usd_per_mtok_hour"), ("gemini_explicit", "storage_note")}
PATTERNS = {
    "amazon-nova": "amazon.nova*",
    "openai gpt-5.6": "*gpt-5.6*",
    "gemini-2.x": "gemini-2*",
    "gemini-3 family": "gemini-3*",
}


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(REFERENCE.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    """Every system as it stands in its file."""
    found: dict[str, Any] = {}
    for path in sorted(RULES.glob("*.toml")):
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).get("systems", {}).items():
            assert path.stem == name
            found[name] = table
    return found


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return Rulebook()


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (keys, scalar) of everything in a value; elements of a list share its keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif value is not None:
        yield path, value


def holds(table: Any, path: tuple[str, ...], value: Any) -> bool:
    """Say whether a table has the value at those keys: itself, in a list, or as a number of a band."""
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    if isinstance(table, dict):
        return value in table.values()
    if isinstance(table, list):
        return any(value == item or (isinstance(item, list) and value in item) for item in table)
    return bool(table == value)


def test_every_source_is_there_and_public(reference: dict[str, Any], book: Rulebook) -> None:
    for name, expected in reference["sources"].items():
        source = book.sources[name]
        assert source.title == expected["title"] or name == "litellm-2026-11-20"
        assert source.where
        assert (source.date, source.approximate) == (expected["date"], expected.get("date_approx", False))
        assert source.kind == expected["kind"]
    for path in RULES.rglob("*.toml"):
        text = path.read_text(encoding="utf-8").lower()
        assert "index file" not in text
        assert "docs corpus" not in text


def place(name: str, path: tuple[str, ...], value: Any) -> tuple[tuple[str, ...], Any]:
    """Return where a value of the reference stands in the facts, and in what form."""
    if (name, path[0]) in NOTES:
        return ("conflicts",), value.removeprefix("conflict: ")
    if path == ("lookup", "conflict"):
        return ("conflicts",), f"lookup boundaries: {value}"
    if path == ("min_tokens",) and isinstance(value, str):
        return ("min_tokens_note",), value
    if path[0] == "multipliers" and isinstance(value, str):
        return ("multipliers", f"{path[1]}_note"), value
    if path[0] == "min_tokens_by_model":  # Nova: 1,024 in one table, 1,000 and 1,536 in others
        return (path[0], PATTERNS.get(value, value)), 1000 if value == "amazon-nova" else int(path[1])
    for length in range(len(path), 0, -1):
        if path[:length] in MOVED:
            return (*MOVED[path[:length]], *path[length:]), value
    return path, value


@pytest.mark.parametrize("kind", ["hosted", "engines"])
def test_every_value_of_every_entry_is_there(kind: str, reference: dict[str, Any], tables: dict[str, Any]) -> None:
    missing = []
    for entry in reference[kind]:
        name, table = entry["id"], tables[entry["id"]]
        assert table["kind"] == kind.removesuffix("s")
        for path, value in leaves({key: value for key, value in entry.items() if key != "id"}):
            elsewhere = (name, path[0]) in IN_PRICES or (path[0] == "invalidation" and path[1] != "prefix_preserving")
            if not elsewhere and not holds(table, *place(name, path, value)):
                missing.append((name, path, value))
    assert not missing


def test_what_a_change_invalidates_is_there(reference: dict[str, Any], book: Rulebook) -> None:
    (entry,) = (entry for entry in reference["hosted"] if entry["id"] == "anthropic")
    found = {row.change: [row.tools, row.system, row.messages] for row in book.system("anthropic").invalidation}
    assert entry["invalidation"]["columns"] == ["tools", "system", "messages"]
    assert found == entry["invalidation"]["rows"]


def test_every_price_is_there(reference: dict[str, Any], book: Rulebook) -> None:
    for row in reference["models"]:
        found = book.prices.get(row["provider"], row["model"])
        assert found is not None, row["model"]
        price, usd = found.prices[0], row["usd_per_mtok"]
        shown = (price.input, price.cached_read, price.output, price.write, price.write_1h, price.write_12h)
        names = ("input", "cached_read", "output", "write", "write_1h", "write_12h")
        assert shown == tuple(usd.get(name) for name in names), row["model"]
        assert (price.rule, price.as_of, price.confidence.value) == (row["rule"], row["as_of"], row["confidence"])
        assert [source.id for source in price.sources] == row["source"]
        tiers = [(tier.tokens, tier.input, tier.cached_read, tier.write) for tier in price.above]
        wanted = [
            (t["above_tokens"], t["input"], t["cached_read"], t.get("write")) for t in row.get("long_context", [])
        ]
        assert tiers == wanted, row["model"]
        factors = row["multipliers"]
        assert price.read / price.input == pytest.approx(factors["read"], abs=1e-4)
        if "write" in factors:
            assert price.written / price.input == pytest.approx(factors["write"], abs=1e-4)


def test_every_model_has_the_rule_and_the_minimum_of_the_reference(reference: dict[str, Any], book: Rulebook) -> None:
    for row in reference["models"]:
        system = book.rules_for(row["model"], row["provider"])[0]
        assert system.id == row["rule"], row["model"]
        if row["min_tokens"] is not None:
            band = system.minimum(row["model"]) or Band(None, None)
            assert row["min_tokens"] in (band.low, band.stated, band.high), row["model"]


def test_storage_is_priced_by_model(reference: dict[str, Any], book: Rulebook) -> None:
    (explicit,) = (entry for entry in reference["hosted"] if entry["id"] == "gemini_explicit")
    for model, usd in explicit["storage_usd_per_mtok_hour"].items():
        found = book.prices.get("gemini", model)
        assert found is not None
        assert found.prices[0].storage_hour == usd


def test_what_makes_prefixes_volatile_is_there(reference: dict[str, Any], book: Rulebook) -> None:
    found = {cause.id: cause for cause in book.volatile()}
    for entry in reference["prefix_volatility"]:
        cause = found[entry["id"]]
        assert (cause.what, cause.volatility, cause.fix) == (entry["what"], entry["volatility"], entry["fix"])
        assert ([source.id for source in cause.sources], cause.as_of) == (entry["source"], entry["as_of"])
