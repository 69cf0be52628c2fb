# ruff: noqa: E501 - scripts, a line each
"""How values get into prompts: through variables, functions, classes, modules; twins of which nothing is to be said."""

from __future__ import annotations

import pytest

from tests.support.scripts import RULES, found, read, sent

HEAD = f'const RULES = "{RULES}";\n'
SEND = "client.chat.completions.create({ model: 'm', messages: [{ role: 'system', content: %s }, ...history] })"


def _sent(content: str) -> str:
    return SEND % content


MOVES = {
    "a variable": HEAD + "function f(history) { const now = new Date(); return " + _sent("`${now} ${RULES}`") + "; }",
    "let, set later": HEAD
    + "function f(history) { let head = ''; head = `${new Date()}`; return "
    + _sent("head + RULES")
    + "; }",
    "set in a branch": HEAD
    + "function f(history, on) { let head = 'x'; if (on) { head = `${new Date()}`; } return "
    + _sent("head + RULES")
    + "; }",
    "added to": HEAD
    + "function f(history) { let text = 'Hello. '; text += new Date(); text += RULES; return "
    + _sent("text")
    + "; }",
    "set to itself and more": HEAD
    + "function f(history) { let text = 'Hi. '; text = text + new Date() + RULES; return "
    + _sent("text")
    + "; }",
    "lines pushed": HEAD
    + "function f(history) { const lines = []; lines.push('Hi'); lines.push(`${new Date()}`, RULES); return "
    + _sent("lines.join('\\n')")
    + "; }",
    "a list joined": HEAD + "function f(history) { return " + _sent("[new Date(), RULES].join('\\n')") + "; }",
    "a list concatenated": HEAD
    + "function f(history) { return "
    + _sent("['x'].concat([`${new Date()}`], [RULES]).join('')")
    + "; }",
    "a list filtered": HEAD
    + "function f(history, on) { return "
    + _sent("[on && `${new Date()}`, RULES].filter(Boolean).map((s) => s.trim()).join('')")
    + "; }",
    "text concatenated": HEAD + "function f(history) { return " + _sent("'At '.concat(new Date(), RULES)") + "; }",
    "a ternary": HEAD + "function f(history, on) { return " + _sent("`${on ? new Date() : ''}${RULES}`") + "; }",
    "a default": HEAD + "function f(history, on) { return " + _sent("`${on ?? new Date()}${RULES}`") + "; }",
    "a function": HEAD
    + "function head() { return `${new Date()}`; }\nfunction f(history) { return "
    + _sent("head() + RULES")
    + "; }",
    "an arrow": HEAD
    + "const head = () => `${new Date()}`;\nconst f = (history) => "
    + _sent("head() + RULES")
    + ";",
    "awaited": HEAD
    + "const head = async () => { const at = new Date(); return `${at}`; };\nconst f = async (history) => "
    + _sent("(await head()) + RULES")
    + ";",
    "three deep": HEAD
    + "const a = () => `${new Date()}`;\nconst b = () => a();\nconst c = () => b();\nconst f = (history) => "
    + _sent("c() + RULES")
    + ";",
    "an argument": HEAD
    + "const head = (at: Date) => `${at} ${RULES}`;\nconst f = (history) => "
    + _sent("head(new Date())")
    + ";",
    "a default argument": HEAD
    + "const head = (at = new Date()) => `${at} ${RULES}`;\nconst f = (history) => "
    + _sent("head()")
    + ";",
    "an options argument": HEAD
    + "const head = ({ at, rules }) => `${at} ${rules}`;\nconst f = (history) => "
    + _sent("head({ rules: RULES, at: new Date() })")
    + ";",
    "from the caller": HEAD
    + "function f(history, system) { return "
    + _sent("system + RULES")
    + "; }\nexport const g = (h) => f(h, `${new Date()}`);",
    "from the caller, taken apart": HEAD
    + "function f({ history, at }) { return "
    + _sent("at + RULES")
    + "; }\nexport const g = (h) => f({ history: h, at: new Date().toISOString() });",
    "an object's field": HEAD
    + "function f(history) { const o = { at: new Date() }; return "
    + _sent("`${o.at} ${RULES}`")
    + "; }",
    "a field set later": HEAD
    + "function f(history) { const o: any = {}; o.at = new Date(); return "
    + _sent("`${o.at} ${RULES}`")
    + "; }",
    "taken apart": HEAD
    + "function f(history) { const { at = 'x' } = { at: new Date() }; return "
    + _sent("`${at} ${RULES}`")
    + "; }",
    "spread": HEAD
    + "function f(history) { const o = { ...{ at: new Date() } }; return "
    + _sent("`${o.at} ${RULES}`")
    + "; }",
    "a method": HEAD
    + "class A { head() { return `${new Date()}`; } f(history) { return "
    + _sent("this.head() + RULES")
    + "; } }",
    "a method of an object": HEAD
    + "class A { head() { return `${new Date()}`; } }\nconst a = new A();\nconst f = (history) => "
    + _sent("a.head() + RULES")
    + ";",
    "a getter": HEAD
    + "class A { get head() { return `${new Date()}`; } f(history) { return "
    + _sent("this.head + RULES")
    + "; } }",
    "a static method": HEAD
    + "class A { static head() { return `${new Date()}`; } }\nconst f = (history) => "
    + _sent("A.head() + RULES")
    + ";",
    "a method of a base class": HEAD
    + "class B { head() { return `${new Date()}`; } }\nclass A extends B { f(history) { return "
    + _sent("this.head() + RULES")
    + "; } }",
    "a method in an object": HEAD
    + "const p = { head: () => `${new Date()}`, tail() { return RULES; } };\nconst f = (history) => "
    + _sent("p.head() + p.tail()")
    + ";",
    "mapped": HEAD
    + "const f = (history) => "
    + _sent("['a', 'b'].map((x) => `${x} ${new Date()}`).join('') + RULES")
    + ";",
    "reduced": HEAD
    + "const f = (history) => "
    + _sent("['a'].reduce((all, x) => all + x + Date.now(), '') + RULES")
    + ";",
    "then": HEAD + "const f = async (history) => " + _sent("await go().then(() => `${new Date()}${RULES}`)") + ";",
    "a template filled in": "const T = 'At {{now}}. " + RULES + "';\nconst f = (history) => "
    + _sent("T.replace('{{now}}', new Date().toISOString())")
    + ";",
    "Mustache": "const T = 'At {{now}}. " + RULES + "';\nconst f = (history) => "
    + _sent("Mustache.render(T, { now: new Date().toISOString() })")
    + ";",
    "a tag": HEAD + "const f = (history) => " + _sent("dedent`At ${new Date()}. ${RULES}`") + ";",
    "brackets and types": HEAD + "const f = (history) => " + _sent("((new Date() as any)!.toString()) + RULES") + ";",
    "a file behind": "const HOUSE = readFileSync('house.md', 'utf8');\nconst f = (history) => "
    + _sent("`${new Date()} ${HOUSE}`")
    + ";",
    "only the history behind": HEAD + "const f = (history) => " + _sent("`${RULES} ${new Date()}`") + ";",
    "the list grows in a loop": HEAD
    + """async function f(question) {
  const messages = [{ role: "system", content: `${RULES} ${new Date()}` }, { role: "user", content: question }];
  while (true) {
    const r = await client.chat.completions.create({ model: "m", messages });
    messages.push(r.choices[0].message, ...run(r));
  }
}""",
}  # fmt: skip


