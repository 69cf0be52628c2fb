"""What the configuration says of each file: rules, context, versions, builders, and which files are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixwise.analyzers.configured import Configured, unknown_providers
from prefixwise.analyzers.rule import RULES, chosen_rules
from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.discovery import discover
from prefixwise.analyzers.static.lint import SourceFile, SourceKind, lint_sources
from prefixwise.analyzers.static.lock import read_prompts
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.config.layers import Layer, Origin, OriginKind, layer
from prefixwise.core.config.nearest import Configurations
from prefixwise.core.errors import UserError

EVERY = frozenset(RULES.names())
RULES_1 = chosen_rules(["PW1"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def configured(flags: Layer | None = None, asked: PromptContext | None = None) -> Configured:
    return Configured(Configurations(flags or Layer()), asked or PromptContext())


def flag(**values: str) -> Layer:
    return layer(values, {key: Origin(OriginKind.FLAG, f"--{key}") for key in values})


# -- rules --------------------------------------------------------------------------------------------------


def test_all_rules_run_by_default_and_none_where_none_is_selected(here: Path) -> None:
    plant(here, {"none/prefixwise.toml": "select = []"})
    assert configured().rules("a.md") == EVERY
    assert configured().rules("none/a.md") == frozenset()


def test_rules_are_selected_ignored_and_added(here: Path) -> None:
    plant(here, {
        "prefixwise.toml": 'select = ["PW1"]\nextend-select = ["model-changed, PW402"]\nignore = ["PW101"]\n'
        'extend-ignore = ["user-data-first"]'
    })  # fmt: skip
    names = {"model-changed", "effort-or-thinking-changed"} | RULES_1
    assert configured().rules("a.md") == names - {"clock-in-prefix", "user-data-first"}
    assert configured().rules_of_any(["a.md", "b.md"]) == names - {"clock-in-prefix", "user-data-first"}


PER_FILE = """
ignore = ["PW102"]
[per-file-ignores]
"old/" = ["PW101"]
"*.txt" = ["PW2"]
"a[b]c/x" = ["PW9"]
[per-file-select]
"only/**" = ["PW101", "PW102"]
"./only/more/" = ["model-changed"]
"""


@pytest.mark.parametrize(
    ("path", "gone", "alone"),
    [
        ("new/a.md", "PW102", ""),
        ("old/a.md", "PW101 PW102", ""),
        ("x/old/deep/a.md", "PW101 PW102", ""),
        ("old.md", "PW102", ""),
        ("old/a.txt", "PW101 PW102 PW2", ""),
        ("only/a.md", "", "PW101"),
        ("only/more/a.md", "", "PW101 model-changed"),
        ("x/only/a.md", "PW102", ""),
        ("only/a.txt", "", "PW101"),
    ],
)
@pytest.mark.parametrize("form", ["sub/{}", "{here}/sub/{}", "sub/../sub/./{}"])
def test_patterns_are_seen_from_the_configuration(here: Path, path: str, gone: str, alone: str, form: str) -> None:
    plant(here, {"sub/prefixwise.toml": PER_FILE, "prefixwise.toml": 'per-file-ignores = { "sub/" = ["PW3"] }'})
    expected = chosen_rules(alone.split()) if alone else EVERY - chosen_rules(gone.split())
    assert configured().rules(form.format(path, here=here)) == expected


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("select = ['clock-in-prefx']", "prefixwise.toml: select"),
        ("extend-select = ['PW1', '']", "prefixwise.toml: extend-select"),
        ("ignore = ['XX1']", "prefixwise.toml: ignore"),
        ("per-file-ignores = { 'a/' = ['nothing'] }", "prefixwise.toml: per-file-ignores (a/)"),
        ("per-file-select = { '!a/' = ['PW1'] }", "prefixwise.toml: per-file-select (!a/)"),
        ("include = ['!']", "prefixwise.toml: include (!)"),
        ("exclude = ['[z-a].md']", "prefixwise.toml: exclude ([z-a].md)"),
        ("[[prompt]]\npath = 'a'\nsyntax = 'jinga'", "prefixwise.toml: prompt (a): jinga"),
    ],
)
def test_what_there_is_not_is_an_error_that_says_where(here: Path, text: str, where: str) -> None:
    plant(here, {"prefixwise.toml": text})
    with pytest.raises(UserError) as caught:
        configured().rules("x.md")
    assert caught.value.where == where


def test_an_unknown_rule_gets_its_nearest_name(here: Path) -> None:
    plant(here, {"prefixwise.toml": "select = ['clock-in-prefx']"})
    with pytest.raises(UserError) as caught:
        configured().rules("x.md")
    assert caught.value.help == "did you mean clock-in-prefix? `prefixwise rules` lists them"
    with pytest.raises(UserError, match="no such syntax"):
        configured(asked=PromptContext(syntax="jinga"))


# -- what is known of prompts -------------------------------------------------------------------------------

ENTRIES = """
provider = "openai"
model = "gpt-4.1"
builders = ["app:render"]
[[prompt]]
path = "prompts/"
model = "claude-sonnet-4-5"
role = "user"
version = 3
[[prompt]]
path = "prompts/support/*.md"
version = "4-beta"
syntax = "jinja"
"""


def known(path: str, text: str, **settings: object) -> PromptContext:
    outside = configured(**settings).outside(path)  # type: ignore[arg-type]
    return read_template(Source(path, text), outside.asked, outside.assumed).context


def test_entries_complete_each_other_and_the_later_wins(here: Path) -> None:
    plant(here, {"prefixwise.toml": ENTRIES})
    assert known("other.md", "x") == PromptContext(role="", provider="openai", model="gpt-4.1")
    assert known("prompts/a.md", "x") == PromptContext(role="user", provider="anthropic", model="claude-sonnet-4-5")
    support = PromptContext(role="user", provider="anthropic", model="claude-sonnet-4-5", syntax="jinja")
    assert known("prompts/support/a.md", "x") == support
    versions = [configured().outside(path).version for path in ("x.md", "prompts/a.md", "prompts/support/a.md")]
    assert versions == ["", "3", "4-beta"]
    assert configured().outside("x.py").builders == {"app:render"}


def test_front_matter_wins_over_entries_and_flags_over_both(here: Path) -> None:
    plant(here, {"prefixwise.toml": ENTRIES})
    text = "---\nmodel: gemini-2.5-pro\nrole: system\n---\nBe brief."
    assert known("prompts/a.md", text) == PromptContext(role="system", provider="gemini", model="gemini-2.5-pro")
    flagged = known("prompts/a.md", text, flags=flag(provider="bedrock"), asked=PromptContext(syntax="jinja"))
    assert flagged == PromptContext(role="system", provider="bedrock", model="gemini-2.5-pro", syntax="jinja")


def test_the_model_that_the_command_names_tells_the_provider(here: Path) -> None:
    plant(here, {"prefixwise.toml": 'provider = "openai"\n'})
    assert known("a.md", "x", flags=flag(model="claude-opus-4-1")).provider == "anthropic"
    assert known("a.md", "---\nprovider: vertex\n---\n", flags=flag(model="claude-opus-4-1")).provider == "vertex"


def test_a_lock_takes_versions_from_the_configuration(here: Path) -> None:
    plant(here, {
        "prefixwise.toml": ENTRIES,
        "prompts/a.md": "Be brief. {{ question }}",
        "prompts/b.md": "---\nversion: 9\n---\nBe brief. {{ question }}",
        "c.md": "Be brief.",
    })  # fmt: skip
    files = [SourceFile(path, SourceKind.TEMPLATE) for path in ("prompts/a.md", "prompts/b.md", "c.md")]
    prompts, _ = read_prompts(files, Path(), configured().outside)
    assert {one.locked.path: one.locked.version for one in prompts} == {
        "prompts/a.md": "3",
        "prompts/b.md": "9",
        "c.md": "",
    }


BUILDER = """
from datetime import datetime

