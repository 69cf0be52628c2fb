"""What the configuration says of each file: which rules run there, and what is known of its prompts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from prefixwise.analyzers.rule import RULES, rules_matching
from prefixwise.analyzers.static.context import Outside, PromptContext
from prefixwise.analyzers.static.discovery import Selection
from prefixwise.analyzers.static.ignored import Rules, patterns
from prefixwise.analyzers.static.templates.parts import Syntax, syntax_named
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.config.layers import OriginKind
from prefixwise.core.config.nearest import Configuration, Configurations
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Level

_Matched = list[tuple[Rules, frozenset[str]]]


class _Compiled(msgspec.Struct, frozen=True):
    """A configuration made ready: rules by name, patterns to be matched."""

    rules: frozenset[str]
    ignored: frozenset[str]
    per_file_select: _Matched
    per_file_ignores: _Matched
    prompts: list[tuple[Rules, PromptContext, str]]
    outside: Outside
    selection: Selection


class Configured:
    """What holds for each file of a run.

    Args:
        configurations: Those that govern the files.
        asked: What the command says of all prompts beside provider and model.

    Raises:
        UserError: By any method: a configuration is wrong, or names a rule or syntax that there is not.
    """

    def __init__(self, configurations: Configurations, asked: PromptContext = PromptContext()) -> None:  # noqa: B008
        self._configurations = configurations
        self._asked = asked
        _check_syntax(asked.syntax, "--syntax")
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def rules(self, path: str) -> frozenset[str]:
        """Return the names of the rules that run in a file."""
        compiled, location = self._of(path)
        alone = [rules for pattern, rules in compiled.per_file_select if _fits(pattern, location)]
        chosen = frozenset().union(*alone) - compiled.ignored if alone else compiled.rules
        return chosen.difference(*(rules for pattern, rules in compiled.per_file_ignores if _fits(pattern, location)))

    def rules_of_any(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the names of the rules that run in any of some files."""
        return frozenset().union(*map(self.rules, paths))

    def fail_on(self, path: str) -> Level | None:
        """Return the mildest level of a finding in a file that makes the command fail; None for never.

        As the file's own configuration says; where that says nothing of it, that of the working folder.
        """
        settings = self._configurations.saying(path, "fail-on", "exit-zero").settings
        return None if settings.exit_zero or settings.fail_on == "never" else Level(settings.fail_on)

    def baseline(self, path: str) -> str:
        """Return the baseline against which findings in a file are held, '' for none; asked for as `fail_on` is."""
        return self._configurations.saying(path, "baseline").settings.baseline

    def has_own_baseline(self, path: str) -> bool:
        """Say whether the baseline of a file is that of its own project, beside the one of the working folder."""
        own, here = self._configurations.of(path), self._configurations.here
        return own.file != here.file and any(origin.kind is OriginKind.FILE for origin in own.origins("baseline"))

    def outside(self, path: str) -> Outside:
        """Return what is known of the prompts of a file; of several entries that fit, a later one wins."""
        compiled, location = self._of(path)
        known, assumed, version = compiled.outside, compiled.outside.assumed, ""
        for pattern, context, its_version in compiled.prompts:
            if _fits(pattern, location):
                assumed, version = context.completed(assumed), its_version or version
        told = PromptContext(provider=known.asked.named().provider)  # the model that the command names may tell it
        return msgspec.structs.replace(known, assumed=told.completed(assumed), version=version)

    @property
    def providers(self) -> frozenset[str]:
        """The providers that were named, by the configurations that were asked for so far and by the command."""
        contexts = [context for one in self._compiled.values() for _, context, _ in one.prompts]
        contexts += [context for one in self._compiled.values() for context in (one.outside.asked, one.outside.assumed)]
        return frozenset(context.provider for context in contexts if context.provider)

    def selection(self, folder: str) -> Selection:
        """Return which files are taken of those directly in a folder, given absolute and without links."""
        return self._made(self._configurations.of_folder(folder)).selection

    def _of(self, path: str) -> tuple[_Compiled, str]:
        return self._made(self._configurations.of(path)), self._configurations.located(path)

    def _made(self, configuration: Configuration) -> _Compiled:
        key = (configuration.file, configuration.folder)
        if key not in self._compiled:
            self._compiled[key] = _compiled(configuration, self._asked)
        return self._compiled[key]


