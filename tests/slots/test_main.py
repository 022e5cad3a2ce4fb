"""A slot's end of its line to the service: what is cancelled before it is begun, and sent again after that."""

from __future__ import annotations

import asyncio
import errno
import random
import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import orjson
import pytest

from sandbox_service.grading.grader import Grader
from sandbox_service.grading.suites import LruCache
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.slots import protocol
from sandbox_service.slots.main import Slot
from sandbox_service.slots.process import SlotProcess
from sandbox_service.slots.protocol import BlockingConnection
from tests.fakes import made, suite_of

KEY = 5


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, BlockingConnection]]:
    """The service's socket and the slot's line."""
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        yield ours, BlockingConnection(theirs, look_seconds=0)


def answer(service: socket.socket) -> tuple[int, int]:
    """Kind and key of the next frame that the slot sent."""
    size, kind, key = protocol.HEADER.unpack(service.recv(protocol.HEADER.size))
    assert size == 0
    return kind, key


def bare_slot(line: BlockingConnection) -> Slot:
    """A slot that has no jail yet, and room for two suites."""
    slot = Slot.__new__(Slot)
    slot._line, slot._suites, slot._grader = line, LruCache(2, 1000), None
    slot._jails = cast("JailPool", SimpleNamespace(distrust=lambda: None))
    return slot


class Wire:
    """What a SlotProcess writes to."""

    def __init__(self, service: socket.socket) -> None:
        self.write = service.sendall

    def is_closing(self) -> bool:
        return False


def bare_process(service: socket.socket) -> SlotProcess:
    """The service's side of that slot, without a process."""
    process = SlotProcess.__new__(SlotProcess)
    process.ready, process._key = True, None
    process._writer, process._sent_suites = cast("asyncio.WriteTransport", Wire(service)), LruCache(2, 1000)
    return process


def test_frames_arrive_whole_however_they_are_cut(ends: tuple[socket.socket, BlockingConnection]) -> None:
    service, line = ends
    payload = bytes(range(256)) * 10
    data = protocol.pack(protocol.SUBMIT, 1, payload) + protocol.pack(protocol.SUBMIT, 2)
    for start in range(0, len(data), 700):
        service.sendall(data[start : start + 700])
    assert line.next(1) == (protocol.SUBMIT, 1, payload)
    assert line.next(1) == (protocol.SUBMIT, 2, b"")
    assert line.next(0) is None


def test_the_end_of_the_service_is_noticed(ends: tuple[socket.socket, BlockingConnection]) -> None:
    service, line = ends
    service.close()
    with pytest.raises(EOFError):
        line.next(1)
    with pytest.raises(EOFError):
        line.is_cancelled(KEY)


def test_what_is_cancelled_while_it_is_graded_is_known_by_its_key(
    ends: tuple[socket.socket, BlockingConnection],
) -> None:
    service, line = ends
    service.sendall(protocol.pack(protocol.SUBMIT, KEY))
    assert line.next(1) is not None
    assert not line.is_cancelled(KEY)
    service.sendall(protocol.pack(protocol.CANCEL, KEY))
    assert line.is_cancelled(KEY)
    assert not line.is_cancelled(KEY + 1)


def test_what_was_cancelled_before_it_was_begun_can_be_sent_again(
    ends: tuple[socket.socket, BlockingConnection],
) -> None:
    """Under the same key: somebody has come to wait for it after all."""
    service, line = ends
    slot = bare_slot(line)
    service.sendall(protocol.pack(protocol.SUBMIT, KEY) + protocol.pack(protocol.CANCEL, KEY))
    line.is_cancelled(KEY)  # reads both
    frame = line.next(1)
    assert frame is not None
    slot._answer(frame)
    assert answer(service) == (protocol.CANCELLED, KEY)
    service.sendall(protocol.pack(protocol.SUBMIT, KEY))
    again = line.next(1)
    assert again is not None
    assert again.kind == protocol.SUBMIT


# --- errors of the system are not the service's end


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_slot_says_why_its_sandboxes_cannot_be_tried(ends: tuple[socket.socket, BlockingConnection]) -> None:
    service, line = ends
    slot = bare_slot(line)
    slot._fault = ""
    slot._jails = cast("JailPool", SimpleNamespace(open=no_room, close=lambda: None))
    assert not slot._prove()
    kind, status = received(service)
    assert (kind, status["ready"], "No space left" in str(status["reason"])) == (protocol.STATUS, False, True)


def graded_by(go_on: Callable[..., None], ends: tuple[socket.socket, BlockingConnection]) -> dict[str, object]:
    """The grade of a submission whose grader does this."""
    service, line = ends
    slot, process = bare_slot(line), bare_process(service)
    slot._grader = cast("Grader", SimpleNamespace(go_on=go_on))
    job = made("x", suite=suite_of(1))
    process.give(KEY, job.suite, job.body)
    serve(slot, line, KEY)
    return received(service)[1]


def test_an_error_of_the_system_is_a_fault_with_its_reason(ends: tuple[socket.socket, BlockingConnection]) -> None:
    grade = graded_by(no_room, ends)
    assert (grade["failure_kind"], "No space left" in str(grade["failure_reason"])) == ("grader_error", True)


def test_a_lost_connection_ends_the_slot(ends: tuple[socket.socket, BlockingConnection]) -> None:
    def lose(*_: object) -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        graded_by(lose, ends)


# --- suites


def serve(slot: Slot, line: BlockingConnection, key: int) -> None:
    """Take what has come, up to the end of this submission."""
    line.is_cancelled(key)  # reads what there is
    while (frame := line.next(0)) is not None:
        slot._answer(frame)


def received(service: socket.socket) -> tuple[int, dict[str, object]]:
    """Kind and JSON of the next frame that the slot sent."""
    size, kind, _ = protocol.HEADER.unpack(service.recv(protocol.HEADER.size))
    return kind, orjson.loads(service.recv(size)) if size else {}


def test_a_suite_is_sent_once_and_its_tests_are_found_by_its_name(
    ends: tuple[socket.socket, BlockingConnection],
) -> None:
    service, line = ends
    slot, process = bare_slot(line), bare_process(service)
    for key in (1, 2, 3):
        job = made(f"{key}", suite=suite_of(4))
        process.give(key, job.suite, job.body)
        assert line.is_cancelled(key) is False
        assert [frame.kind for frame in line._frames] == [protocol.SUITE, protocol.SUBMIT][key > 1 :]
        serve(slot, line, key)
        kind, grade = received(service)
        assert (kind, grade["failure_kind"], grade["total"]) == (protocol.GRADE, "jail_unsafe", 4)
        process._key = None


@pytest.mark.parametrize("seed", range(10))
def test_the_slot_always_has_the_suite_that_the_service_believes_it_has(
    ends: tuple[socket.socket, BlockingConnection], seed: int
) -> None:
    """Though some submissions are cancelled before they are begun, and more suites are used than a slot keeps."""
    service, line = ends
    chance = random.Random(seed)
    slot, process = bare_slot(line), bare_process(service)
    for key in range(1, 200):
        job = made(f"{key}", suite=suite_of(chance.randrange(1, 5)))
        process.give(key, job.suite, job.body)
        cancelled = chance.random() < 0.3
        if cancelled:
            process.cancel(key)
        serve(slot, line, key)
        kind, grade = received(service)
        assert kind == (protocol.CANCELLED if cancelled else protocol.GRADE)
        assert cancelled or grade["total"] == len(job.suite.tests)
        process._key = None
        assert list(slot._suites._things) == list(process._sent_suites._things)
