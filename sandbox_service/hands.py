"""Calls for hands: RQ jobs that wake workers when submissions wait. What to do is in the ledger, never in the job.

A call that is lost, or made twice, does no harm: whoever sees that more waits than was called for calls again. So RQ
may lose a job when a worker is killed between taking and beginning it, as it does, and nothing else is lost.

Whoever can write to this Redis can put jobs there. RQ itself would import and call whatever they name, with pickled
arguments if asked to; here a job is either this one call, without arguments, or it is deleted and counted. Its size is
asked before it is read, it is unpacked with a bound, and callbacks and webhooks are never looked at.
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

log = logging.getLogger(__name__)

CALL = "proctor.take"
CHUNK = 64  # what one call's worker may claim: an RQ job costs Redis as much as ten submissions
MOST_CALLS = 256  # at once: a burst of thousands does not need thousands of calls before the first is heard
TURN_SECONDS = 30.0  # a worker heeds one call so long while there is work: RQ gives up on a job after 90
MOST_JOB_BYTES = 16_384
MOST_DATA_BYTES = 256
READ = frozenset({"created_at", "origin", "enqueued_at", "status"})
TIMES = {b"timeout": b"-1", b"result_ttl": b"0"}  # whatever the job says
FAILURE_SECONDS = 60
IDLE_SECONDS = 5
SOCKET_SECONDS = 15
RESTART_SECONDS = 0.2
KEEPS = "noeviction"


def wanted(waiting: int, workers: int, slots: int) -> int:
    """How many calls should be out: one for each worker that may be idle, but not more than have something to do."""
    return min(workers or 1, -(-waiting * (workers or 1) // (slots or 1)), MOST_CALLS)


class Caller:
    """Makes calls. Blocking: it is called in a thread."""

    def __init__(self, url: str, name: str) -> None:
        self._queue = Queue(name, connection=_connect(url), serializer=JSONSerializer)

    def call(self, waiting: int, workers: int, slots: int) -> int:
        """Make the calls that are missing; how many. Raises redis.RedisError."""
        missing = wanted(waiting, workers, slots) - self._queue.count if waiting else 0
        _make(self._queue, missing)
        return max(0, missing)

    def close(self) -> None:
        """Hang up."""
        self._queue.connection.close()


def _make(queue: Queue, calls: int) -> None:
    if calls > 0:
        data = Queue.prepare_data(CALL, (), timeout=-1, result_ttl=0, failure_ttl=FAILURE_SECONDS, description="")
        queue.enqueue_many([data] * calls)


class Call(Job):
    """An RQ job that can be nothing but a call."""

    def refresh(self) -> None:
        """Read it, if it is one. Raises NoSuchJobError, on which RQ goes on to the next."""
        try:
            size = self.connection.memory_usage(self.key, samples=0)
            if size is None:
                raise NoSuchJobError(self.key)
            if size > MOST_JOB_BYTES:
                raise _Refused(f"{size} bytes")
            raw: Any = self.connection.hgetall(self.key)
            self.restore(_admitted(raw))
        except (_Refused, redis.ResponseError, ValueError) as refusal:
            log.warning("job_refused", extra={"reason": str(refusal)})
            self.connection.unlink(self.key)
            self.refused()
            raise NoSuchJobError(self.key) from None

    @property
    def func(self) -> Callable[[], object]:
        """What is done on a call."""
        return self.take

    # set by the pump, on a class of its own
    take: Callable[[], object]
    refused: Callable[[], object]


class _Refused(Exception):
    """Not one of ours."""


def _admitted(raw: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The parts of a job that are looked at, if it is a call."""
    packed = raw.get(b"data", b"")
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, MOST_DATA_BYTES)
    except zlib.error:
        data = packed[:MOST_DATA_BYTES]
    try:
        named, instance, args, kwargs = json.loads(data)
    except (ValueError, TypeError):
        raise _Refused("not a job in JSON") from None
    if named != CALL or instance is not None or args or kwargs:
        raise _Refused(f"names {str(named)[:80]!r}")
    return {name: value for name, value in raw.items() if name.decode("latin-1") in READ} | TIMES | {b"data": data}


