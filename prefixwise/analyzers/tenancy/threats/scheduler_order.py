"""`scheduler-order-visible`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.core.finding import Confidence, Severity, Where

_PREFERRING = frozenset({"lpm", "dfs-weight", "dfs_weight"})


class SchedulerOrder(Threat):
    """# An order that tells

    A scheduler that takes the request with the longest cached prefix first answers a right guess before a wrong one. The order
    of answers is then an oracle even where times are padded.

    SGLang's policies `lpm` and `dfs-weight` do so, and TensorRT-LLM's prefix-aware scheduling. Where no tenant meets what
    another one wrote, nothing is reported.

    ```text bad
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B --schedule-policy lpm
    ```

    ```text good
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B --schedule-policy fcfs
    ```
    """  # noqa: E501

    name = "scheduler-order-visible"
    code = "PT018"
    id = "T18"
    summary = "The order of answers tells what is cached"
    severity = Severity.MEDIUM
    fix = "Schedule fairly by tenant; a salt takes the signal away."
    where = (Where.ENGINE,)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield policies that prefer what is cached, where tenants share a cache."""
        if not audit.several or not len(audit.found):
            return
        for setting in audit.asked.deployment.find("schedule_policy", "enable_prefix_aware_scheduling"):
            if setting.value in _PREFERRING or (setting.last != "schedule_policy" and setting.on):
                yield Sighting(
                    message="Requests with a longer cached prefix are answered first.",
                    rows=sorted(set(audit.found.row)),
                    setting=setting,
                    confidence=Confidence.CERTAIN,
                    change="schedule-policy: fcfs, and a salt a tenant",
                    cause=setting.last,
                )


THREATS.add(SchedulerOrder.name, SchedulerOrder())
