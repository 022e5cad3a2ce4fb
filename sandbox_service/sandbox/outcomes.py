"""Makes an outcome of a zygote's record about a box and of the files that the box wrote."""

from __future__ import annotations

import os
import signal

from sandbox_service.sandbox import files, wire
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import Limits

STDERR_BYTES = 64 << 10


def outcome_of(record: wire.Record, out: int | None, err: int, limits: Limits) -> Outcome:
    """Return the outcome of a box.

    Args:
        record: its record.
        out: the file that was its stdout; None if it was a pipe.
        err: the file that was its stderr.
        limits: its limits.
    """
    written = 0 if out is None else files.size(out)
    stdout = os.pread(out, min(written, limits.output_bytes + 1), 0) if out is not None and written else b""
    return outcome_with(record, written, stdout, files.read(err, STDERR_BYTES))


def outcome_with(record: wire.Record, written: int, stdout: bytes, stderr: bytes) -> Outcome:
    """Return the outcome of a box with its output.

    Args:
        record: its record.
        written: bytes of its stdout.
        stdout: the beginning of that.
        stderr: the beginning of its stderr.
    """
    status = _status(record)
    return Outcome(
        exit_code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        timed_out=record.why_killed == wire.DEADLINE,
        cpu_seconds=record.cpu_seconds,
        wall_seconds=record.wall_seconds,
        starved_seconds=None if record.starved_seconds < 0 else record.starved_seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        stdout=stdout,
        stderr=stderr,
        stdout_bytes=written,
    )


def with_stdout(outcome: Outcome, out: int, limits: Limits) -> Outcome:
    """Return an outcome with the box's output.

    Args:
        outcome: of a box that was started and not waited for, which has no stdout.
        out: the file that was its stdout.
        limits: its limits.
    """
    written = files.size(out)
    stdout = os.pread(out, min(written, limits.output_bytes + 1), 0) if written else b""
    return outcome._replace(stdout=stdout, stdout_bytes=written)


def _status(record: wire.Record) -> int:
    """Return the wait status to judge a box by."""
    if record.why_killed == wire.NOT_NEEDED:
        return 0  # it was killed because the other box had ended
    if record.why_killed == wire.OWN_LIMIT:
        return signal.SIGXCPU  # the kernel's SIGKILL would look like one that came from outside
    return record.status
