"""What the service and its slot processes say to each other over a socket: length, kind, key, then JSON."""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import NamedTuple

HEADER = struct.Struct("<IBQ")
SUBMIT, CANCEL, GRADE, STATUS, CANCELLED, SUITE = range(1, 7)
SUITES, SUITES_BYTES = 256, 64 << 20  # what a slot keeps; the service keeps the same books, so it need not ask
CHUNK = 64 << 10  # a read takes as much memory anew, and of a megabyte every page from the kernel
LOOK_SECONDS = 0.01


class Frame(NamedTuple):
    """One message."""

    kind: int
    key: int
    payload: bytes


def pack(kind: int, key: int, payload: bytes = b"") -> bytes:
    """A message as bytes."""
    return HEADER.pack(len(payload), kind, key) + payload


class Unpacker:
    """Makes messages of what a socket gives, however it is cut."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The messages that are whole with this."""
        self._rest += data
        frames, at = [], 0
        while len(self._rest) - at >= HEADER.size:
            size, kind, key = HEADER.unpack_from(self._rest, at)
            end = at + HEADER.size + size
            if len(self._rest) < end:
                break
            frames.append(Frame(kind, key, bytes(self._rest[at + HEADER.size : end])))
            at = end
        del self._rest[:at]
        return frames


class Line:
    """The slot's blocking end. `look_seconds`: how long what is known of cancellations is good."""

    def __init__(self, connection: socket.socket, look_seconds: float = LOOK_SECONDS) -> None:
        self._connection = connection
        self._look_seconds = look_seconds
        self._looked = 0.0
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._unpacker = Unpacker()
        self._cancelled: set[int] = set()
        self._frames: list[Frame] = []

    def send(self, kind: int, key: int = 0, payload: bytes = b"") -> None:
        """Send one message. Raises OSError if the service is gone."""
        self._connection.sendall(pack(kind, key, payload))

    def next(self, seconds: float) -> Frame | None:
        """The next submission; None after `seconds` without one. Raises EOFError when the service has gone."""
        while not self._frames:
            if not self._readable(seconds):
                return None
            self._read()
        frame = self._frames.pop(0)
        return frame if frame.key not in self._cancelled else Frame(CANCEL, *frame[1:])

    def is_cancelled(self, key: int) -> bool:
        """Whether the service has cancelled that submission; looks if it has not just looked, and does not wait."""
        now = time.monotonic()
        if now - self._looked >= self._look_seconds:
            self._looked = now
            while self._readable(0):
                self._read()
        return key in self._cancelled

    def forget(self, key: int) -> None:
        """That submission is done with."""
        self._cancelled.discard(key)

    def _readable(self, seconds: float) -> bool:
        return bool(self._poll.poll(1000 * max(seconds, 0)))

    def _read(self) -> None:
        data = self._connection.recv(CHUNK)
        if not data:
            raise EOFError("the service has gone")
        for frame in self._unpacker.feed(data):
            if frame.kind == CANCEL:
                self._cancelled.add(frame.key)
            else:
                self._frames.append(frame)
