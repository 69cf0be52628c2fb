"""Calls and attributes whose values change by themselves: what kind, how often, how fine."""

from __future__ import annotations

import ast
import re

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import Judgement, name_words
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

_K, _F = VolatileKind, Frequency


def _clock(precision: str) -> Judgement:
    frequency = _F.DAY if precision == "day" else _F.CALL
    return Judgement(_K.CLOCK, frequency, precision, Confidence.CERTAIN, "it reads the clock")


def _known(kind: VolatileKind, frequency: Frequency, because: str) -> Judgement:
    return Judgement(kind, frequency, "", Confidence.CERTAIN, because)


_SECOND, _DAY = _clock("second"), _clock("day")
_ID = _known(_K.IDENTIFIER, _F.CALL, "it is new every time")
_RANDOM = _known(_K.IDENTIFIER, _F.CALL, "it is drawn at random")
_PROCESS_ID = _known(_K.IDENTIFIER, _F.PROCESS, "it is another one in every process")
_SAMPLE = _known(_K.EXAMPLES, _F.CALL, "it is drawn at random")
_PLACE = _known(_K.ENVIRONMENT, _F.SESSION, "it depends on where the program is started")
_HOST = _known(_K.ENVIRONMENT, _F.DEPLOY, "it depends on the machine")
_VARIABLE = _known(_K.ENVIRONMENT, _F.DEPLOY, "it is read from the environment")
_STATE = _known(_K.ENVIRONMENT, _F.CALL, "it depends on the state of the machine")
_NATURE = _known(_K.ENVIRONMENT, _F.CALL, "it depends on the state of the repository")
LISTING = _known(_K.UNORDERED, _F.DEPLOY, "a directory is listed in no fixed order")
FINISHED = _known(_K.UNORDERED, _F.CALL, "results come in the order in which they are finished")
SCOPE = _known(_K.KEY_ORDER, _F.SESSION, "its keys stand in the order in which they were set")._replace(
    confidence=Confidence.POSSIBLE
)
SERVED = _known(_K.UNORDERED, _F.SESSION, "a server gives its tools in no fixed order")._replace(
    confidence=Confidence.POSSIBLE
)
SELECTED = _known(_K.EXAMPLES, _F.CALL, "examples are chosen anew for every input")
RETRIEVED = _known(_K.RETRIEVED, _F.CALL, "it is looked up for every call")
WINDOW = _known(_K.WINDOW, _F.CALL, "only the last messages are kept, so the first one changes as they move on")
MEASURES = words("perf_counter perf_counter_ns process_time process_time_ns")
"""Functions whose differences are durations of what was done, not ages."""
AGE = _known(_K.RELATIVE_TIME, _F.CALL, "it says how long ago something was")
_HASH = _known(_K.IDENTIFIER, _F.PROCESS, "hashes of strings are salted anew in every process")
_IDENTITY = _known(_K.IDENTIFIER, _F.SESSION, "it is an address in memory")
_NUMBERS = _known(_K.LOCALE, _F.DEPLOY, "it is printed as the machine's locale wants")

DATES = _known(_K.LOCALE, _F.DEPLOY, "a date is printed as the machine's locale wants")

_BY_NAME: dict[str, Judgement] = {}


def _add(judged: Judgement, names: str) -> None:
    _BY_NAME.update(dict.fromkeys(names.split(), judged))


