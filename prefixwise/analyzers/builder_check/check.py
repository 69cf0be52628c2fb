"""Turns every knob around a prompt builder and compares what it returns."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import msgspec

from prefixwise.analyzers.builder_check.failures import WHAT_TO_RETURN, BuilderError, error_of, said
from prefixwise.analyzers.builder_check.knobs import KNOBS, Knob, Surroundings
from prefixwise.analyzers.builder_check.prompts import Until, head_of, prompt_of
from prefixwise.analyzers.builder_check.runner import Builder, Failure, Ran, Runner
from prefixwise.analyzers.builder_check.variables import changeable
from prefixwise.analyzers.diff import Difference, Verdict, difference
from prefixwise.core.request import Request
from prefixwise.corpus.tokenizer import Tokenizer
from prefixwise.corpus.tokenizers.openai import DEFAULT_ENCODING, load

Answer = Literal["stable", "moved", "not tested"]
UNPERTURBED = 3
_MORE_RUNS = 5
"""Further unperturbed runs where the prompt moves by itself and nothing holds it: by chance two random values may begin
alike, and the place where they part must not depend on chance."""
_CHANCE = 4
"""Tokens by which the place may still come earlier by chance."""
_AT_ONCE = 4


class Turn(msgspec.Struct, frozen=True):
    """What came of one variant of a knob.

    Attributes:
        label: Of the variant.
        answer: `not tested` where it had no effect that could be seen, or the builder did not run so.
        moved: Where the prompt parts from the unperturbed one.
        problem: Why the builder did not run.
    """

    label: str
    answer: Answer
    moved: Difference | None = None
    problem: str = ""


class Turned(msgspec.Struct, frozen=True):
    """What came of one knob."""

    name: str
    title: str
    answer: Answer
    turns: tuple[Turn, ...]
    why: str = ""


class Checked(msgspec.Struct, frozen=True):
    """What came of a check.

    Attributes:
        target: `module:function`.
        python: Version of the interpreter.
        until: Where the stable prefix has to reach.
        whole: Whether the whole prompt was compared, since nothing stands before that place.
        is_text: Whether the builder returned a bare text.
        unperturbed: What came of running it several times with nothing changed.
        knobs: What came of each knob.
        stable_tokens: Tokens up to the first place where anything moved.
        tokens: Tokens up to where the stable prefix has to reach.
        tokenizer: What counted them.
        runs: How many processes were started.
        variables: Environment variables that the builder read.
        replaced: Those of them that look like secrets and were replaced.
        refused: Addresses that it was not let reach.
        programs: Programs that it started.
        held: Whether random numbers were held still for the other knobs.
    """

    target: str
    python: str
    until: Until
    whole: bool
    is_text: bool
    unperturbed: Turned
    knobs: tuple[Turned, ...]
    stable_tokens: int
    tokens: int
    tokenizer: str
    runs: int
    variables: tuple[str, ...]
    replaced: tuple[str, ...]
    refused: tuple[str, ...]
    programs: tuple[str, ...]
    held: bool

    @property
    def answer(self) -> Answer:
        """`moved` where anything moved, `not tested` where nothing could have."""
        answers = {turned.answer for turned in (self.unperturbed, *self.knobs)}
        if "moved" in answers:
            return "moved"
        return "stable" if any(turned.answer == "stable" for turned in self.knobs) else "not tested"


def check(
    builder: Builder,
    until: Until = "system",
    knobs: Collection[str] = (),
    replaced: Collection[str] = (),
    progress: Callable[[int, int, str], object] = lambda _done, _total, _what: None,
) -> Checked:
    """Run `builder` unperturbed, then with one knob at a time turned, then with all.

    Args:
        builder: What to run.
        until: Where the stable prefix has to reach.
        knobs: Names of the knobs to turn; all of them where empty.
        replaced: Names of the environment variables that were replaced.
        progress: Told of (runs done, runs in all, what they are).

    Raises:
        BuilderError: The builder did not return a prompt in surroundings where nothing was changed.
        UserError: The interpreter is none.
    """
    wanted = [knob for knob in KNOBS if not knobs or knob.name in knobs]
    with Runner(builder) as runner, ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        try:
            return _Check(builder, until, wanted, runner, pool, progress).result(replaced)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.__exit__(None, None, None)  # the pool waits for its threads, and they for processes
            raise


class _Task(NamedTuple):
    knob: Knob
    label: str
    turned: Surroundings


class _Check:
    """One check under way."""

    def __init__(
        self,
        builder: Builder,
        until: Until,
        knobs: Sequence[Knob],
        runner: Runner,
        pool: ThreadPoolExecutor,
        progress: Callable[[int, int, str], object],
    ) -> None:
        self._builder = builder
        self._until = until
        self._knobs = knobs
        self._runner = runner
        self._pool = pool
        self._progress = progress
        self._tokenizer: Tokenizer = load(DEFAULT_ENCODING)
        self._start = Surroundings()
        self._floor: int | None = None

    def result(self, replaced: Collection[str]) -> Checked:
        first = self._run_checked(self._start, look_for_sets=True)
        again = [self._run_checked(self._start) for _ in range(UNPERTURBED - 1)]
        base = first
        self._head, whole = self._head_of(first)
        turns = self._compared(again, base)
        held = False
        if _worst(turns) is not None and first.asked.get("random"):
            base = self._hold(first)
            held = base is not first
        if _worst(turns) is not None and not held:
            again.extend(self._pool.map(self._run_checked, [self._start] * _MORE_RUNS))
            turns = self._compared(again, base)
            self._take_for_chance(turns)
        variables = changeable({name for ran in (first, *again) for name in ran.variables})
        base = msgspec.structs.replace(base, sets=first.sets, variables=tuple(sorted({*base.variables, *variables})))
        done = self._run_all(base)
        last = self._turn("at the end", self._runner.run(self._start), base)
        if last.answer == "moved":  # something drifts, and the first runs were too close together to show it
            self._take_for_chance((last,))
        turns = (*turns, last)
        answer: Answer = "moved" if _worst(turns) else "stable"
        unperturbed = Turned("none", f"nothing ({len(turns) + 1} runs)", answer, turns)
        turned = tuple(self._turned(knob, done, base) for knob in self._knobs)
        every = (first, *again, *(ran for _, ran in done))
        tokens = difference(self._head, self._head, self._choose).first_tokens
        kept = [d.kept_tokens for t in (unperturbed, *turned) if (d := _worst(t.turns)) is not None]
        is_text = base.value is not None and base.value.startswith('"')
        return Checked(
            target=self._builder.target,
            python=self._runner.version,
            until=self._until,
            whole=whole and not is_text,
            is_text=is_text,
            unperturbed=unperturbed,
            knobs=turned,
            stable_tokens=min([tokens, *kept]),
            tokens=tokens,
            tokenizer=self._tokenizer.name,
            runs=self._runner.runs,
            variables=variables,
            replaced=tuple(sorted({name for ran in every for name in ran.variables} & set(replaced))),
            refused=tuple(sorted({address for ran in every for address in ran.refused})),
            programs=tuple(sorted({program for ran in every for program in ran.programs})),
            held=held,
        )

    def _compared(self, again: Sequence[Ran], base: Ran) -> tuple[Turn, ...]:
        return tuple(self._turn(f"run {index}", ran, base) for index, ran in enumerate(again, 2))

    def _hold(self, first: Ran) -> Ran:
        """Hold random numbers still, if that makes the prompt stand still; return the run to compare with."""
        still = msgspec.structs.replace(self._start, random=0)
        one, other = (self._runner.run(still) for _ in range(2))
        if one.value is None or other.value is None:
            return first
        head = self._head
        self._head, _ = self._head_of(one)
        if self._differs(other) is None:
            self._start = still
            return one
        self._head = head
        return first

    def _take_for_chance(self, turns: Sequence[Turn]) -> None:
        """Let what comes after the place where the prompt moves by itself count as no effect of a knob."""
        worst = _worst(turns)
        if worst is not None:
            self._floor = worst.kept_tokens - _CHANCE

    def _run_all(self, base: Ran) -> list[tuple[_Task, Ran]]:
        """Run every variant of every knob that can be had here."""
        tasks = [
            _Task(knob, label, msgspec.structs.replace(self._start, **changes))
            for knob in self._knobs
            for label, changes in knob.variants
        ]
        tasks = [task for task in tasks if self._is_worth_it(task, base)]
        done = []
        run = functools.partial(self._runner.run, read=base.variables)
        for task, ran in zip(tasks, self._pool.map(run, [task.turned for task in tasks]), strict=True):
            done.append((task, ran))
            self._progress(len(done), len(tasks), "runs")
        return done

    def _turned(self, knob: Knob, done: Sequence[tuple[_Task, Ran]], base: Ran) -> Turned:
        turns = tuple(self._turn(task.label, ran, base, knob.name) for task, ran in done if task.knob is knob)
        return _together(knob, turns, base)

    def _is_worth_it(self, task: _Task, base: Ran) -> bool:
        """Say whether a variant can be had here and differs from what was run already."""
        if not self._runner.can(task.turned):
            return task.knob.name == "all"
        if task.turned.variables in ("changed", "unset"):
            return bool(changeable(base.variables))
        return True

    def _turn(self, label: str, ran: Ran, base: Ran, knob: str = "") -> Turn:
        if ran.value is None:
            failure = ran.failure or Failure("call", "ended", "")
            return Turn(label, "not tested", problem=said(failure))
        try:
            moved = self._differs(ran)
        except ValueError as problem:
            return Turn(label, "not tested", problem=f"no prompt came: {problem}")
        if moved is not None and (self._floor is None or moved.kept_tokens < self._floor or not knob):
            return Turn(label, "moved", moved)
        if knob and not (_asked(knob, ran, base)):
            return Turn(label, "not tested")
        return Turn(label, "stable")

    def _run_checked(self, turned: Surroundings, *, look_for_sets: bool = False) -> Ran:
        """Run the builder. Raises BuilderError where no prompt came."""
        ran = self._runner.run(turned, look_for_sets=look_for_sets)
        if ran.value is None:
            raise error_of(ran, self._builder)
        return ran

    def _head_of(self, ran: Ran) -> tuple[Request, bool]:
        try:
            return head_of(prompt_of(ran.value or "null"), self._until)
        except ValueError as problem:
            raise BuilderError(str(problem), self._builder.target, WHAT_TO_RETURN, ran.stderr) from None

    def _differs(self, ran: Ran) -> Difference | None:
        """Return where the head of a result parts from that of the run to compare with; None where it does not."""
        found = difference(self._head, head_of(prompt_of(ran.value or "null"), self._until)[0], self._choose)
        if not found.same_model or not found.same_namespace:
            place = "/model" if not found.same_model else "cache key"
            return msgspec.structs.replace(found, kept_tokens=0, first_field=place, second_field=place, role="",
                                           kind="key", char_offset=None, first_text="", second_text="")  # fmt: skip
        if found.verdict is not Verdict.IDENTICAL:
            return found
        if found.parameters:
            place = f"/{found.parameters[0]}"
            return msgspec.structs.replace(found, first_field=place, second_field=place, kind="key", role="")
        return None

    def _choose(self, _provider: str, _model: str) -> Tokenizer:
        return self._tokenizer


def _together(knob: Knob, turns: tuple[Turn, ...], base: Ran) -> Turned:
    """Put the variants of a knob together: one that moved is enough, and one that was tested."""
    answers = {turn.answer for turn in turns}
    answer: Answer = "moved" if "moved" in answers else "stable" if "stable" in answers else "not tested"
    why = ""
    if answer == "not tested":
        broken = [turn for turn in turns if turn.problem]
        why = f"the builder does not run so: {broken[0].problem}" if broken else knob.idle
        if knob.name == "clock" and not base.moves_datetime:
            why = "this interpreter does not let `datetime` be moved"
        elif not turns:
            why = "cannot be changed on this system"
    return Turned(knob.name, knob.title, answer, turns, why)


def _asked(knob: str, ran: Ran, base: Ran) -> bool:
    """Say whether the builder asked for what a knob changes, and the change took effect.

    Programs that it starts see the folder and the environment too.
    """
    read = {*ran.variables, *base.variables}
    started = bool(ran.programs or base.programs)

    def asked(*names: str) -> bool:
        return any(ran.asked.get(name) or base.asked.get(name) for name in names)

    answers: dict[str, Callable[[], bool]] = {
        "clock": lambda: asked("clock"),
        "hash-seed": lambda: base.sets and ran.hash != base.hash,
        "random-seed": lambda: asked("random"),
        "zone": lambda: (asked("zone") or started or "TZ" in read) and ran.zone != base.zone,
        "locale": lambda: asked("locale") or started or any(name.startswith(("LANG", "LC_")) for name in read),
        "cwd": lambda: asked("folder") or started or bool(read & {"PWD", "OLDPWD"}),
        "environment": lambda: asked("every variable", "host") or started or bool(changeable(read)),
        "directory-order": lambda: asked("order"),
    }
    if knob == "all":
        return any(answer() for answer in answers.values())
    return answers[knob]()


def _worst(turns: Sequence[Turn]) -> Difference | None:
    """Return the difference that keeps least."""
    moved = [turn.moved for turn in turns if turn.moved is not None]
    return min(moved, key=lambda difference: difference.kept_tokens, default=None)
