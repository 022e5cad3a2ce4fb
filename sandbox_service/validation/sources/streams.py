"""Opens files as streams of bytes, decompressed piece by piece."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import IO

import zstandard

BUFFER_BYTES = 1 << 20
PACKINGS = (".gz", ".zst")

# Exceptions of reading when a file is damaged or disappears.
BROKEN = (OSError, EOFError, zlib.error, zstandard.ZstdError)

# zstd packs 128 KiB into four bytes at best, so that a piece unpacks to at most 32 MiB
_PIECE_BYTES = 1 << 10


def open_unpacked(path: Path) -> IO[bytes]:
    """Return a stream of the decompressed bytes. Opening and reading may raise the types in `BROKEN`."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(gzip.open(path, "rb"), BUFFER_BYTES)
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(_Zstandard(path), BUFFER_BYTES)
    return path.open("rb", buffering=BUFFER_BYTES)


class _Zstandard(io.RawIOBase):
    """A stream of frames that, unlike the library's reader, detects a truncated file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=BUFFER_BYTES)
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._fresh = True  # nothing of the frame was read
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview, /) -> int:  # type: ignore[override]
        while not self._ready:
            piece = self._file.read(_PIECE_BYTES)
            if not piece:
                if not self._fresh:
                    raise EOFError("the file ends in the middle of a zstd frame")
                return 0
            self._ready = memoryview(self._unpacked(piece))
        count = min(len(target), len(self._ready))
        target[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()

    def _unpacked(self, piece: bytes) -> bytes:
        parts = []
        while piece:
            parts.append(self._frame.decompress(piece))
            self._fresh, piece = False, self._frame.unused_data
            if self._frame.eof:
                self._frame, self._fresh = zstandard.ZstdDecompressor().decompressobj(), True
        return b"".join(parts)
