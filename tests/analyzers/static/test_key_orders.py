"""Definitions that stand in two places with their keys in another order: which are told, and what mends them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.fixing import fix_folder

from prefixwise.analyzers.static.file_contents import by_content
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.analyzers.static.key_orders import key_order_traits
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.json_text import parse_json
from prefixwise.analyzers.static.templates.trees import Mapping
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml

TOOL = {"name": "find_quay", "description": "Find it.", "input_schema": {"type": "object", "properties": {}}}
TURNED = {"description": "Find it.", "name": "find_quay", "input_schema": {"properties": {}, "type": "object"}}
OTHER = {"name": "find_fare", "input_schema": {"type": "object", "properties": {}}}
SCHEMA = {"type": "object", "properties": {"stop": {"type": "string"}}}


def told(texts: dict[str, str], models: dict[str, str] | None = None) -> list[str]:
    sources = [Source(path, text) for path, text in sorted(texts.items())]
    traits = key_order_traits(sources, lambda path: (models or {}).get(path, ""))
    return [f"{one.path}:{one.span.line} {one.quote} ({one.flow[0].path}:{one.flow[0].span.line})" for one in traits]


def listed(*values: object) -> str:
    return json.dumps(list(values), indent=1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(listed(TOOL), listed(TURNED), ['b.json:3 "description" (a.json:3)'], id="the same tool"),
        pytest.param(listed(TOOL), listed(TOOL), [], id="the same order"),
        pytest.param(listed(TOOL), json.dumps([TOOL]), [], id="other blanks"),
        pytest.param(listed(TOOL), listed(TURNED, OTHER), ['b.json:3 "description" (a.json:3)'], id="more behind it"),
        pytest.param(listed(TOOL), listed(OTHER, TURNED), [], id="another tool in front"),
        pytest.param(
            listed(TOOL, OTHER),
            listed(TURNED, {"input_schema": SCHEMA, "name": "find_fare"}),
            ['b.json:3 "description" (a.json:3)'],
            id="the second one says something else",
        ),
        pytest.param(listed(TOOL), listed(TURNED | {"description": "Find."}), [], id="another description"),
        pytest.param(
            listed(TOOL | {"strict": 1}), listed(TURNED | {"strict": "1"}), [], id="a number is not its digits"
        ),
        pytest.param(
            json.dumps(SCHEMA),
            json.dumps({"properties": SCHEMA["properties"], "type": "object"}),
            ['b.json:1 "properties" (a.json:1)'],
            id="a schema by itself",
        ),
        pytest.param(
            json.dumps({"type": "function", "function": {"name": "f", "strict": True}}),
            json.dumps({"function": {"strict": True, "name": "f"}, "type": "function"}),
            [],
            id="no sign of a schema",
        ),
        pytest.param(
            json.dumps({"chat": {"tools": [TOOL]}, "desk": {"tools": [TURNED]}}),
            "{}",
            ['a.json:1 "description" (a.json:1)'],
            id="twice in one file",
        ),
        pytest.param(listed(TOOL, TURNED), "{}", [], id="each its own order in one list"),
        pytest.param('[{"name": "a", "name": "b", "parameters": {}}]', listed(TOOL), [], id="a key twice"),
        pytest.param("[{", listed(TOOL), [], id="broken"),
    ],
)
def test_what_is_told(one: str, other: str, expected: list[str]) -> None:
    assert told({"a.json": one, "b.json": other}) == expected


def test_definitions_of_two_models_share_nothing() -> None:
    texts = {"a.json": listed(TOOL), "b.json": listed(TURNED), "c.json": listed(TURNED)}
    assert told(texts, {"a.json": "gpt-5", "b.json": "gpt-4o"}) == ['c.json:3 "description" (a.json:3)']
    assert told(texts, {"a.json": "gpt-5", "b.json": "gpt-4o", "c.json": "gpt-4o"}) == []


def test_yaml_and_json_are_held_against_each_other() -> None:
    text = "tools:\n  - description: Find it.\n    name: find_quay\n    input_schema: {type: object, properties: {}}\n"
    assert told({"a.json": listed(TOOL), "b.yaml": text}) == ["b.yaml:2 description (a.json:3)"]


def test_keys_are_put_into_order_and_every_other_byte_stays() -> None:
    odd = (
        '\ufeff[ {"description" :"Find \\u0069t.",\r\n'
        '   "name":"find_quay", "input_schema":{ "properties":{ },"type":"object"}} ,\r\n  {"type": "web_search"}]\r\n'
    )
    ran = fix_folder({"a/tools.json": listed(TOOL), "b/tools.json": odd}, unsafe=False)
    assert ran.fixed.after == {
        "b/tools.json": '\ufeff[ {"name":"find_quay",\r\n   "description" :"Find \\u0069t.", '
        '"input_schema":{ "type":"object","properties":{ }}} ,\r\n  {"type": "web_search"}]\r\n'
    }
    assert not ran.again.after
    (found,) = ran.found
    assert found.tokens_lost is not None
    assert 15 < found.tokens_lost.value < 40  # what stands behind the first key


YAML = """\
tools:
- description: >-
    Find it,
    and say so.
  name: find_quay
  input_schema:
    properties:
      stop:
        description: 'Its name'
        type: string

    type: object
