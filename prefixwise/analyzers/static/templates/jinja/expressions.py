"""Expressions of Jinja, read from tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prefixwise.analyzers.static.templates.jinja.lexer import Token
from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_DEEPEST = 30
_LEVELS = (frozenset({"+", "-"}), frozenset({"~"}), frozenset({"*", "/", "//", "%"}), frozenset({"**"}))
# Behind a test's name, what begins one of these is no argument of the test.
_ENDS_TEST = frozenset({"else", "and", "or", "in", "is", "not", "if"})


class Tokens:
    """The tokens of one tag, read from the left."""

    def __init__(self, tokens: Sequence[Token], end: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = end
        self._depth = 0

    @property
    def more(self) -> bool:
        """Whether there is another token."""
        return self._at < len(self._tokens)

    @property
    def start(self) -> int:
        """Where the next token begins."""
        return self._tokens[self._at].start if self.more else self._end

    @property
    def last_end(self) -> int:
        """Where the token before this one ends."""
        return self._tokens[self._at - 1].end if self._at else self._end

    def next_is(self, *texts: str, kind: str = "") -> bool:
        """Say whether the next token is one of these, or of a kind."""
        if not self.more:
            return False
        token = self._tokens[self._at]
        if kind:
            return token.kind == kind
        return token.kind != "string" and token.text in texts

    def take(self) -> Token:
        """Return the next token and move on."""
        if not self.more:
            raise UnreadableTemplateError("an expression is not complete", self._end)
        token = self._tokens[self._at]
        self._at += 1
        return token

    def skip(self, *texts: str) -> bool:
        """Move on if the next token is one of these, and say whether it was."""
        if self.next_is(*texts):
            self._at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Move over a token that has to come next."""
        if not self.skip(text):
            raise UnreadableTemplateError(f"{text!r} is missing", self.start)

    def expression(self) -> Expression:
        """Read an expression.

        Raises:
            UnreadableTemplateError: What comes is none, or it is nested too deeply.
        """
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableTemplateError("an expression is nested too deeply", self.start)
        found = self._or()
        while self.skip("if"):
            asked = self._or()
            otherwise = (self.expression(),) if self.skip("else") else ()
            found = Expression(Kind.CHOICE, "if", (asked, found, *otherwise), found.start, self.last_end)
        self._depth -= 1
        return found

    def listed(self) -> Expression:
        """Read an expression, or several with commas between them."""
        first = self.expression()
        if not self.next_is(","):
            return first
        items = [first]
        while self.skip(","):
            if self.more and not self.next_is(")", "]", "%"):
                items.append(self.expression())
        return Expression(Kind.COLLECTION, ",", tuple(items), first.start, self.last_end)

    def without_choice(self) -> Expression:
        """Read an expression that ends before an `if`."""
        return self._or()

    def _or(self) -> Expression:
        found = self._and()
        while self.skip("or"):
            found = self._joined("or", found, self._and())
        return found

    def _and(self) -> Expression:
        found = self._not()
        while self.skip("and"):
            found = self._joined("and", found, self._not())
        return found

    def _not(self) -> Expression:
        start = self.start
        turns = 0
        while self.skip("not"):
            turns += 1
        found = self._compared()
        for _ in range(turns):
            found = Expression(Kind.OPERATION, "not", (found,), start, found.end)
        return found

    def _compared(self) -> Expression:
        found = self._level(0)
        while self.more:
            if self.next_is(*_COMPARISONS):
                said = self.take().text
            elif self.skip("in"):
                said = "in"
            elif self.next_is("not") and self._follows("in"):
                self._at += 2
                said = "not in"
            else:
                break
            found = self._joined(said, found, self._level(0))
        return found

    def _follows(self, text: str) -> bool:
        return self._at + 1 < len(self._tokens) and self._tokens[self._at + 1].text == text

    def _constant_follows(self) -> bool:
        """Say whether a text or number follows the next token."""
        return self._at + 1 < len(self._tokens) and self._tokens[self._at + 1].kind in ("string", "number")

    def _level(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._signed()
        found = self._level(level + 1)
        while self.next_is(*_LEVELS[level]):
            said = self.take().text
            found = self._joined(said, found, self._level(level + 1))
        return found

    def _signed(self) -> Expression:
        start = self.start
        signs = 0
        while self.skip("-", "+"):
            signs += 1
        found = self._behind(self._primary())
        return Expression(Kind.OPERATION, "sign", (found,), start, found.end) if signs else found

    def _primary(self) -> Expression:
        token = self.take()
        if token.kind == "name":
            return Expression(Kind.NAME, token.text, (), token.start, token.end)
        if token.kind == "number":
            return Expression(Kind.CONSTANT, token.text, (), token.start, token.end)
        if token.kind == "string":
            end = token.end
            while self.next_is(kind="string"):
                end = self.take().end
            return Expression(Kind.CONSTANT, token.text[1:-1], (), token.start, end)
        if token.text == "(":
            return self._in_parentheses(token.start)
        if token.text == "[":
            items = self._until("]", self.expression)
            return Expression(Kind.COLLECTION, "[", tuple(items), token.start, self.last_end)
        if token.text == "{":
            items = self._until("}", self._pair)
            return Expression(Kind.COLLECTION, "{", tuple(items), token.start, self.last_end)
        raise UnreadableTemplateError(f"{token.text!r} is unexpected", token.start)

    def _in_parentheses(self, start: int) -> Expression:
        if self.skip(")"):
            return Expression(Kind.COLLECTION, "(", (), start, self.last_end)
        inner = self.listed()
        self.expect(")")
        return msgspec.structs.replace(inner, start=start, end=self.last_end)

    def _pair(self) -> Expression:
        key = self.expression()
        self.expect(":")
        value = self.expression()
        return Expression(Kind.COLLECTION, ":", (key, value), key.start, value.end)

    def _behind(self, found: Expression) -> Expression:
        while self.more:
            if self.skip("."):
                token = self.take()
                found = Expression(Kind.ATTRIBUTE, token.text, (found,), found.start, token.end)
            elif self.skip("["):
                key = self._key()
                self.expect("]")
                found = Expression(Kind.ITEM, "[", (found, key), found.start, self.last_end)
            elif self.skip("("):
                arguments = self._until(")", self._argument)
                found = Expression(Kind.CALL, "(", (found, *arguments), found.start, self.last_end)
            elif self.skip("|"):
                found = self._filtered(found)
            elif self.next_is("is"):
                found = self._tested(found)
            else:
                break
        return found

    def _key(self) -> Expression:
        start = self.start
        pieces: list[Expression] = []
        slices = False
        while not self.next_is("]"):
            if self.skip(":"):
                slices = True
            else:
                pieces.append(self.listed())
        if slices:
            return Expression(Kind.COLLECTION, ":", tuple(pieces), start, self.start)
        if not pieces:
            raise UnreadableTemplateError("an index is missing", start)
        return pieces[0]

    def _filtered(self, found: Expression) -> Expression:
        name = self._dotted()
        arguments = self._until(")", self._argument) if self.skip("(") else []
        if self.next_is(":") and self._constant_follows():  # arguments as Liquid writes them
            self.take()
            arguments = [self._primary()]
            while self.next_is(",") and self._constant_follows():
                self.take()
                arguments.append(self._primary())
        return Expression(Kind.FILTER, name, (found, *arguments), found.start, self.last_end)

    def _tested(self, found: Expression) -> Expression:
        self.expect("is")
        negated = self.skip("not")
        name = self._dotted()
        arguments: list[Expression] = []
        if self.skip("("):
            arguments = self._until(")", self._argument)
        elif self._argument_follows():
            arguments = [self._behind(self._primary())]
        name = f"not {name}" if negated else name
        return Expression(Kind.TEST, name, (found, *arguments), found.start, self.last_end)

    def _argument_follows(self) -> bool:
        if self.next_is(kind="string") or self.next_is(kind="number"):
            return True
        return self.next_is(kind="name") and not self.next_is(*_ENDS_TEST)

    def _dotted(self) -> str:
        name = self.take().text
        while self.next_is(".") and self.more:
            self.take()
            name += f".{self.take().text}"
        return name

    def _argument(self) -> Expression:
        if self.next_is(kind="name") and self._follows("="):
            name = self.take()
            self.take()
            value = self.expression()
            return Expression(Kind.KEYWORD, name.text, (value,), name.start, value.end)
        while self.skip("*", "**"):
            pass
        return self.expression()

    def _until(self, closing: str, read: Callable[[], Expression]) -> list[Expression]:
        items: list[Expression] = []
        while not self.skip(closing):
            items.append(read())
            if not self.next_is(closing):
                self.expect(",")
        return items

    def _joined(self, said: str, left: Expression, right: Expression) -> Expression:
        return Expression(Kind.OPERATION, said, (left, right), left.start, right.end)
