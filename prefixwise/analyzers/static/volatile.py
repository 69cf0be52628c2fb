"""What analyses of sources find: a value that changes by itself, and its way into the prefix.

Templates, Python and scripts are read by analyses of their own, which all say the same thing; the rules, which are
those for logs too, say what it means.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.core.finding import Confidence, Span, Step, Where


class VolatileKind(StrEnum):
    """What makes a value change."""

    CLOCK = "clock"
    RELATIVE_TIME = "relative time"
    IDENTIFIER = "identifier"
    """Ids, nonces, random numbers, hashes of objects, representations with addresses."""
    COUNTER = "counter"
    ENVIRONMENT = "environment"
    """Working directory, git, host, environment variables, file contents of a workspace."""
    RETRIEVED = "retrieved text"
    PERSON = "person"
    UNORDERED = "unordered iteration"
    """Sets, directory listings, tasks as they finish, maps that are filled in parallel."""
    KEY_ORDER = "key order"
    """JSON of a value whose keys were put together in no fixed order."""
    EXAMPLES = "examples"
    LOCALE = "locale"
    WINDOW = "window"
    """A history that is cut to its last messages."""
    TOOLS = "tools"
    """A tool list that depends on mode or connection, or comes in no fixed order."""
    CACHE_KEY = "cache key"
    WHITE_SPACE = "white space"


class Frequency(StrEnum):
    """How often a value changes, most often first."""

    CALL = "call"
    SESSION = "session"
    """A conversation, a user, or a request of a user's."""
    DAY = "day"
    PROCESS = "process"
    DEPLOY = "deploy"

    @property
    def rank(self) -> int:
        """0 for the most frequent."""
        return list(Frequency).index(self)


class Volatile(msgspec.Struct, frozen=True, kw_only=True):
    """A value that changes by itself and gets into a prompt in front of text that does not.

    Attributes:
        kind: What makes it change; `frequency`: how often.
        path, span, quote: Where the value comes from (a call, a placeholder), and its text there.
        area: Part of the prompt that it gets into.
        flow: The steps from there to the prompt, the last of them being where it is sent; empty where it stands in the
            prompt itself.
        confidence: How sure the analysis is that it changes and that it gets there.
        precision: Of clocks: the finest unit that is printed (`second`, `minute`, `hour`, `day`), '' where unknown.
        stable_behind: Tokens of constant text behind it in the same prompt, None where that is not known.
        name: What the source calls it: a variable, a function.
        evidence: Clauses that say why it is taken to be volatile.
        named: Only its name says that it changes.
        once: It stands in a message that no conversation follows, as far as is known; how such a message is laid out
            is a choice.
    """

    kind: VolatileKind
    frequency: Frequency
    path: str
    span: Span
    quote: str
    area: Where
    flow: tuple[Step, ...] = ()
    confidence: Confidence = Confidence.LIKELY
    precision: str = ""
    stable_behind: int | None = None
    name: str = ""
    evidence: tuple[str, ...] = ()
    named: bool = False
    once: bool = False
