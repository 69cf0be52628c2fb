"""In whose scope a place of a text stands: the key, line, heading and tags that speak of it."""

from __future__ import annotations

import re

_FARTHEST = 6_000
"""Characters above a place in which its headings and tags are looked for."""
_MOST_LINES = 40
_LONGEST = 60

_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]{0,40})((?:\s[^<>]{0,200})?)>")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[\W_]+")
_MARKUP = " \t#*_`\"'=-–—>[](){}|•·:："
_SEPARATORS = re.compile(r"[:=：|]")
# Where a key starts, looking left from its separator.
_KEY_START = re.compile(r"[\n{}\[\](),;|<>\"'`?&]|[.!?]\s|\s[-–—•*]\s")
_LIST_MARK = re.compile(r"(?:[-*+•>]|\d{1,3}[.)])\s+")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that parts them by white space."""
    return frozenset(text.split())


def words(text: str) -> str:
    """Return a key or heading as lower-case words: `messageId`, `message_id` and `# Message id` are `message id`."""
    plain = text.strip(_MARKUP)[-_LONGEST:]
    return _NO_WORD.sub(" ", _HUMP.sub(" ", plain)).strip().lower()


def scope(text: str, at: int) -> tuple[str, ...]:
    """Return in words what speaks of the value that starts at `at`, nearest first.

    The key on its line (`"received": …`, `Current time: …`, `| Time | …`, `cwd=…`), lines above that open a list or a
    nested block, the heading above, and the tags it stands in, innermost first.
    """
    lowest = max(0, at - _FARTHEST)
    start = max(text.rfind("\n", lowest, at) + 1, lowest)
    left = text[max(start, at - 200) : at]
    found = [
        key_of(left),
        *_outer_keys(left),
        *_openers(text, start, lowest),
        _heading(text, start, lowest),
        *_tags(text, at),
    ]
    return tuple(dict.fromkeys(name for name in found if name))


def key_of(left: str) -> str:
    """Return in words the key whose value begins where `left`, the part of a line before it, ends; '' for none."""
    end = len(left)
    for match in reversed(list(_SEPARATORS.finditer(left))):
        behind = left[match.end() : end]
        if ". " in behind or len(behind) > 80:
            return ""
        if key := _key_before(left, match.start(), behind):
            return key
    return ""


def _key_before(left: str, at: int, behind: str) -> str:
    """Return the key that ends at a separator, '' where the separator is none: in a time, a ratio, an address."""
    separator = left[at]
    if separator in ":：" and ((left[at - 1 : at].isdigit() and behind[:1].isdigit()) or behind.startswith("//")):
        return ""
    head = left[:at].rstrip(" \t\"'`*_)]")
    start = max((match.end() for match in _KEY_START.finditer(head)), default=0)
    key = _LIST_MARK.sub("", head[start:].strip(), count=1)
    if separator == "=":
        key = key.rpartition(" ")[2]
    name = words(key)
    return name if name and name.count(" ") < 6 and not name.isdigit() else ""


def _outer_keys(left: str) -> list[str]:
    """Return the keys of the objects on the line that are open where `left` ends, innermost first."""
    found: list[str] = []
    depth = 0
    for at in range(len(left) - 1, 0, -1):
        if left[at] in "}])":
            depth += 1
        elif left[at] in "{[(":
            depth -= 1
            if depth < 0:
                depth = 0
                if left[:at].rstrip().endswith((":", "=")) and len(found) < 3:
                    found.append(key_of(left[:at]))
    return found


def _openers(text: str, start: int, lowest: int) -> list[str]:
    """Return the lines above that open the block in which the line at `start` stands: `Files:`, `"user": {`."""
    found: list[str] = []
    end = start - 1
    indent = _indent(text, start)
    blank = False
    for _ in range(_MOST_LINES):
        if end <= lowest:
            break
        begin = text.rfind("\n", lowest, end) + 1
        line = text[begin:end][-200:].rstrip()
        end = begin - 1
        if not line:
            if blank or found:
                break
            blank = True
            continue
        own = len(line) - len(line.lstrip())
        opens = line.endswith((":", "{", "[", "：", ":**"))
        if opens and not line.lstrip().startswith("#") and (own < indent or not found):
            found.append(words(line.rstrip("{[ :：*")))
            indent = own
        if blank or (own == 0 and found):
            break
    return found


def _indent(text: str, start: int) -> int:
    line = text[start : start + 80]
    return len(line) - len(line.lstrip(" \t"))


def _heading(text: str, start: int, lowest: int) -> str:
    """Return the nearest heading above in words: `## Title`, `**Title**` or `[Title]` alone on a line."""
    marks = [text.rfind(mark, lowest, start) for mark in ("\n#", "\n**", "\n[", "\n==")]
    marks += [lowest] if lowest == 0 and text.startswith(("#", "**", "[", "==")) and start else []
    for at in sorted((mark for mark in marks if mark >= 0), reverse=True):
        begin = at + (text[at] == "\n")
        end = text.find("\n", begin, begin + 200)
        line = text[begin : end if end >= 0 else begin + 200].strip()
        if line.startswith("#") or line.endswith(("**", "]", "**:", "==")):
            return words(line)
    return ""


def _tags(text: str, at: int) -> list[str]:
    """Return the names of the tags that are open at `at`, innermost first."""
    lowest = max(0, at - _FARTHEST)
    if text.rfind("<", lowest, at) < 0:
        return []
    open_tags: list[str] = []
    for match in _TAG.finditer(text, lowest, at):
        closing, name, rest = match.groups()
        if not closing:
            if not rest.endswith("/"):
                open_tags.append(name)
        elif name in open_tags:
            while open_tags.pop() != name:
                pass
    return [words(name) for name in reversed(open_tags[-3:])]
