"""Which calls and attributes are known to change by themselves, how often and how finely."""

from __future__ import annotations

import pytest

from tests.support.python_sources import found_in, told

HEAD = """
import asyncio, datetime, glob, hashlib, json, locale, os, platform, random, secrets, socket, subprocess, time, uuid
import concurrent.futures, getpass, tempfile, threading
import numpy as np
import pandas as pd
import arrow, nanoid, pendulum, shortuuid, ulid
from datetime import date, timedelta
from pathlib import Path
"""
SENTENCE = "You are the desk assistant of a library and answer in one sentence. "


def prompt_with(expression: str, head: str = "") -> str:
    return f"""
{HEAD}
{head}
def ask(client, history):
    system = f"Note: {{{expression}}}. {SENTENCE}"
    return client.chat.completions.create(model="m", messages=[{{"role": "system", "content": system}}, *history])
"""


MOVES = [
    # expression, kind, frequency, precision
    ("datetime.datetime.now()", "clock", "call", "second"),
    ("datetime.datetime.utcnow().isoformat()", "clock", "call", "second"),
    ("datetime.datetime.now(datetime.timezone.utc):%H:%M", "clock", "call", "minute"),
    ("datetime.datetime.now():%Y-%m-%d", "clock", "day", "day"),
    ("datetime.datetime.now():%d %B %Y, %H h", "clock", "call", "hour"),
    ("datetime.datetime.now().strftime('%Y-%m-%d')", "clock", "day", "day"),
    ("datetime.datetime.now().strftime('%A %H:%M:%S')", "clock", "call", "second"),
    ("datetime.datetime.now().isoformat(timespec='minutes')", "clock", "call", "minute"),
    ("datetime.datetime.now().date()", "clock", "day", "day"),
    ("datetime.datetime.now().isoformat()[:10]", "clock", "day", "day"),
    ("datetime.datetime.now().isoformat()[:16]", "clock", "call", "minute"),
    ("datetime.datetime.now().replace(minute=0, second=0, microsecond=0)", "clock", "call", "hour"),
    ("datetime.datetime.now().hour", "clock", "call", "hour"),
    ("datetime.datetime.now() - timedelta(days=1)", "clock", "call", "second"),
    ("date.today()", "clock", "day", "day"),
    ("date.today() - timedelta(days=7)", "clock", "day", "day"),
    ("time.time()", "clock", "call", "second"),
    ("int(time.time())", "clock", "call", "second"),
    ("int(time.time() // 3600)", "clock", "call", "hour"),
    ("int(time.time()) // 86400", "clock", "day", "day"),
    ("time.strftime('%H:%M')", "clock", "call", "minute"),
    ("time.ctime()", "clock", "call", "second"),
    ("time.strftime('%x', time.localtime())", "clock", "day", "day"),
    ("arrow.utcnow().format('YYYY-MM-DD HH:mm')", "clock", "call", "minute"),
    ("pendulum.now().to_date_string()", "clock", "day", "day"),
    ("pd.Timestamp.now()", "clock", "call", "second"),
    ("uuid.uuid4()", "identifier", "call", ""),
    ("uuid.uuid4().hex[:8]", "identifier", "call", ""),
    ("str(uuid.uuid1()).upper()", "identifier", "call", ""),
    ("uuid.uuid7()", "identifier", "call", ""),
    ("secrets.token_hex(4)", "identifier", "call", ""),
    ("os.urandom(4).hex()", "identifier", "call", ""),
    ("random.randint(0, 9)", "identifier", "call", ""),
    ("np.random.randint(9)", "identifier", "call", ""),
    ("ulid.ULID()", "identifier", "call", ""),
    ("nanoid.generate()", "identifier", "call", ""),
    ("shortuuid.uuid()", "identifier", "call", ""),
    ("hashlib.md5(str(time.time()).encode()).hexdigest()", "clock", "call", "second"),
    ("id(client)", "identifier", "session", ""),
    ("hash(history)", "identifier", "session", ""),
    ("hash('a text')", "identifier", "process", ""),
    ("os.getpid()", "identifier", "process", ""),
    ("threading.get_ident()", "identifier", "process", ""),
    ("tempfile.mkdtemp()", "identifier", "call", ""),
    ("os.getcwd()", "environment", "session", ""),
    ("Path.cwd()", "environment", "session", ""),
    ("Path.cwd() / 'src'", "environment", "session", ""),
    ("os.path.basename(os.getcwd())", "environment", "session", ""),
    ("Path.home()", "environment", "deploy", ""),
    ("getpass.getuser()", "environment", "deploy", ""),
    ("socket.gethostname()", "environment", "deploy", ""),
    ("platform.platform()", "environment", "deploy", ""),
    ("os.environ['CITY']", "environment", "deploy", ""),
    ("os.environ.get('CITY', 'Lund')", "environment", "deploy", ""),
    ("os.getenv('CITY')", "environment", "deploy", ""),
    ("subprocess.run(['git', 'status', '-s'], capture_output=True, text=True).stdout", "environment", "call", ""),
    ("subprocess.check_output('git branch', shell=True).decode().strip()", "environment", "call", ""),
    ("subprocess.check_output(['date']).decode()", "clock", "call", "second"),
    ("random.sample(POOL, 3)", "examples", "call", ""),
    ("random.choice(POOL)", "identifier", "call", ""),
    ("', '.join({'a', 'b'})", "unordered iteration", "process", ""),
    ("', '.join(set(POOL))", "unordered iteration", "process", ""),
    ("', '.join(frozenset(POOL) - {'a'})", "unordered iteration", "process", ""),
    ("', '.join(set(POOL).union(['z']))", "unordered iteration", "process", ""),
    ("list(set(POOL))", "unordered iteration", "process", ""),
    ("set(word for word in POOL)", "unordered iteration", "process", ""),
    ("', '.join(word.upper() for word in set(POOL))", "unordered iteration", "process", ""),
    ("', '.join(os.listdir('rules'))", "unordered iteration", "deploy", ""),
    ("glob.glob('rules/*.md')", "unordered iteration", "deploy", ""),
    ("[p.name for p in Path('rules').iterdir()]", "unordered iteration", "deploy", ""),
    ("' '.join(p.stem for p in Path('rules').rglob('*.md'))", "unordered iteration", "deploy", ""),
    ("json.dumps({word: 1 for word in set(POOL)})", "key order", "process", ""),
    ("json.dumps(list(set(POOL)), sort_keys=True)", "unordered iteration", "process", ""),
    ("dict.fromkeys(set(POOL))", "unordered iteration", "process", ""),
    ("json.dumps(vars(client))", "key order", "session", ""),
    ("prompt_with", "identifier", "process", ""),
    ("repr(lambda: 1)", "identifier", "process", ""),
    ("locale.format_string('%d', 1200)", "locale", "deploy", ""),
    ("len(client):n", "locale", "deploy", ""),
    ("len(history)", "counter", "call", ""),
    ("client.retriever.invoke('q')", "retrieved text", "call", ""),
    ("client.vectorstore.similarity_search('q')", "retrieved text", "call", ""),
    ("client.collection.query(query_texts=['q'])", "retrieved text", "call", ""),
    ("client.memory.search('q')", "retrieved text", "call", ""),
    ("client.recall('q')", "retrieved text", "call", ""),
    ("client.selector.select_examples({'q': 1})", "examples", "call", ""),
]


