"""Processes die, hang and are stopped under load, and every submission gets the verdict it always gets.

A fault of ours is never a verdict about a program: whatever is killed here, no answer is missing, wrong or `IE`. And
when the service ends, politely or not, nothing of it is left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tests.conftest import Service, running_service
from tests.guards import HANG_GUARD_SECONDS
from tests.processes import children_of, is_firejail, is_slot, name_of

SUBMISSIONS = int(os.environ.get("PROCTOR_FAULTS", "120"))
SETTLED_SECONDS = 2.5  # a slot of that age has its jails, and is at work
GONE_SECONDS = 10.0
MOST_ROUNDS = 4
LIMITS = {"cpu_seconds": 0.3, "wall_seconds": 1.5}
NAP = "import time\ntime.sleep(0.04)\n"
PROGRAMS = {
    "AC": NAP + "print(int(input()) + 1)",
    "WA": NAP + "print(int(input()) + 2)",
    "RTE": NAP + "print(int(input()) // 0)",
    "CE": "print(",
    "TLE": "while True: pass",
}
SHARES = {"AC": 104, "WA": 40, "RTE": 30, "CE": 22, "TLE": 4}  # of 200

Processes = list[psutil.Process]


def submissions() -> dict[str, dict[str, Any]]:
    """The mix, shuffled, by id; the id begins with the right verdict."""
    counts = {verdict: round(share * SUBMISSIONS / 200) for verdict, share in SHARES.items()}
    names = [f"{verdict}-{number}" for verdict, count in counts.items() for number in range(count)]
    random.Random(7).shuffle(names)
    return {name: submission(number, PROGRAMS[name.partition("-")[0]]) for number, name in enumerate(names)}


def submission(number: int, code: str) -> dict[str, Any]:
    test: dict[str, Any] = {"type": "stdin", "input": f"{number}\n", "output": f"{number + 1}\n"}
    if number % 4 == 0 and "input" in code:
        code = f"def solve(n):\n    import builtins\n    builtins.input = lambda: n\n    {indented(code)}"
        test = {"type": "call", "function": "solve", "args": [number], "output": number + 1}
    return {"code": code, "tests": [test], "limits": LIMITS}


def indented(code: str) -> str:
    """The program as the body of a function that returns what it would print."""
    return code.replace("print", "return ").replace("\n", "\n    ")


def grade_all(service: Service, name: str) -> dict[str, str]:
    """The verdict of each of the mix, sent as one batch under ids that were not used before."""
    grades = service.client.batch({"id": f"{name}/{key}", **body} for key, body in submissions().items())
    return {key.partition("/")[2]: said(grade) for key, grade in grades.items()}


def said(grade: dict[str, Any]) -> str:
    """The verdict, and why there is none."""
    return " ".join(filter(None, (grade["verdict"], grade["failure_reason"])))


def wrong(verdicts: dict[str, str]) -> dict[str, str]:
    """Which have not the verdict that their name begins with; those that are missing too."""
    return {
        name: verdicts.get(name, "missing") for name in submissions() if verdicts.get(name) != name.partition("-")[0]
    }


def wrong_while(service: Service, disturb: Callable[[], bool], pause: float, times: int) -> dict[str, str]:
    """Grade all, and again until `disturb`, called now and then, did something so many times.

    It does something once a round: on a busy machine a slow program would be met again while it is repeated, and
    rightly be judged as one that ends its jail.

    Returns:
        The wrong answers by name.
    """
    done, count, rounds = threading.Event(), 0, 1
    found: dict[str, str] = {}

    def loop() -> None:
        nonlocal count
        while not done.wait(pause):
            with suppress(psutil.NoSuchProcess):
                count += count < min(times, rounds) and disturb()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        for number in range(MOST_ROUNDS):
            if number == 0 or count < times:
                rounds = number + 1
                found |= wrong(grade_all(service, f"{disturb.__name__}-{number}"))
    finally:
        done.set()
        thread.join()
    assert count >= times, "nothing was disturbed"
    return found


# --- who is who


def slots(service: Service) -> Processes:
    """The slot processes, eldest first."""
    found = [child for child in psutil.Process(service.process.pid).children() if is_slot(child)]
    return sorted(found, key=lambda process: process.create_time())


def firejails(service: Service) -> Processes:
    """The outermost firejail of every jail, spares included."""
    return [jail for slot in slots(service) for jail in children_of(slot) if is_firejail(jail)]


def zygotes(service: Service) -> Processes:
    """The interpreter that stands below firejail in every jail."""
    below = [process for jail in firejails(service) for process in children_of(jail, recursive=True)]
    return [process for process in below if name_of(process) == "python3" and is_child_of_firejail(process)]


def is_child_of_firejail(process: psutil.Process) -> bool:
    parent = process.parent()
    return parent is not None and is_firejail(parent)


def age(process: psutil.Process) -> float:
    return time.time() - process.create_time()


def kill(processes: Processes) -> bool:
    """Kill them; whether there were any."""
    for process in processes:
        process.kill()
    return bool(processes)


def one_of(processes: Processes) -> Processes:
    """One of those that had time to settle."""
    settled = [process for process in processes if age(process) > 1.0]
    return [random.choice(settled)] if settled else []


# --- the service goes on. No program loses two jails in a row here: that would count as its own doing


@pytest.fixture(scope="module")
def victim() -> Iterator[Service]:
    """A service of our own, to be harmed."""
    with running_service() as running:
        yield running


def test_undisturbed_every_verdict_is_as_expected(victim: Service) -> None:
    assert wrong(grade_all(victim, "quiet")) == {}


@pytest.mark.full
def test_killed_zygotes_change_nothing(victim: Service) -> None:
    def kill_a_zygote() -> bool:
        return kill(one_of(zygotes(victim)))

    assert wrong_while(victim, kill_a_zygote, 1.5, times=2) == {}


@pytest.mark.full
def test_killed_firejails_change_nothing(victim: Service) -> None:
    def kill_a_firejail() -> bool:
        return kill(one_of(firejails(victim)))

    assert wrong_while(victim, kill_a_firejail, 1.5, times=2) == {}


def test_all_jails_of_all_slots_killed_at_once_change_nothing(victim: Service) -> None:
    """The spares die too, so that the second attempt finds no jail: which says nothing about the program."""

    def kill_all_zygotes() -> bool:
        return kill(zygotes(victim))

    assert wrong_while(victim, kill_all_zygotes, 2.0, times=2) == {}


def test_all_slots_killed_at_once_change_nothing(victim: Service) -> None:
    def kill_the_pool() -> bool:
        pool = slots(victim)
        return len(pool) > 1 and all(age(slot) > SETTLED_SECONDS for slot in pool) and kill(pool)

    assert wrong_while(victim, kill_the_pool, 0.7, times=2) == {}


def test_a_slot_that_is_killed_again_and_again_changes_nothing(victim: Service) -> None:
    def kill_the_youngest() -> bool:
        pool = slots(victim)
        return len(pool) > 1 and age(pool[-1]) > SETTLED_SECONDS and kill(pool[-1:])

    assert wrong_while(victim, kill_the_youngest, 0.2, times=2) == {}


def test_a_stopped_zygote_is_noticed_and_changes_nothing(victim: Service) -> None:
    stopped: Processes = []

    def stop_the_eldest() -> bool:
        if not stopped:
            stopped.extend(sorted(zygotes(victim), key=age)[-1:])
            stopped[0].send_signal(signal.SIGSTOP)
        return bool(stopped)

    assert wrong_while(victim, stop_the_eldest, 1.0, times=1) == {}
    assert not is_alive(stopped[0])


def test_after_all_that_the_service_is_as_ready_as_before(victim: Service) -> None:
    victim.wait_ready()
    assert victim.grade(**submission(1, PROGRAMS["AC"]))["verdict"] == "AC"
    assert len(slots(victim)) == len(zygotes(victim)) // 2 > 0  # each has a jail at work and a spare


# --- the service ends


def until_pending(service: Service, least: int) -> None:
    """Wait until the service has taken so many submissions that are not answered."""
    end = time.monotonic() + HANG_GUARD_SECONDS
    while service.client.get("/v1/status")[1]["pending"]["submissions"] < least:
        assert time.monotonic() < end, f"{least} submissions were never pending"
        time.sleep(0.02)


def left_of(family: Processes) -> list[str]:
    """What of a family still lives when it has had time to go."""
    end = time.monotonic() + GONE_SECONDS
    while (alive := [process for process in family if is_alive(process)]) and time.monotonic() < end:
        time.sleep(0.1)
    return [" ".join(process.cmdline()[:3]) for process in alive]


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_asked_to_end_it_answers_what_it_took_and_leaves_nothing() -> None:
    with running_service() as service, ThreadPoolExecutor(20) as threads:
        batch = threads.submit(grade_all, service, "batch")
        body = {"code": PROGRAMS["AC"], "tests": [{"type": "stdin", "input": "1", "output": "2"}] * 5}
        singles = [threads.submit(service.client.post, "/v1/grade", body) for _ in range(19)]
        until_pending(service, SUBMISSIONS // 2)
        time.sleep(1.0)  # the singles arrive
        family = service.family()
        assert len(family) > 6
        assert not batch.done()
        service.process.send_signal(signal.SIGTERM)
        answers = [single.result() for single in singles]
        assert [(status, answer["verdict"]) for status, answer in answers] == [(200, "AC")] * len(singles)
        assert wrong(batch.result()) == {}
        assert service.process.wait(60) == 0
        assert left_of(family) == []


def test_while_it_ends_it_takes_nothing_new() -> None:
    sleeper = {"code": "import time; time.sleep(1)", "tests": [{"type": "stdin", "output": ""}]}
    with running_service() as service, ThreadPoolExecutor(1) as threads:
        taken = threads.submit(service.grade, **sleeper)
        until_pending(service, 1)
        service.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        with pytest.raises(OSError, match=r"refused|reset|closed"):
            service.client.post("/v1/grade", sleeper)
        assert taken.result()["verdict"] == "AC"


@pytest.mark.parametrize("code", ["import time; time.sleep(100)", "while True: pass"])
def test_killed_outright_it_leaves_nothing(code: str) -> None:
    limits = {"cpu_seconds": 60, "wall_seconds": 200}
    body = {"code": code, "tests": [{"type": "stdin", "output": ""}], "limits": limits}
    request = json.dumps({"submissions": [body] * 8}).encode()
    with running_service() as service, ThreadPoolExecutor(1) as threads:
        batch = threads.submit(service.client.request, "POST", "/v1/grade/batch", request)
        time.sleep(1.5)
        family = service.family()
        assert len(family) > 6
        service.process.kill()
        assert left_of(family) == []
        assert batch.exception() is not None