_add(
    _SECOND,
    """datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.now datetime.utcnow
    datetime.today
    time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter time.perf_counter_ns time.process_time
    time.ctime time.localtime time.gmtime time.asctime email.utils.formatdate email.utils.localtime
    arrow.now arrow.utcnow arrow.get pendulum.now pendulum.instance.now pandas.Timestamp.now pandas.Timestamp.today
    pandas.Timestamp.utcnow pd.Timestamp.now pd.Timestamp.today pd.Timestamp.utcnow
    django.utils.timezone.now django.utils.timezone.localtime timezone.now
    whenever.Instant.now whenever.ZonedDateTime.now_in_system_tz maya.now moment.now moment.utcnow
    google.protobuf.timestamp_pb2.Timestamp.GetCurrentTime""",
)
_add(
    _DAY,
    """datetime.date.today date.today pendulum.today pendulum.tomorrow pendulum.yesterday pendulum.Date.today
    django.utils.timezone.localdate timezone.localdate""",
)
_add(
    _ID,
    """uuid.uuid1 uuid.uuid4 uuid.uuid6 uuid.uuid7 uuid6.uuid6 uuid6.uuid7 uuid7.uuid7 uuid_utils.uuid1 uuid_utils.uuid4
    uuid_utils.uuid7 uuid4 uuid7 ulid.new ulid.ulid ulid.ULID ulid.ULID.new ulid.from_timestamp nanoid.generate
    nanoid.non_secure_generate shortuuid.uuid shortuuid.random shortuuid.ShortUUID.uuid shortuuid.ShortUUID.random
    cuid.cuid cuid2.cuid_wrapper ksuid.ksuid ksuid.Ksuid bson.ObjectId bson.objectid.ObjectId xid.Xid
    snowflake.SnowflakeGenerator tempfile.mkdtemp tempfile.mktemp tempfile.mkstemp tempfile.TemporaryDirectory
    tempfile.gettempprefix""",
)
_add(
    _RANDOM,
    """random.random random.randint random.randrange random.choice random.uniform random.gauss random.normalvariate
    random.triangular random.betavariate random.getrandbits random.randbytes secrets.token_hex secrets.token_urlsafe
    secrets.token_bytes secrets.choice secrets.randbelow secrets.randbits os.urandom numpy.random.rand
    numpy.random.randn numpy.random.randint numpy.random.random numpy.random.choice numpy.random.uniform
    numpy.random.normal numpy.random.bytes np.random.rand np.random.randn np.random.randint np.random.random
    np.random.choice np.random.uniform np.random.normal torch.rand torch.randint torch.randn""",
)
_add(_SAMPLE, "random.sample random.choices numpy.random.permutation np.random.permutation")
_add(
    _PROCESS_ID,
    "os.getpid os.getppid threading.get_ident threading.get_native_id multiprocessing.current_process",
)
_add(_HASH, "hash builtins.hash")
_add(_IDENTITY, "id builtins.id")
_add(_PLACE, "os.getcwd os.getcwdb pathlib.Path.cwd Path.cwd")
_add(
    _HOST,
    """platform.node platform.platform platform.system platform.release platform.version platform.machine
    platform.processor platform.uname platform.architecture platform.python_version platform.mac_ver
    platform.win32_ver platform.freedesktop_os_release socket.gethostname socket.getfqdn os.uname uuid.getnode
    sys.platform sys.version sys.version_info sys.executable os.name os.cpu_count multiprocessing.cpu_count
    os.getlogin getpass.getuser pathlib.Path.home Path.home
    locale.getlocale locale.getdefaultlocale distro.name distro.id tzlocal.get_localzone tzlocal.get_localzone_name""",
)
_add(_VARIABLE, "os.environ os.environb os.getenv environ getenv decouple.config environs.Env")
_add(
    _STATE,
    """os.getloadavg psutil.virtual_memory psutil.cpu_percent psutil.disk_usage psutil.net_io_counters
    psutil.process_iter psutil.boot_time psutil.sensors_battery shutil.disk_usage shutil.get_terminal_size
    os.get_terminal_size pyperclip.paste torch.cuda.memory_allocated""",
)
_add(_NATURE, "git.Repo git.repo.Repo pygit2.Repository")
_add(LISTING, "os.listdir os.scandir os.walk glob.glob glob.iglob os.fwalk")
_add(FINISHED, "asyncio.as_completed concurrent.futures.as_completed as_completed asyncio.wait concurrent.futures.wait")
_add(SCOPE, "vars builtins.vars globals builtins.globals locals builtins.locals")
_add(AGE, "humanize.naturaltime timeago.format arrow.humanize django.utils.timesince.timesince")
_add(_NUMBERS, "locale.format_string locale.currency locale.str locale.format")

