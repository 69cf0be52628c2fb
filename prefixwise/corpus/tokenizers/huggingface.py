"""Tokenizers in Hugging Face's formats: a folder, a `tokenizer.json`, or a model's name on the hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.corpus.chat_template import DEFAULT, ChatTemplate
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer, packed
from prefixwise.corpus.tokenizers.gguf import load_gguf
from prefixwise.corpus.tokenizers.gguf_file import is_gguf
from prefixwise.corpus.tokenizers.library import LibraryTokenizer, need_tokenizers
from prefixwise.corpus.tokenizers.pretokenizers import LINE_CUTTING_PATTERNS

TOKENIZER, CONFIG, TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
_OLD_TEMPLATE = "chat_template.json"
_MORE_TEMPLATES = "additional_chat_templates"
_SPECIAL_TOKENS = "special_tokens_map.json"
_HUB_FILES = (TOKENIZER, CONFIG, TEMPLATE, _OLD_TEMPLATE, _SPECIAL_TOKENS)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_NAMED_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
# What works on each text between special tokens by itself, whatever stands around it.
_LOCAL_NORMALIZERS = frozenset(
    (
        *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Replace", "Prepend", "Strip", "StripAccents", "Precompiled"),
        *("ByteLevel", "BertNormalizer", "Nmt"),
    )
)
_COMPOSING = frozenset(("NFC", "NFD", "NFKC", "NFKD"))
_LOCAL_STEPS = frozenset(
    (
        *("ByteLevel", "Split", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit", "BertPreTokenizer"),
        *("CharDelimiterSplit", "UnicodeScripts", "Metaspace"),
    )
)


class _AddedToken(msgspec.Struct):
    content: str
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


class _Definition(msgspec.Struct):
    """What of a `tokenizer.json` says how texts may be cut."""

    added_tokens: list[_AddedToken] = []
    normalizer: dict[str, Any] | None = None
    pre_tokenizer: dict[str, Any] | None = None


def load_tokenizer(where: str) -> PromptTokenizer:
    """Return the tokenizer at a path (folder, `tokenizer.json`, GGUF file) or of a model's name on the hub.

    A folder's chat template is its `chat_template.jinja`, else the one in its `tokenizer_config.json`. Names are
    looked up in the local cache of `huggingface_hub` first and downloaded where they are not there.

    Raises:
        UserError: There is no such file or name, or it cannot be read.
        MissingExtraError: The `tokenizers` library is not installed.
    """
    path = Path(where)
    if path.is_dir():
        return _from_folder(path, where)
    if is_gguf(path):
        return load_gguf(path, where)
    if path.is_file():
        return _from_file(path, where, {})
    if not _HUB_NAME.fullmatch(where) or path.suffix in (".json", ".gguf"):
        raise UserError("no such file or folder", where, "name a folder, a tokenizer.json, a GGUF file or a hub name")
    need_tokenizers()
    return _from_folder(_from_hub(where), where)


def _from_folder(folder: Path, name: str) -> PromptTokenizer:
    if not (folder / TOKENIZER).is_file():
        raise UserError(f"the folder has no {TOKENIZER}", name, "name a folder that has one, or a GGUF file")
    config = {**_json(folder / _SPECIAL_TOKENS), **_json(folder / CONFIG)}
    tokenizer = _from_file(folder / TOKENIZER, name, config)
    tokens = _named_tokens(config)
    tokenizer.named_tokens = tokens
    templates = _templates(folder, config)
    if templates:
        tokenizer.template = ChatTemplate(templates, name, tokens)
    return tokenizer


def _from_file(path: Path, name: str, config: dict[str, Any]) -> PromptTokenizer:
    need_tokenizers()
    import tokenizers

    try:
        data = path.read_bytes()
        definition = msgspec.json.decode(data, type=_Definition)
        library = tokenizers.Tokenizer.from_buffer(data)
    except OSError as problem:
        raise UserError(f"cannot be read: {problem.strerror}", str(path)) from None
    except Exception as problem:  # the library raises plain Exception for a file that it does not understand
        raise UserError(f"is no {TOKENIZER}: {str(problem)[:100]}", str(path)) from None
    known = {token.content for token in definition.added_tokens}
    added = definition.added_tokens + _missing_tokens(library, known, config)
    tokenizer = LibraryTokenizer(name, f"its own {TOKENIZER}", library)
    plain = [token for token in added if not token.normalized]
    tokenizer.set_special_tokens(
        [token.content for token in plain], [token.content for token in plain if token.special]
    )
    tokenizer.whole_because = _why_whole(added, definition)
    tokenizer.cuts_lines = _cuts_lines(definition)
    tokenizer.prepends = _prepends(definition)
    with_special = library.encode("a", add_special_tokens=True).ids
    without = library.encode("a", add_special_tokens=False).ids
    if without and without[0] in with_special:
        tokenizer.opening = packed(with_special[: with_special.index(without[0])])
    return tokenizer


def _missing_tokens(library: Any, known: set[str], config: dict[str, Any]) -> list[_AddedToken]:
    """Add the special tokens that only the configuration lists or names, as transformers does, and return them."""
    import tokenizers

    listed = config.get("added_tokens_decoder")
    listed = listed if isinstance(listed, dict) else {}
    wanted = [_added_token(listed[key]) for key in sorted(listed, key=lambda key: (len(key), key))]  # by number
    named = _named_tokens(config)
    wanted += [_AddedToken(named[role], special=True) for role in _NAMED_TOKENS if role in named]
    added = []
    for token in wanted:
        if token is None or not token.content or token.content in known:
            continue
        known.add(token.content)
        settings = {name: getattr(token, name) for name in ("normalized", "lstrip", "rstrip", "single_word")}
        entry = tokenizers.AddedToken(token.content, **settings, special=token.special)
        (library.add_special_tokens if token.special else library.add_tokens)([entry])
        added.append(token)
    return added


def _added_token(value: Any) -> _AddedToken | None:
    try:
        return msgspec.convert(value, _AddedToken)
    except msgspec.ValidationError:
        return None


def _why_whole(added: list[_AddedToken], definition: _Definition) -> str:
    """Return why prompts of this tokenizer cannot be cut at special tokens, empty where they can.

    The library takes the special tokens out first and works on each text between them by itself, so only tokens that
    reach beyond themselves and steps that look at a text's place in the whole are in the way.
    """
    special = [token for token in added if token.special]
    if not special:
        return "it has no special tokens"
    if any(token.lstrip or token.rstrip for token in added):
        return "its special tokens swallow white space beside them"
    if any(token.single_word for token in added):
        return "its special tokens look at the characters beside them"
    if definition.normalizer is not None and any(token.normalized for token in special):
        return "its special tokens are looked for in normalised text"
    for step in _steps(definition.normalizer, "normalizers"):
        if step.get("type") not in _LOCAL_NORMALIZERS:
            return f"its normalizer {step.get('type')} is not known to work on each text by itself"
    for step in _steps(definition.pre_tokenizer, "pretokenizers"):
        if step.get("type") not in _LOCAL_STEPS:
            return f"its pre-tokenizer {step.get('type')} is not known to work on each text by itself"
        if step.get("type") == "Metaspace" and step.get("prepend_scheme", "always") == "first":
            return "a space is put before the first text only"
    return ""


def _prepends(definition: _Definition) -> bool:
    """Say whether something is put before a text: a space, or what a normalizer adds."""
    steps = _steps(definition.pre_tokenizer, "pretokenizers")
    return any(step.get("type") == "Prepend" for step in _steps(definition.normalizer, "normalizers")) or any(
        step.get("add_prefix_space")
        or (step.get("type") == "Metaspace" and step.get("prepend_scheme", "always") != "never")
        for step in steps
    )


def _cuts_lines(definition: _Definition) -> bool:
    """Say whether a tokenizer is known to split between a line feed and a following letter or digit."""
    if any(step.get("type") not in _COMPOSING for step in _steps(definition.normalizer, "normalizers")):
        return False
    for step in _steps(definition.pre_tokenizer, "pretokenizers"):
        pattern = step.get("pattern")
        if isinstance(pattern, dict) and pattern.get("Regex") in LINE_CUTTING_PATTERNS:
            return step.get("behavior") == "Isolated" and not step.get("invert")
    return False


def _steps(component: dict[str, Any] | None, key: str) -> list[dict[str, Any]]:
    """Return the steps of a sequence, or the one step that a component is."""
    if component is None:
        return []
    return component.get(key, []) if component.get("type") == "Sequence" else [component]


def _templates(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    """Return the chat templates of a folder by name; files win over the configuration."""
    found = _named_templates(_json(folder / _OLD_TEMPLATE).get("chat_template"))
    found |= _named_templates(config.get("chat_template"))
    if (folder / TEMPLATE).is_file():
        found[DEFAULT] = read_template(folder / TEMPLATE)
    for path in sorted((folder / _MORE_TEMPLATES).glob("*.jinja")):
        found[path.stem] = read_template(path)
    return found


def _named_templates(value: Any) -> dict[str, str]:
    """Return templates by name from a configuration: one source, or a list of names and sources."""
    if isinstance(value, str):
        return {DEFAULT: value}
    entries = value if isinstance(value, list) else []
    return {
        str(entry["name"]): entry["template"]
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("template"), str) and "name" in entry
    }


def _named_tokens(config: dict[str, Any]) -> dict[str, str]:
    """Return `bos_token` and so on from a configuration, where a token is its text or an object with it."""
    found = {}
    for key, value in config.items():
        text = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(text, str):
            found[key] = text
    return found


def read_template(path: Path) -> str:
    """Return the source of a chat template. Raises UserError for a file that cannot be read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"cannot be read as a chat template: {problem}", str(path)) from None


def _json(path: Path) -> dict[str, Any]:
    """Return a JSON object, empty where there is no such file. Raises UserError for a file that is none."""
    if not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError) as problem:
        raise UserError(f"cannot be read as JSON: {problem}", str(path)) from None


def _from_hub(name: str) -> Path:
    """Return the folder with a model's tokenizer files, from the local cache or the hub."""
    import huggingface_hub

    reason = f"no {TOKENIZER}"
    for local in (True, False):
        try:
            found = huggingface_hub.snapshot_download(name, allow_patterns=list(_HUB_FILES), local_files_only=local)
        except Exception as problem:  # any network, permission or naming error of the hub's client
            reason = type(problem).__name__
            continue
        if (Path(found) / TOKENIZER).is_file():
            return Path(found)
    raise UserError(
        f"is no file or folder, is not in the local cache, and the hub gave nothing ({reason})",
        name,
        "name a folder with a tokenizer.json, or a GGUF file",
    )
