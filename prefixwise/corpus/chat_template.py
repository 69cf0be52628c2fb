"""A model's own chat template: Jinja, rendered as Hugging Face transformers renders it, without transformers.

What a template may use is what `transformers.utils.chat_template_utils` (5.24) gives it: blocks trimmed, loop
controls, `{% generation %}`, `tojson` that keeps characters and key order, `raise_exception`, `strftime_now`, and a
sandbox that cannot change what it is given.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prefixwise.core.errors import UserError

if TYPE_CHECKING:
    import jinja2

PINNED_DATE = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
"""What `strftime_now` says: a clock would make every run another result."""

DEFAULT = "default"
TOOL_USE = "tool_use"
_PROBE = "prefixwiseprobe"
_LONGEST_MESSAGE = 100
_MOST_TEXTS = 4096


class ChatTemplate:
    """One model's chat template.

    Args:
        sources: Jinja source by name; `tool_use`, where there is one, renders requests with tools.
        name: Where it comes from, for messages.
        named_tokens: `bos_token` and so on.

    Raises:
        UserError: A source is no valid template.
    """

    def __init__(self, sources: Mapping[str, str], name: str, named_tokens: Mapping[str, str]) -> None:
        self.name = name
        self._named_tokens = named_tokens
        self._clock_read = False
        environment = _environment(self._now)
        self._compiled = {key: _compile(environment, source, name) for key, source in sources.items()}
        self._default = self._compiled.get(DEFAULT) or next(iter(self._compiled.values()))
        self._takes_lists: bool | None = None

    @property
    def reads_clock(self) -> bool:
        """Whether anything that was rendered asked for the date."""
        return self._clock_read

    @property
    def takes_lists(self) -> bool:
        """Whether the template renders message content that is a list of parts; else it takes strings only."""
        if self._takes_lists is None:
            content = [{"type": "text", "text": _PROBE}]
            try:
                text = self.render([{"role": "user", "content": content}])
            except ValueError:
                text = ""
            self._takes_lists = _PROBE in text and "'text'" not in text and '"text"' not in text
        return self._takes_lists

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Any] | None = None,
        opens_reply: bool = False,
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the prompt of a conversation as text.

        Args:
            messages: In the shape of Chat Completions, oldest first.
            tools: Tool definitions in that shape; None where the request has none.
            opens_reply: Whether the assistant's turn is opened behind the last message.
            arguments: What the request hands to the template (`chat_template_kwargs`).

        Raises:
            ValueError: The template refuses the conversation, or fails on it.
        """
        import jinja2

        compiled = self._compiled.get(TOOL_USE, self._default) if tools else self._default
        values = {**self._named_tokens, **(arguments or {})}
        values |= {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": opens_reply}
        try:
            return compiled.render(values)
        except jinja2.TemplateError as problem:
            said = str(problem.message or type(problem).__name__)[:_LONGEST_MESSAGE]
            raise ValueError(f"the chat template refuses the conversation: {said}") from None
        except Exception as problem:  # a template is a program: whatever it stumbles over concerns this request only
            raise ValueError(f"the chat template fails on the conversation ({type(problem).__name__})") from None

    def _now(self, pattern: str) -> str:
        self._clock_read = True
        return PINNED_DATE.strftime(pattern)


def _compile(environment: jinja2.Environment, source: str, name: str) -> jinja2.Template:
    import jinja2

    try:
        return environment.from_string(source)
    except jinja2.TemplateSyntaxError as problem:
        raise UserError(f"the chat template is not valid (line {problem.lineno}: {problem.message})", name) from None
    except RecursionError:
        raise UserError("the chat template is nested too deeply", name) from None


def _environment(now: Callable[[str], str]) -> jinja2.Environment:
    """Return a sandbox with what chat templates expect."""
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.parser
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        """`{% generation %}`, which marks the assistant's text for training and renders as what it holds."""

        tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

        def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.Scope(body).set_lineno(line)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _JsonTexts().text
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = now
    return environment


def _refuse(message: str) -> str:
    import jinja2

    raise jinja2.TemplateError(str(message))


class _JsonTexts:
    """Values as JSON, each written once: the tools of an application come again with every request.

    A value is known by its identity, which nothing can change while it is kept here; templates cannot change values.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Any, str]] = {}

    def text(
        self,
        value: Any,
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Return `value` as JSON; what `json.dumps` takes, with transformers' defaults."""
        key = (id(value), ensure_ascii, indent, separators, sort_keys)
        known = self._known.get(key) if isinstance(value, (dict, list)) else None
        if known is None:
            text = json.dumps(
                value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
            )
            known = (value, text)
            if isinstance(value, (dict, list)):
                if len(self._known) >= _MOST_TEXTS:
                    self._known.clear()
                self._known[key] = known
        return known[1]
