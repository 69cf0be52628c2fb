"""The prefix cache that settings ask for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.events import Listener
from prefixwise.caches.null_cache import NullCache
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.stores import BlockPool, BlockStore
from prefixwise.caches.tiers import Tier, Tiers
from prefixwise.caches.trt_cache import TrtCache
from prefixwise.engine.settings import EngineSettings


def make_cache(
    settings: EngineSettings,
    blocks: int,
    listener: Listener,
    *,
    device: BlockPool | None = None,
    tiers: Sequence[Tier] = (),
    host_blocks: int = 0,
    host: BlockStore[Hashable] | None = None,
    below: type[Tiers] = Tiers,
) -> PrefixCache:
    """Return a prefix cache of `blocks` usable blocks.

    Args:
        settings: What it is to be.
        blocks: Blocks on the device.
        listener: Called with every event.
        device: Contents of the blocks; counted where there are none.
        tiers: Tiers below the device, for chains and trees.
        host_blocks: Blocks in host memory, for the index that has a host tier of its own.
        host: Contents of those.
        below: Kind of tiers.
    """
    size = settings.block_size
    if settings.index == "none":
        return NullCache(blocks, size, listener=listener)
    if settings.index == "partial":
        return TrtCache(blocks, size, host_blocks=host_blocks, device=device, host=host, listener=listener)
    lower = below(tiers, write=settings.write, device=device)
    if settings.index == "radix":
        return RadixCache(blocks, size, eviction=settings.eviction, tiers=lower, listener=listener)
    # One more than can be used: block 0 is vLLM's null block.
    return BlockChainCache(blocks + 1, size, tiers=lower, listener=listener)
