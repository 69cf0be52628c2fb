"""What `--under` can say of a hosted cache: names of systems, providers and models, and what a user settles."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from prefixwise.caches.cache_settings import Choices
from prefixwise.caches.facts import Family, System
from prefixwise.caches.hosted import Asked, replayable
from prefixwise.caches.lane import SEPARATORS
from prefixwise.caches.policy import POLICIES, only
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError

_PARAMETERS = (
    *("model", "minimum", "granularity", "ttl", "lookback", "interval", "hidden", "readable", "separate", "markers"),
    "tier",
)
_WHOLE = ("minimum", "granularity", "lookback", "interval", "hidden")


def asked_for(name: str, parameters: Mapping[str, str], book: Rulebook) -> Asked:
    """Return what a name and its parameters ask for.

    Raises:
        UserError: Nothing of that name is known, it passes requests on to other caches, or a parameter does not fit.
    """
    only(parameters, *_PARAMETERS)
    systems, model = _systems(name, book)
    shown = ",".join(f"{key}={value}" for key, value in sorted(parameters.items()))
    label = f"{name}:{shown}" if shown else name
    if "model" in parameters:
        model = parameters["model"]
        fitting = [system for system in book.rules_for(model, systems[0].provider) if system in systems]
        systems = (*fitting, *(system for system in systems if system not in fitting))[:1] if fitting else systems
    tier = parameters.get("tier", "")
    tiers = dict(systems[0].service_tiers)
    if tier and tier not in tiers:
        known = ", ".join(tiers) or "none"
        raise UserError(f"tier={tier[:100]} has no price factor here", help=f"known: {known}")
    return Asked(label, systems, _choices(parameters, systems, model), tier)


def names(book: Rulebook) -> tuple[str, ...]:
    """Return the names of every hosted system that can be replayed."""
    return tuple(system.id for system in book.systems() if replayable(system))


def _systems(name: str, book: Rulebook) -> tuple[tuple[System, ...], str]:
    """Return the systems that a name stands for, and the model where it is one's."""
    low = name.lower()
    by_id = {system.id: system for system in book.systems()}
    if low in by_id and not replayable(by_id[low]):
        raise _no_replay(by_id[low], book)
    provider = book.provider(low)
    if provider is not None:
        own = [s for s in by_id.values() if s.provider == provider.id and replayable(s)]
        if own:
            exact = by_id.get(low)
            return ((exact,) if exact in own and len(own) == 1 else _by_likelihood(own)), ""
    if low in by_id:
        return (by_id[low],), ""
    found = tuple(system for system in book.rules_for(name) if replayable(system))
    if not found:
        known = (*POLICIES.names(), *names(book), *(p for p in book.providers if _has_cache(p, by_id.values())))
        near = difflib.get_close_matches(low, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        shown = ", ".join(dict.fromkeys(sorted(known)))
        raise UserError(
            f"there is no cache rule, provider or model called {name[:100]!r}",
            help=f"{hint}known: {shown}, or a model of one of them",
        )
    return found[:1], name


def _has_cache(provider: str, systems: object) -> bool:
    return any(s.provider == provider and replayable(s) for s in systems)  # type: ignore[attr-defined]


def _by_likelihood(systems: list[System]) -> tuple[System, ...]:
    """Return the systems of a provider, the one that applies to an unknown model first: newest of those for all."""

    def key(system: System) -> tuple[bool, bool, str]:
        return (system.opt_in, system.family is Family.FIXED_INTERVAL, system.id)

    return tuple(sorted(systems, key=key))


def _no_replay(system: System, book: Rulebook) -> UserError:
    what = "passes requests on to other caches" if system.kind.value == "hosted" else "has no rule of its own yet"
    return UserError(f"{system.name} {what}", help=f"known: {', '.join(sorted((*POLICIES.names(), *names(book))))}")


def _choices(parameters: Mapping[str, str], systems: tuple[System, ...], model: str) -> Choices:
    whole = {name: _whole(name, parameters[name]) for name in _WHOLE if name in parameters}
    separate = None
    if "separate" in parameters:
        separate = tuple(part for part in parameters["separate"].split("+") if part and part != "nothing")
        for part in separate:
            if part not in SEPARATORS:
                raise UserError(f"{part[:100]!r} separates no caches", help=f"known: nothing, {', '.join(SEPARATORS)}")
    markers = parameters.get("markers")
    if markers not in (None, "logged", "auto"):
        raise UserError(f"markers={str(markers)[:100]} is neither logged nor auto")
    return Choices(
        model=model or None,
        ttl=_ttl(parameters.get("ttl"), systems),
        readable=_readable(parameters.get("readable")),
        separate=separate,
        markers=markers,
        **whole,
    )


def _whole(name: str, text: str) -> int:
    if (
        not text.isascii()
        or not text.isdecimal()
        or len(text) > 9
        or (name != "minimum" and name != "hidden" and not int(text))
    ):
        raise UserError(f"{name}={text[:100]} is no number of {'positions' if name == 'lookback' else 'tokens'}")
    return int(text)


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _ttl(text: str | None, systems: tuple[System, ...]) -> float | str | None:
    if text is None or (seconds := _seconds(text)) is not None:
        return None if text is None else seconds
    known = sorted({option.name for system in systems for option in system.ttl_options})
    if text not in known:
        raise UserError(f"ttl={text[:100]} is no lifetime", help=f"seconds, or one of: {', '.join(known) or 'none'}")
    return text


def _readable(text: str | None) -> float | str | None:
    if text is None or text in ("start", "end"):
        return text
    seconds = _seconds(text)
    if seconds is None:
        raise UserError(f"readable={text[:100]} is not start, end or seconds after the end")
    return seconds
