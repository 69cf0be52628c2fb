"""A Jinja template as a tree."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.static.templates.jinja.expressions import Tokens
from prefixwise.analyzers.static.templates.jinja.lexer import Chunk, ChunkKind, chunks
from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind, Literal, Node, Output, Tag
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError

# Tags with a body, what ends it, and tags that stand alone; of others an `end…` further on decides.
_BLOCKS = frozenset({"if", "for", "macro", "call", "filter", "block", "with", "generation", "autoescape", "trans"})
_ALONE = frozenset({"include", "import", "from", "extends", "break", "continue", "do", "else", "elif", "elsif"})
_ASKING = frozenset({"if", "elif", "elsif", "do", "include", "extends", "call", "unless"})
_SETTERS = frozenset({"set", "assign"})
_BRANCHES = frozenset({"elif", "elsif", "else"})
_DEEPEST = 40


def parse(text: str, literal: Sequence[tuple[int, int]] = ()) -> tuple[Node, ...]:
    """Read a template.

    Args:
        text: The template.
        literal: Stretches that are text whatever they look like, in order.

    Raises:
        UnreadableTemplateError: It cannot be read as Jinja.
    """
    return _Parser(text, list(chunks(text, literal))).template()


class _Parser:
    def __init__(self, text: str, found: list[Chunk]) -> None:
        self._text = text
        self._chunks = found
        self._at = 0
        self._depth = 0
        self._names = [_tag_name(chunk) for chunk in found]
        self._last = {name: at for at, name in enumerate(self._names)}

    def template(self) -> tuple[Node, ...]:
        nodes = self._nodes()
        if self._at < len(self._chunks):
            name = self._names[self._at]
            raise UnreadableTemplateError(f"{{% {name} %}} closes nothing", self._chunks[self._at].start)
        return nodes

    def _nodes(self) -> tuple[Node, ...]:
        """Read up to the next tag that closes something."""
        nodes: list[Node] = []
        while self._at < len(self._chunks):
            chunk, name = self._chunks[self._at], self._names[self._at]
            if name in _BRANCHES or name.startswith("end"):
                break
            self._at += 1
            if chunk.kind is ChunkKind.TEXT:
                nodes.append(Literal(self._text[chunk.start : chunk.end], chunk.start, chunk.end))
            elif chunk.kind is ChunkKind.OUTPUT:
                nodes.append(Output(_whole(chunk), chunk.start, chunk.end))
            else:
                nodes.append(self._statement(name, chunk))
        return tuple(nodes)

    def _statement(self, name: str, chunk: Chunk) -> Tag:
        targets, expressions = _asked(name, chunk)
        alone = name in _ALONE or (name in _SETTERS and bool(expressions))
        if name not in _BLOCKS and (alone or not self._ends_later(name)):
            return Tag(name, targets, expressions, (), (), chunk.start, chunk.end, chunk.end)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableTemplateError("blocks are nested too deeply", chunk.start)
        tag = self._block(name, targets, expressions, chunk)
        self._depth -= 1
        return tag

    def _block(self, name: str, targets: tuple[str, ...], expressions: tuple[Expression, ...], chunk: Chunk) -> Tag:
        """Read a block up to its end, with every branch that it has."""
        branches = [(targets, expressions, self._nodes(), chunk)]
        otherwise: tuple[Node, ...] = ()
        closing, said = self._closing(name, chunk)
        while said in _BRANCHES:
            if said == "else":
                otherwise = self._nodes()
            else:
                branches.append((*_asked("if", closing), self._nodes(), closing))
            closing, said = self._closing(name, chunk)
        for targets, expressions, body, opening in reversed(branches):
            kind = name if opening is chunk else "if"
            tag = Tag(kind, targets, expressions, body, otherwise, opening.start, opening.end, closing.end)
            otherwise = (tag,)
        return tag

    def _closing(self, name: str, chunk: Chunk) -> tuple[Chunk, str]:
        """Take the tag that ends a block, or begins its next branch."""
        if self._at == len(self._chunks):
            raise UnreadableTemplateError(f"{{% {name} %}} does not end", chunk.start)
        closing, said = self._chunks[self._at], self._names[self._at]
        if said not in _BRANCHES and said != f"end{name}":
            raise UnreadableTemplateError(f"{{% {said} %}} closes nothing", closing.start)
        self._at += 1
        return closing, said

    def _ends_later(self, name: str) -> bool:
        return self._last.get(f"end{name}", -1) >= self._at


def _tag_name(chunk: Chunk) -> str:
    if chunk.kind is not ChunkKind.STATEMENT:
        return ""
    if not chunk.tokens:
        raise UnreadableTemplateError("a tag is empty", chunk.start)
    return chunk.tokens[0].text


def _whole(chunk: Chunk) -> Expression | None:
    """Return what an output prints; None where it is something else than an expression of Jinja."""
    tokens = Tokens(chunk.tokens, chunk.end - 2)
    try:
        found = tokens.listed()
    except UnreadableTemplateError:
        return None
    return None if tokens.more else found


def _asked(name: str, chunk: Chunk) -> tuple[tuple[str, ...], tuple[Expression, ...]]:
    """Return (targets, expressions) of a statement; what has no known form is left unread."""
    tokens = Tokens(chunk.tokens[1:], chunk.end - 2)
    if name in _ASKING and tokens.more:
        return (), (tokens.listed(),)
    if name == "for":
        targets = _names(tokens)
        tokens.expect("in")
        walked = tokens.without_choice()
        return targets, (walked, tokens.expression()) if tokens.skip("if") else (walked,)
    if name in _SETTERS:
        targets = _names(tokens)
        return targets, (tokens.listed(),) if tokens.skip("=") else ()
    if name == "macro":
        return _parameters(tokens), ()
    return _bound(tokens) if name == "with" else ((), ())


def _names(tokens: Tokens) -> tuple[str, ...]:
    """Read the names that a `for` or `set` gives values to."""
    names = []
    while tokens.next_is(kind="name") or tokens.next_is("("):
        if tokens.skip("("):
            continue
        name = tokens.take().text
        while tokens.skip("."):
            name += f".{tokens.take().text}"
        names.append(name)
        tokens.skip(")")
        if not tokens.skip(","):
            break
        tokens.skip(")")
    return tuple(names)


def _parameters(tokens: Tokens) -> tuple[str, ...]:
    """Read the name of a macro and return its parameters; their defaults are its own affair."""
    names = []
    if tokens.next_is(kind="name"):
        tokens.take()
    if not tokens.skip("("):
        return ()
    while tokens.next_is(kind="name"):
        names.append(tokens.take().text)
        if tokens.skip("="):
            tokens.expression()
        tokens.skip(",")
    return tuple(names)


def _bound(tokens: Tokens) -> tuple[tuple[str, ...], tuple[Expression, ...]]:
    targets, expressions = [], []
    while tokens.next_is(kind="name"):
        targets.append(tokens.take().text)
        tokens.expect("=")
        expressions.append(tokens.expression())
        tokens.skip(",")
    return tuple(targets), tuple(expressions)


def constant_text(expression: Expression) -> str | None:
    """Return the text of a string constant, with the escapes that matter resolved; None for anything else."""
    if expression.kind is not Kind.CONSTANT:
        return None
    return expression.name.replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'").replace('\\"', '"')
