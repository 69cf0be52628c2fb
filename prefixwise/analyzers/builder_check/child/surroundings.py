"""The surroundings that a prompt builder is run in: clock, randomness, environment, folders, network.

For `job.py`, in the user's interpreter: standard library only, nothing of prefixwise, Python 3.8 and newer. The clock
is moved by replacing functions, so what asks the operating system by another way (other programs, compiled code) sees
the real one. Every replaced function notes that it was called: what nobody asked was not tested.
"""

from __future__ import annotations

import datetime
import errno
import locale
import os
import random
import sys
import threading
import time
import types
from typing import Any, Callable, Iterator  # noqa: UP035 - runs under Python 3.8 too

_RUNS_AGAIN = 10_000
"""Calls after which a clock that stands still runs: who waits for time to pass must not wait for ever."""

_HERE = os.path.dirname(__file__)
_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))
_NETWORK = {
    "socket.connect": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
}
"""Audit events by which a process reaches another one, and which of their arguments is the address."""
_PROGRAMS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")


class Seen:
    """What the builder, or what it calls, asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.variables: set[str] = set()
        self.refused: dict[str, None] = {}
        self.programs: dict[str, None] = {}

    def note(self, what: str) -> bool:
        """Count a question, unless the standard library asked for reasons of its own; say whether it counted."""
        if not _from_builder():
            return False
        self.asked[what] = self.asked.get(what, 0) + 1
        return True


def _from_builder() -> bool:
    """Say whether the call comes from outside the standard library, other than by logging or importing."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        name = str(frame.f_globals.get("__name__", ""))
        if os.path.dirname(code.co_filename) == _HERE:
            frame = frame.f_back
            continue
        if not is_library(code.co_filename):
            return True
        top = name.partition(".")[0]
        if top in ("logging", "importlib", "_frozen_importlib", "_frozen_importlib_external") or (
            code.co_name == "<module>"
        ):
            return False
        frame = frame.f_back
    return False


def is_library(path: str) -> bool:
    """Say whether a file is part of Python itself."""
    if path.startswith("<frozen"):
        return True
    return path.startswith(_LIBRARY + os.sep) and "site-packages" not in path and "dist-packages" not in path


class Clock:
    """A clock that stands still, but for a microsecond a look and for what is slept."""

    def __init__(self, start: float, seen: Seen) -> None:
        self._start = start
        self._seen = seen
        self._looks = 0
        self._runs_since = 0.0
        self.slept = 0.0

    def now(self, local: bool = False) -> float:
        """Return seconds since the epoch."""
        if self._seen.note("clock") and local:
            self._seen.note("zone")
        self._looks += 1
        if self._looks == _RUNS_AGAIN:
            self._runs_since = time.monotonic()
        ran = time.monotonic() - self._runs_since if self._looks >= _RUNS_AGAIN else 0.0
        return self._start + self.slept + self._looks / 1e6 + ran


def move_time(clock: Clock) -> None:
    """Make module `time` tell what `clock` tells; monotonic clocks have no date and stay."""
    real: dict[str, Any] = dict(vars(time))

    def of(name: str, local: bool) -> Callable[..., Any]:
        def moved(seconds: float | None = None) -> Any:
            return real[name](clock.now(local) if seconds is None else seconds)

        return moved

    def asctime(parts: Any = None) -> str:
        return str(real["asctime"](real["localtime"](clock.now(local=True)) if parts is None else parts))

    def strftime(form: str, parts: Any = None) -> str:
        return str(real["strftime"](form, real["localtime"](clock.now(local=True)) if parts is None else parts))

    def sleep(seconds: float) -> None:
        real["sleep"](seconds)
        clock.slept += seconds

    def clock_gettime(which: int) -> float:
        return clock.now() if which == real["CLOCK_REALTIME"] else real["clock_gettime"](which)

    def clock_gettime_ns(which: int) -> int:
        return int(clock.now() * 1e9) if which == real["CLOCK_REALTIME"] else real["clock_gettime_ns"](which)

    replaced: dict[str, Callable[..., Any]] = {
        "time": lambda: clock.now(),
        "time_ns": lambda: int(clock.now() * 1e9),
        "localtime": of("localtime", local=True),
        "gmtime": of("gmtime", local=False),
        "ctime": of("ctime", local=True),
        "asctime": asctime,
        "strftime": strftime,
        "sleep": sleep,
        "clock_gettime": clock_gettime,
        "clock_gettime_ns": clock_gettime_ns,
    }
    for name, function in replaced.items():
        if name in real:
            setattr(time, name, function)


def move_datetime(clock: Clock) -> bool:
    """Make `datetime.now`, `utcnow` and `today` tell what `clock` tells; say whether this interpreter lets that be."""
    from_timestamp = datetime.datetime.__dict__["fromtimestamp"]
    date_from_timestamp = datetime.date.__dict__["fromtimestamp"]

    def now(cls: Any, tz: Any = None) -> Any:
        return from_timestamp.__get__(None, cls)(clock.now(local=tz is None), tz)

    def utcnow(cls: Any) -> Any:
        return from_timestamp.__get__(None, cls)(clock.now(), datetime.timezone.utc).replace(tzinfo=None)  # noqa: UP017

    def today(cls: Any) -> Any:
        return date_from_timestamp.__get__(None, cls)(clock.now(local=True))

    moments: dict[str, Any] = {"now": now, "utcnow": utcnow, "today": now}
    return _replace_methods(datetime.datetime, moments) and _replace_methods(datetime.date, {"today": today})


