"""Recorded timings from files: CSV, JSON and JSONL, by row or by column."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.bench.audit.recording import Arm, Level, Probe, Recording
from prefixwise.core.errors import UserError

_ARMS = {
    Arm.CROSS: ("p", "c", "x", "h", "probe", "cross", "hit", "cache_hit", "foreign", "cross_tenant", "cross-tenant"),
    Arm.MISS: ("m", "n", "miss", "control", "cache_miss", "cold", "negative"),
    Arm.SAME: ("s", "o", "same", "own", "self", "same_tenant", "same-tenant", "positive", "positive_control"),
}
_ARM = {word: arm for arm, words in _ARMS.items() for word in words}
_LEVELS = {
    "per_user": Level.SAME_KEY,
    "same_key": Level.SAME_KEY,
    "same": Level.SAME_KEY,
    "keys": Level.KEYS,
    "per_org": Level.TENANTS,
    "tenants": Level.TENANTS,
    "global": Level.ORGANISATIONS,
    "organisations": Level.ORGANISATIONS,
    **{level.value: level for level in Level},
}
_CLOCKS = ("client", "server", "ttft", "latency", "time", "duration", "elapsed", "seconds")
_UNITS = {"_ms": 1e-3, "_s": 1.0, "_us": 1e-6, "_ns": 1e-9, "_seconds": 1.0, "_time": 1.0, "": 1.0}
_TIMES = {f"{clock}{unit}": (clock, scale) for clock in _CLOCKS for unit, scale in _UNITS.items()}
_START = ("t_s", "t", "at", "start", "sent_timestamp", "sent", "timestamp")
_CACHED = ("cached_tokens", "cached")
_WHERE = ("victim", "prober", "pair", "comparison", "condition", "route", "stage")
_USED_BY = 0.9
"""Share of the records that have a clock's time from which the clock is used."""

Row = Mapping[str, Any]


class File(msgspec.Struct, frozen=True):
    """What a file holds: its comparisons, and how many records could not be read."""

    recordings: tuple[Recording, ...]
    records: int
    broken: int
    form: str


