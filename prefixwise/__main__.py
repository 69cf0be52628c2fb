"""Where the command starts, `prefixwise` and `python -m prefixwise` alike."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it with 130 and one word, at any time."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the process's life
    try:
        from prefixwise.cli.app import run

        code = run()
    except KeyboardInterrupt:
        code = 130
        with contextlib.suppress(OSError):
            sys.stderr.write("interrupted\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
