"""What to tell the user of a builder that returned no prompt."""

from __future__ import annotations

from pathlib import Path

from prefixwise.analyzers.builder_check.runner import Builder, Failure, Ran
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import mask

WHAT_TO_RETURN = "a builder returns a text, a list of messages, or a request body"
_MESSAGE = 300
_SPOKEN = ("timeout", "ended", "large")
"""Kinds of failure that are no exceptions: their message says it all."""


class BuilderError(UserError):
    """The builder did not return a prompt; `stderr` is the end of what it wrote there."""

    def __init__(self, what: str, where: str = "", help: str = "", stderr: str = "") -> None:
        super().__init__(what, where, help)
        self.stderr = stderr


def said(failure: Failure) -> str:
    """Return a failure as a clause, masked."""
    message = mask(failure.message)[:_MESSAGE]
    return message if failure.type in _SPOKEN else f"{failure.type}: {message}".rstrip(": ")


def error_of(ran: Ran, builder: Builder) -> BuilderError:
    """Return what to tell the user of a builder that returned no prompt."""
    failure = ran.failure or Failure("call", "ended", "")
    told = said(failure)
    where = builder.target
    if failure.frame is not None:
        path, line, function = failure.frame
        where = f"{_relative(path, builder.folder)}:{line}" + (f" in {function}" if function else "")
    module = builder.target.partition(":")[0]
    if failure.step == "import" and failure.missing and (module + ".").startswith(failure.missing + "."):
        what, advice = f"there is no module {module}", "run it where the module can be imported, or name its file"
        return BuilderError(what, builder.target, advice, ran.stderr)
    if failure.step == "import" and failure.type == "AttributeError" and failure.frame is None:
        return BuilderError(f"the module has nothing of this name: {told}", builder.target, "", ran.stderr)
    if failure.step == "result":
        return BuilderError(mask(failure.message), builder.target, WHAT_TO_RETURN, ran.stderr)
    advice = ""
    if ran.refused:
        advice = f"it was not let reach {mask(ran.refused[0])}; --allow-network lets it"
    elif failure.type == "timeout":
        advice = "give it longer with --timeout"
    elif failure.step == "import" and failure.missing:
        advice = f"{builder.python} does not have it; name another interpreter with --python"
    elif failure.type == "TypeError" and failure.frame is None:
        advice = 'say what to call it with: --call \'{"args": [], "kwargs": {}}\''
    verb = "importing it" if failure.step == "import" else "the builder"
    what = told if failure.type in _SPOKEN else f"{verb} raised {told}"
    return BuilderError(what, where, advice, ran.stderr)


def _relative(path: str, folder: str) -> str:
    try:
        return Path(path).relative_to(folder).as_posix()
    except ValueError:
        return path
