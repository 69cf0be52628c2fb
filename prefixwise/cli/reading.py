"""From the shared options to a corpus; what every command does first."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prefixwise.cli.console import Console
    from prefixwise.corpus.again import Again
    from prefixwise.corpus.corpus import Corpus
    from prefixwise.corpus.index import CorpusIndex
    from prefixwise.corpus.reader import ReadOptions
    from prefixwise.corpus.tokenizer import ChooseTokenizer


def read_options(
    input_format: str | None = None,
    record_path: str | None = None,
    strict: bool = False,
    **fields: str | None,
) -> ReadOptions:
    """Return the options of a reader. Raises UserError for a pointer that is none."""
    from prefixwise.core.errors import UserError
    from prefixwise.core.pointer import parse_pointer
    from prefixwise.corpus.reader import ReadOptions

    def keys(option: str, pointer: str) -> tuple[str, ...]:
        try:
            return parse_pointer(pointer)
        except UserError as problem:
            raise UserError(problem.what, option, problem.help) from None

    return ReadOptions(
        input_format or "",
        None if record_path is None else keys("--record-path", record_path),
        {name: keys(f"--{name}-field", pointer) for name, pointer in fields.items() if pointer is not None},
        strict,
    )


def places_of(said: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the places that `--place NAME=POINTER` names. Raises UserError for one that is none."""
    from prefixwise.analyzers.tenancy.records import PLACES
    from prefixwise.core.errors import UserError
    from prefixwise.core.pointer import parse_pointer

    found: dict[str, tuple[str, ...]] = {}
    for one in said:
        name, equals, pointer = one.partition("=")
        where = f"--place {one[:100]}"
        if not equals or name not in PLACES:
            raise UserError("this is no NAME=POINTER", where, f"names are {', '.join(PLACES)}")
        if name in found:
            raise UserError(f"{name} is given twice", where)
        try:
            found[name] = parse_pointer(pointer)
        except UserError as problem:
            raise UserError(problem.what, where, problem.help) from None
    return found


def read(
    paths: list[str], options: ReadOptions, console: Console, choose: ChooseTokenizer, *, layouts: bool = False
) -> Corpus:
    """Read `paths` with progress on stderr, counting with the tokenizers that `choose` returns; `layouts` if asked."""
    from prefixwise.corpus.index import CorpusIndex
    from prefixwise.corpus.layouts import Layouts

    return _read(paths, options, console, CorpusIndex(choose, layouts=Layouts() if layouts else None), standard_input())


@contextmanager
def read_twice(
    paths: list[str], options: ReadOptions, console: Console, choose: ChooseTokenizer, *, layouts: bool = False
) -> Iterator[tuple[Corpus, Again]]:
    """Yield (corpus with outlines, what reads the same requests again); the input is at hand until the block ends."""
    import gc
    from functools import partial

    from prefixwise.corpus.again import kept, requests_again
    from prefixwise.corpus.index import CorpusIndex
    from prefixwise.corpus.layouts import Layouts
    from prefixwise.corpus.outlines import Outlines

    with kept(paths, standard_input()) as stdin:
        index = CorpusIndex(choose, Outlines(), Layouts() if layouts else None)
        corpus = _read(relative(paths), options, console, index, stdin)
        files = [file.path for file in corpus.inputs]
        gc.disable()  # as for the first reading
        try:
            yield corpus, partial(requests_again, files, corpus.rows, options, stdin)
        finally:
            gc.freeze()
            gc.enable()


@contextmanager
def uncollected() -> Iterator[None]:
    """Let no garbage be looked for: trees of sources are millions of objects, and few of them ever become any."""
    import gc

    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def relative(paths: list[str]) -> list[str]:
    """Return paths as documents name them: relative to the current folder where they are below it."""
    import os

    below = os.path.join(os.getcwd(), "")
    inside = (path[len(below) :] if path.startswith(below) else path for path in paths)
    return ["." if os.path.join(path, "") == below else path or "." for path in inside]


def _read(
    paths: list[str], options: ReadOptions, console: Console, index: CorpusIndex, stdin: io.BufferedReader
) -> Corpus:
    import gc

    from prefixwise.corpus.corpus import read_corpus

    # The index is millions of small objects without a cycle among them: collecting it over and over costs more
    # than all the rest.
    gc.disable()
    try:
        with console.progress("reading") as progress:
            return read_corpus(paths, options, progress, stdin, index)
    finally:
        gc.freeze()  # what was read stays until the end: no later collection need look at it
        gc.enable()


def refuse_overwriting(outputs: Sequence[Path], paths: Sequence[str], known: Sequence[Path] = ()) -> None:
    """Raise UserError where a file to be written is one of the inputs, of files that are `known`, or written twice."""
    import os

    from prefixwise.core.errors import UserError
    from prefixwise.corpus.sources import find_files

    inputs = {os.path.realpath(path) for path in find_files(paths)} if outputs and paths else set()
    inputs.update(map(os.path.realpath, known))
    written = set[str]()
    for output in outputs:
        place = os.path.realpath(output)
        if place in inputs:
            raise UserError("the output would overwrite an input", str(output), "write to another file")
        if place in written:
            raise UserError("two outputs go to one file", str(output), "give each its own path")
        written.add(place)


def standard_input() -> io.BufferedReader:
    """Return standard input as bytes."""
    import sys

    return cast("io.BufferedReader", sys.stdin.buffer)


def text_on_stdin(paths: Sequence[str], filename: str | None, *, locked: bool, since: str | None) -> tuple[str, bytes]:
    """Return the path under which standard input is linted, and its text; nothing where it is a log, or not asked for.

    Raises:
        UserError: Something else is to be linted with it, or something is asked that only files can tell.
    """
    import os

    from prefixwise.analyzers.static.file_kinds import FileKind, of_unsaved
    from prefixwise.core.errors import UserError
    from prefixwise.corpus.sources import STDIN

    if filename is None:
        return "", b""
    if list(paths) != [STDIN] or not filename or filename == STDIN:
        raise UserError(
            "a name for standard input goes with - alone", "--stdin-filename", "lint - --stdin-filename a.md"
        )
    if locked or since is not None:
        option = "--locked" if locked else "--since"
        raise UserError("only what stands in files can be held against that", option, "leave it out")
    path = relative([filename])[0].replace(os.sep, "/")
    return (path, standard_input().read()) if of_unsaved(path) is not FileKind.LOG else ("", b"")


def secret_key(path: Path | None, console: Console) -> bytes:
    """Return the secret for prefix ids from `path`, by default a file in the user's settings folder.

    A file that is not there is made, readable by its owner only.

    Raises:
        UserError: The file cannot be read or made, or holds something else.
    """
    from pathlib import Path

    import typer

    from prefixwise.core.errors import UserError
    from prefixwise.corpus.prefix_ids import KEY_BYTES

    path = path or Path(typer.get_app_dir("prefixwise")) / "trace.key"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_key(path)
            console.note(f"made a secret for prefix ids: {path} (keep it to yourself)")
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as problem:
        raise UserError(f"cannot be used as a key file: {problem}", str(path)) from None
    if len(key) != KEY_BYTES:
        raise UserError(f"a key is {KEY_BYTES} bytes in hexadecimal", str(path))
    return key


def _make_key(path: Path) -> None:
    """Make a key file, readable by its owner only and never half written; one that another run made first stays."""
    import contextlib
    import os
    import secrets

    from prefixwise.corpus.prefix_ids import KEY_BYTES

    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