class _NoPenalty(BaseDeathPenalty):
    """The jail has limits of its own; RQ's is a signal, and those are for the main thread."""

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _Ear(SimpleWorker):
    """An RQ worker that listens in a thread, and to its queue only: not to commands, not to signals."""

    death_penalty_class = _NoPenalty
    max_connection_wait_time = 1.0

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """RQ beats between two attempts to reach Redis, and nowhere else asks whether it is to stop."""
        if self._stop_requested:
            raise StopRequested
        super().heartbeat(timeout, pipeline)

    def _install_signal_handlers(self) -> None:
        pass

    def _set_ip_address(self, connection: Any) -> None:  # noqa: ARG002
        """RQ would read the list of all clients for this: a megabyte for each of a thousand workers that start."""
        self.ip_address = "unknown"

    def subscribe(self) -> None:
        pass

    def unsubscribe(self) -> None:
        pass


class Pump:
    """Hears calls in a thread of its own, one at a time, until it is stopped; again whenever Redis comes back.

    `take` is called in that thread, again while something waits, and returns what still does, and for how many workers
    and slots. So a call wakes a worker, which then needs no more calls until it finds nothing to do.
    """

    def __init__(self, url: str, name: str, worker: str, take: Callable[[], tuple[int, int, int]]) -> None:
        self._connection = _connect(url)
        self._name = name
        self._worker = worker
        self._take = take
        self._stopped = threading.Event()
        self._ear: _Ear | None = None
        self._thread = threading.Thread(target=self._listen, name="calls", daemon=True)
        self.refused = 0

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Hear nothing more. A call that was taken but not heard is made again by whoever notices."""
        self._stopped.set()
        if self._ear is not None:
            self._ear._stop_requested = True
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
                    log.warning("calls_interrupted", extra={"reason": str(trouble)})
            self._stopped.wait(RESTART_SECONDS)
        self._connection.close()

    def _listen_once(self, name: str) -> None:
        """Until RQ gives up, as it does on a timeout and on every error that it does not expect."""
        job_class = type("OurCall", (Call,), {"take": staticmethod(self._heard), "refused": staticmethod(self._refuse)})
        queue = Queue(self._name, connection=self._connection, serializer=JSONSerializer, job_class=job_class)
        self._connection.delete(queue.intermediate_queue_key)  # what is stuck there is only calls
        self._ear = _Ear(
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
        self._ear.work(logging_level="CRITICAL")

    def _heard(self) -> None:
        end = time.monotonic() + TURN_SECONDS
        waiting, workers, slots = self._take()
        if wanted(waiting, workers, slots) == MOST_CALLS:
            self._pass_on()
        while waiting and not self._stopped.is_set():
            if time.monotonic() > end:
                self._pass_on()
                return
            waiting, workers, slots = self._take()

    def _pass_on(self) -> None:
        """One call for one: if all who hear one made all that are missing, they would do so at once."""
        if not self._stopped.is_set():
            _make(self._queue, 1)

    def _refuse(self) -> None:
        self.refused += 1

    def _log_failure(self, _: Job, kind: type[BaseException], failure: BaseException, *__: object) -> None:
        """RQ goes on after whatever happens on a call; let it be known. Redis's troubles say so themselves.

        What happens after `stop` is its doing: the connection goes from under RQ.
        """
        if not self._stopped.is_set() and not issubclass(kind, redis.RedisError | OSError):
            log.error("call_failed", exc_info=failure)


def require_memory(url: str) -> None:
    """Raises ConfigurationError if this Redis would throw away submissions to make room. One that is away is let be."""
    connection = _connect(url)
    try:
        found: Any = connection.info("memory")
    except (redis.RedisError, OSError) as trouble:
        log.warning("redis_unchecked", extra={"reason": str(trouble)})
        return
    finally:
        connection.close()
    policy = found.get("maxmemory_policy", KEEPS)
    if found.get("maxmemory") and policy != KEEPS:
        raise ConfigurationError(
            f"SANDBOX_REDIS_URL: this Redis has the maxmemory-policy {policy}, by which it forgets submissions, suites "
            f"and answers when it is full; set it to {KEEPS}"
        )


def _connect(url: str) -> Any:
    """A blocking connection. It does not retry by itself: whoever uses it knows better what to do."""
    return redis.Redis.from_url(
        url, socket_timeout=SOCKET_SECONDS, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
    )
