"""What rules are asked to mend in sources: whatever an analysis of sources finds."""

from __future__ import annotations

from typing import TypeAlias

from prefixwise.analyzers.static.templates.found import Stranded, TemplateTrait
from prefixwise.analyzers.static.volatile import Volatile

Seen: TypeAlias = Volatile | Stranded | TemplateTrait
