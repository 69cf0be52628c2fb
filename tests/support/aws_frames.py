"""Frames of AWS's event stream, written."""

import struct
import zlib


def frame(kind: str, payload: str, header: str = ":event-type") -> bytes:
    """Return one frame with a payload of JSON."""
    headers = b"".join(
        _string(name, value)
        for name, value in ((header, kind), (":content-type", "application/json"), (":message-type", "event"))
    )
    body = payload.encode()
    prelude = struct.pack(">II", 12 + len(headers) + len(body) + 4, len(headers))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    whole = prelude + headers + body
    return whole + struct.pack(">I", zlib.crc32(whole))


def _string(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
