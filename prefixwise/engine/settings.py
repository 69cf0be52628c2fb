"""Everything that an engine can be set to."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from prefixwise.caches.tiers import WritePolicy
from prefixwise.core.errors import UserError
from prefixwise.engine.model_sources import DEFAULT_MODEL
from prefixwise.engine.scheduler import Order

Index: TypeAlias = Literal["chain", "radix", "partial", "none"]
"""How the prefix cache finds what it has: vLLM's chain of block hashes, SGLang's radix tree, TensorRT-LLM's blocks of
which a part may be used, or not at all."""

INDEXES: tuple[Index, ...] = get_args(Index)
_BLOCKS: dict[Index, int] = {"chain": 16, "radix": 1, "partial": 32, "none": 16}
DTYPES = ("auto", "fp32", "bf16", "fp16")
DEVICES = ("auto", "cpu", "cuda")
ATTENTIONS = ("auto", "sdpa", "flash")


class EngineSettings(msgspec.Struct, frozen=True):
    """What an engine is made of.

    Attributes:
        model: Name of the model, as `find_model` takes it.
        index: How the prefix cache finds what it has.
        block: Tokens in a block; None for the index's usual size.
        capacity: Size of the KV cache on the device, in bytes, tokens or blocks (`1GiB`, `20ktokens`, `5000`); empty
            for a share of the memory.
        eviction: Eviction order of the radix tree.
        host: Size of the tier in host memory; empty for none.
        disk: Folder of the tier on disk; None for none.
        disk_capacity: Its size.
        write: When blocks are written to the tiers.
        token_budget: Most tokens a step.
        most_running: Most requests at a time.
        order: Which waiting request is next.
        dtype, device, attention: `auto` takes what the machine is good at.
        threads: Threads of the processor; None leaves them as they are.
        deterministic: Single precision, every token computed in the same way whatever is computed beside it.
        seed: Of draws without a seed of their own.
        context: Most tokens of prompt and answer; None for the model's own limit.
        files: Folder for converted models.
    """

    model: str = DEFAULT_MODEL
    index: Index = "chain"
    block: int | None = None
    capacity: str = ""
    eviction: str = "lru"
    host: str = ""
    disk: Path | None = None
    disk_capacity: str = "4GiB"
    write: WritePolicy = "through"
    token_budget: int = 2048
    most_running: int = 64
    order: Order = "fcfs"
    dtype: str = "auto"
    device: str = "auto"
    attention: str = "auto"
    threads: int | None = None
    deterministic: bool = False
    seed: int = 0
    context: int | None = None
    files: Path = Path(".prefixwise")

    @property
    def block_size(self) -> int:
        """Tokens in a block."""
        return _BLOCKS[self.index] if self.block is None else self.block

    def check(self) -> None:
        """Raise UserError for a value that is none, or two that do not go together."""
        choices = (("index", INDEXES), ("dtype", DTYPES), ("device", DEVICES), ("attention", ATTENTIONS))
        for name, known in choices:
            value = getattr(self, name)
            if value not in known:
                raise UserError(f"there is no {name} called {str(value)[:60]!r}", help=f"known: {', '.join(known)}")
        for name in ("block", "threads", "context"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise UserError(f"{name}={getattr(self, name)} makes no sense")
        if self.deterministic and self.dtype not in ("auto", "fp32"):
            raise UserError("a deterministic engine computes in fp32", f"--dtype {self.dtype}")
        if self.index == "none" and (self.host or self.disk):
            raise UserError("without a prefix cache there is nothing to keep in tiers", help="choose another --index")
        if self.index == "partial" and self.disk:
            raise UserError("this index has a tier in host memory only", "--index partial", "choose chain or radix")
