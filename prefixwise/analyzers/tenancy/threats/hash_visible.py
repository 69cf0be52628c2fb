"""`block-hashes-visible`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.published import published_events
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, counted
from prefixwise.core.finding import Confidence, Severity, Where

_STORES = ("kv_connector", "remote_url", "hicache_storage_backend", "enable_lmcache")


class HashVisible(Threat):
    """# Hashes that can be tested offline

    Block hashes go to routers, event buses and stores. Since August 2026 vLLM begins its chains with a fixed value, so the hash
    of a text is the same everywhere: who sees hashes can test guesses at prompts without sending a request. PYTHONHASHSEED is
    no remedy, it is no secret. A salt in the first block is one.

    Reported are engines whose configuration sends blocks or hashes out, where the log has requests without a salt.

    ```text bad
    vllm serve Qwen/Qwen3-8B --kv-events-config '{"enable_kv_cache_events": true, "publisher": "zmq", "endpoint": "tcp://*:5557"}'
    ```

    ```text good
    vllm serve Qwen/Qwen3-8B
    ```
    """  # noqa: E501

    name = "block-hashes-visible"
    code = "PT017"
    id = "T17"
    summary = "Hashes of unsalted blocks can be seen by others"
    severity = Severity.HIGH
    fix = "Salt the requests: a seed of the hash is no secret."
    moves = True
    where = (Where.ENGINE,)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield settings that send hashes out, where not all requests carry a salt."""
        bare = [row for row in audit.known if not audit.is_hosted(row) and not audit.is_salted(row)]
        if not bare:
            return
        deployment = audit.asked.deployment
        stores = [one for one in deployment.find(*_STORES) if one.on]
        for setting in (*published_events(deployment), *stores):
            yield Sighting(
                message=f"Hashes of blocks leave the engine, {counted(len(bare), 'request')} of them without a salt.",
                rows=bare,
                setting=setting,
                confidence=Confidence.LIKELY,
                change=GATEWAY_SALT,
                cause=setting.last,
            )


THREATS.add(HashVisible.name, HashVisible())
