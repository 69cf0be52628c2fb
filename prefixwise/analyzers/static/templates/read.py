"""A prompt file as findings: the entry of the analysis of templates."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.chat.conversation import Conversation
from prefixwise.analyzers.static.templates.chat.traits import traits
from prefixwise.analyzers.static.templates.code_regions import Regions, literal_regions
from prefixwise.analyzers.static.templates.found import TemplateFindings
from prefixwise.analyzers.static.templates.front_matter import split_front_matter
from prefixwise.analyzers.static.templates.handlebars import handlebars_messages
from prefixwise.analyzers.static.templates.jinja.flat import flatten
from prefixwise.analyzers.static.templates.jinja.nodes import Node
from prefixwise.analyzers.static.templates.jinja.parser import parse
from prefixwise.analyzers.static.templates.json_text import parse_json
from prefixwise.analyzers.static.templates.judging import judge_template
from prefixwise.analyzers.static.templates.parts import (
    Message,
    Problem,
    Syntax,
    Template,
    Text,
    UnreadableTemplateError,
    in_cache_order,
)
from prefixwise.analyzers.static.templates.prompt_files import Piece, Prompt, prompts_of
from prefixwise.analyzers.static.templates.recognise import Recognised, recognise
from prefixwise.analyzers.static.templates.roles import by_role, role_of_file
from prefixwise.analyzers.static.templates.simple import simple_parts
from prefixwise.analyzers.static.templates.text_forms import text_traits
from prefixwise.analyzers.static.templates.views import View
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml

_NOTHING_KNOWN = PromptContext()


def read_template(
    source: Source, context: PromptContext = _NOTHING_KNOWN, assumed: PromptContext = _NOTHING_KNOWN
) -> TemplateFindings:
    """Return what a prompt file holds and what in it keeps prompts from being cached.

    Nothing in the file is run or rendered. What cannot be read is a problem of the findings, never an error.

    Args:
        source: The file.
        context: What is known of it from outside; what the file says of itself completes it.
        assumed: What holds where the file does not say it of itself.
    """
    try:
        prompts = prompts_in(source)
    except UnreadableTemplateError as problem:
        return TemplateFindings(context=context, problems=(Problem(problem.what, problem.offset),))
    except RecursionError:
        return TemplateFindings(context=context, problems=(Problem("it is nested too deeply", 0),))
    findings = [_Reader(source, prompt, context, assumed).findings() for prompt in prompts]
    templates = tuple(template for found in findings for template in found.templates)
    forms = text_traits(source, templates)
    return TemplateFindings(
        context=findings[0].context if findings else context,
        templates=templates,
        volatiles=tuple(volatile for found in findings for volatile in found.volatiles),
        stranded=tuple(stranded for found in findings for stranded in found.stranded),
        traits=(*(trait for found in findings for trait in found.traits), *forms),
        problems=tuple(problem for found in findings for problem in found.problems),
    )


def prompts_in(source: Source) -> list[Prompt]:
    """Return the texts of a prompt file, and what it says of them.

    Raises:
        UnreadableTemplateError: It is YAML or JSON of a kind that cannot be read.
    """
    name = source.path.lower()
    if name.endswith(".json"):
        return prompts_of(parse_json(source.text))
    if name.endswith((".yaml", ".yml")):
        return prompts_of(parse_yaml(source.text))
    about, start = split_front_matter(source.text)
    return [Prompt((Piece("", View(source.text[start:], start)),), about)]


class _Reader:
    """Reads one prompt of a file."""

    def __init__(self, source: Source, prompt: Prompt, context: PromptContext, assumed: PromptContext) -> None:
        self._source = source
        self._prompt = prompt
        said = context.completed(prompt.about.context)
        known = said.completed(assumed).completed(PromptContext(role=role_of_file(source.path)))
        self._about = msgspec.structs.replace(prompt.about, context=known)
        self._how = Recognised(Syntax.NONE)
        self._literal: list[tuple[int, int]] = []

    def findings(self) -> TemplateFindings:
        """Return what is found in it; what cannot be read is a problem."""
        try:
            self._recognise()
            if self._how.syntax is Syntax.JINJA and len(self._prompt.pieces) == 1:
                return self._jinja()
            return self._judged(self._messages())
        except UnreadableTemplateError as problem:
            return self._unread(problem.what, problem.offset)
        except RecursionError:
            return self._unread("it is nested too deeply", self._prompt.pieces[0].view.start(0))

    def _unread(self, what: str, offset: int) -> TemplateFindings:
        return TemplateFindings(context=self._about.context, problems=(Problem(what, offset),))

    def _recognise(self) -> None:
        pieces = self._prompt.pieces
        whole = pieces[0].view.text if len(pieces) == 1 else "\n".join(piece.view.text for piece in pieces)
        self._literal = literal_regions(whole) if "{" in whole or "%(" in whole else []
        chat = Recognised(Syntax.JINJA) if self._prompt.chat else None
        self._how = chat or recognise(self._source.path, whole, self._about, self._literal)

    def _literal_in(self, view: View) -> list[tuple[int, int]]:
        """Return where braces are text in a piece; nowhere, if the syntax is declared."""
        if not self._how.guessed:
            return []
        return self._literal if len(self._prompt.pieces) == 1 else literal_regions(view.text)

    def _jinja(self) -> TemplateFindings:
        """Return what is found in one text of Jinja, which may be a model's chat template."""
        (piece,) = self._prompt.pieces
        nodes = self._parsed(piece.view)
        conversation = Conversation(nodes) if "messages" in piece.view.text else None
        if conversation is None or not conversation.is_chat:
            return self._judged(by_role(_in_role(flatten(piece.view, nodes), piece.role), lines=True))
        template = Template(syntax=Syntax.JINJA, messages=(), chat=True, version=self._about.version)
        found = traits(self._source, piece.view, nodes, conversation)
        return TemplateFindings(context=self._about.context, templates=(template,), traits=tuple(found))

    def _messages(self) -> list[Message]:
        messages: list[Message] = []
        for piece in self._prompt.pieces:
            messages += _in_role(self._of_view(piece.view), piece.role)
        return by_role(messages, lines=self._source.path.endswith(".prompty"))

    def _of_view(self, view: View) -> list[Message]:
        syntax = self._how.syntax
        if syntax is Syntax.JINJA:
            return flatten(view, self._parsed(view))
        if syntax in (Syntax.HANDLEBARS, Syntax.MUSTACHE):
            try:
                return handlebars_messages(view)
            except UnreadableTemplateError as problem:
                raise UnreadableTemplateError(problem.what, view.start(problem.offset)) from None
        if syntax is Syntax.NONE:
            return [Message("", (Text(view.text, view.start(0), view.end(len(view.text))),))]
        return [Message("", tuple(simple_parts(view, syntax, Regions(self._literal_in(view)))))]

    def _parsed(self, view: View) -> tuple[Node, ...]:
        try:
            return parse(view.text, self._literal_in(view))
        except UnreadableTemplateError as problem:
            raise UnreadableTemplateError(problem.what, view.start(problem.offset)) from None

    def _judged(self, messages: list[Message]) -> TemplateFindings:
        messages = [message for message in messages if message.says_something]
        roles = any(message.role for message in messages)
        ordered, version = in_cache_order(messages), self._about.version
        template = Template(syntax=self._how.syntax, messages=ordered, roles=roles, version=version)
        judged = judge_template(self._source, template, self._about)
        problem = self._how.problem
        return TemplateFindings(
            context=self._about.context,
            templates=(template,),
            volatiles=judged.volatiles,
            stranded=judged.stranded,
            problems=(Problem(problem, self._prompt.pieces[0].view.start(0)),) if problem else (),
        )


def _in_role(messages: list[Message], role: str) -> list[Message]:
    return [message._replace(role=message.role or role) for message in messages]
