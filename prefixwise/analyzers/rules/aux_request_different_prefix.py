"""`aux-request-different-prefix`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.recitals import recited
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where

_READ = 0.2
"""Share of a prompt that was served from which nothing is said."""


class AuxRequestDifferentPrefix(LogRule):
    r"""# A helper request sends the whole history under a prompt of its own

    To sum up a conversation, give it a title or judge it, a client writes the whole history into one message and puts
    another system prompt in front. All of that history is in the cache already, under the conversation's own system
    prompt and tools, and none of it is found: the largest context of the session is paid in full once more.

    Not reported: small requests, which cost little either way, and those of which usage shows that they were read.

    Ask for the summary as the next message of the same conversation, with the same system prompt and tools: all but
    that message is then read from the cache.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable, and name the quay."}, {"role": "user", "content": "When does the first ferry leave on Sunday?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable, and name the quay."}, {"role": "user", "content": "When does the first ferry leave on Sunday?"}, {"role": "assistant", "content": "At 07:10. The rest of the day: 05:00 quay 1; 05:15 quay 2; 05:30 quay 3; 05:45 quay 1; 06:00 quay 2; 06:15 quay 3; 06:30 quay 1; 06:45 quay 2; 07:00 quay 3; 07:15 quay 1; 07:30 quay 2; 07:45 quay 3; 08:00 quay 1; 08:15 quay 2; 08:30 quay 3; 08:45 quay 1; 09:00 quay 2; 09:15 quay 3; 09:30 quay 1; 09:45 quay 2; 10:00 quay 3; 10:15 quay 1; 10:30 quay 2; 10:45 quay 3; 11:00 quay 1; 11:15 quay 2; 11:30 quay 3; 11:45 quay 1; 12:00 quay 2; 12:15 quay 3; 12:30 quay 1; 12:45 quay 2; 13:00 quay 3; 13:15 quay 1; 13:30 quay 2; 13:45 quay 3; 14:00 quay 1; 14:15 quay 2; 14:30 quay 3; 14:45 quay 1; 15:00 quay 2; 15:15 quay 3; 15:30 quay 1; 15:45 quay 2; 16:00 quay 3; 16:15 quay 1; 16:30 quay 2; 16:45 quay 3; 17:00 quay 1; 17:15 quay 2; 17:30 quay 3; 17:45 quay 1; 18:00 quay 2; 18:15 quay 3; 18:30 quay 1; 18:45 quay 2; 19:00 quay 3; 19:15 quay 1; 19:30 quay 2; 19:45 quay 3; 20:00 quay 1; 20:15 quay 2; 20:30 quay 3; 20:45 quay 1; 21:00 quay 2; 21:15 quay 3; 21:30 quay 1; 21:45 quay 2; 22:00 quay 3; 22:15 quay 1; 22:30 quay 2; 22:45 quay 3; 23:00 quay 1; 23:15 quay 2; 23:30 quay 3; 23:45 quay 1; 24:00 quay 2; 24:15 quay 3; 24:30 quay 1; 24:45 quay 2."}, {"role": "user", "content": "Does that one take bicycles and dogs?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You write short summaries for the next clerk."}, {"role": "user", "content": "user: When does the first ferry leave on Sunday?\nassistant: At 07:10. The rest of the day: 05:00 quay 1; 05:15 quay 2; 05:30 quay 3; 05:45 quay 1; 06:00 quay 2; 06:15 quay 3; 06:30 quay 1; 06:45 quay 2; 07:00 quay 3; 07:15 quay 1; 07:30 quay 2; 07:45 quay 3; 08:00 quay 1; 08:15 quay 2; 08:30 quay 3; 08:45 quay 1; 09:00 quay 2; 09:15 quay 3; 09:30 quay 1; 09:45 quay 2; 10:00 quay 3; 10:15 quay 1; 10:30 quay 2; 10:45 quay 3; 11:00 quay 1; 11:15 quay 2; 11:30 quay 3; 11:45 quay 1; 12:00 quay 2; 12:15 quay 3; 12:30 quay 1; 12:45 quay 2; 13:00 quay 3; 13:15 quay 1; 13:30 quay 2; 13:45 quay 3; 14:00 quay 1; 14:15 quay 2; 14:30 quay 3; 14:45 quay 1; 15:00 quay 2; 15:15 quay 3; 15:30 quay 1; 15:45 quay 2; 16:00 quay 3; 16:15 quay 1; 16:30 quay 2; 16:45 quay 3; 17:00 quay 1; 17:15 quay 2; 17:30 quay 3; 17:45 quay 1; 18:00 quay 2; 18:15 quay 3; 18:30 quay 1; 18:45 quay 2; 19:00 quay 3; 19:15 quay 1; 19:30 quay 2; 19:45 quay 3; 20:00 quay 1; 20:15 quay 2; 20:30 quay 3; 20:45 quay 1; 21:00 quay 2; 21:15 quay 3; 21:30 quay 1; 21:45 quay 2; 22:00 quay 3; 22:15 quay 1; 22:30 quay 2; 22:45 quay 3; 23:00 quay 1; 23:15 quay 2; 23:30 quay 3; 23:45 quay 1; 24:00 quay 2; 24:15 quay 3; 24:30 quay 1; 24:45 quay 2.\nuser: Does that one take bicycles and dogs?\nassistant: Yes."}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable, and name the quay."}, {"role": "user", "content": "When does the first ferry leave on Sunday?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable, and name the quay."}, {"role": "user", "content": "When does the first ferry leave on Sunday?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does that one take bicycles and dogs?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable, and name the quay."}, {"role": "user", "content": "When does the first ferry leave on Sunday?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does that one take bicycles and dogs?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Sum up this conversation for the next clerk."}]}
    ```
    """  # noqa: E501

    name = "aux-request-different-prefix"
    code = "PW601"
    summary = "A summary, title or verdict is asked for with the whole history in one message under another prompt"
    severity = Severity.MEDIUM
    fix = "Ask for it as the next message of the same conversation, with the same system prompt and tools."
    where = (Where.MESSAGES,)
    rank = 60

    def detect(self, log: Log) -> Iterable[Claim]:
        for row in log.conversations.order:
            said = log.recitals.get(row)
            cached = log.cached(row)
            if said is None or (cached is not None and cached > _READ * log.prompt(row)):
                continue
            found = recited(log, row, said)
            if found is None:
                continue
            tokens = log.scaled(row, log.rows.prompt_tokens[row] - log.rows.system_end[row])
            uncached = log.uncached(row)
            yield Claim(
                rule=self.name,
                where=Where.MESSAGES,
                after=row,
                before=found.row,
                field=said.field,
                confidence=Confidence.LIKELY,
                evidence=(f"{found.messages} messages of the conversation come again in it",),
                message="A request with a system prompt of its own holds the history of a conversation in one message, "
                "none of which can be read from the cache.",
                lost=tokens if uncached is None else min(tokens, uncached),
                cause="recital",
            )


RULES.add(AuxRequestDifferentPrefix.name, AuxRequestDifferentPrefix())
