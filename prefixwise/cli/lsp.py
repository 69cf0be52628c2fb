"""`prefixwise lsp`."""

from __future__ import annotations

from typing import Annotated

import typer


def lsp(
    tcp: Annotated[
        int | None,
        typer.Option("--tcp", metavar="PORT", min=1, max=65535, help="Listen on this port instead of standard input."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on, with --tcp.")] = (
        "127.0.0.1"
    ),
    stdio: Annotated[  # noqa: ARG001 - many editors say it
        bool, typer.Option("--stdio", help="Talk over standard input and output, as by default.")
    ] = False,
) -> None:
    """Serve editors: findings while typing, over the Language Server Protocol. See docs/editors.md.

    \b
    Examples:
      prefixwise lsp
      prefixwise lsp --tcp 7007
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.core.errors import MissingExtraError

    _forget_the_working_folder()
    try:
        from prefixwise.workflows.editor.server import make_server
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        raise MissingExtraError("the language server", "lsp") from None
    server = make_server()
    if tcp is None:
        server.start_io()
    else:
        server.start_tcp(host, tcp)


def _forget_the_working_folder() -> None:
    """Import nothing from the workspace that the server is started in, as `python -m prefixwise` would."""
    import os
    import sys
    from pathlib import Path

    import prefixwise

    own = str(Path(prefixwise.__file__).parent.parent)
    here = os.getcwd()
    if own != here:
        sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
