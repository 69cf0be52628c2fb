"""Prompts rendered whole with a chat template, and their places in the tree.

A request whose items came in the same order before is not rendered again; a segment that was encoded before is not
encoded again. Rendering itself is linear in the text of the distinct requests.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from prefixwise.core.request import Part, Request
from prefixwise.corpus.chat_messages import BARE, Message, answer_of, check_api, flat, messages_of, tool_of
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.template import media_ids
from prefixwise.corpus.tokenizer import BYTES_PER_ID
from prefixwise.corpus.tree import TokenTree, common_ids

_MEDIA = re.compile(r"\ue000([0-9a-f]+):([0-9a-f]+):(\d+)\ue001")
_PROBES = ("a", "Z")
_KEY_ARGUMENTS = ("chat_template_kwargs", "reasoning_effort")


class _Item(msgspec.Struct, frozen=True):
    """What an item is to a template: messages, a tool, a part of the system prompt, or bare text."""

    kind: str
    messages: tuple[Message, ...] = ()
    tool: Any = None
    text: str = ""


class _Body(msgspec.Struct):
    """A request as a template takes it; `bare` is the text of a prompt that no template touches."""

    messages: list[Message]
    tools: list[Any] | None
    bare: str | None


class Place(NamedTuple):
    """Where a prompt stands in the tree: its node, the node behind its answer, and where its head ends, in tokens."""

    node: int
    response: int
    tools_end: int
    system_end: int


class WholePrompts:
    """All prompts of one tokenizer that are rendered whole.

    Args:
        tokenizer: Encodes them; its template renders them.
        tree: Takes them up, below `root`.
        root: The vocabulary's root.
    """

    def __init__(self, tokenizer: PromptTokenizer, tree: TokenTree, root: int) -> None:
        self.tokenizer = tokenizer
        self.root = root
        self.has_media = False
        """Whether any item held an image or another medium, whose tokens no template says."""
        self._tree = tree
        self._nonce = secrets.token_hex(8)  # so that no prompt can spell a medium out
        self._items: dict[int, _Item] = {}
        self._tools: dict[tuple[int, ...], list[Any]] = {}
        self._starts: dict[Any, int] = {}
        self._states: dict[int, int] = {}
        self._segments: dict[int, tuple[int, ...]] = {}
        self._lines: dict[int, int] = {}
        self._nodes: dict[int, int] = {}
        self._responses: dict[tuple[int, int], int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        self._opening = tree.add_segment(tokenizer.opening) if tokenizer.opening else NONE

    def renders(self, api: str) -> bool:
        """Say whether requests of this API are rendered here: chats where there is a template, and bare prompts.

        Raises:
            UserError: There is a template, and it cannot take bodies of this API.
        """
        if self.tokenizer.template is None:
            return api == BARE
        check_api(api)
        return True

    def take(self, number: int, api: str, kind: str, value: Any) -> None:
        """Take in the decoded item `number` of a section of this kind.

        Raises:
            ValueError: The item is not what its API says.
        """
        if kind == "prompt":
            self._items[number] = _Item(kind, text=str(value))
        elif kind == "tools":
            self._items[number] = _Item(kind, tool=tool_of(api, value))
        else:
            self._items[number] = _Item(kind, tuple(map(self._shaped, messages_of(api, kind, value, self.medium))))

    def place(self, request: Request, items: Sequence[int], tools: int, heads: int) -> Place:
        """Return the place of a prompt in the tree.

        Args:
            request: Its parameters and answer.
            items: All its items in order, of which `tools` are tools or response formats and `heads` the head.
            tools: See above.
            heads: See above.

        Raises:
            ValueError: The template refuses the conversation.
        """
        start = self._start(request)
        state = self._state(start, items)
        node = self._nodes.get(state)
        text = None
        if node is None:
            text = self._render(request, self._body(items))
            node = self._nodes[state] = self._walk(text, request.api == BARE)
        head = self._state(start, items[:heads])
        ends = self._ends.get(head)
        if ends is None:
            tools_end = self.depth_behind(request, items[:tools], node)
            ends = self._ends[head] = (tools_end, self.depth_behind(request, items[:heads], node))
        response = NONE
        if request.has_reply:
            reply = hash(request.response)
            known = self._responses.get((state, reply))
            response = self._answer(request, items, node, text) if known is None else known
            self._responses[state, reply] = response
        return Place(node, response, *ends)

    def depth_behind(self, request: Request, leading: Sequence[int], node: int) -> int:
        """Return how many tokens of the prompt at `node` its leading items are.

        That is what the prompt has in common with the leading items rendered alone, or, where a template refuses
        those, with two prompts that go on differently behind them.
        """
        if not leading:
            return 0
        whole = self._tree.ids(node)
        try:
            return self._common(whole, self._render(request, self._body(leading), opens_reply=False))
        except ValueError:
            pass
        depth = len(whole) // BYTES_PER_ID
        for probe in _PROBES:
            body = self._body(leading)
            body.messages.append({"role": "user", "content": probe})
            try:
                depth = min(depth, self._common(whole, self._render(request, body, opens_reply=False)))
            except ValueError:
                return 0
        return depth

    def text(self, request: Request, items: Sequence[int], opens_reply: bool | None = None) -> str:
        """Return the prompt as text, with the reply opened as the request says or as asked for.

        Raises:
            ValueError: The template refuses the conversation.
        """
        return self._render(request, self._body(items), opens_reply)

    def starts(self, text: str, bare: bool) -> tuple[bytes, list[int]]:
        """Return the ids of a rendered prompt, and for each the code point of `text` at which it begins."""
        ids = self.tokenizer.opening if bare else b""
        starts = [0] * (len(ids) // BYTES_PER_ID)
        at = 0
        for begin, end, medium in self._media(text):
            found, places = self.tokenizer.starts(text[at:begin])
            ids += found + medium
            starts += [at + place for place in places] + [begin] * (len(medium) // BYTES_PER_ID)
            at = end
        return ids, starts

    def _common(self, whole: bytes, text: str) -> int:
        ids = b"".join(self._tree.segments[segment] for segment in self._encode(text, bare=False))
        return common_ids(whole, 0, ids, 0, min(len(whole), len(ids)) // BYTES_PER_ID)

    def _start(self, request: Request) -> int:
        """Return the state before any item: what a template is told beside them."""
        arguments = tuple(pair for pair in request.params if pair[0] in _KEY_ARGUMENTS)
        key = (arguments, request.opens_reply, request.api)
        return self._starts.setdefault(key, len(self._starts) + len(self._states))

    def _state(self, state: int, items: Sequence[int]) -> int:
        """Return the state behind `items`; equal sequences of items lead to the same state, and no others."""
        for item in items:
            state = self._states.setdefault(state << 32 | item, len(self._starts) + len(self._states))
        return state

    def _body(self, items: Sequence[int]) -> _Body:
        body = _Body([], None, None)
        system: list[str] = []
        tools: list[int] = []
        for number in items:
            item = self._items[number]
            if item.kind == "tools":
                tools.append(number)
            elif item.kind == "prompt":
                body.bare = item.text
            elif item.kind == "system":
                system.extend(str(flat(message)["content"]) for message in item.messages)
            else:
                body.messages.extend(item.messages)
        if system:
            body.messages.insert(0, {"role": "system", "content": "".join(system)})
        if tools:
            body.tools = self._tools.get(key := tuple(tools))
            if body.tools is None:  # one list for all requests with these tools: its JSON is then written once
                body.tools = self._tools[key] = [self._items[number].tool for number in tools]
        return body

    def _render(self, request: Request, body: _Body, opens_reply: bool | None = None) -> str:
        if body.bare is not None:
            return body.bare
        template = self.tokenizer.template
        assert template is not None, "only what `renders` allows comes here"  # noqa: S101
        arguments: dict[str, Any] = {}
        for name, value in request.params:
            if name == "chat_template_kwargs":
                given = msgspec.json.decode(value)
                arguments |= given if isinstance(given, dict) else {}
            elif name == "reasoning_effort":
                arguments[name] = msgspec.json.decode(value)
        opens = request.opens_reply if opens_reply is None else opens_reply
        return template.render(body.messages, body.tools, opens, arguments)

    def _shaped(self, message: Message) -> Message:
        template = self.tokenizer.template
        return message if template is not None and template.takes_lists else flat(message)

    def medium(self, part: Part) -> str:
        """Return the text that stands for a medium until the prompt is encoded."""
        self.has_media = True
        count = max(1, sum(part.tokens) // 2)
        return f"\ue000{self._nonce}:{part.media.hex()}:{count}\ue001"

    def _encode(self, text: str, bare: bool) -> list[int]:
        """Return the numbers of the segments of a rendered prompt."""
        found = [self._opening] if bare and self._opening != NONE else []
        at = 0
        for begin, end, medium in self._media(text):
            found += self._encode_text(text[at:begin])
            if medium:
                key = hash(text[begin:end])
                if key not in self._segments:
                    self._segments[key] = (self._tree.add_segment(medium),)
                found += self._segments[key]
            at = end
        return found

    def _media(self, text: str) -> Iterator[tuple[int, int, bytes]]:
        """Yield (start, end, ids) of each medium in a rendered prompt, and the end of the text without ids."""
        if self.has_media:
            for match in _MEDIA.finditer(text):
                if match[1] == self._nonce:
                    count = int(match[3])
                    yield *match.span(), media_ids(bytes.fromhex(match[2]), (count, count))
        yield len(text), len(text), b""

    def _encode_text(self, text: str) -> list[int]:
        found: list[int] = []
        for segment in self.tokenizer.segments(text):
            numbers = self._segments.get(hash(segment))
            found += self._add_segment(segment) if numbers is None else numbers
        return found

    def _add_segment(self, segment: str) -> tuple[int, ...]:
        """Encode a segment that was not seen before, each line that was not seen before, and remember it."""
        found = []
        for line in self.tokenizer.lines(segment):
            number = self._lines.get(hash(line))
            if number is None:
                ids = self.tokenizer.encode_prompt(line)
                number = self._lines[hash(line)] = self._tree.add_segment(ids) if ids else NONE
            if number != NONE:
                found.append(number)
        numbers = self._segments[hash(segment)] = tuple(found)
        return numbers

    def _walk(self, text: str, bare: bool) -> int:
        node = self.root
        for segment in self._encode(text, bare):
            node = self._tree.walk(node, segment)
        return node

    def _answer(self, request: Request, items: Sequence[int], node: int, text: str | None) -> int:
        """Return the node behind the answer, as far as it has KV; -1 where the template does not let it follow.

        The prompt has opened the answer's turn already; the token that ended it was sampled last and has no KV.
        """
        try:
            said = answer_of(request.api, msgspec.json.decode(request.response), self.medium)
        except (msgspec.MsgspecError, RecursionError):
            return NONE
        if not said:
            return NONE
        try:
            prompt = self._render(request, self._body(items)) if text is None else text
            if request.api == BARE:
                return self._follow(node, prompt, str(said[0]["content"]), ended=False)
            body = self._body(items)
            body.messages.extend(map(self._shaped, said))
            whole = self._render(request, body, opens_reply=False)
        except ValueError:
            return NONE
        if not whole.startswith(prompt):
            return NONE
        rest = whole[len(prompt) :]
        end = self.tokenizer.end_of_turn(rest)
        return self._follow(node, prompt, rest if end is None else rest[:end], ended=end is not None)

    def _follow(self, node: int, prompt: str, answer: str, ended: bool) -> int:
        """Walk the answer's ids from the prompt's node; without an end of turn, the last of them has no KV."""
        if self.tokenizer.prepends:
            before = self.tokenizer.encode_prompt(prompt)
            both = self.tokenizer.encode_prompt(prompt + answer)
            if not both.startswith(before):
                return NONE
            ids = both[len(before) :]
        else:
            ids = self.tokenizer.encode_prompt(answer)
        if not ended:
            ids = ids[:-BYTES_PER_ID]
        return self._tree.insert(node, self._tree.add_segment(ids)) if ids else NONE