def {name}(question):
    return f"It is {{datetime.now()}}. " + "Name the quay. " * 50 + question
"""


def test_builders_are_those_of_each_project(here: Path) -> None:
    code = BUILDER.format(name="compose") + BUILDER.format(name="assemble").replace("from datetime import datetime", "")
    plant(here, {
        "one/prefixwise.toml": 'builders = ["compose"]',
        "two/prefixwise.toml": 'builders = ["assemble"]',
        **{f"{folder}/app.py": code for folder in ("one", "two", "three")},
    })  # fmt: skip
    files = [SourceFile(f"{folder}/app.py", SourceKind.PYTHON) for folder in ("three", "one", "two")]
    found = lint_sources(files, EVERY, configured().outside).findings
    assert [(one.path, one.span.line if one.span else 0) for one in found] == [("one/app.py", 5), ("two/app.py", 10)]


# -- which files --------------------------------------------------------------------------------------------


def test_each_folder_is_searched_as_its_own_configuration_says(here: Path) -> None:
    plant(here, {
        "prefixwise.toml": 'include = ["docs/style.md"]\nexclude = ["*.old.md", "left/"]',
        "docs/style.md": "Be brief.",
        "docs/other.md": "Be long.",
        "left/prompts/a.md": "Be brief.",
        "prompts/a.old.md": "Be brief.",
        "sub/prefixwise.toml": 'include = ["/notes.md"]',
        "sub/notes.md": "Be brief.",
        "sub/prompts/a.old.md": "Be brief.",
        "sub/docs/style.md": "Be brief.",
        "sub/deep/notes.md": "Be brief.",
    })  # fmt: skip
    found = [one.path for one in discover(["."], configured().selection).found]
    assert found == ["docs/style.md", "sub/notes.md", "sub/prompts/a.old.md"]


def test_named_files_are_left_out_only_where_that_is_asked_for(here: Path) -> None:
    names = ["a/x.md", "b/x.md"]
    plant(here, {
        **dict.fromkeys(names, "Be brief."),
        "a/prefixwise.toml": 'exclude = ["x.md"]',
        "b/prefixwise.toml": 'exclude = ["x.md"]\nforce-exclude = true',
    })  # fmt: skip
    assert [one.path for one in discover(names, configured().selection).found] == ["a/x.md"]


def test_a_provider_of_which_nothing_is_known_is_told(here: Path) -> None:
    plant(here, {"prefixwise.toml": 'provider = "antropic"\n[[prompt]]\npath = "b.md"\nprovider = "ours"\n'})
    plant(here, {"known/prefixwise.toml": 'provider = "vllm"\nmodel = "gpt-4o"\n'})
    made = configured()
    assert made.outside("b.md").assumed.provider == "ours"
    assert made.outside("known/a.md").assumed.provider == "vllm"
    notes = list(unknown_providers(made.providers, Rulebook()))
    assert [note.partition(" called ")[2] for note in notes] == [
        "'antropic'; did you mean anthropic?",
        "'ours', and no rule of a provider applies to its prompts",
    ]