"""
MENDED = """\
tools:
- name: find_quay
  description: >-
    Find it,
    and say so.
  input_schema:
    type: object

    properties:
      stop:
        type: string
        description: 'Its name'
"""
FIRST = {
    "name": "find_quay",
    "description": "Find it, and say so.",
    "input_schema": {"type": "object", "properties": {"stop": {"type": "string", "description": "Its name"}}},
}


def test_yaml_is_mended_where_nothing_hangs_on_the_place_of_a_key() -> None:
    texts = {"prompts/a.json": json.dumps([FIRST]), "prompts/b.yaml": YAML}
    assert fix_folder(texts, unsafe=False).fixed.after == {"prompts/b.yaml": MENDED}
    texts["prompts/a.json"] = json.dumps([FIRST | {"description": "Find it, and say so.\n"}])
    assert not fix_folder(texts, unsafe=False).found
    texts["prompts/a.json"] = json.dumps([FIRST])
    texts["prompts/b.yaml"] = texts["prompts/b.yaml"].replace("find_quay", "find_quay  # the old one")
    commented = fix_folder(texts, unsafe=False)
    assert [one.rule for one in commented.found] == ["schema-key-order"]
    assert not commented.fixed.after


@pytest.mark.parametrize("text", ['{"a": [1, {"b": 2}], "c": "d"}', 'a:\n  - 1\n  - b: 2\nc: "d"\n'])
def test_entries_know_their_place(text: str) -> None:
    tree = parse_json(text) if text[0] == "{" else parse_yaml(text)
    assert isinstance(tree, Mapping)
    said = [text[start:end] for start, end in tree.places]
    assert said == (['"a": [1, {"b": 2}]', '"c": "d"'] if text[0] == "{" else ["a:\n  - 1\n  - b: 2", 'c: "d"'])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (listed(TOOL), FileKind.PROMPT_TEXT),
        (json.dumps({"functionDeclarations": [{"name": "f", "parameters": {}}]}), FileKind.PROMPT_TEXT),
        (json.dumps({"name": "an app", "parameters": ["a"]}), None),
        (json.dumps(SCHEMA), None),
        ("[{", None),
    ],
)
def test_files_of_tools_are_found_by_what_they_hold(tmp_path: Path, text: str, kind: FileKind | None) -> None:
    path = tmp_path / "anything.json"
    path.write_text(text, encoding="utf-8")
    assert by_content(str(path), len(text), FileKind.LOG, "a log", unsure=True)[0] is kind


def test_a_path_in_the_description_of_a_tool_is_no_placeholder() -> None:
    long = "Fetch https://quay.example/{user_id}/fares, a list of fares by quay and day. " + "All are in euros. " * 40
    tool = {"name": "fares", "description": long, "parameters": {"type": "object", "properties": {}}}
    assert not fix_folder({"tools.json": json.dumps([tool])}, unsafe=False).found
    filled = {**tool, "description": long.replace("{user_id}", "{{ user_id }}")}
    assert [one.rule for one in fix_folder({"tools.json": json.dumps([filled])}, unsafe=False).found]


def test_a_chat_template_that_writes_tools_as_they_come_has_no_edit() -> None:
    text = (
        "{% for t in tools %}{{ t | tojson }}{% endfor %}{% for message in messages %}<|{{ message.role }}|>"
        "{{ message.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    ran = fix_folder({"chat_template.jinja": text}, unsafe=True)
    assert [(one.rule, one.fix.edits) for one in ran.found] == [("schema-key-order", ())]
