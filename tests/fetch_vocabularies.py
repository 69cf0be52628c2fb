"""Fetch llama.cpp's test vocabularies and chat templates, which stand in the source package of llama-cpp-python.

The package is taken from PyPI with pip, checked against its SHA-256, and only the models' folder is kept:
`ggml-vocab-*` (vocabularies, test inputs, expected ids) and `templates/*.jinja`.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "llama-cpp-python", "0.3.36"
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
FOLDER = Path(__file__).parent.parent / ".cache" / "vocabularies" / f"{PACKAGE}-{VERSION}"
COMPLETE = ".complete"
_MODELS = "/vendor/llama.cpp/models/"


def fetch(folder: Path) -> int:
    """Fill `folder` and return how many files it got."""
    with tempfile.TemporaryDirectory() as work:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--no-binary", PACKAGE, "--dest", work, f"{PACKAGE}=={VERSION}"], check=True)
        (package,) = Path(work).glob("llama_cpp_python-*.tar.gz")
        found = hashlib.sha256(package.read_bytes()).hexdigest()
        if found != SHA256:
            raise SystemExit(f"{package.name} has the SHA-256 {found}, expected {SHA256}")
        return unpack(package, folder)


def unpack(package: Path, folder: Path) -> int:
    """Copy the vocabularies and templates of `package` to `folder`."""
    count = 0
    with tarfile.open(package) as archive:
        for member in archive:
            _, mark, name = member.name.partition(_MODELS)
            wanted = mark and member.isfile() and (name.startswith("ggml-vocab-") or name.endswith(".jinja"))
            stream = archive.extractfile(member) if wanted else None
            if stream is None:
                continue
            target = folder / Path(name).name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(stream.read())
            count += 1
    return count


def main() -> None:
    """Fetch what is not there yet; without a network, say so and leave the tests to be skipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stamp", type=Path, help="Touch this file when everything is there.")
    stamp = parser.parse_args().stamp
    if not (FOLDER / COMPLETE).exists():
        try:
            count = fetch(FOLDER)
        except subprocess.CalledProcessError:
            print(f"{PACKAGE} {VERSION} could not be fetched; tests of real vocabularies are skipped", file=sys.stderr)
            return
        (FOLDER / COMPLETE).touch()
        print(f"{count} files of {PACKAGE} {VERSION} in {FOLDER}")
    if stamp is not None:
        stamp.touch()


if __name__ == "__main__":
    main()
