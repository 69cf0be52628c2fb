"""Puts an engine together from its settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import torch

from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.events import Listener, ignore
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.caches.tiers import Tier, Tiers
from prefixwise.core.errors import UserError
from prefixwise.engine.attention import Attention, SdpaAttention
from prefixwise.engine.cache_building import make_cache
from prefixwise.engine.engine import Engine
from prefixwise.engine.gguf_weights import digest_of_text
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.loading import LoadedModel, load
from prefixwise.engine.model_config import ModelConfig
from prefixwise.engine.model_sources import find_model
from prefixwise.engine.settings import EngineSettings
from prefixwise.engine.tier_stores import HostStore, disk_tier, host_tier
from prefixwise.engine.torch_executor import Runnable, TorchExecutor

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_SHARE = {"cpu": 0.1, "cuda": 0.85}
"""Share of the free memory that the KV cache takes where no capacity is given."""
_MOST_ON_CPU = 4 << 30


def _nobody(text: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True, slots=True)
class Built:
    """An engine with what it was made of.

    Attributes:
        engine: The engine.
        loaded: Its model.
        pool: Its keys and values.
        tiers: Tiers below the device, nearest first.
        settings: What it was set to.
    """

    engine: Engine
    loaded: LoadedModel
    pool: KvPool
    tiers: tuple[Tier, ...]
    settings: EngineSettings

    @property
    def dtype(self) -> str:
        """Of weights, keys and values: `fp32` and so on."""
        return dtype_name(self.loaded.model.dtype)


def build(settings: EngineSettings, warn: Callable[[str], None] = _nobody, listener: Listener = ignore) -> Built:
    """Return an engine.

    Args:
        settings: What it is to be.
        warn: Called with what goes wrong without stopping the work.
        listener: Called with every event of the prefix cache.

    Raises:
        UserError: A setting makes no sense, or the model is not there or cannot be run.
        MissingExtraError: A package is not installed.
    """
    return assemble(settings, load_for(settings), warn, listener)


def load_for(settings: EngineSettings) -> LoadedModel:
    """Return the model that settings ask for; see `build`."""
    settings.check()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = choose_device(settings.device)
    dtype = torch.float32 if settings.deterministic else choose_dtype(settings.dtype, device)
    return load(find_model(settings.model), settings.files / "models", device, dtype)


def assemble(
    settings: EngineSettings,
    loaded: LoadedModel,
    warn: Callable[[str], None] = _nobody,
    listener: Listener = ignore,
    below: type[Tiers] = Tiers,
) -> Built:
    """Return an engine of a model that is loaded, over tiers of the kind `below`; see `build`."""
    settings.check()
    model = loaded.model
    size = settings.block_size
    blocks = _capacity(settings.capacity, model.config, size, model.dtype) or _default_capacity(model, size)
    pool = KvPool(model.config, blocks + 1, size, model.dtype, model.device)
    cache, tiers = _cache(settings, loaded, pool, blocks, warn, listener, below)
    attention = _attention(settings, size, model.device)
    executor = TorchExecutor(model, pool, attention, exact=settings.deterministic)
    engine = Engine(
        executor,
        cache,
        loaded.decode,
        context=min(model.config.context, settings.context or model.config.context),
        vocabulary=model.config.vocabulary,
        ends=model.config.ends,
        token_budget=settings.token_budget,
        most_running=settings.most_running,
        order=settings.order,
        seed=settings.seed,
    )
    return Built(engine, loaded, pool, tiers, settings)


def choose_device(name: str) -> torch.device:
    """Return a device. Raises UserError for one that is not there."""
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise UserError("there is no CUDA device that this torch can use", "--device cuda", "use --device cpu")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """Return a dtype; `auto` is half precision on a GPU and single precision on a processor.

    Processors that multiply bfloat16 gain little with small models, and all of them lose what makes results equal.
    """
    if name != "auto":
        return _DTYPES[name]
    if device.type == "cpu":
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16


def dtype_name(dtype: torch.dtype) -> str:
    """Return the short name of a dtype."""
    return next((name for name, known in _DTYPES.items() if known == dtype), str(dtype))


def _capacity(text: str, model: ModelConfig, block_size: int, dtype: torch.dtype) -> int | None:
    """Return an amount in blocks, None for an empty text."""
    if not text:
        return None
    token_bytes = model.token_elements * dtype.itemsize
    return capacity_in({"capacity": text, KV_SIZE: str(token_bytes)}, block_size)


def _default_capacity(model: Runnable, block_size: int) -> int:
    """Return the blocks that fit into a share of the memory, and no more than 64 whole contexts."""
    free: int = 4 * _MOST_ON_CPU
    if model.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(model.device)
    elif "SC_AVPHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    room = int(free * _SHARE[model.device.type])
    if model.device.type == "cpu":
        room = min(room, _MOST_ON_CPU)
    block_bytes: int = model.config.token_elements * model.dtype.itemsize * block_size
    most = 64 * model.config.context // block_size
    return max(1, min(room // block_bytes, most))


def _attention(settings: EngineSettings, block_size: int, device: torch.device) -> Attention:
    if settings.attention == "flash":
        from prefixwise.engine.flash_attention import FlashAttention

        return FlashAttention(block_size)
    return SdpaAttention(padded=device.type == "cuda" and not settings.deterministic)


def _cache(
    settings: EngineSettings,
    loaded: LoadedModel,
    pool: KvPool,
    blocks: int,
    warn: Callable[[str], None],
    listener: Listener,
    below: type[Tiers],
) -> tuple[PrefixCache, tuple[Tier, ...]]:
    """Return the prefix cache over the pool, and its tiers."""
    size, like = settings.block_size, pool.get(0)
    config, dtype = loaded.model.config, loaded.model.dtype
    host_blocks = _capacity(settings.host, config, size, dtype) or 0
    if settings.index == "partial":
        host = HostStore(host_blocks, like, pinned=like.is_cuda) if host_blocks else None
        return make_cache(settings, blocks, listener, device=pool, host_blocks=host_blocks, host=host), ()
    tiers = [host_tier(host_blocks, like, loaded.model.device)] if host_blocks else []
    if settings.disk is not None:
        disk_blocks = _capacity(settings.disk_capacity, config, size, dtype) or 0
        identity = block_identity(loaded, size)
        folder = settings.disk / f"blocks-{digest_of_text(identity)}"
        tiers.append(disk_tier(folder, identity, disk_blocks, like, warn))
    return make_cache(settings, blocks, listener, device=pool, tiers=tiers, below=below), tuple(tiers)


def block_identity(loaded: LoadedModel, block_size: int) -> str:
    """Return what the contents of a block depend on besides its tokens: weights, dtype, block size, rope and shape."""
    config = msgspec.structs.replace(loaded.model.config, context=1, ends=(), opens=None)
    shape = msgspec.json.encode(config).decode()
    return f"{loaded.weights()} {dtype_name(loaded.model.dtype)} {block_size} {shape}"
