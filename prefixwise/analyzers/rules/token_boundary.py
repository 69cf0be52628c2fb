"""`token-boundary`."""

from __future__ import annotations

from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Severity, Where


class TokenBoundary(SourceRule):
    """# Text that merges with what is put behind it

    A tokenizer may join the last characters of a text with the first ones of what follows. Where a template ends a
    constant part in the middle of a word or with a blank, the token at the seam depends on the value behind it, and the
    last block of the constant part is another one for each value. Special tokens and line ends never merge.

    It costs a few tokens at most, a block where the cache works in blocks.

    End constant parts with a line end or a special token.

    In a model's chat template:

    ```jinja bad
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}assistant: {% endif %}
    ```

    ```jinja good
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}<|assistant|>{% endif %}
    ```
    """

    name = "token-boundary"
    code = "PW807"
    summary = "A constant part ends where a token may reach into what follows"
    severity = Severity.INFO
    fix = "End the constant part with a line end or a special token."
    where = (Where.TEMPLATE,)


RULES.add(TokenBoundary.name, TokenBoundary())
