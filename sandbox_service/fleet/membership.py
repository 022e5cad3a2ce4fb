"""The membership of a worker in its fleet: its name and its registration in the ledger.

A worker that was taken for dead, or whose Redis has lost its data, registers again under a new name. What the old name
held is not its own any more.
"""

from __future__ import annotations

import logging
import os
import platform
import secrets
import time
from importlib.metadata import version

from redis.exceptions import RedisError

from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.languages import toolchains
from sandbox_service.slots.pool import SlotPool

log = logging.getLogger(__name__)

NOTE_SECONDS = 60.0  # between two notes that this version uses Redis


class Membership:
    """The name of a worker, and its registration.

    Attributes:
        name: names the worker in the ledger.
        is_registered: False before the first registration, and after the worker was forgotten.
    """

    def __init__(self, ledger: Ledger, slots: int) -> None:
        """Choose a name.

        Args:
            ledger: the state of the fleet.
            slots: how many the worker has.
        """
        self._ledger = ledger
        self._slots = slots
        self._host = platform.node()
        self._noted_at = 0.0
        self.is_registered = False
        self.name = self._new_name()

    def _new_name(self) -> str:
        return f"{self._host}.{os.getpid()}.{secrets.token_hex(8)}"

    async def has_registered(self, pool: SlotPool) -> bool:
        """Try to register.

        Args:
            pool: the slots, of which at least one can grade.

        Returns:
            False if Redis is away.
        """
        try:
            await self._register(pool)
        except (RedisError, OSError) as error:
            self._ledger.outage.failed(error)
            return False
        return True

    async def _register(self, pool: SlotPool) -> None:
        info = {
            "host": self._host,
            "pid": os.getpid(),
            "version": version("proctor"),
            "languages": pool.languages(),
            "toolchains": [language.name for language in toolchains.present()],
            "memory_bytes": pool.memory_bytes,
            "since": time.time(),
        }
        await self.note_format()
        await self._ledger.register(self.name, info, self._slots)
        self._ledger.outage.succeeded()
        self.is_registered = True
        log.info("registered", extra={"reason": f"{self.name}, {self._slots} slots"})

    async def note_format(self) -> None:
        """Note once a minute that this version uses Redis. Raises RedisError."""
        if time.monotonic() >= self._noted_at + NOTE_SECONDS or not self._noted_at:
            await self._ledger.note_format()
            self._noted_at = time.monotonic()

    def renew(self) -> None:
        """Take a new name, which is not registered yet."""
        log.warning("worker_unknown_to_fleet", extra={"reason": self.name})
        self.is_registered = False
        self.name = self._new_name()
