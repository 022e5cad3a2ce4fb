"""Watches running boxes: enforces limits on CPU and wall time, and records each box's resource use.

CPU time is read from the scheduler's exact clock. RLIMIT_CPU counts by ticks, and on a busy machine it was seen to
kill a program after 0.77 s of a limit of 1 s; it is only the backstop, at twice the limit and more.

Wall time counts only while a box could have run: while it waits for a processor the deadline moves, up to the job's
`patience_seconds`.
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
HELD_UP_SECONDS = 0.02  # runnable for so long without a processor
UNKNOWN = -1.0

_proc_fd = -1
_not_boxes = frozenset[int]()


def prepare() -> int:
    """Open /proc, which shows all boxes; called once, before the zygote enters its root file system.

    Returns:
        The descriptor.
    """
    global _proc_fd, _not_boxes
    _proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _not_boxes = frozenset(_processes())
    return _proc_fd


class Box:
    """A running box: its process and its CPU limit."""

    __slots__ = ("_backstop", "_clock", "cpu_limit", "pid", "pidfd")

    def __init__(self, pid: int, pidfd: int, backstop: int, cpu_limit: float) -> None:
        """Args:
        pid: process.
        pidfd: its pidfd.
        backstop: its RLIMIT_CPU, in seconds.
        cpu_limit: its CPU limit, in seconds.
        """
        self.pid = pid
        self.pidfd = pidfd
        self._backstop = backstop
        self.cpu_limit = cpu_limit
        self._clock = _clock_of(pid)

    def cpu_left(self) -> float:
        """Return the CPU time left, in seconds; the whole limit if the box has ended."""
        try:
            return self.cpu_limit - time.clock_gettime(self._clock)
        except OSError:
            return self.cpu_limit

    def kill(self) -> None:
        """Kill the box and every process in it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def wait(self, seconds: float, control: socket.socket) -> tuple[int, float, int, bool] | None:
        """Wait for the box's end; see `_box.wait`.

        Args:
            seconds: longest wait; negative for no limit.
            control: socket to the host.

        Returns:
            Status, CPU seconds, peak bytes and whether its own limit killed it; None if it still runs.
        """
        return _box.wait(self.pid, self.pidfd, self._backstop, seconds, control.fileno())

    def close(self, ended: tuple[int, float, int, bool], began: float, starved: float, why_killed: int) -> Record:
        """Close the box and return its record.

        Args:
            ended: result of `wait`.
            began: start, on the monotonic clock.
            starved: seconds that it waited for a processor.
            why_killed: NOT_KILLED, DEADLINE or NOT_NEEDED.

        Returns:
            The record of the box.
        """
        os.close(self.pidfd)
        status, cpu, peak, own_limit = ended
        if own_limit and why_killed == wire.NOT_KILLED:
            why_killed = wire.OWN_LIMIT
        return Record(status, why_killed, cpu, time.monotonic() - began, starved, peak)


def wait_for_end(control: socket.socket, job: Job, *boxes: Box, waited: float = 0.0) -> Record:
    """Wait for the last box, whose end ends the job, and hold all boxes to their limits.

    Args:
        control: socket to the host.
        job: the job's limits.
        boxes: the job's boxes.
        waited: seconds already waited.

    Returns:
        The record of the last box.
    """
    awaited, began, starved, why_killed = boxes[-1], time.monotonic() - waited, 0.0, wire.NOT_KILLED
    may_fork = job.processes > 1
    pause = max(0.0, min(job.wall_seconds, *(box.cpu_limit for box in boxes)) - waited)
    while (ended := awaited.wait(pause, control)) is None:
        over_limit = [box for box in boxes if box.cpu_left() < 0]
        starved = starved_seconds(boxes, may_fork=may_fork)
        left = min(job.wall_seconds + max(starved, 0.0), job.patience_seconds) - (time.monotonic() - began)
        if over_limit:
            over_limit[0].kill()
            over_limit[0].cpu_limit = float("inf")
            pause = left
        elif left < TICK_SECONDS and time.monotonic() - began < job.patience_seconds and is_held_up(boxes, may_fork):
            control.send(wire.RUNNING)
            pause = HELD_UP_SECONDS
        elif left < TICK_SECONDS:
            why_killed, pause = wire.DEADLINE, -1.0
            awaited.kill()
        else:
            control.send(wire.RUNNING)
            pause = min(left, *(box.cpu_left() + TICK_SECONDS for box in boxes))
    return awaited.close(ended, began, starved, why_killed)


