"""How far code is followed: far enough to tell, and never for ever."""

from __future__ import annotations

from prefixwise.analyzers.static.python import budget, read_python
from prefixwise.analyzers.static.python.budget import Budget
from prefixwise.analyzers.static.sources import Source
from tests.support.python_sources import LONG, told

HEAD = f'''
from datetime import datetime
RULES = """{LONG}"""
def send(client, system, history):
    return client.chat.completions.create(model="m", messages=[{{"role": "system", "content": system}}, *history])
'''


def _read(code: str):
    source = Source("main.py", HEAD + code)
    return read_python({"main.py": source}, ("main.py",))


def test_an_object_that_holds_ever_more_objects_is_carried_as_what_it_is():
    lines = [
        "class Box:",
        "    def __init__(self, left, right):",
        "        self.left = left",
        "        self.right = right",
    ]
    lines += ["def ask(client, history):", "    box0 = Box(datetime.now(), datetime.now())"]
    lines += [f"    box{number} = Box(box{number - 1}, box{number - 1})" for number in range(1, 60)]
    lines += ["    return send(client, f'{box0.left} {box59.left} {RULES}', history)"]
    found, notes = _read("\n".join(lines))
    assert (told(found), notes) == (["clock: datetime.now()"], ())


def test_calls_are_followed_for_so_many_expressions_and_a_note_says_so(monkeypatch):
    deep = "def helper(text):\n    return text + ''.join(str(number) for number in (1, 2, 3))\n"
    code = deep + "def ask(client, history):\n" + "".join(f"    a{n} = helper('{n}')\n" for n in range(9))
    code += "    return send(client, f'{datetime.now()} {RULES}', history)\n"
    whole, silence = _read(code)
    monkeypatch.setattr(budget, "MOST_OF_AN_ENTRY", 40)
    monkeypatch.setattr(budget, "LEAST_OF_AN_ENTRY", 40)
    cut, notes = _read(code)
    assert (told(whole), silence) == (["clock: datetime.now()"], ())
    assert told(cut) == []  # the call that sends it was not followed
    line = (HEAD + code).split("\n").index("def ask(client, history):") + 1
    assert notes == (f"main.py:{line}: calls were followed for 40 expressions and no further",)
    assert _read(code)[0] == cut


def test_what_one_function_uses_is_gone_for_all_but_none_gets_nothing():
    spent = Budget(files=1)
    most = budget.MOST_OF_AN_ENTRY
    for entry in range(60):
        spent.begin("a.py", entry)
        for _ in range(most):
            spent.spend()
    spent.begin("b.py", 7)
    for _ in range(budget.LEAST_OF_AN_ENTRY - 1):
        spent.spend()
    assert spent.allows()
    spent.spend()
    assert not spent.allows()
    assert [path for path, _ in spent.notes()] == ["b.py"]