@pytest.mark.parametrize("code", MOVES.values(), ids=MOVES)
def test_a_clock_gets_there(code: str) -> None:
    volatiles, notes = read(code)
    assert notes == ()
    assert [one.kind for one in volatiles] == ["clock"], volatiles
    assert volatiles[0].frequency == "call"


STAYS = {
    "logged": HEAD
    + "function f(history) { console.log(new Date(), RULES); log.info(`${Date.now()}`); return "
    + _sent("RULES")
    + "; }",
    "a header": HEAD
    + "const f = (history) => client.chat.completions.create({ model: 'm', messages: [{ role: 'system', content: RULES },"
    + " ...history] }, { headers: { 'x-request-id': crypto.randomUUID(), 'x-at': `${Date.now()}` } });",
    "metadata": HEAD
    + "const f = (history) => client.messages.create({ model: 'm', system: RULES, messages: history,"
    + " metadata: { user_id: crypto.randomUUID() } });",
    "the newest message": HEAD
    + "const f = (history, q) => client.messages.create({ model: 'm', system: RULES, messages: [...history,"
    + " { role: 'user', content: [{ type: 'text', text: `${q} (asked at ${new Date()})` }] }] });",
    "a prompt alone": HEAD + "const f = (q) => generateText({ model, system: RULES, prompt: `${new Date()} ${q} ${RULES}` });",
    "an input alone": HEAD + "const f = (q) => client.responses.create({ model, instructions: RULES, input: `${new Date()}${q}` });",
    "at the very end": HEAD
    + "const f = (q) => client.messages.create({ model, system: `${RULES} ${new Date()}`, messages: [{ role: 'user', content: q }] });",
    "compared": HEAD
    + "const f = (history) => " + _sent("(Date.now() - started > 500 ? 'Be brief. ' : '') + RULES") + ";",
    "another variable": HEAD + "function f(history) { const now = new Date(); const head = 'Hi '; return " + _sent("head + RULES") + "; }",
    "overwritten": HEAD
    + "function f(history) { let head = `${new Date()}`; head = 'Hi '; return " + _sent("head + RULES") + "; }",
    "set afterwards": HEAD
    + "function f(history) { let head = 'Hi '; const r = " + _sent("head + RULES") + "; head = `${new Date()}`; return r; }",
    "another function's": HEAD
    + "function stamp() { return `${new Date()}`; }\nfunction f(history) { audit(stamp()); return " + _sent("RULES") + "; }",
    "an execute function": HEAD
    + "const f = (history) => streamText({ model, system: RULES, messages: history, tools: { now: tool({ description: 'time',"
    + " execute: async () => new Date().toISOString() }) } });",
    "a person in a conversation": HEAD
    + "const f = (history, user) => " + _sent("`${RULES} You talk with ${user.name}.`") + ";",
    "awaited in order": HEAD
    + "async function f(history, names) { const parts = []; for (const n of names) parts.push(await load(n)); return "
    + _sent("parts.join('') + RULES") + "; }",
    "all at once, in order": HEAD
    + "async function f(history, names) { const parts = await Promise.all(names.map(async (n) => await load(n))); return "
    + _sent("parts.join('') + RULES") + "; }",
    "pushed before waiting": HEAD
    + "async function f(history, names) { const parts = []; await Promise.all(names.map(async (n) => { parts.push(n); await load(n); }));"
    + " return " + _sent("parts.join('') + RULES") + "; }",
    "no prompt at all": "const f = () => fetch(`/x?t=${Date.now()}`);",
}  # fmt: skip


