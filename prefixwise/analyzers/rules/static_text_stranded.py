"""`static-text-stranded`."""

from __future__ import annotations

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.moves import moved_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Safety, Severity, Where


class StaticTextStranded(SourceRule):
    """# Constant text behind a variable

    A cache serves a prompt up to its first difference. Constant text that stands behind a variable is computed anew
    for each value of it, however long it is and however seldom it changes itself. Moved in front of the first variable
    it would be computed once.

    Reported where it is long enough to matter: above the least that the model's provider caches, where the model is
    known. Where the variable's name tells what it is (a clock, a user's name, recalled notes), its own rule says so
    instead.

    Put what is the same for all first: role, rules, examples, output format. Then what changes seldom, then what
    changes with each request.

    In a template:

    ```jinja bad
    {{ question }}

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    Dogs travel in the open part of the deck and bicycles on the car deck. When a crossing is cancelled, name the
    next one, and say that the ticket holds for it. Give no advice on trains, buses or hotels. Of two crossings that
    fit, name the earlier one. A timetable holds for one season; say so where somebody asks for a day of the next one.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    Dogs travel in the open part of the deck and bicycles on the car deck. When a crossing is cancelled, name the
    next one, and say that the ticket holds for it. Give no advice on trains, buses or hotels. Of two crossings that
    fit, name the earlier one. A timetable holds for one season; say so where somebody asks for a day of the next one.

    {{ question }}
    ```
    """

    name = "static-text-stranded"
    code = "PW114"
    summary = "Constant text stands behind the first variable of a template"
    severity = Severity.MEDIUM
    fix = "Move the constant text in front of the first variable."
    safety = Safety.UNSAFE
    where = (Where.TEMPLATE,)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return moved_in_source(seen, bench)


RULES.add(StaticTextStranded.name, StaticTextStranded())
