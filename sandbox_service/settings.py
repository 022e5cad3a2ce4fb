"""All settings of the service: `SANDBOX_<NAME>` in the environment, read once at the start.

An unknown `SANDBOX_*` variable is an error, so that a misspelt one is not ignored.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.bounds import Bounds
from sandbox_service.bounds.api_keys import KeyTerms, is_sendable, key_name, read_line
from sandbox_service.errors import ConfigurationError
from sandbox_service.errors.fields import wrong_fields
from sandbox_service.sandbox import memory
from sandbox_service.schema import Limits

MOST_OF_A_FILE = 4 << 20  # bytes of a file of keys
PREFIX = "SANDBOX_"
_HOST = re.compile(
    r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?|[0-9A-Fa-f:]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*"
)
MIB = 1 << 20
MOST_CPU_FACTOR = 100.0
MOST_SLOTS = 2000  # the uids of one more would be those of another slot's second boxes
MOST_UID = 4_000_000_000  # the kernel's largest, less those of all slots

# above these, numbers of the kernel and of the event loop overflow; the error would come with the first submission
Seconds: TypeAlias = Annotated[float, Field(le=1_000_000)]
Bytes: TypeAlias = Annotated[int, Field(le=1 << 50)]
Count: TypeAlias = Annotated[int, Field(le=1 << 40)]


class Settings(BaseModel):
    """The settings with their defaults and help. Sizes are in bytes, times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # the HTTP server
    host: str = Field("127.0.0.1", min_length=1, description="address to listen on; 0.0.0.0 for all")
    port: int = Field(8080, ge=1, le=65535, description="port to listen on")
    health_port: int = Field(
        0, ge=0, le=65535, description="port on which a worker answers /healthz and /readyz; 0: it does not listen"
    )
    hosts: str = Field("", description="comma-separated host names of the service; *.example.org for all below")
    callback_hosts: str = Field(
        "",
        description="comma-separated hosts (name or name:port) to which /submissions may send results",
    )
    api_keys: str = Field("", description="comma-separated keys; if set, every /v1 request needs one")
    api_keys_file: str = Field(
        "", description="file with a key on each line, and its label=, submissions=, slot_seconds=; # begins a comment"
    )
    key_submissions: float = Field(0.0, ge=0, description="submissions that a key may send in a minute; 0: any number")
    key_slot_seconds: float = Field(0.0, ge=0, description="seconds of slots that a key may use in a minute; 0: any")
    admin_keys: str = Field("", description="comma-separated keys that see and cancel the submissions of all keys")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="debug, info, warning or error")

    # the fleet
    redis_url: str = Field("", description="redis://[:password@]host:port/db or redis+sentinel://…; workers then grade")
    redis_password_file: str = Field("", description="file with the password of Redis, for a redis_url without one")
    redis_name: str = Field("proctor", pattern="^[A-Za-z0-9._-]{1,64}$", description="prefix of all keys in Redis")

    shared_history: Count = Field(
        1000, ge=0, description="parts of up to 64 recent submissions that API processes share in Redis; 0: none"
    )

    # the sandboxes
    slots: int = Field(
        0,
        ge=0,
        le=MOST_SLOTS,
        description="number of grading processes; 0: one for each processor, as far as the memory suffices",
    )
    memory_bytes: Bytes = Field(
        0,
        ge=0,
        description="memory for the programs of all slots together; 0: what the machine or container has, less the "
        "service's own",
    )
    isolation: str = Field("firejail", description="name of the isolation tool; another one is bubblewrap")
    isolation_program: str = Field("", description="path of the isolation tool; empty: where its package puts it")
    python: str = Field("/usr/bin/python3", description="interpreter for submissions; must live below /usr")
    libraries: str = Field(
        "numpy,sortedcontainers,sympy,scipy,networkx,pandas",
        description="comma-separated libraries that submissions may import if installed, with their requirements",
    )
    judge_libraries: str = Field("", description="folder with headers of judges, such as testlib.h and validate.h")
    first_uid: int = Field(
        60001,
        ge=1000,
        le=MOST_UID,
        description="slot i uses the uids first_uid + i and first_uid + 2000 + i (as root), or the next free ones",
    )
    recycle_after: Count = Field(20_000, ge=1, description="runs after which a sandbox is replaced")
    canary_seconds: Seconds = Field(60.0, gt=0, description="how often the canary checks the sandboxes")

    # compilers
    cache_folder: str = Field(
        "", description="folder for compiled programs; empty: /var/cache/proctor (as root) or ~/.cache/proctor"
    )
    compile_cache_bytes: Bytes = Field(1024 * MIB, ge=0, description="most bytes of compiled programs on this machine")
    compile_slot_bytes: Bytes = Field(128 * MIB, ge=0, description="most bytes of compiled programs in a slot's memory")
    compile_cpu_seconds: Seconds = Field(30.0, gt=0, description="CPU time of a compiler, and the most to ask for")
    compile_wall_seconds: Seconds = Field(120.0, gt=0, description="wall time of a compiler, and the most to ask for")
    compile_memory_bytes: Bytes = Field(2048 * MIB, gt=0, description="memory of a compiler, and the most to ask for")
    compile_output_bytes: Bytes = Field(
        64 * MIB, gt=0, description="size of a compiled program, and the most to ask for"
    )
    cpu_factors: str = Field(
        "", description="comma-separated language=factor for limits of CPU and wall time, such as java=2,pypy=1.5"
    )

    stdin_isolation: Literal["submission", "test"] = Field(
        "submission",
        description="submission: the stdin tests of a submission in Python or Java share a box while they pass; "
        "test: never",
    )

    shared_audit_share: float = Field(
        0.01, ge=0, le=1, description="share of accepted submissions with a shared box that fresh boxes grade again"
    )
    shared_flip_share: float = Field(
        0.01, ge=0, le=1, description="share of these with another verdict; beyond, a slot shares no boxes any more"
    )

    audit_test_share: float = Field(
        0.02, ge=0, le=1,
        description="share of accepted submissions on which audit tests run; they always run on those whose source "
        "seems to know the tests",
    )  # fmt: skip

    # limits of one submission
    max_cpu_seconds: Seconds = Field(60.0, gt=0, description="largest limits.cpu_seconds")
    max_wall_seconds: Seconds = Field(300.0, gt=0, description="largest limits.wall_seconds")
    max_memory_bytes: Bytes = Field(4096 * MIB, gt=0, description="largest limits.memory_bytes")
    max_output_bytes: Bytes = Field(256 * MIB, gt=0, description="largest limits.output_bytes")
    max_processes: int = Field(16, ge=1, le=10_000, description="largest limits.processes")
    max_tests: Count = Field(10_000, ge=1, description="most tests of one submission")
    display_bytes: Bytes = Field(4096, ge=0, description="bytes of stdout and stderr in a result")
    max_display_bytes: Bytes = Field(16 * MIB, ge=0, description="largest display_bytes of a submission")

    # limits of the service
    history_submissions: Count = Field(20_000, ge=1, description="most recent submissions listed by the dashboard")
    history_bytes: Bytes = Field(64 * MIB, ge=4 * MIB, description="most bytes of their programs, suites and answers")
    max_body_bytes: Bytes = Field(64 * MIB, ge=1024, description="largest request body, compressed or not")
    max_batch: Count = Field(100_000, ge=1, description="most submissions of one batch")
    queue_submissions: Count = Field(65_536, ge=1, description="most submissions waiting; beyond: 429")
    queue_bytes: Bytes = Field(1024 * MIB, ge=1024, description="most bytes of submissions waiting; beyond: 429")
    queue_cpu_seconds: float = Field(100_000.0, gt=0, description="most estimated CPU time waiting; beyond: 429")
    suite_bytes: Bytes = Field(256 * MIB, ge=1024, description="most bytes of suites kept in this process")
    cache_seconds: Seconds = Field(600.0, ge=0, description="how long AC, WA, RTE and CE are cached; 0: not at all")
    recheck_share: float = Field(0.001, ge=0, le=1, description="share of submissions graded twice, to see flips")
    reorder_share: float = Field(
        0.01, ge=0, le=1, description="share of accepted call submissions repeated in another order, to see flips"
    )
    large_processes: int = Field(
        3, ge=1, le=64, description="most processes that read large requests; started when needed"
    )
    connections: Count = Field(16_384, ge=16, description="most connections; beyond, those idle longest are closed")
    patience_seconds: Seconds = Field(
        60.0, gt=0, description="the longest that a client may take to send a request or read"
    )
    keepalive_seconds: int = Field(75, ge=1, le=1_000_000, description="how long an idle connection is kept")
    shutdown_seconds: Seconds = Field(
        30.0, ge=0, description="how long accepted submissions may take after a signal to end"
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Return the settings from the `SANDBOX_*` variables of an environment.

        Raises:
            ConfigurationError: Variables are wrong or unknown; the message names each.
        """
        ours = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
        given = {name.removeprefix(PREFIX).lower(): value for name, value in ours.items()}
        try:
            found = cls.model_validate(given)
            # a wrong factor would otherwise stop each slot, again and again, and a wrong name would match no request
            _ = found.cpu_factor_of, found.host_names, found.callback_names
            return found
        except ValidationError as error:
            wrong = wrong_fields(error).items()
            problems = "; ".join(f"{PREFIX}{name.upper()} {words}" for name, words in wrong)
            raise ConfigurationError(f"{problems} (proctor serve --settings lists them all)") from None

    @classmethod
    def described(cls) -> str:
        """Return every setting with its default and description, one a line."""
        return "\n".join(
            f"{PREFIX}{name.upper():<22} {field.default!s:<18} {field.description}"
            for name, field in cls.model_fields.items()
        )

    @property
    def library_names(self) -> tuple[str, ...]:
        """The libraries that submissions may import."""
        return tuple(name.strip() for name in self.libraries.split(",") if name.strip())

    @property
    def compile_limits(self) -> Limits:
        """The limits of compilers."""
        return Limits(
            cpu_seconds=self.compile_cpu_seconds,
            wall_seconds=self.compile_wall_seconds,
            memory_bytes=self.compile_memory_bytes,
            output_bytes=self.compile_output_bytes,
        )

    @property
    def cpu_factor_of(self) -> dict[str, float]:
        """The factors of time limits by name of the language. Raises ConfigurationError."""
        pairs = [pair.partition("=") for pair in self.cpu_factors.split(",") if pair.strip()]
        try:
            found = {name.strip(): float(factor) for name, _, factor in pairs}
        except ValueError:
            form = "language=factor, separated by commas, such as java=2,pypy=1.5"
            raise ConfigurationError(f"SANDBOX_CPU_FACTORS should be {form}") from None
        if len(found) < len(pairs):
            raise ConfigurationError("SANDBOX_CPU_FACTORS names a language twice")
        if any(not 0 < factor <= MOST_CPU_FACTOR for factor in found.values()):
            raise ConfigurationError(f"SANDBOX_CPU_FACTORS: a factor is above 0 and at most {MOST_CPU_FACTOR}")
        return found

    @property
    def slot_count(self) -> int:
        """The number of grading processes."""
        if self.slots:
            return self.slots
        enough = memory.slots_for(memory.of_machine(), Limits().memory_bytes)
        return min(len(os.sched_getaffinity(0)), enough)

    @property
    def program_memory(self) -> int:
        """The memory for the programs of all slots together, in bytes."""
        return self.memory_bytes or memory.for_programs(memory.of_machine(), self.slot_count)

    @property
    def redis(self) -> str:
        """The URL of Redis with its password. Raises ConfigurationError if the password's file has none."""
        if not self.redis_password_file:
            return self.redis_url
        try:
            parts = urlsplit(self.redis_url)
        except ValueError as error:
            raise ConfigurationError(f"SANDBOX_REDIS_URL: {error}") from None
        if parts.password is not None:
            raise ConfigurationError("SANDBOX_REDIS_PASSWORD_FILE: SANDBOX_REDIS_URL has a password already; give one")
        user, _, address = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user}:{quote(self._redis_password(), safe='')}@{address}").geturl()

    def _redis_password(self) -> str:
        password = _text_of("SANDBOX_REDIS_PASSWORD_FILE", self.redis_password_file).strip()
        if not password:
            raise ConfigurationError(f"SANDBOX_REDIS_PASSWORD_FILE: {self.redis_password_file} is empty")
        return password

    @property
    def keys(self) -> frozenset[str]:
        """The API keys; without any, no key is required. Raises ConfigurationError if their file has none."""
        return frozenset(self._key_table)

    @property
    def key_terms(self) -> dict[str, KeyTerms]:
        """The label and quotas of each API key by the key's name; administrators have no quotas.

        Raises:
            ConfigurationError: The file of the keys is wrong.
        """
        return {key_name(key): terms for key, terms in self._key_table.items()}

    @property
    def _key_table(self) -> dict[str, KeyTerms]:
        """All keys with their terms. Raises ConfigurationError."""
        default = KeyTerms("", self.key_submissions or math.inf, self.key_slot_seconds or math.inf)
        found = dict.fromkeys(sorted(_keys("SANDBOX_API_KEYS", self.api_keys)), default)
        if self.api_keys_file:
            found |= self._keys_of_file(default)
        for key in self.admins:
            found[key] = KeyTerms(found.get(key, default).label)
        return found

    @property
    def admins(self) -> frozenset[str]:
        """Those of the API keys that are administrators'. Raises ConfigurationError."""
        return _keys("SANDBOX_ADMIN_KEYS", self.admin_keys)

    def _keys_of_file(self, default: KeyTerms) -> dict[str, KeyTerms]:
        lines = _text_of("SANDBOX_API_KEYS_FILE", self.api_keys_file).splitlines()
        keys: dict[str, KeyTerms] = {}
        for number, line in enumerate(lines, 1):
            if text := line.partition("#")[0].strip():
                try:
                    key, keys[key] = read_line(text, default)
                except ConfigurationError as error:
                    raise ConfigurationError(f"SANDBOX_API_KEYS_FILE: line {number}: {error}") from None
                _check_sendable(f"SANDBOX_API_KEYS_FILE: line {number}", key)
        if not keys:  # an empty file must not open the service to all clients
            raise ConfigurationError(f"SANDBOX_API_KEYS_FILE: {self.api_keys_file} has no key in it")
        return keys

    @property
    def host_names(self) -> tuple[str, ...]:
        """The host names of the service, beside those that no stranger can own. Raises ConfigurationError."""
        return _hosts("SANDBOX_HOSTS", self.hosts, "example.org, *.example.org or example.org:8080")

    @property
    def callback_names(self) -> tuple[str, ...]:
        """The hosts that may be sent results. Raises ConfigurationError."""
        return _hosts("SANDBOX_CALLBACK_HOSTS", self.callback_hosts, "example.org or example.org:8080")

    @property
    def bounds(self) -> Bounds:
        """The bounds of the queue."""
        return Bounds(self.queue_submissions, self.queue_bytes, self.queue_cpu_seconds)


