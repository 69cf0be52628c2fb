"""A trace gives the figures of its log, and nothing else of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.logs import Log, logs
from support.reading import corpus_of

from prefixwise.analyzers.hitrate import Counts, hit_rate
from prefixwise.caches.policy import parse_policy
from prefixwise.core.errors import UserError
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.parquet import trace_bytes
from prefixwise.corpus.reader import ReadOptions

KEY, OTHER_KEY = b"k" * 32, b"q" * 32
MOONCAKE = Path(__file__).parents[3] / "shared" / "data" / "mooncake" / "conversation_trace.jsonl"

pytest.importorskip("pyarrow")
reads_files = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def traced(corpus: Corpus, path: Path, *, key: bytes = KEY, block: int = 0, share: bool = False) -> Corpus:
    assert corpus.index is not None
    path.write_bytes(trace_bytes(corpus.index, key, block, share))
    return read_corpus([str(path)])


def figures(corpus: Corpus, rules: list[str]) -> tuple[Counts, ...]:
    return hit_rate(corpus, rules).totals


@reads_files
@given(log=logs(), share=st.booleans())
def test_an_exact_trace_gives_every_figure_of_its_log(tmp_path: Path, log: Log, share: bool) -> None:
    corpus = corpus_of(log.data)
    trace = traced(corpus, tmp_path / "t.parquet", share=share)
    rules = ["vllm:block=16", "vllm:block=3", "sglang", "sglang:page=7,outputs=no"]
    assert figures(trace, rules) == figures(corpus, rules)
    for rule in rules:
        before, after = (parse_policy(rule).replay(c.rows) for c in (corpus, trace))
        assert list(after.matched) == list(before.matched)
        assert list(after.reason) == list(before.reason)
    for field in ("model", "tenant", "session", "replica", "family"):
        sizes = [
            [group.counts for group in hit_rate(c, by=[field]).by[field]]
            for c in (corpus, trace)
        ]  # fmt: skip
        assert sizes[0] == sizes[1]


@reads_files
@given(log=logs(), block=st.sampled_from([1, 4, 16]), share=st.booleans())
def test_a_trace_of_blocks_gives_the_figures_of_rules_in_multiples_of_them(
    tmp_path: Path, log: Log, block: int, share: bool
) -> None:
    corpus = corpus_of(log.data)
    trace = traced(corpus, tmp_path / "t.parquet", block=block, share=share)
    for unit in (block, 2 * block):
        for rule in (f"vllm:block={unit}", f"sglang:page={unit}", f"vllm:block={unit},outputs=no"):
            before, after = (parse_policy(rule).replay(c.rows) for c in (corpus, trace))
            assert list(after.matched) == list(before.matched)
    if block > 1:
        with pytest.raises(UserError, match=f"{block}-token blocks"):
            hit_rate(trace, [f"vllm:block={block - 1}"])


@reads_files
@given(log=logs(broken=False), block=st.sampled_from([1, 4, 16]), data=st.data())
def test_two_traces_of_one_key_joined_give_the_block_figures_of_the_joined_log(
    tmp_path: Path, log: Log, block: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(log.lines) - 1)) if len(log.lines) > 1 else 0
    halves = [log.lines[: cut + 1], log.lines[cut + 1 :]]
    paths = []
    for number, lines in enumerate(halves):
        if lines:
            index = corpus_of("\n".join(lines).encode()).index
            assert index is not None
            paths.append(tmp_path / f"{number}.parquet")
            paths[-1].write_bytes(trace_bytes(index, KEY, block))
    joined = read_corpus([str(path) for path in paths])
    whole = corpus_of(log.data)
    for rule in (f"vllm:block={block}", f"sglang:page={2 * block}"):
        assert list(parse_policy(rule).replay(joined.rows).matched) == list(
            parse_policy(rule).replay(whole.rows).matched
        )


def test_where_another_prompt_ends_inside_a_block_does_not_part_two_traces(tmp_path: Path) -> None:
    """The first file holds a prompt of 6 tokens and one that carries it on; the second only the latter."""
    short, long = {"model": "m", "prompt": list(range(6))}, {"model": "m", "prompt": list(range(12))}
    traced(corpus_of(short, long), tmp_path / "a.parquet", block=4)
    traced(corpus_of(long), tmp_path / "b.parquet", block=4)
    joined = read_corpus([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    assert list(parse_policy("sglang:page=4").replay(joined.rows).matched) == [0, 4, 8]


SALT, TENANT, SESSION, REPLICA = "salt-of-Initech", "tenant-Hooli", "session-4711", "replica-in-basement"
SECRET = "the merger with Umbrella closes on Friday"


def private_log() -> bytes:
    lines = []
    for number in range(3):
        body = {
            "model": "gpt-4o", "cache_salt": SALT, "prompt_cache_key": TENANT + "-key", "user": TENANT,
            "messages": [{"role": "system", "content": SECRET * 5}, {"role": "user", "content": f"{SECRET} {number}"}],
        }  # fmt: skip
        record = {
            "request": body,
            "tenant": TENANT,
            "session": SESSION,
            "replica": REPLICA,
            "ts": 1_700_000_000 + number,
        }
        record["response"] = {"choices": [{"message": {"role": "assistant", "content": SECRET}}]}
        lines.append(json.dumps(record))
    return "\n".join(lines).encode()


@pytest.mark.parametrize("share", [False, True])
def test_no_text_and_no_salt_is_in_a_trace_and_no_name_in_a_shared_one(tmp_path: Path, share: bool) -> None:
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    trace = traced(corpus_of(private_log()), path, share=share)
    table = pyarrow.parquet.read_table(path)
    # Every value there is, decompressed, and the file's own bytes with its metadata.
    held = path.read_bytes() + json.dumps(table.to_pydict()).encode() + repr(table.schema.metadata).encode()
    for text in (SECRET, "merger", "Umbrella", SALT, TENANT + "-key"):
        assert text.encode() not in held
    names = (TENANT, SESSION, REPLICA)
    assert [name.encode() in held for name in names] == [not share] * 3
    if share:
        assert trace.rows.tenants.names == ["tenant-0"]
        assert str(tmp_path).encode() not in held


def ids_in(path: Path) -> list[list[int]]:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).column("block_ids").to_pylist()


@pytest.mark.parametrize("block", [0, 16])
def test_ids_depend_on_the_key_and_shared_ids_are_dense_numbers(tmp_path: Path, block: int) -> None:
    corpus = corpus_of(private_log())
    paths = [tmp_path / f"{n}.parquet" for n in range(4)]
    for path, key, share in zip(paths, (KEY, KEY, OTHER_KEY, KEY), (False, False, False, True), strict=True):
        traced(corpus, path, key=key, block=block, share=share)
    mine, again, others, shared = ({i for ids in ids_in(path) for i in ids} for path in paths)
    assert mine == again
    assert mine.isdisjoint(others)
    assert len(shared) == len(mine)
    assert max(shared) < 2 * len(shared) + 10
    assert min(shared) == 0


def test_a_shared_trace_is_not_joined_by_its_numbers(tmp_path: Path) -> None:
    """The first id of every shared trace is 0, which means another prefix in each."""
    for name, text in (("a", "alpha " * 40), ("b", "beta " * 40)):
        body = {"model": "gpt-4o", "prompt": text}
        traced(corpus_of(json.dumps(body).encode()), tmp_path / f"{name}.parquet", block=16, share=True)
    joined = read_corpus([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    assert list(parse_policy("vllm:block=16").replay(joined.rows).matched) == [0, 0]


def test_markers_usage_and_times_come_back(tmp_path: Path) -> None:
    body = {
        "model": "claude-opus-5",
        "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    written = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2, "output_tokens": 3}
    record = {"request": body, "start_time": "2026-11-30T10:00:00Z", "latency_ms": 1500, "ttft_ms": 250}
    record["usage"] = {**usage, "cache_creation": written}
    corpus = corpus_of(json.dumps(record).encode())
    rows, back = corpus.rows, traced(corpus, tmp_path / "t.parquet").rows
    assert back.markers == rows.markers
    assert len(rows.markers[0]) == 1
    for column in (
        "reported_prompt",
        "reported_cached",
        "reported_written",
        "reported_written_long",
        "reported_output",
        "start",
        "end",
        "ttft",
        "system_end",
    ):
        assert list(getattr(back, column)) == list(getattr(rows, column)), column
    assert (rows.reported_prompt[0], rows.reported_cached[0], rows.reported_written[0], rows.reported_output[0]) == (
        14,
        7,
        2,
        3,
    )
    assert list(back.reported_written_long) == [1]


def test_traces_of_different_block_sizes_and_traces_with_logs_are_refused(tmp_path: Path) -> None:
    corpus = corpus_of(private_log())
    traced(corpus, tmp_path / "a.parquet", block=16)
    traced(corpus, tmp_path / "b.parquet", block=32)
    (tmp_path / "log.jsonl").write_bytes(private_log())
    with pytest.raises(UserError, match="different block sizes"):
        read_corpus([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    with pytest.raises(UserError, match="cannot be counted together"):
        read_corpus([str(tmp_path / "a.parquet"), str(tmp_path / "log.jsonl")])


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1garbagePAR1", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_damaged_trace_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(UserError, match="not a prefixwise trace"):
        read_corpus([str(tmp_path / "t.parquet")])


def test_somebody_elses_parquet_is_one_clear_error(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match="no request could be read: no request found in a record with the keys a"):
        read_corpus([str(tmp_path / "t.parquet")])


# -- Mooncake ---------------------------------------------------------------------------------------------------


def mooncake(*requests: tuple[int, int, list[int]]) -> bytes:
    lines = [
        json.dumps({"timestamp": at, "input_length": length, "output_length": 9, "hash_ids": ids})
        for at, length, ids in requests
    ]
    return ("\n".join(lines) + "\n").encode()


def test_a_small_mooncake_trace_by_hand() -> None:
    """Blocks of 4: 10 tokens are 4 + 4 + 2; the third prompt repeats the first, the second shares a block with it."""
    data = mooncake((0, 10, [0, 1, 2]), (1000, 8, [0, 3]), (2000, 10, [0, 1, 2]), (3000, 13, [0, 1, 4, 5]))
    corpus = corpus_of(data)
    assert corpus.rows.tree.grain == 4
    assert list(corpus.rows.start) == [0.0, 1.0, 2.0, 3.0]
    result = hit_rate(corpus, ["vllm:block=4", "vllm:block=8"])
    by_rule = {counts.rule: counts for counts in result.totals}
    assert by_rule["ceiling"].prompt_tokens == 41
    assert by_rule["ceiling"].cached_tokens == 0 + 4 + 10 + 8
    assert by_rule["vllm:block=4"].cached_tokens == 0 + 4 + 8 + 8
    assert by_rule["vllm:block=8"].cached_tokens == 0 + 0 + 8 + 8
    assert "reported" not in by_rule
    assert "12 block accesses, 6 distinct, 6 repeats (50.00 % of blocks)" in corpus.facts[0]


@pytest.mark.parametrize(
    ("requests", "block"),
    [
        ([(0, 6758, list(range(14))), (0, 7322, list(range(15)))], 512),
        ([(0, 512, [1]), (0, 513, [1, 2])], 512),
        ([(0, 300, [1])], 512),
        ([(0, 100, [1, 2, 3, 4, 5, 6, 7])], 16),
        ([(0, 30, [1, 2, 3])], 10),  # no power of two has 30 tokens in three blocks
    ],
)
def test_the_block_size_is_found_from_lengths_and_counts(
    requests: list[tuple[int, int, list[int]]], block: int
) -> None:
    assert corpus_of(mooncake(*requests)).rows.tree.grain == block


def test_lines_that_fit_no_block_size_are_broken_records() -> None:
    data = mooncake((0, 10, [0, 1, 2])) + mooncake((1, 10, [0, 1])) + mooncake((2, 0, [])) + b"{}\n" + b"{\n"
    corpus = corpus_of(data)
    assert len(corpus.rows) == 1
    assert [broken.line for broken in corpus.broken] == [2, 3, 4, 5]
    assert corpus.inputs[0].broken == 4


def test_a_rule_finer_than_the_trace_is_refused_with_the_reason() -> None:
    corpus = corpus_of(mooncake((0, 6758, list(range(14)))))
    with pytest.raises(UserError) as problem:
        hit_rate(corpus, ["vllm:block=16"])
    assert "512-token blocks" in str(problem.value)
    assert "block=512" in problem.value.help
    assert [counts.rule for counts in hit_rate(corpus).totals] == ["vllm:block=512", "sglang:page=512", "ceiling"]


@pytest.mark.skipif(not MOONCAKE.exists(), reason="the Mooncake trace is not in this checkout")
def test_the_shared_mooncake_conversation_trace_has_its_published_figures() -> None:
    corpus = read_corpus([str(MOONCAKE)], ReadOptions())
    (fact,) = corpus.facts
    assert "512-token blocks: 288,500 block accesses, 182,790 distinct, 105,710 repeats" in fact
    assert round(105_710 / 288_500, 4) == 0.3664
    assert "36.64 %" in fact
    result = hit_rate(corpus, ["vllm:block=512"])
    by_rule = {counts.rule: counts for counts in result.totals}
    assert by_rule["ceiling"].prompt_tokens == 144_793_823
    assert round(by_rule["ceiling"].hit_rate or 0, 4) == 0.3736
    assert round(by_rule["vllm:block=512"].hit_rate or 0, 4) == 0.3734
    with pytest.raises(UserError, match="512-token blocks"):
        hit_rate(corpus, ["vllm:block=16"])
