"""Files that were made to take long, or to break the search for comments: it takes no longer than reading them."""

from __future__ import annotations

import time

import pytest

from prefixwise.analyzers.static.lint import SourceFile, SourceKind
from prefixwise.analyzers.suppress.inline import Ran, sift_inline

MANY, FEW = 30_000, 3_000
SIGN = "prefixwise: ignore[PW101]\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.hbs", SIGN + "{{{{raw " * MANY),
        ("a.hbs", SIGN + "{{!-- " * MANY),
        ("a.hbs", SIGN + "{{! prefixwise: ignore[x] }}\n" * FEW),
        ("a.j2", SIGN + "{# " * MANY),
        ("a.j2", "{# prefixwise: ignore[x, y] #}\n" * FEW),
        ("a.md", SIGN + "<!-- prefixwise: " * MANY),
        ("a.md", "<!-- prefixwise: ignore[x] -->\n" * FEW),
        ("a.yaml", SIGN + "a: " + "' " * MANY),
        ("a.yaml", SIGN + "a: 'x\n" * MANY),
        ("a.yaml", SIGN + "a: [" + "'x', " * MANY),
        ("a.yaml", "# prefixwise: ignore[x]\n" * FEW),
        ("a.toml", SIGN + '"""' * (MANY + 1)),
        ("a.toml", "# prefixwise: ignore-file[x]\n" * FEW),
        ("a.py", "# prefixwise: ignore[x]\n" * FEW),
        ("a.py", "# prefixwise: ignore-file[x]\nx = 1\n" * FEW),
        ("a.py", "x = [\n" + "    # prefixwise: ignore[PW101]\n    f(1),\n" * (FEW) + "]\n"),
        ("a.py", "# " + "# prefixwise: ignore[" * MANY + "\n"),
        ("a.py", "# prefixwise: ignore[" + "x" * MANY * 5 + "]\n"),
        ("a.js", "/*" + "\n" * MANY + "prefixwise: ignore[x] */ f(1);\n"),
        ("a.js", "// prefixwise: ignore[x]\nf(1);\n" * (FEW)),
        ("a.py", "# prefixwise: ignore[x]\nx = " + "(" * 5_000),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["# prefixwise: ignore[x]\\n"]}' + "[" * MANY),
    ],
)
def test_no_file_takes_long(path: str, text: str) -> None:
    kinds = {"py": SourceKind.PYTHON, "ipynb": SourceKind.PYTHON, "js": SourceKind.SCRIPT}
    file = SourceFile(path, kinds.get(path.rpartition(".")[2], SourceKind.TEMPLATE))
    ran = Ran(lambda _: {"unknown-ignore", "costly-ignore"})
    begun = time.process_time()
    sift_inline((), [file], ran, given={path: text.encode()})
    assert time.process_time() - begun < 6


@pytest.mark.parametrize("path", ["a.py", "a.ipynb", "a.js", "a.j2", "a.md", "a.yaml", "a.toml", "a.json", "a.hbs"])
@pytest.mark.parametrize(
    "text",
    [b"prefixwise:", b"\xff prefixwise: ignore[x]", b"# prefixwise: ignore[\x00\x1b]", b"{# prefixwise:"],
)
def test_nothing_breaks_it(path: str, text: bytes) -> None:
    for kind in SourceKind:
        sifted = sift_inline((), [SourceFile(path, kind)], Ran(lambda _: {"unknown-ignore"}), given={path: text})
        assert {one.rule for one in sifted.kept} <= {"unknown-ignore"}
        assert sifted.hidden == ()
