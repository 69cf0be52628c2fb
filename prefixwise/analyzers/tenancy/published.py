"""Settings by which an engine tells others of its blocks."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.tenancy.deployment import Deployment, Setting

_SWITCHES = ("enable_kv_cache_events", "publisher")
_LOCAL = ("tcp://127.", "tcp://localhost", "ipc://", "inproc://", "tcp://[::1]")


def published_events(deployment: Deployment) -> Iterator[Setting]:
    """Yield, once a file, the setting that sends cache events beyond the machine."""
    for file in deployment.files:
        settings = [setting for setting in file.settings if "kv_events" in setting.name]
        on = next((one for one in settings if one.last in _SWITCHES and one.on), None)
        ends = [one.value for one in settings if one.last == "endpoint"]
        if on is not None and not (ends and all(end.startswith(_LOCAL) for end in ends)):
            yield on
