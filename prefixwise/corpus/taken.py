"""Requests whose items are known and that wait to be walked: what their rows need, and nothing of their records."""

from __future__ import annotations

import msgspec

from prefixwise.core.namespace import Namespace
from prefixwise.core.usage import Usage
from prefixwise.corpus.items import Vocabulary
from prefixwise.corpus.outlines import Beside
from prefixwise.corpus.whole_prompts import Place


class Head(msgspec.Struct, gc=False):
    """The leading items of a prompt (tools and system), shared by most requests of an application.

    `node` is where it ends, -1 until it has been walked, and `layout` what layout it has; `tools` counts the tool
    items among its items.
    """

    items: tuple[int, ...]
    tools: int
    family: int
    node: int = -1
    tools_end: int = 0
    layout: int = -1


class Taken(msgspec.Struct, gc=False):
    """A request whose items are known, waiting to be walked; `rest` are the items behind the head.

    `place` and `markers` are known already of a prompt that was rendered whole.
    It holds what its row needs and nothing of the record: raw items would keep the bytes of whole files alive.
    """

    path: str
    record: int
    line: int
    start: float
    end: float
    ttft: float
    tenant: str
    session: str
    replica: str
    namespace: Namespace
    params: tuple[tuple[str, bytes], ...]
    usage: Usage
    automatic: float | None
    vocabulary: Vocabulary
    model: int
    provider: int
    head: Head
    rest: list[int]
    opened: bool
    reply: int
    place: Place | None
    markers: tuple[tuple[int, float], ...]
    id: str
    marks: int
    api: str
    beside: Beside | None
    controls: tuple[tuple[str, bytes], ...]
