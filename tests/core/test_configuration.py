"""Which configuration governs a file, what it says, and what is said of a wrong one."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from prefixwise.core.config.files import table_in
from prefixwise.core.config.keys import key_pages, toml_value
from prefixwise.core.config.layers import Layer, Origin, OriginKind, layer
from prefixwise.core.config.nearest import Configurations
from prefixwise.core.config.settings import PER_FILE, PromptEntry, Settings, keys
from prefixwise.core.config.starter import starter
from prefixwise.core.errors import UserError


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


def flags(**values: object) -> Layer:
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return layer(named, {key: Origin(OriginKind.FLAG, f"--{key}") for key in named})


# -- which file ---------------------------------------------------------------------------------------------


def test_each_file_is_governed_by_the_nearest_configuration_alone(here: Path) -> None:
    plant(here, {
        "pyproject.toml": '[tool.prefixwise]\nprovider = "openai"\nmodel = "gpt-5"\n',
        "desk/prefixwise.toml": 'provider = "anthropic"\n',
        "desk/pyproject.toml": '[project]\nname = "desk"\n',
        "desk/deep/er/x": "",
        "other/pyproject.toml": '[project]\nname = "prefixwise-other"\n',
    })  # fmt: skip
    found = Configurations()
    assert (found.of("desk/deep/er/x").file, found.of("desk/deep/er/x").settings.model) == ("desk/prefixwise.toml", "")
    assert found.of("desk/x").settings.provider == "anthropic"
    assert found.of("other/x").file == found.of("x").file == found.here.file == found.of("-").file == "pyproject.toml"
    assert found.of("").file == "pyproject.toml"


def test_a_files_own_configuration_wins_over_pyproject_in_the_same_folder(here: Path) -> None:
    plant(
        here, {"pyproject.toml": '[tool.prefixwise]\nmodel = "a"\nprovider = "b"\n', "prefixwise.toml": 'model = "c"'}
    )
    settings = Configurations().here.settings
    assert (settings.model, settings.provider) == ("c", "")


def test_an_empty_section_governs_too(here: Path) -> None:
    plant(
        here,
        {"prefixwise.toml": 'model = "a"', "sub/pyproject.toml": "[tool.prefixwise]\n", "bare/prefixwise.toml": ""},
    )
    found = Configurations()
    assert found.of("sub/x").settings == found.of("bare/x").settings == Settings()
    assert found.of("sub/x").file == "sub/pyproject.toml"


def test_the_search_ends_at_the_root_of_the_repository(here: Path) -> None:
    plant(here, {"prefixwise.toml": 'model = "outside"', "inner/.git/HEAD": "x", "inner/src/x": ""})
    found = Configurations()
    assert found.of("inner/src/x").file == ""
    assert found.of("x").settings.model == "outside"
    assert found.of("inner/src/x").file == ""


def test_a_configuration_above_the_working_folder_holds(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(here, {"prefixwise.toml": 'model = "above"', "a/b/x": ""})
    monkeypatch.chdir(here / "a" / "b")
    found = Configurations()
    assert found.here.settings.model == found.of("x").settings.model == "above"
    assert found.here.file == f"{here}/prefixwise.toml"


@pytest.mark.parametrize("form", ["sub/x", "./sub/x", "other/../sub/x", "{here}/sub/x", "link/x"])
def test_the_way_to_a_file_does_not_matter(here: Path, form: str) -> None:
    plant(here, {"sub/prefixwise.toml": 'model = "sub"', "sub/x": "", "other/y": ""})
    (here / "link").symlink_to(here / "sub", target_is_directory=True)
    found = Configurations()
    assert found.of(form.format(here=here)).settings.model == "sub"
    assert found.located(form.format(here=here)) == f"{os.path.realpath(here)}/sub/x"


def test_a_named_configuration_is_the_only_one(here: Path) -> None:
    plant(here, {"ci/strict.toml": 'model = "ci"', "sub/prefixwise.toml": 'model = "sub"', "prefixwise.toml": "x = 1"})
    found = Configurations(file="ci/strict.toml")
    assert found.of("sub/x").settings.model == found.here.settings.model == "ci"
    assert found.here.folder == os.path.realpath(here)
    for wrong in ("ci/none.toml", "pyproject.toml"):
        with pytest.raises(UserError, match="no such configuration"):
            Configurations(file=wrong)
    plant(here, {"pyproject.toml": '[project]\nname = "prefixwise"'})
    with pytest.raises(UserError, match="--config"):
        Configurations(file="pyproject.toml")


def test_isolated_reads_nothing(here: Path) -> None:
    plant(here, {"prefixwise.toml": "no toml at all"})
    assert Configurations(isolated=True).of("x").settings == Settings()
    assert Configurations(flags(model="m"), isolated=True).here.settings.model == "m"


# -- what extends, and what wins ----------------------------------------------------------------------------


def test_what_extends_completes(here: Path) -> None:
    plant(here, {
        "shared/base.toml": 'extend = "deep.toml"\nignore = ["PW2"]\nextend-ignore = ["PW3"]\nmodel = "base"\n'
        'exit-zero = true\n[[prompt]]\npath = "*.md"\nrole = "user"\n',
        "shared/deep.toml": 'provider = "deep"\nmodel = "deep"\nrules = ["facts.toml"]\n',
        "a/pyproject.toml": '[tool.prefixwise]\nextend = "../shared/base.toml"\nextend-ignore = ["PW4"]\n'
        'fail-on = "info"\n[[tool.prefixwise.prompt]]\npath = "x.md"\nrole = "system"\n',
        "b/prefixwise.toml": 'extend = "../shared/base.toml"\nignore = []\nselect = ["PW1"]',
    })  # fmt: skip
    found = Configurations()
    one = found.of("a/x")
    assert (one.settings.provider, one.settings.model, one.settings.ignore) == ("deep", "base", ("PW2",))
    assert one.settings.extend_ignore == ("PW3", "PW4")
    assert one.where("extend-ignore") == (
        "shared/base.toml: extend-ignore, a/pyproject.toml: tool.prefixwise.extend-ignore"
    )
    assert [entry.role for entry in one.settings.prompt] == ["user", "system"]
    assert one.settings.rules == ("shared/facts.toml",)
    assert (one.settings.fail_on, one.settings.exit_zero) == ("info", False)
    other = found.of("b/x").settings
    assert (other.ignore, other.extend_ignore, other.select, other.exit_zero) == ((), (), ("PW1",), True)


def test_a_circle_of_extensions_is_an_error(here: Path) -> None:
    plant(
        here,
        {"prefixwise.toml": 'extend = "a/b.toml"', "a/b.toml": 'extend = "../c.toml"', "c.toml": 'extend = "a/b.toml"'},
    )
    with pytest.raises(UserError, match="circle") as caught:
        _ = Configurations().here
    assert caught.value.where == "c.toml: extend"
    plant(here, {"prefixwise.toml": 'extend = "prefixwise.toml"'})
    with pytest.raises(UserError, match="circle"):
        _ = Configurations().here


def test_what_is_extended_has_to_be_there(here: Path) -> None:
    plant(here, {"prefixwise.toml": 'extend = "none.toml"'})
    with pytest.raises(UserError, match="no such file") as caught:
        _ = Configurations().here
    assert caught.value.where == "prefixwise.toml: extend"
    plant(here, {"prefixwise.toml": 'extend = "pyproject.toml"', "pyproject.toml": ""})
    with pytest.raises(UserError, match=r"no \[tool\.prefixwise\] in pyproject\.toml"):
        _ = Configurations().here


def test_flags_win_over_the_environment_and_that_over_files(here: Path) -> None:
    plant(here, {"prefixwise.toml": 'model = "file"\nprovider = "file"\nfail-on = "info"\n'})
    names = {"model": "variable", "provider": "variable"}
    environment = layer(names, {key: Origin(OriginKind.ENVIRONMENT, f"PREFIXWISE_{key.upper()}") for key in names})
    found = Configurations(flags(model="flag").over(environment)).here
    assert (found.settings.model, found.settings.provider, found.settings.fail_on) == ("flag", "variable", "info")
    assert found.where("model") == "--model"
    assert found.where("provider") == "PREFIXWISE_PROVIDER"
    assert found.where("fail-on") == "prefixwise.toml: fail-on"
    assert found.where("jobs") == "default"


def test_what_is_selected_replaces_all_that_was_selected(here: Path) -> None:
    plant(here, {
        "prefixwise.toml": 'select = ["PW1"]\nextend-select = ["PW2"]\nignore = ["PW101"]\nexit-zero = true\n'
        'per-file-select = { "*.md" = ["PW3"] }\nper-file-ignores = { "*.txt" = ["PW4"] }\n'
    })  # fmt: skip
    settings = Configurations(flags(select=("PW5",), fail_on="error")).here.settings
    assert (settings.select, settings.extend_select, settings.per_file_select) == (("PW5",), (), {})
    assert (settings.ignore, settings.per_file_ignores) == (("PW101",), {"*.txt": ("PW4",)})
    assert (settings.fail_on, settings.exit_zero) == ("error", False)


# -- what a file looks like ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pyproject.toml", "prefixwise.toml"])
def test_byte_order_marks_and_carriage_returns_are_read(here: Path, name: str) -> None:
    head = "[tool.prefixwise]\r\n" if name == "pyproject.toml" else ""
    (here / name).write_bytes(f"\ufeff{head}model = 'é'\r\nignore = [\r\n 'PW1',\r\n]\r\n".encode())
    assert Configurations().here.settings.model == "é"


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("selct = []", "prefixwise.toml: selct", "did you mean select?"),
        ("fail_on = 'info'", "prefixwise.toml: fail_on", "did you mean fail-on?"),
        ("[tool.prefixwise]\nselect = []", "prefixwise.toml: tool", "the keys stand at the top"),
        ("[[prompt]]\npath = 'a'\nmodle = 'x'", "prefixwise.toml: prompt[0].modle", "did you mean model?"),
        ("[[prompt]]\nmodel = 'x'", "prefixwise.toml: prompt[0].path", "this key must be there"),
        ("fail-on = 'warn'", "prefixwise.toml: fail-on", "known: error, warning, info, never"),
        ("[[prompt]]\npath = 'a'\nrole = 'x'", "prefixwise.toml: prompt[0].role", "known: system, user"),
        ("select = 'PW1'", "prefixwise.toml: select", "expected `array`, got `str`"),
        ("ignore = ['a', 1]", "prefixwise.toml: ignore[1]", "expected `str`, got `int`"),
        ("jobs = -1", "prefixwise.toml: jobs", ">= 0"),
        ("jobs = true", "prefixwise.toml: jobs", "expected `int`, got `bool`"),
        ("prompt = 1", "prefixwise.toml: prompt", "expected `array`, got `int`"),
        ("model = ", "prefixwise.toml", "is not TOML"),
        ("x = " + "[" * 5000, "prefixwise.toml", "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(here: Path, text: str, where: str, said: str) -> None:
    plant(here, {"prefixwise.toml": text})
    with pytest.raises(UserError) as caught:
        _ = Configurations().here
    assert caught.value.where == where
    assert said in f"{caught.value.what} {caught.value.help}"


def test_keys_of_pyproject_are_named_whole(here: Path) -> None:
    plant(here, {"pyproject.toml": "[tool.prefixwise]\nselct = []"})
    with pytest.raises(UserError) as caught:
        _ = Configurations().here
    assert caught.value.where == "pyproject.toml: tool.prefixwise.selct"
    plant(here, {"pyproject.toml": "[tool]\nprefixwise = 1"})
    with pytest.raises(UserError, match="must be a table"):
        _ = Configurations().here


def test_what_is_not_ours_may_be_broken(here: Path) -> None:
    (here / "pyproject.toml").write_bytes(b"\xff\xfe not [ toml")
    assert Configurations().here.settings == Settings()
    (here / "prefixwise.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="not UTF-8"):
        _ = Configurations().here


# -- keys for people ----------------------------------------------------------------------------------------


def test_every_key_has_a_page_and_its_example_is_valid(here: Path) -> None:
    assert [page.name for page in key_pages()] == list(keys())
    examples = [f"{page.name} = {page.example}" for page in key_pages() if page.example]
    entry = [f"{page.name} = {page.example}" for page in key_pages(PromptEntry)]
    plant(
        here,
        {"base.toml": "", "prefixwise.toml": "\n".join([*examples, "[[prompt]]", *entry]).replace("../base", "base")},
    )
    found = Configurations().here
    assert {key for key in keys() if found.layer.origins_of(key)[0].kind is OriginKind.FILE} == set(keys()) - {"extend"}
    assert set(keys()) >= PER_FILE


@pytest.mark.parametrize("section", [False, True])
def test_a_configuration_to_begin_with_sets_nothing_and_shows_every_key(here: Path, section: bool) -> None:
    name = "pyproject.toml" if section else "prefixwise.toml"
    plant(here, {name: starter(section=section)})
    assert Configurations().here.file == name
    assert Configurations().here.layer.values == {}
    lines = (line.removeprefix("# ") for line in starter(section=section).splitlines())
    told = [
        line
        for line in lines
        if line.startswith("[") or (" = " in line and line.split(" = ")[0].replace("-", "").isalpha())
    ]
    plant(here, {name: "\n".join(told)})
    table = table_in(name, name) or {}
    assert set(table) == set(keys())
    assert set(table["prompt"][0]) == {page.name for page in key_pages(PromptEntry)}


def test_values_are_shown_as_toml_reads_them() -> None:
    value = {"a b": ("é\n\"'", 3), "plain-key": True, "": {}, "n": {"m": ["\\"]}}
    assert tomllib.loads(f"x = {toml_value(value)}") == {
        "x": {"a b": ["é\n\"'", 3], "plain-key": True, "": {}, "n": {"m": ["\\"]}}
    }
