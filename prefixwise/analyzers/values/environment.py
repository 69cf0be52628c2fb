"""Whether a difference is the state of the machine: paths, git status, hosts, files that are open."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_LONGEST = 4_000

_FILE = r"\"?[\w.@+~/\\-]+\"?"
_GIT = re.compile(
    rf"(?m)^(?:(?:(?:[MADRCU] | [MDT]|\?\?|!!) |[MARCUD][MDAU] (?=[\w-]*[./])){_FILE}(?: -> {_FILE})?[ \t]*$"
    r"|nothing to commit|On branch \S|HEAD detached|Your branch is |Untracked files|no changes added|## \S+\.\.\.\S"
    r"|Changes (?:not staged|to be committed)|\s{0,8}(?:modified|new file|deleted|renamed|both modified):\s)"
    r"|working tree clean"
)
_LOG_LINE = re.compile(r"[0-9a-f]{7,40} \S.*")
_DESCRIBE = re.compile(r"v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?-\d{1,6}-g[0-9a-f]{4,40}(?:-dirty)?")
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+~-]+[/\\])*[\w.@+~-]*|(?:[\w.@+~-]+[/\\])+[\w.@+~-]*|[\w.@+-]+\.(?:py|pyi|ts|tsx|js|jsx|mjs|go|rs|"
    r"c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|md|mdx|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|lock|sql|sh|ps1|html|css|scss|vue|svelte|ipynb|csv|xml|log|proto|tf)"
)
_HOST_BEFORE = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\.internal|\.local):\Z")
_HASH = re.compile(r"[0-9a-f]{7,40}")
_GIT_WORDS = word_set("head commit branch")
_LISTING = re.compile(r"[-dl][rwxsStT-]{9}[+@.]?\s+\d")
_OWN_PATH = re.compile(
    r"/(?:home|tmp|var|workspaces?|work|repos?|code|src|data|projects?|root|Users|mnt|opt|usr|app|srv|etc|private|sandbox)/|~/|[A-Za-z]:\\"
)
_HOST = re.compile(
    r"(?:ip-\d{1,3}(?:-\d{1,3}){3}[\w.-]*|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|localhost(?::\d{1,5})?|[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|svc|cluster|corp)"
    r"|(?:[a-z]+-)+[0-9a-z]{4,12}-[0-9a-z]{4,8})"
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•│├└─|]+|\d{1,3}[.)]|[drwx-]{10})?\s*")

_WORDS = word_set(
    """
    cwd pwd directory directories dir layout structure folder folders git branch branches commit commits head worktree
    status files file tree listing ls hostname host machine platform os kernel arch architecture shell terminal env
    environ environment workspace workspaces repo repository root path paths tabs open opened editor cursor pid
    port ports sandbox container pod node cluster uname distro diagnostics diff staged unstaged untracked
    modified uptime ip address interface disk memoryusage cpu gpu processes python venv verzeichnis dateien
    """
)
_STRONG = word_set(
    """
    cwd pwd git branch commit commits hostname platform os shell env environ environment workspace worktree
    uname sandbox container pod kernel untracked staged terminal arch architecture distro
    """
)
_EDITOR = word_set("editor ide vscode cursor jetbrains workspace env environment")
_EDITOR_PARTS = word_set("cursor line column selection viewport visible range tab tabs active open file files row")
_NOT_HERE = word_set(
    """
    memory memories passages documents sources name title subject
    """
)


def environment(place: Quoted, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference as the state of the machine on which the application runs.

    Args:
        place: The values in their context.
        hunk: The difference; whole lines where lines were added or removed.
    """
    why = looks_like_environment(hunk, place.label) or _git_of(place)
    if why is not None:
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, (why,))
    label, values = place.label_words, place.values
    shaped = all(_is_place(value) for value in values if value) and any(values)
    if shaped and (place.scope_words & _WORDS or all(map(_OWN_PATH.match, values))):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("paths, files or hosts of the machine",))
    told = bool(label & _STRONG or (label & _EDITOR_PARTS and _words_around(place) & _EDITOR))
    told = told and not label & _NOT_HERE and all(len(value.split()) <= 8 for value in values)
    if told or _HOST_BEFORE.search(place.left):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("the words before it speak of the environment",))
    if shaped:
        return Candidate(SpanKind.ENVIRONMENT, Confidence.POSSIBLE, ("both are paths, files or hosts",))
    if place.swapped and place.scope_words & _STRONG:
        return Candidate(SpanKind.ENVIRONMENT, Confidence.POSSIBLE, ("stands in a block about the environment",))
    return None


def _words_around(place: Quoted) -> frozenset[str]:
    """Return the words of what speaks of a value from farther away than its label."""
    return frozenset(word for name in place.scope[1:] for word in name.split())


def _git_of(place: Quoted) -> str | None:
    """Return in words why the lines of a swapped value are the output of a command; None where they are not."""
    if not place.swapped:
        return None
    lines = place.old.line, place.new.line
    if all(map(is_listing, lines)):
        return "a list of files"
    commits = place.words_before & _GIT_WORDS and all(map(_HASH.fullmatch, place.values))
    if commits or all(map(_GIT.match, lines)) or all(map(_DESCRIBE.fullmatch, place.values)):
        return "reads like the output of git"
    return None


def is_listing(line: str) -> bool:
    """Tell whether a line is one of `ls -l`: the times in it are those of files."""
    return _LISTING.match(line) is not None


def looks_like_environment(hunk: Hunk, label: str = "") -> str | None:
    """Return in words why a hunk is the state of a machine by its own shape; None where its shape does not say so.

    Args:
        hunk: The difference.
        label: What speaks of it, in lower-case words.
    """
    texts = hunk.before_text[:_LONGEST], hunk.after_text[:_LONGEST]
    if any(_GIT.search(text) for text in texts if len(text) > 3):
        return "reads like the output of git"
    lines = [[line for line in text.splitlines() if line.strip()] for text in texts]
    longest = max(lines, key=len)
    named = bool(set(label.split()) & _WORDS) or bool(longest and longest[0].lstrip("│ ").startswith(("├", "└")))
    if label and "commit" in label and longest and all(map(_LOG_LINE.match, longest)):
        return "reads like the output of git"
    if (len(longest) >= 3 or (named and longest)) and sum(map(_is_entry, longest)) >= 0.8 * len(longest):
        return "a list of files"
    return None


def _is_entry(line: str) -> bool:
    """Tell whether a line of a listing ends in a path or file name."""
    rest = _LIST_MARK.sub("", line, count=1).strip()
    last = rest.rpartition(" ")[2]
    return bool(last) and (_PATH.fullmatch(last) is not None) and rest.count(" ") <= 10


def _is_place(value: str) -> bool:
    """Tell whether a value is a path, file name or host, or a list of them."""
    parts = [part.strip("\"'`,;") for part in value.split(",")[:20]]
    return len(value) <= 300 and all(
        (_PATH.fullmatch(part) is not None and len(part) > 1)
        or _HOST.fullmatch(part) is not None
        or _DESCRIBE.fullmatch(part) is not None
        for part in map(str.strip, parts)
    )
