"""What well-known packages taught: code that looks like a fault and is none, beside its twin that is one."""

# ruff: noqa: E501 - tables, a case a line

from __future__ import annotations

import pytest

from prefixwise.analyzers.static.findings import source_findings
from prefixwise.core.finding import Level
from tests.support.python_sources import LONG, found_in, told

HEAD = f'''
import asyncio, json, os, random, string, subprocess, time, uuid
import humanize
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from openai import OpenAI
client = OpenAI()
RULES = """{LONG}"""
POOL = [{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": "b"}}] * 9
def made():
    return {{"id": str(uuid.uuid4())}}
def send(system, history):
    return client.chat.completions.create(model="m", messages=[{{"role": "system", "content": system}}, *history])
'''

INNOCENT = {
    "the name of a tool": 'def ask(h, tools):\n    send("Tools: " + ", ".join(tool.name for tool in tools) + RULES, h)',
    "the name of a field": 'def ask(h, fields):\n    send("".join(f"{field_name}: text\\n" for field_name in fields) + RULES, h)',
    "the name of a class": 'def ask(h, error):\n    send(f"{type(error).__name__}. " + RULES, h)',
    "the name of a member of a team": 'def ask(h, member):\n    send(f"{member.name}. " + RULES, h)',
    "the profile of a role": 'def ask(h, profile):\n    send(f"You are a {profile}. " + RULES, h)',
    "a member of an enumeration": 'def ask(h, Role):\n    send(f"{Role.user}. " + RULES, h)',
    "an object that is called context": 'def ask(h, context):\n    page = context.new_page()\n    send(f"{page.url}. " + RULES, h)',
    "a piece of an answer": 'def ask(h, stream):\n    for chunk in stream:\n        send(f"{chunk} " + RULES, h)',
    "an object with an id, by its text": 'def ask(h):\n    note = Message(id=str(uuid.uuid4()), content="Be brief.")\n    send(f"{note} " + RULES, h)',
    "a program's folder": 'def ask(h):\n    made = subprocess.Popen(["make"], cwd=os.getcwd())\n    send(f"{made} " + RULES, h)',
    "fields that are printed": 'def ask(h, card):\n    send(card.model_dump_json(include={"name", "url"}) + RULES, h)',
    "fields that are not": 'def ask(h, card):\n    send(card.model_dump_json(exclude={"name", "url"}) + RULES, h)',
    "attributes by name": "def ask(h, card):\n    send(json.dumps(card.__dict__) + RULES, h)",
    "an event": "class Started(Event):\n    def __init__(self, messages):\n        super().__init__(tools={'a', 'b'}, messages=messages)",
    "a record of messages": "def ask(h):\n    return CallStarted(tools=list({'a', 'b'}), messages=h)",
    "a summary of the end": "def summarize(h):\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *h[-20:]])",
    "a key that is kept": "class Keys:\n    def get(self):\n        if self._key is not None:\n            return self._key\n        self._key = uuid.uuid4().hex\n        return self._key\n    def ask(self, h):\n        return client.responses.create(model='m', input=h, prompt_cache_key=self.get())",
    "a message whose role comes from elsewhere": "def message(role, text):\n    return {'role': role, 'content': text}\ndef note(h, attempt_number):\n    h.append(message('system', f'Attempt {attempt_number}. ' + RULES))",
    "a date behind the question": "def ask(question):\n    prompt = f'Answer: {question}. Today is {date.today()}. ' + RULES\n    return client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': prompt}])",
    "an attribute that the class makes": "class Desk:\n    def __init__(self):\n        self.clipboard = Clipboard(self)\n    def ask(self, h):\n        send(f'{self.clipboard} ' + RULES, h)\nclass Clipboard:\n    def __init__(self, desk): pass\n    def __str__(self): return 'a clipboard'",
    "tasks beside each other that keep a log": "async def ask(h):\n    async def one(name):\n        h.append({'role': 'user', 'content': name})\n    await asyncio.gather(*[one(name) for name in ('a', 'b')])\n    return client.chat.completions.create(model='m', messages=h)",
    "instructions that are called a context": "def ask(h, knowledge):\n    build_context = getattr(knowledge, 'build_context')\n    knowledge_context = build_context(filters=True)\n    send(f'{knowledge_context} ' + RULES, h)",
    "a part of an answer that was parsed": "def ask(h, Plan, answer):\n    plan = Plan.model_validate_json(f'{answer} {uuid.uuid4()}')\n    send(f'{plan.text} ' + RULES, h)",
    "what is added to a conversation": "def note(conversation, attempts):\n    conversation.add(role='system', content=f'Attempt {attempts}. ' + RULES)",
    "tools of a registry of one's own": "def ask(h, channel):\n    tools = channel.list_tools()\n    send(', '.join(tool.title for tool in tools) + RULES, h)",
    "a message that compresses": "def ask(h):\n    compression_prompt = f'It is {datetime.now()}. ' + RULES\n    return [*h, {'role': 'user', 'content': compression_prompt}]",
    "a step that is chosen by its number": "def ask(h, steps, describe):\n    for index, step in enumerate(steps):\n        send(describe(index) + RULES, h)",
    "a part of a message that is dropped": "def ask(h):\n    sent = []\n    for message in h:\n        if len(message.content) > 1:\n            message.content.pop(0)\n        sent.extend(message.content)\n    return client.responses.create(model='m', input=sent)",
    "a date in front of the question of a template": "TEXT = 'It is {day}. {query} ' + RULES\ndef ask(q):\n    prompt = TEXT.format(day=date.today(), query=q)\n    return client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': prompt}])",
    "a year": "def ask(h):\n    send(f\"{datetime.now().strftime('%Y')} \" + RULES, h)",
    "memories at the very end": "def ask(h, memories):\n    return {'role': 'system', 'content': RULES + ''.join(memory.text for memory in memories)}",
    "a fixed number of examples": "def ask(h):\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *POOL[:4], *h])",
    "examples of a seeded generator": "def ask(h):\n    shots = random.Random(7).sample(POOL, 4)\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *shots, *h])",
    "a file in front of the date": 'def ask(h):\n    send(open("rules.md").read() + f" {date.today()}", h)',
    "a file of the request": 'def ask(h, path):\n    send(f"{date.today()} {Path(path).read_text()}", h)',
    "an id of the caller, beside what is searched for": "def ask(h, store, q):\n    caller = Caller(request_id=str(uuid.uuid4()))\n    found = store.search_text(query=q, caller=caller)\n    send(f'{found} ' + RULES, h)",
    "an object given to what builds its prompt": "class Helper:\n    def __init__(self, system_prompt):\n        self.run_id = str(uuid.uuid4())\n        self.system_prompt = system_prompt\n    def ask(self, h):\n        send(self.system_prompt(helper=self) + RULES, h)",
    "how many messages a summary is of": "def _create_summary(messages):\n    return f'Earlier: {len(messages)} messages. '\ndef ask(h):\n    send(_create_summary(h) + RULES, h)",
    "the end of a history that is learned from": "def ask(h, learner):\n    learner.process_conversation(messages=h[-4:])",
    "a window over what is only counted": "def ask(h, meter):\n    meter.tally(messages=h[-4:])",
    "a tool by its own name": "def ask(h, tools):\n    kept = []\n    for tool in tools:\n        user_name = tool.get('function')\n        if not user_name:\n            kept.append({'name': 'other', 'description': RULES})\n    return client.chat.completions.create(model='m', tools=kept, messages=h)",
    "a tool for the form of the answer": "def ask(h, format):\n    tools = [{'name': 'a'}]\n    if format.mode == 'tool':\n        tools.append({'name': 'answer', 'description': RULES})\n    return client.chat.completions.create(model='m', tools=tools, messages=h)",
    "the first message, where it is the system's": "def ask(h, prompt, history):\n    messages = []\n    if prompt:\n        messages.append({'role': 'system', 'content': RULES})\n    messages.extend(history)\n    messages.append({'role': 'user', 'content': f'{datetime.now()} {h}'})\n    send(messages[0]['content'] + RULES, h)",
    "a date at the very end, by a call": "def ask(h):\n    return client.chat.completions.create(model='m', messages=[dict(role='system', content=RULES + f'{date.today()}'), *h])",
    "a session's id that is kept in the state": "def session(state):\n    known = state.get('session')\n    if known:\n        return known\n    return f'session_{uuid.uuid4().hex}'\ndef ask(h, state):\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, {'role': 'user', 'content': f'Saved as {session(state)}; read it again if need be.'}, *h])",
    "a key of the conversation that is asked for": "def ask(h, conversation_id=None):\n    wanted = conversation_id or uuid.uuid4()\n    return client.responses.create(model='m', input=h, prompt_cache_key=str(wanted))",
    "a key that is called a session's": "def ask(h):\n    session_key = str(uuid.uuid4())\n    return client.responses.create(model='m', input=h, prompt_cache_key=session_key)",
    "how long something took": "def ask(h, run):\n    start = time.perf_counter()\n    run()\n    elapsed = time.perf_counter() - start\n    send(f'It took {elapsed:.1f} s. ' + RULES, h)",
    "how long something took, by two clocks": "def ask(h, run):\n    start = time.time()\n    run()\n    send(f'It took {time.time() - start:.1f} s. ' + RULES, h)",
    "a limit in words": "def ask(h, limit):\n    send(f'Stop after {humanize.naturaldelta(limit)}. ' + RULES, h)",
    "a set behind another answer of the same function": "def chosen(kind, tools):\n    every = {'a', 'b'}\n    if kind == 'some':\n        return [tool for tool in tools]\n    return list(every)\ndef ask(h, tools):\n    client.chat.completions.create(model='m', tools=chosen('some', tools), messages=h)",
    "a clock that is switched off": "def head(dated):\n    return f'{datetime.now()} ' if dated else 'Hello. '\ndef ask(h):\n    send(head(False) + RULES, h)",
    "the text of a thing that is drawn": "def ask(h, nodes):\n    node = random.choice(nodes)\n    send(f'{node.code} ' + RULES, h)",
    "the text of a record with an id": "def ask(h, as_plain):\n    record = as_plain(str(uuid.uuid4()))\n    send(f'{record.get(\"text\")} ' + RULES, h)",
    "a date behind the question, though some call asks something fixed": "def ask(query):\n    prompt = f'Query: {query}. It is {date.today()}. ' + RULES\n    return prompt\ndef probe():\n    return ask('news')",
    "the end of a history that is judged": "class IntentRouter:\n    def pick(self, h):\n        return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *h[-6:]])",
    "a point in time that is kept": "def ask(h, dt):\n    send(f'Noted on {dt:%Y-%m-%d %H:%M}. ' + RULES, h)",
    "a setting of what renders": "import chevron\ndef ask(h, data):\n    send(chevron.render(template=RULES, data=data, partials_ext=''.join(random.choices(string.ascii_letters, k=9))) + RULES, h)",
}


