"""Where a prompt is sent, and what stands where in it."""

# ruff: noqa: E501 - tables, a case a line

from __future__ import annotations

import pytest

from tests.support.python_sources import LONG, found_in, told

HEAD = f'''
import json, uuid, random
from datetime import date, datetime
RULES = """{LONG}"""
SHORT = "Be brief."
now = datetime.now
'''
NOW = "f'{datetime.now()} {RULES}'"
CALLS = {
    "openai chat": "from openai import OpenAI\ndef ask(h):\n    OpenAI().chat.completions.create(model='m', messages=[{'role': 'system', 'content': NOW}, *h])",
    "openai developer": "def ask(client, h):\n    client.chat.completions.create(model='m', messages=[{'role': 'developer', 'content': NOW}, *h])",
    "openai raw response": "def ask(client, h):\n    client.chat.completions.with_raw_response.create(messages=[{'role': 'system', 'content': NOW}, *h])",
    "openai parse": "def ask(client, h):\n    client.beta.chat.completions.parse(messages=[{'role': 'system', 'content': NOW}, *h])",
    "openai responses": "def ask(client, h):\n    client.responses.create(model='m', instructions=NOW, input=h)",
    "openai responses, input": "def ask(client, h):\n    client.responses.create(model='m', input=[{'role': 'system', 'content': [{'type': 'input_text', 'text': NOW}]}, *h])",
    "openai assistants": "def ask(client):\n    client.beta.assistants.create(model='m', instructions=NOW)",
    "arguments in a mapping": "def ask(client, h):\n    body = {'model': 'm', 'messages': [{'role': 'system', 'content': NOW}, *h]}\n    client.chat.completions.create(**body)",
    "arguments set one by one": "def ask(client, h):\n    kw = {}\n    kw['messages'] = [{'role': 'system', 'content': NOW}] + h\n    client.chat.completions.create(**kw)",
    "message typed": "from openai.types.chat import ChatCompletionSystemMessageParam as M\ndef ask(client, h):\n    client.chat.completions.create(messages=[ChatCompletionSystemMessageParam(role='system', content=NOW), *h])",
    "inserted in front": "def ask(client, h):\n    messages = list(h)\n    messages.insert(0, {'role': 'system', 'content': NOW})\n    client.chat.completions.create(messages=messages)",
    "anthropic": "def ask(client, h):\n    client.messages.create(model='m', system=NOW, messages=h)",
    "anthropic blocks": "def ask(client, h):\n    client.messages.create(system=[{'type': 'text', 'text': NOW, 'cache_control': {'type': 'ephemeral'}}], messages=h)",
    "anthropic stream": "def ask(client, h):\n    with client.messages.stream(system=NOW, messages=h) as stream:\n        return stream",
    "gemini": "from google.genai import types\ndef ask(client, h):\n    client.models.generate_content(model='m', contents=h, config=types.GenerateContentConfig(system_instruction=NOW))",
    "gemini, mapping": "def ask(client, h):\n    client.aio.models.generate_content(model='m', contents=h, config={'system_instruction': NOW})",
    "gemini, old": "import google.generativeai as genai\ndef ask(h):\n    model = genai.GenerativeModel('m', system_instruction=NOW)\n    return model.generate_content(h)",
    "bedrock converse": "def ask(client, h):\n    client.converse(modelId='m', system=[{'text': NOW}], messages=h)",
    "bedrock invoke": "def ask(client, h):\n    client.invoke_model(modelId='m', body=json.dumps({'system': NOW, 'messages': h}))",
    "litellm": "import litellm\ndef ask(h):\n    litellm.completion(model='m', messages=[{'role': 'system', 'content': NOW}, *h])",
    "litellm, async": "from litellm import acompletion\nasync def ask(h):\n    await acompletion('m', [{'role': 'system', 'content': NOW}, *h])",
    "ollama": "import ollama\ndef ask(h):\n    ollama.chat(model='m', messages=[{'role': 'system', 'content': NOW}, *h])",
    "chat template": "def ask(tokenizer, h):\n    return tokenizer.apply_chat_template([{'role': 'system', 'content': NOW}, *h], tokenize=False)",
    "vllm chat": "from vllm import LLM\ndef ask(h):\n    LLM('m').chat([{'role': 'system', 'content': NOW}, *h])",
    "langchain messages": "from langchain_core.messages import SystemMessage\ndef ask(llm, h):\n    llm.invoke([SystemMessage(content=NOW), *h])",
    "langchain tuples": "def ask(llm, h):\n    llm.invoke([('system', NOW), *h])",
    "langchain template": "from langchain_core.prompts import ChatPromptTemplate\ndef build():\n    return ChatPromptTemplate.from_messages([('system', NOW), ('placeholder', '{messages}')])",
    "langchain text": "from langchain_core.prompts import ChatPromptTemplate\ndef build():\n    t = ChatPromptTemplate.from_messages([('system', '{when} ' + RULES), ('human', '{question}')])\n    return t.partial(when=datetime.now())",
    "langchain partial variables": "from langchain.prompts import PromptTemplate, SystemMessagePromptTemplate\ndef build():\n    return SystemMessagePromptTemplate(prompt=PromptTemplate(template='{when} ' + RULES, input_variables=[], partial_variables={'when': datetime.now()}))",
    "langchain chain": "from langchain_core.prompts import ChatPromptTemplate\ndef ask(llm, q):\n    chain = ChatPromptTemplate.from_messages([('system', '{when} ' + RULES), ('human', '{question}')]) | llm\n    return chain.invoke({'when': datetime.now(), 'question': q})",
    "llama_index": "from llama_index.core.llms import ChatMessage, MessageRole\ndef ask(llm, h):\n    llm.chat([ChatMessage(role=MessageRole.SYSTEM, content=NOW), *h])",
    "llama_index engine": "def build(index):\n    return index.as_chat_engine(system_prompt=NOW)",
    "pydantic_ai": "from pydantic_ai import Agent\ndef build():\n    return Agent('m', system_prompt=NOW)",
    "pydantic_ai decorator": "from pydantic_ai import Agent\nagent = Agent('m')\n@agent.system_prompt\ndef when(ctx) -> str:\n    return NOW",
    "pydantic_ai instructions": "from pydantic_ai import Agent\nagent = Agent('m')\n@agent.instructions\ndef when() -> str:\n    return NOW",
    "openai agents": "from agents import Agent\ndef build():\n    return Agent(name='desk', instructions=NOW)",
    "openai agents, function": "from agents import Agent\ndef when(context, agent):\n    return NOW\nagent = Agent(name='desk', instructions=when)",
    "crewai": "from crewai import Agent\ndef build():\n    return Agent(role='clerk', goal='help', backstory=NOW)",
    "autogen": "from autogen import AssistantAgent\ndef build():\n    return AssistantAgent('desk', system_message=NOW)",
    "smolagents": "from smolagents import CodeAgent\ndef build(model):\n    return CodeAgent(model=model, tools=[], instructions=NOW)",
    "langgraph": "from langgraph.prebuilt import create_react_agent\ndef build(model):\n    return create_react_agent(model, [], prompt=NOW)",
    "dspy": "import dspy\ndef build(sig):\n    return sig.with_instructions(NOW)",
    "body of an HTTP request": "import httpx\ndef ask(h):\n    httpx.post('u', json={'model': 'm', 'system': NOW, 'messages': h})",
    "role and content": "def build():\n    return {'role': 'system', 'content': NOW}",
    "name of a variable": "def build():\n    system_prompt = NOW\n    return system_prompt",
    "name of an attribute": "class Desk:\n    def build(self):\n        self.system_prompt = NOW",
    "name of a constant": "SYSTEM = NOW",
    "name of a function": "def build_system_prompt():\n    return NOW",
    "name of a key": "def build():\n    return {'name': 'desk', 'system_prompt': NOW}",
    "name of an argument": "def build(desk):\n    return desk.start(system_prompt=NOW)",
}  # fmt: skip


