"""What moves a builder's prompt, told by running little packages with one thing changed at a time."""

from __future__ import annotations

import datetime
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixwise.analyzers.builder_check.asked import builder_of, parse_call, start_of_clock
from prefixwise.analyzers.builder_check.check import Checked, check
from prefixwise.analyzers.builder_check.failures import BuilderError
from prefixwise.analyzers.builder_check.prompts import head_of, prompt_of
from prefixwise.analyzers.builder_check.report import check_report
from prefixwise.analyzers.builder_check.variables import changeable, is_secret, without_secrets
from prefixwise.core.errors import UserError

PLAIN = "You answer questions about the ferries of Greyfell Bay. " * 3
HEAD = f"PLAIN = {PLAIN!r}\n"

Build = Callable[..., Checked]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that writes a package with a builder `app.prompts:build` and checks it."""

    def _build(
        source: str,
        *knobs: str,
        until: Any = "system",
        call: str | None = None,
        environ: dict[str, str] | None = None,
        pass_env: tuple[str, ...] = (),
        **options: Any,
    ) -> Checked:
        import msgspec

        package = tmp_path / "app"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").touch()
        (package / "prompts.py").write_text(HEAD + textwrap.dedent(source), encoding="utf-8")
        for name in ("one", "two", "three", "four"):
            (tmp_path / f"{name}.txt").touch()
        given = {**os.environ, "TZ": "UTC", **(environ or {})}
        env, replaced = without_secrets(given, pass_env)
        builder = builder_of("app.prompts:build", call, sys.executable, str(tmp_path), env)
        return check(msgspec.structs.replace(builder, **options), until, knobs, replaced)

    return _build


def answers(checked: Checked) -> dict[str, str]:
    return {turned.name: turned.answer for turned in checked.knobs}


def moved_by(checked: Checked, knob: str) -> list[str]:
    (turned,) = [turned for turned in checked.knobs if turned.name == knob]
    return [turn.label for turn in turned.turns if turn.answer == "moved"]


@pytest.mark.parametrize(
    ("clock", "labels"),
    [
        ("import datetime\nNOW = lambda: datetime.datetime.now().isoformat()", ["+1 s", "+61 min", "+1 d", "+40 d"]),
        ("from datetime import datetime as d\nNOW = lambda: f'{d.utcnow():%H:%M}'", ["+61 min"]),
        ("from datetime import datetime, timezone\nNOW = lambda: f'{datetime.now(timezone.utc):%H}'", ["+61 min"]),
        ("from datetime import date\nNOW = lambda: str(date.today())", ["+1 d", "+40 d"]),
        ("import datetime\nclass D(datetime.datetime): pass\nNOW = lambda: f'{D.today():%m}'", ["+40 d"]),
        ("from time import time\nNOW = lambda: str(int(time()))", ["+1 s", "+61 min", "+1 d", "+40 d"]),
        ("import time\nNOW = lambda: time.strftime('%Y-%m-%d')", ["+1 d", "+40 d"]),
        ("import time\nNOW = lambda: str(time.localtime().tm_yday)", ["+1 d", "+40 d"]),
        ("import time\nNOW = lambda: str(time.time_ns() // 10**9)", ["+1 s", "+61 min", "+1 d", "+40 d"]),
    ],
    ids=lambda value: value.splitlines()[0][:40] if isinstance(value, str) else "",
)
def test_every_way_to_ask_the_clock_is_moved_and_its_unit_told(clock: str, labels: list[str], build: Build) -> None:
    checked = build(
        f"import warnings\nwarnings.simplefilter('ignore')\n{clock}\ndef build(): return PLAIN + NOW()", "clock"
    )
    assert checked.answer == "moved"
    assert checked.unperturbed.answer == "stable"
    assert moved_by(checked, "clock") == labels


def test_the_class_of_a_moved_clock_is_the_real_one(build: Build) -> None:
    source = """
        import datetime, pickle
        def build():
            now = datetime.datetime.now()
            assert type(now) is datetime.datetime
            assert isinstance(datetime.datetime(2026, 1, 1), type(now))
            assert pickle.loads(pickle.dumps(now)) == now
            return PLAIN
    """
    assert answers(build(source, "clock")) == {"clock": "stable"}


def test_a_clock_that_nobody_asks_is_not_tested_and_neither_is_one_that_only_logs(build: Build) -> None:
    source = """
        import logging, uuid, tempfile
        def build():
            logging.getLogger("app").warning("built")
            print("noise on stdout", flush=True)
            return PLAIN
    """
    checked = build(source, "clock", "zone", "environment", "random-seed", "cwd", "directory-order", "locale")
    assert set(answers(checked).values()) == {"not tested"}
    assert checked.answer == "not tested"
    assert check_report(checked).exit_code == 0


def test_a_clock_behind_the_stable_part_is_stable(build: Build) -> None:
    source = """
        import time
        def build():
            return [{"role": "system", "content": PLAIN}, {"role": "user", "content": "hello"},
                    {"role": "assistant", "content": time.ctime()}, {"role": "user", "content": str(time.time())}]
    """
    assert answers(build(source, "clock")) == {"clock": "stable"}
    moved = build(source, "clock", until="last-user")
    (turned,) = moved.knobs
    assert turned.turns[0].moved is not None
    assert turned.turns[0].moved.first_field == "/messages/2/content"


def test_random_values_are_random_and_held_still_for_the_other_knobs(build: Build) -> None:
    source = """
        import uuid, random, secrets, datetime
        def build():
            return PLAIN + f"{uuid.uuid4()} {random.random()} {secrets.token_hex(4)} {datetime.date.today()}"
    """
    checked = build(source, "clock", "random-seed", "hash-seed")
    assert checked.unperturbed.answer == "moved"
    assert checked.held
    assert answers(checked) == {"clock": "moved", "random-seed": "moved", "hash-seed": "not tested"}
    assert moved_by(checked, "clock") == ["+1 d", "+40 d"]


def test_what_is_random_for_another_reason_is_blamed_on_no_knob(build: Build) -> None:
    source = """
        import os, time
        def build(): return PLAIN + repr(object()) + str(os.getpid()) + str(time.time())
    """
    checked = build(source, "zone", "clock", "hash-seed")
    assert checked.unperturbed.answer == "moved"
    assert not checked.held
    assert "moved" not in answers(checked).values()


def test_the_order_of_a_set_is_the_hash_seed(build: Build) -> None:
    source = "def build(): return PLAIN + ', '.join({'ada', 'grace', 'edsger', 'barbara', 'alan'})"
    checked = build(source, "hash-seed", "clock")
    assert answers(checked) == {"clock": "not tested", "hash-seed": "moved"}
    assert checked.unperturbed.answer == "stable"
    assert len(checked.knobs[1].turns) == 8
    assert answers(build("def build(): return PLAIN", "hash-seed")) == {"hash-seed": "not tested"}
    assert answers(build("def build(): return PLAIN + str(len({1, 2}))", "hash-seed")) == {"hash-seed": "stable"}


@pytest.mark.parametrize(
    "listing",
    [
        "import os\nL = lambda: os.listdir('.')",
        "import glob\nL = lambda: glob.glob('*.txt')",
        "import os\nL = lambda: [entry.name for entry in os.scandir('.')]",
        "import pathlib\nL = lambda: [path.name for path in pathlib.Path('.').iterdir()]",
        "import os\nL = lambda: [name for _, _, names in os.walk('.') for name in names]",
    ],
    ids=["listdir", "glob", "scandir", "pathlib", "walk"],
)
def test_the_order_in_which_folders_are_listed_is_changed(listing: str, build: Build) -> None:
    checked = build(f"{listing}\ndef build(): return PLAIN + ' '.join(L())", "directory-order")
    assert answers(checked) == {"directory-order": "moved"}
    assert answers(build(f"{listing}\ndef build(): return PLAIN + ' '.join(sorted(L()))", "directory-order")) == {
        "directory-order": "stable"
    }


def test_zone_locale_folder_and_environment(build: Build) -> None:
    source = """
        import os, time, getpass, socket
        def build():
            return {"system": PLAIN, "tools": [
                {"name": time.strftime("%H"), "description": os.environ.get("LANG", "")},
                {"name": os.getcwd(), "description": getpass.getuser() + socket.gethostname()}], "messages": []}
    """
    checked = build(source, "zone", "locale", "cwd", "environment", "all")
    assert set(answers(checked).values()) == {"moved"}
    assert moved_by(checked, "zone") == ["Pacific/Kiritimati", "Etc/GMT+12", "<+0545>-5:45"]
    assert moved_by(checked, "cwd") == ["the same, renamed", "an empty one"]
    assert "names of user and host" in moved_by(checked, "environment")


def test_variables_that_are_read_are_changed_and_unset(build: Build) -> None:
    source = "import os\ndef build(): return PLAIN + os.environ.get('APP_REGION', 'nowhere') + os.environ['PATH'][:0]"
    checked = build(source, "environment", environ={"APP_REGION": "fjord"})
    assert checked.variables == ("APP_REGION",)
    assert moved_by(checked, "environment") == ["variables changed", "variables unset"]


def test_a_builder_that_needs_its_folder_is_not_blamed(build: Build, tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text(PLAIN, encoding="utf-8")
    checked = build("def build(): return open('system.md', encoding='utf-8').read()", "cwd")
    (turned,) = checked.knobs
    assert turned.answer == "not tested"
    assert "FileNotFoundError" in turned.why
    read = "import os\ndef build(): return open(os.path.abspath('system.md'), encoding='utf-8').read()"
    assert answers(build(read, "cwd")) == {"cwd": "stable"}


def test_secrets_are_replaced_unless_passed(build: Build) -> None:
    source = "import os\ndef build(): return PLAIN + os.environ['OPENAI_API_KEY']"
    environ = {"OPENAI_API_KEY": "sk-very-secret-very-secret"}
    checked = build(source, "clock", environ=environ)
    assert checked.replaced == ("OPENAI_API_KEY",)
    without = checked.tokens
    passed = build(source, "clock", environ=environ, pass_env=("OPENAI_API_KEY",))
    assert passed.replaced == ()
    assert passed.tokens != without


def test_the_network_is_refused_and_said(build: Build) -> None:
    source = """
        import socket, asyncio
        async def build():
            await asyncio.sleep(0)
            try:
                socket.socket().connect(("127.0.0.1", 1))
            except PermissionError:
                return PLAIN + "refused"
            except OSError:
                return PLAIN + "tried"
    """
    assert build(source, "clock").refused == ("127.0.0.1:1",)
    assert build(source, "clock", network=True).refused == ()


def test_an_asynchronous_builder_is_awaited_and_generators_are_collected(build: Build) -> None:
    awaited = "async def build(): return [{'role': 'system', 'content': PLAIN}]"
    assert build(awaited, "clock").tokens > 20
    streamed = """
        async def build():
            yield {"role": "system", "content": PLAIN}
            yield {"role": "user", "content": "hello"}
    """
    assert not build(streamed, "clock").whole


def test_a_builder_is_called_with_what_is_asked(build: Build) -> None:
    source = "def build(name, *, times=1): return PLAIN + name * times"
    assert (
        build(source, "clock", call='{"args": ["Ada"], "kwargs": {"times": 9}}').tokens
        > build(source, "clock", call='["Ada"]').tokens
    )


@pytest.mark.parametrize(
    ("source", "said", "where"),
    [
        ("def build(): raise ValueError('no sk-abcdefghijklmnopqrst')", "ValueError: no [masked:key]", "prompts.py:2"),
        ("import json\ndef build(): return json.loads('x')", "JSONDecodeError", "prompts.py:3 in build"),
        ("def build(", "SyntaxError", "prompts.py"),
        ("import nothing_like_it\ndef build(): pass", "nothing_like_it", "prompts.py:2"),
        ("def other(): pass", "has no attribute 'build'", "app.prompts:build"),
        ("def build(user): return user", "missing 1 required positional argument", "app.prompts:build"),
        ("def build(): return {'messages': [{'role': 'system', 'content': {1, 2}}]}", "/messages/0/content is set", ""),
        ("def build(): return {'system': float('nan'), 'messages': []}", "not JSON compliant", ""),
        ("def build(): return None", "the result is None", ""),
        ("def build(): return 7", "the result is int", ""),
        ("def build(): return {'cats': 3}", "no request found", ""),
        ("import sys\ndef build(): sys.exit(4)", "SystemExit: 4", "prompts.py:3"),
        ("import os\ndef build(): os._exit(4)", "ended with code 4", ""),
        ("def build(): return input()", "EOFError", "prompts.py:2"),
    ],
    ids=lambda value: "",
)
def test_a_builder_that_returns_no_prompt_is_one_clear_line(source: str, said: str, where: str, build: Build) -> None:
    with pytest.raises(BuilderError) as caught:
        build(source, "clock")
    assert said in caught.value.what
    assert where in caught.value.where
    assert "\n" not in caught.value.what


def test_a_timeout_ends_grandchildren_too(build: Build, tmp_path: Path) -> None:
    source = f"""
        import subprocess, sys
        def build():
            code = "import time, pathlib; time.sleep(3); pathlib.Path({str(tmp_path / "alive")!r}).touch()"
            subprocess.run([sys.executable, "-c", code])
            return PLAIN
    """
    begun = time.monotonic()
    with pytest.raises(BuilderError, match=r"longer than 1 s"):
        build(source, "clock", timeout=1.0)
    assert time.monotonic() - begun < 3
    time.sleep(max(0.0, begun + 4.5 - time.monotonic()))
    assert not (tmp_path / "alive").exists()


def test_huge_results_and_noise_disturb_nothing(build: Build) -> None:
    source = """
        import sys
        def build():
            for _ in range(2000):
                print("x" * 1000)
                print("y" * 1000, file=sys.stderr)
            return (PLAIN + "\\n") * 20_000
    """
    assert build(source, "locale").tokens > 500_000


def test_the_target_is_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "loose.py").write_text("class A:\n    @staticmethod\n    def build(): return 'hello'\n")
    builder = builder_of("sub/loose.py:A.build", None, sys.executable, str(tmp_path), os.environ)
    assert check(builder, knobs=("clock",)).tokens == 1
    for wrong in ("app", "app:", ":build", "no.py:build", "app:build()", "a b:c"):
        with pytest.raises(UserError):
            builder_of(wrong, None, sys.executable, str(tmp_path), {})


def test_an_interpreter_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def build(): return 'x'\n")
    with pytest.raises(UserError, match="no Python"):
        check(builder_of("app:build", None, str(tmp_path / "app.py"), str(tmp_path), os.environ))


def test_the_clock_stands_where_each_unit_shows_by_itself() -> None:
    for month in range(1, 13):
        for day in (1, 15, 28):
            stands = datetime.datetime.fromtimestamp(start_of_clock(datetime.datetime(2026, month, day)))
            assert (stands + datetime.timedelta(days=1)).month == stands.month
            assert (stands + datetime.timedelta(minutes=61)).date() == stands.date()
            assert (stands + datetime.timedelta(days=40)).month != stands.month


def test_calls_are_lists_names_or_both() -> None:
    assert parse_call('["a", 1]') == (("a", 1), {})
    assert parse_call('{"user": "Ada"}') == ((), {"user": "Ada"})
    assert parse_call('{"args": [1], "kwargs": {"k": 2}}') == ((1,), {"k": 2})
    for wrong in ("{", "3", '{"args": 3}'):
        with pytest.raises(UserError):
            parse_call(wrong)


def test_which_variables_are_secrets() -> None:
    secret = ["OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "SENTRY_DSN", "GH_PAT"]
    assert all(is_secret(name, "x") for name in secret)
    assert is_secret("DATABASE_URL", "postgres://ada:lovelace1@db/x")
    assert not any(is_secret(name, "x") for name in ("PATH", "PWD", "HOME", "MAX_TOKENS", "KEYBOARD", "LANG"))
    assert changeable(["PATH", "TZ", "LC_ALL", "PYTHONPATH", "APP", "HOME"]) == ("APP", "HOME")


def test_the_head_of_a_prompt_ends_where_it_is_asked_to() -> None:
    body = (
        '{"tools": [{"type": "function", "function": {"name": "a"}}], "messages": [{"role": "system", "content": "s"}, \
            {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "v"}]}'
    )
    request = prompt_of(body)

    def kinds(until: Any) -> list[tuple[str, int]]:
        head, whole = head_of(request, until)
        assert not whole
        return [(section.kind, len(section.raw_items())) for section in head.sections]

    assert kinds("tools") == [("tools", 1)]
    assert kinds("system") == [("tools", 1), ("messages", 1)]
    assert kinds("last-user") == [("tools", 1), ("messages", 3)]
    assert head_of(prompt_of('[{"role": "user", "content": "u"}]'), "system")[1]


def test_a_random_cache_key_moves_though_the_text_does_not(build: Build) -> None:
    source = """
        import uuid
        def build():
            return {"model": "gpt-4.1", "prompt_cache_key": str(uuid.uuid4()),
                    "messages": [{"role": "system", "content": PLAIN}]}
    """
    checked = build(source, "random-seed")
    assert checked.answer == "moved"
    assert checked.stable_tokens == 0