_LISTING_METHODS = frozenset({"iterdir", "glob", "rglob", "scandir", "listdir"})
_LOOKUPS = words("""similarity_search similarity_search_with_score asimilarity_search similarity_search_by_vector
    max_marginal_relevance_search amax_marginal_relevance_search similarity_search_with_relevance_scores
    get_relevant_documents aget_relevant_documents hybrid_search vector_search semantic_search knn_search
    recall search_memories search_memory get_relevant_memories retrieve_memories load_memory_variables
    search_documents retrieve_documents retrieve_context""")
_ASKED = frozenset({"invoke", "ainvoke", "query", "aquery", "search", "asearch", "retrieve", "aretrieve", "get", "run"})
_STORES = words("""retriever vectorstore vectordb collection memory memories mem0 index knowledge rag chroma qdrant
    pinecone faiss weaviate milvus embeddings store""")
_SERVERS = frozenset({"session", "client", "mcp", "server", "servers", "connection"})
_GENERIC_STORES = frozenset({"memory", "memories", "index", "collection", "store", "knowledge", "embeddings"})
_SELECTORS = frozenset({"select_examples", "aselect_examples"})
_EXAMPLE_WORDS = frozenset({"example", "examples", "shot", "shots", "few", "demo", "demos", "demonstrations"})
_COMMANDS = (
    (re.compile(r"^(?:sudo )?git\b"), _NATURE),
    (re.compile(r"^date\b"), _SECOND),
    (re.compile(r"^(?:pwd|whoami|hostname|uname|id)\b"), _PLACE),
    (re.compile(r"^(?:ls|tree|find|ps|df|du|free|uptime|env|printenv)\b"), _STATE),
)
_RUNNERS = words("""subprocess.run subprocess.check_output subprocess.getoutput subprocess.getstatusoutput
    subprocess.Popen subprocess.call os.popen os.system sh.git asyncio.create_subprocess_shell
    asyncio.create_subprocess_exec
    commands.getoutput""")


def judge_call(dotted: str) -> Judgement | None:
    """Say whether a call or attribute with this name changes by itself."""
    return _BY_NAME.get(dotted.removeprefix("builtins."))


def judge_method(name: str, receiver: str) -> Judgement | None:
    """Say whether a method changes by itself, by its own name and that of what it is called on."""
    if name in _LISTING_METHODS:
        return LISTING
    if name in _LOOKUPS:
        return RETRIEVED
    if name in _SELECTORS:
        return SELECTED
    if name == "imap_unordered":
        return FINISHED
    if name == "list_tools":
        return SERVED if _SERVERS & set(name_words(receiver)) else None
    if name not in _ASKED:
        return None
    parts = name_words(receiver.rsplit(".", 1)[-1])
    owner = parts[-1] if parts else ""
    if owner in _STORES and not (owner in _GENERIC_STORES and name in ("get", "run", "invoke", "ainvoke")):
        return RETRIEVED
    return RETRIEVED if parts[-2:] in (("vector", "store"), ("vector", "db"), ("search", "client")) else None


def judge_command(dotted: str, node: ast.Call) -> Judgement | None:
    """Say whether a program that is run prints what changes by itself."""
    if dotted not in _RUNNERS or not node.args:
        return None
    command = " ".join(_words_of(node.args[0]) or (word for item in node.args for word in _words_of(item)))
    return next((judged for pattern, judged in _COMMANDS if pattern.search(command)), None)


def _words_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.List | ast.Tuple):
        return [
            str(item.value) if isinstance(item, ast.Constant) else "?"
            for item in node.elts
            if not isinstance(item, ast.Starred)
        ]
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values)]
    return []


def is_about_examples(name: str) -> bool:
    """Say whether a name is that of examples in a prompt."""
    return bool(_EXAMPLE_WORDS & set(name_words(name)))
