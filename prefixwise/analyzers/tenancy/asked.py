"""What an audit of logs is asked for, apart from the logs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from prefixwise.analyzers.tenancy.approved import Approved
from prefixwise.analyzers.tenancy.deployment import Deployment


class AuditAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What is known or wanted beside the log.

    Attributes:
        under: Rules to count under, as `--under` takes them; the first is in force.
        approved: What all tenants may share.
        deployment: Configuration of engines and gateways.
        places: By name (`records.PLACES`), where a record holds it.
        key: Secret of the keyed hashes; `pseudonyms`: whether tenants are named by such hashes, too.
        one_trust_domain: Whether tenants trust each other: everything is one step less grave.
        ttl: How long entries live unused, in seconds; None for what the rule in force and the facts say.
        shared_tokens: Leading tokens that the deployment shares between tenants before it keeps them apart.
        retention: Seconds after which entries of an idle tenant must be gone by contract.
        prefill_rate: Prompt tokens a second that the deployment computes.
    """

    under: tuple[str, ...] = ()
    approved: Approved = Approved()
    deployment: Deployment = Deployment()
    places: Mapping[str, tuple[str, ...]] = {}
    key: bytes = b""
    pseudonyms: bool = False
    one_trust_domain: bool = False
    ttl: float | None = None
    shared_tokens: int | None = None
    retention: float | None = None
    prefill_rate: float | None = None
