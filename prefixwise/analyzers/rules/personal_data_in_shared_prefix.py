"""`personal-data-in-shared-prefix`."""

from __future__ import annotations

from prefixwise.analyzers.lint.private_values import PrivateValues
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity


class PersonalDataInSharedPrefix(PrivateValues):
    """# A person's data in a prompt that all share

    Examples in a prompt are often taken from life: a customer with birthday, address and bank account, pasted once to
    show the model what a case looks like. From then on they are sent with the calls of every tenant, and any of them can
    get the model to repeat them. Data of one tenant can get into shared text in the same way when a cached or stored
    prefix is built from a real conversation.

    Looked at are the texts that several tenants share, or several conversations where the log names no tenants; then it
    may be a user's own data in all of the user's conversations, and little is made of it. Reported are numbers whose
    check digits are right (cards, bank accounts, national ids), dates of birth, and e-mail addresses and phone numbers
    that belong to a person by the words around them. What is said is the kind and the place, never the value.

    Information only: addresses at `example.com` and its kin, mailboxes and phone numbers of an office, cards and accounts
    for tests.

    Replace the person's data by invented data: reserved domains, numbers that are published for tests.

    ```jsonl bad
    {"tenant": "north", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Example: customer Liv Halvorsen, born 1974-05-23, asks for a refund."}, {"role": "user", "content": "When is the last ferry?"}]}}
    {"tenant": "south", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Example: customer Liv Halvorsen, born 1974-05-23, asks for a refund."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "north", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Example: customer A. Person, mail a.person@example.com, card 4242 4242 4242 4242, asks for a refund. Complaints go to desk@ferries.no, phone +47 22 13 45 67."}, {"role": "user", "content": "When is the last ferry?"}]}}
    {"tenant": "south", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Example: customer A. Person, mail a.person@example.com, card 4242 4242 4242 4242, asks for a refund. Complaints go to desk@ferries.no, phone +47 22 13 45 67."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```
    """  # noqa: E501

    name = "personal-data-in-shared-prefix"
    code = "PW902"
    summary = "A person's data stands in text that tenants share"
    severity = Severity.MEDIUM
    fix = "Replace the person's data by invented data."
    of_secrets = False
    without_tenants = Severity.LOW


RULES.add(PersonalDataInSharedPrefix.name, PersonalDataInSharedPrefix())
