"""From named paths to files to lint: what is taken, what is left, and why."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from prefixwise.analyzers.static.discovery import Discovered, Selection, discover, everything
from prefixwise.analyzers.static.file_contents import LARGEST
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.core.errors import UserError

CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello"}]})
PROMPT = "You are a helpful desk. {{ question }}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def kinds(discovered: Discovered) -> dict[str, str]:
    return {found.path: str(found.kind) for found in discovered.found}


def whys(discovered: Discovered) -> dict[str, str]:
    return {left.path: left.why for left in discovered.left_out}


BY_NAME = [
    ("a.prompt", PROMPT, "template"),
    ("a.prompty", PROMPT, "template"),
    ("desk.prompt.md", "Be brief.", "prompt-text"),
    ("desk.prompt.yaml", "system: Be brief.", "prompt-text"),
    ("desk.prompt.json", '{"system": "Be brief."}', "prompt-text"),
    ("desk.prompt.j2", PROMPT, "template"),
    ("prompts/desk.md", "Be brief.", "prompt-text"),
    ("prompts/desk.txt", "Be brief.", "prompt-text"),
    ("prompt/desk.toml", 'text = "Be brief."', "prompt-text"),
    ("src/prompts/deep/desk.yaml", "system: Be brief.", "prompt-text"),
    ("prompts/desk.json", '{"system": "Be brief."}', "prompt-text"),
    ("prompts/desk", "Be brief.", "prompt-text"),
    ("prompts/calls.jsonl", CHAT, "log"),
    ("prompts/calls.json", f"[{CHAT}]", "log"),
    ("prompts/page.j2", "<b>{{ x }}</b>", "template"),
    ("prompts/security-review.md", "Be brief.", "prompt-text"),
    ("prompts/notice_of_delay.mustache", "{{ x }}", "template"),
    ("prompts/license-check.jinja", "{{ x }}", "template"),
    ("prompts/readme-writer.md", "Be brief.", "prompt-text"),
    ("system_prompt.txt", "Be brief.", "prompt-text"),
    ("conf/SystemPrompt.md", "Be brief.", "prompt-text"),
    ("conf/system-prompt-v2.md", "Be brief.", "prompt-text"),
    ("chat_template.jinja", "{% for m in messages %}{{ m }}{% endfor %}", "template"),
    ("model/chat-template.json", '{"chat_template": "{{ bos_token }}"}', "prompt-text"),
    ("t/desk.jinja2", "You are a desk. {{ q }}", "template"),
    ("t/desk.hbs", "Answer as the assistant. {{q}}", "template"),
    ("t/desk.jinja", "{{ bos_token }}{{ messages }}", "template"),
    ("t/desk.j2", "{# the prompt of the desk #}{{ q }}", "template"),
    ("app.py", "SYSTEM = 'Be brief.'", "python"),
    ("app.pyi", "SYSTEM: str", "python"),
    ("app.ts", "const systemPrompt = 'Be brief.';", "script"),
    ("app.mjs", "export const messages = [];", "script"),
    ("app.tsx", "const instructions = 'x';", "script"),
    ("run.ipynb", '{"cells": [{"source": "prompt = 1"}]}', "notebook"),
    ("calls.jsonl", CHAT + "\n", "log"),
    ("calls.ndjson", CHAT + "\n" + CHAT, "log"),
    ("calls.json", f"[{CHAT},\n {CHAT}]", "log"),
    ("one.json", json.dumps(json.loads(CHAT), indent=2), "log"),
    ("calls.jsonl.gz", gzip.compress(CHAT.encode(), mtime=0), "log"),
    ("wrapped.jsonl", '{"at": 1, "request": ' + CHAT + "}", "log"),
    ("calls.csv", "id,messages\n1,x\n", "log"),
]


@pytest.mark.parametrize(("name", "content", "kind"), BY_NAME, ids=[row[0] for row in BY_NAME])
def test_a_file_in_a_folder_is_taken(here: Path, name: str, content: str | bytes, kind: str) -> None:
    plant(here, {name: content})
    assert kinds(discover(["."])) == {name: kind}
    assert discover(["."]).left_out == ()
    (found,) = discover(["."]).found
    assert found.why


LEFT = [
    ("notes.md", "Be brief.", "text, but nothing says"),
    ("notes.txt", "You are a desk.", "text, but nothing says"),
    ("config.yaml", "prompt: Be brief.", "text, but nothing says"),
    ("settings.toml", "", "text, but nothing says"),
    ("prompts/README.md", "About these prompts.", "text, but nothing says"),
    ("prompts/README.de.md", "About these prompts.", "text, but nothing says"),
    ("prompts/LICENSE", "Free.", "text, but nothing says"),
    ("prompts/LICENSE-MIT.txt", "Free.", "text, but nothing says"),
    ("prompts/requirements-dev.txt", "x", "text, but nothing says"),
    ("prompts/empty.md", " \n", "empty"),
    ("prompts/scan.md", b"\x00\x01\x02", "binary"),
    ("style.css", ".prompt {}", "neither a prompt"),
    ("logo.png", b"\x89PNG\x00", "neither a prompt"),
    ("prompts/logo.png", b"\x89PNG\x00", "neither a prompt"),
    ("page.html.j2", "<b>{{ title }}</b>", "a template, but"),
    ("package.json", '{"name": "prompt"}', "no log"),
    ("prompts/package.json", '{"name": "x"}', "no log"),
    ("data.json", '{"rows": [1, 2]}', "no log"),
    ("data.jsonl", '{"rows": 1}\n{"rows": 2}\n', "no log"),
    ("broken.json", '{"messages": [', "no log"),
    ("table.csv", "city,year\nX,1\n", "no log"),
    ("server.log", "INFO started\n", "no log"),
    ("data.json.gz", gzip.compress(b'{"a": 1}', mtime=0), "no log"),
    ("broken.jsonl.gz", b"\x1f\x8b\x00", "no log"),
    ("rows.parquet", b"PAR1 and nothing more", "no log"),
    ("types.d.ts", "export declare const prompt: string;", "generated code"),
    ("lib.min.js", "var prompt='';", "generated code"),
    ("api_pb2.py", "prompt = 1", "generated code"),
    ("big.py", b"prompt = 1\n" + b"#" * LARGEST, "larger than 2 MB"),
    ("prompts/big.md", b"x" * (LARGEST + 1), "larger than 2 MB"),
    ("bin.py", b"prompt = '\x00'", "binary"),
]


@pytest.mark.parametrize(("name", "content", "why"), LEFT, ids=[row[0] for row in LEFT])
def test_a_file_in_a_folder_is_left(here: Path, name: str, content: str | bytes, why: str) -> None:
    plant(here, {name: content})
    discovered = discover(["."])
    assert kinds(discovered) == {}
    assert discovered.beside == ()
    assert list(whys(discovered)) == [name]
    assert whys(discovered)[name].startswith(why)


@pytest.mark.parametrize(("name", "content"), [row[:2] for row in LEFT if "parquet" not in row[0]])
def test_what_is_named_is_taken_whatever_it_is(here: Path, name: str, content: str | bytes) -> None:
    plant(here, {name: content, ".gitignore": "*\n"})
    discovered = discover([name])
    assert [(found.path, found.why) for found in discovered.found] == [(name, "named")]
    assert discovered.left_out == ()


def test_large_logs_are_taken(here: Path) -> None:
    plant(here, {"calls.jsonl": (CHAT + "\n") * (LARGEST // len(CHAT) + 2), "one.json": _long_document(5_000_000)})
    assert kinds(discover(["."])) == {"calls.jsonl": "log", "one.json": "log"}


def _long_document(size: int) -> str:
    message = {"role": "user", "content": "x" * 1000}
    return json.dumps([{"model": "m", "messages": [message] * (size // 1000)}], indent=1)


def test_code_without_prompts_stands_beside(here: Path) -> None:
    plant(here, {"clock.py": "import time\n", "__init__.py": "", "app.py": "PROMPT = 1\n"})
    discovered = discover(["."])
    assert kinds(discovered) == {"app.py": "python"}
    assert [found.path for found in discovered.beside] == ["__init__.py", "clock.py"]
    assert [(path, kind) for path, kind, _ in everything(discovered)] == [
        ("__init__.py", ""),
        ("app.py", "python"),
        ("clock.py", ""),
    ]


def test_kinds_say_what_reads_them() -> None:
    assert FileKind.NOTEBOOK.read_as is FileKind.PYTHON
    assert FileKind.PROMPT_TEXT.read_as is FileKind.TEMPLATE
    assert FileKind.SCRIPT.read_as is FileKind.SCRIPT


FOLDERS = {
    ".hidden": "a hidden folder",
    ".git": "a hidden folder",
    "node_modules": "packages of others",
    "web/node_modules": "packages of others",
    "lib/site-packages": "packages of others",
    "__pycache__": "made by a tool",
    "desk.egg-info": "made by a tool",
    "env": "a virtual environment",
    "conda": "a virtual environment",
}


def test_folders_that_are_left_out(here: Path) -> None:
    plant(here, {f"{folder}/prompts/a.md": "Be brief." for folder in FOLDERS})
    plant(here, {"env/pyvenv.cfg": "", "conda/conda-meta/history": "", "ours/prompts/a.md": "Be brief."})
    discovered = discover(["."])
    assert kinds(discovered) == {"ours/prompts/a.md": "prompt-text"}
    assert whys(discovered) == {f"{folder}/": why for folder, why in FOLDERS.items()}


def test_a_folder_that_is_named_is_gone_through_whatever_it_is_called(here: Path) -> None:
    plant(here, {"node_modules/x/prompts/a.md": "Be brief.", ".hidden/prompts/a.md": "Be brief."})
    assert kinds(discover(["node_modules/x", ".hidden/"])) == {
        "node_modules/x/prompts/a.md": "prompt-text",
        ".hidden/prompts/a.md": "prompt-text",
    }


IGNORE = {
    ".git/info/exclude": "mine.py\n",
    ".gitignore": "# comment\n*.gen.py\n/only_here.py\nout/\n!keep.gen.py\ndeep/**/x.py\n\nwhole\n",
    "sub/.gitignore": "!taken_back.gen.py\nlocal.py\n/rooted/\n",
}
TREE = {
    "a.py": True,
    "mine.py": False,
    "sub/mine.py": False,
    "a.gen.py": False,
    "keep.gen.py": True,
    "only_here.py": False,
    "sub/only_here.py": True,
    "out/a.py": False,
    "sub/out/a.py": False,
    "sub/outer/a.py": True,
    "sub/b.gen.py": False,
    "sub/taken_back.gen.py": True,
    "sub/local.py": False,
    "sub/more/local.py": False,
    "local.py": True,
    "sub/rooted/a.py": False,
    "rooted/a.py": True,
    "deep/a/b/x.py": False,
    "deep/x.py": False,
    "deep/y.py": True,
    "whole/a.py": False,
}


def test_gitignore_files_of_all_levels_count(here: Path) -> None:
    plant(here, {**IGNORE, **dict.fromkeys(TREE, "prompt = 1\n")})
    assert sorted(kinds(discover(["."]))) == sorted(name for name, taken in TREE.items() if taken)
    inner = sorted(name for name, taken in TREE.items() if taken and name.startswith("sub/"))
    assert sorted(kinds(discover(["sub"]))) == inner
    assert whys(discover(["."]))["out/"] == "ignored by .gitignore"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_same_files_are_ignored_as_by_git(here: Path) -> None:
    odd = [
        "*.[ab].py\n",
        "foo/*\n!foo/bar/\n",
        "\\#x.py\n\\!y.py\n",
        "t?n.py\n",
        "end.py   \n",
        "a/**\n",
        "**/q/z.py\n",
        "/r\n",
        "!\n[z-a]x.py\nten.py\n",
    ]
    for number, lines in enumerate(odd):
        plant(here, {f"r{number}/.gitignore": lines})
        names = [
            "m.a.py",
            "foo/x.py",
            "foo/bar/x.py",
            "#x.py",
            "!y.py",
            "ten.py",
            "end.py",
            "a/b/c.py",
            "p/q/z.py",
            "r/x.py",
            "s/r/x.py",
        ]
        plant(here, {f"r{number}/{name}": "prompt = 1\n" for name in names})
    plant(
        here,
        {**{name: text for name, text in IGNORE.items() if ".git/" not in name}, **dict.fromkeys(TREE, "prompt = 1\n")},
    )
    subprocess.run(["git", "init", "-q", "."], check=True)
    listed = subprocess.run(
        ["git", "-c", "core.quotepath=off", "ls-files", "-o", "--exclude-standard", "*.py"],
        check=True, capture_output=True, text=True, env={**os.environ, "HOME": str(here), "XDG_CONFIG_HOME": str(here)},
    )  # fmt: skip
    assert sorted(kinds(discover(["."]))) == sorted(listed.stdout.splitlines())


def test_excludes_of_a_second_worktree_are_those_of_its_repository(here: Path) -> None:
    plant(here, {
        "main/.git/info/exclude": "mine.py\n",
        "main/.git/worktrees/two/commondir": "../..\n",
        "two/.git": "gitdir: ../main/.git/worktrees/two\n",
        "two/mine.py": "prompt = 1\n",
        "two/ours.py": "prompt = 1\n",
    })  # fmt: skip
    assert list(kinds(discover(["two"]))) == ["two/ours.py"]


def test_include_and_exclude(here: Path) -> None:
    plant(here, {
        "docs/style.md": "Be brief.",
        "docs/other.md": "Be long.",
        ".github/prompts/review.md": "Review.",
        ".github/workflows/ci.yaml": "on: push",
        "prompts/old/a.md": "Old.",
        "prompts/a.md": "New.",
        "src/app.py": "prompt = 1",
        "src/legacy.py": "prompt = 1",
    })  # fmt: skip
    selection = Selection(include=("docs/style.md", ".github/prompts/*.md"), exclude=("prompts/old/", "legacy.py"))
    discovered = discover(["."], lambda _: selection)
    assert kinds(discovered) == {
        "docs/style.md": "prompt-text",
        ".github/prompts/review.md": "prompt-text",
        "prompts/a.md": "prompt-text",
        "src/app.py": "python",
    }
    left = whys(discovered)
    assert left["prompts/old/"] == "excluded by the configuration"
    assert left["src/legacy.py"] == "excluded by the configuration"
    assert ".github/workflows/ci.yaml" in left


def test_nothing_of_version_control_is_included(here: Path) -> None:
    plant(here, {".git/hooks/update.sample": "Now: $(date)", ".github/prompts/review.md": "Review.", "a.txt": "A."})
    discovered = discover(["."], lambda _: Selection(include=("/**",)))
    assert sorted(kinds(discovered)) == [".github/prompts/review.md", "a.txt"]
    assert whys(discovered)[".git/"] == "a hidden folder"


def test_exclusions_hold_for_named_files_where_that_is_asked_for(here: Path) -> None:
    plant(here, {".gitignore": "gen.py\n", "gen.py": "prompt = 1", "old/a.py": "prompt = 1", "b.py": "prompt = 1"})
    names = ["gen.py", "old/a.py", "b.py"]
    plant(here, {".git/HEAD": "ref: x"})
    assert list(kinds(discover(names, lambda _: Selection(exclude=("old/",))))) == names
    strict = discover(names, lambda _: Selection(exclude=("old/",), force_exclude=True))
    assert list(kinds(strict)) == ["b.py"]
    assert whys(strict) == {"gen.py": "ignored by .gitignore", "old/a.py": "excluded by the configuration"}


def test_a_hook_gets_of_the_files_that_it_names_what_their_folder_would_give(here: Path) -> None:
    plant(
        here,
        {
            **dict.fromkeys(("a.py", "src/b.py", "node_modules/x/c.py", ".hidden/d.py", "old/e.py"), "prompt = 1"),
            **dict.fromkeys(("prompts/f.md", "vendor/deep/prompts/g.md", "prompts/old/h.md", "README.md"), PROMPT),
            "package.json": '{"name": "x"}',
            "table.csv": "a,b\n1,2\n",
            "calls.jsonl": CHAT + "\n",
            "plain.py": "x = 1",
            "prompts/empty.md": "",
            "prompts/binary.md": b"\0\1",
        },
    )
    every = sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.is_file())
    by_folder, by_name = discover(["."]), discover(every, only_discovered=True)
    taken = {"a.py": "python", "src/b.py": "python", "old/e.py": "python", "calls.jsonl": "log"}
    taken |= {"prompts/f.md": "prompt-text", "prompts/old/h.md": "prompt-text"}
    assert kinds(by_name) == kinds(by_folder) == taken
    assert {found.why for found in by_name.found} == {"named"}
    assert [found.path for found in by_name.beside] == ["plain.py"]
    left = {name: why for name, why in whys(by_folder).items() if not name.endswith("/")}
    assert left.items() <= whys(by_name).items()
    assert whys(by_name)["vendor/deep/prompts/g.md"] == "packages of others"
    assert whys(by_name)[".hidden/d.py"] == "a hidden folder"

    chosen = [lambda _: Selection(exclude=("old/",), include=("README.md",)), ["."], every]
    by_folder, by_name = discover(chosen[1], chosen[0]), discover(chosen[2], chosen[0], only_discovered=True)
    assert kinds(by_name) == kinds(by_folder)
    assert {"README.md"} <= set(kinds(by_name)) <= {"README.md", "a.py", "src/b.py", "calls.jsonl", "prompts/f.md"}
    above = here / "node_modules" / "x"
    os.chdir(above)
    assert list(kinds(discover(["c.py", str(here / "a.py"), "../../src/b.py"], only_discovered=True))) == [
        "c.py",
        f"{here}/a.py",
        "../../src/b.py",
    ]


def test_links_are_safe_and_each_file_is_taken_once(here: Path) -> None:
    plant(here, {"a/prompts/x.md": "Be brief.", "b/keep.py": "prompt = 1"})
    try:
        (here / "a" / "loop").symlink_to(here, target_is_directory=True)
        (here / "b" / "again.py").symlink_to(here / "b" / "keep.py")
        (here / "b" / "gone.py").symlink_to(here / "nothing.py")
    except OSError:  # a system without links for everyone
        return
    discovered = discover([".", "a", "a/prompts/x.md", "./b/../a"])
    assert list(kinds(discovered)) == ["a/prompts/x.md", "b/again.py"]
    assert whys(discovered)["a/loop"] == "a link to a folder"
    assert whys(discovered)["b/gone.py"] == "not a regular file"


def test_the_order_is_that_of_the_arguments_and_then_of_paths(here: Path) -> None:
    names = ["z.py", "b/c.py", "b/a.py", "b.py", "a/z.py", "B.py"]
    plant(here, dict.fromkeys(names, "prompt = 1"))
    assert list(kinds(discover(["."]))) == ["B.py", "b.py", "z.py", "a/z.py", "b/a.py", "b/c.py"]
    assert list(kinds(discover(["z.py", "b", "a"])))[:3] == ["z.py", "b/a.py", "b/c.py"]
    assert discover(["."]) == discover(["."])


def test_globs_and_standard_input(here: Path) -> None:
    plant(here, {"x/a.py": "prompt = 1", "x/b.md": "Hi", "x/y/c.py": "prompt = 1"})
    assert kinds(discover(["x/**/*.py", "-", "x/b.md"])) == {
        "x/a.py": "python",
        "x/y/c.py": "python",
        "-": "log",
        "x/b.md": "prompt-text",
    }


def test_a_name_that_leads_to_nothing_is_an_error(here: Path) -> None:
    plant(here, {"a.py": "prompt = 1"})
    with pytest.raises(UserError, match="no such file") as alone:
        discover(["nothing.py"])
    assert alone.value.exit_code == 3
    with pytest.raises(UserError, match="no such file") as beside:
        discover(["a.py", "*.nothing"])
    assert beside.value.exit_code == 2


def test_a_folder_that_cannot_be_read_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(here, {"shut/a.py": "prompt = 1", "b.py": "prompt = 1"})
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("/shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    discovered = discover(["."])
    assert list(kinds(discovered)) == ["b.py"]
    assert whys(discovered) == {"shut/": "cannot be read: Permission denied"}


def test_a_large_tree_is_gone_through_fast(here: Path) -> None:
    plant(here, {".gitignore": "".join(f"gen{n}/\n*.g{n}\n" for n in range(60))})
    body = "def f(x):\n    return x\n" * 100
    for folder in range(40):
        plant(here, {f"p{folder}/m{n}.{'py' if n % 2 else 'ts'}": body for n in range(50)})
    start = time.process_time()
    discovered = discover(["."])
    assert time.process_time() - start < 2
    assert len(discovered.beside) == 2000


def test_a_repository_is_the_same_from_each_of_its_folders_and_wherever_it_lies(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = here / "prompts" / "ferry"
    files = {"prompts/desk/a.md": "Be brief.", "notes.md": "Be long."}
    plant(here, {**{f"prompts/ferry/{name}": text for name, text in files.items()}, "prompts/ferry/.git/HEAD": "ref"})
    for folder, named, found in (
        (root, ".", "prompts/desk/a.md"),
        (root / "prompts" / "desk", ".", "a.md"),
        (here, "prompts/ferry", "prompts/ferry/prompts/desk/a.md"),
        (here, root.as_posix(), f"{root.as_posix()}/prompts/desk/a.md"),
    ):
        monkeypatch.chdir(folder)
        assert list(kinds(discover([named]))) == [found]
