from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.core.excerpt import LIMIT, UNSAFE, Excerpts, excerpt, excerpt_around, mask, visible

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)

SECRETS = {
    "key": [
        "sk-abcdefghijklmnopqrstuvwx",
        "sk-proj-Ab1_cdefghijklmnopqrstuvwx",
        "sk-ant-api03-Zm9vYmFyYmF6cXV4-AbCdEfGhIj",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "glpat-abcdefghijklmnopqrst",
        "xoxb-123456789012-abcdefghijkl",
        "AIzaSyD-abcdefghijklmnopqrstuvwxyz012345",
        "hf_abcdefghijklmnopqrstuvwxyz",
    ],
    "token": ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    "email": ["alice@example.com", "a.b+c@mail.example.co.uk", "zoë@exämple.org", "alice%40example.com"],
    "phone": ["+49 30 1234567", "+1-555-123-4567", "(555) 123-4567", "555-123-4567"],
    "card": ["4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004", "3782 822463 10005"],
    "iban": ["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "FR14 2004 1010 0505 0001 3M02 606"],
}
ALL_SECRETS = [(kind, secret) for kind, secrets in SECRETS.items() for secret in secrets]

# Text that shares the shape but not the meaning.
HARMLESS = [
    "risk-assessment-for-the-whole-department",
    "react@18.2.0",
    "1700000000000000",
    "2026-11-30T10:00:00+00:00",
    "4111111111111112",
    "0.4111111111111111",
    "bearer of good news",
    "the password must be changed",
    'password = os.environ["PASSWORD"]',
    "api_key={{ api_key }}",
    "max_tokens=4096, token: 5",
    "a +1.23456789 b",
    "DE89370400440532013001",
    "http://example.com/a:b",
    "block_size=16 prefix_hash=0123456789abcdef",
]

ADVERSARIAL = (
    *("a", "eyJ", "eyJa.", "sk-", "sk-a ", "1", "4111 ", "+1", "a@", "a@a.", "@", "a.", 'password="', "password: "),
    *("api_key", "-----BEGIN PRIVATE KEY-----", "-----END ", "AB12 ", "AB12", "Bearer 1", "authorization: "),
    *("://a:", "://", "tel 1", "(555) ", "555-", "\\n", "a%40", " ", "é", "\x1b", "##[", "::"),
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcödé, 漢字, 🙂", "plain text, ünïcödé, 漢字, 🙂"),
        ("a\x1b[31mb\x9bc\x00\x07\x7f", r"a\x1b[31mb\x9bc\x00\x07\x7f"),
        ("line\nbreak\ttab\rreturn", r"line\nbreak\ttab\rreturn"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("zero\u200bwidth\u200d\ufeff\u00ad\u2060", r"zero\u200bwidth\u200d\ufeff\xad\u2060"),
        ("a\u00a0b\u2009c\u3000d", r"a\xa0b\u2009c\u3000d"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("tag\U000e0041 vs\ufe0f", r"tag\U000e0041 vs\ufe0f"),
        ("lone \ud800", r"lone \ud800"),
        ("e\u0301", r"e\u0301"),
        ("::error::x", r"\x3a:error::x"),
        ("  ::error::x", r"  \x3a:error::x"),
        ("a::b", "a::b"),
        ("x ##[error]y ##vso[task]", r"x #\x23[error]y #\x23vso[task]"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_invisible_character_of_the_unicode_tables_stays() -> None:
    visible_formats = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(0x110000):
        character = chr(code)
        hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
        if hidden and character != " " and code not in visible_formats:
            assert UNSAFE.fullmatch(character), hex(code)


@given(ANY_TEXT)
def test_visible_text_is_printable_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert not UNSAFE.search(shown)
    assert not shown.lstrip().startswith("::")
    assert "##[" not in shown
    assert visible(shown) == shown
    shown.encode()


@given(st.text("ab c漢é"), st.text("\u200b\u00a0\u202e\ufe0f\u0301\n", min_size=1), st.text("ab c"))
def test_two_texts_that_look_alike_differ_when_visible(before: str, hidden: str, after: str) -> None:
    assert visible(before + hidden + after) != visible(before + after)


@pytest.mark.parametrize(("kind", "secret"), ALL_SECRETS)
@pytest.mark.parametrize("around", ["{}", "say {} now", '{{"x": "{}"}}', "line\\n{}", "({})", "{}, 12/26", "x={}"])
def test_secrets_are_masked_wherever_they_stand(kind: str, secret: str, around: str) -> None:
    masked = mask(around.format(secret))
    assert f"[masked:{kind}]" in masked
    assert secret[4:12] not in masked
    assert mask(masked) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter2x", "password=[masked:password]"),
        ("DB_PASSWORD = 'correct horse battery'", "DB_PASSWORD = '[masked:password]'"),
        ('{"api_key": "0123456789abcdef"}', '{"api_key": "[masked:password]"}'),
        ('{\\"api_key\\": \\"abcdef\\"}', '{\\"api_key\\": \\"[masked:password]\\"}'),
        ("api_key: abc123def456", "api_key: [masked:password]"),
        ("?access_token=abcdefghij&x=1", "?access_token=[masked:password]&x=1"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [masked:token]"),
        ("authorization: basic dXNlcjpwYXNz1", "authorization: basic [masked:token]"),
        ("postgres://bob:s3cret@db/x", "postgres://bob:[masked:password]@db/x"),
        ("phone: 030 1234567", "phone: [masked:phone]"),
        ("DE89 3704 0044 0532 0130 00 THANKS", "[masked:iban] THANKS"),
    ],
)
def test_only_the_secret_part_of_an_assignment_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


def test_a_private_key_is_masked_to_its_end_or_the_end_of_the_text() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"
    assert mask(f"a {key} b") == "a [masked:private-key] b"
    assert mask(f"a {key[:50]}") == "a [masked:private-key]"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text) == text


@given(ANY_TEXT)
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize("seed", ADVERSARIAL)
def test_no_text_makes_the_search_slow(seed: str) -> None:
    text = (seed * 100_000)[:100_000]
    started = time.process_time()
    mask(text)
    visible(text)
    # Quadratic time would be minutes; linear time is 0.1 s to 1 s.
    assert time.process_time() - started < 10


@pytest.mark.parametrize("side", ["head", "tail"])
@pytest.mark.parametrize(("kind", "secret"), ALL_SECRETS)
def test_no_cut_shows_a_secret_in_part(kind: str, secret: str, side: str) -> None:
    for offset in range(60):
        filler = ("word " * 20)[:offset] + " "
        text = filler + secret + " " + "word " * 400 if side == "head" else "word " * 400 + " " + secret + filler[::-1]
        shown = excerpt(text, limit=LIMIT, side=side)  # type: ignore[arg-type]
        assert len(shown) <= LIMIT
        assert set(shown.replace("[masked:" + kind + "]", "")) <= set("word …"), shown


@given(ANY_TEXT, st.integers(1, 60), st.sampled_from(["head", "tail"]))
def test_an_excerpt_keeps_to_its_limit(text: str, limit: int, side: str) -> None:
    shown = excerpt(text, limit=limit, side=side)  # type: ignore[arg-type]
    assert not UNSAFE.search(shown)
    if not UNSAFE.search(text) and ":" not in text and "#" not in text:
        assert len(shown) <= limit


def test_modes() -> None:
    text = "x" * 100 + "\x1b alice@example.com"
    assert excerpt(text, Excerpts.NONE) == ""
    assert excerpt(text, Excerpts.FULL) == "x" * 100 + r"\x1b alice@example.com"
    assert excerpt(text) == "x" * 39 + "…"
    assert excerpt(text, limit=20, side="tail") == r"…xxx\x1b [masked:email]"
    assert excerpt("short") == "short"
    assert excerpt("a" * 40) == "a" * 40
    assert excerpt("abc", limit=1) == "…"


def test_a_tail_does_not_show_a_run_whose_start_is_out_of_sight() -> None:
    assert excerpt("k" * 2000, side="tail") == "…[masked:run]"
    body = "\n".join(["MIIEowIBAAKCAQEA" * 4] * 90)
    assert excerpt(f"-----BEGIN PRIVATE KEY-----\n{body}", side="tail") == "[masked:private-key]"


def test_the_two_sides_of_an_offset() -> None:
    text = "the user is alice@example.com and more text that goes on and on and on"
    assert excerpt_around(text, 16) == ("the user is ", "[masked:email] and more text that goes …")
    assert excerpt_around(text, 8) == ("the user", " is [masked:email] and more text that g…")
    assert excerpt_around(text, 33, limit=10) == ("… and", " more tex…")
    assert excerpt_around(text, 16, Excerpts.NONE) == ("", "")
    assert excerpt_around(text, 16, Excerpts.FULL) == (text[:16], text[16:])
    assert excerpt_around("", 0) == ("", "")


@given(ANY_TEXT, st.integers(0, 80))
def test_both_sides_make_up_a_short_text(text: str, at: int) -> None:
    at = min(at, len(text))
    before, after = excerpt_around(text, at, limit=200)
    if mask(text) == text and not text[at:].lstrip().startswith("::"):
        assert visible(before + after) == visible(text) or "##" in text
