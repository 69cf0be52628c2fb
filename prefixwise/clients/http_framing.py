"""HTTP/1.1 responses, read from pieces of any size: the head, then the body as its framing says (RFC 9112)."""

from __future__ import annotations

from enum import Enum, auto

from prefixwise.clients.failures import ExchangeError, Failure

LARGEST_HEAD = 64 * 1024
_LARGEST_LINE = 4096


class Head:
    """Status and header fields of a response; names in lower case, fields of one name joined by a comma."""

    __slots__ = ("fields", "reason", "status", "version")

    def __init__(self, text: bytes) -> None:
        first, *lines = text.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        code, _, self.reason = rest.partition(" ")
        if version not in ("HTTP/1.1", "HTTP/1.0") or not (code.isdigit() and len(code) == 3):
            raise ExchangeError(Failure.MALFORMED, f"this is no answer of HTTP/1.1: {first[:60]!r}")
        self.version, self.status = version, int(code)
        self.fields: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip() or not name:
                raise ExchangeError(Failure.MALFORMED, f"this is no header field: {line[:60]!r}")
            key, value = name.lower(), value.strip()
            self.fields[key] = f"{self.fields[key]}, {value}" if key in self.fields else value

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return self.fields.get("transfer-encoding", "").lower().rpartition(",")[2].strip() == "chunked"

    @property
    def length(self) -> int | None:
        """Bytes of the body where the head says it; a repeated equal length counts once."""
        if self.chunked or "content-length" not in self.fields:
            return None
        stated = {one.strip() for one in self.fields["content-length"].split(",")}
        only = stated.pop()
        if stated or not (only.isascii() and only.isdigit()):
            raise ExchangeError(Failure.MALFORMED, f"this is no length: {self.fields['content-length'][:40]!r}")
        return int(only)

    @property
    def keeps_open(self) -> bool:
        """Whether the connection may be used again."""
        said = {one.strip().lower() for one in self.fields.get("connection", "").split(",")}
        return "keep-alive" in said if self.version == "HTTP/1.0" else "close" not in said


class _State(Enum):
    HEAD = auto()
    LENGTH = auto()
    SIZE = auto()
    CHUNK = auto()
    CHUNK_END = auto()
    TRAILERS = auto()
    UNTIL_CLOSE = auto()
    DONE = auto()


def _only_chunk(data: bytes) -> bytes | None:
    """Return the content of bytes that are one whole chunk and no more, as streams mostly come; None for others."""
    end = data.find(b"\r\n", 0, 12)
    try:
        size = int(data[:end], 16) if end > 0 and data[:end].isalnum() else 0
    except ValueError:
        return None
    whole = size > 0 and len(data) == end + size + 4 and data.endswith(b"\r\n")
    return data[end + 2 : -2] if whole else None


class ResponseReader:
    """Takes the bytes of one response as they come and gives back those of its body."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self._state = _State.HEAD
        self._held = b""
        self._left = 0

    @property
    def done(self) -> bool:
        """Whether the response is complete."""
        return self._state is _State.DONE

    @property
    def started(self) -> bool:
        """Whether a byte of it has come."""
        return self.head is not None or bool(self._held)

    @property
    def rest(self) -> bytes:
        """What came behind a complete response: bytes that nobody asked for."""
        return self._held if self.done else b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return those of the body among them. Raises ExchangeError where they are malformed."""
        if self._state is _State.SIZE and not self._held and (chunk := _only_chunk(data)) is not None:
            return [chunk]
        self._held += data
        body: list[bytes] = []
        while self._step(body):
            pass
        return body

    def close(self) -> None:
        """Take the end of the connection. Raises ExchangeError where the response is not complete without more."""
        if self._state is _State.UNTIL_CLOSE:
            self._state = _State.DONE
        if not self.done:
            where = "in its head" if self.head is None else "in its body"
            raise ExchangeError(Failure.CUT, f"the answer ends {where}")

    def _step(self, body: list[bytes]) -> bool:
        """Take one piece out of what is held; False where more bytes are needed."""
        match self._state:
            case _State.HEAD:
                return self._read_head()
            case _State.LENGTH | _State.CHUNK:
                return self._read_data(body)
            case _State.SIZE:
                return self._read_size()
            case _State.CHUNK_END:
                line = self._line()
                if line:
                    raise ExchangeError(Failure.MALFORMED, "a chunk is longer than it says")
                self._state = _State.SIZE if line is not None else self._state
                return line is not None
            case _State.TRAILERS:
                line = self._line()
                self._state = _State.DONE if line == b"" else self._state
                return line is not None and not self.done
            case _State.UNTIL_CLOSE if self._held:
                body.append(self._held)
                self._held = b""
        return False

    def _read_head(self) -> bool:
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            if len(self._held) > LARGEST_HEAD:
                raise ExchangeError(Failure.MALFORMED, "the head of the answer has no end")
            return False
        head = Head(self._held[:end])
        self._held = self._held[end + 4 :]
        if 100 <= head.status < 200:  # an interim answer: the real one follows
            return True
        self.head = head
        if head.status in (204, 304):
            self._state = _State.DONE
        elif head.chunked:
            self._state = _State.SIZE
        elif (length := head.length) is not None:
            self._left = length
            self._state = _State.LENGTH if length else _State.DONE
        else:
            self._state = _State.UNTIL_CLOSE
        return not self.done

    def _read_data(self, body: list[bytes]) -> bool:
        if not self._held:
            return False
        part, self._held = self._held[: self._left], self._held[self._left :]
        body.append(part)
        self._left -= len(part)
        if self._left == 0:
            self._state = _State.DONE if self._state is _State.LENGTH else _State.CHUNK_END
        return not self.done and self._left == 0

    def _read_size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        digits = line.partition(b";")[0].strip()
        try:
            self._left = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            self._left = -1
        if self._left < 0:
            raise ExchangeError(Failure.MALFORMED, f"this is no size of a chunk: {line[:40]!r}")
        self._state = _State.CHUNK if self._left else _State.TRAILERS
        return True

    def _line(self) -> bytes | None:
        end = self._held.find(b"\r\n")
        if end < 0:
            if len(self._held) > _LARGEST_LINE:
                raise ExchangeError(Failure.MALFORMED, "a line of the framing has no end")
            return None
        line, self._held = self._held[:end], self._held[end + 2 :]
        return line
