"""What `check` changes around a prompt builder: the knobs, each with the variants that it is turned to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Order = Literal["native", "reversed", "shuffled"]
Folder = Literal["as it is", "renamed", "elsewhere"]
Variables = Literal["as they are", "names", "added", "changed", "unset"]


class Surroundings(msgspec.Struct, frozen=True):
    """What a builder is run in; the defaults are the unperturbed ones.

    Attributes:
        clock: Seconds by which the clock is moved.
        hash_seed: `PYTHONHASHSEED`.
        random: Seed of random numbers, None to leave them random.
        zone, locale: Value of `TZ`, and of `LC_ALL` and `LANG`; None for the user's own.
        folder: The working folder, the same one under another name, or an empty one.
        variables: Names of person and machine changed, variables added, or those changed or unset that were read.
        order: In which order folders are listed.
    """

    clock: float = 0.0
    hash_seed: int = 0
    random: int | None = None
    zone: str | None = None
    locale: str | None = None
    folder: Folder = "as it is"
    variables: Variables = "as they are"
    order: Order = "native"


class Knob(msgspec.Struct, frozen=True):
    """One thing that is changed.

    Attributes:
        name: As in `--knob`.
        title: As people read it.
        idle: Why it was not tested, where the builder did not ask for it.
        variants: (label, fields of `Surroundings` that differ).
    """

    name: str
    title: str
    idle: str
    variants: tuple[tuple[str, Mapping[str, Any]], ...]


_DAY = 86_400
ZONES = ("Pacific/Kiritimati", "Etc/GMT+12", "<+0545>-5:45")
"""26 hours lie between the first two: at any time, one of them has another date than the user."""

KNOBS = (
    Knob(
        "clock",
        "clock",
        "nothing asked the clock",
        (
            ("+1 s", {"clock": 1.0}),
            ("+61 min", {"clock": 3660.0}),
            ("+1 d", {"clock": 1.0 * _DAY}),
            ("+40 d", {"clock": 40.0 * _DAY}),
        ),
    ),
    Knob(
        "hash-seed",
        "hash seed",
        "no loaded code makes a set or asks for a hash",
        tuple((f"seed {seed}", {"hash_seed": seed}) for seed in range(1, 9)),
    ),
    Knob(
        "random-seed",
        "random seed",
        "nothing asked for random numbers",
        tuple((f"seed {seed}", {"random": seed}) for seed in range(1, 4)),
    ),
    Knob(
        "zone",
        "time zone",
        "nothing asked for the local time",
        tuple((zone, {"zone": zone}) for zone in ZONES),
    ),
    Knob(
        "locale",
        "locale",
        "nothing asked for the locale",
        tuple((name, {"locale": name}) for name in ("C", "de_DE.UTF-8", "tr_TR.UTF-8")),
    ),
    Knob(
        "cwd",
        "working folder",
        "nothing asked for the working folder",
        (("the same, renamed", {"folder": "renamed"}), ("an empty one", {"folder": "elsewhere"})),
    ),
    Knob(
        "environment",
        "environment",
        "nothing read the environment",
        (
            ("names of user and host", {"variables": "names"}),
            ("variables added", {"variables": "added"}),
            ("variables changed", {"variables": "changed"}),
            ("variables unset", {"variables": "unset"}),
        ),
    ),
    Knob(
        "directory-order",
        "order of folders",
        "nothing listed a folder of two files or more",
        (("reversed", {"order": "reversed"}), ("shuffled", {"order": "shuffled"})),
    ),
    Knob(
        "all",
        "all together",
        "nothing that is changed was asked for",
        (
            (
                "all at once",
                {
                    "clock": 40.0 * _DAY + 3661.0,
                    "hash_seed": 9,
                    "random": 4,
                    "zone": "Pacific/Kiritimati",
                    "locale": "C",
                    "folder": "renamed",
                    "variables": "names",
                    "order": "reversed",
                },
            ),
        ),
    ),
)
KNOB_NAMES = tuple(knob.name for knob in KNOBS)
