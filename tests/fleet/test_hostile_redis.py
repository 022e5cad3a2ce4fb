"""A hostile program that can write to Redis can forge answers, but cannot run code on a worker or end it.

RQ would import the function that a job names, unpickle its arguments and obey commands. Each of these is refused or
ignored; the worker goes on with bounded memory, and other submissions are graded meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import socket
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.fleet.ledger.packing import AnswerCodec
from tests.fleet.fleet import NAME, Fleet, running_fleet, until
from tests.fleet.load import submission

MIB = 1 << 20
MOST_BYTES = (
    900 * MIB
)  # resident, at any time: a hundred million bytes that RQ reads in one piece are copied a few times
QUEUE = f"rq:queue:{NAME}"
CALL = json.dumps(["proctor.take", None, [], {}]).encode()

Attack = Callable[[Any], None]


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder from which the worker could import a module that leaves a trace in it."""
    folder = tmp_path_factory.mktemp("traps")
    (folder / "trap.py").write_text(f"open({str(folder / 'sprung')!r}, 'w')\ndef function(*_, **__): pass\n")
    return folder


@pytest.fixture(scope="module")
def fleet(traps: Path) -> Iterator[Fleet]:
    """One API process, one worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{traps}:{os.environ.get('PYTHONPATH', '')}".rstrip(":"))
        with running_fleet(workers=1) as running:
            yield running


class Victim:
    """The worker that is attacked, and who looks after it."""

    def __init__(self, fleet: Fleet, traps: Path) -> None:
        self.fleet = fleet
        self.redis = fleet.redis.client()
        self._traps = traps
        self._number = 0

    def refused(self) -> int:
        """How much was refused so far."""
        return int(self.redis.hget(f"{NAME}:stats", "refused") or 0)

    def until_refused(self, before: int) -> None:
        """Wait until one more is, and all who ask are told."""
        until(lambda: self.refused() > before, "it is refused and counted")
        until(lambda: self.fleet.apis[0].status()["counts"].get("refused", 0) > before, "/v1/status says so")

    def check(self) -> None:
        """It lives, has not grown, has sprung no trap, and grades."""
        self._number += 1
        worker = self.fleet.workers[0]
        body = {"id": f"hostile-{self._number}-{os.urandom(4).hex()}", **submission("stdin", "AC", self._number)}
        status, grade = self.fleet.apis[0].client.post("/v1/grade", body)
        assert (status, grade["verdict"]) == (200, "AC")
        assert grade["grader"]["attempts"] <= 2  # a Redis that chews on 100 MB may have it taken for dead once
        assert worker.process.poll() is None
        assert not (self._traps / "sprung").exists()
        peak = peak_bytes(worker.pid)
        print(f"\npeak {peak / MIB:.0f} MiB", end="")
        assert peak < MOST_BYTES


@pytest.fixture
def victim(fleet: Fleet, traps: Path) -> Iterator[Victim]:
    """Checked before and after."""
    found = Victim(fleet, traps)
    pid = fleet.workers[0].pid  # of one that was never started again
    found.check()
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak from now on
    yield found
    found.check()


def peak_bytes(pid: int) -> int:
    """The most memory that a process ever had resident, since this was last reset."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


# --- RQ's part


def enqueue(redis: Any, data: bytes, **fields: Any) -> None:
    """A job as RQ would write it."""
    job = os.urandom(8).hex()
    times = "2026-01-01T00:00:00.000000Z"
    whole = {"data": data, "created_at": times, "enqueued_at": times, "origin": NAME, "status": "queued", "timeout": -1}
    redis.hset(f"rq:job:{job}", mapping=whole | fields)
    redis.rpush(QUEUE, job)


