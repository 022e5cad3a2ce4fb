"""Pools of sandboxes for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sandbox_service.sandbox.pool import JailPool
from sandbox_service.settings import Settings
from sandbox_service.slots import main


@contextmanager
def opened(settings: Settings) -> Iterator[JailPool]:
    """A pool with these settings, beside the slots that they make."""
    jails = main.pool_of(settings, settings.slot_count + 2)
    try:
        jails.open()
        yield jails
    finally:
        jails.close()
