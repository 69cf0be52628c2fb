"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, document: str | bytes) -> None:
    """Write a file whole or not at all: a failure leaves what was there before.

    A file keeps its permissions and a link its place; a pipe or device is written to as it is.
    """
    data = document.encode("utf-8", "backslashreplace") if isinstance(document, str) else document
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written whole: it takes the place of what was there when the block ends without a failure.

    A file keeps its permissions and a link its place; a pipe or device is written to as it is.
    """
    path = Path(os.path.realpath(path))
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".prefixwise-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
