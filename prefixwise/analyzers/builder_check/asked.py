"""What the user named, made into a builder that can be run."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefixwise.analyzers.builder_check.runner import Builder
from prefixwise.core.errors import UserError

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


def builder_of(named: str, call: str | None, python: str, folder: str, environ: Mapping[str, str]) -> Builder:
    """Return the builder that `named` (`package.module:name` or `file.py:name`) and `--call` ask for.

    Raises:
        UserError: There is no such file, or one of them is written in no way that is understood.
    """
    module, colon, name = named.rpartition(":")
    path = [folder]
    if module.endswith(".py"):
        file = Path(folder) / module
        if not file.is_file():
            raise UserError("no such file", module, "name a builder as file.py:name or package.module:name")
        module, path = file.stem, [str(file.parent), folder]
    if not colon or not _NAME.match(module) or not _NAME.match(name):
        raise UserError("this names no function", named[:200], "write MODULE:FUNCTION, such as app.prompts:build")
    args, kwargs = parse_call(call)
    return Builder(
        target=f"{module}:{name}",
        python=python,
        folder=folder,
        path=tuple(path),
        args=args,
        kwargs=kwargs,
        clock=start_of_clock(),
        environ=environ,
    )


def parse_call(call: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Read `--call`: a list, an object of names, or one of `args` and `kwargs`. Raises UserError for anything else."""
    if call is None:
        return (), {}
    try:
        value = json.loads(call)
    except ValueError as problem:
        raise UserError(f"this is no JSON: {problem}", f"--call {call[:100]}", "--call '[1, \"two\"]'") from None
    if isinstance(value, list):
        return tuple(value), {}
    if isinstance(value, dict) and value and value.keys() <= {"args", "kwargs"}:
        args, kwargs = value.get("args", []), value.get("kwargs", {})
        if isinstance(args, list) and isinstance(kwargs, dict):
            return tuple(args), kwargs
    elif isinstance(value, dict):
        return (), value
    raise UserError("a call is a list or an object", f"--call {call[:100]}", '--call \'{"args": [], "kwargs": {}}\'')


def start_of_clock(today: datetime.datetime | None = None) -> float:
    """Return today at 10:20:30.25 local time, in seconds since the epoch: where the clock of every run stands.

    From there a second changes the second only, and 61 minutes do not change the day; other zones do.
    """
    today = today or datetime.datetime.now()
    return today.replace(hour=10, minute=20, second=30, microsecond=250_000).timestamp()
