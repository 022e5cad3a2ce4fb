"""Wake-ups: RQ jobs that make workers claim submissions. The work itself is in the ledger, never in the job.

A wake-up that is lost or made twice does no harm: API processes check twice a second whether enough are queued. RQ may
therefore lose a job when a worker is killed between taking and beginning it.

A program that can write to this Redis can add jobs. RQ would import and call the function that a job names, with
pickled arguments if the job says so. Here a job is either the one wake-up, without arguments, or it is deleted and
counted. Its size is checked before it is read, it is unpacked with a bound, and callbacks and webhooks are ignored.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty

from sandbox_service.errors import ConfigurationError
from sandbox_service.fleet import failover
from sandbox_service.fleet.ledger.formats import check_shared
from sandbox_service.fleet.outage import Outage
from sandbox_service.fleet.retry import is_transient

log = logging.getLogger(__name__)

CALL = "proctor.take"
CHUNK = 64  # submissions that a worker may claim for a wake-up, which costs Redis as much as ten of them
MOST_CALLS = 256  # at once: workers pass a wake-up on, so a burst of thousands needs no more
MOST_JOB_BYTES = 16_384
MOST_DATA_BYTES = 256
READ = frozenset({"created_at", "origin", "enqueued_at", "status"})
TIMES = {b"timeout": b"-1", b"result_ttl": b"0"}  # instead of those in the job
FAILURE_SECONDS = 60
IDLE_SECONDS = 5
NOTE_SECONDS = 60.0  # between two notes that a worker listens or works: RQ forgets it after 80 s
SOCKET_SECONDS = 15
RESTART_SECONDS = 0.2
KEEPS = "noeviction"
LEAST_MAJOR = 7
NEEDS = "the fleet needs Redis 7.0 or newer, which has functions"


def wanted(waiting: int, workers: int, slots: int) -> int:
    """Return how many wake-ups should be queued: one for each worker that may be idle and would have work.

    Args:
        waiting: number of waiting submissions.
        workers: number of registered workers.
        slots: number of slots of all workers.
    """
    return min(workers or 1, -(-waiting * (workers or 1) // (slots or 1)), MOST_CALLS)


class JobEnqueuer:
    """Enqueues wake-ups. Blocking: call it in a thread."""

    def __init__(self, url: str, name: str) -> None:
        self._queue = Queue(name, connection=_connect(url), serializer=JSONSerializer)

    def enqueue_missing(self, waiting: int, workers: int, slots: int) -> int:
        """Enqueue the missing wake-ups.

        Args:
            waiting: as for `wanted`.
            workers: as for `wanted`.
            slots: as for `wanted`.

        Returns:
            The number of wake-ups that were missing.

        Raises:
            RedisError: Redis cannot be reached or refuses.
        """
        missing = wanted(waiting, workers, slots) - self._queue.count if waiting else 0
        _make(self._queue, missing)
        return max(0, missing)

    def close(self) -> None:
        """Close the connection."""
        self._queue.connection.close()


def _make(queue: Queue, calls: int) -> None:
    if calls > 0:
        data = Queue.prepare_data(CALL, (), timeout=-1, result_ttl=0, failure_ttl=FAILURE_SECONDS, description="")
        queue.enqueue_many([data] * calls)


class WakeupJob(Job):
    """An RQ job that can only be a wake-up."""

    def refresh(self) -> None:
        """Read the job. Raises NoSuchJobError for any other job, and RQ goes on to the next."""
        try:
            size = self.connection.memory_usage(self.key, samples=0)
            if size is None:
                raise NoSuchJobError(self.key)
            if size > MOST_JOB_BYTES:
                raise _RefusedJobError(f"{size} bytes")
            raw: Any = self.connection.hgetall(self.key)
            self.restore(_admitted(raw))
        except (_RefusedJobError, redis.ResponseError, ValueError) as refusal:
            log.warning("job_refused", extra={"reason": str(refusal)})
            self.connection.unlink(self.key)
            self.refused()
            raise NoSuchJobError(self.key) from None

    @property
    def func(self) -> Callable[[], object]:
        """Return the function that a wake-up runs."""
        return lambda: self.take(self)

    # set by JobListener, in a subclass
    take: Callable[[Job], object]
    refused: Callable[[], object]


class _RefusedJobError(Exception):
    """The job is not a wake-up."""


def _admitted(raw: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the fields of a job that RQ may read. Raises _RefusedJobError if it is not a wake-up."""
    packed = raw.get(b"data", b"")
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, MOST_DATA_BYTES)
    except zlib.error:
        data = packed[:MOST_DATA_BYTES]
    try:
        named, instance, args, kwargs = json.loads(data)
    except (ValueError, TypeError):
        raise _RefusedJobError("not a job in JSON") from None
    if named != CALL or instance is not None or args or kwargs:
        raise _RefusedJobError(f"names {str(named)[:80]!r}")
    return {name: value for name, value in raw.items() if name.decode("latin-1") in READ} | TIMES | {b"data": data}