class Bomb:
    """Does something when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (__import__, ("trap",))


def named(name: str) -> bytes:
    return zlib.compress(json.dumps([name, None, ["touch /tmp/owned"], {}]).encode())


def another_type(redis: Any) -> None:
    redis.set("rq:job:text", "no job")
    redis.rpush(QUEUE, "text")


REFUSED: dict[str, Attack] = {
    "a job that names os.system": lambda redis: enqueue(redis, named("os.system")),
    "a job that names a module with a trap": lambda redis: enqueue(redis, named("trap.function")),
    "our call, with an argument": lambda redis: enqueue(redis, json.dumps(["proctor.take", None, [1], {}]).encode()),
    "our call, of an instance": lambda redis: enqueue(redis, json.dumps(["proctor.take", "trap", [], {}]).encode()),
    "a pickle": lambda redis: enqueue(redis, pickle.dumps(Bomb())),
    "a packed pickle": lambda redis: enqueue(redis, zlib.compress(pickle.dumps(Bomb()))),
    "a bomb of zeros": lambda redis: enqueue(redis, zlib.compress(bytes(12 * MIB), 9)),
    "a large bomb": lambda redis: enqueue(redis, zlib.compress(bytes(1024 * MIB), 9)),
    "a malformed body": lambda redis: enqueue(redis, b"\xff\xfe{]"),
    "no body": lambda redis: enqueue(redis, b""),
    "a deeply nested body": lambda redis: enqueue(redis, b"[" * 200),
    "malformed times": lambda redis: enqueue(redis, CALL, created_at="\0" * 40, enqueued_at="yesterday"),
    "a job of 100 MB": lambda redis: enqueue(redis, CALL, meta=b"x" * 100_000_000),
    "a job of another type": another_type,
}
HARMLESS: dict[str, Attack] = {
    "a malformed timeout": lambda redis: enqueue(redis, CALL, timeout="soon", result_ttl="never"),
    "callbacks": lambda redis: enqueue(
        redis, CALL, success_callback_name="trap.function", failure_callback_name="trap.function", meta=b"\x80\x04."
    ),
    "a job that is not there": lambda redis: redis.rpush(QUEUE, "nowhere"),
    "an id that is no text": lambda redis: redis.rpush(QUEUE, b"\xff\xfe\0"),
    "an id of 100 MB": lambda redis: redis.rpush(QUEUE, b"x" * 100_000_000),
    "a thousand jobs that are not there": lambda redis: redis.rpush(QUEUE, *(f"no-{n}" for n in range(1000))),
}


@pytest.mark.parametrize("attack", REFUSED.values(), ids=[name.replace(" ", "-") for name in REFUSED])
def test_a_job_that_is_not_ours_is_refused_and_counted(victim: Victim, attack: Attack) -> None:
    before = victim.refused()
    attack(victim.redis)
    victim.until_refused(before)


@pytest.mark.parametrize("attack", HARMLESS.values(), ids=[name.replace(" ", "-") for name in HARMLESS])
def test_what_can_be_passed_over_is_passed_over(victim: Victim, attack: Attack) -> None:
    attack(victim.redis)
    until(lambda: victim.redis.llen(QUEUE) == 0, "the queue is empty")


def test_commands_to_rq_are_not_heard(victim: Victim) -> None:
    for command in ({"command": "shutdown"}, {"command": "kill-horse"}, {"command": "stop-job", "job_id": "x"}):
        for name in victim.redis.smembers("rq:workers"):
            channel = name.decode().replace("rq:worker:", "rq:pubsub:")
            assert victim.redis.publish(channel, json.dumps(command)) == 0


SPOILT: dict[str, Attack] = {
    "a queue that is no list": lambda redis: spoil(redis, QUEUE),
    "a set of queues that is none": lambda redis: spoil(redis, "rq:queues"),
    "a set of workers that is none": lambda redis: spoil(redis, "rq:workers", f"rq:workers:{NAME}"),
    "all of RQ suspended": lambda redis: redis.set("rq:suspended", 1, ex=600),
}


def spoil(redis: Any, *keys: str) -> None:
    redis.delete(*keys)
    for key in keys:
        redis.set(key, "no such thing", ex=600)


@pytest.mark.parametrize("attack", SPOILT.values(), ids=[name.replace(" ", "-") for name in SPOILT])
def test_where_rq_does_not_work_grading_goes_on(victim: Victim, attack: Attack) -> None:
    attack(victim.redis)
    try:
        victim.check()
    finally:
        victim.redis.delete("rq:suspended", QUEUE, "rq:queues", "rq:workers", f"rq:workers:{NAME}")


# --- the ledger's part

WHOLE = {"digest": b"d" * 16, "taken": "1.0", "bytes": 1}
ABOUT: dict[str, Any] = {
    "suite": None,
    "client": "mallory",
    "priority": 1,
    "cost": 1000,
    "tests": 1,
    "graders": "",
    "labels": {},
}
SUITE = b'[{"type":"stdin","input":"","output":"1"}]'
BODY = json.dumps({"code": "print(1)", "tests": None, "suite": "sha256:" + "0" * 64}).encode()


def suite_of(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def forge(redis: Any, id_: bytes, **fields: Any) -> None:
    """A submission that waits, as the ledger would write it, but for what is wrong with it."""
    write(redis, id_, **fields)
    expose(redis, id_)


def write(redis: Any, id_: bytes, **fields: Any) -> None:
    redis.set(f"{NAME}:suite:{suite_of(SUITE)}", SUITE, ex=600)
    said = ABOUT | {"suite": suite_of(SUITE)} | {name: fields.pop(name) for name in ABOUT if name in fields}
    about = json.dumps(list(said.values()), ensure_ascii=False).encode("latin-1").replace(b"Infinity", b"1e999")
    whole = WHOLE | {"about": about, "body": BODY} | fields
    given = {name: value for name, value in whole.items() if value is not None}
    redis.hset(f"{NAME}:sub:".encode() + id_, mapping=given)


def expose(redis: Any, id_: bytes) -> None:
    redis.zadd(f"{NAME}:pending", {id_: 1.0})
    redis.rpush(f"{NAME}:ready:1:mallory", id_)
    redis.rpush(f"{NAME}:ring:1", "mallory")
    redis.incr(f"{NAME}:waiting")


def forge_large(redis: Any, bytes_: int) -> None:
    """A body so large that it could not be sent here in a reasonable time."""
    write(redis, b"large")
    redis.setrange("zeros", bytes_ - 1, "\0")
    redis.eval("redis.call('HSET', KEYS[1], 'body', redis.call('GETDEL', KEYS[2]))", 2, f"{NAME}:sub:large", "zeros")
    expose(redis, b"large")


def forge_text(redis: Any) -> None:
    redis.set(f"{NAME}:sub:forged", "no hash")
    expose(redis, b"forged")


def forge_suite(redis: Any, suite: str, body: bytes) -> None:
    redis.set(f"{NAME}:suite:{suite}", body, ex=600)
    forge(redis, b"forged", suite=suite)


FORGED_AND_REFUSED: dict[str, Attack] = {
    "no digest": lambda redis: forge(redis, b"forged", digest=b"short"),
    "no body": lambda redis: forge(redis, b"forged", body=None),
    "a cost that is no number": lambda redis: forge(redis, b"forged", cost=float("inf")),
    "tests that are no number": lambda redis: forge(redis, b"forged", tests=-1),
    "attempts that are no number": lambda redis: forge(redis, b"forged", attempts="many"),
    "a body of 512 MB": lambda redis: forge_large(redis, 512 * MIB),
    "another type": lambda redis: forge_text(redis),
    "an id that is no text": lambda redis: forge(redis, b"\xff\xfe"),
    "a suite that is no text": lambda redis: forge(redis, b"forged", suite="\xff\xfe"),
}
FORGED_AND_ANSWERED: dict[str, tuple[Attack, str]] = {
    "a malformed body": (lambda redis: forge(redis, b"forged", body=b"\x80\x04}{"), "bad_submission"),
    "a body of another kind": (lambda redis: forge(redis, b"forged", body=b"[[[[]]]]"), "bad_submission"),
    "a suite that is not there": (lambda redis: forge(redis, b"forged", suite="sha256:none"), "suite_lost"),
    "a suite with another's name": (lambda redis: forge_suite(redis, suite_of(b"x"), SUITE), "suite_lost"),
    "a malformed suite": (lambda redis: forge_suite(redis, suite_of(b"\xff{"), b"\xff{"), "bad_submission"),
}


@pytest.mark.parametrize("attack", FORGED_AND_REFUSED.values(), ids=[n.replace(" ", "-") for n in FORGED_AND_REFUSED])
def test_a_forged_submission_that_is_not_whole_is_refused_and_counted(victim: Victim, attack: Attack) -> None:
    before = victim.refused()
    attack(victim.redis)
    victim.until_refused(before)
    until(lambda: victim.fleet.apis[0].status()["pending"]["submissions"] == 0, "it is gone from the books")


@pytest.mark.parametrize(
    ("attack", "kind"), FORGED_AND_ANSWERED.values(), ids=[n.replace(" ", "-") for n in FORGED_AND_ANSWERED]
)
def test_a_forged_submission_that_cannot_be_read_is_our_fault(victim: Victim, attack: Attack, kind: str) -> None:
    attack(victim.redis)
    key = f"{NAME}:res:forged"
    until(lambda: victim.redis.exists(key) == 1, "it is answered")
    answer = json.loads(AnswerCodec().unpack(victim.redis.get(key)))
    victim.redis.delete(key)
    assert (answer["verdict"], answer["reward"], answer["failure_kind"]) == ("IE", None, kind)


def test_what_is_larger_than_that_redis_itself_refuses(fleet: Fleet) -> None:
    with socket.create_connection(("127.0.0.1", fleet.redis.port), timeout=10) as connection:
        connection.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$%d\r\n" % (1 << 30))
        assert connection.recv(100) == b"-ERR Protocol error: invalid bulk length\r\n"
