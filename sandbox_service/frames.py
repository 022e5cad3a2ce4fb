"""What the service and its slot processes say to each other over a socket: length, kind, key, then JSON."""

from __future__ import annotations

import select
import socket
import struct
from typing import NamedTuple

HEADER = struct.Struct("<IBQ")
SUBMIT, CANCEL, GRADE, STATUS, CANCELLED, SUITE = range(1, 7)
SUITES, SUITES_BYTES = 256, 64 << 20  # what a slot keeps; the service keeps the same books, so it need not ask
CHUNK = 1 << 20


class Frame(NamedTuple):
    """One message."""

    kind: int
    key: int
    payload: bytes


def pack(kind: int, key: int, payload: bytes = b"") -> bytes:
    """A message as bytes."""
    return HEADER.pack(len(payload), kind, key) + payload


class Line:
    """The slot's blocking end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
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
        """Whether the service has cancelled that submission; looks, and does not wait."""
        while self._readable(0):
            self._read()
        return key in self._cancelled

    def forget(self, key: int) -> None:
        """That submission is done with."""
        self._cancelled.discard(key)

    def _readable(self, seconds: float) -> bool:
        return bool(select.select([self._connection], [], [], max(seconds, 0))[0])

    def _read(self) -> None:
        data = self._connection.recv(CHUNK)
        if not data:
            raise EOFError("the service has gone")
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            size, kind, key = HEADER.unpack_from(self._buffer)
            if len(self._buffer) < HEADER.size + size:
                return
            frame = Frame(kind, key, bytes(self._buffer[HEADER.size : HEADER.size + size]))
            del self._buffer[: HEADER.size + size]
            if kind == CANCEL:
                self._cancelled.add(key)
            else:
                self._frames.append(frame)
