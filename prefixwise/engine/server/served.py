"""What a server serves: a model, real or simulated, and the engines that run it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.caches.tiers import Tiers
from prefixwise.engine.engine import Engine
from prefixwise.engine.server.faults import Faults
from prefixwise.engine.server.faulty_caches import LeakyTiers, TimedCache, Times
from prefixwise.engine.settings import EngineSettings
from prefixwise.engine.sim_model import SIM, SimVocabulary, sim_engine
from prefixwise.engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Served:
    """A model and the engines that run it.

    Attributes:
        name: Name of the model, as clients ask for it.
        vocabulary: Its tokenizer and chat template.
        engines: One, or one a replica.
        about: What `/health` says of it.
    """

    name: str
    vocabulary: Vocabulary
    engines: tuple[Engine, ...]
    about: dict[str, Any]

    @property
    def context(self) -> int:
        """Most tokens of prompt and answer."""
        engine = self.engines[0]
        # The last token of an answer has no keys and values.
        return min(engine.context, engine.cache.capacity * engine.cache.block_size + 1)


def with_faults(settings: EngineSettings, faults: Faults) -> EngineSettings:
    """Return the settings as faults change them."""
    if faults.no_cache:
        settings = msgspec.structs.replace(settings, index="none", host="", disk=None)
    if faults.fifo:
        block = settings.block if settings.block or faults.block else settings.block_size
        settings = msgspec.structs.replace(settings, index="radix", eviction="fifo", block=block)
    return msgspec.structs.replace(settings, block=faults.block) if faults.block else settings


def serve_model(settings: EngineSettings, faults: Faults, name: str, warn: Callable[[str], None]) -> Served:
    """Return the model that settings ask for, ready to be served.

    Args:
        settings: What engines are made of; a model named `sim:…` needs no torch.
        faults: What goes wrong on purpose.
        name: Name for clients; empty for the model's own.
        warn: Called with what goes wrong without stopping the work.

    Raises:
        UserError: A setting makes no sense, or the model is not there.
        MissingExtraError: A package is not installed.
    """
    settings = with_faults(settings, faults)
    about: dict[str, Any] = {"index": settings.index, "block": settings.block_size, "eviction": settings.eviction}
    below = LeakyTiers if faults.salt_ignored else Tiers
    if settings.model.startswith(SIM):
        vocabulary: Vocabulary = SimVocabulary(settings.model)
        engines = [sim_engine(settings, replica, below=below) for replica in range(faults.replicas)]
    else:
        from prefixwise.engine.build import assemble, dtype_name, load_for

        loaded = vocabulary = load_for(settings)
        engines = []
        for replica in range(faults.replicas):
            own = _own_disk(settings, replica)
            engines.append(assemble(own, loaded, warn, below=below).engine)
        about |= {"dtype": dtype_name(loaded.model.dtype), "device": loaded.model.device.type}
    if not settings.host and settings.disk is None:  # below the device, nobody can say how much fits
        about["capacity"] = engines[0].cache.capacity
    times = Times(faults.ttl, faults.ttl_fixed, faults.visible, faults.minimum)
    if times != Times():
        for engine in engines:
            cache: Any = TimedCache(engine.cache, times, time.monotonic)
            engine.cache = engine.scheduler.cache = cache
    return Served(
        name or (SIM.rstrip(":") if settings.model.startswith(SIM) else settings.model),
        vocabulary,
        tuple(engines),
        about,
    )


def _own_disk(settings: EngineSettings, replica: int) -> EngineSettings:
    """Give each replica a folder of its own."""
    if settings.disk is None or not replica:
        return settings
    folder: Path = settings.disk / f"replica-{replica}"
    return msgspec.structs.replace(settings, disk=folder)