class _NoPenalty(BaseDeathPenalty):
    """No time limit: RQ's is a signal, which only the main thread can receive."""

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _WakeupWorker(SimpleWorker):
    """An RQ worker for a thread. It ignores signals and the commands that RQ sends through Redis."""

    death_penalty_class = _NoPenalty
    max_connection_wait_time = 1.0
    _noted_at = 0.0

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Implements RQ's method, for RQ's own list of workers, which keeps one for over a minute.

        RQ calls it around each wait for a job. A thousand idle workers would send Redis 400 commands a second.
        Between two attempts to reach Redis, RQ checks for nothing else.

        Raises:
            StopRequested: the worker was asked to stop.
        """
        if self._stop_requested:
            raise StopRequested
        if pipeline is None and time.monotonic() - self._noted_at < NOTE_SECONDS:
            return
        super().heartbeat(timeout, pipeline)
        self._noted_at = time.monotonic()

    def _install_signal_handlers(self) -> None:
        pass

    def _set_ip_address(self, connection: Any) -> None:  # noqa: ARG002
        """Skip reading the list of all clients: a megabyte for each of a thousand workers that start."""
        self.ip_address = "unknown"

    def subscribe(self) -> None:
        pass

    def unsubscribe(self) -> None:
        pass


class JobListener:
    """Receives wake-ups in a thread of its own, one at a time, until it is stopped; reconnects when Redis comes back.

    `take` is called in that thread, again while submissions wait. It claims at least once, and goes on for the seconds
    that it is given while some wait. It returns how many still wait, and for how many workers and slots. A worker that
    was woken needs no other wake-up until it finds nothing to claim.
    """

    def __init__(self, url: str, name: str, worker: str, take: Callable[[float], tuple[int, int, int]]) -> None:
        self._connection = _connect(url)
        self._name = name
        self._worker = worker
        self._take = take
        self._stopped = threading.Event()
        self._worker_loop: _WakeupWorker | None = None
        self._thread = threading.Thread(target=self._listen, name="wakeups", daemon=True)
        self._outage = Outage(failover.address(url), away="wakeups_interrupted", back="wakeups_resumed")
        self.refused = 0

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Receive no more wake-ups. One that RQ has popped but not begun is lost, and made again by an API process."""
        self._stopped.set()
        if self._worker_loop is not None:
            self._worker_loop._stop_requested = True
        self._connection.connection_pool.disconnect()

    def _listen(self) -> None:
        logging.getLogger("rq.worker").setLevel(logging.CRITICAL)
        starts = 0
        while not self._stopped.is_set():
            starts += 1
            try:
                self._listen_once(f"{self._worker}.{starts}")
            except (redis.RedisError, OSError, ValueError) as trouble:
                if not self._stopped.is_set():
                    self._outage.failed(trouble)
            self._stopped.wait(RESTART_SECONDS)
        self._connection.close()

    def _listen_once(self, name: str) -> None:
        """Listen until RQ gives up, as it does on a timeout and on every error that it does not expect."""
        job_class = type(
            "OurWakeup", (WakeupJob,), {"take": staticmethod(self._work), "refused": staticmethod(self._refuse)}
        )
        queue = Queue(self._name, connection=self._connection, serializer=JSONSerializer, job_class=job_class)
        self._connection.delete(queue.intermediate_queue_key)  # only wake-ups can be stuck there
        self._outage.succeeded()
        self._worker_loop = _WakeupWorker(
            [queue],
            name=name,
            connection=self._connection,
            job_class=job_class,
            serializer=JSONSerializer,
            worker_ttl=IDLE_SECONDS + 15,  # RQ waits for a job 15 s less than this
            log_job_description=False,
            exception_handlers=[self._log_failure],
            disable_default_exception_handler=True,
        )
        self._queue = queue
        self._worker_loop.work(logging_level="CRITICAL")

    def _work(self, job: Job) -> None:
        """Claim until nothing waits: another wake-up in between would cost Redis fifty commands."""
        waiting, workers, slots = self._take(0.0)
        if wanted(waiting, workers, slots) == MOST_CALLS:
            self._pass_on()
        while waiting and not self._stopped.is_set():
            waiting, *_ = self._take(NOTE_SECONDS)
            if waiting:
                self._note(job)

    def _pass_on(self) -> None:
        """Enqueue one wake-up. If each worker enqueued all that are missing, all of them would at the same time."""
        if not self._stopped.is_set():
            _make(self._queue, 1)

    def _note(self, job: Job) -> None:
        """Keep RQ from taking the job for abandoned."""
        if self._worker_loop is not None:
            self._worker_loop.maintain_heartbeats(job)

    def _refuse(self) -> None:
        self.refused += 1

    def _log_failure(self, _: Job, kind: type[BaseException], failure: BaseException, *__: object) -> None:
        """Log a defect, after which RQ goes on. Errors of Redis are logged elsewhere, and expected after `stop`."""
        if not self._stopped.is_set() and not issubclass(kind, redis.RedisError | OSError):
            log.error("wakeup_failed", exc_info=failure)


