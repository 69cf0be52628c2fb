"""A model that computes nothing and takes its time: `sim:`, for clients and statistics that need no answers.

The time to compute the last `n` of `L` tokens is a + b n + c n (L - n / 2): a start, a share a token, and attention,
whose cost grows with what a token looks back on. Cut into chunks it adds up to the same, but for `a`.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence

import msgspec

from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.events import Listener, ignore
from prefixwise.caches.prefix_cache import DISK, HOST
from prefixwise.caches.tiers import Tier, Tiers
from prefixwise.core.errors import UserError
from prefixwise.engine.byte_tokenizer import CLOSE, ByteTokenizer
from prefixwise.engine.cache_building import make_cache
from prefixwise.engine.engine import Engine
from prefixwise.engine.executor import Executor, Piece
from prefixwise.engine.settings import EngineSettings
from prefixwise.engine.vocabulary import Vocabulary

SIM = "sim:"
_LETTERS = b"etaoin shrdlu"
_END_BELOW = 4
"""Of 256 tokens, so many end an answer."""
_CAPACITY = "200ktokens"


class SimModel(msgspec.Struct, frozen=True):
    """How long a simulated model takes; `sim:` with any of these as `key=value`, by commas.

    Attributes:
        a: Seconds of a step.
        b: Seconds a token.
        c: Seconds a token that a token looks back on.
        noise: Spread of the times, as a standard deviation of their logarithm.
        drift: How much slower it gets in a minute, as a share.
        seed: Of the noise, and of what is answered.
        context: Most tokens of prompt and answer.
        kv_bytes: Bytes of keys and values a token, for capacities in bytes.
    """

    a: float = 0.002
    b: float = 0.00005
    c: float = 1e-9
    noise: float = 0.0
    drift: float = 0.0
    seed: int = 0
    context: int = 131072
    kv_bytes: int = 131072

    def seconds(self, tokens: int, length: int) -> float:
        """Return what the last `tokens` of `length` tokens take, without the start of the step."""
        return self.b * tokens + self.c * tokens * (length - tokens / 2)


def parse_sim(name: str) -> SimModel:
    """Return the model that `sim:key=value,…` describes. Raises UserError for what is none."""
    given: dict[str, str] = {}
    for item in name.removeprefix(SIM).split(","):
        key, mark, value = item.partition("=")
        if item and (not mark or key not in SimModel.__struct_fields__):
            known = ", ".join(SimModel.__struct_fields__)
            raise UserError(f"a simulated model has no {item[:60]!r}", name[:100], f"it has {known}, each as key=value")
        if item:
            given[key] = value
    try:
        model = msgspec.convert(given, SimModel, strict=False)
    except msgspec.ValidationError as problem:
        raise UserError(f"describes no simulated model: {problem}", name[:100]) from None
    if min(model.a, model.b, model.c, model.noise) < 0 or min(model.context, model.kv_bytes) < 1:
        raise UserError("describes no simulated model: a value is too small", name[:100])
    return model


class SimExecutor(Executor):
    """Waits for as long as a model would take, and answers with letters.

    Args:
        model: How long it takes.
        seed: Of the noise.
        sleep: Waits for so many seconds.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        model: SimModel,
        seed: int,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._random = random.Random(seed)  # noqa: S311 - noise, no secret
        self._sleep = sleep
        self._clock = clock
        self._began = clock()

    def run(self, pieces: Sequence[Piece]) -> list[int]:
        """Wait, then answer; the answer depends on the tokens before it and on nothing else."""
        model = self._model
        seconds = model.a + sum(model.seconds(len(piece.tokens), piece.start + len(piece.tokens)) for piece in pieces)
        if model.noise:
            seconds *= self._random.lognormvariate(0, model.noise)
        seconds *= 1 + model.drift * (self._clock() - self._began) / 60
        self._sleep(max(0.0, seconds))
        return [self._letter(piece) for piece in pieces if piece.wanted]

    def _letter(self, piece: Piece) -> int:
        place = f"{self._model.seed} {piece.tokens[-1]} {piece.start + len(piece.tokens)}"
        digest = hashlib.blake2b(place.encode(), digest_size=2).digest()
        return CLOSE if digest[1] < _END_BELOW else _LETTERS[digest[0] % len(_LETTERS)]


class SimVocabulary(Vocabulary):
    """Bytes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokenizer = ByteTokenizer()


def sim_engine(
    settings: EngineSettings,
    replica: int = 0,
    listener: Listener = ignore,
    below: type[Tiers] = Tiers,
    sleep: Callable[[float], None] = time.sleep,
) -> Engine:
    """Return an engine of a simulated model, with the cache that a real one would have.

    Raises:
        UserError: The settings make no sense.
    """
    settings.check()
    model, size = parse_sim(settings.model), settings.block_size

    def blocks(text: str) -> int:
        return capacity_in({"capacity": text, KV_SIZE: str(model.kv_bytes)}, size) or 0

    tiers = [Tier(HOST, blocks(settings.host))] if settings.host else []
    if settings.disk is not None:
        tiers.append(Tier(DISK, blocks(settings.disk_capacity)))
    cache = make_cache(
        settings,
        blocks(settings.capacity or _CAPACITY),
        listener,
        tiers=tiers,
        host_blocks=blocks(settings.host) if settings.host else 0,
        below=below,
    )
    vocabulary = SimVocabulary(settings.model)
    return Engine(
        SimExecutor(model, model.seed * 1009 + replica, sleep),
        cache,
        vocabulary.decode,
        context=min(model.context, settings.context or model.context),
        vocabulary=259,
        ends=(CLOSE,),
        token_budget=settings.token_budget,
        most_running=settings.most_running,
        order=settings.order,
        seed=settings.seed,
    )
