"""The parts of a service on this machine: CPU time and memory of its API processes, its slots and its sandboxes.

A part is found by its place below the API process: slots are its children that run `slots.main`, its other children
belong to the API, and all that lives below a slot is a sandbox.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Self

import psutil

from benchmarks import procs
from benchmarks.service import Service

SAMPLE_SECONDS = 1.0
CLIENT, API, SLOTS, SANDBOXES = "client", "api", "slots", "sandboxes"
PARTS = (CLIENT, API, SLOTS, SANDBOXES)
Used = dict[int, float]  # CPU seconds of processes, by id


def seconds(service: Service) -> dict[str, Used]:
    """Return the CPU seconds of the processes of the API and of the slots, without those of their children."""
    api = psutil.Process(service.pid)
    found: dict[str, Used] = {API: {api.pid: _own(api)}, SLOTS: {}}
    for child in api.children():
        with contextlib.suppress(psutil.Error):
            found[SLOTS if _is_slot(child.pid) else API][child.pid] = _own(child)
    return found


def spent(before: Mapping[str, Used], after: Mapping[str, Used], part: str) -> float:
    """Return what the living processes of a part have used since; one that has ended counts with the sandboxes."""
    return sum(used - before[part].get(pid, 0.0) for pid, used in after[part].items())


class MemoryPeaks:
    """Samples the proportional memory (PSS) of each part in a thread while the context is open.

    Attributes:
        peaks: the greatest sum of each part, in bytes.
        cpu_seconds: of the samples themselves.
    """

    def __init__(self, service: Service | None) -> None:
        """Watch this process as the client, and a service.

        Args:
            service: the service; None: all descendants of this process count as sandboxes.
        """
        self._service = service
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)
        self.peaks = Counter[str]()
        self.cpu_seconds = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            is_last = self._ended.is_set()
            for part, used in self._sums().items():
                self.peaks[part] = max(self.peaks[part], used)
            self.cpu_seconds = time.thread_time()
            if is_last:
                return
            self._ended.wait(SAMPLE_SECONDS)

    def _sums(self) -> Counter[str]:
        found = Counter({CLIENT: _memory(os.getpid())})
        root = self._service.pid if self._service else os.getpid()
        if self._service:
            found[API] += _memory(root)
        for pid in procs.descendants(root):
            found[self._part_of(pid, root)] += _memory(pid)
        return found

    def _part_of(self, pid: int, root: int) -> str:
        if self._service is None or procs.parent(pid) != root:
            return SANDBOXES
        return SLOTS if _is_slot(pid) else API


def _is_slot(pid: int) -> bool:
    return "sandbox_service.slots.main" in procs.read(pid, "cmdline")


def _own(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _memory(pid: int) -> int:
    """Return the proportional memory of a process, or its resident memory where that cannot be read."""
    return procs.proportional_bytes(pid) or procs.resident_bytes(pid)
