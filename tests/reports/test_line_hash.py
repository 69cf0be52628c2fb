"""GitHub's fingerprint of a line, by the vectors that github/codeql-action publishes in `src/fingerprints.test.ts`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.reports.line_hash import line_hashes

GREETINGS = (
    "e9496ae3ebfced30:1 fb7c023a8b9ccb3f:1 ce8ba1a563dcdaca:1 e20e36e16fcb0cc8:1 b3edc88f2938467e:1 "
    "c8e28b0b4002a3a0:1 c129715d7a2bc9a3:1"
)


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", "c129715d7a2bc9a3:1"),
        (" a\nb\n  \t\tc\n d", "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1"),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
            "8b7cf3e952e7aeb2:1 b1ae1287ec4718d9:1 bff680108adb0fcc:1 c6805c5e1288b612:1 b86d3392aea1be30:1 "
            "e6ceba753e1a442:1",
        ),
        (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", GREETINGS),
        (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", GREETINGS),
        (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", GREETINGS),
        (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", GREETINGS),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            "a7f2ff13bc495cf2:1 a7f2ff13bc495cf2:2 a7f2ff13bc495cf2:3 a7f2ff13bc495cf2:4 a7f2ff13bc495cf2:5 "
            "a7f2ff13bc495cf2:6 a7f2ff1481e87703:1 a9cf91f7bbf1862b:1 55ec222b86bcae53:1 cc97dc7b1d7d8f7b:1 "
            "c129715d7a2bc9a3:1",
        ),
        (
            "x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n",
            "e54938cc54b302f1:1 bb609acbe9138d60:1 1131fd5871777f34:1 5c482a0f8b35ea28:1 54517377da7028d2:1 "
            "2c644846cb18d53e:1 f1b89f20de0d133:1 c129715d7a2bc9a3:1",
        ),
    ],
)
def test_the_published_vectors(text: str, hashes: str) -> None:
    wanted = dict(enumerate(hashes.split(), 1))
    assert line_hashes(text, range(1, len(wanted) + 5)) == wanted
    assert line_hashes(text, [len(wanted)]) == {len(wanted): wanted[len(wanted)]}


# Units whose halves look like a line feed: U+0A00 in front of U+000A's neighbours.
@given(st.text("ab\n\r \t\u0a00\u000a\u0100\U0001f600", max_size=300))
def test_every_line_has_one_hash_of_its_own(text: str) -> None:
    lines = len(re.split(r"\r\n|\r|\n", text))
    hashes = line_hashes(text, range(1, lines + 2))
    assert list(hashes) == list(range(1, lines + 1))
    assert len(set(hashes.values())) == lines


def test_a_line_that_moves_keeps_its_hash() -> None:
    text = "The date is {{ now() }}.\n" + "Answer briefly, politely and in the language of the question. " * 3
    assert line_hashes("# a new line\n\n" + text, [3])[3] == line_hashes(text, [1])[1]
