"""A slot's end of its line to the service: what is cancelled before it is begun, and sent again after that."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from sandbox_service import frames
from sandbox_service.frames import Line
from sandbox_service.slot import Slot

KEY = 5


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Line]]:
    """The service's socket and the slot's line."""
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        yield ours, Line(theirs)


def answer(service: socket.socket) -> tuple[int, int]:
    """Kind and key of the next frame that the slot sent."""
    size, kind, key, _ = frames.HEADER.unpack(service.recv(frames.HEADER.size))
    assert size == 0
    return kind, key


def test_frames_arrive_whole_however_they_are_cut(ends: tuple[socket.socket, Line]) -> None:
    service, line = ends
    payload = bytes(range(256)) * 10
    data = frames.pack(frames.SUBMIT, 1, 1.5, payload) + frames.pack(frames.SUBMIT, 2, 2.5)
    for start in range(0, len(data), 700):
        service.sendall(data[start : start + 700])
    assert line.next(1) == (frames.SUBMIT, 1, 1.5, payload)
    assert line.next(1) == (frames.SUBMIT, 2, 2.5, b"")
    assert line.next(0) is None


def test_the_end_of_the_service_is_noticed(ends: tuple[socket.socket, Line]) -> None:
    service, line = ends
    service.close()
    with pytest.raises(EOFError):
        line.next(1)
    with pytest.raises(EOFError):
        line.is_cancelled(KEY)


def test_what_is_cancelled_while_it_is_graded_is_known_by_its_key(ends: tuple[socket.socket, Line]) -> None:
    service, line = ends
    service.sendall(frames.pack(frames.SUBMIT, KEY, 0.0))
    assert line.next(1) is not None
    assert not line.is_cancelled(KEY)
    service.sendall(frames.pack(frames.CANCEL, KEY, 0.0))
    assert line.is_cancelled(KEY)
    assert not line.is_cancelled(KEY + 1)


def test_what_was_cancelled_before_it_was_begun_can_be_sent_again(ends: tuple[socket.socket, Line]) -> None:
    """Under the same key: somebody has come to wait for it after all."""
    service, line = ends
    slot = Slot.__new__(Slot)  # of which only the line is of interest
    slot._line = line
    service.sendall(frames.pack(frames.SUBMIT, KEY, 0.0) + frames.pack(frames.CANCEL, KEY, 0.0))
    line.is_cancelled(KEY)  # reads both
    frame = line.next(1)
    assert frame is not None
    slot._answer(frame)
    assert answer(service) == (frames.CANCELLED, KEY)
    service.sendall(frames.pack(frames.SUBMIT, KEY, 0.0))
    again = line.next(1)
    assert again is not None
    assert again.kind == frames.SUBMIT
