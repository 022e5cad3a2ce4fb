"""Every knob of the service, in one place: `SANDBOX_<NAME>` in the environment, read once.

An unknown `SANDBOX_*` variable is an error, so that a misspelt one cannot be silently ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.bounds import Bounds
from sandbox_service.errors import ConfigurationError

PREFIX = "SANDBOX_"
MIB = 1 << 20


class Settings(BaseModel):
    """Name, default and one line of help for each. Sizes in bytes, times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # where it listens
    host: str = Field("127.0.0.1", description="address to listen on; 0.0.0.0 for all")
    port: int = Field(8080, ge=1, le=65535, description="port to listen on")
    api_keys: str = Field("", description="comma-separated keys; when set, every /v1 request must bring one")
    api_keys_file: str = Field("", description="a file with a key a line; # begins a comment")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="debug, info, warning or error")

    # the fleet
    redis_url: str = Field("", description="redis://[:password@]host:port/db; when set, workers grade (proctor worker)")
    redis_password_file: str = Field("", description="a file with Redis's password, for a redis_url without one")
    redis_name: str = Field("proctor", pattern="^[A-Za-z0-9._-]{1,64}$", description="prefix of all keys in Redis")

    # the jails
    slots: int = Field(0, ge=0, description="grading processes; 0: one for each processor this process may use")
    firejail: str = Field("/usr/bin/firejail", description="the firejail program")
    python: str = Field("/usr/bin/python3", description="interpreter for submissions; must live below /usr")
    first_uid: int = Field(60001, ge=1000, description="slot i runs its boxes as uid first_uid + i (when root)")
    recycle_after: int = Field(20_000, ge=1, description="runs after which a jail is replaced by a fresh one")
    canary_seconds: float = Field(60.0, gt=0, description="how often a program that must be blocked is tried")

    # what one submission may ask for
    max_cpu_seconds: float = Field(60.0, gt=0, description="largest limits.cpu_seconds")
    max_wall_seconds: float = Field(300.0, gt=0, description="largest limits.wall_seconds")
    max_memory_bytes: int = Field(4096 * MIB, gt=0, description="largest limits.memory_bytes")
    max_output_bytes: int = Field(256 * MIB, gt=0, description="largest limits.output_bytes")
    max_processes: int = Field(16, ge=1, description="largest limits.processes")
    max_tests: int = Field(10_000, ge=1, description="most tests of one submission")
    display_bytes: int = Field(4096, ge=0, description="how much of stdout and stderr an answer shows")
    max_display_bytes: int = Field(16 * MIB, ge=0, description="largest display_bytes of a submission")

    # what the service takes on
    max_body_bytes: int = Field(64 * MIB, ge=1024, description="largest request body, compressed or not")
    max_batch: int = Field(100_000, ge=1, description="most submissions of one batch")
    queue_submissions: int = Field(65_536, ge=1, description="most submissions waiting; beyond: 429")
    queue_bytes: int = Field(1024 * MIB, ge=1024, description="most bytes of submissions waiting; beyond: 429")
    queue_cpu_seconds: float = Field(100_000.0, gt=0, description="most estimated CPU time waiting; beyond: 429")
    suite_bytes: int = Field(256 * MIB, ge=1024, description="most bytes of suites kept in this process")
    cache_seconds: float = Field(600.0, ge=0, description="how long AC, WA, RTE and CE are remembered; 0: not at all")
    recheck_share: float = Field(0.001, ge=0, le=1, description="share of submissions graded twice, to see flips")
    connections: int = Field(16_384, ge=16, description="most connections; beyond, those idle longest are closed")
    patience_seconds: float = Field(60.0, gt=0, description="how long a client may take to send a request or to read")
    keepalive_seconds: int = Field(75, ge=1, description="how long an idle connection is kept")
    shutdown_seconds: float = Field(30.0, ge=0, description="how long to finish what was taken before closing")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read `SANDBOX_*`. Raises ConfigurationError naming each wrong or unknown variable."""
        ours = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
        given = {name.removeprefix(PREFIX).lower(): value for name, value in ours.items()}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            problems = "; ".join(f"{PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
            raise ConfigurationError(f"{problems} (proctor serve --settings lists them all)") from None

    @property
    def slot_count(self) -> int:
        """How many grading processes to run."""
        return self.slots or len(os.sched_getaffinity(0))

    @property
    def redis(self) -> str:
        """Where Redis is, with its password. Raises ConfigurationError if its file gives none."""
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
        try:
            password = Path(self.redis_password_file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"SANDBOX_REDIS_PASSWORD_FILE: {error}") from None
        if not password:
            raise ConfigurationError(f"SANDBOX_REDIS_PASSWORD_FILE: {self.redis_password_file} is empty")
        return password

    @property
    def keys(self) -> frozenset[str]:
        """The API keys, none meaning that none is asked for. Raises ConfigurationError if their file gives none."""
        keys = frozenset(key.strip() for key in self.api_keys.split(",") if key.strip())
        return keys | self._keys_of_file() if self.api_keys_file else keys

    def _keys_of_file(self) -> frozenset[str]:
        try:
            lines = Path(self.api_keys_file).read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"SANDBOX_API_KEYS_FILE: {error}") from None
        keys = frozenset(key for line in lines if (key := line.partition("#")[0].strip()))
        if not keys:  # an empty file must not open the service to everybody
            raise ConfigurationError(f"SANDBOX_API_KEYS_FILE: {self.api_keys_file} has no key in it")
        return keys

    @property
    def bounds(self) -> Bounds:
        """The most that may wait."""
        return Bounds(self.queue_submissions, self.queue_bytes, self.queue_cpu_seconds)
