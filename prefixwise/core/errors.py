"""The one error type for what a user can change."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right: what is wrong, where, and what to do.

    Args:
        what: One clause that names the problem.
        where: File, line, option or value that it concerns; may be empty.
        help: What to do about it; may be empty.
        exit_code: The code a command ends with (DESIGN section 8): 2 for could-not-run,
            3 when no input matched.
    """

    def __init__(self, what: str, where: str = "", help: str = "", exit_code: int = 2) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.help = help
        self.exit_code = exit_code

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.what) if part)


class MissingExtraError(UserError):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the '{extra}' extra, which is not installed",
            help=f"pip install 'prefixwise[{extra}]'",
        )
