# ruff: noqa: E501 - scripts, a line each
"""What reading scripts gives as a whole: positions, notes, a missing parser, hostile input."""

from __future__ import annotations

import builtins
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.static.scripts import tree
from prefixwise.analyzers.static.scripts.read import read_scripts
from prefixwise.analyzers.static.sources import Source
from tests.support.scripts import RULES, found, read, sent

CASE = Path(__file__).parents[5] / "shared" / "cases" / "R46-builder-typescript" / "builder.ts"
BUILDER = """import Anthropic from "@anthropic-ai/sdk";
import { readFileSync } from "node:fs";
import { servers } from "./servers";

const api = new Anthropic();
const RULES = readFileSync("rules.md", "utf8");

const head = (desk: Desk): string => {
  const at = new Date().toLocaleString(desk.locale, { dateStyle: "full", timeStyle: "short" });
  return `At ${at}\\nPaid so far: ${desk.spent.toLocaleString(desk.locale, { style: "currency", currency: "SEK" })}`;
};

async function tools(): Promise<Anthropic.Tool[]> {
  const known = new Map<string, Anthropic.Tool>();
  await Promise.all(servers().map(async (server) => {
    for (const tool of await server.listTools()) known.set(tool.name, tool);
  }));
  return [...known.values()];
}

export async function ask(desk: Desk, text: string) {
  const messages = [...desk.history, { role: "user" as const, content: text }];
  const reply = await api.messages.create({
    model: "m",
    tools: await tools(),
    system: [{ type: "text", text: head(desk) }, { type: "text", text: RULES, cache_control: { type: "ephemeral" } }],
    messages,
  });
  console.log(new Date().toISOString(), reply.usage);
  return [...messages, { role: "assistant" as const, content: reply.content }];
}
"""


def test_a_builder_with_a_clock_a_counter_and_an_unordered_map() -> None:
    volatiles, notes = read(BUILDER)
    assert notes == ()
    assert [(one.kind, one.span.line, one.area) for one in volatiles] == [
        ("clock", 9, "system"),
        ("counter", 10, "system"),
        ("unordered iteration", 18, "tools"),
    ]
    clock, counter, tools = volatiles
    assert (clock.precision, clock.frequency) == ("minute", "call")
    assert "it is printed as the locale has it" in clock.evidence
    assert counter.quote.startswith("desk.spent.toLocaleString(")
    assert tools.quote == "known.values()"
    assert [step.span.line for step in clock.flow] == [9, 26, 26]


def test_its_mended_twin_is_clean() -> None:
    mended = BUILDER.replace("[...known.values()]", "[...known.values()].sort(byName)")
    mended = mended.replace('{ type: "text", text: head(desk) }, ', "").replace(
        "content: text }", "content: head(desk) + text }"
    )
    assert read(mended) == ((), ())


@pytest.mark.skipif(not CASE.exists(), reason="the shared cases are not here")
def test_the_shared_case_is_found() -> None:
    source = Source("builder.ts", CASE.read_text(encoding="utf-8"))
    volatiles, notes = read_scripts({"builder.ts": source}, ["builder.ts"])
    assert [(one.kind, one.span.line) for one in volatiles] == [
        ("clock", 15),
        ("counter", 16),
        ("unordered iteration", 24),
    ]
    assert notes == ()


WIDE = st.text(st.sampled_from("aé漢😀\u0301\u2028 "), max_size=12)


@given(WIDE, WIDE, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["a.ts", "a.tsx", "a.js", "a.cjs"]))
def test_a_quote_is_what_stands_at_its_place(before: str, between: str, line_end: str, marked: bool, path: str) -> None:
    code = f"// {before.replace(chr(0x2028), '')}\n/* {between} */\n" + sent(
        f"`{between}${{new Date().toISOString()}} {before}`"
    )
    text = ("\ufeff" if marked else "") + code.replace("\n", line_end)
    source = Source(path, text)
    volatiles, _ = read_scripts({path: source}, [path])
    assert len(volatiles) == 1
    (one,) = volatiles
    assert one.quote == "new Date().toISOString()"
    assert text[one.span.start : one.span.end] == one.quote
    assert source.position(one.span.start) == (one.span.line, one.span.column)
    for step in one.flow:
        assert source.position(step.span.start) == (step.span.line, step.span.column)


@given(st.text(st.sampled_from("a\x7fé߿ࠀ漢\uffff😀\U0010ffff\ud800\udfff"), max_size=40))
def test_offsets_in_bytes_become_offsets_in_code_points(text: str) -> None:
    place = tree._code_points(text)
    offset = 0
    for index, character in enumerate(text):
        assert place(offset) == index
        offset += len(character.encode("utf-8", "surrogatepass"))
    assert place(offset) == len(text)


