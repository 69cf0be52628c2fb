"""Well-known packages that carry prompts: which versions, what lint finds in them, and what people said of that."""

from __future__ import annotations

import os
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.discovery import discover
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import lint_sources
from prefixwise.core.finding import Finding

HERE = Path(__file__).parent
WHEELS = HERE.parent.parent / ".cache" / "wild"
_NOT_READ = (".so", ".pyd", ".dll", ".dylib", ".png", ".jpg", ".svg", ".woff2", ".ttf", ".js", ".ts", ".map", ".css")


class Package(msgspec.Struct, frozen=True):
    """A package whose findings were judged.

    Attributes:
        name, version: On PyPI.
        wheel, sha256: The file there.
        slow: It is too large to be read in every run of the tests; `PREFIXWISE_PRECISION=all` reads it too.
    """

    name: str
    version: str
    wheel: str
    sha256: str
    slow: bool = False


class Judged(msgspec.Struct, frozen=True):
    """What was said of a finding, having read the code around it."""

    package: str
    version: str
    path: str
    line: int
    rule: str
    level: str
    fingerprint: str
    quote: str
    verdict: str
    why: str


def packages() -> list[Package]:
    """Return the packages of `packages.toml`."""
    table = tomllib.loads((HERE / "packages.toml").read_text(encoding="utf-8"))
    return msgspec.convert(table["package"], list[Package])


def judged() -> list[Judged]:
    """Return the judgements of `judged.jsonl`."""
    lines = (HERE / "judged.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Judged) for line in lines]


def findings(package: Package, folder: Path) -> tuple[Finding, ...]:
    """Return what lint finds in the sources of a package, which are unpacked into an empty folder."""
    with zipfile.ZipFile(WHEELS / package.wheel) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith(_NOT_READ) and ".dist-info/" not in name]
        wheel.extractall(folder, names)
    with _inside(folder):
        found = discover(["."])
        return lint_sources(source_files(found.found), RULES.names(), beside=source_files(found.beside)).findings


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
