"""Reading of scripts that stand in a test."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.static.scripts.read import read_scripts
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.volatile import Volatile

RULES = "Answer from the manual only, quote the section, and never guess a figure."


def read(
    code: str, path: str = "src/app.ts", builders: Iterable[str] = (), **others: str
) -> tuple[tuple[Volatile, ...], tuple[str, ...]]:
    """Return what is found in a script beside other modules, of which `__` in the names stands for a dot."""
    texts = {path: code, **{f"src/{name.replace('__', '.')}": text for name, text in others.items()}}
    return read_scripts({name: Source(name, text) for name, text in texts.items()}, [path], builders)


def found(code: str, path: str = "src/app.ts", builders: Iterable[str] = (), **others: str) -> list[tuple[str, str]]:
    """Return (kind, quote) of what is found."""
    return [(str(one.kind), one.quote) for one in read(code, path, builders, **others)[0]]


def sent(expression: str, *, before: str = "", imports: str = "") -> str:
    """Return a script that sends an expression in front of constant system text."""
    return f"""{imports}
const RULES = "{RULES}";
export async function ask(question: string, history: Message[]) {{
  {before}
  return client.chat.completions.create({{
    model: "m",
    messages: [
      {{ role: "system", content: `${{{expression}}}\\n${{RULES}}` }},
      ...history,
      {{ role: "user", content: question }},
    ],
  }});
}}
"""
