"""Settings of the C library's allocator for processes that live as long as the service."""

from __future__ import annotations

import ctypes

LARGE_BYTES = 1 << 20
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)


def return_large_blocks() -> None:
    """Have blocks of LARGE_BYTES and more returned to the machine as soon as they are freed.

    By default glibc raises this limit to the size of each larger block that is freed, up to 32 MiB, and keeps twice as
    much at the end of its heap. A process that met a large body once would hold the memory until its end. C libraries
    without these settings are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, LARGE_BYTES)