@pytest.mark.parametrize("code", STAYS.values(), ids=STAYS)
def test_nothing_is_said_of(code: str) -> None:
    assert read(code) == ((), ())


HELD = {
    "a constant of the module": (HEAD + "const NOW = new Date();\nconst f = (history) => " + _sent("NOW + RULES") + ";", "process"),
    "made by a function when loaded": (
        HEAD + "function head() { return `${new Date()}`; }\nconst HEAD = head();\nconst f = (history) => " + _sent("HEAD + RULES") + ";",
        "process",
    ),
    "kept once made": (
        HEAD + "let head: string | undefined;\nfunction get() { head ??= `${new Date()}`; return head; }\nconst f = (history) => "
        + _sent("get() + RULES") + ";",
        "process",
    ),
    "kept under a condition": (
        HEAD + "let head = '';\nfunction get() { if (!head) { head = `${new Date()}`; } return head; }\nconst f = (history) => "
        + _sent("get() + RULES") + ";",
        "process",
    ),
    "memoised": (
        HEAD + "const head = memoize(() => `${new Date()}`);\nconst f = (history) => " + _sent("head() + RULES") + ";",
        "process",
    ),
    "a field of a class": (
        HEAD + "class A { private at = new Date(); f(history) { return " + _sent("this.at + RULES") + "; } }",
        "session",
    ),
    "set by a constructor": (
        HEAD + "class A { constructor() { this.at = `${new Date()}`; } f(history) { return " + _sent("this.at + RULES") + "; } }",
        "session",
    ),
    "sent when loaded": (HEAD + "const answer = await " + (SEND % "`${new Date()} ${RULES}`").replace("...history", "...HISTORY") + ";", "process"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "frequency"), HELD.values(), ids=HELD)
