"""What a model's chat template does that prompts or engines have to know of."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.static.names import judge
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.chat.conversation import Conversation
from prefixwise.analyzers.static.templates.chat.history import REASONING, SYSTEM, TAIL, TOOLS, changes
from prefixwise.analyzers.static.templates.chat.spacing import trimmed_answers
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.templates.jinja.flat import flatten
from prefixwise.analyzers.static.templates.jinja.nodes import (
    Expression,
    Kind,
    Literal,
    Node,
    Output,
    Tag,
    expressions_of,
)
from prefixwise.analyzers.static.templates.jinja.parser import constant_text
from prefixwise.analyzers.static.templates.parts import Placeholder, Value
from prefixwise.analyzers.static.templates.views import View
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.core.finding import Severity, Step

_SEVERITIES = {"day": Severity.LOW, "hour": Severity.MEDIUM}
_TOOLS = frozenset({"tools", "functions", "tool", "function"})
_MESSAGES = {
    REASONING: (
        Severity.LOW,
        "The template leaves reasoning out of earlier answers, so the last answer is another text once the next "
        "message arrives",
    ),
    TOOLS: (
        Severity.MEDIUM,
        "The template prints the tools beside the newest messages, so they move with every turn",
    ),
    SYSTEM: (
        Severity.MEDIUM,
        "The template prints the system prompt into the newest message, so it moves with every turn",
    ),
    TAIL: (
        Severity.LOW,
        "The template prints a text behind all messages, so it moves with every turn",
    ),
}


def traits(source: Source, view: View, nodes: tuple[Node, ...], conversation: Conversation) -> list[TemplateTrait]:
    """Return what a chat template does, in the order of the file."""
    teller = _Teller(source, view, nodes, conversation)
    found = [*teller.dates(), *teller.history(), *teller.spacing(), *teller.tools(), *teller.beginning(), *teller.end()]
    return sorted(found, key=lambda trait: (trait.span.start, trait.rule))


class _Teller:
    def __init__(self, source: Source, view: View, nodes: tuple[Node, ...], conversation: Conversation) -> None:
        self._source = source
        self._view = view
        self._nodes = nodes
        self._conversation = conversation

    def dates(self) -> Iterator[TemplateTrait]:
        """Yield each clock that is read and printed in front of the messages, or among them."""
        seen: set[tuple[int, int]] = set()
        loops = (site.node for site in self._conversation.sites if self._conversation.is_message_loop(site.node))
        last = max((loop.close for loop in loops if isinstance(loop, Tag)), default=0)
        for message in flatten(self._view, self._nodes):
            for part in message.parts:
                if not isinstance(part, Placeholder) or part.start >= self._view.start(last):
                    continue
                for value in part.values:
                    if (value.start, value.end) not in seen and (trait := self._date(value)) is not None:
                        seen.add((value.start, value.end))
                        yield trait

    def _date(self, value: Value) -> TemplateTrait | None:
        """Return the trait of a value that is a clock's answer; variables are the caller's business."""
        if not value.filters or not value.filters[0].startswith("("):
            return None
        judgement = judge(value.name, value.filters)
        if judgement is None or judgement.kind is not VolatileKind.CLOCK:
            return None
        unit = judgement.precision
        severity = _SEVERITIES.get(unit, Severity.HIGH)
        what = "the date of the day" if unit == "day" else "a clock"
        often = {"day": "once a day", "hour": "once an hour"}.get(unit, "from call to call")
        span, quote = self._source.quote(value.start, value.end)
        flow = tuple(Step(self._source.path, self._source.span(step.start, step.end), step.note) for step in value.flow)
        printed = f", in line {flow[-1].span.line}" if flow and flow[-1].span.line != span.line else ""
        return TemplateTrait(
            rule="template-date",
            severity=severity,
            path=self._source.path,
            span=span,
            quote=quote,
            message=f"The template prints {what}{printed}: everything behind it changes {often}",
            flow=flow,
        )

    def history(self) -> Iterator[TemplateTrait]:
        """Yield what it does to earlier messages."""
        for change in changes(self._conversation):
            severity, message = _MESSAGES[change.what]
            yield self._trait("template-history-dependent", severity, change.start, change.end, message)

    def spacing(self) -> Iterator[TemplateTrait]:
        """Yield where white space of answers is lost."""
        found = trimmed_answers(self._conversation)
        if found is not None:
            message = (
                "The template takes white space off answers, so an answer that began or ended with some is another "
                "text when it is sent again"
            )
            yield self._trait("whitespace-drift", Severity.LOW, found.start, found.end, message)

    def tools(self) -> Iterator[TemplateTrait]:
        """Yield where tools are written as JSON in the order of keys that the client happens to send."""
        walked = set(_TOOLS)
        for site in self._conversation.sites:
            if isinstance(site.node, Tag) and site.node.name == "for" and site.node.expressions[0].root in walked:
                walked.update(site.node.targets)
            for expression in expressions_of(site.node):
                for inner in expression.walk():
                    if _writes_unsorted(inner, walked):
                        message = (
                            "The template writes tools as JSON with their keys as the client sends them: another order "
                            "of keys is another prompt"
                        )
                        yield self._trait("schema-key-order", Severity.INFO, inner.start, inner.end, message)
                        return

    def beginning(self) -> Iterator[TemplateTrait]:
        """Yield where the template prints the token that begins a text, which some engines add by themselves."""
        for site in self._conversation.sites:
            if isinstance(site.node, Output) and site.node.expression is not None:
                for inner in site.node.expression.walk():
                    if inner.path == "bos_token":
                        message = (
                            "The template prints the beginning-of-text token: an engine that adds one itself would "
                            "have it twice"
                        )
                        yield self._trait("double-bos", Severity.INFO, site.node.start, site.node.end, message)
                        return

    def end(self) -> Iterator[TemplateTrait]:
        """Yield where the opened reply ends in a blank, which the first token of an answer would have begun with."""
        for site in self._conversation.sites:
            node = site.node
            if not isinstance(node, Tag) or node.name != "if" or not _opens_reply(node):
                continue
            last = next((inner for inner in reversed(node.body) if not isinstance(inner, Tag)), None)
            said = _constant(last)
            if last is not None and said.endswith(" "):
                message = (
                    "The opened reply ends in a blank: answers are read back with another first token than they were "
                    "written with"
                )
                yield self._trait("token-boundary", Severity.INFO, last.start, last.end, message)
                return

    def _trait(self, rule: str, severity: Severity, start: int, end: int, message: str) -> TemplateTrait:
        span, quote = self._source.quote(self._view.start(start), self._view.end(end))
        return TemplateTrait(
            rule=rule, severity=severity, path=self._source.path, span=span, quote=quote, message=message
        )


def _writes_unsorted(expression: Expression, tools: set[str]) -> bool:
    if expression.kind is not Kind.FILTER or expression.name != "tojson" or expression.operands[0].root not in tools:
        return False
    return not any(operand.kind is Kind.KEYWORD and operand.name == "sort_keys" for operand in expression.operands)


def _opens_reply(tag: Tag) -> bool:
    return any(inner.path == "add_generation_prompt" for inner in tag.expressions[0].walk())


def _constant(node: Node | None) -> str:
    if isinstance(node, Literal):
        return node.text
    if isinstance(node, Output) and node.expression is not None:
        return constant_text(node.expression) or ""
    return ""
