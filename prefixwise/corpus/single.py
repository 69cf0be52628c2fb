"""One request out of a file: `FILE` where it holds one, `FILE#N` for record N."""

from __future__ import annotations

import io
from pathlib import Path

from prefixwise.core.errors import UserError
from prefixwise.core.report import InputFile
from prefixwise.core.request import Request
from prefixwise.corpus.call import Answer
from prefixwise.corpus.reader import Broken, Reading, ReadOptions, Skipped, first_bytes, reader_for
from prefixwise.corpus.sources import STDIN, is_readable, open_plain


def split_address(address: str) -> tuple[str, int | None]:
    """Return (path, record) of `FILE#N`; the record is None for a plain path. A file of the whole name wins."""
    path, mark, number = address.rpartition("#")
    if not mark or not number.isascii() or not number.isdecimal() or Path(address).exists():
        return address, None
    return path, int(number[:18])


def read_requests(
    address: str, options: ReadOptions, stdin: io.BufferedReader | None = None, most: int | None = None
) -> tuple[list[Request], InputFile]:
    """Return the request that `FILE#N` names, or the first `most` of `FILE`.

    Raises:
        UserError: No such file or record, or the record is broken; exit code 3 where the file holds no request.
    """
    path, wanted = split_address(address)
    if path != STDIN and not is_readable(Path(path)):
        what = "is a folder" if Path(path).is_dir() else "is a socket" if Path(path).is_socket() else "no such file"
        raise UserError(what, path, "name a file, or a record of it as FILE#N", exit_code=3)
    found: list[Request] = []
    records = broken = 0
    problem: Broken | None = None
    with open_plain(path, stdin) as stream:
        reader = reader_for(path, first_bytes(stream), options)
        if reader.kind == "trace":
            raise UserError("a trace holds no text", path, "hitrate counts traces")
        reading: Reading = reader.open(path, options)
        for request in reading.requests(stream):
            if isinstance(request, Answer):
                continue
            records += 1
            if not isinstance(request, Request):
                _refuse(request, address, wanted, options)
                broken += isinstance(request, Broken)
                problem = problem or (request if isinstance(request, Broken) else None)
            elif wanted is None or request.record == wanted:
                found.append(request)
                if wanted is not None or (most is not None and len(found) >= most):
                    break
    if wanted is not None and not found:
        raise UserError(f"there is no record {wanted}; the file has {records}", address)
    if not found:
        reason = f": {problem.reason}" if problem else ""
        raise UserError(f"no request in the file{reason}", path, exit_code=2 if problem else 3)
    read = len(found) if wanted is not None else records
    return found, InputFile(path, reading.format, reading.mode, reading.record_path, read, broken)


def _refuse(record: Broken | Skipped, address: str, wanted: int | None, options: ReadOptions) -> None:
    """Raise UserError where a record that is no request is the one wanted, or broken under `strict`."""
    if isinstance(record, Skipped):
        if record.record == wanted:
            raise UserError(f"the call was left out: {record.reason}", address)
    elif record.record == wanted or options.strict:
        raise UserError(f"the record is broken: {record.reason}", address)


def read_one(address: str, options: ReadOptions, stdin: io.BufferedReader | None = None) -> tuple[Request, InputFile]:
    """Return the one request that `address` names.

    Raises:
        UserError: As `read_requests`, and where a file without `#N` holds several.
    """
    found, file = read_requests(address, options, stdin, most=2)
    if len(found) > 1:
        advice = "save it to a file and name one as FILE#N" if address == STDIN else f"name one: {address}#0"
        raise UserError("the file holds several requests", address, advice)
    return found[0], file
