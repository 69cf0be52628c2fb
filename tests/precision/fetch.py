"""Fetch the wheels of `packages.toml` from PyPI into `.cache/wild/`: no dependencies, nothing installed or imported.

Each file is checked against its SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from tests.precision.wild import WHEELS, Package, packages


def is_there(package: Package) -> bool:
    """Say whether the wheel of a package is at hand, and the one that is meant."""
    path = WHEELS / package.wheel
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == package.sha256


def fetch(package: Package) -> None:
    """Fetch the wheel of a package."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wanted = f"{package.name}=={package.version}"
    subprocess.run([*pip, "--only-binary", ":all:", "--dest", str(WHEELS), wanted], check=True)
    if not is_there(package):
        raise SystemExit(f"{wanted}: no {package.wheel} with the SHA-256 {package.sha256} came")


def main() -> None:
    """Fetch what is not there yet; without a network, say so and leave the tests to be skipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stamp", type=Path, help="Touch this file when everything is there.")
    parser.add_argument("--all", action="store_true", help="Fetch the slow packages too.")
    arguments = parser.parse_args()
    WHEELS.mkdir(parents=True, exist_ok=True)
    for package in packages():
        if is_there(package) or (package.slow and not arguments.all):
            continue
        try:
            fetch(package)
        except subprocess.CalledProcessError:
            print(
                f"{package.name} {package.version} could not be fetched; its findings are not compared", file=sys.stderr
            )
            return
        print(f"{package.wheel} in {WHEELS}")
    if arguments.stamp is not None:
        arguments.stamp.touch()


if __name__ == "__main__":
    main()
