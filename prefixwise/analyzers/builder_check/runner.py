"""Runs a prompt builder in processes of its own, each started afresh and ended whole."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from prefixwise.analyzers.builder_check.knobs import Surroundings
from prefixwise.analyzers.builder_check.variables import HOST, environment_for
from prefixwise.core.errors import UserError

CHILD = Path(__file__).parent / "child" / "job.py"
_STDERR_KEPT = 16_384
_LARGEST = 256 * 2**20
_OLDEST = (3, 8)
_PROBE = "import site, sys; print(sys.version_info[0], sys.version_info[1], site.getuserbase(), sep='\\n')"


class Builder(msgspec.Struct, frozen=True):
    """Which builder to run, and how.

    Attributes:
        target: `package.module:function`.
        python: The interpreter.
        folder: The working folder, where imports begin.
        path: Folders that go before the interpreter's own search path.
        args, kwargs: What the builder is called with.
        pickled: The same as a pickle, where JSON does not have it; wins.
        clock: Seconds since the epoch at which every run begins.
        timeout: Seconds a run may take.
        network: Whether other machines may be reached.
        environ: The environment, secrets replaced.
    """

    target: str
    python: str
    folder: str
    path: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    clock: float
    environ: Mapping[str, str]
    pickled: bytes = b""
    timeout: float = 60.0
    network: bool = False


class Failure(msgspec.Struct, frozen=True):
    """What a builder raised, at which step, and where in the user's code: (file, line, function)."""

    step: str
    type: str
    message: str
    frame: tuple[str, int, str] | None = None
    missing: str | None = None


class Ran(msgspec.Struct, frozen=True):
    """What became of one run.

    Attributes:
        value: The result as JSON; None where there is none.
        failure: Why not.
        asked: How often the builder asked for what knobs change, by name.
        variables: Environment variables that it read.
        refused: Addresses that it was not let reach.
        programs: Programs that it started.
        hash, zone: What tells that the hash seed and the zone took effect.
        sets: Whether loaded code makes sets; known where it was asked for.
        stderr: The end of what it wrote there.
    """

    value: str | None = None
    failure: Failure | None = None
    asked: Mapping[str, int] = {}
    variables: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    hash: int = 0
    zone: str = ""
    sets: bool = False
    moves_datetime: bool = True
    stderr: str = ""


