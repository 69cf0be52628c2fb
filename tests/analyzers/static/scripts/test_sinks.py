# ruff: noqa: E501 - scripts, a line each
"""Where prompts are sent, or named like one, and in which area a value gets."""

from __future__ import annotations

import pytest

from prefixwise.analyzers.static.findings import source_findings
from prefixwise.core.finding import Level
from tests.support.scripts import RULES, found, read, sent

SINKS = {
    "openai chat": "client.chat.completions.create({ model, messages: [{ role: 'system', content: $ }, ...history] })",
    "openai chat, developer": "client.chat.completions.stream({ model, messages: [{ role: 'developer', content: $ }, ...history] })",
    "openai parse": "client.beta.chat.completions.parse({ model, messages: [{ role: 'system', content: [{ type: 'text', text: $ }] }] })",
    "openai responses": "client.responses.create({ model, instructions: $, input })",
    "openai responses, a list": "client.responses.create({ model, input: [{ role: 'system', content: $ }, ...history] })",
    "anthropic": "client.messages.create({ model, system: $, messages })",
    "anthropic stream": "client.messages.stream({ model, system: [{ type: 'text', text: $, cache_control: { type: 'ephemeral' } }], messages })",
    "anthropic beta": "client.beta.messages.create({ model, system: $, messages })",
    "gemini": "ai.models.generateContent({ model, contents, config: { systemInstruction: $ } })",
    "gemini chat": "ai.chats.create({ model, history, config: { systemInstruction: { parts: [{ text: $ }] } } })",
    "gemini, the older kit": "genAI.getGenerativeModel({ model, systemInstruction: $ })",
    "bedrock converse": "bedrock.send(new ConverseCommand({ modelId, system: [{ text: $ }, { cachePoint: { type: 'default' } }], messages }))",
    "bedrock invoke": "bedrock.send(new InvokeModelCommand({ modelId, body: JSON.stringify({ anthropic_version: 'v', system: $, messages }) }))",
    "ai sdk": "generateText({ model, system: $, messages })",
    "ai sdk stream": "streamText({ model, system: $, messages: convertToModelMessages(messages) })",
    "ai sdk object": "generateObject({ model, schema, system: $, prompt: question })",
    "ai sdk agent": "new ToolLoopAgent({ model, instructions: $ })",
    "ai sdk, system in messages": "streamText({ model, messages: [{ role: 'system', content: $, providerOptions: {} }, ...messages] })",
    "mastra": "new Agent({ name: 'a', model, instructions: $ })",
    "mastra, a function": "new Agent({ name: 'a', model, instructions: async () => $ })",
    "mastra, a method": "new Agent({ name: 'a', model, instructions() { return $; } })",
    "openai agents": "new Agent({ name: 'a', instructions: () => $, tools: [] })",
    "langchain messages": "llm.invoke([new SystemMessage($), ...history])",
    "langchain message object": "llm.stream([new SystemMessage({ content: $ }), new HumanMessage(question)])",
    "langchain prompt": "ChatPromptTemplate.fromMessages([['system', $], new MessagesPlaceholder('history'), ['human', '{question}']])",
    "langchain template": "SystemMessagePromptTemplate.fromTemplate($)",
    "langgraph": "createReactAgent({ llm, tools, prompt: $ })",
    "langchain agent": "createAgent({ model, tools, systemPrompt: $ })",
    "claude agent": "query({ prompt: question, options: { systemPrompt: $ } })",
    "by hand": "fetch(url, { method: 'POST', body: JSON.stringify({ model, messages: [{ role: 'system', content: $ }, ...history] }) })",
    "a body kept": "(() => { const body = { model, stream: true, messages: [{ role: 'system', content: $ }, ...history] }; return post(body); })()",
    "a message put in front": "messages.unshift({ role: 'system', content: $ })",
    "a conditional message": "llm.chat({ model, messages: [...(on ? [{ role: 'system', content: $ }] : []), ...history] })",
}  # fmt: skip


@pytest.mark.parametrize("sink", SINKS.values(), ids=SINKS)
@pytest.mark.parametrize("path", ["src/app.ts", "src/app.mjs"])
def test_system_text_is_found_where_it_is_sent(sink: str, path: str) -> None:
    code = f'const RULES = "{RULES}";\nexport function f(question, history, messages, input) {{ return {sink}; }}'
    volatiles, notes = read(code.replace("$", "`${new Date()} ${RULES}`"), path)
    assert [(one.kind, one.area, one.confidence) for one in volatiles] == [("clock", "system", "likely")]
    assert notes == ()
    assert read(code.replace("$", "`${RULES} It ends here.`"), path) == ((), ())


