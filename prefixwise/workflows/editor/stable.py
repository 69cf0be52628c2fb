"""How far a prompt that is open in an editor stays the same from request to request."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.analyzers.static.static_prefix import static_prefix
from prefixwise.analyzers.static.templates.found import TemplateFindings
from prefixwise.analyzers.static.templates.parts import Template, Text


class StablePrefix(NamedTuple):
    """Where the stable beginning of a prompt ends, its tokens, and the fewest that a cache keeps (None: not known)."""

    offset: int
    tokens: int
    minimum: int | None

    @property
    def label(self) -> str:
        """What is said at that place."""
        least = "" if self.minimum is None else f" (minimum {self.minimum:,})"
        return f"stable to here: {self.tokens:,} token{'' if self.tokens == 1 else 's'}{least}"


def stable_prefixes(read: TemplateFindings) -> tuple[StablePrefix, ...]:
    """Return where the stable beginnings of the prompts of a file end."""
    found = (_stable(template, read.context.minimum) for template in read.templates if not template.chat)
    return tuple(stable for stable in found if stable is not None)


def _stable(template: Template, minimum: int | None) -> StablePrefix | None:
    parts = [part for message in template.messages for part in message.parts]
    if not any(isinstance(part, Text) for part in parts):
        return None
    segments = [segment for segment in static_prefix(template) if segment.tokens]
    offset = segments[-1].end if segments else parts[0].start
    return StablePrefix(offset, sum(segment.tokens for segment in segments), minimum)