def require_usable(url: str, name: str) -> None:
    """Check a Redis before it is used; one that is away is not checked.

    Args:
        url: of Redis.
        name: prefix of the fleet's keys.

    Raises:
        ConfigurationError: the URL or its password is wrong, this Redis would evict keys when it is full, or another
            version uses it whose format this one cannot share.
    """
    try:
        connection = _connect(url)
    except ValueError as error:
        raise ConfigurationError(f"SANDBOX_REDIS_URL: {error}") from None
    try:
        found: Any = connection.info()
        noted: Any = connection.zrange(f"{name}:formats", 0, -1)
    except redis.exceptions.NoPermissionError as refusal:
        raise ConfigurationError(
            f"SANDBOX_REDIS_URL: the Redis at {failover.address(url)} refuses what the fleet needs: {refusal}; "
            "give its user all rights: ACL SETUSER … +@all ~* &*"
        ) from None
    except redis.AuthenticationError as refusal:
        raise ConfigurationError(
            f"SANDBOX_REDIS_URL: the Redis at {failover.address(url)} refuses its password: {refusal}; "
            "set it in the URL (redis://:password@host) or in SANDBOX_REDIS_PASSWORD_FILE"
        ) from None
    except (redis.RedisError, OSError) as trouble:
        if not is_transient(trouble):  # such as a database that it does not have
            advice = f"; {NEEDS}" if "unknown command" in str(trouble) else ""
            raise ConfigurationError(f"SANDBOX_REDIS_URL: {failover.address(url)}: {trouble}{advice}") from None
        log.warning("redis_unchecked", extra={"address": failover.address(url), "reason": str(trouble)})
        return
    finally:
        connection.close()
    version = str(found.get("redis_version", ""))
    if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < LEAST_MAJOR:
        raise ConfigurationError(f"SANDBOX_REDIS_URL: {failover.address(url)} is Redis {version}; {NEEDS}")
    policy = found.get("maxmemory_policy", KEEPS)
    if found.get("maxmemory") and policy != KEEPS:
        raise ConfigurationError(
            f"SANDBOX_REDIS_URL: this Redis has the maxmemory-policy {policy}, which evicts submissions, suites "
            f"and answers when it is full; set it to {KEEPS}"
        )
    check_shared(failover.address(url), noted)


def _connect(url: str) -> Any:
    """Return a blocking client that does not retry: its callers do."""
    pool = failover.connection_pool(
        url, socket_timeout=SOCKET_SECONDS, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
    )
    return redis.Redis.from_pool(pool)