@pytest.mark.parametrize("code", INNOCENT.values(), ids=INNOCENT)
def test_what_is_no_fault_is_not_told(code):
    assert told(found_in(HEAD + code)) == []


GUILTY = {
    "an id beside what is printed": (
        "def ask(h, q, format_text):\n    request_id = str(uuid.uuid4())\n    send(format_text(q, request_id) + RULES, h)",
        ["identifier: uuid.uuid4()"],
    ),
    "how many messages there are": (
        "def _create_head(messages):\n    return f'So far {len(messages)} messages. '\ndef ask(h):\n    send(_create_head(h) + RULES, h)",
        ["counter: len(messages)"],
    ),
    "the end of a history that is answered": (
        "def ask(h, llm):\n    return llm.complete(messages=h[-4:])",
        ["window: h[-4:]"],
    ),
    "a tool of a mode": (
        "def ask(h, agent):\n    tools = [{'name': 'a'}]\n    if agent.mode == 'plan':\n        tools.append({'name': 'answer', 'description': RULES})\n    return client.chat.completions.create(model='m', tools=tools, messages=h)",
        ["tools: agent.mode == 'plan'"],
    ),
    "the name of a user": ('def ask(h, user):\n    send(f"{user.name}. " + RULES, h)', ["person: user.name"]),
    "text that was looked up": (
        'def ask(h, context):\n    send(f"{context}. " + RULES, h)',
        ["retrieved text: context"],
    ),
    "a context that is built for the question": (
        "def ask(h, knowledge, question):\n    build_context = getattr(knowledge, 'build_context')\n    knowledge_context = build_context(question)\n    send(f'{knowledge_context} ' + RULES, h)",
        ["retrieved text: knowledge_context"],
    ),
    "a text that is rendered": (
        "def ask(h, render_text, answer):\n    send(render_text(f'{answer} {uuid.uuid4()}') + RULES, h)",
        ["identifier: uuid.uuid4()"],
    ),
    "a message with the name of its role": (
        "SYSTEM = 'system'\ndef ask(h):\n    return [Message(role=SYSTEM, content=f'{datetime.now()} ' + RULES), *h]",
        ["clock: datetime.now()"],
    ),
    "tools of a server": (
        "def ask(h, session):\n    tools = session.list_tools()\n    send(', '.join(tool.title for tool in tools) + RULES, h)",
        ["unordered iteration: session.list_tools()"],
    ),
    "a prompt with the time": (
        "def ask(h):\n    system_prompt = f'It is {datetime.now()}. ' + RULES\n    return system_prompt",
        ["clock: datetime.now()"],
    ),
    "a step that is told by its number": (
        "def ask(h, steps):\n    for index, step in enumerate(steps):\n        send(f'Step {index}. ' + RULES, h)",
        ["counter: enumerate(steps)"],
    ),
    "a first message that is dropped": (
        "def ask(h):\n    messages = list(h)\n    if len(messages) > 20:\n        messages.pop(0)\n    return client.responses.create(model='m', input=messages)",
        ["window: messages.pop(0)"],
    ),
    "a date in front of the rules of a template": (
        "TEXT = 'It is {day}. ' + RULES + '{query}'\ndef ask(q):\n    prompt = TEXT.format(day=date.today(), query=q)\n    return client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': prompt}])",
        ["clock: date.today()"],
    ),
    "two clocks in two branches are one": (
        "def ask(h, zone):\n    now = datetime.now(zone) if zone else datetime.now()\n    send(f'{now} ' + RULES, h)",
        ["clock: datetime.now(zone)"],
    ),
    "memories in front of the rules": (
        "def ask(h, memories):\n    return {'role': 'system', 'content': ''.join(memory.text for memory in memories) + RULES}",
        ["retrieved text: memories"],
    ),
    "texts of what was looked up": (
        'def ask(h, docs):\n    send("".join(doc.page_content for doc in docs) + RULES, h)',
        ["retrieved text: docs"],
    ),
    "an id in the text of an object": (
        'def ask(h):\n    note = Message(content=f"Note {uuid.uuid4()}.")\n    send(f"{note} " + RULES, h)',
        ["identifier: uuid.uuid4()"],
    ),
    "a set that is printed": (
        'def ask(h, card):\n    send(json.dumps({"tags": list({"a", "b"})}) + RULES, h)',
        ['unordered iteration: {"a", "b"}'],
    ),
    "a request of messages": (
        "def ask(h):\n    return ChatRequest(tools=list({'a', 'b'}), messages=h)",
        ["unordered iteration: {'a', 'b'}"],
    ),
    "a window over a conversation": (
        "def ask(h):\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *h[-20:]])",
        ["window: h[-20:]"],
    ),
    "a key that is made anew": (
        "class Keys:\n    def get(self):\n        self._key = uuid.uuid4().hex\n        return self._key\n    def ask(self, h):\n        return client.responses.create(model='m', input=h, prompt_cache_key=self.get())",
        ["cache key: uuid.uuid4()"],
    ),
    "a message with its role, by a call": (
        "def ask(h):\n    return [dict(role='system', content=f'{datetime.now()} ' + RULES), *h]",
        ["clock: datetime.now()"],
    ),
    "a date in front of the question": (
        "def ask(question):\n    prompt = f'Today is {date.today()}. {RULES} Answer: {question}.'\n    return client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': prompt}])",
        ["clock: date.today()"],
    ),
    "drawn examples": (
        "def ask(h):\n    shots = random.sample(POOL, 4)\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *shots, *h])",
        ["examples: random.sample(POOL, 4)"],
    ),
    "drawn examples, one by one": (
        "def ask(h):\n    messages = [{'role': 'system', 'content': RULES}]\n    for shot in random.sample(POOL, 4):\n        messages.append({'role': 'user', 'content': shot['content']})\n    return client.chat.completions.create(model='m', messages=messages + h)",
        ["examples: random.sample(POOL, 4)"],
    ),
    "shuffled examples": (
        "def ask(h):\n    shots = list(POOL)\n    random.shuffle(shots)\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *shots, *h])",
        ["examples: random.shuffle(shots)"],
    ),
    "a file behind the date": (
        'def ask(h):\n    send(f"{date.today()} " + open("rules.md").read(), h)',
        ["clock: date.today()"],
    ),
    "an opened file behind the date": (
        'def ask(h):\n    with open("rules.md") as file:\n        text = file.read()\n    send(f"{date.today()} {text}", h)',
        ["clock: date.today()"],
    ),
    "a file beside the code behind the date": (
        "HERE = Path(__file__).parent\ndef ask(h):\n    send(f\"{date.today()} {(HERE / 'rules.md').read_text()}\", h)",
        ["clock: date.today()"],
    ),
    "a file of the package behind the date": (
        'def ask(h):\n    send(f"{date.today()} " + resources.files("app").joinpath("rules.md").read_text(), h)',
        ["clock: date.today()"],
    ),
    "tools by the members of a set": (
        "def ask(h, names, tools):\n    chosen = [tools[name] for name in set(names)]\n    return client.chat.completions.create(model='m', tools=chosen, messages=h)",
        ["unordered iteration: set(names)"],
    ),
    "a date as the locale has it": (
        "def ask(h, day):\n    send(f\"Valid from {day.strftime('%x')}. \" + RULES, h)",
        ["locale: day.strftime('%x')"],
    ),
    "an id that is made on every call": (
        "def session(state):\n    return f'session_{uuid.uuid4().hex}'\ndef ask(h, state):\n    return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, {'role': 'user', 'content': f'Saved as {session(state)}; read it again if need be.'}, *h])",
        ["identifier: uuid.uuid4()"],
    ),
    "a key of the request": (
        "def ask(h, request_id=None):\n    wanted = request_id or uuid.uuid4()\n    return client.responses.create(model='m', input=h, prompt_cache_key=str(wanted))",
        ["cache key: uuid.uuid4()"],
    ),
    "how long ago something was": (
        "def ask(h, seen):\n    send(f'Seen {time.time() - seen:.1f} s ago. ' + RULES, h)",
        ["relative time: time.time() - seen"],
    ),
    "a set as the answer that is asked for": (
        "def chosen(kind, tools):\n    every = {'a', 'b'}\n    if kind == 'some':\n        return [tool for tool in tools]\n    return list(every)\ndef ask(h, tools):\n    client.chat.completions.create(model='m', tools=chosen('all', tools), messages=h)",
        ["unordered iteration: every"],
    ),
    "a clock that is switched on": (
        "def head(dated):\n    return f'{datetime.now()} ' if dated else 'Hello. '\ndef ask(h):\n    send(head(True) + RULES, h)",
        ["clock: datetime.now()"],
    ),
    "a text that is drawn": (
        "def ask(h, greetings):\n    send(f'{random.choice(greetings)} ' + RULES, h)",
        ["identifier: random.choice(greetings)"],
    ),
    "the id of a record": (
        "def ask(h, as_plain):\n    record = as_plain(str(uuid.uuid4()))\n    send(f'{record.get(\"record_id\")} ' + RULES, h)",
        ["identifier: uuid.uuid4()"],
    ),
    "what fills one of two templates": (
        "def ask(h, short, memories):\n    text = 'It is {day}. {memories} ' + RULES if short else 'On {day}: {memories} ' + RULES\n    text = text.replace('{day}', str(date.today()))\n    send(text.format(memories=''.join(memory.text for memory in memories)), h)",
        ["clock: date.today()", "retrieved text: memories"],
    ),
    "the end of a history that nobody judges": (
        "class Desk:\n    def pick(self, h):\n        return client.chat.completions.create(model='m', messages=[{'role': 'system', 'content': RULES}, *h[-6:]])",
        ["window: h[-6:]"],
    ),
    "what is rendered": (
        "import chevron\ndef ask(h):\n    send(chevron.render(template=RULES, data={'name': ''.join(random.choices(string.ascii_letters, k=9))}) + RULES, h)",
        ["identifier: random.choices(string.ascii_letters, k=9)"],
    ),
}


