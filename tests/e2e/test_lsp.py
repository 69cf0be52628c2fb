"""The language server, driven as an editor drives it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from support.editor import Editor, edited, editor
from support.silenced import CONSTANT, write

CLOCK = "Be kind. 😀é It is {{ now }}.\n" + CONSTANT


CASES = Path(__file__).parents[2] / "fixtures" / "cases"
Session = Callable[[Callable[[Editor], Awaitable[None]]], None]


def alone(folder: Path, doing: Callable[[Editor], Awaitable[None]], encodings: list[str] | None = None) -> None:
    """Do something in an editor with a server of its own."""

    async def whole() -> None:
        async with editor(folder, encodings) as one:
            await doing(one)

    asyncio.run(whole())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Editor, asyncio.Runner]]:
    """Yield an editor that several tests use, and what runs things in it."""
    folder = tmp_path_factory.mktemp("desk")
    with asyncio.Runner() as runner:
        entered = editor(folder)
        one = runner.run(entered.__aenter__())
        yield one, runner
        runner.run(entered.__aexit__(None, None, None))


@pytest.fixture
def session(desk: tuple[Editor, asyncio.Runner]) -> Iterator[Session]:
    """Return what does something in an editor whose folder is empty, and closes what was opened."""
    one, runner = desk
    yield lambda doing: runner.run(doing(one))
    runner.run(_cleared(one))


async def _cleared(one: Editor) -> None:
    for name in sorted(one.open):
        one.closes(name)
    for path in one.folder.glob("*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    one.reconfigures()


def test_findings_while_typing_are_those_of_the_command(run: Any, tmp_path: Path, session: Session) -> None:
    files = {"prompts/a.j2": "nothing yet", "prefixwise.toml": "ignore = ['user-data-first']\n"}
    write(tmp_path, files)
    text = "{# prefixwise: ignore[request-id-in-prefix] #}{{ request_id }}\n{{ user_name }}\n{{ now }}\n" + CONSTANT
    command = ["lint", "-", "--stdin-filename", "prompts/a.j2", "--json"]
    told = run(command, input=text.encode()).check(0, 1).json()["findings"]
    assert [one["rule"] for one in told] == ["clock-in-prefix"]

    async def doing(one: Editor) -> None:
        write(one.folder, files)
        one.reconfigures()
        before = len(one.published)
        one.opens("prompts/a.j2", "nothing yet")
        assert await one.diagnostics("prompts/a.j2") == []
        for end in range(0, len(text), 40):
            one.types("prompts/a.j2", text[:end])
        one.types("prompts/a.j2", text)
        (found,) = await one.diagnostics("prompts/a.j2")
        assert (found.code, found.message, found.source) == ("clock-in-prefix", told[0]["message"], "prefixwise")
        assert found.severity == {"error": 1, "warning": 2, "info": 3}[told[0]["level"]]
        span = told[0]["span"]
        assert (found.range.start.line, found.range.start.character) == (span["line"] - 1, span["column"] - 1)
        assert len(one.published) - before < 6  # not one a keystroke
        one.closes("prompts/a.j2")
        await one.until(lambda: not one.published[-1].diagnostics)
        assert one.published[-1].uri == one.uri("prompts/a.j2")

    session(doing)


@pytest.mark.parametrize(("encodings", "start"), [(None, 19), (["utf-32", "utf-16"], 18), (["utf-8"], 22)])
def test_places_are_counted_as_agreed(tmp_path: Path, encodings: list[str] | None, start: int) -> None:
    async def doing(one: Editor) -> None:
        assert one.result is not None
        assert one.result.capabilities.position_encoding == (encodings or ["utf-16"])[0]
        one.opens("prompts/a.j2", "First.\r\nSecond\u2028.\r" + CLOCK.replace("\n", "\r\n"))
        (found,) = await one.diagnostics("prompts/a.j2")
        assert (found.range.start.line, found.range.start.character) == (2, start)
        assert (found.range.end.line, found.range.end.character) == (2, start + len("{{ now }}"))
        assert "clock-in-prefix" in await one.hover("prompts/a.j2", 2, start + 1)
        assert await one.hover("prompts/a.j2", 2, start - 2) == ""

    alone(tmp_path, doing, encodings)


IGNORED = {
    "prompts/a.j2": (CLOCK, "It is {# prefixwise: ignore[clock-in-prefix] #}{{ now }}."),
    "prompts/b.hbs": (CLOCK, "It is {{! prefixwise: ignore[clock-in-prefix] }}{{ now }}."),
    "prompts/c.md": ("Be kind.\nIt is {now}.\n" + CONSTANT, "kind.\n<!-- prefixwise: ignore[clock-in-prefix] -->\nIt"),
    "prompts/d.yaml": (
        "name: a\nprompt: |\n  Be kind.\n  It is {now}.\n  " + CONSTANT.replace("\n", "\n  "),
        "name: a\n# prefixwise: ignore[clock-in-prefix]\nprompt: |\n",
    ),
    "app.py": (
        "import datetime\n\n\ndef ask(client):\n    prompt = f'''Hello. 😀\n{datetime.datetime.now()}\n"
        + CONSTANT
        + "'''\n    client.chat.completions.create(messages=[{'role': 'system', 'content': prompt}])\n",
        "    # prefixwise: ignore[clock-in-prefix]\n    prompt = f'''",
    ),
    "app.ts": (
        "const prompt = `Hello ${new Date().toISOString()}\n" + CONSTANT + "`;\n"
        "openai.chat.completions.create({messages: [{role: 'system', content: prompt}]});\n",
        "// prefixwise: ignore[clock-in-prefix]\nconst prompt",
    ),
}


@pytest.mark.parametrize("name", IGNORED)
def test_a_comment_that_ignores_a_finding_is_offered(session: Session, name: str) -> None:
    text, expected = IGNORED[name]

    async def doing(one: Editor) -> None:
        one.opens(name, text)
        found = next(one for one in await one.diagnostics(name) if one.code == "clock-in-prefix")
        (action,) = [one for one in await one.actions(name, found) if one.title.startswith("Ignore ")]
        assert action.kind == "quickfix"
        assert ("the model" in action.title) is (name == "prompts/c.md")
        changed = edited(text, action, one.uri(name))
        assert expected in changed
        one.types(name, changed)
        left = {one.code for one in await one.diagnostics(name)}
        assert left <= {"costly-ignore"}

    session(doing)


@pytest.mark.parametrize("safe", [True, False])
def test_a_fix_is_offered_where_a_finding_has_one(session: Session, safe: bool) -> None:
    case = CASES / ("python-set-joined-langchain" if safe else "prompt-counter-in-mustache")
    (path,) = json.loads((case / "expected.json").read_text("utf-8"))["input"]["files"]
    text = "# 😀\n" * safe + (case / path).read_bytes().decode()

    async def doing(one: Editor) -> None:
        one.opens(path, text)
        found = (await one.diagnostics(path))[0]
        action = (await one.actions(path, found))[0]
        assert (action.is_preferred, action.title.endswith("(needs a look)")) == (
            (True, False) if safe else (None, True)
        )
        one.types(path, edited(text, action, one.uri(path)))
        assert found.code not in {one.code for one in await one.diagnostics(path)}

    session(doing)


def test_where_there_are_no_comments_none_is_offered(session: Session) -> None:
    async def doing(one: Editor) -> None:
        for name, text in (("prompts/a.txt", CLOCK), ("prompts/b.json", json.dumps({"system": CLOCK}))):
            one.opens(name, text)
            found = await one.diagnostics(name)
            assert [one.code for one in found] == ["clock-in-prefix"]
            assert [one.title for one in await one.actions(name, found[0]) if one.title.startswith("Ignore")] == []

    session(doing)


def test_hints_say_where_a_prompt_stops_being_stable(session: Session) -> None:
    configured = "[[prompt]]\npath = 'prompts/known.j2'\nprovider = 'openai'\nmodel = 'gpt-4o'\n"

    async def doing(one: Editor) -> None:
        write(one.folder, {"prefixwise.toml": configured})
        one.reconfigures()
        one.opens("prompts/a.j2", "Be kind. 😀\nAnd {{ question }}\nmore")
        (hint,) = await one.hints("prompts/a.j2")
        assert re.fullmatch(r"stable to here: [5-9] tokens", hint.label)
        assert (hint.position.line, hint.position.character) == (1, 4)
        one.opens("prompts/known.j2", CONSTANT)
        (hint,) = await one.hints("prompts/known.j2")
        assert re.fullmatch(r"stable to here: \d+ tokens \(minimum 1,024\)", hint.label)
        assert hint.position.line == 20
        one.types("prompts/known.j2", "{{ question }}" + CONSTANT)
        (hint,) = await one.hints("prompts/known.j2")
        assert hint.label == "stable to here: 0 tokens (minimum 1,024)"
        one.opens("app.py", "prompt = 'Be kind.'")
        assert await one.hints("app.py") == []

    session(doing)


def test_a_changed_configuration_is_read_again(session: Session) -> None:
    async def doing(one: Editor) -> None:
        one.opens("prompts/a.j2", CLOCK)
        assert len(await one.diagnostics("prompts/a.j2")) == 1
        watchers = one.registered[0].register_options["watchers"]
        assert {dict(watcher)["globPattern"] for watcher in watchers} == {"**/prefixwise.toml", "**/pyproject.toml"}
        for text, number in (("ignore = ['PW101']", 0), ("ignore = ['PW", 0), ("", 1)):
            seen, shown = len(one.published), len(one.shown)
            write(one.folder, {"prefixwise.toml": text})
            one.reconfigures()
            await one.until(lambda seen=seen: len(one.published) > seen)
            assert len(one.published[-1].diagnostics) == number
            assert (len(one.shown) > shown) is text.endswith("'PW")
        assert "prefixwise.toml" in one.shown[-1]

    session(doing)


def test_what_a_run_over_the_folder_would_not_take_is_left_alone(session: Session) -> None:
    names = (
        "README.md",
        "old/prompts/a.j2",
        "made/prompts/a.j2",
        "node_modules/x/prompts/a.j2",
        "log.jsonl",
        "plain.py",
    )

    async def doing(one: Editor) -> None:
        write(one.folder, {"prefixwise.toml": "exclude = ['old/']\n", ".gitignore": "made/\n", ".git/HEAD": ""})
        one.reconfigures()
        for name in names:
            one.opens(name, CLOCK if name != "plain.py" else "x = datetime.now()\n")
            assert await one.diagnostics(name) == []
            assert await one.hints(name) == []

    session(doing)


def test_an_answer_can_be_cancelled(session: Session) -> None:
    async def doing(one: Editor) -> None:
        one.opens("prompts/a.j2", CLOCK)
        (found,) = await one.diagnostics("prompts/a.j2")
        one.types("prompts/a.j2", CLOCK * 20)
        context = types.CodeActionContext([found])
        params = types.CodeActionParams(types.TextDocumentIdentifier(one.uri("prompts/a.j2")), found.range, context)
        asked = one.client.protocol.send_request_async(types.TEXT_DOCUMENT_CODE_ACTION, params, msg_id="mine")
        task = asyncio.ensure_future(asked)
        await asyncio.sleep(0)
        one.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams("mine"))
        with pytest.raises(JsonRpcException) as cancelled:
            await task
        assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
        one.types("prompts/a.j2", CLOCK)
        assert len(await one.diagnostics("prompts/a.j2")) == 1

    session(doing)


def test_half_of_a_text_breaks_nothing(session: Session) -> None:
    name, text, _ = "prompts/a.j2", "{% if now %}{{ now | f(1, [2]) }}{# no #}{% for x in y %}{{ x }}{% endfor %}", ""
    code = IGNORED["app.py"][0]

    async def doing(one: Editor) -> None:
        one.opens(name, "")
        one.opens("app.py", "")
        for end in range(1, len(text), 7):
            one.types(name, "Be kind.\n" + text[:end])
            found = await one.diagnostics(name)
            assert len(found) <= 2
        one.types("app.py", code[:120] + "\ud800(" + code[130:])
        assert len(await one.diagnostics("app.py")) <= 1

    session(doing)


def test_nothing_of_the_workspace_is_run(tmp_path: Path) -> None:
    trap = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\n"
    names = ("pygls", "lsprotocol", "tiktoken", "jinja2", "prompts", "sitecustomize", "conftest", "app")
    write(tmp_path, {f"{name}.py": trap for name in names})

    async def doing(one: Editor) -> None:
        one.opens("prompts/a.j2", CLOCK)
        one.opens("app.py", f"{trap}prompt = 'Be kind'\n")
        await one.diagnostics("app.py")
        await one.hints("prompts/a.j2")

    alone(tmp_path, doing)
    assert [path.name for path in tmp_path.glob("*.ran")] == []


def test_it_listens_on_a_port(tmp_path: Path, e2e: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    process = subprocess.Popen(e2e.command(["lsp", "--tcp", port]), cwd=tmp_path, env=e2e.environment(tmp_path))

    async def whole() -> None:
        one = Editor(tmp_path)
        await one.connect(port)
        one.opens("prompts/a.j2", CLOCK)
        assert [found.code for found in await one.diagnostics("prompts/a.j2")] == ["clock-in-prefix"]
        await one.client.shutdown_async(None)
        one.client.exit(None)
        await one.client.stop()

    try:
        asyncio.run(whole())
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def test_a_missing_extra_is_one_line(tmp_path: Path, run: Any) -> None:
    write(tmp_path, {"without/pygls/__init__.py": "raise ModuleNotFoundError('no pygls', name='pygls')\n"})
    path = os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", os.getcwd())])
    done = run(["lsp"], env={"PYTHONPATH": path}).check(2)
    assert "pip install 'prefixwise[lsp]'" in done.err
