"""vLLM's block hashes: values printed by vLLM 0.32.0's own functions on Python 3.11."""

from __future__ import annotations

import pickle

import pytest

from prefixwise.caches.block_keys import Content
from prefixwise.caches.vllm_hashes import PICKLE_PROTOCOL, Adapter, block_hashes, none_hash, pool_key


def starts(hashes: list[bytes]) -> list[str]:
    return [block_hash.hex()[:16] for block_hash in hashes]


def test_the_hash_before_the_first_block() -> None:
    assert none_hash().hex() == "066b1e8987e027138e98701c46128929378935f9b6cd1549105ae6b4f0d71198"


def test_two_blocks_and_a_salt() -> None:
    assert starts(block_hashes(range(32), 16)) == ["fe8fa5dda3210d0c", "8be7aaa33831156d"]
    assert starts(block_hashes(range(16), 16, cache_salt="tenant-a")) == ["255b152c89e76327"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"cache_salt": "tenant-a"}, ["d690dc8ac69f56ea", "c3f5e4841f62f7bd"]),
        ({"adapter": Adapter("sql", "/p/sql")}, ["c104840b7fbc1896", "d9848eeed899241c"]),
        ({"contents": [Content(3, 9, "ab" * 32)]}, ["0d7cf1825ec337c4", "b72b132d407c6703"]),
        (
            {
                "cache_salt": "s",
                "adapter": Adapter("sql", "/p/sql"),
                "contents": [Content(1, 2, "img-1"), Content(5, 30, "img-2")],
            },
            ["22ee96796eee3de0", "24fbd06e878b8485"],
        ),
    ],
)
def test_extra_keys_of_40_tokens_from_100_on(keys: dict[str, object], expected: list[str]) -> None:
    assert starts(block_hashes(range(100, 140), 16, **keys)) == expected  # type: ignore[arg-type]


def test_cbor_is_what_cbor2_writes_in_canonical_form() -> None:
    assert none_hash("sha256_cbor").hex()[:16] == "9bd96a485ad84efd"
    sizes = [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 151643, 1, 2, 3, 4, 5, 6]
    hashes = block_hashes(
        [*sizes, *range(16)], 16, algorithm="sha256_cbor", cache_salt="tenant-ä", adapter=Adapter("a", "/p/a")
    )
    assert starts(hashes) == ["66ea6fce0218def8", "5aaffabed39f785e"]


def test_the_highest_pickle_protocol_of_this_python_is_the_one_that_the_hashes_use() -> None:
    assert pickle.HIGHEST_PROTOCOL == PICKLE_PROTOCOL


def test_a_text_that_stands_twice_in_a_block_is_written_twice() -> None:
    same = "image"
    twice = [Content(0, 2, same), Content(2, 2, same)]
    other = [Content(0, 2, "".join(["im", "age"])), Content(2, 2, "".join(["ima", "ge"]))]
    assert block_hashes(range(4), 4, contents=twice) == block_hashes(range(4), 4, contents=other)


def test_a_pool_key_ends_with_the_group() -> None:
    assert pool_key(b"h" * 32, 3) == b"h" * 32 + b"\x00\x00\x00\x03"
