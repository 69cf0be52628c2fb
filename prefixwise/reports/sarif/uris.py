"""Paths as SARIF names them: relative URIs with `/`, percent-encoded."""

from __future__ import annotations

import re
from urllib.parse import quote

_SAFE = "/-._~!$&'()*+,;=@"
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def uri_of(path: str) -> str:
    """Return a path as a URI: relative as long as the path is, which is how GitHub finds the file."""
    if _DRIVE.match(path):
        return f"file:///{path[0]}:{_quoted(path[2:].replace(chr(92), '/'))}"
    if path.startswith("/"):
        return f"file://{_quoted(path)}"
    return _quoted(path) or "."


def _quoted(path: str) -> str:
    try:
        data = path.encode("utf-8", "surrogateescape")  # bytes of a file name that are no UTF-8 come back
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe=_SAFE)
