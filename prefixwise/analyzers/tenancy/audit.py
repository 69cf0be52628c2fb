"""An audited log: everything that threats are judged by."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from prefixwise.analyzers.hitrate import every_rule, rules_for
from prefixwise.analyzers.tenancy.asked import AuditAsked
from prefixwise.analyzers.tenancy.exposure import Exposure, Pair, Served, exposure, pairs, span_of
from prefixwise.analyzers.tenancy.framing import end_of_framing
from prefixwise.analyzers.tenancy.price import Isolation, Prices, Speed, logged_speed, prices_of_isolation
from prefixwise.analyzers.tenancy.pseudonyms import Pseudonyms
from prefixwise.analyzers.tenancy.records import Head, Records
from prefixwise.analyzers.tenancy.salts import Weak, weak_salts
from prefixwise.analyzers.tenancy.shared_nodes import NodeClass, SharedNodes, shared_nodes
from prefixwise.analyzers.weights import factors, model_tokens
from prefixwise.caches.facts import Kind, System
from prefixwise.caches.isolation import isolated_rows
from prefixwise.caches.policy import POLICIES, Policy, parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import Sharing, sharing
from prefixwise.core.excerpt import excerpt
from prefixwise.core.finding import Where
from prefixwise.core.namespace import Namespace
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.texts import NodeTexts
from prefixwise.corpus.tree import ROOT

PARTS = ("salt", "extra", "adapter", "cached_content")
"""Parts of a request that keep cache entries apart. A cache key is none: it steers routing."""
_BESIDE = ("credential", "workspace", "environment")
_DEFAULT_UNIT = 16


class Audit:
    """A log, what was read of its records, and what follows for the tenants in it.

    Args:
        corpus: The log or trace.
        records: What the second reading found; None for a trace, which has no text.
        asked: What is known beside the log.
        book: Facts and prices.

    Raises:
        UserError: A rule is unknown or cannot be counted on these rows.
    """

    def __init__(self, corpus: Corpus, records: Records | None, asked: AuditAsked, book: Rulebook) -> None:
        self.corpus, self.records, self.asked, self.book = corpus, records, asked, book
        self.rows: Rows = corpus.rows
        self.names = Pseudonyms(asked.key, hide_tenants=asked.pseudonyms)
        self.times = self.rows.start_times()
        self.rows.token_factors = {number: weight for number, weight in enumerate(self.weights) if weight != 1.0}
        self.policies: list[Policy] = rules_for(self.rows, self._specs(), book)
        self.served = Served(self._unit())
        self._systems: dict[tuple[int, int], System | None] = {}

    def _specs(self) -> tuple[str, ...]:
        """Return the rules to count under: those asked for, else the one that the configuration names, else vLLM's."""
        if self.asked.under:
            return self.asked.under
        deployment, grain = self.asked.deployment, self.rows.tree.grain
        found = deployment.find("page_size", system="sglang")
        if deployment.configures("sglang") and not deployment.configures("vllm"):
            page = int(found[0].value) if found and found[0].value.isdecimal() else 0
            return (f"sglang:page={page if page and page % grain == 0 else max(grain, 1)}",)
        found = deployment.find("block_size")
        block = int(found[0].value) if found and found[0].value.isdecimal() else _DEFAULT_UNIT
        return (f"vllm:block={block if block and block % grain == 0 else max(grain, _DEFAULT_UNIT)}",)

    def _unit(self) -> int:
        return self.policies[0].unit or _DEFAULT_UNIT

    # -- who -----------------------------------------------------------------------------------------------

    @cached_property
    def known(self) -> list[int]:
        """The requests that name a tenant, in order of start."""
        return [row for row in self.rows.by_start() if self.rows.tenants[self.rows.tenant[row]]]

    @cached_property
    def tenants(self) -> tuple[int, ...]:
        """The tenants, by number, in order of first use."""
        return tuple(dict.fromkeys(self.rows.tenant[row] for row in self.known))

    @property
    def several(self) -> bool:
        """Whether there is more than one tenant, so that anything could be shared."""
        return len(self.tenants) > 1

    @cached_property
    def called(self) -> list[str]:
        """By tenant, what it is called in reports: no two alike, though names are cut and masked."""
        shown = [self.names.tenant(name) for name in self.rows.tenants.names]
        often = Counter(shown)
        return [
            f"{name} ({self.names.of('tenant', self.rows.tenants[number])[:8]})" if often[name] > 1 else name
            for number, name in enumerate(shown)
        ]

    def tenants_of(self, rows: Iterable[int]) -> set[int]:
        """Return the tenants of some requests."""
        return {self.rows.tenant[row] for row in rows if self.rows.tenants[self.rows.tenant[row]]}

    # -- which cache ---------------------------------------------------------------------------------------

    def system(self, row: int) -> System | None:
        """Return the facts on the cache that most likely served a request, None where nothing tells."""
        key = (self.rows.model[row], self.rows.provider[row])
        if key not in self._systems:
            found = self.book.rules_for(self.rows.models[key[0]], self.rows.providers[key[1]])
            self._systems[key] = next(iter(found), None)
        return self._systems[key]

    def is_hosted(self, row: int) -> bool:
        """Say whether a provider runs the cache, and namespaces are the provider's affair.

        Open models are called like a provider's, too: where an engine is configured, the cache is the engine's.
        """
        if self.asked.deployment.configures("vllm", "sglang", "tensorrt-llm", "dynamo"):
            return False
        system = self.system(row)
        return system is not None and system.kind is Kind.HOSTED

    def space(self, row: int) -> Namespace:
        """Return the namespace of a request, as it was logged."""
        return self.rows.namespaces[self.rows.namespace[row]]

    @cached_property
    def spaces(self) -> array[int]:
        """By row, the number of its canonical namespace: model, provider, parts of the request, what the record says.

        Values are framed by their lengths: absent, empty and "none" differ, and no two values run into each other.
        """
        numbers: dict[tuple[object, ...], int] = {}
        ids = [space.id(PARTS) for space in self.rows.namespaces]
        places = self.records.places if self.records is not None else {}
        beside = [places[name] for name in _BESIDE if name in places]
        columns = zip(self.rows.model, self.rows.provider, self.rows.namespace, strict=True)
        return array(
            "i",
            (
                numbers.setdefault((model, provider, ids[space], *(found.get(row) for found in beside)), len(numbers))
                for row, (model, provider, space) in enumerate(columns)
            ),
        )

    @cached_property
    def lifetimes(self) -> list[float]:
        """By row, how long its entries live unused: as asked, by the rule in force, or by the provider's facts."""
        if self.asked.ttl is not None:
            return [self.asked.ttl] * len(self.rows)
        own = self.policies[0].label if self.asked.under else ""
        name, _, rest = own.partition(":")
        if name == "ttl":
            return [float(dict(item.split("=") for item in rest.split(","))["seconds"])] * len(self.rows)
        if self.asked.under and name in POLICIES.names():
            return [math.inf] * len(self.rows)
        return [self._fact_of_lifetime(row) for row in range(len(self.rows))]

    def _fact_of_lifetime(self, row: int) -> float:
        system = self.system(row)
        band = None if system is None else system.ttl_s
        return math.inf if band is None or band.high is None else float(band.high)

    def salt(self, row: int) -> str | None:
        """Return what keeps a request's tenant apart: its salt, else SGLang's extra key; None where it has neither."""
        space = self.space(row)
        return space.extra if space.salt is None else space.salt

    def is_salted(self, row: int) -> bool:
        """Say whether a request carries a salt or an extra key that says something."""
        return bool(self.salt(row))

    @cached_property
    def caching_is_off(self) -> bool:
        """Whether the configuration turns the prefix cache off."""
        deployment = self.asked.deployment
        off = [not setting.on for setting in deployment.find("enable_prefix_caching")]
        off += [setting.on for setting in deployment.find("disable_radix_cache")]
        return bool(off) and all(off)

    def place(self, name: str) -> dict[int, str]:
        """Return by row what stands in a place of the record that the user named; nothing where none was named."""
        return {} if self.records is None else self.records.places.get(name, {})

    def around(self, rows: Sequence[int]) -> tuple[str, ...]:
        """Return in clauses what some requests have in common beside their namespace: API, endpoint, status."""
        if self.records is None:
            return ()
        columns = {"API": {row: self.records.apis[row] for row in rows}}
        columns |= {name: self.place(name) for name in ("endpoint", "status")}
        said = []
        for name, values in columns.items():
            found = {values[row] for row in rows if values.get(row)}
            every = {self.records.apis[row] for row in self.known} if name == "API" else set(self.place(name).values())
            if found and found != every:
                said.append(f"{name}: {', '.join(excerpt(value) for value in sorted(found)[:3])}")
        return tuple(said)

    @cached_property
    def rows_by_tenant(self) -> dict[int, list[int]]:
        """The requests of each tenant, in order of start."""
        found: dict[int, list[int]] = {}
        for row in self.known:
            found.setdefault(self.rows.tenant[row], []).append(row)
        return found

    # -- what is shared ------------------------------------------------------------------------------------

    def head(self, row: int) -> Head | None:
        """Return the head of a request's prompt, None without text."""
        if self.records is None or self.records.head[row] < 0:
            return None
        return self.records.heads[self.records.head[row]]

    def at_depth(self, row: int, depth: int) -> int:
        """Return the first node on the way of a prompt that ends at this depth or behind it."""
        tree, node = self.rows.tree, self.rows.node[row]
        while tree.parent[node] != ROOT and tree.depth[tree.parent[node]] >= depth:
            node = tree.parent[node]
        return node

    @cached_property
    def approved(self) -> list[int]:
        """By row, leading tokens that are approved for all tenants: the head, and the framing that opens a message."""
        rows, depths = self.rows, [0] * len(self.rows)
        if self.records is None or self.corpus.index is None or not self.asked.approved:
            return depths
        holds = [self.asked.approved.holds(head.digest) for head in self.records.heads]
        texts, ends = NodeTexts(self.corpus.index), dict[tuple[int, int], int]()
        for row, number in enumerate(self.records.head):
            if number >= 0 and holds[number]:
                head = rows.system_end[row]
                key = (rows.model[row], self.at_depth(row, head))
                if key not in ends:
                    ends[key] = end_of_framing(texts, rows.node[row], head, rows.prompt_tokens[row])
                depths[row] = ends[key]
        return depths

    @cached_property
    def nodes(self) -> SharedNodes:
        """Who has each node of the tree, and what it seems to be."""
        leaks = self.records.leaks if self.records is not None else []
        tainted = [(leak.row, leak.where is not Where.MESSAGES) for leak in leaks if not leak.value.is_example]
        return shared_nodes(self.rows, self.approved, tainted)

    @cached_property
    def found(self) -> Exposure:
        """Every event in which a request meets what another tenant wrote."""
        return exposure(self.rows, self.spaces, self.lifetimes, self.served, self.approved)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The events by ordered pair of tenants."""
        return pairs(self.rows, self.found)

    @cached_property
    def exposed(self) -> dict[int, int]:
        """By row, tokens exposed; rows without an event are left out."""
        return dict(zip(self.found.row, self.found.tokens, strict=True))

    @cached_property
    def private(self) -> dict[int, int]:
        """By row, how many of its exposed tokens are private."""
        sums = self.nodes.cumulated(self.rows, NodeClass.PRIVATE)
        events = zip(self.found.row, self.found.node, self.found.tokens, strict=True)
        return {row: min(sums[node], tokens) for row, node, tokens in events if sums[node]}

    def exposed_tokens(self, rows: Iterable[int]) -> int:
        """Return the exposed tokens of some requests."""
        return sum(self.exposed.get(row, 0) for row in rows)

    def span(self, rows: Iterable[int]) -> tuple[float, float]:
        """Return the first and last known time of some requests, NaN without one."""
        return span_of(self.times, rows)

    # -- salts ---------------------------------------------------------------------------------------------

    @cached_property
    def by_salt(self) -> dict[str, list[int]]:
        """The requests of each salt; absent salts are left out."""
        found: dict[str, list[int]] = {}
        for row in self.known:
            salt = self.salt(row)
            if salt is not None:
                found.setdefault(salt, []).append(row)
        return found

    @cached_property
    def salted(self) -> bool:
        """Whether any request carries a salt that says something."""
        return any(self.by_salt)

    @cached_property
    def weak(self) -> tuple[Weak, ...]:
        """What is weak about the salts; a trace holds hashes of them, which say nothing."""
        if self.corpus.index is None:
            return ()
        names = {salt: [self.rows.tenants[n] for n in self.tenants_of(rows)] for salt, rows in self.by_salt.items()}
        return weak_salts({salt: its for salt, its in names.items() if salt})

    # -- money ---------------------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> list[float]:
        """By model, what token counts are to be multiplied by."""
        return factors(self.rows, model_tokens(self.corpus))

    @cached_property
    def shared_for_price(self) -> bytearray:
        """By node, whether tenants may share it: what is approved, else what is like a template."""
        marks = bytearray(self.nodes.approved)
        if not any(marks):
            for node in self.rows.tree.by_depth():
                parent = self.rows.tree.parent[node]
                above = parent < 0 or self.rows.tree.parent[parent] < 0 or marks[parent]
                marks[node] = self.nodes.kind[node] == NodeClass.TEMPLATE and bool(above)
        return marks

    @cached_property
    def prices(self) -> Prices:
        """What each isolation gives."""
        rate = self.asked.prefill_rate
        speed = logged_speed(self.rows) if rate is None else Speed(1 / rate, "as given")
        return prices_of_isolation(
            self.rows, self.policies, self.spaces, self.shared_for_price, self.weights, self.book, speed
        )

    def cost_of(self, mended: Sequence[int]) -> float | None:
        """Return by how much the hit rate falls under the first rule when requests move to their tenants' namespaces.

        A tenant's own is the one that most of its other requests are in, where no other tenant is; else a new one.
        With no requests, all move.
        """
        moving = set(mended) or set(range(len(self.rows)))
        before = self.prices.of(Isolation.LOGGED).hit_rate
        own = self._own_spaces(moving)
        fresh = max(self.spaces, default=0) + 1
        spaces = [
            own.get(tenant, fresh + tenant) if row in moving else space
            for row, (space, tenant) in enumerate(zip(self.spaces, self.rows.tenant, strict=True))
        ]
        matched = self.policies[0].replay(isolated_rows(self.rows, spaces)).matched
        factors = [self.weights[model] for model in self.rows.model]
        prompt = self.prices.of(Isolation.LOGGED).prompt_tokens
        if before is None or not prompt:
            return None
        return before - sum(n * factor for n, factor in zip(matched, factors, strict=True)) / prompt

    def _own_spaces(self, moving: set[int]) -> dict[int, int]:
        """Return by tenant the namespace that most of its requests are in that do not move, and nobody else's."""
        counts: dict[int, Counter[int]] = {}
        owners: dict[int, set[int]] = {}
        for row in self.known:
            if row not in moving:
                counts.setdefault(self.rows.tenant[row], Counter())[self.spaces[row]] += 1
                owners.setdefault(self.spaces[row], set()).add(self.rows.tenant[row])
        most = {tenant: its.most_common(1)[0][0] for tenant, its in counts.items()}
        return {tenant: space for tenant, space in most.items() if len(owners[space]) == 1}

    # -- usage ---------------------------------------------------------------------------------------------

    @cached_property
    def by_space(self) -> Sharing:
        """What each prompt shares with any earlier one of its namespace, nothing evicted."""
        return sharing(isolated_rows(self.rows, self.spaces))

    @cached_property
    def by_tenant(self) -> Sharing:
        """What each prompt shares with any earlier one of its tenant, whatever the namespace."""
        return sharing(isolated_rows(self.rows, self.rows.tenant))

    @cached_property
    def by_model(self) -> Sharing:
        """What each prompt shares with any earlier one of its model."""
        return sharing(self.rows)


def rules_are_known(specs: Sequence[str], book: Rulebook) -> None:
    """Raise UserError for a rule that does not exist."""
    for spec in every_rule(specs, book):
        parse_policy(spec, book)