def test_what_is_kept_changes_less_often(code: str, frequency: str) -> None:
    volatiles, _ = read(code)
    assert [(one.kind, one.frequency) for one in volatiles] == [("clock", frequency)]


UNORDERED = {
    "a map": """const all = new Map();
  await Promise.all(servers.map(async (s) => { for (const t of await s.list()) all.set(t.name, t); }));
  const text = [...all.keys()].join(", ");""",
    "a set": """const all = new Set<string>();
  await Promise.all(servers.map(async (s) => { all.add(await s.name()); }));
  const text = Array.from(all).join(", ");""",
    "a list": """const all: string[] = [];
  await Promise.all(servers.map(async (s) => { const t = await s.list(); all.push(...t); }));
  const text = all.join(", ");""",
    "a list, by then": """const all: string[] = [];
  await Promise.all(servers.map((s) => s.list().then((t) => { all.push(t); })));
  const text = all.join(", ");""",
    "tasks kept in a list": """const all: string[] = [];
  const tasks = servers.map(async (s) => { all.push(await s.name()); });
  await Promise.all(tasks);
  const text = all.join(", ");""",
    "an object": """const all: Record<string, string> = {};
  await Promise.allSettled(servers.map(async (s) => { all[s.id] = await s.name(); }));
  const text = Object.entries(all).map(([k, v]) => `${k}: ${v}`).join(", ");""",
}


@pytest.mark.parametrize("code", UNORDERED.values(), ids=UNORDERED)
def test_what_is_filled_side_by_side_has_no_order(code: str) -> None:
    script = sent("text", before=code)
    assert [kind for kind, _ in found(script)] == ["unordered iteration"]
    for use in (".join(", ".map("):
        if use in code.rpartition("const text")[2]:
            head, _, tail = script.rpartition("const text")
            assert found(f"{head}const text{tail.replace(use, '.sort()' + use, 1)}") == []
            break


def test_keys_of_json_move_with_the_order_of_insertion() -> None:
    before = UNORDERED["an object"].replace(
        'Object.entries(all).map(([k, v]) => `${k}: ${v}`).join(", ")', "JSON.stringify(all)"
    )
    assert [kind for kind, _ in found(sent("text", before=before))] == ["key order"]
    ordered = before.replace("JSON.stringify(all)", "JSON.stringify(all, Object.keys(all).sort())")
    assert found(sent("text", before=ordered)) == []


def test_an_unordered_list_gone_through_leaves_no_order() -> None:
    before = "const parts = []; for (const n of fs.readdirSync('notes')) { parts.push(`# ${n}`); }"
    imports = "import fs from 'fs';"
    assert found(sent("parts.join('')", before=before, imports=imports)) == [
        ("unordered iteration", "fs.readdirSync('notes')")
    ]
    ordered = before.replace("('notes')", "('notes').sort()")
    assert found(sent("parts.join('')", before=ordered, imports=imports)) == []