def _text_of(setting: str, path: str) -> str:
    """Return the text of a file that a setting names. Raise ConfigurationError."""
    try:
        with Path(path).open("rb") as file:
            found = file.read(MOST_OF_A_FILE + 1)
        text = found.decode()
    except OSError as error:
        raise ConfigurationError(f"{setting}: {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{setting}: {path}: not UTF-8: {error.reason} at byte {error.start}") from None
    if len(found) > MOST_OF_A_FILE:
        raise ConfigurationError(f"{setting}: {path} has more than {MOST_OF_A_FILE} bytes")
    return text


def _hosts(setting: str, text: str, form: str) -> tuple[str, ...]:
    """Return the hosts in the text of a setting. Raise ConfigurationError if one has another form."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        bare = name.removeprefix("*.") if "*." in form else name
        if not _HOST.fullmatch(bare):
            raise ConfigurationError(f"{setting} has {name[:80]!r}; give names without scheme and path: {form}")
    return names


def _keys(setting: str, text: str) -> frozenset[str]:
    """Return the keys in the text of a setting. Raise ConfigurationError."""
    found = frozenset(key.strip() for key in text.split(",") if key.strip())
    if text and not found:  # such as ",": it must not open the service to all clients
        raise ConfigurationError(f"{setting} has no key in it; to serve without keys, leave it unset")
    _check_sendable(setting, *found)
    return found


def _check_sendable(where: str, *keys: str) -> None:
    """Raise ConfigurationError if no request could send one of the keys."""
    if not all(map(is_sendable, keys)):
        raise ConfigurationError(
            f"{where}: a key has a space, or a character outside ASCII, which no HTTP header can carry"
        )
