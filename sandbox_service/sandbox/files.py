"""Files without names (memfds), which carry everything into a box and out of it.

A run gets files of its own, which the host closes when it has read them; the tests of a shared box are one run. A box
can change a file's flags, locks, size and blocks, also behind its end; no other run has the file, so no other run sees
the change. The two exceptions are a submission's source and its compiled form: they serve all of its runs, are sealed
before the submission's first line is executed, and no box has them open by then.
"""

from __future__ import annotations

import fcntl
import os
from types import TracebackType

F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEAL_WRITE = 8
SEAL_ALL = 0xF
READ_AND_EXECUTE = 0o555
REFUSED, NOT_KEPT = b"E", b"N"
MOST_SEED = 255  # a byte of a message


def create(content: bytes = b"", *, sealed: bool = False) -> int:
    """Return a new memfd with this content, at its start.

    Args:
        content: the bytes.
        sealed: no process can change it any more.
    """
    fd = create_sealable() if sealed else os.memfd_create("box", os.MFD_CLOEXEC)
    if content:
        write(fd, content)
    if sealed:
        seal(fd)
    return fd


def create_sealable() -> int:
    """Return a new empty memfd that can be sealed."""
    return os.memfd_create("box", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def seal(fd: int) -> None:
    """Seal the memfd `fd`: no process can change its content or size any more, nor other users its times."""
    os.fchmod(fd, READ_AND_EXECUTE)
    fcntl.fcntl(fd, F_ADD_SEALS, SEAL_ALL)


def create_all(*contents: bytes) -> list[int]:
    """Return a new memfd for each content, at its start. If one cannot be made, those before it are closed."""
    fds: list[int] = []
    try:
        fds.extend(map(create, contents))
    except BaseException:
        close_all(fds)
        raise
    return fds


def close_all(fds: list[int]) -> None:
    """Close `fds`, the files of a run."""
    for fd in fds:
        os.close(fd)


def write(fd: int, content: bytes) -> None:
    """Write `content` to the beginning of the file `fd`."""
    view = memoryview(content)
    while view:
        view = view[os.pwrite(fd, view, len(content) - len(view)) :]


def size(fd: int) -> int:
    """Return the size of the file `fd` in bytes. Its offset is then at its end."""
    return os.lseek(fd, 0, os.SEEK_END)


def read(fd: int, most: int, *, end: bool = False) -> bytes:
    """Return the beginning of a file, or its end. The offset of the file is then at its end.

    Args:
        fd: its descriptor.
        most: the largest number of bytes.
        end: return the last bytes instead of the first.
    """
    there = size(fd)
    if not there:
        return b""
    return os.pread(fd, min(most, there), max(0, there - most) if end else 0)


class Program:
    """A submission's source and its compiled form, which the first box makes and all later ones load.

    A context manager, which closes both files.
    """

    refused: str | None = None  # before a run, nothing is known
    can_share = True
    seed = 0

    def __init__(self, source: str, *, once: bool = False, mounts: bool = True) -> None:
        """Make the two files.

        Args:
            source: the program's text.
            once: it is likely to run in one box only, so that its compiled form need not be kept.
            mounts: its boxes have a /tmp and a /proc of their own.
        """
        self.mounts = mounts
        self.source_fd = create(source.encode("utf-8"), sealed=True)
        self.cache_fd = os.memfd_create("cache", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        if once:
            os.write(self.cache_fd, NOT_KEPT)

    def begin_pass(self, number: int) -> None:
        """Let its runs draw the random numbers of a pass.

        Args:
            number: of the pass, from 0.
        """
        self.seed = min(number, MOST_SEED)

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self.source_fd)
        os.close(self.cache_fd)

    def refusal(self, *, was_stopped: bool = False) -> str | None:
        """Return why the source did not compile, or None if it did. To be called after a run.

        The guest writes and seals the cache before any of the submission's code runs, so the answer is the
        compiler's. If the cache is not sealed, the box ended while it compiled.

        Args:
            was_stopped: the host ended the box for another reason, perhaps while it compiled.
        """
        if not fcntl.fcntl(self.cache_fd, F_GET_SEALS) & SEAL_WRITE:
            return None if was_stopped else "the compiler did not get through the source within the limits"
        if os.pread(self.cache_fd, 1, 0) != REFUSED:
            return None
        return read(self.cache_fd, 1 << 16)[1:].decode("utf-8", "replace")