@pytest.mark.parametrize(
    ("code", "confidence"),
    [
        ("history.push({ role: 'system', content: $ });", None),
        ("const note = { role: 'system', content: $ }; const all = [...history, note];", None),
        ("const first = { role: 'system', content: $ }; const all = [first, ...history];", "possible"),
        ("const all = []; all.push({ role: 'system', content: $ });", "possible"),
        ("history.unshift({ role: 'system', content: $ });", "likely"),
        ("const all = [{ role: 'system', content: $ }, ...history];", "likely"),
        ("const all = [...history, { role: 'system', content: $ }];", None),
        ("const all = [...history, { role: 'system', content: $ }, { role: 'user', content: q }];", None),
    ],
)
def test_where_a_system_message_is_put(code: str, confidence: str | None) -> None:
    text = f"`${{new Date()}} {RULES}`"
    volatiles, _ = read(f"export function f(history) {{ {code.replace('$', text)} return all; }}")
    assert [one.confidence for one in volatiles] == ([confidence] if confidence else [])


NAMED = {
    "a constant": "export const SYSTEM_PROMPT = () => $;",
    "a variable": "export function f() { const systemPrompt = $; return systemPrompt; }",
    "a function": "export function buildSystemPrompt() { return $; }",
    "an arrow": "export const getSystemPrompt = async (cwd: string) => $;",
    "a method": "export class A { systemPrompt() { return $; } }",
    "a property": "export const f = () => ({ name: 'x', systemPrompt: $ });",
    "a field": "export class A { set() { this.systemPrompt = $; } }",
    "agent instructions": "export const agentInstructions = () => $;",
}


@pytest.mark.parametrize("code", NAMED.values(), ids=NAMED)
def test_text_is_found_that_is_named_like_a_prompt(code: str) -> None:
    text = f"`${{new Date()}} {RULES}`"
    volatiles, _ = read(code.replace("$", text))
    assert [(one.kind, one.area, one.confidence) for one in volatiles] == [("clock", "system", "possible")]
    assert found(code.replace("$", f"`{RULES} It is ${{new Date()}}`")) == []


@pytest.mark.parametrize(
    "name",
    [
        "userPrompt",
        "promptTokens",
        "systemPromptPath",
        "systemPromptVersion",
        "promptForName",
        "imagePrompt",
        "system",
        "systemPromptCache",
        "confirmPrompt",
        "isSystemPrompt",
    ],
)
def test_other_names_with_such_words_are_no_prompts(name: str) -> None:
    assert found(f"export const f = () => {{ const {name} = `${{new Date()}} {RULES}`; return {name}; }};") == []


def test_a_prompt_by_name_that_is_the_newest_message_is_none() -> None:
    code = f"""const systemPrompt = () => `${{new Date()}} {RULES}`;
export const f = (history) =>
  client.messages.create({{ model: "m", messages: [...history, {{ role: "user", content: systemPrompt() }}] }});
"""
    assert found(code) == []
    assert found(code.replace("messages: [...history,", "system: systemPrompt(), messages: [...history,")) != []


def test_functions_that_the_user_names_are_prompts() -> None:
    code = f"export function briefing() {{ return `${{new Date()}} {RULES}`; }}"
    assert found(code) == []
    assert found(code, builders=("src/app:briefing",)) == [("clock", "new Date()")]
    body = code.replace("return `", "return [{ role: 'system', content: `").replace("`;", "` }];")
    assert found(body, builders=("briefing",)) == [("clock", "new Date()")]


TOOLS = {
    "a description": ("[{ type: 'function', function: { name: 'a', description: `Today is ${new Date()}.` } }]", ["clock"]),
    "a description, ai sdk": ("{ a: tool({ description: `Now ${Date.now()}`, inputSchema: z.object({}), execute: run }) }", ["clock"]),
    "an enum": ("[{ name: 'a', input_schema: { properties: { f: { enum: fs.readdirSync('x') } } } }]", ["unordered iteration"]),
    "a server's list": ("(await mcp.listTools()).tools.map((t) => ({ name: t.name }))", ["tools"]),
    "a server's list, sorted": ("(await mcp.listTools()).tools.map((t) => ({ name: t.name })).sort(byName)", []),
    "constant": ("[{ name: 'a', description: 'Adds.' }, { name: 'b', description: 'Takes away.' }]", []),
    "of a registry": ("registry.all().map((t) => t.definition)", []),
    "by mode": ("[read, ...(mode === 'plan' ? [exitPlan] : [])]", ["tools"]),
    "by a setting": ("[read, ...(config.search ? [search] : [])]", []),
    "an object by mode": ("{ read, ...(isConnected && { send }) }", ["tools"]),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "kinds"), TOOLS.values(), ids=TOOLS)
def test_tools_that_move(tools: str, kinds: list[str]) -> None:
    code = f"""import fs from "fs";
export const f = async (messages, mode, isConnected, config) =>
  client.messages.create({{ model: "m", tools: {tools}, system: "{RULES}", messages }});
"""
    volatiles, _ = read(code)
    assert [one.kind for one in volatiles] == kinds
    assert all(one.area == "tools" for one in volatiles)


WINDOWS = {
    "slice": ("messages: [sys, ...history.slice(-20)]", True),
    "slice by a name": ("messages: [sys, ...history.slice(-LIMIT)]", True),
    "mapped": ("messages: [sys, ...history.slice(-20).map((m) => ({ role: m.role, content: m.text }))]", True),
    "trimmed": ("messages: [sys, ...trimMessages(history, { maxTokens: 1000 })]", True),
    "only the newest": ("messages: [sys, ...history.slice(-1)]", False),
    "all but the first": ("messages: [sys, ...history.slice(1)]", False),
    "the first": ("messages: [sys, ...history.slice(0, 20)]", False),
    "other things": ("messages: [sys, ...rows.slice(-20)]", False),
}


