"""The fleet's totals and workers as an API process knows them, read from the ledger twice a second."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from sandbox_service import languages
from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.fleet.ledger.entries import Need, Totals, WorkerState
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.queues.base import Depth, Job, WorkerStatus, check_memory
from sandbox_service.slots.pool import UNBOUNDED_BYTES

WORKERS_A_SECOND = 200  # read for their states: with more workers, each is read less often


class FleetStatus:
    """The last figures that were read.

    Attributes:
        graders: the kind of all workers, if answers are cached; see `_kind_of`.
        lost_seconds: how long ago Redis may have lost data; None if no loss is known.
    """

    def __init__(self, ledger: Ledger, caches: bool) -> None:
        self._ledger = ledger
        self._caches = caches
        self._version = version("proctor")
        self._totals = Totals(0, 0, 0, 0.0, 0.0, 0, {})
        self._workers: dict[str, WorkerState] = {}
        self._lacking: dict[str, str | None] = {}  # the first worker without a language, by its name
        self._least_memory: tuple[int, str] | None = None  # and its worker
        self._read_workers_at = 0.0
        self.graders = ""
        self.lost_seconds: float | None = None

    async def refresh(self) -> Need:
        """Read the figures. Return the numbers of waiting submissions, workers and slots. Raises redis.RedisError."""
        self._totals = await self._ledger.totals()
        self.lost_seconds = await self._ledger.lost_seconds_ago()
        age = time.monotonic() - self._read_workers_at
        if self._totals.workers != len(self._workers) or age >= len(self._workers) / WORKERS_A_SECOND:
            self._read_workers_at = time.monotonic()
            self._workers = await self._ledger.workers()
            self._lacking = {}
            self._least_memory = min(((_memory(state), name) for name, state in self._workers.items()), default=None)
            self.graders = _kind_of(self._workers.values()) if self._caches else ""
        slots = sum(worker.slots for worker in self._workers.values())
        return Need(self._totals.waiting, len(self._workers), slots)

    def depth(self) -> Depth:
        """See JobQueue."""
        totals = self._totals
        return Depth(totals.count, totals.waiting, totals.bytes, totals.cost, totals.oldest_seconds)

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue."""
        return [
            WorkerStatus(
                name,
                state.slots,
                state.busy,
                state.ready_slots,
                [str(each) for each in state.info.get("languages", [])],  # type: ignore[attr-defined]
                str(state.info.get("version", "")),
                memory_bytes=_memory(state),
            )
            for name, state in sorted(self._workers.items())
        ]

    def require(self, names: Iterable[str]) -> None:
        """Check that every registered worker can grade these languages; any of them may claim the submission.

        Args:
            names: of languages.

        Raises:
            UnsupportedLanguageError: A worker lacks a language; the message says what to install.
        """
        for toolchain, name in ((languages.find(name).toolchain, name) for name in names):
            if toolchain is not None and (worker := self._worker_without(name)) is not None:
                raise UnsupportedLanguageError(
                    f"language {name!r} is missing on the worker {worker}: {toolchain.remedy} "
                    "on every machine that grades"
                )

    def _worker_without(self, language: str) -> str | None:
        """Return the first worker without a language beside Python; None if all have it."""
        if language not in self._lacking:
            lacking = (name for name, state in self._workers.items() if language not in _toolchains(state))
            self._lacking[language] = min(lacking, default=None)
        return self._lacking[language]

    @property
    def has_other_versions(self) -> bool:
        """Return whether workers of another version than this process are registered."""
        return any(state.info.get("version") != self._version for state in self._workers.values())

    def require_memory(self, jobs: Sequence[Job]) -> None:
        """Raise LimitTooHighError if a worker, any of which may claim a submission, lacks the memory for it."""
        if self._least_memory is not None:
            memory, name = self._least_memory
            check_memory(jobs, memory, f"the worker {name}")

    def counts(self) -> dict[str, int]:
        """Return the event counts of the fleet, by name."""
        return self._totals.stats

    def unready(self) -> list[str]:
        """Return why no worker can grade; empty if one can."""
        if not self._workers:
            return ["no worker is registered: start one with `proctor worker`"]
        if not any(worker.ready_slots for worker in self._workers.values()):
            return [f"worker {name}: no usable jail" for name in sorted(self._workers)]
        return []


def _kind_of(workers: Iterable[WorkerState]) -> str:
    """Return the version and languages of all workers; empty if they differ, and then no answer is shared."""
    kinds = {
        f"{worker.info.get('version')}/{worker.info.get('languages')}/{worker.info.get('toolchains')}"
        for worker in workers
    }
    return kinds.pop() if len(kinds) == 1 else ""


def _memory(worker: WorkerState) -> int:
    """Return the memory that a worker has registered for programs; without a bound if it is of an older version."""
    found = worker.info.get("memory_bytes")
    return found if isinstance(found, int) else UNBOUNDED_BYTES


def _toolchains(worker: WorkerState) -> list[object]:
    """Return the languages beside Python that a worker has registered."""
    found = worker.info.get("toolchains", [])
    return found if isinstance(found, list) else []
