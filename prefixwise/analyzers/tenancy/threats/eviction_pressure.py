"""`eviction-pressure`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.pressure import victims
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where


class EvictionPressure(Threat):
    """# A neighbour that takes the room

    One pool for all means that a tenant who sends long new prompts pushes everybody's entries out. It costs the others their
    hits, and who floods a cache on purpose can tell from the misses of others what they do.

    Reported are tenants whose cached tokens vanish although the same namespace had the prompt, where most of what came in
    between was one other tenant's, time after time; it takes usage in the log. LMCache's isolated eviction gives salts without
    a quota no room at all: they are reported, too.

    ```yaml bad
    eviction_policy: IsolatedLRU
    quota:
      somebody-else: 1073741824
    ```

    ```yaml good
    eviction_policy: IsolatedLRU
    quota:
      9f2c4e7a1b8d3f6059c1e2a47b80d6f3: 1073741824
      3b7e91d04c6fa8e25d10f7c98ab46e21: 1073741824
    ```
    """  # noqa: E501

    name = "eviction-pressure"
    code = "PT019"
    id = "T19"
    summary = "One tenant's prompts push another's out of the cache"
    severity = Severity.MEDIUM
    fix = "Give each tenant a quota and a floor."
    where = (Where.ENGINE, Where.USAGE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield victims of a neighbour, and salts for which a store keeps no room."""
        for victim in victims(audit):
            yield Sighting(
                message=f"{counted(len(victim.rows), 'request')} of one tenant found nothing, each time after another "
                "tenant had filled the cache.",
                rows=victim.rows,
                tokens=0,
                confidence=Confidence.POSSIBLE,
                evidence=(
                    f"{100 * victim.share:.0f} % of what came in between was the other's",
                    f"{victim.hits:,} requests with less in between were served",
                ),
                change="a quota and a floor a tenant",
                where=Where.USAGE,
                cause=f"victim {audit.names.of('tenant', audit.rows.tenants[victim.tenant])}",
            )
        yield from self._without_quota(audit)

    def _without_quota(self, audit: Audit) -> Iterable[Sighting]:
        for file in audit.asked.deployment.files:
            isolated = next((one for one in file.settings if one.value.lower() == "isolatedlru"), None)
            if isolated is None or not audit.salted:
                continue
            quotas = {one.last for one in file.settings if "quota" in one.name}
            missing = [salt for salt in audit.by_salt if salt and salt.lower() not in quotas]
            if missing:
                yield Sighting(
                    message=f"{counted(len(missing), 'salt')} of the log have no quota: the store keeps none of them.",
                    rows=[row for salt in missing for row in audit.by_salt[salt]],
                    tokens=0,
                    setting=isolated,
                    confidence=Confidence.LIKELY,
                    change="a quota for every salt",
                    cause="quota",
                )


THREATS.add(EvictionPressure.name, EvictionPressure())
