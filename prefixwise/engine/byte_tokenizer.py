"""A vocabulary of bytes, for models of random weights: any text is a prompt, and nothing has to be fetched."""

from __future__ import annotations

from prefixwise.corpus.chat_template import DEFAULT, ChatTemplate
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer, packed

OPEN, CLOSE, PAD = 256, 257, 258
_SPECIAL = {"<|open|>": OPEN, "<|close|>": CLOSE, "<|pad|>": PAD}
_TEMPLATE = (
    "{% for message in messages %}<|open|>{{ message.role }}\n{{ message.content }}<|close|>{% endfor %}"
    "{% if add_generation_prompt %}<|open|>assistant\n{% endif %}"
)


class ByteTokenizer(PromptTokenizer):
    """The id of a byte is its value; three tokens open and close turns and fill up."""

    def __init__(self) -> None:
        super().__init__("bytes", "one token a byte")
        self.set_special_tokens(_SPECIAL, _SPECIAL)
        self.named_tokens = {"bos_token": "<|open|>", "eos_token": "<|close|>", "pad_token": "<|pad|>"}
        self.template = ChatTemplate({DEFAULT: _TEMPLATE}, self.name, self.named_tokens)

    def encode(self, text: str) -> bytes:
        """Return the bytes of `text`; lone surrogates become U+FFFD."""
        return packed(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())

    def encode_prompt(self, text: str) -> bytes:
        """Return the ids of a rendered prompt."""
        return self.starts(text)[0]

    def starts(self, text: str) -> tuple[bytes, list[int]]:
        """Return the ids of a rendered prompt, and for each the code point of `text` at which it begins."""
        ids: list[int] = []
        starts: list[int] = []

        def plain(begin: int, end: int) -> None:
            for at in range(begin, end):
                data = text[at].encode("utf-8", "replace")
                ids.extend(data)
                starts.extend([at] * len(data))

        last = 0
        for begin, end in self._special.find(text):
            plain(last, begin)
            ids.append(_SPECIAL[text[begin:end]])
            starts.append(begin)
            last = end
        plain(last, len(text))
        return packed(ids), starts

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`; ids beyond the vocabulary, which random weights may choose, are dropped."""
        names = {number: token for token, number in _SPECIAL.items()}
        data = b"".join(bytes((i,)) if i < OPEN else names[i].encode() if i in names else b"" for i in ids)
        return data.decode("utf-8", "replace")
