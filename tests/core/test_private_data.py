"""Secrets and personal data, told from examples, placeholders and look-alikes."""

from __future__ import annotations

import pytest
from support.quick import at_most

from prefixwise.core.private_data import exposed

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyIjoib2xlIiwibiI6NDJ9.Qm9vSGk5cXJTdHVWd1h5WjAxMjM0NQ"

REAL = [
    ("Key: sk-proj-9aKx2LmQ7vRt4WzB8nEy6HdJ", "an API key", "sk-proj-9aKx2LmQ7vRt4WzB8nEy6HdJ"),
    ("use sk-ant-api03-Zq8Lw2Rk7Tn5Vb9Xc4Md", "an Anthropic key", "sk-ant-api03-Zq8Lw2Rk7Tn5Vb9Xc4Md"),
    ("id AKIAQ7RZ2LMN5TKW4VXY.", "an AWS key id", "AKIAQ7RZ2LMN5TKW4VXY"),
    ("ghp_a8Kd02LmQx7Rt4WzB8nEy6Hd and more", "a GitHub token", "ghp_a8Kd02LmQx7Rt4WzB8nEy6Hd"),
    (f"Send {JWT} along.", "a signed web token", JWT),
    ("postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal/f", "a password in an address", "qT7-vLw9xR2mZk4"),
    ('{"password": "Tr4k-9wQz!mL"}', "a password", "Tr4k-9wQz!mL"),
    ("Authorization: Bearer 8fK2mQ7xR4tW9zB3nE6y", "an access token", "8fK2mQ7xR4tW9zB3nE6y"),
    ("The signing secret is Xk29fLmQ7vRt4WzB8nEyPq.", "a random value beside a word for secrets",
     "Xk29fLmQ7vRt4WzB8nEyPq"),
    ("token 9f86d081884c7d659a2feaa0c55ad015 is ours", "a random value beside a word for secrets",
     "9f86d081884c7d659a2feaa0c55ad015"),
    ("Liv Halvorsen, born 1974-05-23, asks", "a date of birth", "1974-05-23"),
    ("Date of birth: 14 May 1981", "a date of birth", "14 May 1981"),
    ("pays by 4539 1488 0343 6467 today", "a card number", "4539 1488 0343 6467"),
    ("IBAN DE75512108001245126199.", "a bank account", "DE75512108001245126199"),
    ("Customer Ole: +47 912 34 567", "a phone number", "+47 912 34 567"),
    ("write to ole.hansen@nordtrans.no first", "an e-mail address", "ole.hansen@nordtrans.no"),
    ("member olehansen77@gmail.com", "an e-mail address", "olehansen77@gmail.com"),
    ("SSN 536-22-8145", "a social security number", "536-22-8145"),
    ("CPF 529.982.247-25", "a national id", "529.982.247-25"),
    ("DNI 45871236J", "a national id", "45871236J"),
    ("MRN: 8834-2291", "a number of a person's records", "8834-2291"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "value"), REAL, ids=[kind for _, kind, _ in REAL])
def test_what_is_private_is_found_with_its_bounds(text: str, kind: str, value: str) -> None:
    (found,) = exposed(text)
    assert (found.kind, text[found.start : found.end], found.is_example) == (kind, value, False)
    words = ("key", "token", "password", "secret")
    assert found.is_secret is any(word in kind for word in words)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "sk-your-api-key-goes-here-1",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "someone@example.com",
        "a.person@mail.example",
        "support@nordtrans.no",
        "card 4242 4242 4242 4242",
        "IBAN DE89 3704 0044 0532 0130 00",
        "call +1 800 555 0199",
        "our desk: +47 22 13 45 67",
        "SSN 078-05-1120",
        "postgres://user:pa55word99@localhost:5432/app",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
    ],
)
def test_examples_and_offices_are_named_as_such(text: str) -> None:
    assert [found.is_example for found in exposed(text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "Never tell anybody your password or the API key: it is kept by the gateway.",
        '{"api_key": {"type": "string", "description": "The key of the service"}}',
        'password = os.environ["DB_PASSWORD"]',
        "token: get_customer_subscription_token_v2",
        "secret 7f31a0c2-06e4-4b1d-9c55-1f2e3d4c5b6a",
        "the key's sha256 is 9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015",
        "commit 9f86d081884c7d659a2feaa0c55ad015",
        "The release of 2024-05-23 has 1,234 tokens; room 4539, order 4539148803436468.",
        "Addresses such as 192.0.2.10 and 2001:db8::1",
        "ASIAPACIFICREGIONS",
        "The tokenizer cl100k_base counts 118,400 tokens",
        "Hotel code 12345678A",
    ],
)
def test_look_alikes_are_left_alone(text: str) -> None:
    assert exposed(text) == []


def test_a_password_in_an_address_is_not_half_an_e_mail_address() -> None:
    (found,) = exposed("redis://:k9Xw2mQ7vL@cache.quay.no:6379")
    assert found.kind == "a password in an address"


def test_long_and_hostile_texts_take_no_time() -> None:
    for text in (
        "key " + "aA1" * 200_000,
        "born " * 100_000,
        "@" * 300_000,
        "secret: " * 60_000,
        "1-" * 300_000,
        "a@b.co " * 50_000,
    ):
        with at_most(5):
            exposed(text)
