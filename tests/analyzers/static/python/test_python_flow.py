"""How a value that changes gets from where it is made to a prompt, through statements, functions and modules."""

# ruff: noqa: E501 - tables, a case a line

from __future__ import annotations

import pytest

from tests.support.python_sources import LONG, found_in, told

HEAD = f'''
import asyncio, functools, io, json, os, random, string, textwrap, time, uuid
from dataclasses import dataclass, field
from datetime import date, datetime
from openai import OpenAI
client = OpenAI()
RULES = """{LONG}"""
TEMPLATE = "Now it is {{now}}. {LONG}"
def send(system, history):
    return client.chat.completions.create(model="m", messages=[{{"role": "system", "content": system}}, *history])
'''

CLOCK = ["clock: datetime.now()"]
WAYS = {
    "assignment": ('now = datetime.now()\n    text = f"{now} {RULES}"', CLOCK),
    "augmented assignment": ('text = "Rules. "\n    text += f"It is {datetime.now()}. "\n    text += RULES', CLOCK),
    "tuple": ("now, place = datetime.now(), 1\n    text = str(now) + RULES", CLOCK),
    "walrus": ('text = f"{(now := datetime.now())} {now} {RULES}"', CLOCK),
    "concatenation": ('text = "It is " + str(datetime.now()) + ". " + RULES', CLOCK),
    "format": ('text = "It is {}. {}".format(datetime.now(), RULES)', CLOCK),
    "format by name": ("text = TEMPLATE.format(now=datetime.now())", CLOCK),
    "format with a mapping": ('values = {"now": datetime.now()}\n    text = TEMPLATE.format(**values)', CLOCK),
    "format_map": ('text = TEMPLATE.format_map({"now": datetime.now()})', CLOCK),
    "format with locals": ("now = datetime.now()\n    text = TEMPLATE.format(**locals())", CLOCK),
    "percent": ('text = "It is %s. %s" % (datetime.now(), RULES)', CLOCK),
    "percent with a mapping": ('text = "It is %(now)s. " % {"now": datetime.now()} + RULES', CLOCK),
    "join": ('text = "\\n".join([str(datetime.now()), RULES])', CLOCK),
    "join of a list": ("parts = []\n    parts.append(str(datetime.now()))\n    parts.append(RULES)\n    text = ' '.join(parts)", CLOCK),
    "extend": ("parts = []\n    parts.extend([str(datetime.now()), RULES])\n    text = ' '.join(parts)", CLOCK),
    "insert": ("parts = [RULES]\n    parts.insert(0, f'{datetime.now()}')\n    text = ' '.join(parts)", CLOCK),
    "list addition": ("parts = [f'{datetime.now()}'] + [RULES]\n    text = ' '.join(parts)", CLOCK),
    "list augmented": ("parts = []\n    parts += [f'{datetime.now()}', RULES]\n    text = ' '.join(parts)", CLOCK),
    "dedent": ('text = textwrap.dedent(f"""\n        {datetime.now()}\n        {RULES}""").strip()', CLOCK),
    "string.Template": ('text = string.Template("It is $now. " + RULES).substitute(now=datetime.now())', CLOCK),
    "replace": ('text = TEMPLATE.replace("{now}", str(datetime.now()))', CLOCK),
    "buffer": ("out = io.StringIO()\n    out.write(str(datetime.now()))\n    out.write(RULES)\n    text = out.getvalue()", CLOCK),
    "conditional expression": ('text = (f"{datetime.now()} " if place else "") + RULES', CLOCK),
    "branch": ('text = ""\n    if place:\n        text = f"{datetime.now()} "\n    text += RULES', CLOCK),
    "try": ('try:\n        text = f"{datetime.now()} {RULES}"\n    except ValueError:\n        text = RULES', CLOCK),
    "match": ('match place:\n        case 1:\n            text = f"{datetime.now()} {RULES}"\n        case _:\n            text = RULES', CLOCK),
    "with": ('with open("x") as file:\n        text = f"{datetime.now()} {RULES}"', CLOCK),
    "comprehension": ("text = ' '.join(f'{datetime.now()} {line}' for line in RULES.splitlines()) + RULES", CLOCK),
    "loop": ('text = ""\n    for line in history:\n        text += f"{datetime.now()} {line}"\n    text += RULES', CLOCK),
    "mapping": ('info = {"now": datetime.now()}\n    text = f"{info[\'now\']} {RULES}"', CLOCK),
    "mapping, key set": ('info = {}\n    info["now"] = datetime.now()\n    text = f"{info[\'now\']} {RULES}"', CLOCK),
    "mapping, get": ('info = dict(now=datetime.now())\n    text = f"{info.get(\'now\')} {RULES}"', CLOCK),
    "mapping dumped": ('text = json.dumps({"now": str(datetime.now())}) + RULES', CLOCK),
    "lambda": ('stamp = lambda: datetime.now()\n    text = f"{stamp()} {RULES}"', CLOCK),
    "function inside": ('def stamp():\n        return f"{datetime.now()}"\n    text = stamp() + RULES', CLOCK),
    "sum of many": ("text = " + " + ".join(["'a'"] * 300) + " + f'{datetime.now()}' + RULES", CLOCK),
    "set in a variable": ('topics = {"a", "b"}\n    text = ", ".join(topics) + RULES', ["unordered iteration: topics"]),
    "set gone through": (
        'topics = {"a", "b"}\n    lines = []\n    for topic in topics:\n        lines.append(f"- {topic}")\n'
        '    text = "\\n".join(lines) + RULES',
        ["unordered iteration: topics"],
    ),
    "set added to a text": (
        'text = ""\n    for topic in {"a", "b"}:\n        text += f"- {topic}\\n"\n    text += RULES',
        ['unordered iteration: {"a", "b"}'],
    ),
    "set by way of a call that is not known": (
        'text = ""\n    for topic in {"a", "b"}:\n        text += place.describe(topic)\n    text += RULES',
        ['unordered iteration: {"a", "b"}'],
    ),
    "set in pairs": (
        'lines = [f"{n}. {t}" for n, t in enumerate({"a", "b"})]\n    text = "\\n".join(lines) + RULES',
        ['unordered iteration: {"a", "b"}'],
    ),
    "set unpacked": ('lines = [*{"a", "b"}]\n    text = "\\n".join(lines) + RULES', ['unordered iteration: {"a", "b"}']),
    "set mapped": ('text = "\\n".join(map(str, {"a", "b"})) + RULES', ['unordered iteration: {"a", "b"}']),
    "set grown": (
        'topics = set()\n    for word in history:\n        topics.add(word)\n    text = " ".join(topics) + RULES',
        ["unordered iteration: topics"],
    ),
    "any member of a set": ('text = next(iter({"a", "b"})) + RULES', ['unordered iteration: {"a", "b"}']),
    "shuffled": (
        "examples = [1, 2, 3]\n    random.shuffle(examples)\n    text = str(examples) + RULES",
        ["examples: random.shuffle(examples)"],
    ),
    "as completed": (
        "lines = []\n    for done in asyncio.as_completed(history):\n        lines.append(done.result())\n"
        "    text = ' '.join(lines) + RULES",
        ["unordered iteration: asyncio.as_completed(history)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), WAYS.values(), ids=WAYS.keys())
def test_a_value_is_followed_inside_a_function(body, expected):
    code = f"{HEAD}\ndef ask(history, place):\n    {body}\n    return send(text, history)\n"
    assert told(found_in(code)) == expected


STAYS = {
    "sorted list of a set": 'lines = sorted({"a", "b"})\n    text = "\\n".join(lines) + RULES',
    "sorted in place": 'lines = list({"a", "b"})\n    lines.sort()\n    text = "\\n".join(lines) + RULES',
    "sorted while gone through": (
        'text = ""\n    for topic in sorted({"a", "b"}):\n        text += topic\n    text += RULES'
    ),
    "sorted later": (
        'lines = []\n    for topic in {"a", "b"}:\n        lines.append(topic)\n    lines = sorted(lines)\n'
        '    text = "\\n".join(lines) + RULES'
    ),
    "counted": 'count = 0\n    for topic in {"a", "b"}:\n        count += len(topic)\n    text = f"{count} topics. {RULES}"',
    "asked for members": 'topics = {"a", "b"}\n    text = RULES if place in topics else "No. " + RULES',
    "one prompt for each member": (
        'for topic in {"a", "b"}:\n        send(f"Write about {topic}. {RULES}", history)\n    text = RULES'
    ),
    "a text of its own for each member": (
        'for topic in {"a", "b"}:\n        text = "Write about "\n        text += topic\n        send(text + RULES, history)\n'
        "    text = RULES"
    ),
    "overwritten": "text = str(datetime.now())\n    text = RULES",
    "thrown away": "stamp = uuid.uuid4()\n    print(stamp)\n    text = RULES",
    "compared": 'text = "Good morning. " if datetime.now().hour < 12 else "Good evening. "\n    text += RULES',
    "a number to enumerate": 'text = "\\n".join(f"{n}. {line}" for n, line in enumerate(["a", "b"])) + RULES',
    "counted up": 'n = 0\n    lines = []\n    for line in ["a"]:\n        n += 1\n        lines.append(f"{n} {line}")\n    text = " ".join(lines) + RULES',
    "logged": 'print(f"asked at {datetime.now()}")\n    text = RULES',
    "seeded": "random.seed(3)\n    text = str(random.sample([1, 2, 3], 2)) + RULES",
    "a field of another name": 'info = {"now": datetime.now(), "rules": RULES}\n    text = info["rules"]',
    "gathered in order": "lines = asyncio.run(asyncio.gather(*history))\n    text = ' '.join(lines) + RULES",
    "braces of JSON": 'text = \'{"now": "{now}"}\' + RULES',
}  # fmt: skip


@pytest.mark.parametrize("body", STAYS.values(), ids=STAYS.keys())
def test_what_does_not_reach_the_prompt_is_not_told(body):
    code = f"{HEAD}\ndef ask(history, place):\n    {body}\n    return send(text, history)\n"
    assert told(found_in(code)) == []


FUNCTIONS = {
    "returned": ('def stamp():\n    return f"It is {datetime.now()}. "\ndef ask(history):\n    send(stamp() + RULES, history)', CLOCK),
    "returned by a helper of a helper": (
        "def now():\n    return datetime.now()\ndef stamp():\n    return now().isoformat()\n"
        "def head():\n    return stamp() + RULES\ndef ask(history):\n    send(head(), history)",
        CLOCK,
    ),
    "passed": ("def build(moment):\n    return f'{moment} {RULES}'\ndef ask(history):\n    send(build(datetime.now()), history)", CLOCK),
    "passed by name": ("def build(*, moment):\n    return f'{moment} {RULES}'\ndef ask(h):\n    send(build(moment=datetime.now()), h)", CLOCK),
    "formatted where it arrives": (
        "def day(moment):\n    return moment.strftime('%H:%M')\ndef ask(h):\n    send(day(datetime.now()) + RULES, h)",
        CLOCK,
    ),
    "sent by who gets it": ("def relay(text, h):\n    send(text + RULES, h)\ndef ask(h):\n    relay(str(datetime.now()), h)", CLOCK),
    "added to a list that was passed": (
        "def head(parts):\n    parts.append(str(datetime.now()))\ndef ask(h):\n    parts = []\n    head(parts)\n"
        "    parts.append(RULES)\n    send(' '.join(parts), h)",
        CLOCK,
    ),
    "yielded": ("def lines():\n    yield str(datetime.now())\n    yield RULES\ndef ask(h):\n    send(' '.join(lines()), h)", CLOCK),
    "by a method": (
        "class Desk:\n    def stamp(self):\n        return str(datetime.now())\n    def ask(self, h):\n        send(self.stamp() + RULES, h)",
        CLOCK,
    ),
    "by a property": (
        "class Desk:\n    @property\n    def stamp(self):\n        return str(datetime.now())\n    def ask(self, h):\n"
        "        send(self.stamp + RULES, h)",
        CLOCK,
    ),
    "by an attribute": (
        "class Desk:\n    def __init__(self):\n        self.made = datetime.now()\n    def ask(self, h):\n"
        "        send(f'{self.made} {RULES}', h)",
        CLOCK,
    ),
    "by an attribute of a base class": (
        "class Base:\n    def __init__(self):\n        self.made = datetime.now()\nclass Desk(Base):\n    def ask(self, h):\n"
        "        send(f'{self.made} {RULES}', h)",
        CLOCK,
    ),
    "by a list of an object": (
        "class Desk:\n    def __init__(self):\n        self.parts = []\n    def stamp(self):\n"
        "        self.parts.append(str(datetime.now()))\n    def ask(self, h):\n        self.stamp()\n"
        "        self.parts.append(RULES)\n        send(' '.join(self.parts), h)",
        CLOCK,
    ),
    "by an object that is built": (
        "class Prompt:\n    def __init__(self, moment):\n        self.moment = moment\n    def text(self):\n"
        "        return f'{self.moment} {RULES}'\ndef ask(h):\n    prompt = Prompt(datetime.now())\n    send(prompt.text(), h)",
        CLOCK,
    ),
    "by a field of a dataclass": (
        "@dataclass\nclass Desk:\n    made: str = field(default_factory=lambda: str(datetime.now()))\n    def ask(self, h):\n"
        "        send(f'{self.made} {RULES}', h)",
        CLOCK,
    ),
    "by a class attribute": (
        "class Desk:\n    made = datetime.now()\n    def ask(self, h):\n        send(f'{self.made} {RULES}', h)",
        CLOCK,
    ),
    "by a class attribute of itself": (
        "class Desk:\n    made = datetime.now()\n    def ask(self, h):\n        send(f'{Desk.made} {RULES}', h)",
        CLOCK,
    ),
    "by a static method": (
        "class Desk:\n    @staticmethod\n    def stamp():\n        return str(datetime.now())\ndef ask(h):\n"
        "    send(Desk.stamp() + RULES, h)",
        CLOCK,
    ),
    "by a variable of the module": ("TODAY = datetime.now()\ndef ask(h):\n    send(f'{TODAY} {RULES}', h)", CLOCK),
    "by a default argument": ("def ask(h, moment=datetime.now()):\n    send(f'{moment} {RULES}', h)", CLOCK),
    "by a cached function": (
        "@functools.lru_cache\ndef head():\n    return f'{datetime.now()} {RULES}'\ndef ask(h):\n    send(head(), h)",
        CLOCK,
    ),
    "by a counter of an object": (
        "class Desk:\n    def __init__(self):\n        self.calls = 0\n    def ask(self, h):\n        self.calls += 1\n"
        "        send(f'Call {self.calls}. {RULES}', h)",
        ["counter: self.calls"],
    ),
    "by a loop's counter": (
        "def ask(h):\n    for step in range(9):\n        send(f'Step {step} of 9. {RULES}', h)",
        ["counter: range(9)"],
    ),
    "by tasks that add to a list": (
        "async def ask(urls, h):\n    pages = []\n    async def load(url):\n        pages.append(await fetch(url))\n"
        "    await asyncio.gather(*(load(url) for url in urls))\n    send(' '.join(pages) + RULES, h)",
        ["unordered iteration: pages.append(await fetch(url))"],
    ),
    "by an object without a text of its own": (
        "class Shelf:\n    def __init__(self):\n        self.books = []\ndef ask(h):\n    shelf = Shelf()\n    send(f'{shelf} {RULES}', h)",
        ["identifier: shelf"],
    ),
    "by an object with a text of its own": (
        "class Shelf:\n    def __str__(self):\n        return str(datetime.now())\ndef ask(h):\n    shelf = Shelf()\n    send(f'{shelf} {RULES}', h)",
        CLOCK,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_value_is_followed_through_functions_and_objects(code, expected):
    assert told(found_in(HEAD + code)) == expected


FREQUENCIES = {
    "by a method": "call",
    "by a property": "call",
    "returned": "call",
    "by an attribute": "session",
    "by an attribute of a base class": "session",
    "by a field of a dataclass": "session",
    "by a class attribute": "process",
    "by a variable of the module": "process",
    "by a default argument": "process",
    "by a cached function": "process",
}


@pytest.mark.parametrize(("way", "frequency"), FREQUENCIES.items())
def test_how_often_a_value_changes_depends_on_where_it_is_made(way, frequency):
    (found,) = found_in(HEAD + FUNCTIONS[way][0])
    assert found.frequency == frequency


def test_what_is_made_before_the_loop_that_sends_it_changes_once_a_conversation():
    head = HEAD + "def talk(h):\n    system = f'{datetime.now()} {RULES}'\n    while True:\n"
    (before,) = found_in(head + "        h.append(send(system, h))")
    (inside,) = found_in(head + "        h.append(send(f'{datetime.now()} {RULES}', h))")
    assert (before.frequency, inside.frequency) == ("session", "call")


def test_a_call_in_a_loop_of_the_module_is_one_of_many():
    (found,) = found_in(HEAD + "h = []\nwhile True:\n    h.append(send(f'{datetime.now()} {RULES}', h))")
    assert found.frequency == "call"


QUIET = {
    "printed by a dataclass": "@dataclass\nclass Shelf:\n    books: int\ndef ask(h):\n    send(f'{Shelf(3)} {RULES}', h)",
    "printed by an unknown base": "class Shelf(Base):\n    pass\ndef ask(h):\n    send(f'{Shelf()} {RULES}', h)",
    "a message of its own for the time": (
        "def ask(h, question):\n    h.append({'role': 'user', 'content': f'{question} (asked at {datetime.now()})'})\n"
        "    send(RULES, h)"
    ),
    "kept for a record": (
        "def ask(h):\n    record = {'id': str(uuid.uuid4()), 'at': time.time()}\n    answer = send(RULES, h)\n"
        "    record['answer'] = answer\n    return record"
    ),
    "a constant default": "def ask(h, edition='2026-01-01'):\n    send(f'{edition} {RULES}', h)",
    "passed as a constant": "def build(now):\n    return now\ndef ask(h):\n    send(build('2026') + RULES, h)",
    "recursion": "def build(n):\n    return build(n - 1) + RULES\ndef ask(h):\n    send(build(3), h)",
}  # fmt: skip


@pytest.mark.parametrize("code", QUIET.values(), ids=QUIET.keys())
def test_what_functions_do_beside_the_prompt_is_not_told(code):
    assert told(found_in(HEAD + code)) == []


def test_a_value_is_followed_from_module_to_module():
    found = found_in(
        "from .prompts import head\nfrom app.rules import RULES\nfrom . import net\n"
        "def ask(history):\n    return net.send(head() + RULES, history)\n",
        prompts="from app.clock import stamp as when\ndef head():\n    return f'It is {when()}. '\n",
        clock="import datetime as dt\ndef stamp():\n    return dt.datetime.now().isoformat()\n",
        rules=f"RULES = '''{LONG}'''\n",
        net=(
            "import anthropic\napi = anthropic.Anthropic()\ndef send(text, history):\n"
            "    return api.messages.create(model='m', system=text, messages=history)\n"
        ),
    )
    assert told(found) == ["clock: dt.datetime.now()"]
    assert found[0].path == "app/clock.py"
    assert found[0].stable_behind is not None
    assert found[0].stable_behind > 100
    assert [step.path for step in found[0].flow][-1] == "app/net.py"


def test_flow_tells_each_step_from_the_source_to_the_call():
    (found,) = found_in(
        HEAD
        + "def build(moment):\n    return f'{moment} {RULES}'\ndef ask(h):\n    now = datetime.now()\n    text = build(now)\n    send(text, h)"
    )
    assert [step.note for step in found.flow] == [
        "assigned to `now`",
        "passed as `moment`",
        "returned by `build()`",
        "assigned to `text`",
        "passed as `system`",
        "sent by `client.chat.completions.create()`",
    ]


def test_values_are_followed_through_three_calls():
    code = (
        HEAD
        + "def one(a, h):\n    two(a, h)\ndef two(b, h):\n    three(b, h)\ndef three(c, h):\n    client.responses.create(instructions=f'{c} {RULES}', input=h)\ndef ask(h):\n    one(uuid.uuid4(), h)"
    )
    assert told(found_in(code)) == ["identifier: uuid.uuid4()"]
