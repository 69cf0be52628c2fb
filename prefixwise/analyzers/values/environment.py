"""Whether a difference is the state of the machine: paths, git status, hosts, files that are open."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_LONGEST = 4_000

_GIT = re.compile(
    r"(?m)^(?:[ MADRCUT?!]{2} \S|nothing to commit|On branch \S|HEAD detached|Your branch is |Untracked files|"
    r"Changes (?:not staged|to be committed)|\s{0,8}(?:modified|new file|deleted|renamed|both modified):\s|"
    r"## \S+\.\.\.\S|no changes added)|working tree clean"
)
_LOG_LINE = re.compile(r"[0-9a-f]{7,40} \S.*")
_DESCRIBE = re.compile(r"v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?-\d{1,6}-g[0-9a-f]{4,40}(?:-dirty)?")
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+~-]+[/\\])*[\w.@+~-]*|(?:[\w.@+~-]+[/\\])+[\w.@+~-]*|[\w.@+-]+\.(?:py|pyi|ts|tsx|js|jsx|mjs|go|rs|"
    r"c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|md|mdx|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|lock|sql|sh|ps1|html|css|scss|vue|svelte|ipynb|csv|xml|log|proto|tf)"
)
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
    cwd pwd directory directories dir folder folders git branch branches commit commits head worktree status
    files file tree listing ls hostname host machine platform os kernel arch architecture shell terminal env
    environ environment workspace workspaces repo repository root path paths tabs open opened editor cursor pid
    port ports sandbox container pod node cluster uname distro diagnostics diff staged unstaged untracked
    modified uptime ip address interface disk memoryusage cpu gpu processes python venv verzeichnis dateien
    """
)
_STRONG = word_set(
    """
    cwd pwd git branch commit commits hostname platform os shell env environ environment workspace worktree
    uname sandbox container pod kernel untracked staged
    """
)
_NOT_HERE = word_set(
    """
    memory memories passages documents sources name title subject
    """
)


def environment(place: Quoted, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference as the state of the machine on which the application runs."""
    why = looks_like_environment(hunk, place.label)
    if why is not None:
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, (why,))
    label, values = place.label_words, place.values
    scope = place.scope_words
    shaped = all(_is_place(value) for value in values if value) and any(values)
    if all(map(_DESCRIBE.fullmatch, values)) or (
        place.swapped and all(map(_GIT.match, (place.old.line, place.new.line)))
    ):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("reads like the output of git",))
    if place.swapped and all(map(is_listing, (place.old.line, place.new.line))):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("a list of files",))
    if shaped and all(map(_OWN_PATH.match, values)):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("paths on the machine",))
    if shaped and scope & _WORDS:
        return Candidate(
            SpanKind.ENVIRONMENT, Confidence.LIKELY, ("paths, files or hosts", "what speaks of them is the environment")
        )
    if label & _STRONG and not label & _NOT_HERE and all(len(value.split()) <= 8 for value in values):
        return Candidate(SpanKind.ENVIRONMENT, Confidence.LIKELY, ("the words before it speak of the environment",))
    if shaped or (scope & _STRONG and place.swapped):
        return Candidate(
            SpanKind.ENVIRONMENT,
            Confidence.POSSIBLE,
            ("paths, files or hosts" if shaped else "stands in a block about the environment",),
        )
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