def read_timings(path: Path, *, strict: bool = False) -> File:
    """Read recorded timings.

    Args:
        path: The file.
        strict: Whether a record that cannot be read ends the reading.

    Raises:
        UserError: The file cannot be read, is of no known shape, or holds no probe.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else "it is no UTF-8 text"
        raise UserError(f"cannot read the timings: {said}", str(path)) from None
    about, rows, form = _rows(text, path)
    groups: dict[tuple[str, ...], list[tuple[int, Row]]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(tuple(str(row.get(name) or "") for name in _WHERE), []).append((number, row))
    recordings = tuple(_recording(about, key, members, path, strict=strict) for key, members in groups.items())
    if not any(one.probes for one in recordings):
        needs = "each record needs an arm (miss, same, cross) and a time such as client_ms"
        raise UserError("the file holds no timings of an audit", str(path), needs, 3)
    records = sum(len(members) for members in groups.values())
    return File(recordings, records, sum(one.broken for one in recordings), form)


# -- shapes ----------------------------------------------------------------------------------------------------------


def _rows(text: str, path: Path) -> tuple[Row, list[Row], str]:
    """Return what the file says of the whole, its records, and the name of its shape."""
    if not text.lstrip().startswith(("{", "[")):
        return {}, list(_csv(text, path)), "csv"
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        about, rows = _lines(text, path)
        return about, rows, "jsonl"
    if isinstance(found, list):
        return {}, [one for one in found if isinstance(one, dict)], "json"
    for name in ("rows", "records", "probes", "samples"):
        if isinstance(found.get(name), list):
            return found, [one for one in found[name] if isinstance(one, dict)], "json"
    if isinstance(found.get("cache_hit"), list):
        return _released(found), list(_by_arm(found)), "json"
    if "arm" in found:
        return found, list(_by_column(found, path)), "json"
    raise UserError("this JSON has none of the known shapes", str(path), "see docs/audit.md for them")


def _csv(text: str, path: Path) -> Iterator[Row]:
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=mark)
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if "arm" not in names:
        raise UserError("the first line has no column called arm", str(path), "name the columns: arm,client_ms,…")
    reader.fieldnames = names
    try:
        yield from reader
    except csv.Error as problem:
        raise UserError(f"this is no CSV: {problem}", str(path)) from None


def _lines(text: str, path: Path) -> tuple[Row, list[Row]]:
    found: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
        except msgspec.DecodeError as problem:
            if number == 1:
                raise UserError(f"this is no JSON: {problem}", f"{path}:{number}") from None
            value = {}
        found.append(value if isinstance(value, dict) else {})
    if found and "arm" not in found[0]:
        return found[0], found[1:]
    return {}, found


def _by_column(found: Row, path: Path) -> Iterator[Row]:
    """Yield the records of an object that has a list a field, the arms one letter each."""
    arms = found["arm"]
    count = len(arms) if isinstance(arms, (str, list)) else 0
    columns = {
        name.lower(): value
        for name, value in found.items()
        if isinstance(value, list) and (name.lower() in _TIMES or name.lower() in (*_START, *_CACHED, *_WHERE, "block"))
    }
    for name, value in columns.items():
        if len(value) != count:
            raise UserError(f"{name} has {len(value):,} values for {count:,} arms", str(path))
    for at in range(count):
        yield {"arm": arms[at], **{name: value[at] for name, value in columns.items()}}


def _released(found: Row) -> Row:
    """Return what the files of "Auditing Prompt Caching in Language Model APIs" say of themselves."""
    config = found.get("config")
    return {"id": found.get("id"), **(config if isinstance(config, dict) else {})}


def _by_arm(found: Row) -> Iterator[Row]:
    """Yield the records of an object that has a list of records an arm, each alone or in a list of its own."""
    for name in ("cache_hit", "cache_miss"):
        listed = found.get(name)
        for one in listed if isinstance(listed, list) else ():
            for record in one if isinstance(one, list) else [one]:
                yield {"arm": name, **(record if isinstance(record, dict) else {})}


# -- records ---------------------------------------------------------------------------------------------------------


def _recording(about: Row, key: tuple[str, ...], rows: list[tuple[int, Row]], path: Path, *, strict: bool) -> Recording:
    named = [(number, {name.lower(): value for name, value in row.items() if name}) for number, row in rows]
    clocks = _clocks([row for _, row in named])
    read: list[tuple[float, Probe]] = []
    broken = 0
    for number, row in named:
        probe = _probe(row, clocks)
        if probe is None:
            broken += 1
            if strict:
                raise UserError("this is no probe: it has no known arm", f"{path}#{number}")
            continue
        start = next((value for name in _START if (value := _number(row.get(name))) is not None), None)
        read.append((math.nan if start is None else start, probe))
    if all(not math.isnan(start) for start, _ in read):
        read.sort(key=lambda one: one[0])
    probes = _without_zeros([probe for _, probe in read], len(clocks))
    victim, prober, *others = key
    name = " → ".join(part for part in (victim, prober) if part)
    whole = ", ".join(part for part in (name, *others) if part)
    return Recording(
        name=whole or str(about.get("id") or path.stem),
        level=_level(about, named[0][1] if named else {}),
        clocks=tuple(clock for clock, _, _ in clocks),
        probes=tuple(probes),
        header=_whole(about.get("header")),
        block=_whole(about.get("block_tokens")) or 1,
        matched=about["sham"] if isinstance(about.get("sham"), bool) else None,
        failed=sum(one.left_out != "" and not any(one.times) and one.cached is None for one in probes),
        broken=broken,
    )


def _level(about: Row, row: Row) -> Level:
    said = str(row.get("level") or about.get("level") or "").strip().lower()
    return _LEVELS.get(said, Level.UNKNOWN)


def _clocks(rows: Iterable[Row]) -> list[tuple[str, str, float]]:
    """Return (clock, column, seconds of a unit) of the clocks that nearly all records have, each once."""
    listed = list(rows)
    counts: dict[str, int] = {}
    for row in listed:
        for name in row:
            if name in _TIMES and _time(row[name]) is not None:
                counts[name] = counts.get(name, 0) + 1
    found: dict[str, tuple[str, str, float]] = {}
    for name, (clock, scale) in _TIMES.items():
        if counts.get(name, 0) >= max(1, _USED_BY * len(listed)):
            found.setdefault(clock, (clock, name, scale))
    if not found and counts:
        name = max(counts, key=lambda one: counts[one])
        clock, scale = _TIMES[name]
        found[clock] = (clock, name, scale)
    return list(found.values())


def _probe(row: Row, clocks: list[tuple[str, str, float]]) -> Probe | None:
    arm = _ARM.get(str(row.get("arm") or "").strip().lower())
    if arm is None:
        return None
    times = tuple(None if (time := _time(row.get(name))) is None else time * scale for _, name, scale in clocks)
    left_out = str(row.get("left_out") or "") or ("no time" if None in times else "")
    return Probe(
        arm=arm,
        times=times,
        block=_whole(row.get("block")),
        cached=next((value for name in _CACHED if (value := _whole(row.get(name))) is not None), None),
        left_out=left_out,
    )


def _without_zeros(probes: list[Probe], clocks: int) -> list[Probe]:
    """Put half of a coarse clock's smallest time in place of 0, which it shows for all that is shorter."""
    least = [
        min((value for one in probes if (value := one.times[at])), default=1.0) / 2 if probes else 1.0
        for at in range(clocks)
    ]
    return [
        msgspec.structs.replace(
            one, times=tuple(small if value == 0 else value for value, small in zip(one.times, least, strict=True))
        )
        for one in probes
    ]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _time(value: Any) -> float | None:
    number = _number(value)
    return None if number is None or number < 0 else number


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 0 and number == int(number) else None
