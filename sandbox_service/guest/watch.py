"""Watches running boxes: lets them work as long as they may, kills them when they may not, and says what was seen.

CPU time is read from the scheduler's exact clock. RLIMIT_CPU counts by ticks, and on a busy machine it was seen to
kill a program after 0.77 s of a limit of 1 s; it is only the backstop, at twice the limit and more.

Of wall time only that counts in which a box could have run: while it waits for a processor the deadline moves, as
far as the run's patience goes.
"""

import _socket as socket
import os
import signal
import time
from contextlib import suppress

import _box
import wire
from wire import Job, Record

TICK_SECONDS = 0.01
UNKNOWN = -1.0

_proc_fd = -1


def prepare() -> None:
    """Once, in the zygote, before it moves into its room: remember where the kernel tells of processes."""
    global _proc_fd
    _proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


class Box:
    """A running box: its process, and the CPU time it may use."""

    __slots__ = ("_clock", "cpu_limit", "pid", "pidfd")

    def __init__(self, pid: int, pidfd: int, cpu_limit: float) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self.cpu_limit = cpu_limit
        self._clock = (~pid << 3) | 2  # the kernel's name for that process's own clock (clock_getcpuclockid)

    def cpu_left(self) -> float:
        """Seconds of CPU time that it may still use; its whole limit if it has ended."""
        try:
            return self.cpu_limit - time.clock_gettime(self._clock)
        except OSError:
            return self.cpu_limit

    def starved(self) -> float:
        """How long its most unlucky thread was runnable without running; UNKNOWN where the kernel does not say."""
        try:
            return max(_runqueue_seconds(f"{self.pid}/task/{task}/schedstat") for task in _list(f"{self.pid}/task"))
        except (OSError, ValueError, IndexError):
            return UNKNOWN

    def kill(self) -> None:
        """End it; nothing in it survives."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def bury(self, ended: tuple[int, float, int], began: float, starved: float, why_killed: int) -> Record:
        """What was seen of it."""
        os.close(self.pidfd)
        status, cpu, peak = ended
        return Record(status, why_killed, cpu, time.monotonic() - began, starved, peak)


def until_end(control: socket.socket, job: Job, *boxes: Box, waited: float = 0.0) -> Record:
    """Wait for the last of these boxes, whose end ends the run; all are held to their limits.

    `waited`: how long it was waited for before.
    """
    awaited, began, starved, why_killed = boxes[-1], time.monotonic() - waited, 0.0, wire.NOT_KILLED
    pause = max(0.0, min(job.wall_seconds, *(box.cpu_limit for box in boxes)) - waited)
    while (ended := _box.wait(awaited.pid, awaited.pidfd, pause, control.fileno())) is None:
        greedy = [box for box in boxes if box.cpu_left() < 0]
        starved = max(box.starved() for box in boxes)
        left = min(job.wall_seconds + max(starved, 0.0), job.patience_seconds) - (time.monotonic() - began)
        if greedy:
            greedy[0].kill()
            greedy[0].cpu_limit = float("inf")
            pause = left
        elif left < TICK_SECONDS:
            why_killed, pause = wire.DEADLINE, -1.0
            awaited.kill()
        else:
            control.send(wire.RUNNING)
            pause = min(left, *(box.cpu_left() + TICK_SECONDS for box in boxes))
    return awaited.bury(ended, began, starved, why_killed)


def no_longer(control: socket.socket, box: Box) -> Record:
    """End a box that is not needed any more; its record shows whether it had ended by itself."""
    began, why_killed = time.monotonic(), wire.NOT_KILLED
    ended = _box.wait(box.pid, box.pidfd, 0.0, control.fileno())
    if ended is None:
        why_killed = wire.NOT_NEEDED
        box.kill()
        ended = _box.wait(box.pid, box.pidfd, -1.0, control.fileno())
    assert ended is not None
    return box.bury(ended, began, 0.0, why_killed)


def _runqueue_seconds(path: str) -> float:
    fd = os.open(path, os.O_RDONLY, dir_fd=_proc_fd)
    try:
        return int(os.read(fd, 256).split()[1]) * 1e-9
    finally:
        os.close(fd)


def _list(path: str) -> list[str]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=_proc_fd)
    try:
        return os.listdir(folder)
    finally:
        os.close(folder)
