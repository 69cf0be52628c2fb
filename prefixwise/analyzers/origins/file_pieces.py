"""What the texts of a source file are made of, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.origins.code_strings import Language, code_strings
from prefixwise.analyzers.origins.holes import BREAK, Gap, Piece
from prefixwise.analyzers.static.python.modules import UnparsedError
from prefixwise.analyzers.static.python.notebooks import Notebook, is_notebook
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.parts import Control, Text
from prefixwise.analyzers.static.templates.read import read_template

_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")


def file_pieces(source: Source) -> Iterator[Piece]:
    """Yield constant texts and gaps in the order of the file; gaps are places in the file."""
    name = source.path.lower()
    if name.endswith((".py", ".pyi")):
        yield from code_strings(source.text, Language.PYTHON)
    elif is_notebook(name):
        yield from _of_notebook(source)
    elif name.endswith(_SCRIPTS):
        yield from code_strings(source.text, Language.SCRIPT)
    elif name.endswith(".toml"):
        yield from code_strings(source.text, Language.TOML)
    else:
        yield from _of_template(source)


def _of_notebook(source: Source) -> Iterator[Piece]:
    try:
        notebook = Notebook(source)
    except UnparsedError:
        return
    for piece in code_strings(notebook.code.text, Language.PYTHON):
        yield Gap(*notebook.place(piece.start, piece.end)) if isinstance(piece, Gap) else piece


def _of_template(source: Source) -> Iterator[Piece]:
    for template in read_template(source).templates:
        for message in template.messages:
            yield BREAK
            within: tuple[Control, ...] = ()
            for part in message.parts:
                if part.within != within:
                    yield BREAK
                    within = part.within
                yield part.text if isinstance(part, Text) else Gap(part.start, part.end)
