"""Calls and properties whose value changes by itself, by what they are named where they come from.

A name is `package:dotted.name`, with nothing in front of the colon for what every script has: `uuid:v4`, `:Date.now`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import Judgement, name_words
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence


def _clock(because: str, precision: str = "second") -> Judgement:
    frequency = Frequency.DAY if precision == "day" else Frequency.CALL
    return Judgement(VolatileKind.CLOCK, frequency, precision, because=because)


def _named(names: str, found: Judgement) -> dict[str, Judgement]:
    return dict.fromkeys(names.split(), found)


_NEW_EACH_TIME = Judgement(VolatileKind.IDENTIFIER, Frequency.CALL, because="it is a new value on every call")
_NOW = _clock("it is the time of the call")
_PLACE = Judgement(VolatileKind.ENVIRONMENT, Frequency.SESSION, because="it is the place where the process was started")
_MACHINE = Judgement(VolatileKind.ENVIRONMENT, Frequency.PROCESS, because="it differs from machine to machine")
_LOAD = Judgement(VolatileKind.ENVIRONMENT, Frequency.CALL, because="it is the state of the machine")
_LISTING = Judgement(
    VolatileKind.UNORDERED,
    Frequency.PROCESS,
    confidence=Confidence.POSSIBLE,
    because="the order of a directory listing is not promised",
)
_GLOB = _LISTING._replace(confidence=Confidence.LIKELY, because="files are found in no promised order")
_RACE = Judgement(VolatileKind.UNORDERED, Frequency.CALL, because="it is what comes first")
_AGE = Judgement(VolatileKind.RELATIVE_TIME, Frequency.CALL, because="it says how long ago something was")

CALLS: dict[str, Judgement] = {
    **_named(
        ":Date.now :Date :performance.now perf_hooks:performance.now :process.hrtime :process.hrtime.bigint "
        ":process.uptime process:uptime os:uptime :Bun.nanoseconds luxon:DateTime.now luxon:DateTime.local "
        "luxon:DateTime.utc :Temporal.Now.instant :Temporal.Now.zonedDateTimeISO :Temporal.Now.plainDateTimeISO "
        ":Temporal.Now.plainTimeISO :Temporal.Now.zonedDateTime moment:now moment:utc date-fns:getTime "
        "@js-temporal/polyfill:Temporal.Now.instant temporal-polyfill:Temporal.Now.instant",
        _NOW,
    ),
    **_named(
        ":Temporal.Now.plainDateISO :Temporal.Now.plainDate luxon:DateTime.now.toISODate date-fns:startOfToday",
        _clock("it is today's date", "day"),
    ),
    **_named(
        ":crypto.randomUUID crypto:randomUUID :crypto.getRandomValues crypto:randomBytes crypto:randomInt "
        ":globalThis.crypto.randomUUID :window.crypto.randomUUID :self.crypto.randomUUID crypto:webcrypto.randomUUID "
        "uuid:v1 uuid:v4 uuid:v6 uuid:v7 uuidv7:uuidv7 uuid/v4: uuid/v1: nanoid:nanoid nanoid/non-secure:nanoid "
        "ulid:ulid ulidx:ulid @paralleldrive/cuid2:createId cuid: ksuid:randomSync ai:generateId :Bun.randomUUIDv7 "
        "short-uuid:generate bson:ObjectId mongodb:ObjectId mongoose:Types.ObjectId :Math.random lodash:random "
        "lodash:uniqueId lodash/uniqueId: lodash-es:uniqueId",
        _NEW_EACH_TIME,
    ),
    **_named(":process.cwd process:cwd :Deno.cwd", _PLACE),
    **_named("os:homedir os:userInfo os:tmpdir", _PLACE._replace(because="it differs from user to user")),
    **_named("os:hostname :Deno.hostname os:networkInterfaces", _MACHINE),
    **_named("os:loadavg os:freemem :process.memoryUsage :process.cpuUsage", _LOAD),
    **_named(
        "fs:readdirSync fs:readdir fs:promises.readdir fs/promises:readdir fs-extra:readdir fs-extra:readdirSync "
        ":Deno.readDir :Deno.readDirSync",
        _LISTING,
    ),
    **_named(
        "glob:glob glob:globSync glob:sync glob: fast-glob: fast-glob:sync fast-glob:glob fast-glob:globSync "
        "globby:globby globby:globbySync globby: tinyglobby:glob tinyglobby:globSync fs:globSync "
        "fs:glob fs/promises:glob",
        _GLOB,
    ),
    **_named(":Promise.race :Promise.any", _RACE),
    **_named(
        "@vercel/functions:geolocation @vercel/functions:ipAddress @vercel/edge:geolocation @vercel/edge:ipAddress",
        Judgement(VolatileKind.PERSON, Frequency.SESSION, because="it says where a request comes from"),
    ),
    **_named(
        "date-fns:formatDistanceToNow date-fns:formatDistanceToNowStrict timeago.js:format javascript-time-ago:format",
        _AGE,
    ),
}

MADE_WITHOUT_ARGUMENTS: dict[str, Judgement] = {
    **_named(":Date moment: dayjs: moment-timezone: spacetime:now @date-fns/utc:UTCDate", _NOW),
    **_named("bson:ObjectId mongodb:ObjectId mongoose:Types.ObjectId", _NEW_EACH_TIME),
}
"""What is a new value when made from nothing, and made from its arguments otherwise."""

TIMES = frozenset(
    {":Date", "moment:", "dayjs:", "moment-timezone:", "moment:utc", "dayjs:utc", "moment:tz", "dayjs:tz"}
)

_ENVIRONMENT = re.compile(r"(?:process|Bun|import\.meta)\.env\.(\w+)|Deno\.env\.get")
_SESSION_VARIABLES = frozenset(
    {"USER", "USERNAME", "LOGNAME", "HOME", "USERPROFILE", "PWD", "INIT_CWD", "OLDPWD", "SHLVL"}
)
_HOST_VARIABLES = frozenset({"HOSTNAME", "COMPUTERNAME", "POD_NAME", "DYNO", "FLY_MACHINE_ID", "K_REVISION", "RANDOM"})

_RUNNERS = re.compile(
    r"(?:child_process|node:child_process)?:?(?:exec|execSync|execFile|execFileSync|spawnSync|spawn)$"
    r"|^(?:execa|zx|bun|shelljs|cross-spawn):|^:(?:\$|Bun\.\$|execa|execAsync|execPromise|execFileAsync)$"
)
_RUNNER_NAMES = words("execAsync execPromise execFileAsync execFileP execP runGit gitExec sh $")

_RETRIEVING = words(
    "similaritySearch similaritySearchWithScore similaritySearchVectorWithScore maxMarginalRelevanceSearch "
    "getRelevantDocuments queryPoints hybridSearch vectorSearch semanticSearch searchMemories findSimilar "
    "searchMemory recallMemories recall retrieve"
)
_RETRIEVING_OF_STORES = words("search query invoke find lookup get load loadMemoryVariables")
_STORES = words(
    "retriever vector vectors vectorstore store mem0 collection pinecone qdrant weaviate chroma knowledge "
    "tavily exa serp rag embeddings memory kb"
)
_RETRIEVES = re.compile(r"^(?:search|retrieve|recall|(?:find|get|fetch)(?:Relevant|Similar|Related|Matching|Memories))")

_SHUFFLES = frozenset(
    {"shuffle", "sampleSize", "sample", "pickRandom", "randomSample", "getRandomSubset", "arrayShuffle"}
)
_SELECTS_EXAMPLES = frozenset({"selectExamples"})
_EXAMPLE_WORDS = frozenset({"example", "examples", "few", "shot", "demonstrations", "demos"})


def environment_variable(name: str) -> Judgement | None:
    """Judge the property `process.env.NAME`; None for what is no environment variable."""
    found = _ENVIRONMENT.fullmatch(name.lstrip(":"))
    if found is None:
        return None
    variable = found[1] or ""
    if variable in _SESSION_VARIABLES:
        return _PLACE._replace(because=f"the environment variable {variable} differs from user to user")
    if variable in _HOST_VARIABLES:
        return _MACHINE._replace(because=f"the environment variable {variable} differs from machine to machine")
    because = "an environment variable is fixed when a process starts"
    return Judgement(VolatileKind.ENVIRONMENT, Frequency.DEPLOY, confidence=Confidence.POSSIBLE, because=because)


def is_runner(name: str) -> bool:
    """Say whether a call of this name runs a program."""
    return bool(_RUNNERS.search(name)) or name.rpartition(":")[2] in _RUNNER_NAMES


def of_command(words: str) -> Judgement | None:
    """Judge the output of a command line; None where it says nothing that changes."""
    command = words.strip().strip("`'\"")
    program, _, rest = command.partition(" ")
    state = Judgement(VolatileKind.ENVIRONMENT, Frequency.CALL, because=f"`{program}` prints the state of the machine")
    if program == "git":
        lasting = re.match(r"(?:rev-parse|remote|config|branch|describe|symbolic-ref|--version)", rest)
        frequency = Frequency.SESSION if lasting else Frequency.CALL
        return state._replace(frequency=frequency, because="git prints the state of the working tree")
    if program == "date":
        return _NOW
    if program in ("ls", "find", "tree", "rg", "fd", "ps", "top", "df", "free", "uptime", "jj", "hg", "svn", "kubectl"):
        return state
    if program in ("pwd", "whoami", "hostname", "id"):
        return state._replace(frequency=Frequency.SESSION)
    return None


def retrieval(method: str, receiver: str) -> Judgement | None:
    """Judge a call by the name of its method and what it is called on: does it look text up?"""
    words = set(name_words(receiver))
    looks_up = method in _RETRIEVING or (method in _RETRIEVING_OF_STORES and words & _STORES and "chain" not in words)
    if not looks_up and (receiver or not _RETRIEVES.match(method)):
        return None
    if words & {"chat"} or method.startswith(("searchParams", "searchReplace")):
        return None
    return Judgement(VolatileKind.RETRIEVED, Frequency.CALL, because=f"`{method}` looks text up for each request")


def drawn(method: str, of: str) -> Judgement | None:
    """Judge a call that draws from or shuffles what `of` names."""
    if method in _SELECTS_EXAMPLES:
        return Judgement(VolatileKind.EXAMPLES, Frequency.CALL, because="examples are chosen for each request")
    return shuffled(of) if method in _SHUFFLES else None


def shuffled(of: str) -> Judgement:
    """Judge what `of` names after it was shuffled."""
    kind = VolatileKind.EXAMPLES if is_examples(of) else VolatileKind.UNORDERED
    return Judgement(kind, Frequency.CALL, because="it is put in a new order on every call")


def is_examples(name: str) -> bool:
    """Say whether a name is one of examples."""
    return bool(_EXAMPLE_WORDS & set(name_words(name)))


def normal_name(package: str, names: Iterable[str]) -> str:
    """Return `package:dotted.name` of an import, without what the same thing may be called besides."""
    dotted = ".".join(name for name in names if name not in ("default", "*"))
    return f"{package.removeprefix('node:')}:{dotted}"
