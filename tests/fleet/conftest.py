"""Fixtures of the fleet tests: a load with a fault, and the answers of an undisturbed fleet."""

from __future__ import annotations

import fcntl
import itertools
import os
import pickle
from collections.abc import Callable

import pytest

from tests.fleet.fleet import Fleet, errors_said, running_fleet
from tests.fleet.load import Figures, Load, essence, mix

FIRST = 0.25  # of the answers: then comes the fault
_numbers = itertools.count()

Answers = dict[str, object]
Disturb = Callable[[Load], None]
Under = Callable[[Fleet, str, Disturb], Figures]


def answers_under(fleet: Fleet, fault: str, disturb: Disturb | None) -> tuple[Answers, Figures]:
    """Send the mix, disturb, wait for the answers, and ask for all of them again.

    Every one must have the verdict in its name, and no other when asked for again.

    Returns:
        The answers, and the figures.
    """
    run = f"{next(_numbers)}/"
    submissions = {run + name: body for name, body in mix().items()}
    load = Load(fleet.urls(), submissions)
    if disturb is not None:
        load.until_answered(FIRST)
        disturb(load)
    told = load.join()
    seconds = load.seconds
    counts = fleet.counts()
    verdicts = {name.removeprefix(run): grade["verdict"] for name, grade in told.grades.items()}
    right = {name: verdict for name, verdict in verdicts.items() if name.startswith(verdict + "-")}
    again = sum(grade["grader"]["attempts"] > 1 for grade in told.grades.values())
    figures = Figures(
        fault=fault,
        sent=len(submissions),
        answered=len(verdicts),
        equal=len(right),
        seconds=seconds,
        gap=load.longest_gap(),
        twice=again + counts.get("duplicates", 0),
        answers=told.answers,
        counts=counts,
    )
    figures.write()
    wrong = {name: essence(grade) for name, grade in told.grades.items() if name.removeprefix(run) not in right}
    if told.strange:
        print(errors_said())
    assert (sorted(submissions.keys() - told.grades.keys()), wrong, told.conflicts, told.strange) == ([], {}, [], [])
    asked = Load(fleet.urls(), submissions).join()
    changed = {
        name: (essence(grade), essence(told.grades[name]))
        for name, grade in asked.grades.items()
        if essence(grade) != essence(told.grades[name])
    }
    assert (changed, asked.conflicts, asked.strange) == ({}, [], [])
    return {name.removeprefix(run): essence(grade) for name, grade in told.grades.items()}, figures


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What the mix is answered by a fleet that nothing happens to. The processes of a test run share the answers."""
    own = tmp_path_factory.getbasetemp()
    kept = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "undisturbed"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(undisturbed_answers()))
    answers: Answers = pickle.loads(kept.read_bytes())
    return answers


def undisturbed_answers() -> Answers:
    """Ask a fleet that nothing happens to."""
    with running_fleet() as fleet:
        answers, figures = answers_under(fleet, "none", None)
    assert figures.counts.get("requeued", 0) == figures.counts.get("duplicates", 0) == figures.twice == 0
    return answers


@pytest.fixture
def under(undisturbed: Answers) -> Under:
    """Sends the load to a fleet under a fault; all must be answered as by the undisturbed fleet. The figures."""

    def send(fleet: Fleet, fault: str, disturb: Disturb) -> Figures:
        answers, figures = answers_under(fleet, fault, disturb)
        assert answers == undisturbed
        return figures

    return send