@pytest.mark.parametrize(("expression", "kind", "frequency", "precision"), MOVES, ids=[row[0] for row in MOVES])
def test_what_changes_by_itself_is_found_in_a_system_prompt(expression, kind, frequency, precision):
    found = found_in(prompt_with(expression, "POOL = ['a', 'b', 'c']\ndef prompt_with(): return 1"))
    assert [(str(one.kind), str(one.frequency), one.precision) for one in found] == [(kind, frequency, precision)]
    assert found[0].area == "system"


STANDS = [
    "datetime.datetime(2026, 3, 1)",
    "datetime.datetime.now().year",
    "datetime.datetime.now():%B %Y",
    "datetime.datetime.now().strftime('%Y')",
    "date(2026, 3, 1).isoformat()",
    "datetime.datetime.strptime('2026', '%Y')",
    "datetime.datetime.fromtimestamp(0)",
    "time.strftime('%H:%M', time.gmtime(0))",
    "uuid.UUID('7f3c0f8e-5d0f-4b8e-9b3e-0d9d4f6f7a11')",
    "uuid.uuid5(uuid.NAMESPACE_DNS, 'library')",
    "hashlib.sha256(b'rules').hexdigest()",
    "hash(7)",
    "sorted({'a', 'b'})",
    "', '.join(sorted(set(POOL)))",
    "', '.join(sorted(os.listdir('rules')))",
    "', '.join(sorted(p.name for p in Path('rules').iterdir()))",
    "', '.join({'only'})",
    "', '.join(str(n) for n in {1, 2, 3})",
    "len(set(POOL))",
    "'a' in set(POOL)",
    "max(set(POOL))",
    "json.dumps({word: 1 for word in set(POOL)}, sort_keys=True)",
    "json.dumps({'b': 1, 'a': 2})",
    "json.dumps(dict(zip(POOL, POOL)))",
    "', '.join(dict.fromkeys(POOL))",
    "random.Random(7).sample(POOL, 2)",
    "client.version",
    "client.model",
    "client.search.__name__",
    "subprocess.run(['echo', 'hello'], capture_output=True).stdout",
    "Path.cwd().exists()",
    "Path('rules.md').read_text()",
    "(Path.cwd() / 'rules.md').read_text()",
    "max(client.limits)",
]


@pytest.mark.parametrize("expression", STANDS)
def test_what_stays_the_same_is_not_told(expression):
    assert told(found_in(prompt_with(expression, "POOL = ['a', 'b', 'c']"))) == []