def unknown_providers(names: frozenset[str], book: Rulebook) -> Iterator[str]:
    """Yield a note on each provider of which nothing is known, so that none of its rules can apply."""
    engines = {system.id for system in book.systems()}
    for name in sorted(names - engines):
        if book.provider(name) is None:
            near = difflib.get_close_matches(name.lower(), sorted({*book.providers, *engines}), n=1)
            hint = f"; did you mean {near[0]}?" if near else ", and no rule of a provider applies to its prompts"
            yield f"nothing is known of a provider called {name[:100]!r}{hint}"


def _compiled(configuration: Configuration, asked: PromptContext) -> _Compiled:
    settings, where = configuration.settings, configuration.where
    everything = frozenset(RULES.names())
    selected = everything if settings.select is None else rules_matching(settings.select, where("select"))
    selected |= rules_matching(settings.extend_select, where("extend-select"))
    ignored = rules_matching(settings.ignore, where("ignore"))
    ignored |= rules_matching(settings.extend_ignore, where("extend-ignore"))
    command, files = _contexts(configuration)
    prompts = []
    for entry in settings.prompt:
        _check_syntax(entry.syntax, f"{where('prompt')} ({entry.path})")
        context = PromptContext(role=entry.role, provider=entry.provider, model=entry.model, syntax=entry.syntax)
        prompts.append((_pattern(entry.path, configuration, "prompt"), context.named(), str(entry.version)))
    return _Compiled(
        rules=selected - ignored,
        ignored=ignored,
        per_file_select=_matched(settings.per_file_select, configuration, "per-file-select"),
        per_file_ignores=_matched(settings.per_file_ignores, configuration, "per-file-ignores"),
        prompts=prompts,
        outside=Outside(asked=asked.completed(command), assumed=files.named(), builders=frozenset(settings.builders)),
        selection=Selection(
            base=configuration.folder,
            include=_lines(settings.include, configuration, "include"),
            exclude=_lines(settings.exclude, configuration, "exclude"),
            force_exclude=settings.force_exclude,
        ),
    )


def _contexts(configuration: Configuration) -> tuple[PromptContext, PromptContext]:
    """Return provider and model as the command gives them, and as files do."""
    said: list[dict[str, str]] = [{}, {}]
    for key in ("provider", "model"):
        by_file = not configuration.origins(key)[0].asked
        said[by_file][key] = getattr(configuration.settings, key)
    return PromptContext(**said[False]), PromptContext(**said[True])


def _matched(table: Mapping[str, Iterable[str]], configuration: Configuration, key: str) -> _Matched:
    where = configuration.where(key)
    return [
        (_pattern(pattern, configuration, key), rules_matching(names, f"{where} ({pattern})"))
        for pattern, names in table.items()
    ]


def _pattern(pattern: str, configuration: Configuration, key: str) -> Rules:
    """Return a pattern that stands alone."""
    if pattern.startswith("!"):
        what = "a pattern that takes back has to stand behind another one"
        raise UserError(what, f"{configuration.where(key)} ({pattern[:100]})", "name the files that it is for")
    return patterns(_lines([pattern], configuration, key), configuration.folder)


def _lines(lines: Iterable[str], configuration: Configuration, key: str) -> tuple[str, ...]:
    """Return patterns as `.gitignore` has them. Raises UserError for one that is none."""
    plain = tuple(line.removeprefix("./") for line in lines)
    for line in plain:
        try:
            patterns([line], configuration.folder)
        except ValueError as problem:
            raise UserError(f"this is no pattern: {problem}", f"{configuration.where(key)} ({line[:100]})") from None
    return plain


def _check_syntax(name: str, where: str) -> None:
    if name and syntax_named(name) is None:
        raise UserError("there is no such syntax", f"{where}: {name[:100]}", f"known: {', '.join(Syntax)}")


def _fits(rules: Rules, location: str) -> bool:
    return location.startswith(rules.base) and rules.verdict(location, folder=False) is True
