"""`env-state-in-prefix`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_moved_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Severity, Where
from prefixwise.core.request import Request


class EnvStateInPrefix(MovingValue):
    r"""# The state of the machine in the prefix

    Working directory, git status, file listings, host names and sandbox addresses in the system prompt change when the
    agent works, and with each change the whole conversation is computed again. Between sessions on different machines or
    folders they keep the rest of the system prompt from being shared.

    Not reported: a snapshot that is taken once and stays.

    Put the state into the newest message, or let the agent ask for it by a tool; keep the snapshot of the start where it
    was, and say that it is one.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n<git_status>\nnothing to commit, working tree clean\n</git_status>"}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n<git_status>\n M src/quay.py\n?? notes.txt\n</git_status>"}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n<git_status>\nnothing to commit, working tree clean\n</git_status>"}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n<git_status>\nnothing to commit, working tree clean\n</git_status>"}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In a template:

    ```jinja bad
    You work in {{ cwd }} on the branch {{ git_branch }}.

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.

    You work in {{ cwd }} on the branch {{ git_branch }}.
    ```
    """  # noqa: E501

    name = "env-state-in-prefix"
    code = "PW104"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.ENVIRONMENT})
    summary = "Directory, git status, file list or host in the prefix changes"
    severity = Severity.HIGH
    fix = (
        "Move the environment to the newest message or behind a tool; leave a snapshot from the start of the "
        "session in the prefix as it was."
    )
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 26
    kinds = frozenset({SpanKind.ENVIRONMENT})
    noun = "The state of the working environment"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)


RULES.add(EnvStateInPrefix.name, EnvStateInPrefix())
