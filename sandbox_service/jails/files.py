"""Files without names: everything that goes into a box or comes out of it is a memfd that the host made."""

from __future__ import annotations

import fcntl
import itertools
import os
from types import TracebackType

F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEAL_WRITE = 8
SEAL_ALL = 0xF
REFUSED, NOT_KEPT = b"E", b"N"

_serials = itertools.count(1)


def create(content: bytes = b"", *, sealed: bool = False) -> int:
    """A new memfd holding `content`, at its start. `sealed`: nobody can change it any more."""
    fd = os.memfd_create("box", os.MFD_CLOEXEC | (os.MFD_ALLOW_SEALING if sealed else 0))
    _write(fd, content)
    if sealed:
        fcntl.fcntl(fd, F_ADD_SEALS, SEAL_ALL)
    return fd


def refill(fd: int, content: bytes) -> None:
    """Give an unsealed memfd other content, and set it back to its start."""
    _write(fd, content)
    if size(fd) > len(content):
        os.ftruncate(fd, len(content))
    os.lseek(fd, 0, os.SEEK_SET)


def _write(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.pwrite(fd, view, len(content) - len(view)) :]


def size(fd: int) -> int:
    """Bytes in the file, which then stands at its end."""
    return os.lseek(fd, 0, os.SEEK_END)


def read(fd: int, most: int, *, end: bool = False) -> bytes:
    """The first `most` bytes of the file; with `end`, the last."""
    there = size(fd)
    return os.pread(fd, min(most, there), max(0, there - most) if end else 0)


class Program:
    """A submission's source and its compiled form, which the first box makes and all later ones load.

    Use as a context manager: the files go when it ends.
    """

    def __init__(self, source: str, *, once: bool = False) -> None:
        """`once`: it is likely to run in one box only, so its compiled form need not be kept."""
        self.serial = next(_serials)
        self.source_fd = create(source.encode("utf-8"), sealed=True)
        self.cache_fd = os.memfd_create("cache", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        if once:
            os.write(self.cache_fd, NOT_KEPT)

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self.source_fd)
        os.close(self.cache_fd)

    def refusal(self) -> str | None:
        """Why the source did not compile; None if it did. To be asked after a run.

        The guest writes and seals the cache before any of the submission's code runs, so the answer is the
        compiler's. An unsealed cache means that the compiler itself did not survive.
        """
        if not fcntl.fcntl(self.cache_fd, F_GET_SEALS) & SEAL_WRITE:
            return "the compiler did not get through the source within the limits"
        if os.pread(self.cache_fd, 1, 0) != REFUSED:
            return None
        return read(self.cache_fd, 1 << 16)[1:].decode("utf-8", "replace")
