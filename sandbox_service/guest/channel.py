"""Length-prefixed frames over two pipes, between the tester box and the candidate box.

A frame is a header line (`call 3`) and a message body. This module does not know the contents; see `codec`.
"""

from __future__ import annotations

import os

from codec import FRAME_BYTES, NotPlainError, TooBigError

_LENGTH = 4
_CHUNK = 1 << 16


def frame(head: str, body: str) -> bytes:
    """Return the bytes of one frame.

    Args:
        head: header line, without a line end.
        body: message text.

    Raises:
        TooBigError: the frame exceeds `FRAME_BYTES`.
    """
    payload = f"{head}\n{body}".encode("utf-8", "surrogatepass")
    if len(payload) > FRAME_BYTES:
        raise TooBigError(f"too big: {len(payload)} bytes")
    return len(payload).to_bytes(_LENGTH, "little") + payload


class Channel:
    """Sends and receives frames over two pipes.

    `received` counts the bytes received, for callers that limit them.
    """

    __slots__ = ("_buffer", "_read_fd", "_write_fd", "received")

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._buffer = bytearray()
        self.received = 0

    def send(self, head: str, body: str = "") -> None:
        """Write one frame.

        Args:
            head: header line, without a line end.
            body: message text.

        Raises:
            OSError: the other end is closed.
            TooBigError: the frame exceeds `FRAME_BYTES`.
        """
        data = frame(head, body)
        sent = os.write(self._write_fd, data)
        while sent < len(data):
            sent += os.write(self._write_fd, memoryview(data)[sent:])

    def receive(self) -> tuple[str, str]:
        """Read one frame.

        Returns:
            The header line and the body.

        Raises:
            EOFError: the other end is closed.
            OSError: the pipe cannot be read.
            NotPlainError: the frame is too big or is not UTF-8.
        """
        self._fill(_LENGTH)
        size = int.from_bytes(self._buffer[:_LENGTH], "little")
        if size > FRAME_BYTES:
            raise NotPlainError(f"too big: a frame of {size} bytes")
        end = _LENGTH + size
        self._fill(end)
        payload = bytes(self._buffer[_LENGTH:end])
        del self._buffer[:end]
        self.received += end
        try:
            head, _, body = payload.decode("utf-8", "surrogatepass").partition("\n")
        except UnicodeDecodeError as error:
            raise NotPlainError("a frame that is not text") from error
        return head, body

    def _fill(self, size: int) -> None:
        buffer = self._buffer
        while len(buffer) < size:
            chunk = os.read(self._read_fd, _CHUNK if size - len(buffer) <= _CHUNK else 1 << 20)
            if not chunk:
                raise EOFError
            buffer += chunk