@pytest.mark.parametrize(("code", "expected"), GUILTY.values(), ids=GUILTY)
def test_its_twin_is_told(code, expected):
    assert told(found_in(HEAD + code)) == expected


LEVELS = {
    "an id in a message that is sent once": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': f'{uuid.uuid4()} ' + RULES}])",
        Level.WARNING,
    ),
    "an id of a thing that such a message is about": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': json.dumps(made()) + RULES}])",
        Level.INFO,
    ),
    "the order of what such a message is about": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': ', '.join({*context}) + RULES}])",
        Level.INFO,
    ),
    "a clock in a system prompt": ("send(f'{datetime.now()} ' + RULES, h)", Level.ERROR),
    "a place by its name": ("send(f'{workspace_path} ' + RULES, h)", Level.WARNING),
    "a clock in a message that is sent once": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': f'{datetime.now()} ' + RULES}])",
        Level.WARNING,
    ),
    "what a message that is sent once is about": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': f'{context} ' + RULES}])",
        Level.INFO,
    ),
}


@pytest.mark.parametrize(("sent", "level"), LEVELS.values(), ids=LEVELS)
def test_how_bad_it_is_depends_on_the_place_and_on_what_speaks_for_it(sent, level):
    found = found_in(HEAD + f"def ask(h, context, workspace_path):\n    {sent}")
    assert [finding.level for finding in source_findings(found)] == [level]