@pytest.mark.parametrize("code", CALLS.values(), ids=CALLS.keys())
def test_a_clock_in_system_text_is_found_however_it_is_sent(code):
    found = found_in(HEAD + code.replace("NOW", NOW))
    assert told(found) == ["clock: datetime.now()"]
    assert found[0].area == "system"


def test_a_builder_can_be_named():
    code = HEAD + f"class Desk:\n    def opening(self):\n        return {NOW}\n"
    assert told(found_in(code)) == []
    for name in ("opening", "Desk.opening", "app.main:Desk.opening"):
        assert told(found_in(code, builders=(name,))) == ["clock: datetime.now()"]


SILENT = {
    "newest message": "def ask(client, h, q):\n    client.messages.create(system=RULES, messages=[*h, {'role': 'user', 'content': f'{q} ({datetime.now()})'}])",
    "newest message, appended": "def ask(client, h, q):\n    h.append({'role': 'user', 'content': f'It is {datetime.now()}. {q}'})\n    client.messages.create(system=RULES, messages=h)",
    "only message, short": "def ask(client, q):\n    client.chat.completions.create(messages=[{'role': 'user', 'content': f'It is {datetime.now()}. {q}'}])",
    "tool result": "def ask(client, h):\n    h.append({'role': 'tool', 'content': str(datetime.now())})\n    client.chat.completions.create(messages=h)",
    "answer": "def ask(client, h):\n    client.chat.completions.create(messages=[{'role': 'system', 'content': RULES}, {'role': 'assistant', 'content': f'{datetime.now()}'}, *h])",
    "header": "def ask(client, h):\n    client.messages.create(system=RULES, messages=h, extra_headers={'x-id': str(uuid.uuid4())})",
    "metadata": "def ask(client, h):\n    client.responses.create(instructions=RULES, input=h, metadata={'id': str(uuid.uuid4())}, user=str(uuid.uuid4()))",
    "end of a single call": "def ask(client, q):\n    client.chat.completions.create(messages=[{'role': 'system', 'content': f'{RULES} {datetime.now()}'}, {'role': 'user', 'content': q}])",
    "day at the end": "def ask(client, h):\n    client.messages.create(system=f'{RULES} Today is {date.today()}.', messages=h)",
    "person at the end": "def ask(client, h, user):\n    client.messages.create(system=f'{RULES} The user is {user.name}.', messages=h)",
    "the question": "def ask(client, h, question):\n    client.messages.create(system=f'{RULES} {question}', messages=h)",
    "version": "def ask(client, h, version):\n    client.messages.create(system=f'Rules {version}. {RULES}', messages=h)",
    "log line": "import logging\ndef ask(client, h):\n    logging.info('system prompt sent at %s', datetime.now())\n    client.messages.create(system=RULES, messages=h)",
    "file name": "def ask(client, h):\n    open(f'prompt-{datetime.now()}.txt', 'w').write(RULES)",
    "text message": "def send(twilio):\n    twilio.messages.create(body=f'It is {datetime.now()}', to='1', from_='2')",
    "shell prompt": "def loop():\n    prompt = f'[{datetime.now():%H:%M}] user@host> '\n    return input(prompt)",
    "name of a system": "import platform\ndef where():\n    system = platform.system()\n    return system",
    "key of a conversation": "class Chat:\n    def __init__(self):\n        self.key = str(uuid.uuid4())\n    def ask(self, client, h):\n        client.responses.create(instructions=RULES, input=h, prompt_cache_key=self.key)",
    "key made before the loop": "def talk(client, h):\n    key = str(uuid.uuid4())\n    while True:\n        h.append(client.responses.create(instructions=RULES, input=h, prompt_cache_key=key))",
    "sorted tools": "async def ask(client, session, h):\n    tools = sorted(await session.list_tools(), key=lambda t: t.name)\n    client.messages.create(system=RULES, tools=tools, messages=h)",
    "tools by configuration": "def ask(client, config, h):\n    tools = [1]\n    if config.search_enabled:\n        tools.append(2)\n    client.messages.create(system=RULES, tools=tools, messages=h)",
    "last message": "def ask(client, h):\n    client.messages.create(system=RULES, messages=h[-1:])",
    "first messages": "def ask(client, h):\n    client.messages.create(system=RULES, messages=h[:10])",
    "last lines of a log": "def tail(lines):\n    return lines[-20:]",
    "first message taken off": "def ask(client, h):\n    system = h.pop(0)\n    client.messages.create(system=system, messages=h)",
    "schema": "def ask(client, h):\n    client.messages.create(system=RULES + json.dumps({'b': 1, 'a': 2}), messages=h)",
    "training data": "def row(q, a):\n    return {'messages': [{'role': 'user', 'content': f'{datetime.now()} {q}'}, {'role': 'assistant', 'content': a}]}",
}  # fmt: skip


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT.keys())
def test_what_costs_nothing_is_not_told(code):
    assert told(found_in(HEAD + code)) == []