@pytest.mark.parametrize(("messages", "slides"), WINDOWS.values(), ids=WINDOWS)
def test_windows_over_the_history(messages: str, slides: bool) -> None:
    code = f"""const sys = {{ role: "system" as const, content: "{RULES}" }};
export const f = (history) => client.chat.completions.create({{ model: "m", {messages} }});
"""
    assert [kind for kind, _ in found(code)] == (["window"] if slides else [])


def test_dropping_the_oldest_messages_is_a_window() -> None:
    code = f"""export async function f(messages) {{
  while (messages.length > 20) messages.shift();
  return client.messages.create({{ model: "m", system: "{RULES}", messages }});
}}
"""
    assert found(code) == [("window", "messages.shift()")]
    assert found(code.replace("while (messages.length > 20) ", "")) == []


def test_counters_that_go_on_from_call_to_call() -> None:
    code = f"""let calls = 0;
export const f = (history) => {{
  calls += 1;
  return client.messages.create({{ model: "m", system: `Call ${{calls}}. {RULES}`, messages: history }});
}};
"""
    assert found(code) == [("counter", "calls")]
    numbered = f"""export const f = (history, names) => {{
  let lines = "";
  for (let i = 0; i < 3; i++) lines += `${{i + 1}}. ${{names[i]}}`;
  let n = 0;
  for (const name of names) lines += `${{++n}}. ${{name}}`;
  return client.messages.create({{ model: "m", system: `${{lines}} {RULES}`, messages: history }});
}};
"""
    assert found(numbered) == []
    looped = f"""export async function f(history) {{
  let step = 0;
  while (go()) {{
    step++;
    await client.messages.create({{ model: "m", system: `Step ${{step}}. {RULES}`, messages: history }});
  }}
}}
"""
    assert found(looped) == [("counter", "step")]


KEYS = {
    "a new one each time": ("prompt_cache_key: crypto.randomUUID()", True),
    "by the clock": ("prompt_cache_key: `desk-${Date.now()}`", True),
    "of the conversation": ("prompt_cache_key: conversationId", False),
    "constant": ("prompt_cache_key: 'desk-v3'", False),
    "deep in options": ("providerOptions: { openai: { promptCacheKey: crypto.randomUUID() } }", True),
}


@pytest.mark.parametrize(("key", "moves"), KEYS.values(), ids=KEYS)
def test_cache_keys(key: str, moves: bool) -> None:
    code = f"""export const f = (history, conversationId) =>
  client.responses.create({{ model: "m", instructions: "{RULES}", input: history, {key} }});
"""
    volatiles, _ = read(code)
    assert [(one.kind, one.area) for one in volatiles] == ([("cache key", "params")] if moves else [])


def test_the_order_is_that_of_caches_not_of_the_file() -> None:
    code = f"""export const f = (messages, question) => client.messages.create({{
  model: "m",
  system: "{RULES}",
  messages: [{{ role: "user", content: question }}],
  tools: [{{ name: "a", description: `At ${{new Date()}}` }}],
}});
"""
    ((one,), _) = read(code)
    assert one.area == "tools"
    assert one.stable_behind is not None
    assert one.stable_behind > 10


PLACEHOLDERS = [
    ("Context: {context}\\n\\n", ["retrieved text"]),
    ("Today is {current_date}. ", ["clock"]),
    ("You talk with {user_name}. ", ["person"]),
    ("You are {agent_name}. ", []),
    ('As JSON: {{"date": "{{today}}"}}. ', []),
    ("{question} ", []),
]


@pytest.mark.parametrize(("text", "kinds"), PLACEHOLDERS)
def test_placeholders_of_langchain(text: str, kinds: list[str]) -> None:
    code = f"""export const prompt = ChatPromptTemplate.fromMessages([
  ["system", `{text}{RULES}`],
  ["placeholder", "{{chat_history}}"],
  ["human", "{{question}} at {{current_time}}"],
]);
"""
    volatiles, _ = read(code)
    assert [one.kind for one in volatiles] == kinds
    assert all(one.frequency != "process" for one in volatiles)


@pytest.mark.parametrize(
    ("expression", "imports", "level"),
    [
        ("currentTime", "", Level.WARNING),
        ("requestId", "", Level.WARNING),
        ("new Date()", "", Level.ERROR),
        ("crypto.randomUUID()", "", Level.ERROR),
        ("osName()", "import osName from 'os-name';", None),
        ("userMemory", "", Level.WARNING),
    ],
)
def test_a_name_alone_is_a_warning_at_most(expression: str, imports: str, level: Level | None) -> None:
    volatiles, _ = read(sent(expression, imports=imports))
    assert [finding.level for finding in source_findings(volatiles)] == ([level] if level is not None else [])
