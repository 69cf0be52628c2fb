"""Comments of YAML and TOML, held to what PyYAML's scanner and the standard library make of the same text."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.suppress.comments.data_files import toml_comments, yaml_comments

VALUES = (
    "plain", "it's # here", "it's#one", "'quoted # not'", "'it''s # not' # yes", '"a \\" # not" # yes', "a # yes",
    "[1, 'x # not', 2] # yes", "{a: \"b # not\", c: d} # yes", "|\n    # not\n    text # not\n\n    more", "# yes",
    "> # yes\n    folded # not", "|-\n    last # not", "'two\n    lines # not' # yes", "plain\n    goes on # yes",
    "!tag 'x # not' # yes", "&anchor x # yes", "http://a/#not", '"#not"', "''  # yes",
)  # fmt: skip
LINES = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(["a", "system", "'k # not'", "k-1"]), st.sampled_from(VALUES)),
    st.sampled_from(["# yes", "    # yes", "", "- 'x # not' # yes", "- a: |\n    # not\n  b: 1 # yes"]),
)


def scanned(text: str) -> list[int]:
    """Return where comments begin by PyYAML's scanner: at a `#` behind white space outside every scalar."""
    covered = []
    for token in yaml.scan(text):
        if isinstance(token, yaml.ScalarToken):
            start = token.start_mark.index
            if token.style in ("|", ">"):
                start = text.find("\n", start) if "\n" in text[start:] else len(text)
            covered.append(range(start, token.end_mark.index))
    found: list[int] = []
    for match in re.finditer(r"(?<![^\s])#", text):
        inside = any(match.start() in scalar for scalar in covered)
        if not inside and not (found and "\n" not in text[found[-1] : match.start()]):
            found.append(match.start())
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_yaml_comments_are_those_of_the_scanner(lines: list[str], end: str) -> None:
    text = "\n".join(lines) + "\n"
    try:
        expected = scanned(text)
    except yaml.YAMLError:
        assume(False)
    source = Source("a.yaml", text.replace("\n", end))
    comments, _ = yaml_comments(source, 0, len(source.text))
    shift = len(end) - 1
    assert [comment.start for comment in comments] == [at + shift * text.count("\n", 0, at) for at in expected]
    assert all(source.text[comment.start] == "#" for comment in comments)
    assert all(comment.text == source.text[comment.body : comment.end] for comment in comments)
    assert not any("\n" in comment.text or "\r" in comment.text for comment in comments)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("a: |\n  x\n  y\nb: 1\n", [(1, 3)]),
        ("a:\n  b: >-\n    x\n\n    y\n  c: 1\n", [(2, 5)]),
        ("- a: |\n    x\n  b: 1\n", [(1, 2)]),
        ("- |\n x\n- y\n", [(1, 2)]),
        ("a: 'x\n  y'\nb: 1\n", [(1, 2)]),
        ("a: x\n  y\n  z\nb:\n  c: 1\n", [(1, 3)]),
        ("a:\n  b: 1\n  c: 2\n", []),
    ],
)
def test_texts_of_several_lines_are_units(text: str, units: list[tuple[int, int]]) -> None:
    assert yaml_comments(Source("a.yaml", text), 0, len(text))[1] == units


PIECES = st.sampled_from(
    [
        "a%d = 1", "a%d = 'x # not'", 'a%d = "x \\" # not"', "a%d = \'\'\'\n# not\n\'\'\'",
        'a%d = """\n\\""" # not\n"""',
        "a%d = [ # yes\n  1, # yes\n]", "# yes %d", "a%d = 1 # yes 'quoted", "a%d = \'\'\'\'two\'\'\' # yes",
        "'k # not %d' = 1 # yes",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=6))
def test_toml_comments_can_be_taken_away(pieces: list[str]) -> None:
    text = "\n".join(piece % number for number, piece in enumerate(pieces)) + "\n"
    comments, _ = toml_comments(Source("a.toml", text))
    assert [comment.text.strip()[:3] for comment in comments] == ["yes"] * text.count("# yes")
    bare = list(text)
    for comment in comments:
        bare[comment.start : comment.end] = " " * (comment.end - comment.start)
    assert tomllib.loads("".join(bare)) == tomllib.loads(text)
