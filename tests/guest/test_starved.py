"""`starved_seconds` counts the time that other processes take from a run, not that of its own threads and processes.

The runs are processes of this machine, bound to one processor as all boxes of a slot are.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil
import pytest

from tests.guards import HANG_GUARD_SECONDS
from tests.guest.boxes import GUEST
from tests.markers import some

assert str(GUEST) in sys.path
watchdog: Any = importlib.import_module("watchdog")  # by the name that it has in a jail

SECONDS = 1.5
PROCESSOR = min(os.sched_getaffinity(0))

# programs whose own threads or processes keep each other from running
OWN_DOING = {
    "threads that wake together": """
        condition = threading.Condition()
        def work():
            while True:
                with condition: condition.wait(0.02)
                until = time.thread_time() + 0.0002
                while time.thread_time() < until: pass
        start(60, work)
        while True:
            with condition: condition.notify_all()
            time.sleep(0.03)
    """,
    "threads that spin": "start(8, spin); spin()",
    "threads that yield": """
        def work():
            while True: os.sched_yield()
        start(8, work); work()
    """,
    "timers": """
        def work():
            while True:
                time.sleep(0.0005)
                sum(range(2000))
        start(40, work); work()
    """,
    "threads that are made and end": """
        while True:
            for thread in start(20, lambda: sum(range(20000))): thread.join()
    """,
    "a first thread that has ended": "start(8, spin); ctypes.CDLL(None).pthread_exit(None)",
    "a first thread that waits": "start(8, spin); threading.Event().wait()",
    "a lock that goes round": """
        lock = threading.Lock()
        def work():
            while True:
                with lock: sum(range(1000))
        start(30, work); work()
    """,
    "pages that are touched": """
        def work():
            while True:
                found = mmap.mmap(-1, 1 << 22)
                for at in range(0, 1 << 22, 4096): found[at] = 1
        start(8, work); work()
    """,
    "pipes": """
        one, other = os.pipe(), os.pipe()
        def echo(source, to):
            while True: os.write(to, os.read(source, 1))
        start(4, lambda: echo(one[0], other[1])); start(4, lambda: echo(other[0], one[1]))
        for _ in range(20): os.write(one[1], b"x")
        spin()
    """,
    "signals": """
        signal.signal(signal.SIGALRM, lambda *_: sum(range(3000)))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        start(8, spin); spin()
    """,
}
FORKS = {
    "children that spin": "[os.fork() for _ in range(3)]; spin()",
    "a parent that waits": "[os.fork() for _ in range(3)] and spin()",
    "children that come and go": """
        def work():
            while True:
                child = os.fork()
                if not child:
                    sum(range(300000)); os._exit(0)
                os.waitpid(child, 0)
        start(4, spin) and work()
    """,
    "grandchildren without a parent": """
        if os.fork() == 0:
            for _ in range(4): os.fork()
            spin()
        start(4, spin); spin()
    """,
}
PRELUDE = """
import ctypes, mmap, os, signal, sys, threading, time
sys.setswitchinterval(1e-4)
def spin():
    while True: pass
def start(count, work):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads: thread.start()
    return threads
"""


@pytest.fixture(autouse=True)
def prepared() -> None:
    watchdog.prepare()


@contextmanager
def running(code: str) -> Iterator[int]:
    """Run a program on the one processor; yield its process id."""
    lines = code.splitlines() if code.startswith("\n") else [code]
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    program = PRELUDE + "\n".join(line[indent:] for line in lines)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        start_new_session=True,
        preexec_fn=lambda: os.sched_setaffinity(0, [PROCESSOR]),
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def seen(pid: int, *, may_fork: bool = False) -> tuple[float, float]:
    """Return, after a while, for how long the program was starved, and how long the while was."""
    began = time.monotonic()
    time.sleep(SECONDS)
    starved = watchdog.starved_seconds((watchdog.Box(pid, -1, 0, 10.0),), may_fork=may_fork)
    return starved, time.monotonic() - began


def strangers_seconds(pid: int, elapsed: float) -> float:
    """Return the most that other processes can have taken: the time in which no thread of the program ran."""
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return max(0.0, elapsed - sum(sum(each.cpu_times()[:4]) for each in family))


# one of each way to give up the processor: all spin, all wake together, the first one waits, a signal interrupts
OWN_DOING_FIRST = {"threads that spin", "threads that wake together", "a first thread that waits", "signals"}
FORKS_FIRST = {"a parent that waits", "children that come and go"}


@pytest.mark.parametrize("name", some(OWN_DOING, OWN_DOING_FIRST))
def test_threads_that_keep_each_other_from_running_are_not_starved(name: str) -> None:
    with running(OWN_DOING[name]) as pid:
        starved, elapsed = seen(pid)
        assert 0 <= starved < 0.1 * SECONDS + strangers_seconds(pid, elapsed)


@pytest.mark.parametrize("name", some(FORKS, FORKS_FIRST))
def test_processes_of_one_run_do_not_starve_each_other(name: str) -> None:
    with running(FORKS[name]) as pid:
        starved, elapsed = seen(pid, may_fork=True)
        assert 0 <= starved < 0.2 * SECONDS + strangers_seconds(pid, elapsed)


def test_one_whose_processor_a_stranger_uses_is_starved() -> None:
    with running("spin()"), running("spin()") as pid:
        watchdog.prepare()
        starved, _ = seen(pid)
        assert starved > 0.2 * SECONDS


def test_one_with_threads_whose_processor_a_stranger_uses_is_starved() -> None:
    with running("start(3, spin); spin()"), running("start(2, threading.Event().wait); spin()") as pid:
        starved, _ = seen(pid)
        assert starved > 0.2 * SECONDS


def test_nothing_is_known_of_a_process_that_has_gone() -> None:
    assert watchdog.starved_seconds((watchdog.Box(2**22 + 1, -1, 0, 1.0),), may_fork=False) == watchdog.UNKNOWN


def test_one_that_waits_for_the_processor_now_is_held_up() -> None:
    """The kernel counts a wait when it ends; a program that waits at its deadline would look asleep."""
    with ExitStack() as others, running("spin()") as pid:
        for _ in range(12):  # a turn of all is longer than the time for which the program is looked at
            others.enter_context(running("spin()"))
        box = watchdog.Box(pid, -1, 0, 10.0)
        give_up = time.monotonic() + HANG_GUARD_SECONDS
        while not watchdog.is_held_up((box,), may_fork=False):
            assert time.monotonic() < give_up


@pytest.mark.parametrize("code", ["time.sleep(60)", "start(8, threading.Event().wait); time.sleep(60)"])
def test_one_that_sleeps_is_not_held_up(code: str) -> None:
    with running(code) as pid:
        give_up = time.monotonic() + HANG_GUARD_SECONDS
        while psutil.Process(pid).status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < give_up
        time.sleep(SECONDS)
        assert not watchdog.is_held_up((watchdog.Box(pid, -1, 0, 10.0),), may_fork=False)


def test_one_that_has_gone_is_not_held_up() -> None:
    assert not watchdog.is_held_up((watchdog.Box(2**22 + 1, -1, 0, 1.0),), may_fork=False)
