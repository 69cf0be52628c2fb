"""Which configuration governs a file: the nearest one above it, with what it extends, under what the command says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.core.config.files import OWN_NAME, SHARED_NAME, layer_of, table_in
from prefixwise.core.config.layers import Layer, Origins
from prefixwise.core.config.settings import Settings
from prefixwise.core.errors import UserError

STDIN = "-"


class Configuration(msgspec.Struct, frozen=True):
    """The settings that hold for some files.

    Attributes:
        file: Configuration file as messages name it; '' where there is none.
        folder: Absolute folder, with `/`, that its patterns are relative to.
        settings: The value of every key.
        layer: What is set, and where it comes from.
    """

    file: str
    folder: str
    settings: Settings
    layer: Layer

    def origins(self, key: str) -> Origins:
        """Return where the value of a key comes from; several places for what is added up."""
        return self.layer.origins_of(key)

    def where(self, key: str) -> str:
        """Return where a key is set, for a message."""
        return ", ".join(map(str, self.origins(key)))


class Configurations:
    """The configuration of every file, each read once.

    A file is governed by the nearest `prefixwise.toml`, or `pyproject.toml` with `[tool.prefixwise]`, in its folder or
    above, as far as the root of its repository. There is no merging of configurations one above the other.

    Args:
        flags: What options and the environment say; wins over every file.
        file: The only configuration, for all files; its patterns are relative to the working folder.
        isolated: Read no configuration at all.
    """

    def __init__(self, flags: Layer = Layer(), file: str | None = None, *, isolated: bool = False) -> None:  # noqa: B008
        self._flags = flags
        self._here = _real(os.getcwd())
        self._by_folder: dict[str, Configuration] = {}
        self._real_folders: dict[str, str] = {}
        self._only = self._made("", self._here, Layer()) if isolated else None
        if file is not None and not isolated:
            self._only = self._named(file)

    @property
    def here(self) -> Configuration:
        """The configuration of the working folder, which says what holds for a whole run."""
        return self.of_folder(self._here)

    def of(self, path: str) -> Configuration:
        """Return the configuration of a file; that of the working folder for standard input, and where no file is."""
        if self._only is not None or path in ("", STDIN):
            return self.here
        return self.of_folder(self.located(path).rpartition("/")[0] or "/")

    def saying(self, path: str, *keys: str) -> Configuration:
        """Return the configuration of a file where it sets one of some keys, else that of the working folder."""
        own = self.of(path)
        return own if any(key in own.layer.values for key in keys) else self.here

    def of_folder(self, folder: str) -> Configuration:
        """Return the configuration of what stands directly in a folder, given absolute, with `/` and without links."""
        if self._only is not None:
            return self._only
        passed = []
        while (found := self._by_folder.get(folder)) is None:
            passed.append(folder)
            found = self._in(folder)
            above = _slashed(os.path.dirname(folder))
            if found is not None or above == folder or os.path.exists(f"{folder}/.git"):
                break
            folder = above
        found = found or self._made("", self._here, Layer())
        self._by_folder.update(dict.fromkeys(passed, found))
        return found

    def located(self, path: str) -> str:
        """Return the absolute path of a file, with `/` and its folder free of links."""
        folder, name = os.path.split(os.path.abspath(path))
        if folder not in self._real_folders:
            self._real_folders[folder] = _real(folder)
        return f"{self._real_folders[folder].rstrip('/')}/{name}"

    def _in(self, folder: str) -> Configuration | None:
        """Return the configuration in a folder, None where there is none in it."""
        for name in (OWN_NAME, SHARED_NAME):
            path = f"{folder.rstrip('/')}/{name}"
            if os.path.isfile(path):
                table = table_in(path, self._shown(path))
                if table is not None:
                    return self._made(self._shown(path), folder, self._extended(table, path, ()))
        return None

    def _named(self, file: str) -> Configuration:
        path = self.located(file)
        if not os.path.exists(path):
            raise UserError("there is no such configuration", f"--config {file}")
        table = table_in(path, file)
        if table is None:
            raise UserError("there is no [tool.prefixwise] in it", f"--config {file}")
        return self._made(self._shown(path), self._here, self._extended(table, path, ()))

    def _extended(self, table: Mapping[str, Any], path: str, chain: tuple[str, ...]) -> Layer:
        """Return the settings of a file laid over those that it extends. Raises UserError for a circle."""
        shown, folder = self._shown(path), os.path.dirname(path)
        own = layer_of(table, path, shown, lambda name: self._shown(_slashed(os.path.join(folder, name))))
        if not table.get("extend"):
            return own
        identity = os.path.realpath(path)
        base = _slashed(os.path.join(folder, table["extend"]))
        where = f"{shown}: extend"
        if os.path.realpath(base) in (*chain, identity):
            raise UserError("these configurations extend each other in a circle", where)
        if not os.path.isfile(base):
            raise UserError("there is no such file", where, f"it names {self._shown(base)}")
        below = table_in(base, self._shown(base))
        if below is None:
            raise UserError(f"there is no [tool.prefixwise] in {self._shown(base)}", where)
        return own.over(self._extended(below, base, (*chain, identity)))

    def _made(self, file: str, folder: str, layer: Layer) -> Configuration:
        whole = self._flags.over(layer)
        return Configuration(file, folder, whole.settings(), whole)

    def _shown(self, path: str) -> str:
        """Return a path as messages name it: from the working folder where it is below that."""
        path = _slashed(os.path.normpath(path))
        here = self._here.rstrip("/") + "/"
        return path.removeprefix(here)


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


def _real(path: str) -> str:
    return _slashed(os.path.realpath(path))
