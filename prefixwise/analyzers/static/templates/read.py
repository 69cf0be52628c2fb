"""A prompt file as findings: the entry of the analysis of templates."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.chat.conversation import Conversation
from prefixwise.analyzers.static.templates.chat.traits import traits
from prefixwise.analyzers.static.templates.code_regions import Regions, literal_regions
from prefixwise.analyzers.static.templates.found import TemplateFindings
from prefixwise.analyzers.static.templates.front_matter import About, split_front_matter
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
from prefixwise.analyzers.static.templates.roles import by_role
from prefixwise.analyzers.static.templates.simple import simple_parts
from prefixwise.analyzers.static.templates.views import View
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml

_NOTHING_KNOWN = PromptContext()


def read_template(source: Source, context: PromptContext = _NOTHING_KNOWN) -> TemplateFindings:
    """Return what a prompt file holds and what in it keeps prompts from being cached.

    Nothing in the file is run or rendered. What cannot be read is a problem of the findings, never an error.

    Args:
        source: The file.
        context: What is known of it from outside; what the file says of itself completes it.
    """
    try:
        prompts = _prompts(source)
    except UnreadableTemplateError as problem:
        return TemplateFindings(context=context, problems=(Problem(problem.what, problem.offset),))
    except RecursionError:
        return TemplateFindings(context=context, problems=(Problem("it is nested too deeply", 0),))
    findings = [_findings(source, prompt, context) for prompt in prompts]
    return TemplateFindings(
        context=findings[0].context if findings else context,
        templates=tuple(template for found in findings for template in found.templates),
        volatiles=tuple(volatile for found in findings for volatile in found.volatiles),
        stranded=tuple(stranded for found in findings for stranded in found.stranded),
        traits=tuple(trait for found in findings for trait in found.traits),
        problems=tuple(problem for found in findings for problem in found.problems),
    )


def _prompts(source: Source) -> list[Prompt]:
    name = source.path.lower()
    if name.endswith(".json"):
        return prompts_of(parse_json(source.text))
    if name.endswith((".yaml", ".yml")):
        return prompts_of(parse_yaml(source.text))
    about, start = split_front_matter(source.text)
    return [Prompt((Piece("", View(source.text[start:], start)),), about)]


def _findings(source: Source, prompt: Prompt, context: PromptContext) -> TemplateFindings:
    known = context.completed(prompt.about.context)
    try:
        about = About(known, prompt.about.declared, prompt.about.fixed, prompt.about.keys)
        whole = "\n".join(piece.view.text for piece in prompt.pieces)
        how = Recognised(Syntax.JINJA) if prompt.chat else recognise(source.path, whole, about)
        if how.syntax is Syntax.JINJA and len(prompt.pieces) == 1:
            return _jinja(source, prompt, known, how)
        return _judged(source, _template(prompt, how), prompt.about, known)
    except UnreadableTemplateError as problem:
        return TemplateFindings(context=known, problems=(Problem(problem.what, problem.offset),))
    except RecursionError:
        return TemplateFindings(context=known, problems=(Problem("it is nested too deeply", 0),))


def _jinja(source: Source, prompt: Prompt, context: PromptContext, how: Recognised) -> TemplateFindings:
    """Return what is found in one text of Jinja, which may be a model's chat template."""
    (piece,) = prompt.pieces
    nodes = _parsed(piece.view, how)
    conversation = Conversation(nodes)
    if conversation.is_chat:
        template = Template(syntax=Syntax.JINJA, messages=(), chat=True)
        found = traits(source, piece.view, nodes, conversation)
        return TemplateFindings(context=context, templates=(template,), traits=tuple(found))
    messages = [
        Message(message.role or piece.role, message.parts)
        for message in by_role(flatten(piece.view, nodes), lines=True)
    ]
    return _judged(source, _in_order(messages, how), prompt.about, context)


def _judged(source: Source, template: Template, about: About, context: PromptContext) -> TemplateFindings:
    judged = judge_template(source, template, about, context)
    return TemplateFindings(
        context=context,
        templates=(template,),
        volatiles=judged.volatiles,
        stranded=judged.stranded,
        problems=(template.problem,) if template.problem is not None else (),
    )


def _template(prompt: Prompt, how: Recognised) -> Template:
    messages: list[Message] = []
    for piece in prompt.pieces:
        read = _messages(piece.view, how)
        messages += [Message(message.role or piece.role, message.parts) for message in read]
    template = _in_order(by_role(messages, lines=False), how)
    if not how.problem:
        return template
    return msgspec.structs.replace(template, problem=Problem(how.problem, prompt.pieces[0].view.start(0)))


def _in_order(messages: list[Message], how: Recognised) -> Template:
    messages = [message for message in messages if message.says_something]
    roles = any(message.role for message in messages)
    return Template(syntax=how.syntax, messages=in_cache_order(messages), roles=roles)


def _parsed(view: View, how: Recognised) -> tuple[Node, ...]:
    try:
        return parse(view.text, literal_regions(view.text) if how.guessed else [])
    except UnreadableTemplateError as problem:
        raise UnreadableTemplateError(problem.what, view.start(problem.offset)) from None


def _messages(view: View, how: Recognised) -> list[Message]:
    """Return the messages of one text."""
    if how.syntax is Syntax.JINJA:
        return flatten(view, _parsed(view, how))
    if how.syntax in (Syntax.HANDLEBARS, Syntax.MUSTACHE):
        try:
            return handlebars_messages(view)
        except UnreadableTemplateError as problem:
            raise UnreadableTemplateError(problem.what, view.start(problem.offset)) from None
    if how.syntax is Syntax.NONE:
        whole = Text(view.text, view.start(0), view.end(len(view.text)))
        return [Message("", (whole,))] if view.text else []
    literal = literal_regions(view.text) if how.guessed else []
    return [Message("", tuple(simple_parts(view, how.syntax, Regions(literal))))]
