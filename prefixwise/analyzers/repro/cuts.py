"""What can be cut out of records: items, blocks, properties of schemas, pieces of long texts, keys.

Everything is known by what it says, so a cut goes through all records alike: what two requests have in common is cut
from both or from neither.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from prefixwise.analyzers.repro.redaction import is_json_text
from prefixwise.analyzers.repro.samples import Sample, placed
from prefixwise.core.pointer import parse_pointer, resolve
from prefixwise.core.request import Request

_LONG = 80
"""Characters of a text from which pieces of it are cut out one by one."""
_SENTENCES = re.compile(r"(?<=[.!?;:,])\s+|\n")
_FIXED = frozenset({"model", "modelId", "anthropic_version", "max_tokens", "max_output_tokens"})
"""Fields of a body that no API does without."""


class Cut(NamedTuple):
    """Something that can be left out: what it is, what it says, and which of those that say so in one text it is."""

    kind: str
    what: str | bytes
    number: int = 0

    @property
    def text(self) -> str:
        """What a piece of a text says."""
        return str(self.what)


class Cutter:
    """Finds what can be cut out of some records, and cuts it.

    Args:
        samples: The records.
        requests: The same, as they were read: they say where the items stand.
    """

    def __init__(self, samples: Sequence[Sample], requests: Sequence[Request]) -> None:
        self.samples = samples
        self._sections = [[parse_pointer(section.pointer) for section in request.sections] for request in requests]
        self._fixed = _FIXED | {path[0] for paths in self._sections for path in paths}
        self._said: dict[int, bytes] = {}

    def cuts(self, kind: str) -> list[Cut]:
        """Return everything of a kind: `around`, `item`, `block`, `property`, `piece`, `field`."""
        found: Iterator[Cut] | list[Cut]
        if kind == "around":
            found = [
                Cut(kind, f"{number} {key}")
                for number, sample in enumerate(self.samples)
                for key in sample.record
                if sample.path and key != sample.path[0]
            ]
        elif kind == "field":
            found = [Cut(kind, key) for sample in self.samples for key in sample.body if key not in self._fixed]
        else:
            found = (
                cut
                for sample, paths in zip(self.samples, self._sections, strict=True)
                for path in paths
                for cut in self._inside(next(resolve(sample.body, path)), kind, "item")
            )
        return list(dict.fromkeys(found))

    def without(self, cut: Collection[Cut]) -> list[Sample]:
        """Return the records without some of what they hold."""
        gone = frozenset(cut)
        return [self._without(number, gone) for number in range(len(self.samples))]

    def _without(self, number: int, cut: frozenset[Cut]) -> Sample:
        sample, paths = self.samples[number], self._sections[number]
        body = {key: value for key, value in sample.body.items() if Cut("field", key) not in cut}
        for path in paths:
            kept = self._cut(next(resolve(sample.body, path)), cut, "item")
            if kept == [] and len(path) == 1 and not sample.bare:
                del body[path[0]]
            else:
                body = placed(body, path, kept)
        if not sample.path:
            return Sample(body, ())
        record = {
            key: value if key == sample.path[0] else self._cut(value, cut)
            for key, value in sample.record.items()
            if Cut("around", f"{number} {key}") not in cut
        }
        return sample.with_body(record, body)

    def _inside(self, value: Any, kind: str, of_list: str = "block") -> Iterator[Cut]:
        if isinstance(value, list):
            for item in value:
                if kind == of_list:
                    yield Cut(kind, self._says(item))
                yield from self._inside(item, kind)
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key == "properties" and isinstance(inner, dict) and kind == "property":
                    yield from (Cut(kind, _member(name, schema)) for name, schema in inner.items())
                if key != "required":
                    yield from self._inside(inner, kind)
        elif isinstance(value, str) and kind == "piece" and len(cut := pieces(value)) > 1:
            yield from cut

    def _cut(self, value: Any, cut: frozenset[Cut], kind: str = "block") -> Any:
        if isinstance(value, list):
            kept = [self._cut(item, cut) for item in value if Cut(kind, self._says(item)) not in cut]
            if kept or kind == "item":
                return kept
            return [self._cut(item, cut) for item in value[-1:]]  # no API takes a message with an empty list in it
        if isinstance(value, dict):
            return {
                key: self._schemas(value, cut)
                if key == "properties" and isinstance(inner, dict)
                else self._cut(inner, cut)
                for key, inner in value.items()
            }
        if isinstance(value, str) and len(value) > _LONG:
            found = pieces(value)
            return "".join(piece.text for piece in found if piece not in cut) or found[-1].text
        return value

    def _schemas(self, holder: dict[str, Any], cut: frozenset[Cut]) -> dict[str, Any]:
        return {
            name: self._cut(schema, cut)
            for name, schema in holder["properties"].items()
            if Cut("property", _member(name, schema)) not in cut
        }

    def _says(self, item: Any) -> bytes:
        """Return an item's JSON; every item is encoded once, for the records stay as they are."""
        key = self._said.get(id(item))
        if key is None:
            key = self._said[id(item)] = msgspec.json.encode(item)
        return key


@functools.lru_cache(maxsize=8192)
def pieces(text: str) -> tuple[Cut, ...]:
    """Cut a long text behind its lines and sentences; a short one, or one that is JSON, stays whole."""
    texts = [text] if len(text) <= _LONG or is_json_text(text) else [piece for piece in _sentences(text) if piece]
    seen: Counter[str] = Counter()
    found = []
    for piece in texts:
        found.append(Cut("piece", piece, seen[piece]))
        seen[piece] += 1
    return tuple(found)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _SENTENCES.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    yield text[start:]


def _member(name: str, schema: Any) -> bytes:
    return msgspec.json.encode([name, schema])
