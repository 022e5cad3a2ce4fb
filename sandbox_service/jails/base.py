"""What a jail does, whichever it is: run a program once on one input, and say what was seen.

An `Outcome` holds facts only, read from the kernel and from files the host made. Whether they are good or bad is
`judging`'s business. Nothing here believes anything a submission says.
"""

from __future__ import annotations

from dataclasses import dataclass

OUT_OF_MEMORY = 111
"""With this the guest's runner ends on an uncaught MemoryError: a hint, which can only choose between two failures."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen of one run. Seconds and bytes; `starved_seconds` is time spent runnable but not running."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cpu_seconds: float
    wall_seconds: float
    starved_seconds: float | None
    peak_memory_bytes: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
