"""Running alone, and for how long that may be: with threads that stand for slots, each with openings of its own."""

from __future__ import annotations

import fcntl
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from sandbox_service.sandbox import exclusive
from sandbox_service.sandbox.exclusive import ExclusiveRun

GUARD_SECONDS = 20.0

MakeQuiet = Callable[[], ExclusiveRun]


@pytest.fixture
def gate() -> Iterator[int]:
    fd = os.memfd_create("gate")
    yield fd
    os.close(fd)


@pytest.fixture
def make(gate: int) -> Iterator[MakeQuiet]:
    room = os.memfd_create("room")
    yield lambda: ExclusiveRun(f"/proc/self/fd/{gate}", f"/proc/self/fd/{room}")
    os.close(room)


def beside(own: ExclusiveRun) -> None:
    with own.shared():
        pass


def beside_in_a_thread(own: ExclusiveRun) -> None:
    """Fail if the lock cannot be shared while the caller holds what it holds."""
    thread = threading.Thread(target=beside, args=(own,), daemon=True)
    thread.start()
    thread.join(GUARD_SECONDS)
    assert not thread.is_alive(), "it never came in"


def until_gate_is_locked(gate: int) -> None:
    """Wait until one that wants to be alone has closed the gate to newcomers."""
    own = os.open(f"/proc/self/fd/{gate}", os.O_RDWR)
    end = time.monotonic() + GUARD_SECONDS
    try:
        while time.monotonic() < end:
            try:
                fcntl.flock(own, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(own, fcntl.LOCK_UN)
            time.sleep(0.001)
    finally:
        os.close(own)
    raise AssertionError("the gate was never locked")


def test_those_who_share_do_not_wait_for_each_other(make: MakeQuiet) -> None:
    with make().shared():
        beside_in_a_thread(make())


def test_nobody_runs_beside_one_that_is_alone(make: MakeQuiet) -> None:
    one, other = make(), make()
    with one.alone():
        thread = threading.Thread(target=beside, args=(other,), daemon=True)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive(), "it waits"
    thread.join(GUARD_SECONDS)
    assert not thread.is_alive()


def test_one_that_wants_to_be_alone_waits_for_those_inside_and_newcomers_wait_for_it(
    make: MakeQuiet, gate: int
) -> None:
    one, other, third = make(), make(), make()
    order: list[str] = []

    def alone() -> None:
        with one.alone():
            order.append("alone")

    def late() -> None:
        with third.shared():
            order.append("late")

    threads = [threading.Thread(target=each) for each in (alone, late)]
    with other.shared():
        threads[0].start()
        until_gate_is_locked(gate)
        threads[1].start()
        time.sleep(0.3)
        assert order == []
    for thread in threads:
        thread.join(GUARD_SECONDS)
    assert order == ["alone", "late"]


def test_all_together_stop_the_others_for_no_longer_than_the_account_says(
    make: MakeQuiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exclusive, "BURST_SECONDS", 0.2)
    with make().alone():
        time.sleep(0.4)
    with make().shared(), ExitStack() as stack:  # the account is empty: nobody is alone any more
        for _ in range(8):
            beside_in_a_thread(make())
            stack.enter_context(make().alone())


def test_the_account_fills_again(make: MakeQuiet, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(exclusive, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(exclusive, "BURST_SECONDS", 0.1)
    monkeypatch.setattr(exclusive, "SHARE", 1.0)
    own = make()
    with own.alone():
        now[0] += 0.3
    assert own._left() < 0
    now[0] += 0.4
    assert own._left() > 0


def test_two_that_wait_at_once_do_not_spend_the_same_seconds(make: MakeQuiet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exclusive, "BURST_SECONDS", 0.2)
    entered = itertools.count()
    all_others = threading.Barrier(3)
    together: list[int] = []

    def alone() -> None:
        with make().alone():
            if next(entered) == 0:
                time.sleep(0.5)  # which empties the account
            else:
                together.append(all_others.wait(GUARD_SECONDS))

    threads = [threading.Thread(target=alone) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * GUARD_SECONDS)
    assert len(together) == 3, "one alone, then three beside each other"
