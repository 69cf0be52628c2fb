"""A configuration to begin with, put where it belongs."""

from __future__ import annotations

from pathlib import Path

from prefixwise.core.config.files import OWN_NAME, SECTION, SHARED_NAME, table_in
from prefixwise.core.config.starter import starter
from prefixwise.core.errors import UserError


def started(folder: Path = Path(), *, pyproject: bool = False) -> tuple[Path, bytes]:
    """Return (path, content) of the file to write.

    Args:
        folder: Where the project is.
        pyproject: Whether it goes into the pyproject.toml that is there.

    Raises:
        UserError: There is a configuration already, or no pyproject.toml that can be added to.
    """
    own, shared = folder / OWN_NAME, folder / SHARED_NAME
    if own.exists() or own.is_symlink():
        raise UserError("there is one already", str(own), "nothing is overwritten; edit it, or remove it first")
    configured = shared.is_file() and table_in(str(shared), str(shared)) is not None
    if configured:
        raise UserError(f"it has [{SECTION}] already", str(shared), "nothing is overwritten; edit that section")
    if not pyproject:
        return own, starter().encode()
    if not shared.is_file():
        raise UserError(
            "there is no such file to add to", str(shared), "leave --pyproject away to write prefixwise.toml"
        )
    before = shared.read_bytes()
    line_end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = line_end if not before or before.endswith(b"\n") else line_end * 2
    after = before + gap + starter(section=True).encode().replace(b"\n", line_end)
    _check(after, str(shared))
    return shared, after


def _check(data: bytes, shown: str) -> None:
    """Raise UserError where a file would not be TOML with what is added to it."""
    import tomllib

    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise UserError(f"the file is not TOML: {problem}", shown, "nothing was added; mend it first") from None
