"""Python's collector of cycles, which has nothing to find in parsed JSON and takes most of the time of parsing it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector, if it is on. Values that hold no cycles are freed without it."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
