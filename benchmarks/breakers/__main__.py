"""Score `prefixwise lint` on labelled logs: `python -m benchmarks.breakers --help`.

Every family of traffic gives a log with one cause and a twin without it; controls have no cause. The report says which
causes were named, by which rules, and what was said of logs with nothing wrong.
Targets, for every seed: 20 of the 21 causes over Chat Completions and all 11 over Messages of the published comparison
named, and nothing above info in twins and controls.

Exit codes: 0 all reached, 1 a target missed, 2 could not run.
"""

from __future__ import annotations

import argparse
import functools
import json
import shlex
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.breakers.family import Family
from benchmarks.breakers.linting import lint
from benchmarks.breakers.logs import FAMILIES, Log, make_log
from benchmarks.breakers.scene import Variant
from benchmarks.breakers.score import NotALintDocumentError, Verdict, judge, score
from benchmarks.breakers.tables import tell
from benchmarks.children import CannotRunError

WITHOUT_USAGE = frozenset({"usage-missing"})
"""What is true of every log when usage is stripped."""


def chosen(names: str | None) -> dict[str, Family]:
    """Return the families of a comma-separated list, all of them without one.

    Raises:
        CannotRunError: There is no such family.
    """
    if names is None:
        return dict(FAMILIES)
    wanted = names.split(",")
    unknown = [name for name in wanted if name not in FAMILIES]
    if unknown:
        raise CannotRunError(f"no family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    return {name: FAMILIES[name] for name in wanted}


def variants(family: Family, seed: int) -> tuple[Variant, ...]:
    """Return which logs of a family are scored for a seed: the broken one and one twin, or the control alone."""
    return (Variant.RIGHT,) if family.is_control else (Variant.BROKEN, family.twin(seed))


Spec = tuple[Family, int, Variant]


def specs(families: dict[str, Family], seeds: Sequence[int], given: argparse.Namespace) -> list[Spec]:
    """Return which logs are to be drawn."""
    return [
        (family, seed, variant)
        for seed in seeds
        for family in families.values()
        if not (given.no_usage and family.needs_usage)
        for variant in variants(family, seed)
    ]


def draw(spec: Spec, given: argparse.Namespace) -> Log:
    """Return one of the logs."""
    return make_log(*spec, with_usage=not given.no_usage, with_sessions=given.session_ids)


def verdict_of(spec: Spec, folder: Path, given: argparse.Namespace) -> Verdict:
    """Draw a log, have it looked at, and judge what was said."""
    log = draw(spec, given)
    path = folder / log.name
    path.write_text(log.text(), "utf-8")
    try:
        document = lint(path, shlex.split(given.command or ""))
        return judge(*spec, document, WITHOUT_USAGE if given.no_usage else frozenset())
    except NotALintDocumentError as problem:
        raise CannotRunError(f"{path.name}: {problem}") from None
    finally:
        path.unlink()


def write(logs: Iterable[Log], folder: Path) -> None:
    """Write logs into a folder, and what is wrong with them into `labels.json` beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = {}
    for log in logs:
        (folder / log.name).write_text(log.text(), "utf-8")
        rule = log.family.rule if log.variant is Variant.BROKEN else ""
        labels[log.name] = {"rule": rule, "hit_rate": round(log.hit_rate, 4), "what": log.family.what}
    (folder / "labels.json").write_text(json.dumps(labels, indent=1) + "\n", "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.breakers", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="score seeds 0 to N-1 (default 1)")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="begin with another seed")
    parser.add_argument("--families", metavar="A,B", help="only these families")
    parser.add_argument("--no-usage", action="store_true", help="strip the reported usage from the logs")
    parser.add_argument("--session-ids", action="store_true", help="name the conversation in every record")
    parser.add_argument("--write", metavar="DIR", type=Path, help="write the logs and their labels, and score nothing")
    parser.add_argument("--command", help="the command under test (default: prefixwise in this Python)")
    parser.add_argument("--jobs", type=int, default=2, help="logs looked at at once (default 2)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def main() -> int:
    """Generate, lint, score, report."""
    given = _arguments()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    try:
        families = chosen(given.families)
        wanted = specs(families, seeds, given)
        if given.write:
            write((draw(spec, given) for spec in wanted), given.write)
            return 0
        with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(given.jobs) as pool:
            look = functools.partial(verdict_of, folder=Path(folder), given=given)
            verdicts = list(pool.map(look, wanted, chunksize=4))
    except CannotRunError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    found = score(verdicts, families)
    print(json.dumps(found.values(), indent=1) if given.json else tell(found, families))
    return 0 if found.is_reached else 1


if __name__ == "__main__":
    sys.exit(main())