def test_the_flow_leads_from_the_source_to_the_prompt() -> None:
    code = """const RULES = "Answer from the manual only, and never guess.";
function stamp() {
  const now = new Date();
  return now.toISOString();
}
const head = (at: string) => `At ${at}.\\n${RULES}`;
export const ask = (history) =>
  client.messages.create({ model: "m", system: head(stamp()), messages: history });
"""
    ((one,), _) = read(code)
    assert one.quote == "new Date()"
    assert [(step.span.line, step.note) for step in one.flow] == [
        (3, "assigned to `now`"),
        (8, "returned by `stamp`"),
        (8, "sent as `system` of `client.messages.create`"),
    ]


def test_there_is_no_flow_where_it_stands_in_the_prompt() -> None:
    ((one,), _) = read(sent("new Date()"))
    assert one.flow == ()
    assert one.stable_behind is None


def test_constant_text_behind_is_counted() -> None:
    code = sent("user.name").replace("...history,", "")
    ((one,), _) = read(code)
    assert one.stable_behind is not None
    assert abs(one.stable_behind - len(RULES) // 4) <= 2


MODULES = {
    "a named export": ("import { head } from './head';", "head()", {"head__ts": "export const head = () => `${new Date()}`;"}),
    "renamed": ("import { head as h } from './head.js';", "h()", {"head__ts": "export function head() { return new Date(); }"}),
    "a default export": ("import head from './head';", "head()", {"head__ts": "export default () => new Date().toISOString();"}),
    "a namespace": ("import * as p from './p';", "p.head()", {"p__mts": "export const head = () => new Date();"}),
    "passed on": (
        "import { head } from './all';", "head()",
        {"all__ts": "export * from './head';", "head__ts": "export const head = () => new Date();"},
    ),
    "passed on by name": (
        "import { head } from './all';", "head()",
        {"all__ts": "export { a as head } from './head';", "head__ts": "export const a = () => new Date();"},
    ),
    "exported below": ("import { head } from './head';", "head()", {"head__ts": "const head = () => new Date();\nexport { head };"}),
    "CommonJS": ("const { head } = require('./head');", "head()", {"head__cjs": "module.exports = { head: () => new Date() };"}),
    "CommonJS by name": ("const p = require('./head');", "p.head()", {"head__js": "exports.head = () => new Date();"}),
    "a folder": ("import { head } from './lib';", "head()", {"lib/index__ts": "export const head = () => new Date();"}),
    "a path alias": ("import { head } from '@/lib/head';", "head()", {"lib/head__ts": "export const head = () => new Date();"}),
    "a class": (
        "import { Head } from './head';", "new Head().text()",
        {"head__ts": "export class Head { text() { return `${new Date()}`; } }"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("imports", "expression", "others"), MODULES.values(), ids=MODULES)
def test_imports_of_the_package_are_followed(imports: str, expression: str, others: dict[str, str]) -> None:
    volatiles, _ = read(sent(expression, imports=imports), **others)
    assert [(one.kind, one.quote.startswith("new Date()")) for one in volatiles] == [("clock", True)]
    assert volatiles[0].path != "src/app.ts"
    fixed = {name: text.replace("new Date()", "new Date(0)") for name, text in others.items()}
    assert read(sent(expression, imports=imports), **fixed)[0] == ()


def test_a_caller_in_another_module_is_found() -> None:
    code = HEAD + "export function ask(history, system) { return " + _sent("system + RULES") + "; }"
    other = "import { ask } from './app';\nexport const g = (h) => ask(h, `${new Date()}`);"
    volatiles, _ = read(code, other__ts=other)
    assert [(one.path, one.quote) for one in volatiles] == [("src/other.ts", "new Date()")]
