"""Keeps the processors from sleeping, with a loop of idle priority on each.

A processor that sleeps between two calls wakes with cold caches, on a virtual machine by way of its host. The kernel
counts that time as the process's own: at 400 submissions a second Redis sleeps nine tenths of the time, and takes up
to twice as long for a call as at 800. A loop of idle priority runs only where nothing else does, so that what is left
is the work of a call.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from benchmarks.simulation.members import end, end_with_us


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Keep all processors that this process may use from sleeping."""
    with contextlib.ExitStack() as stack:
        for processor in sorted(os.sched_getaffinity(0)):
            stack.callback(end, _loop_on(processor))
        yield


def _loop_on(processor: int) -> subprocess.Popen[bytes]:
    def prepare() -> None:
        end_with_us()
        os.sched_setaffinity(0, {processor})
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    return subprocess.Popen(["sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL, preexec_fn=prepare)
