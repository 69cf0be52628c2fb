"""For your tests: `assert_stable_prefix` runs a prompt builder as `prefixwise check` does."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from prefixwise.analyzers.builder_check.asked import builder_of, start_of_clock
from prefixwise.analyzers.builder_check.check import Checked, check, compare
from prefixwise.analyzers.builder_check.in_process import KNOBS_HERE, InProcessRunner
from prefixwise.analyzers.builder_check.knobs import KNOB_NAMES
from prefixwise.analyzers.builder_check.prompts import Until
from prefixwise.analyzers.builder_check.report import told
from prefixwise.analyzers.builder_check.runner import Builder
from prefixwise.analyzers.builder_check.variables import without_secrets

__all__ = ["assert_stable_prefix", "in_process_notes"]

in_process_notes: list[str] = []
"""What was checked in the test's own process only; the pytest plug-in shows it at the end."""


def assert_stable_prefix(
    builder: Callable[..., Any] | str,
    *args: Any,
    min_tokens: int = 0,
    until: Until = "system",
    knobs: Collection[str] = (),
    timeout: float = 60.0,
    allow_network: bool = False,
    pass_env: Collection[str] = (),
    allow_untested: bool = False,
    **kwargs: Any,
) -> Checked:
    """Fail unless the prefix that `builder(*args, **kwargs)` returns stays the same whatever is changed around it.

    A function of a module, or its name as `package.module:function`, runs in fresh processes of this interpreter. A
    closure, a lambda or a method of an object cannot be found from another process: it is called in this one, where the
    clock, the hash seed, the locale and the order of folders cannot be changed. The plug-in says so after the tests,
    and `allow_untested` does not matter then.

    Args:
        builder: What returns a text, a list of messages, or a request body; it may be asynchronous.
        args: What it is called with.
        min_tokens: Tokens that the stable prefix must have.
        until: Where the stable prefix has to reach: `system`, `tools` or `last-user`.
        knobs: What to change, as in `prefixwise check --knob`; everything by default.
        timeout: Seconds a run may take.
        allow_network: Let it reach the network.
        pass_env: Environment variables to pass on though they look like secrets.
        allow_untested: Do not fail where the builder asked for nothing that was changed.
        kwargs: What it is called with, by name.

    Returns:
        What came of the check.

    Raises:
        AssertionError: The prefix moved, is too short, or nothing was tested.
        UserError: The builder did not return a prompt.
        ValueError: There is no such knob.
    """
    unknown = sorted(set(knobs) - set(KNOB_NAMES))
    if unknown:
        raise ValueError(f"no such knob: {', '.join(unknown)}; known: {', '.join(KNOB_NAMES)}")
    environ, replaced = without_secrets(os.environ, pass_env)
    found = _found(builder, args, kwargs, environ, timeout=timeout, network=allow_network)
    here = found is None
    checked = _here(builder, args, kwargs, until, knobs) if found is None else check(found, until, knobs, replaced)
    if checked.answer == "moved":
        raise AssertionError(told(checked))
    if checked.stable_tokens < min_tokens:
        raise AssertionError(f"the stable prefix has {checked.stable_tokens:,} tokens, fewer than {min_tokens:,}")
    if checked.answer == "not tested" and not here and not allow_untested:
        raise AssertionError(f"{told(checked)} Pass allow_untested=True where that is meant.")
    return checked


def _here(builder: Any, args: tuple[Any, ...], kwargs: dict[str, Any], until: Until, knobs: Collection[str]) -> Checked:
    """Check a builder in this process."""
    name = str(getattr(builder, "__qualname__", type(builder).__name__))
    wanted = [knob for knob in KNOBS_HERE if not knobs or knob in knobs]
    checked = compare(name, InProcessRunner(lambda: builder(*args, **kwargs)), until, wanted or KNOBS_HERE[:1])
    left = ", ".join(knob for knob in KNOB_NAMES if knob not in KNOBS_HERE and knob != "all")
    in_process_notes.append(f"{name} cannot be found from another process, so these were not changed: {left}")
    return checked


def _found(
    builder: Callable[..., Any] | str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    environ: dict[str, str],
    *,
    timeout: float,
    network: bool,
) -> Builder | None:
    """Return what another process needs to find the builder and its arguments; None where it cannot."""
    folder = str(Path.cwd())
    path = tuple(entry or folder for entry in sys.path)
    if isinstance(builder, str):
        named = builder_of(builder, None, sys.executable, folder, environ)
        target, path = named.target, (*named.path, *path)
    else:
        place = _place(builder)
        if place is None:
            return None
        target, path = place[0], (*place[1], *path)
    try:
        pickled = pickle.dumps((args, kwargs))
    except Exception:  # pickling runs code of the arguments' own
        if isinstance(builder, str):
            raise
        return None
    return Builder(target, sys.executable, folder, path, (), {}, start_of_clock(), environ, pickled, timeout, network)


def _place(builder: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return (`module:name`, further folders of the search path) of a function that a module holds, else None."""
    module_name, name = getattr(builder, "__module__", None), getattr(builder, "__qualname__", None)
    module = sys.modules.get(str(module_name))
    if module is None or not name or "<" in name:
        return None
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is not builder:
        return None
    file = getattr(module, "__file__", None)
    if module_name != "__main__" and _spec_file(str(module_name)) == file:
        return f"{module_name}:{name}", ()
    return (f"{Path(file).stem}:{name}", (str(Path(file).parent),)) if file else None


def _spec_file(module: str) -> str | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec else None