class Runner:
    """Runs one builder again and again; a context manager that leaves no process and no file behind."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._live: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._runs = 0
        self._user_base = ""
        self.version = ""

    def __enter__(self) -> Runner:
        self._room = Path(os.path.realpath(tempfile.mkdtemp(prefix="prefixwise-check-")))
        for name in ("home", "elsewhere"):
            (self._room / name).mkdir()
        with contextlib.suppress(OSError, NotImplementedError):  # Windows lets not everybody make links
            (self._room / "same-folder").symlink_to(self._builder.folder, target_is_directory=True)
        try:
            self._probe()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            live = list(self._live)
        for process in live:
            _end(process)
        shutil.rmtree(self._room, ignore_errors=True)

    @property
    def runs(self) -> int:
        """How many runs were started."""
        return self._runs

    def can(self, turned: Surroundings) -> bool:
        """Say whether this system lets the surroundings be changed so."""
        if turned.zone is not None and os.name == "nt":
            return False
        return turned.folder != "renamed" or (self._room / "same-folder").exists()

    def run(self, turned: Surroundings, read: Collection[str] = (), *, look_for_sets: bool = False) -> Ran:
        """Run the builder once in changed surroundings; `read` are the variables that it was seen to read."""
        with self._lock:
            self._runs += 1
            number = self._runs
        result = self._room / f"result-{number}"
        job = self._room / f"job-{number}"
        job.write_text(json.dumps(self._job(turned, result, look_for_sets=look_for_sets)), encoding="utf-8")
        environment = environment_for(self._builder.environ, turned, read, str(self._room / "home"), self._user_base)
        folder = self._builder.folder
        if turned.folder == "elsewhere":
            folder = str(self._room / "elsewhere")
        if "PWD" in environment:
            environment["PWD"] = str(self._room / "same-folder") if turned.folder == "renamed" else folder
        code, stderr = self._start([self._builder.python, str(CHILD), str(job)], folder, environment)
        return self._read(result, code, stderr)

    def _job(self, turned: Surroundings, result: Path, *, look_for_sets: bool) -> dict[str, Any]:
        builder = self._builder
        return {
            "target": builder.target,
            "args": builder.args,
            "kwargs": builder.kwargs,
            "pickled": base64.b64encode(builder.pickled).decode(),
            "path": builder.path,
            "clock": builder.clock + turned.clock,
            "random": turned.random,
            "order": turned.order,
            "folder": str(self._room / "same-folder") if turned.folder == "renamed" else None,
            "host": HOST if turned.variables == "names" else None,
            "network": builder.network,
            "sets": look_for_sets,
            "result": str(result),
        }

    def _start(self, command: list[str], folder: str, environment: Mapping[str, str]) -> tuple[int | None, str]:
        """Run a process to its end; return its exit code, None where it ran out of time, and the end of its stderr."""
        apart: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        with self._lock:
            if self._closed:
                raise UserError("interrupted")
            process = subprocess.Popen(  # noqa: S603 - the user named the builder and the interpreter
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                **apart,
            )
            self._live.add(process)
        tail = bytearray()
        reader = threading.Thread(target=_keep_tail, args=(process.stderr, tail), daemon=True)
        reader.start()
        try:
            code: int | None = process.wait(self._builder.timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
            with self._lock:
                self._live.discard(process)
        reader.join(1.0)  # a process that left the group may hold the other end
        return code, tail.decode("utf-8", "replace")

    def _read(self, result: Path, code: int | None, stderr: str) -> Ran:
        """Return what a run left."""
        if not result.exists():
            said = f"it ran longer than {self._builder.timeout:g} s and was ended"
            if code is not None:
                said = f"its process ended with {_ending(code)} before the builder returned"
            kind = "timeout" if code is None else "ended"
            return Ran(failure=Failure("call", kind, said), stderr=stderr)
        if result.stat().st_size > _LARGEST:
            return Ran(
                failure=Failure("result", "large", f"the result is larger than {_LARGEST >> 20} MiB"), stderr=stderr
            )
        data = result.read_bytes()
        result.unlink()
        ran = msgspec.json.decode(data, type=Ran)
        value = ran.value and ran.value.replace(str(self._room), "/prefixwise-check")
        return msgspec.structs.replace(ran, value=value, stderr=stderr)

    def _probe(self) -> None:
        """Find out what the interpreter is. Raises UserError where it is none, or too old."""
        python = self._builder.python
        try:
            done = subprocess.run(  # noqa: S603 - the user named it
                [python, "-c", _PROBE],
                env=dict(self._builder.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=30,
                check=True,
            )
            major, minor, self._user_base = done.stdout.decode("utf-8", "replace").splitlines()[:3]
            version = (int(major), int(minor))
        except (OSError, ValueError, subprocess.SubprocessError):
            raise UserError("this is no Python that runs", python, "name one with --python") from None
        if version < _OLDEST:
            raise UserError(f"Python {major}.{minor} is too old", python, "the check runs under Python 3.8 and newer")
        self.version = f"{major}.{minor}"


def _keep_tail(stream: IO[bytes], tail: bytearray) -> None:
    with contextlib.suppress(ValueError, OSError):
        while chunk := stream.read1(65_536):  # type: ignore[attr-defined]
            tail += chunk
            del tail[:-_STDERR_KEPT]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    if os.name == "nt":
        if process.poll() is None:
            subprocess.run(  # noqa: S603
                ["taskkill", "/F", "/T", "/PID", str(process.pid)],  # noqa: S607
                capture_output=True,
                check=False,
            )
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"code {code}"
