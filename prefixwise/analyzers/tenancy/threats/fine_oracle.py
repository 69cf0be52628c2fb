"""`fine-grained-cache`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.deployment import Setting
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where

_LEAST = 10
_COARSE = 128


class FineOracle(Threat):
    """# How fine the oracle is

    A guess at a prompt is answered in steps of a block. With pages of one token each token can be tried alone, a few thousand
    tries a token; with blocks of 16 all 16 must be right at once. This makes another leak better or worse and is none itself:
    without anything that tenants share it is information.

    The size comes from the configuration, else from the greatest number that divides the cached tokens of the log, where there
    are at least ten different ones.

    ```text bad
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B --page-size 1
    ```

    ```text good
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B --page-size 256
    ```
    """  # noqa: E501

    name = "fine-grained-cache"
    code = "PT014"
    id = "T14"
    summary = "The cache answers guesses of few tokens"
    severity = Severity.MEDIUM
    fix = "Use larger pages or blocks where tenants share a namespace, and a salt where they need not."
    where = (Where.ENGINE,)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield the size of the steps in which a cache answers, where tenants share one."""
        size, setting = self._configured(audit)
        told = "by the configuration"
        if size is None:
            counts = {cached for cached in audit.rows.reported_cached if cached > 0}
            size, told = (math.gcd(*counts), "by the usage in the log") if len(counts) >= _LEAST else (None, "")
        if size is None or not audit.several or (size >= _COARSE and not len(audit.found)):
            return
        shared = len(audit.found) > 0
        severity = Severity.HIGH if size == 1 else Severity.MEDIUM if size < _COARSE else Severity.LOW
        yield Sighting(
            message=f"The cache answers in steps of {counted(size, 'token')}.",
            rows=sorted(set(audit.found.row)),
            tokens=0,
            severity=severity if shared else Severity.INFO,
            confidence=Confidence.LIKELY,
            evidence=(told, *(() if shared else ("no tenant meets what another one wrote",))),
            setting=setting,
            change="a page or block of 128 tokens or more, and a salt a tenant",
            cause="step",
        )

    def _configured(self, audit: Audit) -> tuple[int | None, Setting | None]:
        deployment = audit.asked.deployment
        setting = next(iter(deployment.find("page_size", "block_size", "tokens_per_block")), None)
        if setting is not None and setting.value.isdecimal() and int(setting.value) > 0:
            return int(setting.value), setting
        if deployment.configures("sglang") and not deployment.configures("vllm"):
            return 1, None
        return None, None


THREATS.add(FineOracle.name, FineOracle())
