"""`prompt-version-unbumped`."""

from __future__ import annotations

from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Severity, Where


class PromptVersionUnbumped(SourceRule):
    """# A prompt changed and its version did not

    The constant beginning of a prompt is what all its requests share in a cache. Whoever changes a word of it throws
    away what is cached from that word on, on every replica and in every running conversation, once, when the change
    is deployed. That is the price of a better prompt and worth paying knowingly: a change of white space in the first
    line costs as much as a new one. Behind an unchanged version nobody sees it coming, and figures of before and after
    are filed under one name.

    `prefixwise lock PATHS...` writes down each prompt's version, the tokens of its constant beginning and a hash of
    each segment of it. `prefixwise lint --locked` holds the files against that:

    - another beginning under the version that is locked is an error. It says how many of the cached tokens in front of
      the first change stay, and how many are thrown away. A prompt without a version has nothing that could tell, so
      each change of its beginning is reported.
    - another version, with another beginning or the same, is information; so are prompts that are new, that were
      renamed, or that are gone.

    Not reported: changes behind the first value that is filled in anew for each request, in comments and in front
    matter; other line ends; models' chat templates and code, which are not locked.

    Raise the `version` in the front matter and lock again (`prefixwise lock`), or take the change back. Collect
    small changes and deploy them together: the cache is lost once for all of them.

    ```yaml
    ---
    name: rebooking
    version: 2.5.0
    ---
    ```
    """

    name = "prompt-version-unbumped"
    code = "PW115"
    summary = "The constant beginning of a prompt is not the locked one, and its version is"
    severity = Severity.HIGH
    fix = "Raise the version of the prompt and lock it again, or take the change back."
    where = (Where.TEMPLATE,)
    of_whole_file = True


RULES.add(PromptVersionUnbumped.name, PromptVersionUnbumped())
