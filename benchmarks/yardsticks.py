"""What prefixwise is measured against, each run as a child process: `python -m benchmarks.yardsticks NAME …`.

    start                interpreter start and nothing else
    msgspec LOG          read the file line by line, decode every line to Python objects with msgspec, drop them
    orjson LOG           the same with orjson
    load                 interpreter start, and tiktoken's `o200k_base` built from bpe-openai's rank file
    tokenise TEXTS       `load`, then encode every text of TEXTS once (a file made by `texts`; no JSON is decoded)
    folder FOLDER        `load`, then read every file of a folder and encode it once
    texts LOG TEXTS      prepare: write the distinct texts of a log, separated by NUL; never part of a timing

Distinct texts are the contents and the tool-call arguments of all messages, and each single tool definition (not
each list of tools), once each. The yardstick of tokenising is therefore what nobody can avoid who encodes every
message; an application that cuts texts further may stay below it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENCODING = "o200k_base"


def start() -> None:
    """Do nothing."""


def decode_msgspec(log: str) -> None:
    """Decode every line with msgspec."""
    import msgspec

    decode = msgspec.json.Decoder().decode
    with Path(log).open("rb") as lines:
        for line in lines:
            decode(line)


def decode_orjson(log: str) -> None:
    """Decode every line with orjson."""
    import orjson

    decode = orjson.loads
    with Path(log).open("rb") as lines:
        for line in lines:
            decode(line)


def load() -> Any:
    """Return tiktoken's own Encoding, its ranks read from bpe-openai's files.

    The package is looked up, not imported: its import builds encoders of its own, which nobody here needs.
    """
    import base64
    import gzip
    import types
    from importlib.util import find_spec

    import tiktoken
    from tiktoken_ext import openai_public

    found = find_spec("bpe_openai")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the package bpe-openai is not installed")
    folder = Path(found.submodule_search_locations[0]) / "data"

    def ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:  # noqa: ARG001
        packed = (folder / f"{url.rsplit('/', 1)[1]}.gz").read_bytes()
        pairs = (line.split() for line in gzip.decompress(packed).splitlines())
        return {base64.b64decode(token): int(rank) for token, rank in pairs}

    made = getattr(openai_public, ENCODING)
    maker = types.FunctionType(made.__code__, {**vars(openai_public), "load_tiktoken_bpe": ranks})
    return tiktoken.Encoding(**maker())


def tokenise(texts: str) -> None:
    """Encode every text of the file once; print how many texts and tokens there were."""
    encode = load().encode_ordinary
    count = tokens = 0
    for text in Path(texts).read_text("utf-8").split("\0"):
        tokens += len(encode(text))
        count += 1
    print(count, tokens)


def folder(path: str) -> None:
    """Read every file below a folder and encode it once; print how many files and tokens there were."""
    encode = load().encode_ordinary
    count = tokens = 0
    for file in sorted(Path(path).rglob("*")):
        if file.is_file():
            tokens += len(encode(file.read_text("utf-8")))
            count += 1
    print(count, tokens)


def prepare_texts(log: str, texts: str) -> None:
    """Write the distinct texts of `log` to the file `texts`."""
    import msgspec

    decode = msgspec.json.Decoder().decode
    seen: dict[str, None] = {}
    with Path(log).open("rb") as lines:
        for line in lines:
            record = decode(line)
            seen.update(dict.fromkeys(_texts(record.get("request", record))))
    Path(texts).write_text("\0".join(seen), "utf-8")


def _texts(body: dict[str, Any]) -> Iterator[str]:
    import json

    for message in body["messages"]:
        if message.get("content"):
            yield message["content"]
        for call in message.get("tool_calls", ()):
            yield call["function"]["arguments"]
    for tool in body.get("tools", ()):
        yield json.dumps(tool, separators=(",", ":"))


NAMES: dict[str, Callable[..., Any]] = {
    "start": start,
    "msgspec": decode_msgspec,
    "orjson": decode_orjson,
    "load": load,
    "tokenise": tokenise,
    "folder": folder,
    "texts": prepare_texts,
}

if __name__ == "__main__":
    NAMES[sys.argv[1]](*sys.argv[2:])