KINDS = {
    "window": ("def ask(client, h):\n    client.messages.create(system=RULES, messages=h[-6:])", "window: h[-6:]", "messages"),
    "window of a size": ("def ask(client, h, limit):\n    client.messages.create(system=RULES, messages=h[-limit:])", "window: h[-limit:]", "messages"),
    "window behind the system": (
        "def ask(client, h):\n    client.chat.completions.create(messages=[{'role': 'system', 'content': RULES}] + h[-8:])",
        "window: h[-8:]",
        "messages",
    ),
    "window, spread": (
        "def ask(client, h):\n    client.chat.completions.create(messages=[{'role': 'system', 'content': RULES}, *h[-8:]])",
        "window: h[-8:]",
        "messages",
    ),
    "window by length": (
        "def ask(client, h):\n    if len(h) > 50:\n        h = h[-50:]\n    client.messages.create(system=RULES, messages=h)",
        "window: h[-50:]",
        "messages",
    ),
    "window by dropping": (
        "def ask(client, h):\n    while len(h) > 20:\n        h.pop(0)\n    client.messages.create(system=RULES, messages=h)",
        "window: h.pop(0)",
        "messages",
    ),
    "window by deleting": (
        "def ask(client, h):\n    if len(h) > 20:\n        del h[0:2]\n    client.messages.create(system=RULES, messages=h)",
        "window: h[0:2]",
        "messages",
    ),
    "trim_messages": (
        "from langchain_core.messages import trim_messages\ndef ask(client, h):\n"
        "    client.messages.create(system=RULES, messages=trim_messages(h, max_tokens=9))",
        "window: trim_messages(h, max_tokens=9)",
        "messages",
    ),
    "cache key": (
        "def ask(client, h):\n    client.responses.create(instructions=RULES, input=h, prompt_cache_key=str(uuid.uuid4()))",
        "cache key: uuid.uuid4()",
        "params",
    ),
    "cache key in a mapping": (
        "def ask(client, h):\n    client.responses.create(**{'instructions': RULES, 'input': h, 'prompt_cache_key': f'k-{uuid.uuid4()}'})",
        "cache key: uuid.uuid4()",
        "params",
    ),
    "cache salt": (
        "def ask(client, h):\n    client.chat.completions.create(messages=h, extra_body={'cache_salt': uuid.uuid4().hex})",
        "cache key: uuid.uuid4()",
        "params",
    ),
    "tools of a set": (
        "def ask(client, h):\n    client.messages.create(system=RULES, messages=h, tools=[t.schema() for t in {h, client}])",
        "unordered iteration: {h, client}",
        "tools",
    ),
    "tools as they are served": (
        "async def ask(client, session, h):\n    listed = await session.list_tools()\n"
        "    client.messages.create(system=RULES, messages=h, tools=[{'name': t.name} for t in listed.tools])",
        "unordered iteration: session.list_tools()",
        "tools",
    ),
    "tools by mode": (
        "def ask(client, h, plan_mode):\n    tools = [1]\n    if plan_mode:\n        tools.append(2)\n"
        "    client.messages.create(system=RULES, messages=h, tools=tools)",
        "tools: plan_mode",
        "tools",
    ),
    "clock in a tool": (
        "def ask(client, h):\n    tools = [{'name': 'book', 'description': f'Books a room. Now: {datetime.now()}'}]\n"
        "    client.messages.create(system=RULES, messages=h, tools=tools)",
        "clock: datetime.now()",
        "tools",
    ),
    "schema of a set": (
        "def ask(client, h):\n    tools = [{'name': 'book', 'parameters': {'enum': list({'a', 'b'})}}]\n"
        "    client.messages.create(system=RULES, messages=h, tools=tools)",
        "unordered iteration: {'a', 'b'}",
        "tools",
    ),
    "long user message": (
        "def ask(client, q):\n    client.chat.completions.create(messages=[{'role': 'user', 'content': f'{datetime.now()} {RULES} {q}'}])",
        "clock: datetime.now()",
        "messages",
    ),
    "long prompt": (
        "def ask(client, q):\n    client.completions.create(prompt=f'{datetime.now()} {RULES} {q}')",
        "clock: datetime.now()",
        "messages",
    ),
    "passages": (
        "def ask(client, retriever, h, q):\n    found = retriever.invoke(q)\n    text = ' '.join(d.page_content for d in found)\n"
        "    client.messages.create(system=f'{RULES} Passages: {text}', messages=h)",
        "retrieved text: retriever.invoke(q)",
        "system",
    ),
    "passages by name": (
        "def ask(client, h, context):\n    client.messages.create(system=f'Use {context}. {RULES}', messages=h)",
        "retrieved text: context",
        "system",
    ),
    "person in front": (
        "def ask(client, h, user):\n    client.messages.create(system=f'You help {user.name}. {RULES}', messages=h)",
        "person: user.name",
        "system",
    ),
    "id by name": (
        "def ask(client, h, request_id):\n    client.messages.create(system=f'{request_id} {RULES}', messages=h)",
        "identifier: request_id",
        "system",
    ),
    "few shot selector": (
        "from langchain_core.prompts import FewShotPromptTemplate\ndef build(selector):\n"
        "    return FewShotPromptTemplate(example_selector=selector, prefix='Examples:', suffix=RULES)",
        "examples: selector",
        "system",
    ),
    "placeholder of a template": (
        "from langchain_core.prompts import ChatPromptTemplate\n"
        "PROMPT = ChatPromptTemplate.from_messages([('system', 'Today is {current_date}. ' + RULES), ('human', '{question}')])",
        "clock: {current_date}",
        "system",
    ),
    "placeholder of Jinja": (
        "from jinja2 import Template\ndef ask(client, h):\n    text = Template('It is {{ now }}. ' + RULES).render(now=datetime.now())\n"
        "    client.messages.create(system=text, messages=h)",
        "clock: datetime.now()",
        "system",
    ),
    "loop of Jinja": (
        "from jinja2 import Template\nT = Template('{% for t in topics %}- {{ t }}\\n{% endfor %}' + RULES)\ndef ask(client, h):\n"
        "    client.messages.create(system=T.render(topics={'a', 'b'}), messages=h)",
        "unordered iteration: {'a', 'b'}",
        "system",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected", "area"), KINDS.values(), ids=KINDS.keys())
def test_kinds_and_areas(code, expected, area):
    found = found_in(HEAD + code)
    assert told(found) == [expected]
    assert found[0].area == area


def test_tokens_behind_are_counted_in_cache_order():
    code = HEAD + (
        "def ask(client, h):\n    tools = [{'name': 'book', 'description': f'{datetime.now()}' + 'x ' * 200}]\n"
        "    client.messages.create(messages=h, system='y ' * 200 + str(uuid.uuid4()), tools=tools)"
    )
    behind = {str(found.kind): found.stable_behind for found in found_in(code)}
    assert behind == {"clock": 200, "identifier": 0}


def test_constant_text_of_unknown_length_makes_the_count_unknown():
    code = (
        "import uuid\nfrom pathlib import Path\nRULES = Path('rules.md').read_text()\n"
        "def ask(client, h):\n    client.messages.create(system=f'{uuid.uuid4()} {RULES}', messages=h)"
    )
    (found,) = found_in(code)
    assert found.stable_behind is None
    assert "constant text of unknown length stands behind it: RULES" in found.evidence


def test_confidence_says_how_sure_both_ends_are():
    by_call = "def ask(client, h):\n    client.messages.create(system=f'{datetime.now()} {RULES}', messages=h)"
    by_name = "def system_prompt():\n    return f'{datetime.now()} {RULES}'"
    named = (
        "def ask(client, h, current_time):\n    client.messages.create(system=f'{current_time} {RULES}', messages=h)"
    )
    both = "def system_prompt(current_time):\n    return f'{current_time} {RULES}'"
    found = [found_in(HEAD + code)[0].confidence for code in (by_call, by_name, named, both)]
    assert found == ["certain", "likely", "likely", "possible"]


def test_a_parameter_is_not_told_beside_what_it_is_given():
    code = HEAD + (
        "def system_prompt(now):\n    return f'{now} {RULES}'\n"
        "def ask(client, h):\n    client.messages.create(system=system_prompt(datetime.now()), messages=h)"
    )
    assert told(found_in(code)) == ["clock: datetime.now()"]
