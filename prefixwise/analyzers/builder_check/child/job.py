"""Runs a prompt builder once, in the user's interpreter, with some of its surroundings changed.

Started by `runner.py` as a program of its own (`python job.py JOB`), never imported: it needs the standard library
and its neighbour `surroundings.py` only, so nothing of prefixwise reaches the user's interpreter. What it finds out
goes into the file that the job names; what the builder prints disturbs nobody.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
import sys
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixwise.analyzers.builder_check.child import surroundings


def neighbour() -> Any:
    """Load `surroundings.py` under a name that no module of the user's has; this folder leaves the search path."""
    folder = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.realpath(path or ".") != folder]
    path = os.path.join(os.path.dirname(__file__), "surroundings.py")
    spec = importlib.util.spec_from_file_location("_prefixwise_surroundings", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    surroundings = neighbour()


def load(target: str) -> Any:
    """Return what `package.module:name` names."""
    module, _, name = target.rpartition(":")
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def call(function: Any, job: dict[str, Any]) -> Any:
    """Call the builder, and wait for it where it is asynchronous."""
    args, kwargs = job["args"], job["kwargs"]
    if job.get("pickled"):
        import base64
        import pickle

        args, kwargs = pickle.loads(base64.b64decode(job["pickled"]))  # noqa: S301 - pickled by the test that asks
    value = function(*args, **kwargs)
    if hasattr(value, "__await__") or hasattr(value, "__aiter__"):
        import asyncio

        async def wait() -> Any:
            return [item async for item in value] if hasattr(value, "__aiter__") else await value

        value = asyncio.run(wait())
    return value


def plain(value: Any, place: str = "") -> Any:
    """Return `value` as JSON has it. Raises TypeError, with the place, for what JSON does not have."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{place or 'the result'} has a key that is no text: {type(key).__name__}")
        return {key: plain(item, f"{place}/{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{place}/{index}") for index, item in enumerate(value)]
    if isinstance(value, (types.GeneratorType, map, filter)):
        return plain(list(value), place)
    if isinstance(getattr(value, "type", None), str) and hasattr(value, "content"):  # a message of LangChain
        return {"type": value.type, "content": plain(value.content, f"{place}/content")}
    for name in ("to_messages", "model_dump", "to_dict", "dict", "_asdict"):
        if callable(getattr(value, name, None)) and not isinstance(value, type):
            return plain(getattr(value, name)(), place)
    fields = getattr(value, "__dataclass_fields__", None) or getattr(value, "__struct_fields__", None)
    if fields is not None and not isinstance(value, type):
        return {name: plain(getattr(value, name), f"{place}/{name}") for name in fields}
    raise TypeError(f"{place or 'the result'} is {type(value).__name__}, which JSON does not have")


def makes_sets() -> bool:
    """Say whether any loaded code but Python's own makes a set or asks for a hash: only there a hash seed shows."""
    import opcode

    makers = {opcode.opmap[name] for name in ("BUILD_SET", "SET_ADD", "SET_UPDATE") if name in opcode.opmap}
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        path = getattr(module, "__file__", None) or ""
        if (
            spec is None
            or not path.endswith(".py")
            or surroundings.is_library(path)
            or not hasattr(spec.loader, "get_code")
        ):
            continue
        codes = [spec.loader.get_code(spec.name)]
        while codes:
            code = codes.pop()
            if code is None:
                return True  # no way to know
            if makers & set(code.co_code[::2]) or {"set", "frozenset", "hash"} & set(code.co_names):
                return True
            codes.extend(inner for inner in code.co_consts if isinstance(inner, types.CodeType))
    return False


def failure(problem: BaseException) -> dict[str, Any]:
    """Say what was raised, and where in the user's code."""
    frames = []
    trace = problem.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    frames = [
        frame
        for frame in frames
        if os.path.dirname(frame[0]) != os.path.dirname(__file__) and not frame[0].startswith("<frozen")
    ]
    own = [frame for frame in frames if "site-packages" not in frame[0] and not surroundings.is_library(frame[0])]
    if isinstance(problem, SyntaxError) and problem.filename:
        own.append((problem.filename, problem.lineno or 0, ""))
    missing = isinstance(problem, ModuleNotFoundError) and problem.name
    where = (own or frames)[-1] if own or frames else None
    said = (str(problem).strip().splitlines() or [""])[0]
    return {"type": type(problem).__name__, "message": said[:500], "frame": where, "missing": missing or None}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job and return what became of it."""
    around = surroundings
    seen = around.Seen()
    random.seed(job["random"])
    clock = around.Clock(job["clock"], seen)
    zone = time.strftime("%z %Z", time.localtime(job["clock"]))
    around.move_time(clock)
    found: dict[str, Any] = {"moves_datetime": around.move_datetime(clock), "zone": zone, "hash": hash("prefixwise")}
    around.seed_randomness(job["random"], seen)
    around.rename_host(job["host"], seen)
    around.order_folders(job["order"], seen)
    around.move_folder(job["folder"], seen)
    around.watch_locale(seen)
    around.watch_environment(seen)
    state = random.getstate()
    around.guard(seen, job["network"])
    sys.path[:0] = job["path"]
    sys.argv[:] = ["prefixwise-check"]
    step = "import"
    try:
        function = load(job["target"])
        step = "call"
        numpy_state = around.seed_numpy(job["random"])
        value = call(function, job)
        step = "result"
        found["value"] = json.dumps(plain(value), allow_nan=False)
        if job["sets"]:
            found["sets"] = makes_sets()
    except BaseException as problem:  # what ends the builder is told, not raised
        found["failure"] = {**failure(problem), "step": step}
    else:
        if random.getstate() != state or (numpy_state and around.seed_numpy(None) != numpy_state):
            seen.asked["random"] = seen.asked.get("random", 0) + 1
    found["asked"] = seen.asked
    found["variables"] = sorted(seen.variables)
    found["refused"] = list(seen.refused)
    found["programs"] = list(seen.programs)
    return found


def main() -> None:
    """Read the job, run it, leave what it found; threads that the builder left running hold nothing up."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    write, replace = open, os.replace
    found = run(job)
    with write(job["result"] + ".part", "w", encoding="utf-8") as file:
        json.dump(found, file)
    replace(job["result"] + ".part", job["result"])
    os._exit(0)


if __name__ == "__main__":
    main()
