"""Pictures held against each other."""

from __future__ import annotations

import base64
import random
import struct
import zlib

import pytest

from prefixwise.analyzers.lint.pictures import Picture, picture_of, same_address, same_pixels


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(rows: list[bytes], channels: int, filters: list[int], level: int = 6, notes: bytes = b"") -> bytes:
    """Return a PNG of 8-bit rows, each written with the filter that is asked for."""
    written, above = b"", bytes(len(rows[0]))
    for row, kind in zip(rows, filters, strict=True):
        written += bytes([kind]) + filtered(row, above, channels, kind)
        above = row
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), 8, colour, 0, 0, 0)
    body = chunk(b"IHDR", header) + (chunk(b"tEXt", notes) if notes else b"")
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IDAT", zlib.compress(written, level)) + chunk(b"IEND", b"")


def filtered(row: bytes, above: bytes, step: int, kind: int) -> bytes:
    """Apply a filter as section 9 of the PNG specification defines it."""
    found = []
    for at, value in enumerate(row):
        a = row[at - step] if at >= step else 0
        b, c = above[at], above[at - step] if at >= step else 0
        p = a + b - c
        nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        found.append((value - [0, a, b, (a + b) // 2, nearest][kind]) % 256)
    return bytes(found)


def picture(data: bytes) -> Picture:
    return picture_of({"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()})


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_filters_notes_and_packing_change_no_pixel(channels: int) -> None:
    chance = random.Random(channels)
    rows = [bytes(chance.randrange(256) for _ in range(7 * channels)) for _ in range(10)]
    plain = png(rows, channels, [0] * 10)
    for _ in range(5):
        other = png(rows, channels, [chance.randrange(5) for _ in rows], chance.randrange(10), b"Comment\0by hand")
        assert same_pixels(picture(plain), picture(other))
    changed = [*rows[:-1], bytes([rows[-1][0] ^ 1]) + rows[-1][1:]]
    assert not same_pixels(picture(plain), picture(png(changed, channels, [4] * 10)))


def test_other_kinds_of_file_are_not_taken_for_equal() -> None:
    gif = Picture(data=b"GIF89a", media_type="image/gif", size=(1, 1))
    assert not same_pixels(gif, gif)
    broken = png([b"abc"], 1, [0])[:-30]
    assert not same_pixels(picture(broken), picture(png([b"abc"], 1, [0])))


def jpeg(note: bytes, scan: bytes) -> bytes:
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, 16, 16, 1) + b"\x01\x11\x00"
    notes = b"\xff\xe1" + struct.pack(">H", len(note) + 2) + note
    return b"\xff\xd8" + notes + frame + b"\xff\xda" + scan + b"\xff\xd9"


def test_notes_in_a_jpeg_change_no_pixel() -> None:
    assert same_pixels(picture(jpeg(b"Exif one", b"scan")), picture(jpeg(b"Exif number two", b"scan")))
    assert not same_pixels(picture(jpeg(b"Exif", b"scan")), picture(jpeg(b"Exif", b"nacs")))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://pictures.test/1.png?sig=secret", "image at https://pictures.test/1.png"),
        ({"url": "https://pictures.test/1.png?sig=secret"}, "image at https://pictures.test/1.png"),
        ({"type": "file", "file_id": "file-1"}, "image at file-1"),
        ({"mimeType": "image/PNG", "data": "AAAA"}, "image/png, 3 bytes"),
        ("data:image/webp;base64,AAAA", "image/webp, 3 bytes"),
        ({"format": "png", "source": {"bytes": "AAAA"}}, "png, 3 bytes"),
        (None, "image, 0 bytes"),
    ],
)
def test_what_a_request_holds(value: object, shown: str) -> None:
    assert picture_of(value).shown == shown


def test_a_signed_address_is_the_same() -> None:
    one, other = (picture_of(f"https://pictures.test/1.png?exp={n}") for n in (1, 2))
    assert same_address(one, other)
    assert not same_address(one, picture_of("https://pictures.test/2.png?exp=1"))
    assert not same_address(one, Picture())
