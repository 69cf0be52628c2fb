"""What the GitHub Action takes from reports that prefixwise wrote.

`told.py REPORT.json` prints how many findings are told. `told.py REPORT.sarif NEW.sarif` writes the report without its
suppressed results: code scanning does not look at `suppressions` and would open alerts for them all the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def without_suppressed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a SARIF document whose results are those that nobody suppressed."""
    runs = [
        {**run, "results": [result for result in run.get("results", ()) if not result.get("suppressions")]}
        for run in document["runs"]
    ]
    return {**document, "runs": runs}


def main(report: str, new: str = "") -> None:
    """Do what the module says."""
    document = json.loads(Path(report).read_text(encoding="utf-8"))
    if new:
        Path(new).write_text(json.dumps(without_suppressed(document), ensure_ascii=False), encoding="utf-8")
    else:
        sys.stdout.write(f"{len(document['findings'])}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
