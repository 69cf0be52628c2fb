"""How often lint is right about packages in the wild, by judgements of people who read the code."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.precision.fetch import is_there
from tests.precision.wild import Package, findings, judged, packages

LIMITS = {"error": 0.95, "warning": 0.85}
READ = [package for package in packages() if not package.slow or os.environ.get("PREFIXWISE_PRECISION") == "all"]


@pytest.mark.parametrize("level", LIMITS)
def test_findings_are_right_as_often_as_promised(level):
    verdicts = Counter(one.verdict for one in judged() if one.level == level)
    assert verdicts.keys() <= {"true", "false"}
    assert verdicts["true"] >= 5  # to say nothing is no precision
    assert verdicts["true"] / verdicts.total() >= LIMITS[level], dict(verdicts)


def test_judgements_are_of_the_pinned_packages_and_say_why():
    pinned = {(package.name, package.version) for package in packages()}
    assert len(pinned) >= 12
    for one in judged():
        assert (one.package, one.version) in pinned
        assert len(one.why.split()) >= 4
    keys = [(one.package, one.path, one.fingerprint) for one in judged()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("package", READ, ids=lambda package: package.name)
def test_every_finding_was_judged(package: Package, tmp_path):
    if not is_there(package):
        pytest.skip("its sources are not at hand: tests/precision/fetch.py takes them from PyPI")
    told = {(one.path, one.fingerprint): one for one in judged() if one.package == package.name}
    found = {(one.path, one.fingerprint): one for one in findings(package, tmp_path)}
    new = [f"{one.path}:{one.span.line} {one.rule}" for key, one in found.items() if key not in told]
    gone = [f"{one.path}:{one.line} {one.rule}" for key, one in told.items() if key not in found]
    changed = [
        f"{one.path}:{one.line} {one.rule}"
        for key, one in told.items()
        if key in found and found[key].level != one.level
    ]
    assert (new, gone, changed) == ([], [], [])
