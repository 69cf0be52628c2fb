"""`secret-in-shared-prefix`."""

from __future__ import annotations

from prefixwise.analyzers.lint.private_values import PrivateValues
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity


class SecretInSharedPrefix(PrivateValues):
    """# A secret in a prompt that all share

    A key, a token or a password in a system prompt, a tool's definition or a template is sent with the calls of every
    tenant. Each of them can ask the model for it, it lies in every log and cache that the prompt passes, and who can
    measure whether a guessed prefix is served faster can find it out a character at a time. It does no harm to the cache;
    that is why nobody notices.

    Looked at are the texts that several tenants share, or several conversations where the log names no tenants. Reported
    are shapes that issuers document, passwords in addresses, signed tokens, private keys, and values that look drawn at
    random beside a word for secrets. What is said is the kind and the place, never the value.

    Information only: keys that documentation shows (`AKIAIOSFODNN7EXAMPLE`), placeholders, keys for tests.

    Take the secret out of the prompt and give it to the tool or the gateway that needs it; then change it, as it has been
    in many places.

    ```jsonl bad
    {"tenant": "north", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Use the database postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal:5432/ferries for times."}, {"role": "user", "content": "When is the last ferry?"}]}}
    {"tenant": "south", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Use the database postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal:5432/ferries for times."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "north", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Keys look like AKIAIOSFODNN7EXAMPLE; never repeat one. The database password is kept by the gateway."}, {"role": "user", "content": "When is the last ferry?"}]}}
    {"tenant": "south", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Keys look like AKIAIOSFODNN7EXAMPLE; never repeat one. The database password is kept by the gateway."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```
    """  # noqa: E501

    name = "secret-in-shared-prefix"
    code = "PW901"
    summary = "A key, token or password stands in text that tenants share"
    severity = Severity.HIGH
    fix = "Take the secret out of the prompt, give it to the tool that needs it, and change it."
    of_secrets = True
    without_tenants = Severity.MEDIUM


RULES.add(SecretInSharedPrefix.name, SecretInSharedPrefix())
