"""`store-shared-by-environments`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.deployment import Setting
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where

_PLACES = (
    "remote_url",
    "local_disk",
    "bucket",
    "bucket_name",
    "storage_path",
    "file_storage_dir",
    "hicache_storage_dir",
    "master_server_address",
)


class StoreShared(Threat):
    """# One store for test and production

    A store that engines share is shared by all who mount it. Where the same bucket or path stands in the configuration of two
    environments, what production caches is there for the test system, with its looser access, and the other way round. The
    same goes for a salt that is the same in both.

    Give each environment's configuration with `--deployment`, or name the place of the environment in a record with
    `--place environment=POINTER`.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "environment": "prod", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "ash", "ts": 1770000060, "environment": "test", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000120, "environment": "prod", "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "environment": "prod", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000120, "environment": "prod", "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "store-shared-by-environments"
    code = "PT021"
    id = "T21"
    summary = "Two environments share one store or one namespace"
    severity = Severity.HIGH
    fix = "Give each environment a prefix of its own in the store, and salts of its own."
    where = (Where.ENGINE, Where.PARAMS)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield stores that two configurations name, and salts of two environments."""
        stores: dict[str, list[Setting]] = {}
        for setting in audit.asked.deployment.find(*_PLACES):
            if setting.is_constant and setting.value.lower() != "true":
                stores.setdefault(setting.value.rstrip("/"), []).append(setting)
        for settings in stores.values():
            files = dict.fromkeys(setting.path for setting in settings)
            if len(files) > 1:
                yield Sighting(
                    message=f"{counted(len(files), 'configuration')} name one store.",
                    setting=settings[1],
                    confidence=Confidence.LIKELY,
                    evidence=tuple(setting.place for setting in settings[:3]),
                    change="a bucket, path or prefix for each environment",
                    cause=settings[0].last,
                )
        places = audit.place("environment")
        mixed = [
            row
            for salt, rows in audit.by_salt.items()
            if salt and len({places.get(row) for row in rows} - {None}) > 1
            for row in rows
        ]
        if mixed:
            yield Sighting(
                message=f"Salts of {counted(len(audit.tenants_of(mixed)), 'tenant')} are the same in two environments.",
                rows=mixed,
                confidence=Confidence.LIKELY,
                evidence=("whether both reach one store, the log does not say",),
                change="the environment in what the salt is derived from",
                where=Where.PARAMS,
                cause="salts",
            )


THREATS.add(StoreShared.name, StoreShared())
