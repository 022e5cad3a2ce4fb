"""A folder of the machine that keeps results of compilers, for all slots and after a restart.

Only the service writes to it: what a box made is read, checked and written by the host. Entries are named by the
SHA-256 of everything that they were made of. An entry is written under another name and then renamed, and holds its own
hash, so that a full disk or a killed process leaves no wrong entry. A lock for each key lets one process compile while
others wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

HASH_BYTES = 32
LOCKS = 3  # hexadecimal digits of a key that name its lock: 4096 locks
PRUNE_EVERY = 64  # entries written
KEPT_PART = 0.75  # of the bound, after a prune
FOLDER_MODE = 0o700


def folder_of(configured: str) -> Path:
    """Return the configured folder; without one, that of the user of this process."""
    if configured:
        return Path(configured)
    if os.geteuid() == 0:
        return Path("/var/cache/proctor")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proctor"


class MachineCache:
    """Entries of bytes by key, at most so many bytes in all, and the oldest removed first."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Open nothing yet.

        Args:
            folder: made when it is needed, readable by its owner only.
            most_bytes: bound of all entries; 0: none is kept.
        """
        self._folder = folder
        self._most_bytes = most_bytes
        self._written = 0
        self._is_reported = False

    @property
    def headers(self) -> Path:
        """The folder of precompiled headers."""
        return self._made("headers")

    def _made(self, name: str) -> Path:
        self._folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        path = self._folder / name
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        return path

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Hold the lock of a key, which no other process of this machine then has. There is none without a folder."""
        try:
            fd = os.open(self._made("locks") / key[:LOCKS], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._warn(error)
            yield
            return
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def get(self, key: str) -> bytes | None:
        """Return the entry of a key; None if there is none, or if its bytes have changed, which removes it."""
        path = self._path(key)
        try:
            body = path.read_bytes()
        except OSError:
            return None
        content = body[HASH_BYTES:]
        if hashlib.sha256(content).digest() != body[:HASH_BYTES]:
            log.warning("cache_entry_damaged", extra={"digest": key})
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # used now: it is removed later than others
        return content

    def put(self, key: str, content: bytes) -> None:
        """Write the content of a key, if it can be written."""
        if len(content) > self._most_bytes:
            return
        path = self._path(key)
        waiting = path.with_name(f".{secrets.token_hex(8)}")
        try:
            self._made("built")
            path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
            waiting.write_bytes(hashlib.sha256(content).digest() + content)
            waiting.rename(path)
        except OSError as error:
            self._warn(error)
            with suppress(OSError):
                waiting.unlink()
            return
        self._written += 1
        if self._written % PRUNE_EVERY == 1:
            self.prune()

    def _warn(self, error: OSError) -> None:
        """Log the first failure; with a folder that cannot be written to, every compilation fails here."""
        if not self._is_reported:
            self._is_reported = True
            log.warning("cache_not_writable", extra={"path": str(self._folder), "reason": str(error)})

    def _path(self, key: str) -> Path:
        return self._folder / "built" / key[:2] / key

    def prune(self) -> None:
        """Remove the entries that were used longest ago, until those left are well below the bound."""
        entries: list[tuple[float, int, str]] = []
        for folder, _, names in os.walk(self._folder / "built"):
            for name in names:
                path = os.path.join(folder, name)  # noqa: PTH118  thousands of entries
                with suppress(OSError):
                    seen = os.stat(path)  # noqa: PTH116
                    entries.append((seen.st_mtime, seen.st_size, path))
        total = sum(size for _, size, _ in entries)
        if total <= self._most_bytes:
            return
        for _, size, path in sorted(entries):
            if total <= KEPT_PART * self._most_bytes:
                return
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
                total -= size
