"""Where files stand in their repository, so that names of folders say the same of them wherever lint is started."""

from __future__ import annotations

import os


class Repositories:
    """The repositories that folders stand in, each looked for once."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}

    def inside(self, path: str, shown: str) -> str:
        """Return the path of a file from the root of its repository, or as it is shown where it stands in none.

        Args:
            path: Absolute, with `/`.
            shown: As it was named, or found below what was named.
        """
        root = self._root(path.rpartition("/")[0] or "/")
        return path.removeprefix(root.rstrip("/") + "/") if root else shown

    def _root(self, folder: str) -> str:
        if folder not in self._roots:
            above = os.path.dirname(folder)
            if os.path.exists(os.path.join(folder, ".git")):
                self._roots[folder] = folder
            else:
                self._roots[folder] = "" if above == folder else self._root(above)
        return self._roots[folder]
