"""Files that code reads: text of unknown length, the same on every call where the path is."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.analyzers.static.python.frames import Dotted, Frame
from prefixwise.analyzers.static.python.library import LIBRARY
from prefixwise.analyzers.static.python.methods import METHODS
from prefixwise.analyzers.static.python.pieces import Gap, Piece, is_fixed
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.values import FIXED, UNKNOWN, Value, text_of


class Opened(NamedTuple):
    """Marks a file that was opened, by the path that it has."""

    path: tuple[Piece, ...]


def _path_in(site: Site) -> tuple[Piece, ...]:
    given = next(iter(site.fillings), None)
    if given is None:
        return ()
    ref = given.value.ref
    return (Gap(ref.name, fixed=True),) if isinstance(ref, Dotted) and not given.value.pieces else text_of(given.value)


def _open(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    path = _path_in(site)
    return Value(pieces=UNKNOWN.pieces, ref=Opened(path)) if is_fixed(path) else UNKNOWN


def _packaged(frame: Frame, site: Site) -> Value:  # noqa: ARG001
    return FIXED


def _open_path(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    return Value(pieces=UNKNOWN.pieces, ref=Opened(base.pieces)) if is_fixed(base.pieces) else None


def _read(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    return FIXED if isinstance(base.ref, Opened) or (base.ref is None and is_fixed(base.pieces)) else None


LIBRARY |= dict.fromkeys(("open", "io.open", "codecs.open", "aiofiles.open"), _open)
LIBRARY |= dict.fromkeys(
    ("importlib.resources.files", "importlib.resources.read_text", "pkgutil.get_data", "pkg_resources.resource_string"),
    _packaged,
)
METHODS |= {"open": _open_path} | dict.fromkeys(("read", "read_text", "read_bytes"), _read)