def end_unneeded(control: socket.socket, box: Box) -> Record:
    """Kill a box that is not needed any more.

    Args:
        control: socket to the host.
        box: the box.

    Returns:
        Its record, which shows whether it had already ended.
    """
    began, why_killed = time.monotonic(), wire.NOT_KILLED
    ended = box.wait(0.0, control)
    if ended is None:
        box.kill()
        ended = box.wait(-1.0, control)
        assert ended is not None
        if ended[0] == signal.SIGKILL:  # else it was about to end by itself
            why_killed = wire.NOT_NEEDED
    return box.close(ended, began, 0.0, why_killed)


def starved_seconds(boxes: tuple[Box, ...], *, may_fork: bool) -> float:
    """Return how long a thread of these boxes was kept from running by other processes.

    All threads of a run share one processor, so one waits for exactly as long as the others use it. The wait of a
    thread beyond the CPU time of all other threads is the least time that other processes took from it. Threads that
    have ended count with their CPU time; a thread that ends during the measurement is left out. So no number of
    threads, and no order of wake-ups, makes a run look starved.

    Args:
        boxes: the job's boxes.
        may_fork: count all processes in the boxes.

    Returns:
        The seconds of the thread that waited longest; UNKNOWN if the kernel reports no thread.
    """
    processes = _pids(boxes, may_fork)
    threads = [times for pid in processes for times in _times_of_threads(pid)]
    if not threads:
        return UNKNOWN
    used = sum(_cpu_seconds(pid) for pid in processes)
    if may_fork:
        used += sum(_seconds_of_dead_children(pid) for pid in processes)
    return max(0.0, max(waited - max(0.0, used - ran) for ran, waited in threads))


def is_held_up(boxes: tuple[Box, ...], may_fork: bool) -> bool:
    """Return whether the boxes have a thread that could run, and none of their threads has a processor.

    The kernel counts a wait for a processor when it ends. A thread that is waiting now would look asleep.

    Args:
        boxes: the job's boxes.
        may_fork: look at all processes in the boxes.
    """
    processes = _pids(boxes, may_fork)
    if not any(map(_has_runnable_thread, processes)):
        return False
    used = sum(map(_cpu_seconds, processes))
    time.sleep(HELD_UP_SECONDS)
    return sum(map(_cpu_seconds, processes)) == used


def _pids(boxes: tuple[Box, ...], may_fork: bool) -> list[int]:
    return [pid for pid in _processes() if pid not in _not_boxes] if may_fork else [box.pid for box in boxes]


def _has_runnable_thread(pid: int) -> bool:
    with suppress(OSError):  # it has ended
        for task in _list(f"{pid}/task"):
            with suppress(OSError, IndexError):  # that thread has ended
                if _read(f"{pid}/task/{task}/stat").rpartition(b")")[2].split()[0] == b"R":
                    return True
    return False


def _clock_of(pid: int) -> int:
    return (~pid << 3) | 2  # the kernel's name for that process's own clock (clock_getcpuclockid)


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process, ended ones included; 0 if it has ended."""
    try:
        return time.clock_gettime(_clock_of(pid))
    except OSError:
        return 0.0


def _times_of_threads(pid: int) -> list[tuple[float, float]]:
    """Return for each living thread the seconds that it ran and the seconds that it waited for a processor."""
    found = []
    with suppress(OSError):  # it has gone
        for task in _list(f"{pid}/task"):
            with suppress(OSError, ValueError, IndexError):  # that thread has gone, or the kernel does not say
                ran, waited = _read(f"{pid}/task/{task}/schedstat").split()[:2]
                found.append((int(ran) * 1e-9, int(waited) * 1e-9))
    return found


def _seconds_of_dead_children(pid: int) -> float:
    try:
        times = _read(f"{pid}/stat").rpartition(b")")[2].split()[13:15]  # cutime and cstime, see proc(5)
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _processes() -> list[int]:
    return [int(name) for name in _list(".") if name.isdigit()]


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY, dir_fd=_proc_fd)
    try:
        return os.read(fd, 1024)
    finally:
        os.close(fd)


def _list(path: str) -> list[str]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=_proc_fd)
    try:
        return os.listdir(folder)
    finally:
        os.close(folder)
