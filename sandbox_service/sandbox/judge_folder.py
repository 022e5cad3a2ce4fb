"""The folder of a judge: a small file system in memory, which the host fills and the judge's box can reach.

A helper process mounts it in a mount namespace of its own, opens it, detaches it and ends. Only the descriptor is left:
the folder has no path on the machine, and `..` at its top leads nowhere. It ends with its last descriptor.

The judge may write in `feedback` only, if boxes have uids of their own. The host reads from there what a hostile
program may have arranged: links are not followed, and only regular files are read, and only their beginning.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox import files

FEEDBACK = "feedback"
NOTHING: frozenset[str] = frozenset()
HELP_SECONDS = 30
COMPARED_BYTES = 1 << 16  # up to this size a file is left as it is if its content is the same again
OPTIONS = "size=512m,nr_inodes=2048,mode=755"

_HELPER = """
import ctypes, os, socket, sys
NEWNS, NEWUSER, REC, PRIVATE, NOSUID, NODEV, NOEXEC, DETACH = 1 << 17, 1 << 28, 16384, 1 << 18, 2, 4, 8, 2
NOATIME = 1024  # a judge does not see whether another one has read a file
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
connection = socket.socket(fileno=int(sys.argv[1]))
uid, gid = os.getuid(), os.getgid()
call("unshare", NEWNS | (NEWUSER if uid else 0))
if uid:
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{uid} {uid} 1")
    write("/proc/self/gid_map", f"{gid} {gid} 1")
call("mount", None, b"/", None, REC | PRIVATE, None)
call("mount", b"judge", b"/tmp", b"tmpfs", NOSUID | NODEV | NOEXEC | NOATIME, sys.argv[2].encode())
folder = os.open("/tmp", os.O_RDONLY | os.O_DIRECTORY)
call("umount2", b"/tmp", DETACH)
socket.send_fds(connection, [b"1"], [folder])
"""


class JudgeFolder:
    """A folder for one run of a judge at a time. `fd` is its descriptor."""

    def __init__(self) -> None:
        """Make the folder. Raises SandboxError."""
        self.fd = _mounted()
        self._feedback = -1
        self._empty_bytes = 0  # the size of the feedback folder without a name in it
        self._written: dict[str, _File] = {}
        self._has_old = False
        self._is_used = False  # filled since it was cleared
        self._is_ours = os.geteuid() == 0  # judges have another uid, and can change only the files in `feedback`

    def fill(self, contents: Mapping[str, bytes]) -> None:
        """Write the files of a run, and an empty feedback folder if there is none.

        Files of earlier runs stay until `clear`.

        Args:
            contents: the files by name.

        Raises:
            SandboxError: there is no room.
        """
        self._is_used = True
        try:
            for name, content in contents.items():
                self._write(name, content)
            if self._has_old:
                self._remove_old()
            if self._feedback < 0:
                os.mkdir(FEEDBACK, dir_fd=self.fd)
                self._feedback = os.open(FEEDBACK, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.fd)
                os.fchmod(self._feedback, 0o777)  # whatever the umask; only this judge's box can reach it
                self._empty_bytes = os.fstat(self._feedback).st_size
        except OSError as error:
            raise SandboxError(f"the judge's folder cannot be filled: {error}") from None

    def _write(self, name: str, content: bytes) -> None:
        """Give a file this content: the file of the last run, if no judge can have changed that."""
        file = self._written.get(name)
        if file is not None and not self._is_ours:
            self._unlink(name)
            file = None
        if file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            file = self._written[name] = _File(os.open(name, flags, 0o444, dir_fd=self.fd))
            os.fchmod(file.fd, 0o444)
        file.write(content)

    def output(self, name: str) -> int:
        """Return the descriptor of a file that was filled, for a launcher that will write to it.

        Args:
            name: the file's name.
        """
        file = self._written[name]
        file.is_written_elsewhere()
        return file.fd

    def _unlink(self, name: str) -> None:
        os.close(self._written.pop(name).fd)
        os.unlink(name, dir_fd=self.fd)

    def _remove_old(self) -> None:
        """Remove the files of runs before `clear` that were not written again."""
        self._has_old = False
        for name in [name for name, file in self._written.items() if file.is_old]:
            self._unlink(name)

    def left(self) -> frozenset[str]:
        """Return the names in the feedback folder."""
        # in a tmpfs each name counts in a folder's size
        if self._feedback < 0 or os.fstat(self._feedback).st_size == self._empty_bytes:
            return NOTHING
        return frozenset(os.listdir(self._feedback))  # noqa: PTH208  a descriptor has no path

    def feedback(self, name: str, most: int) -> bytes | None:
        """Return the beginning of a file that the judge left in its feedback folder, or None if there is none.

        Args:
            name: the file's name.
            most: the largest number of bytes.
        """
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._feedback)
        except OSError:
            return None
        try:
            return os.pread(fd, most, 0) if stat.S_ISREG(os.fstat(fd).st_mode) else None
        finally:
            os.close(fd)

    def remove(self, name: str) -> None:
        """Remove the file of this name from the feedback folder, if it is there."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._feedback)

    def clear(self) -> None:
        """Remove everything, for the next run; the host's own files at the latest when the folder is filled again.

        Raises:
            SandboxError: something cannot be removed. The folder is then of no use any more.
        """
        if not self._is_used:
            return
        try:
            if self._is_ours and not self.left():
                self._has_old = bool(self._written)
                for file in self._written.values():
                    file.is_old = True
            else:
                self._remove_all()
        except (OSError, RecursionError) as error:
            raise SandboxError(f"the judge's folder cannot be cleared: {error}") from None
        self._is_used = False

    def _remove_all(self) -> None:
        self._forget()
        if self._feedback >= 0:
            os.close(self._feedback)
            self._feedback = -1
        with os.scandir(self.fd) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.name, dir_fd=self.fd)
                else:
                    os.unlink(entry.name, dir_fd=self.fd)

    def _forget(self) -> None:
        while self._written:
            os.close(self._written.popitem()[1].fd)
        self._has_old = False

    def close(self) -> None:
        """Close the folder, which ends it."""
        self._forget()
        if self._feedback >= 0:
            os.close(self._feedback)
            self._feedback = -1
        os.close(self.fd)


class _File:
    """A file that the host wrote and keeps open. `is_old`: a later run, which did not write it, must not find it."""

    __slots__ = ("_content", "fd", "is_old")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.is_old = False
        self._content: bytes | None = b""  # None: it is long or unknown

    def is_written_elsewhere(self) -> None:
        """Forget its content, which another process changes."""
        self._content = None

    def write(self, content: bytes) -> None:
        """Give it this content."""
        self.is_old = False
        before = self._content
        if content == before:
            return
        self._content = None
        files.write(self.fd, content)
        if before is None or len(before) > len(content):
            os.ftruncate(self.fd, len(content))
        if len(content) <= COMPARED_BYTES:
            self._content = content


def _mounted() -> int:
    """Return the descriptor of a new file system in memory. Raises SandboxError."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-I", "-S", "-c", _HELPER, str(theirs.fileno()), OPTIONS]
    with ours, theirs:
        try:
            done = subprocess.run(
                command, pass_fds=[theirs.fileno()], capture_output=True, timeout=HELP_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxError(f"no folder for judges: {error}") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise SandboxError(f"no folder for judges: {''.join(said)}")
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    return fds[0]