def test_a_broken_statement_is_noted_and_the_rest_is_read() -> None:
    code = sent("new Date()") + "\nfunction broken( { return ;;; } ) => [\n"
    volatiles, notes = read(code)
    assert [one.kind for one in volatiles] == ["clock"]
    (note,) = notes
    assert note.startswith("src/app.ts:15:1: ")


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    original = builtins.__import__

    def refuse(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("tree_sitter"):
            raise ImportError(name)
        return original(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    tree._parser.cache_clear()
    yield
    tree._parser.cache_clear()


def test_without_the_parser_there_is_one_note(no_parser: None) -> None:
    texts = {f"{name}.ts": Source(f"{name}.ts", sent("new Date()")) for name in "ab"}
    volatiles, notes = read_scripts(texts, texts)
    assert volatiles == ()
    assert notes == (
        "2 scripts are not read: reading JavaScript and TypeScript needs the 'js' extra, which is not installed (pip install 'prefixwise[js]')",
    )
    assert read_scripts(texts, []) == ((), ())


def test_scripts_without_words_of_prompts_are_not_parsed(no_parser: None) -> None:
    assert read("export const now = () => new Date();") == ((), ())


def test_bundles_are_named_and_not_read() -> None:
    line = "var a=1;" * 100 + "\n"
    code = sent("new Date()") + line * 40
    assert read(code, "dist/bundle.js") == ((), ("not read, as they look like bundles: dist/bundle.js",))
    assert len(read(sent("new Date()") + "const a = 1;\n" * 4000, "src/long.js")[0]) == 1


def test_declarations_are_no_scripts() -> None:
    assert read(sent("new Date()"), "src/app.d.ts") == ((), ())


HOSTILE = {
    "circles": "const a = () => b() + new Date(); const b = () => a(); let x = y; let y = x; x = x + y;",
    "a variable of itself": "let t = t; t = t + t; t += t; for (;;) { t = `${t}${t}`; }",
    "deep brackets": "(" * 3000 + "1" + ")" * 3000,
    "a long sum": " + ".join(["'a'"] * 5000),
    "deep calls": "f(" * 2000 + ")" * 2000,
    "deep objects": "x = " + "{ a: " * 1500 + "1" + "}" * 1500,
    "many choices": "const z = " + " + ".join(f"(q{n} ? 'a{n}' : 'b{n}')" for n in range(300)),
    "classes of themselves": "class A extends B {} class B extends A { get p() { return this.p + this.q; } }",
    "modules of themselves": "export * from './app'; import { q } from './app'; export { q };",
    "empty things": "const {} = {}; const [] = []; f(); new F; x[``]; (function () {})(); export default {}; import 'x';",
}  # fmt: skip


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_hostile_scripts_end_soon(code: str) -> None:
    expression = {"circles": "a()", "a variable of itself": "t", "many choices": "z"}.get(
        code[:0], "z + t + a() + new A().p"
    )
    start = time.process_time()
    read(f"{code};\n" + sent(expression) + f"export const SYSTEM_PROMPT = () => `${{z}} {RULES}`;")
    assert time.process_time() - start < 5


def test_many_branches_do_not_multiply() -> None:
    lines = [f"  if (c[{n}]) {{ text = text + `${{part(text)}}` + text; }}" for n in range(60)]
    body = "\n".join(lines)
    code = f"const part = (x) => x + x;\nfunction make(c) {{ let text = 'a';\n{body}\n return text; }}\n" + sent(
        "make(c)"
    )
    start = time.process_time()
    read(code)
    assert time.process_time() - start < 10


def test_the_result_does_not_depend_on_the_order_of_the_sources() -> None:
    texts = {
        "src/app.ts": sent("head()", imports="import { head } from './head';"),
        "src/head.ts": "export const head = () => `${new Date()} ${crypto.randomUUID()}`; // prompt",
    }
    forwards = {name: Source(name, text) for name, text in texts.items()}
    backwards = dict(reversed(forwards.items()))
    assert read_scripts(forwards, list(forwards)) == read_scripts(backwards, list(backwards))


def test_one_value_in_two_prompts_is_found_once() -> None:
    code = f"""const head = () => `${{new Date()}} {RULES}`;
export const a = (h) => client.messages.create({{ model: "m", system: head(), messages: h }});
export const b = (h) => client.messages.create({{ model: "n", system: head(), messages: h }});
export const getSystemPrompt = () => head();
"""
    assert found(code) == [("clock", "new Date()")]
