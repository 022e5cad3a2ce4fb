"""A box that runs one stdin test after the other; see guest/shared.py and languages/inside/proctor/ProctorTests.java.

The box claims that a test has ended well, by a byte on its channel. Nothing but that claim comes over the channel: the
output lies in the host's own files, and the CPU time is the kernel's. A box keeps its files: the host fills them
between two tests, when it has read the output. No other box has them, so that a box which changes their state changes
what it reads itself; it cannot make the host read an output that it did not write.

Standard output is emptied between two tests, or it is written over, and an output ends at the offset of the file. The
latter is for boxes that empty it themselves where a program could tell.

A test after the first that does not end soon is stopped (stall.py): it is repeated in a box of its own anyway.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from sandbox_service.errors import JailDiedError, SandboxError
from sandbox_service.sandbox import wire
from sandbox_service.sandbox.base import Outcome
from sandbox_service.sandbox.outcomes import STDERR_BYTES
from sandbox_service.sandbox.running import RunningBox
from sandbox_service.sandbox.stall import Stall
from sandbox_service.schema import Limits

END_SECONDS = 0.25  # for a box to end by itself when its channel is closed
SLICE_SECONDS = 0.02  # of tests that are run without a look at anything but their output


class SharedRun(Protocol):
    """A started box, as a context manager that ends it at once if `end` was not called."""

    def wait(self) -> Outcome | None:
        """Wait for the running test.

        Returns:
            Its outcome if the box claims that it ended well, without its peak of memory; None if the box claims
            nothing, or has ended.

        Raises:
            SandboxError: the sandbox failed.
        """
        ...

    def give(self, stdin: bytes) -> None:
        """Give the box `stdin`, the input of the next test, and empty its output."""
        ...

    def run_equal(self, tests: list[tuple[str, str]], first: int) -> list[Outcome]:
        """Run one test after the other, as long as each prints just what is expected, for SLICE_SECONDS.

        No test is running before. If `is_running` is true afterwards, another test was given, to be waited for.

        Args:
            tests: an input and the expected output for each.
            first: the place of the first one to be run.

        Returns:
            The outcomes of the tests that printed what is expected.
        """
        ...

    @property
    def is_running(self) -> bool:
        """True if a test was given whose outcome was not returned."""
        ...

    def end(self, *, is_known: bool) -> Outcome:
        """Close the channel, and wait for the end of the box.

        Args:
            is_known: nothing is to be learned from its end; it is killed if it does not end by itself.

        Returns:
            The facts of the whole box, with the output of its last test.

        Raises:
            SandboxError: the sandbox failed.
        """
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class ChannelRun:
    """The `SharedRun` of every sandbox."""

    def __init__(
        self,
        box: RunningBox,
        channel: int,
        fds: tuple[int, int, int],
        limits: Limits,
        explain: Callable[[Outcome], Outcome] = lambda outcome: outcome,
        *,
        writes_over: bool = False,
    ) -> None:
        """Args:
        box: the box, with its first test.
        channel: descriptor of the host's end.
        fds: stdin, stdout and stderr of all tests; closed by this object, as is the channel.
        limits: those of the box.
        explain: finds the reason of a failure in what the program printed.
        writes_over: the box writes over the output of the test before.
        """
        self._writes_over = writes_over
        self._box, self._channel, self._fds, self._limits = box, channel, fds, limits
        self._ends = channel, fds, writes_over  # as all calls of the host's begin
        self._is_open = True
        self._explain = explain
        from sandbox_service.sandbox import _host  # not above: see jail.py

        self._host = _host
        self._clock: int | None = None
        self._used = self._used_before = 0.0  # CPU seconds, until now and until the running test
        self._next: bytes | None = None  # the input of a test that is not given yet
        self._said = _host.SILENT  # by the box of the running test
        self._times = 0.0, 0.0  # CPU and wall seconds of a test that ended well, as the box said
        self._may_stall = False  # the running test is not the first one
        self._began = time.monotonic()

    def wait(self) -> Outcome | None:
        """See SharedRun. The channel has an end when the box ends, so the box itself need not be polled."""
        while self._said == self._host.SILENT:
            stdin, self._next = self._next, None
            is_claim = self._host.exchange(*self._ends, stdin, wire.NEXT_TEST, wire.TEST_ENDED)
            if is_claim is None:
                self._receive(is_ready=_is_readable(self._box, 0))
                if self._may_stall and self._is_stalled():
                    self._box.kill()
                    return None
            else:
                self._note(is_claim=is_claim)
        said, self._said = self._said, self._host.NONE_RUNS
        return self._outcome(*self._times) if said == self._host.CLAIMS else None

    def _is_stalled(self) -> bool:
        return Stall(self._limits, self._used_before, self._began).is_over(self._cpu_seconds())

    def _note(self, *, is_claim: bool) -> None:
        """Note what the box said, and the times of the test."""
        wall, used = time.monotonic() - self._began, self._cpu_seconds()
        self._said = self._host.CLAIMS if is_claim and used is not None else self._host.REFUSES
        self._times = self._used - self._used_before, wall

    def _receive(self, *, is_ready: bool) -> None:
        if is_ready:
            self._box.receive()
        else:
            self._box.check_alive()

    def _cpu_seconds(self) -> float | None:
        """Return the CPU time that the box has used until now; None if the box is no longer there."""
        try:
            if self._clock is None:
                self._clock = self._box.cpu_clock()
            self._used = time.clock_gettime(self._clock)
        except (OSError, JailDiedError):
            return None
        return self._used

    def _outcome(self, cpu_seconds: float, wall_seconds: float) -> Outcome:
        _, out, err = self._fds
        most, to_offset = self._limits.output_bytes + 1, self._writes_over and self._may_stall
        written, stdout, stderr = self._host.read_output(out, err, most, STDERR_BYTES, to_offset)
        return Outcome(0, None, False, cpu_seconds, wall_seconds, None, 0, stdout, stderr, written)

    def give(self, stdin: bytes) -> None:
        """See SharedRun. The test begins when it is waited for."""
        self._next, self._said = stdin, self._host.SILENT
        self._began = time.monotonic()
        self._used_before = self._used
        self._may_stall = True

    def run_equal(self, tests: list[tuple[str, str]], first: int) -> list[Outcome]:
        """See SharedRun."""
        assert self._clock is not None, "the first test ended well"
        self._may_stall = True
        given = *self._ends, tests, first, wire.NEXT_TEST, wire.TEST_ENDED, self._clock, self._used, SLICE_SECONDS
        times, self._said, self._began = self._host.run_equal(*given)
        self._used += sum(cpu for cpu, _ in times)
        self._used_before = self._used
        if self._said == self._host.CLAIMS:
            self._times = times.pop()
        return [
            Outcome(0, None, False, cpu, wall, None, 0, stdout := output.encode(), b"", len(stdout))
            for (cpu, wall), (_, output) in zip(times, tests[first : first + len(times)], strict=True)
        ]

    @property
    def is_running(self) -> bool:
        """See SharedRun."""
        return self._said != self._host.NONE_RUNS

    def end(self, *, is_known: bool) -> Outcome:
        """See SharedRun."""
        self._close_channel()
        deadline = time.monotonic() + END_SECONDS
        while self._box.outcome is None:
            if is_known and time.monotonic() > deadline:
                self._box.kill()
            self._receive(is_ready=_is_readable(self._box, END_SECONDS))
        last = self._outcome(0.0, 0.0)
        whole = self._box.outcome._replace(stdout=last.stdout, stderr=last.stderr, stdout_bytes=last.stdout_bytes)
        return whole if whole.exit_code == 0 else self._explain(whole)

    def _close_channel(self) -> None:
        if self._is_open:
            self._is_open = False
            os.close(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._box.outcome is None and not isinstance(error, SandboxError):  # else its sandbox is discarded
                self._box.kill()
                self.end(is_known=True)
        finally:
            self._close_channel()
            for fd in self._fds:
                os.close(fd)


def _is_readable(box: RunningBox, seconds: float) -> bool:
    poll = select.poll()
    poll.register(box, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
