"""Messages between the service and its slot processes: length, kind, key, then JSON, over a socket."""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import NamedTuple

HEADER = struct.Struct("<IBQ")
SUBMIT, CANCEL, GRADE, STATUS, CANCELLED, SUITE, PAUSE, PAUSED = range(1, 9)
LENGTH = struct.Struct("<I")
SUITES, SUITES_BYTES = 256, 64 << 20  # that a slot keeps; the service counts alike, so it does not ask
CHUNK = 64 << 10  # a read allocates as much, and a megabyte comes from the kernel page by page
LOOK_SECONDS = 0.01


class Frame(NamedTuple):
    """One message."""

    kind: int
    key: int
    payload: bytes


def pack(kind: int, key: int, payload: bytes = b"") -> bytes:
    """Return a message as bytes.

    Args:
        kind: one of the kinds above.
        key: the submission that it is about.
        payload: what the kind needs.
    """
    return HEADER.pack(len(payload), kind, key) + payload


NO_PROGRESS = LENGTH.pack(0)  # the `work_head` of most submissions


def work_head(progress: bytes) -> bytes:
    """Return the part of a SUBMIT between suite id and submission, which holds the progress made before."""
    return LENGTH.pack(len(progress)) + progress


def unpacked_work(payload: bytes, begin: int) -> tuple[bytes, bytes]:
    """Return progress and submission of the payload of a SUBMIT whose `work_head` begins at `begin`."""
    begin += LENGTH.size
    end = begin + LENGTH.unpack_from(payload, begin - LENGTH.size)[0]
    return payload[begin:end], payload[end:]


class Unpacker:
    """Splits a stream of bytes into messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that this data completes."""
        rest = self._rest
        if rest:
            rest += data
        found = rest or data  # whole messages are not copied to a buffer first
        frames, at, length = [], 0, len(found)
        while length - at >= HEADER.size:
            size, kind, key = HEADER.unpack_from(found, at)
            begin = at + HEADER.size
            if length < begin + size:
                break
            at = begin + size
            frames.append(Frame(kind, key, bytes(found[begin:at])))
        if rest:
            del rest[:at]
        elif at < length:
            rest += data[at:]
        return frames


class BlockingConnection:
    """The slot's blocking end. Cancellations are read at most every `look_seconds`."""

    def __init__(self, connection: socket.socket, look_seconds: float = LOOK_SECONDS) -> None:
        self._connection = connection
        self._look_seconds = look_seconds
        self._looked = 0.0
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._unpacker = Unpacker()
        self._cancelled: set[int] = set()
        self._to_pause = 0  # the key of the last submission that was asked back
        self._frames: list[Frame] = []

    def send(self, kind: int, key: int = 0, payload: bytes = b"") -> None:
        """Send one message, with the fields of `pack`. Raises OSError if the service is gone.

        Args:
            kind: one of the kinds above.
            key: the submission that it is about.
            payload: what the kind needs.
        """
        self._connection.sendall(pack(kind, key, payload))

    def next(self, seconds: float) -> Frame | None:
        """Return the next message; None after `seconds` without one. Raises EOFError when the service is gone."""
        while not self._frames:
            if not self._readable(seconds):
                return None
            self._read()
        frame = self._frames.pop(0)
        return frame if frame.key not in self._cancelled else Frame(CANCEL, *frame[1:])

    def is_cancelled(self, key: int) -> bool:
        """Return whether the service has cancelled the submission with this key. Does not block."""
        self._look()
        return key in self._cancelled

    def is_asked_back(self, key: int) -> bool:
        """Return whether the service asks to pause the submission with this key. Does not block."""
        self._look()
        return key == self._to_pause

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked >= self._look_seconds:
            self._looked = now
            while self._readable(0):
                self._read()

    def forget(self, key: int) -> None:
        """Forget the cancellation of the submission with this key, which is finished."""
        self._cancelled.discard(key)

    def _readable(self, seconds: float) -> bool:
        return bool(self._poll.poll(1000 * max(seconds, 0)))

    def _read(self) -> None:
        data = self._connection.recv(CHUNK)
        if not data:
            raise EOFError("the service has ended")
        for frame in self._unpacker.feed(data):
            if frame.kind == CANCEL:
                self._cancelled.add(frame.key)
            elif frame.kind == PAUSE:
                self._to_pause = frame.key
            else:
                self._frames.append(frame)
