"""The environment that a builder is given: without secrets, and changed as a knob says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from prefixwise.analyzers.builder_check.knobs import Surroundings
from prefixwise.core.secret_shapes import secret_spans

STAND_IN = "replaced-by-prefixwise"
_SECRET_WORD = re.compile(
    r"(?i)(?:key|token|secret|password|passwd|passphrase|credentials?|cookie|dsn|apikeys?)\Z|\A(?:pass|pat|auth)\Z"
)
_SECRET_KINDS = frozenset({"private-key", "key", "token", "password"})

NAMES = {
    "USER": "prefixwise",
    "LOGNAME": "prefixwise",
    "USERNAME": "prefixwise",
    "HOSTNAME": "prefixwise-host",
    "COMPUTERNAME": "prefixwise-host",
}
"""Names of person and machine; `HOME` and `USERPROFILE` are changed with them."""
HOST = NAMES["HOSTNAME"]
_ADDED = {"PREFIXWISE_CHECK": "1", "DEBUG": "1", "CI": "true"}
_HOMES = ("HOME", "USERPROFILE")
_OTHER_KNOBS = re.compile(r"TZ\Z|LANG\Z|LANGUAGE\Z|LC_|PWD\Z|OLDPWD\Z")
_NEEDED = re.compile(
    r"(?i)(?:PATH|PATHEXT|SYSTEMROOT|COMSPEC|WINDIR|TMPDIR|TEMP|TMP|VIRTUAL_ENV|APPDATA|LOCALAPPDATA)\Z"
    r"|PYTHON|LD_|DYLD_|CONDA|PREFIXWISE_|COV_|COVERAGE"
)


def is_secret(name: str, value: str) -> bool:
    """Say whether a variable looks like a secret, by a word of its name or by its value."""
    if any(_SECRET_WORD.search(word) for word in name.split("_")):
        return True
    return any(span.kind in _SECRET_KINDS for span in secret_spans(value[:4096]))


def without_secrets(environ: Mapping[str, str], passed: Collection[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the environment with every secret replaced but those named in `passed`, and the names replaced."""
    replaced = tuple(sorted(name for name, value in environ.items() if name not in passed and is_secret(name, value)))
    return {**environ, **dict.fromkeys(replaced, STAND_IN)}, replaced


def changeable(names: Collection[str]) -> tuple[str, ...]:
    """Return which of the variables that were read the environment knob changes: not those of other knobs."""
    return tuple(sorted(name for name in names if name and not _NEEDED.match(name) and not _OTHER_KNOBS.match(name)))


def environment_for(
    environ: Mapping[str, str], turned: Surroundings, read: Collection[str], home: str, user_base: str
) -> dict[str, str]:
    """Return the environment of one run.

    Args:
        environ: Without secrets.
        turned: What is changed.
        read: Variables that the builder was seen to read.
        home: Folder that stands in for the home.
        user_base: Where the interpreter looks for the user's packages, which must not move with the home.
    """
    made = {**environ, "PYTHONHASHSEED": str(turned.hash_seed)}
    if turned.zone is not None:
        made["TZ"] = turned.zone
    if turned.locale is not None:
        made.update(LC_ALL=turned.locale, LANG=turned.locale)
    own = [name for name in changeable(read) if name not in NAMES and name not in _HOMES]
    if turned.variables == "names":
        made.update(NAMES)
        made.update(dict.fromkeys(_HOMES, home))
        if user_base:
            made["PYTHONUSERBASE"] = user_base
    elif turned.variables == "added":
        made.update(_ADDED)
    elif turned.variables == "changed":
        made.update(dict.fromkeys(own, "changed-by-prefixwise"))
    elif turned.variables == "unset":
        for name in own:
            made.pop(name, None)
    return made