def _replace_methods(cls: Any, methods: dict[str, Any]) -> bool:
    """Put class methods into a class, in place, so that whoever holds the class already has them; say if it worked.

    Classes written in C refuse assignment; their dictionary does not, once the interpreter is told to look again.
    """
    try:
        for name, function in methods.items():
            setattr(cls, name, classmethod(function))
        return True
    except TypeError:
        pass
    try:
        import ctypes
        import gc

        (namespace,) = (held for held in gc.get_referents(cls.__dict__) if isinstance(held, dict))
        namespace.update({name: classmethod(function) for name, function in methods.items()})
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))
    except Exception:  # no ctypes, or another interpreter
        return False
    return all(getattr(cls, name).__func__ is function for name, function in methods.items())


def watch_environment(seen: Seen) -> None:
    """Note which environment variables are read."""
    kind: Any = type(os.environ)
    get, keys = kind.__getitem__, kind.__iter__

    def getitem(self: Any, key: Any) -> Any:
        if seen.note("environment"):
            seen.variables.add(os.fsdecode(key) if isinstance(key, (str, bytes)) else "")
        return get(self, key)

    def iterate(self: Any) -> Iterator[Any]:
        seen.note("every variable")
        return iter(list(keys(self)))

    kind.__getitem__, kind.__iter__ = getitem, iterate


class Entries:
    """What `os.scandir` returns, in another order."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget the rest."""
        self._entries = iter(())


def order_folders(order: str, seen: Seen) -> None:
    """List folders in another order, and note that they are listed; fewer than two entries have no order."""
    listdir, scandir = os.listdir, os.scandir

    def arranged(found: list[Any]) -> list[Any]:
        if len(found) > 1:
            seen.note("order")
        if order == "reversed":
            found.reverse()
        elif order == "shuffled":
            random.Random(len(found)).shuffle(found)  # noqa: S311 - an order, no secret
        return found

    def names(path: Any = None) -> list[Any]:
        return arranged(list(listdir(path)))

    def scan(path: Any = None) -> Entries:
        with scandir(path) as entries:
            return Entries(arranged(list(entries)))

    if scandir in os.supports_fd:
        os.supports_fd.update((names, scan))
    setattr(os, "listdir", names)  # noqa: B010
    setattr(os, "scandir", scan)  # noqa: B010


def move_folder(alias: str | None, seen: Seen) -> None:
    """Call the working folder by another name, and note that its name is asked for."""
    getcwd, chdir = os.getcwd, os.chdir
    names: list[str | None] = [alias]

    def where() -> str:
        seen.note("folder")
        return names[0] or getcwd()

    def go(path: Any) -> None:
        chdir(path)
        names[0] = None

    setattr(os, "getcwd", where)  # noqa: B010
    setattr(os, "getcwdb", lambda: os.fsencode(where()))  # noqa: B010
    setattr(os, "chdir", go)  # noqa: B010


def rename_host(name: str | None, seen: Seen) -> None:
    """Give the machine another name, and note that it is asked for."""
    if hasattr(os, "uname"):
        uname = os.uname

        def named() -> Any:
            seen.note("host")
            facts = list(uname())
            return os.uname_result([facts[0], name or facts[1], *facts[2:]])

        setattr(os, "uname", named)  # noqa: B010
    if name is not None:
        import socket

        setattr(socket, "gethostname", lambda: name)  # noqa: B010


def watch_locale(seen: Seen) -> None:
    """Note that the locale is asked for."""
    for name in ("setlocale", "getlocale", "getdefaultlocale", "localeconv", "nl_langinfo", "getpreferredencoding"):
        if hasattr(locale, name):
            setattr(locale, name, _noting(getattr(locale, name), "locale", seen))


def _noting(function: Any, what: str, seen: Seen) -> Any:
    def noted(*args: Any, **kwargs: Any) -> Any:
        seen.note(what)
        return function(*args, **kwargs)

    return noted


def seed_randomness(seed: int | None, seen: Seen) -> None:
    """Note that random bytes are asked for; with a seed, they are the same in every run, and so is `random`."""
    real = os.urandom
    source = random.Random(f"bytes {seed}")  # noqa: S311 - the same in every run
    lock = threading.Lock()

    def urandom(size: int) -> bytes:
        seen.note("random")
        if seed is None:
            return real(size)
        with lock:
            return bytes(source.getrandbits(8) for _ in range(size))

    setattr(os, "urandom", urandom)  # noqa: B010
    setattr(random, "_urandom", urandom)  # noqa: B010 - what SystemRandom, and so `secrets`, asks
    if seed is not None:
        random.seed(seed)


def seed_numpy(seed: int | None) -> Any:
    """Seed numpy's own generator where numpy is in use; return its state."""
    numpy = sys.modules.get("numpy")
    generator = getattr(numpy, "random", None)
    if generator is None:
        return None
    if seed is not None:
        generator.seed(seed)
    return repr(generator.get_state())


def guard(seen: Seen, network: bool) -> None:
    """Refuse to reach other processes unless `network`, and note which programs are started."""

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            program = args[0] if isinstance(args[0], (str, bytes, os.PathLike)) else "a program"
            seen.programs[os.path.basename(os.fsdecode(program)).split(" ")[0]] = None
        elif event == "socket.gethostname":
            seen.note("host")
        elif event in _NETWORK and not network:
            address = args[_NETWORK[event]]
            if address is None:  # down a pair of connected sockets
                return
            seen.refused[":".join(map(str, address[:2])) if isinstance(address, tuple) else str(address)] = None
            raise PermissionError(errno.EACCES, "the network is refused by prefixwise check (--allow-network)")

    sys.addaudithook(hook)
