"""What the configuration comes to: each value and where it came from, and what holds for one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.rule import RULES
from prefixwise.core.config.keys import toml_value
from prefixwise.core.config.layers import Origin, OriginKind
from prefixwise.core.config.nearest import Configuration, Configurations
from prefixwise.core.config.settings import PER_FILE, attribute, keys
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.report import Block, Cell, Column, Report, Table


class Setting(msgspec.Struct, frozen=True):
    """A key, its value and where that came from: several places for what is added up.

    `per_file` says whether it is taken from the configuration nearest to each file, or from that of the run.
    """

    key: str
    value: Any
    origins: tuple[Origin, ...]
    per_file: bool


class FileFacts(msgspec.Struct, frozen=True):
    """What holds for one file: the rules that run in it, and what is known of its prompts from outside; '' if nothing.

    What its front matter says comes between `asked`, by whoever starts the command, and `assumed`, by a file.
    """

    rules: tuple[str, ...]
    asked: dict[str, str]
    assumed: dict[str, str]
    version: str


class ConfigValues(msgspec.Struct, frozen=True):
    """The settings that hold for `path`, by key in their usual order.

    `file` is the configuration that governs it, `run_file` that of the whole run; None where there is none.
    """

    path: str
    file: str | None
    run_file: str | None
    settings: tuple[Setting, ...]
    holds: FileFacts


CONFIG = DocumentKind("prefixwise/config", 1, "the settings that hold, and where each came from", ConfigValues)


def config_report(path: str, configurations: Configurations, configured: Configured) -> Report:
    """Return the report of what holds for a file or folder.

    Raises:
        UserError: There is no such path, or a configuration is wrong.
    """
    if not os.path.exists(path):
        raise UserError("no such file or folder", path, exit_code=3)
    sample = os.path.join(path, "prompt") if os.path.isdir(path) else path
    governing, here = configurations.of(sample), configurations.here
    failing = configurations.saying(sample, "fail-on", "exit-zero")
    asked = {"fail-on": failing, "exit-zero": failing, "baseline": configurations.saying(sample, "baseline")}
    asked |= dict.fromkeys(PER_FILE, governing)
    settings = tuple(_setting(key, asked.get(key, here)) for key in keys() if key != "extend")
    values = ConfigValues(path, governing.file or None, here.file or None, settings, _facts(sample, configured))
    return Report(
        schema=CONFIG.schema,
        schema_version=CONFIG.version,
        command="config",
        title=f"Configuration of {path}: {governing.file or 'none, so that defaults hold'}",
        blocks=tuple(_blocks(values)),
        values=values,
    )


def _setting(key: str, configuration: Configuration) -> Setting:
    value = getattr(configuration.settings, attribute(key))
    return Setting(key, value, configuration.origins(key), key in PER_FILE)


def _facts(path: str, configured: Configured) -> FileFacts:
    outside = configured.outside(path)
    asked, assumed = (
        {name: value for name, value in msgspec.structs.asdict(context).items() if value}
        for context in (outside.asked, outside.assumed)
    )
    return FileFacts(tuple(sorted(configured.rules(path))), asked, assumed, outside.version)


def _blocks(values: ConfigValues) -> Iterator[Block]:
    columns = (Column("key", "key"), Column("value", "value"), Column("origin", "from"))
    for per_file in (True, False):
        rows = tuple(_row(setting) for setting in values.settings if setting.per_file is per_file)
        if per_file:
            title, note = "For this path", "From the configuration nearest to each file."
        else:
            title, note = "For a whole run", _OF_RUN
        yield Table("per_file" if per_file else "run", title, columns, rows, note)
    holds = values.holds
    known: list[tuple[Cell, ...]] = [(name, value, "the command") for name, value in holds.asked.items()]
    known += [(name, value, "a configuration") for name, value in holds.assumed.items() if name not in holds.asked]
    known += [("version", holds.version, "a configuration")] if holds.version else []
    if known:
        facts = (Column("name", "prompt"), Column("value", "value"), Column("origin", "said by"))
        yield Table("prompt", "What is known of its prompts", facts, tuple(known), _NEARER)
    run = [rule for rule in RULES if rule.name in holds.rules]
    left = [rule for rule in RULES if rule.name not in holds.rules]
    title, shown = ("Rules that run here", run) if len(run) < len(left) else ("Rules that do not run here", left)
    if shown:
        rows = tuple(sorted((rule.code, rule.name) for rule in shown))
        yield Table("rules", title, (Column("code", "code"), Column("name", "rule")), rows)


_OF_RUN = (
    "From the configuration nearest to the working folder; of fail-on, exit-zero and baseline what the configuration "
    "nearest to this path says goes before."
)
_NEARER = "What a file says of itself wins over a configuration, and the command over both."


def _row(setting: Setting) -> tuple[Cell, ...]:
    is_unset = setting.value in (None, "", (), {}) and setting.origins[0].kind is OriginKind.DEFAULT
    value = "all" if setting.value is None else None if is_unset else toml_value(setting.value)
    return setting.key, value, ", ".join(map(str, setting.origins))
