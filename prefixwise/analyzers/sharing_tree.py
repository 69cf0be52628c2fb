"""The prefixes that weigh most, as a tree: where requests go together, where they part, and what parts them."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.shared_prefixes import visits_of
from prefixwise.core.excerpt import LIMIT, Excerpts, excerpt
from prefixwise.core.finding import Finding
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.texts import NodeTexts
from prefixwise.corpus.tree import ROOT

_LEAST_SHARE = 0.01
_LEAST_REQUESTS = 2
_MOST_NODES = 60
_MOST_MODELS = 8
_SHOWN_TOKENS = 64


class Branch(msgspec.Struct, frozen=True):
    """A stretch of text that the same requests have, below the stretch that it continues.

    Attributes:
        level: 0 for all requests of a model, else one more than that of the stretch above.
        model: Whose requests they are.
        start, end: Where it stands in its prompts, in tokens.
        requests: How many have it.
        own_tokens: Their tokens in this stretch, calibrated; `weight`: from `start` on, with all that stands below it.
        head, tail: How it begins and ends; empty for traces.
        broken: (Rule, requests) of findings that made requests part at its end, the most frequent first.
    """

    level: int
    model: str
    start: int
    end: int
    requests: int
    own_tokens: int
    weight: int
    head: str
    tail: str
    broken: tuple[tuple[str, int], ...]


def sharing_tree(
    corpus: Corpus, weights: Sequence[float], findings: Sequence[Finding], excerpts: Excerpts
) -> tuple[Branch, ...]:
    """Return the heaviest stretches in the order of a tree, those that weigh most first among siblings.

    Left out are stretches of a single request, those that hold less than a hundredth of all prompt tokens with what
    stands below, and what is more than fits.

    Args:
        corpus: What was read.
        weights: By model number, what our token counts are to be multiplied by.
        findings: What parts requests, where it is known.
        excerpts: How much prompt text the result may hold.
    """
    rows = corpus.rows
    models = [model for model, _ in Counter(rows.model).most_common(_MOST_MODELS)]
    forest = [_Weighed(rows, model, weights[model]) for model in models]
    forest = sorted((tree for tree in forest if tree.root.weight > 0), key=lambda tree: -tree.root.weight)
    _choose(forest)
    broken = _breaks(rows, forest, findings)
    texts = NodeTexts(corpus.index) if corpus.index else None
    return tuple(
        _branch(rows, tree, place, texts, excerpts, broken.get((tree.model, place.end), Counter()))
        for tree in forest
        for place in tree.in_order()
    )


class _Place(msgspec.Struct):
    """A stretch from below `above` down to `end`, its weight, and the stretches that were chosen below it."""

    level: int
    above: int
    end: int
    weight: float
    below: list[_Place]


class _Weighed:
    """The prompts of one model: how many pass each node, and how many of their tokens stand from it on.

    Attributes:
        root: All of them; stretches that are chosen hang below it.
        inside: By node of a chosen stretch, the end of that stretch.
    """

    def __init__(self, rows: Rows, model: int, weight: float) -> None:
        tree = rows.tree
        self.model = model
        self.factor = weight
        self._parent = tree.parent
        ends = [node for node, its in zip(rows.node, rows.model, strict=True) if its == model and node >= 0]
        deepest_first = tree.by_depth(deepest_first=True)
        self.requests = len(ends)
        self.visits = visits_of(rows, model, ends, deepest_first)
        self._tokens = array("q", bytes(8 * len(tree)))
        self._children: dict[int, list[int]] = {}
        root = ROOT
        for node in deepest_first:
            if not self.visits[node]:
                continue
            above = tree.parent[node]
            if above == ROOT:
                root = node if self._tokens[node] else root
            else:
                self._tokens[node] += self.visits[node] * (tree.depth[node] - tree.depth[above])
                self._tokens[above] += self._tokens[node]
                self._children.setdefault(above, []).append(node)
        self.root = _Place(0, root, root, weight * self._tokens[root] if root != ROOT else 0.0, [])
        self.inside = {root: root}

    def below(self, place: _Place) -> Iterator[_Place]:
        """Yield the ways on that several requests go, each down to where they part."""
        for node in self._children.get(place.end, []):
            if self.visits[node] < _LEAST_REQUESTS:
                continue
            end = node
            while len(on := self._children.get(end, [])) == 1 and self.visits[on[0]] == self.visits[node]:
                end = on[0]
            yield _Place(place.level + 1, place.end, end, self.factor * self._tokens[node], [])

    def choose(self, place: _Place, above: _Place) -> None:
        """Take a stretch into the tree."""
        above.below.append(place)
        node = place.end
        while node != place.above:
            self.inside[node] = place.end
            node = self._parent[node]

    def in_order(self) -> Iterator[_Place]:
        """Yield the root and the chosen stretches, each before what stands below it."""
        stack = [self.root]
        while stack:
            place = stack.pop()
            yield place
            stack.extend(reversed(place.below))


def _choose(forest: Sequence[_Weighed]) -> None:
    """Take the heaviest stretches of all models, one after the other: what stands above is never lighter."""
    least = _LEAST_SHARE * sum(tree.root.weight for tree in forest)
    waiting: list[tuple[float, int, int, _Place, _Place]] = []

    def look(number: int, above: _Place) -> None:
        for place in forest[number].below(above):
            if place.weight >= least:
                heapq.heappush(waiting, (-place.weight, number, place.end, place, above))

    for number, tree in enumerate(forest):
        look(number, tree.root)
    for _ in range(_MOST_NODES):
        if not waiting:
            break
        _, number, _, place, above = heapq.heappop(waiting)
        forest[number].choose(place, above)
        look(number, place)


def _breaks(rows: Rows, forest: Sequence[_Weighed], findings: Sequence[Finding]) -> dict[tuple[int, int], Counter[str]]:
    """Return by (model, end of a chosen stretch) how many requests each rule made part there from an earlier one."""
    found: dict[tuple[int, int], Counter[str]] = {}
    if not findings:
        return found
    files = zip(rows.file, rows.record, strict=True)
    row_of = {(rows.files[file], record): row for row, (file, record) in enumerate(files)}
    by_model = {tree.model: tree for tree in forest}
    for finding in findings:
        for pair in {place.pair: None for place in finding.occurrences if place.pair is not None}:
            before, after = (row_of.get((ref.path, ref.record)) for ref in (pair.before, pair.after))
            if before is None or after is None or rows.model[before] != rows.model[after]:
                continue
            tree, node = by_model.get(rows.model[after]), _fork(rows, rows.node[before], rows.node[after])
            while tree is not None and node >= 0 and node not in tree.inside:
                node = rows.tree.parent[node]
            if tree is not None and node >= 0:
                found.setdefault((tree.model, tree.inside[node]), Counter())[finding.rule] += 1
    return found


def _fork(rows: Rows, one: int, other: int) -> int:
    """Return where the ways to two nodes part; below 0 where one has no text, or they have no root in common."""
    parent, depth = rows.tree.parent, rows.tree.depth
    while one != other and min(one, other) >= 0:
        if depth[one] < depth[other]:
            one, other = other, one
        one = parent[one]
    return min(one, other)


def _branch(
    rows: Rows, tree: _Weighed, place: _Place, texts: NodeTexts | None, excerpts: Excerpts, broken: Counter[str]
) -> Branch:
    """Return a stretch with its text."""
    start, end = (rows.tree.depth[node] if node != ROOT else 0 for node in (place.above, place.end))
    requests = tree.visits[place.end] if place.level else tree.requests
    head = tail = ""
    if texts is not None and end > start:
        head = texts.between(place.end, start, min(end, start + _SHOWN_TOKENS))
        tail = texts.between(place.end, max(start, end - _SHOWN_TOKENS), end)
    return Branch(
        place.level,
        rows.models[tree.model],
        start,
        end,
        requests,
        round(requests * (end - start) * tree.factor),
        round(place.weight),
        excerpt(head, excerpts),
        excerpt(tail, excerpts, LIMIT, side="tail"),
        tuple(sorted(broken.items(), key=lambda item: (-item[1], item[0]))),
    )
