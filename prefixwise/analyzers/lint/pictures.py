"""Pictures in messages, held against each other as far as their bytes and headers tell."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any
from urllib.parse import urlsplit

import msgspec

from prefixwise.corpus.media import image_size

_WORDS = ("url", "image_url", "fileUri", "file_uri", "file_id", "uri")
_HOLDERS = ("source", "data", "bytes", "file_data", "image", "image_url", "inlineData", "inline_data", "fileData")
_TYPES = ("media_type", "mediaType", "mimeType", "mime_type", "format")
_MOST_BYTES = 8 << 20
_MOST_UNFILTERED = 300_000
_DEEPEST = 4
_MARKERS_OF_JPEG_NOTES = frozenset({*range(0xE0, 0xF0), 0xFE})


class Picture(msgspec.Struct, frozen=True):
    """A picture, or another medium, as a request holds it.

    Attributes:
        address: Where it is to be fetched from, or its name on the server; empty where its bytes are there.
        data: Its bytes, empty where there is an address.
        media_type: As the request says, in lower case.
        size: (width, height) in pixels, None where it cannot be read.
    """

    address: str = ""
    data: bytes = b""
    media_type: str = ""
    size: tuple[int, int] | None = None

    @property
    def shown(self) -> str:
        """What it is, for people; no bytes, and no query of an address, which may hold a signature."""
        kind = self.media_type or "image"
        if self.address:
            return f"{kind} at {self.address.partition('?')[0]}"
        size = f" {self.size[0]}x{self.size[1]}" if self.size else ""
        return f"{kind}{size}, {len(self.data):,} bytes"


def picture_of(value: Any) -> Picture:
    """Return the picture that a decoded value of a message holds: a text, or an object around one."""
    media_type = ""
    for _ in range(_DEEPEST):
        if not isinstance(value, dict):
            break
        media_type = media_type or next((str(value[key]) for key in _TYPES if value.get(key)), "")
        inner = next((value[key] for key in (*_WORDS, *_HOLDERS) if value.get(key)), None)
        if inner is None:
            break
        value = inner
    if not isinstance(value, str):
        return Picture(media_type=media_type.lower())
    head, comma, rest = value.partition(",")
    if value.startswith("data:") and comma:
        media_type, value = head[5:].partition(";")[0] or media_type, rest
    data = _bytes(value)
    if data is None:
        return Picture(address=value, media_type=media_type.lower())
    return Picture(data=data, media_type=media_type.lower(), size=image_size(data))


def same_pixels(one: Picture, other: Picture) -> bool:
    """Say whether two pictures are known to show the same: the bytes that hold their pixels decode to the same.

    False where they differ and where that cannot be seen cheaply.
    """
    if one.size is None or one.size != other.size:
        return False
    if all(picture.data[:2] == b"\xff\xd8" for picture in (one, other)):
        return _jpeg_core(one.data) == _jpeg_core(other.data)
    first, second = _png(one.data), _png(other.data)
    if first is None or second is None or first[0] != second[0]:
        return False
    if first[1] == second[1]:
        return True
    if max(len(first[1]), len(second[1])) > _MOST_UNFILTERED:
        return False
    return _unfiltered(first) == _unfiltered(second)


def same_address(one: Picture, other: Picture) -> bool:
    """Say whether two addresses differ in their query only, as signed ones do."""
    if not (one.address and other.address):
        return False
    first, second = urlsplit(one.address), urlsplit(other.address)
    return (first.scheme, first.netloc, first.path) == (second.scheme, second.netloc, second.path)


def _bytes(text: str) -> bytes | None:
    if "://" in text[:16]:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _jpeg_core(data: bytes) -> bytes:
    """Return a JPEG without the notes that cameras and programs put into it."""
    at, kept = 2, [data[:2]]
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
        if data[at + 1] not in _MARKERS_OF_JPEG_NOTES:
            kept.append(data[at:end])
        at = end
    return b"".join([*kept, data[at:]])


_Png = tuple[bytes, bytes, bytes]
"""Header with palette, filtered rows, and the header alone."""


def _png(data: bytes) -> _Png | None:
    """Return what of a PNG makes its pixels, None where it is none or cannot be read."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) > _MOST_BYTES:
        return None
    at, header, rows = 8, b"", []
    look: list[bytes] = []
    while at + 12 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            rows.append(body)
        elif kind in (b"PLTE", b"tRNS"):
            look.append(body)
        at += 12 + length
    try:
        unpacked = zlib.decompressobj().decompress(b"".join(rows), _MOST_BYTES)
    except zlib.error:
        return None
    return (b"".join([header, *look]), unpacked, header) if len(header) == 13 else None


def _unfiltered(png: _Png) -> bytes | None:
    """Return the rows of a PNG without their filters (PNG specification, section 9); None for interlaced ones."""
    _, rows, header = png
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(header[9], 0)
    if header[12] or not channels:
        return None
    width = int.from_bytes(header[:4])
    step = max(1, header[8] * channels // 8)
    stride = (width * header[8] * channels + 7) // 8
    above, found = bytes(stride), bytearray()
    for at in range(0, len(rows) - stride, stride + 1):
        above = _row(rows[at], rows[at + 1 : at + 1 + stride], above, step)
        found += above
    return bytes(found)


def _row(kind: int, filtered: bytes, above: bytes, step: int) -> bytes:
    row = bytearray(filtered)
    for at, value in enumerate(filtered):
        left = row[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[kind % 5]
        row[at] = (value + guess) & 0xFF
    return bytes(row)


def _paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    distances = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
    return (left, above, corner)[distances.index(min(distances))]
