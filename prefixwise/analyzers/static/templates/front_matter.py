"""What a prompt file says of itself above its text: model, roles, syntax, and what is filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping as Facts

import msgspec

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError, syntax_named
from prefixwise.analyzers.static.templates.trees import Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml
from prefixwise.corpus.tokenizer import provider_of

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_MARKS = words("model input inputs output config api configuration tools ext variant metadata sample")


class About(msgspec.Struct, frozen=True):
    """What is declared of a prompt.

    Attributes:
        context: Model, provider, role and syntax, as far as they are named.
        declared: What is said of each variable: its type and description.
        fixed: Variables whose value the file itself gives.
        keys: What the file says anything about.
        version: Version of the prompt, as it is written.
    """

    context: PromptContext = PromptContext()
    declared: Facts[str, str] = {}
    fixed: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    version: str = ""

    @property
    def is_dotprompt(self) -> bool:
        """Whether it looks like the front matter of a prompt, and not of a page."""
        return not self.keys.isdisjoint(_MARKS)


def split_front_matter(text: str) -> tuple[About, int]:
    """Return what the front matter says, and where the text begins; nothing and 0 where there is none."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening is not None else None
    if opening is None or closing is None:
        return About(), int(text.startswith("\ufeff"))
    try:
        tree = parse_yaml(text, opening.end(), closing.start())
    except UnreadableTemplateError:
        return About(), closing.end()
    return about(tree), closing.end()


def about(tree: Tree) -> About:
    """Return what a mapping says of the prompt beside it."""
    if not isinstance(tree, Mapping):
        return About()
    model, provider = _model(tree)
    context = PromptContext(
        role=tree.said("role") if tree.said("role") in ("system", "user", "assistant", "developer") else "",
        provider=provider,
        model=model,
        syntax=_syntax(tree),
    )
    declared: dict[str, str] = {}
    for key in ("input", "inputs", "input_variables", "variables", "parameters"):
        _declare(tree.get(key), declared)
    fixed = tree.get("partial_variables")
    names = [name for name, _ in fixed.entries] if isinstance(fixed, Mapping) else []
    return About(context, declared, frozenset(names), frozenset(key for key, _ in tree.entries), _version(tree))


def _version(tree: Mapping) -> str:
    keys = ("version", "prompt_version", "promptVersion", "prompt-version")
    described = tree.get("metadata", "meta")
    return tree.said(*keys) or (described.said(*keys) if isinstance(described, Mapping) else "")


def _model(tree: Mapping) -> tuple[str, str]:
    """Return (model, provider) as far as they are named."""
    model, provider = tree.said("model", "model_name", "modelId"), tree.said("provider", "model_provider", "vendor")
    described = tree.get("model")
    if isinstance(described, Mapping):
        settings = described.get("configuration", "connection", "options")
        places = [described, *([settings] if isinstance(settings, Mapping) else [])]
        for place in places:
            model = model or place.said("name", "id", "model", "azure_deployment")
            provider = provider or place.said("provider", "type")
    vendor, slash, _ = model.partition("/")
    if not provider and slash:
        provider = vendor
    return model, provider_of(model, provider.lower().replace("azure_openai", "azure"))


def _syntax(tree: Mapping) -> str:
    template = tree.get("template")
    said = [tree.said("template_format", "templateFormat", "template_engine", "engine", "syntax", "format")]
    if isinstance(template, Mapping):
        said.append(template.said("format", "type"))
    elif isinstance(template, Scalar):
        said.append(template.text.strip())
    return next((str(found) for found in map(syntax_named, said) if found is not None), "")


def _declare(tree: Tree | None, declared: dict[str, str]) -> None:
    """Add what is said of variables, in any of the ways that prompt files have."""
    if isinstance(tree, Sequence):
        for item in tree.items:
            if isinstance(item, Mapping) and item.said("name"):
                declared[item.said("name")] = _described(item)
            elif isinstance(item, Scalar):
                declared.setdefault(item.text.strip(), "")
    elif isinstance(tree, Mapping):
        schema = tree.get("schema", "properties")
        if isinstance(schema, Mapping):
            _declare(schema, declared)
            return
        for name, said in tree.entries:
            declared[re.sub(r"[?(].*$", "", name).strip()] = _described(said)


def _described(tree: Tree) -> str:
    if isinstance(tree, Scalar):
        return tree.text.strip()
    return f"{tree.said('type')}, {tree.said('description')}".strip(", ") if isinstance(tree, Mapping) else ""
