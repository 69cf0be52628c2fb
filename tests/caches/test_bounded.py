"""Bounded caches: against models that keep plain lists, and against published figures of a public trace."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import Log, logs
from support.reading import corpus_of

from prefixwise.caches.block_caches import FirstIn, LeastFrequent, LeastRecent, TimeToLive
from prefixwise.caches.capacity import for_model
from prefixwise.caches.chain_replay import ChainReplay
from prefixwise.caches.model_shape import parse_model_shape
from prefixwise.caches.policy import Reason, parse_policy
from prefixwise.caches.units import Units
from prefixwise.core.errors import UserError
from prefixwise.corpus.corpus import Corpus, read_corpus

MOONCAKE = Path(__file__).parents[3] / "shared" / "data" / "mooncake" / "conversation_trace.jsonl"
needs_mooncake = pytest.mark.skipif(not MOONCAKE.is_file(), reason="the public trace is not here")

# -- blocks -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(log=logs(), size=st.sampled_from([1, 2, 5, 16]))
def test_two_units_have_one_number_where_all_tokens_up_to_their_ends_agree(log: Log, size: int) -> None:
    corpus = corpus_of(log.data)
    units = Units(corpus.rows, size)
    ends: dict[int, tuple[object, ...]] = {}
    for row, request in enumerate(log.served):
        numbers = units.on_path(corpus.rows.node[row])
        root = corpus.rows.node[row]  # of another vocabulary, ids mean something else
        while corpus.rows.tree.parent[root] >= 0:
            root = corpus.rows.tree.parent[root]
        assert len(numbers) == len(request.prompt) // size
        for index, number in enumerate(numbers, 1):
            prefix = (root, *request.prompt[: index * size])
            assert ends.setdefault(number, prefix) == prefix
    assert len(set(ends.values())) == len(ends)


# -- eviction orders, against lists -----------------------------------------------------------------------------------

PATHS = [[0], [0, 1], [0, 1, 2], [0, 1, 3], [0, 4], [5], [5, 6], [5, 6, 7], [5, 8], [9, 10, 11, 12]]
STREAMS = st.lists(st.sampled_from(PATHS), max_size=60)


def leading(held: list[int], blocks: list[int]) -> int:
    return next((n for n, block in enumerate(blocks) if block not in held), len(blocks))


@settings(max_examples=200, deadline=None)
@given(stream=STREAMS, capacity=st.integers(1, 9), leaf_first=st.booleans())
def test_least_recent_keeps_the_last_used(stream: list[list[int]], capacity: int, leaf_first: bool) -> None:
    cache, held = LeastRecent(capacity, leaf_first=leaf_first), []
    for blocks in stream:
        assert cache.serve(blocks, 0.0) == leading(held, blocks)
        for block in blocks[::-1] if leaf_first else blocks:
            held = [*(other for other in held if other != block), block][-capacity:]


@settings(max_examples=200, deadline=None)
@given(stream=STREAMS, capacity=st.integers(1, 9))
def test_first_in_goes_first(stream: list[list[int]], capacity: int) -> None:
    cache, anywhere, held = FirstIn(capacity, anywhere=False), FirstIn(capacity, anywhere=True), []
    for blocks in stream:
        first = leading(held, blocks)
        found = 0
        for block in blocks:
            if block in held:
                found += 1
            else:
                held = [*held, block][-capacity:]
        assert (cache.serve(blocks, 0.0), anywhere.serve(blocks, 0.0)) == (first, found)


@settings(max_examples=200, deadline=None)
@given(stream=STREAMS, capacity=st.integers(1, 9))
def test_least_frequent_counts_while_a_block_is_there(stream: list[list[int]], capacity: int) -> None:
    cache, uses, since = LeastFrequent(capacity), {}, {}
    clock = 0
    for blocks in stream:
        assert cache.serve(blocks, 0.0) == leading(list(uses), blocks)
        for block in blocks:
            clock += 1
            if block not in uses and len(uses) == capacity:
                del uses[min(uses, key=lambda other: (uses[other], since[other]))]
            uses[block], since[block] = uses.get(block, 0) + 1, clock


@settings(max_examples=200, deadline=None)
@given(stream=st.lists(st.tuples(st.sampled_from(PATHS), st.integers(0, 9)), max_size=40), refresh=st.booleans())
def test_a_block_lives_so_long(stream: list[tuple[list[int], int]], refresh: bool) -> None:
    cache, since, now = TimeToLive(10, refresh=refresh), {}, 0.0
    for blocks, pause in stream:
        now += pause
        alive = [block for block, then in since.items() if now - then <= 10]
        hits = leading(alive, blocks)
        assert cache.serve(blocks, now) == hits
        for block in blocks if refresh else blocks[hits:]:
            since[block] = now


# -- vLLM's pool, by hand ---------------------------------------------------------------------------------------------


def test_a_prompt_that_is_cached_whole_computes_its_last_block_again() -> None:
    pool = ChainReplay(10, 4)
    assert pool.serve([0, 1], 8, 0, 0, [], 8) == 0
    assert pool.serve([0, 1], 8, 1, 1, [], 8) == 4
    assert pool.serve([0, 1, 2], 12, 2, 2, [], 12) == 8


def test_chains_are_eaten_from_their_ends_and_unfilled_blocks_are_used_again_first() -> None:
    pool = ChainReplay(4, 4)
    pool.serve([0, 1, 2], 14, 0, 0, [], 14)  # three whole blocks and a part of a fourth
    assert pool.serve([5], 4, 1, 1, [], 4) == 0  # takes the fourth
    assert pool.serve([0, 1, 2], 13, 2, 2, [], 13) == 12  # all three are still there, the new fourth pushes block 5 out
    assert pool.serve([5], 4, 3, 3, [], 4) == 0
    assert pool.serve([6], 4, 4, 4, [], 4) == 0  # pushes out block 2, the end of the older chain
    assert pool.serve([0, 1, 2], 13, 5, 5, [], 13) == 8


def test_running_requests_hold_their_blocks_and_what_has_no_room_is_served_nothing() -> None:
    pool = ChainReplay(3, 4)
    pool.serve([0, 1], 8, 0, 10, [], 8)
    assert pool.serve([5, 6], 8, 1, 2, [], 8) == 0  # one block is free, two are wanted: not admitted
    assert pool.serve([0], 5, 2, 3, [], 5) == 4  # shares block 0 while the first one runs
    assert pool.serve([5, 6], 8, 11, 11, [], 8) == 0  # now there is room
    assert pool.serve([5, 6], 8, 12, 12, [], 8) == 4


def test_answers_fill_blocks_when_they_end() -> None:
    pool = ChainReplay(10, 4)
    pool.serve([0], 6, 0, 5, [1, 2], 13)  # prompt of 6 and answer of 7 tokens: blocks 0, 1, 2 and a part
    assert pool.serve([0, 1, 2], 13, 1, 1, [], 13) == 4
    pool = ChainReplay(10, 4)
    pool.serve([0], 6, 0, 5, [1, 2], 13)
    assert pool.serve([0, 1, 2], 13, 6, 6, [], 13) == 12


@settings(max_examples=300, deadline=None)
@given(stream=st.lists(st.tuples(st.sampled_from(PATHS), st.integers(0, 3)), max_size=40), capacity=st.integers(1, 12))
def test_a_request_that_runs_alone_is_served_as_one_that_holds_its_blocks(
    stream: list[tuple[list[int], int]], capacity: int
) -> None:
    alone, holding = ChainReplay(capacity, 4), ChainReplay(capacity, 4)
    for now, (blocks, rest) in enumerate(stream):
        tokens = 4 * len(blocks) + rest
        served = alone.serve(blocks, tokens, now, now, [], tokens)
        assert holding.serve(blocks, tokens, now, now + 0.5, [], tokens) == served


@settings(max_examples=60, deadline=None)
@given(log=logs(), block=st.sampled_from([2, 16]), outputs=st.sampled_from(["yes", "no"]))
def test_a_pool_with_room_for_all_serves_what_an_unbounded_one_does(log: Log, block: int, outputs: str) -> None:
    rows = corpus_of(log.data).rows
    whole = parse_policy(f"vllm:block={block},outputs={outputs}").replay(rows)
    bounded = parse_policy(f"vllm:block={block},outputs={outputs},capacity=1000000").replay(rows)
    assert bounded.matched == whole.matched
    assert bounded.reason == whole.reason


def test_what_was_pushed_out_is_said_to_be_evicted(tmp_path: Path) -> None:
    bodies = [{"model": "m", "prompt_token_ids": [base + n for n in range(64)]} for base in (0, 100, 200, 0)]
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(body) for body in bodies))
    rows = read_corpus([str(tmp_path / "log.jsonl")]).rows
    replay = parse_policy("vllm:block=16,capacity=8").replay(rows)
    assert list(replay.matched) == [0, 0, 0, 0]
    assert Reason(replay.reason[3]) is Reason.EVICTED
    assert list(parse_policy("vllm:block=16,capacity=12").replay(rows).matched) == [0, 0, 0, 48]


# -- capacities -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "blocks"),
    [("5000", 5000), ("5000blocks", 5000), ("2Mtokens", 125_000), ("1.5ktokens", 93), ("100tokens", 6)],
)
def test_a_capacity_is_blocks_or_tokens(given: str, blocks: int) -> None:
    assert parse_policy(f"vllm:block=16,capacity={given}").label == f"vllm:block=16,capacity={blocks}"


@pytest.mark.parametrize("given", ["0", "x", "-5", "5parsecs", "3tokens", "40GiB", "1e30"])
def test_a_capacity_that_is_none_is_one_clear_error(given: str) -> None:
    with pytest.raises(UserError, match="capacity"):
        parse_policy(f"vllm:block=16,capacity={given}")


SHAPES = {
    "layers=30,kv_heads=3,head_size=64,dtype=fp32": 46_080,  # SmolLM2-135M, section 3.1 of the engine reference
    "layers=36,kv_heads=8,head_size=128": 147_456,
    "layers=61,latent=512,rope=64,dtype=bf16": 70_272,  # DeepSeek-V3
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_capacity_in_bytes_is_that_of_the_models_keys_and_values(shape: str) -> None:
    assert parse_model_shape(shape).token_bytes == SHAPES[shape]
    (rule,) = for_model(["vllm:block=16,capacity=40GiB"], shape)
    blocks = 40 * 2**30 // (16 * SHAPES[shape])
    assert parse_policy(rule).label == f"vllm:block=16,capacity={blocks}"


CONFIGS = {
    "llama": ({"num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "hidden_size": 512}, 1024),
    "gpt2": ({"num_hidden_layers": 2, "num_attention_heads": 8, "hidden_size": 512, "torch_dtype": "float32"}, 8192),
    "deepseek": (
        {
            "num_hidden_layers": 2,
            "num_attention_heads": 8,
            "hidden_size": 512,
            "kv_lora_rank": 96,
            "qk_rope_head_dim": 32,
        },
        512,
    ),
    "vision": ({"text_config": {"num_hidden_layers": 1, "num_attention_heads": 4, "head_dim": 8}}, 128),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_models_config_says_its_shape(tmp_path: Path, name: str) -> None:
    config, size = CONFIGS[name]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert parse_model_shape(str(tmp_path)).token_bytes == size
    assert parse_model_shape(str(tmp_path / "config.json")).token_bytes == size


@pytest.mark.parametrize(
    "shape", ["nothing.json", "layers=2", "layers=x,kv_heads=1,head_size=1", "layers=2,dtype=b1", "a=1"]
)
def test_a_shape_that_is_none_is_one_clear_error(shape: str) -> None:
    with pytest.raises(UserError):
        parse_model_shape(shape)


# -- the public trace -------------------------------------------------------------------------------------------------

# Section 3.1 of the routing reference: hit rate by blocks / by tokens at 1,000 to 100,000 blocks of 512 tokens.
SIZES = (1_000, 5_000, 10_000, 30_000, 50_000, 100_000)
PUBLISHED = {
    "lru:block=512,order=root": (
        ".0445/.0454", ".1104/.1125", ".2112/.2153", ".3257/.3321", ".3546/.3615", ".3637/.3708",
    ),
    "lru:block=512,order=leaf": (
        ".0445/.0454", ".1118/.1140", ".2116/.2157", ".3257/.3322", ".3546/.3615", ".3637/.3708",
    ),
    "lfu:block=512": (".0481/.0490", ".0923/.0941", ".1318/.1344", ".2759/.2813", ".3438/.3506", ".3631/.3702"),
    "fifo:block=512,anywhere=yes": (
        ".0435/.0444", ".1067/.1088", ".1865/.1902", ".3021/.3080", ".3400/.3467", ".3593/.3663",
    ),
}  # fmt: skip
LIVES = {
    "ttl:block=512,seconds=60": ".1054", "ttl:block=512,seconds=60,refresh=miss": ".0957",
    "ttl:block=512,seconds=300": ".2934", "ttl:block=512,seconds=300,refresh=miss": ".2570",
    "ttl:block=512,seconds=600": ".3501", "ttl:block=512,seconds=600,refresh=miss": ".3150",
    "ttl:block=512,seconds=3600": ".3736",
}  # fmt: skip
# Section 3.2: hit tokens of the last half of the requests under leaf-first LRU, by kvcache-simulator 0.1.3.
SECOND_HALF = {
    1_000: 3_173_822, 5_000: 7_676_186, 5_859: 9_286_131, 10_000: 14_910_149, 30_000: 23_347_784,
    50_000: 25_582_964, 97_656: 26_607_988,
}  # fmt: skip


@pytest.fixture(scope="module")
def mooncake() -> Corpus:
    return read_corpus([str(MOONCAKE)])


def rate(corpus: Corpus, rule: str) -> str:
    rows = corpus.rows
    return f"{sum(parse_policy(rule).replay(rows).matched) / sum(rows.prompt_tokens):.4f}".removeprefix("0")


def both_rates(corpus: Corpus, rule: str) -> str:
    rows = corpus.rows
    matched = parse_policy(rule).replay(rows).matched
    blocks = sum(-(-hit // 512) for hit in matched) / sum(-(-tokens // 512) for tokens in rows.prompt_tokens)
    return f"{blocks:.4f}/{sum(matched) / sum(rows.prompt_tokens):.4f}".replace("0.", ".")


@needs_mooncake
@pytest.mark.parametrize("rule", PUBLISHED)
def test_eviction_orders_give_the_published_rates(mooncake: Corpus, rule: str) -> None:
    found = tuple(both_rates(mooncake, f"{rule},capacity={size}") for size in SIZES)
    assert found == PUBLISHED[rule]


@needs_mooncake
@pytest.mark.parametrize("rule", LIVES)
def test_lifetimes_give_the_published_rates(mooncake: Corpus, rule: str) -> None:
    assert rate(mooncake, rule) == LIVES[rule]


@needs_mooncake
@pytest.mark.parametrize("size", SECOND_HALF)
def test_the_second_half_gets_what_another_simulator_gives_to_the_token(mooncake: Corpus, size: int) -> None:
    matched = parse_policy(f"lru:block=512,capacity={size}").replay(mooncake.rows).matched
    assert sum(matched[len(matched) // 2 :]) == SECOND_HALF[size]


def test_a_million_block_accesses_a_second() -> None:
    pool = ChainReplay(2_000, 16)
    prompts = [list(range(app * 10_000, app * 10_000 + 100 + turn * 3)) for app in range(30) for turn in range(100)]
    accesses = sum(map(len, prompts))
    start = time.process_time()
    for prompt in prompts[::-1]:
        pool.serve(prompt, 16 * len(prompt) + 5, 0, 0, [], 16 * len(prompt) + 5)
    assert accesses / (time.process_time() - start) > 300_000  # a third of what is measured, for loaded machines
