"""The hooks: which files they name, and pre-commit running them in somebody's repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.installed import ROOT, clean_environment, copied
from support.repository import git, repository

from prefixwise.analyzers.static import file_kinds
from prefixwise.analyzers.static.file_kinds import by_name
from prefixwise.corpus.sources import LOG_SUFFIXES

HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
TAKEN = [
    *("app.py", "a/b.pyi", "run.ipynb", "x.ts", "x.tsx", "x.js", "x.jsx", "x.mjs", "x.cjs", "x.mts", "x.cts", "X.PY"),
    *("a.prompt", "b/a.prompty", "a.prompt.md", "a.prompt.yaml", ".prompt.json", "a.prompt.j2", "A.Prompt.TXT"),
    *("page.j2", "page.jinja", "page.jinja2", "page.hbs", "page.handlebars", "page.mustache", "p.liquid", "p.tmpl"),
    *("calls.jsonl", "calls.ndjson.gz", "calls.csv.zst", "calls.tsv", "x.log", "x.parquet", "package.json", ".json"),
    *(
        "prompts/a.md",
        "src/Prompt/deep/a.toml",
        "prompts/desk",
        "prompts/.desk",
        "system_prompt.txt",
        "SystemPrompt.md",
    ),
    *("chat-template.xml", "prompts/readme-writer.md", "prompts/requirements.md", "prompts/licence_check.yaml"),
    *("prompts/notice.yaml", "my-system-prompts/a.rst", "prompts/README/a.md", "prompts/a b\u00fc.md"),
]
LEFT = [
    *("a.d.ts", "a.d.mts", "a.min.js", "a.bundle.js", "a-bundle.js", "a_pb2.py", "a_pb2_grpc.py", ".py", ".ts"),
    *("a.md", "README.md", "notes.txt", "a.yaml", "Makefile", "a.rs", "prompts/a.rs", "prompts/a.", ".prompt"),
    *("prompts/README.md", "prompts/Readme", "prompts/readme.de.md", "prompts/LICENSE", "prompts/license-mit.txt"),
    *("prompts/requirements-dev.txt", "prompts/pyproject.toml", "prompts/docker-compose.prod.yml", "prompts/Makefile"),
    *("prompts.md", "myprompts/a.md", "a.prompt.rs", "calls.jsonl.bz2", "calls.parquet.gz", "prompts/Cargo.lock"),
]


def named(path: str) -> bool:
    """Say whether the hook gets a file; pre-commit searches the pattern in the path."""
    return re.search(HOOKS["prefixwise"]["files"], path) is not None


@pytest.mark.parametrize(("paths", "wanted"), [(TAKEN, True), (LEFT, False)])
def test_the_hook_names_what_lint_looks_into(paths: list[str], wanted: bool) -> None:
    assert [path for path in paths if named(path) is not wanted] == []
    assert [path for path in paths if (by_name(path).kind is not None) is not wanted] == []


SUFFIXES = [*file_kinds._BY_SUFFIX, *LOG_SUFFIXES, *file_kinds._PROMPT_SUFFIXES, ".prompt.md", ".rs", ".lock"]


@pytest.mark.parametrize(
    "stem", ["a", "prompts/a", "src/Prompt/readme", "x/system-prompt", "prompts/.a", "a_pb2", "b.d"]
)
def test_every_suffix_that_discovery_knows(stem: str) -> None:
    paths = [stem + suffix for suffix in SUFFIXES]
    assert [path for path in paths if named(path)] == [path for path in paths if by_name(path).kind is not None]


PARTS = [
    *("prompt", "prompts", "system_prompt", "systemprompt", "chat-template", "readme", "license", "requirements", "a"),
    *("pb2", "_pb2", "min", "bundle", "d", "tsconfig", "package", "dockerfile", "notice", "de", "docker-compose"),
    *(
        "md",
        "txt",
        "py",
        "js",
        "ts",
        "mts",
        "json",
        "jsonl",
        "gz",
        "toml",
        "yaml",
        "lock",
        "j2",
        "prompty",
        "rst",
        "log",
    ),
    *("parquet", "xml", "mdx", "text", "markdown", "pyproject", "cargo", "codeowners", "contributing"),
]


@settings(max_examples=2000, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(["/", ".", "-", "_", ""])), min_size=1, max_size=6))
def test_the_hook_and_discovery_agree_on_any_name(pieces: list[tuple[str, str]]) -> None:
    path = "".join(part + joint for part, joint in pieces).rstrip("/")
    assert named(path) is (by_name(path).kind is not None)


def test_both_hooks_get_the_same_files_all_at_once() -> None:
    assert set(HOOKS) == {"prefixwise", "prefixwise-fix"}
    for hook in HOOKS.values():
        assert hook["files"] == HOOKS["prefixwise"]["files"]
        assert (hook["language"], hook["require_serial"], hook["pass_filenames"]) == ("python", True, True)


BUILDER = '''from openai import OpenAI

QUAYS = {{"north", "south", "west"}}
RULES = """{rules}"""


def ask(question):
    system = ", ".join(QUAYS) + RULES
    messages = [{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]
    return OpenAI().chat.completions.create(model="gpt-4o", messages=messages)
'''
CONSTANT = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 20


@pytest.fixture
def hooked(tmp_path: Path, package_index: None) -> Any:
    """Return a repository that asks for our hook as others do, and a function that runs pre-commit in it."""
    ours = copied(tmp_path / "ours", [".pre-commit-hooks.yaml"])
    commit = git(repository(ours, {}), "rev-parse", "HEAD").strip()
    asks = {"repos": [{"repo": str(ours), "rev": commit, "hooks": [{"id": name} for name in HOOKS]}]}
    files = {
        ".pre-commit-config.yaml": yaml.safe_dump(asks),
        "package.json": '{"name": "desk"}\n',
        "table.csv": "a,b\n1,2\n",
        "with space/prompts/desk.md": CONSTANT,
        "prompts/clock.j2": "It is {{ now }}.\n" + CONSTANT,
        "vendor/prompts/clock.j2": "It is {{ now }}.\n" + CONSTANT,
        "app.ts": 'const messages = ["a"];\n',
        "__init__.py": "",
        "builder.py": BUILDER.format(rules=CONSTANT),
    }
    theirs = repository(tmp_path / "theirs", files)
    variables = clean_environment(
        tmp_path, PRE_COMMIT_HOME=str(tmp_path / "cache"), PIP_CONSTRAINT=str(ROOT / "constraints.txt")
    )

    def _run(hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--color=never", *arguments]
        return subprocess.run(
            command, cwd=theirs, env=variables, capture_output=True, text=True, check=False, timeout=240
        )

    return theirs, _run


@pytest.mark.slow
def test_pre_commit_runs_them_in_a_repository(hooked: Any) -> None:
    theirs, run = hooked
    everything = run("prefixwise", "--all-files")
    assert everything.returncode == 1, everything.stdout + everything.stderr
    assert "exit code: 1" in everything.stdout
    assert "prompts/clock.j2:1" in everything.stdout
    assert "1 error and 1 warning in 4 source files" in everything.stdout
    git(theirs, "rm", "--quiet", "prompts/clock.j2")
    assert "Passed" in run("prefixwise", "--all-files").stdout
    assert run("prefixwise", "--files", "package.json", "table.csv", "__init__.py").returncode == 0
    assert "Skipped" in run("prefixwise", "--files", ".pre-commit-config.yaml").stdout

    fixed = run("prefixwise-fix", "--all-files")
    assert (fixed.returncode, "files were modified by this hook" in fixed.stdout) == (1, True), fixed.stdout
    assert git(theirs, "diff", "--name-only") == "builder.py\n"
    assert '", ".join(sorted(QUAYS))' in (theirs / "builder.py").read_text()
    assert "Passed" in run("prefixwise-fix", "--all-files").stdout
