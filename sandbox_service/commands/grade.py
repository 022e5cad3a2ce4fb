"""`proctor grade`: solution files against a problem file, here or by a service; every grade in the order of arrival."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandbox_service import preflight
from sandbox_service.commands import embedded, files, remote, verdicts
from sandbox_service.commands.files import Solution
from sandbox_service.errors import BadRequest, Unavailable
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

ALL_ACCEPTED, NOT_ALL = 0, 1


@dataclass(frozen=True)
class Order:
    """What is to be graded, by whom, and how it is to be told."""

    problem: Path
    solutions: list[Path]
    url: str | None = None
    jobs: int | None = None
    as_json: bool = False


def run(order: Order, settings: Settings) -> int:
    """Grade; 0 if all are accepted, 1 if any is not. Raises ProctorError if nothing can be graded as it stands."""
    problem = files.read_problem(order.problem)
    solutions = [files.read_solution(path) for path in order.solutions]
    grade_all = _grader(order, settings)
    with _progress(order) as progress:
        graded = _Graded(solutions, progress, as_json=order.as_json)
        grade_all(files.batch(problem, solutions), graded.take)
    rows = graded.rows()
    if not order.as_json:
        verdicts.print_table(rows)
    return ALL_ACCEPTED if all(grade.verdict == Verdict.AC for _, grade in rows) else NOT_ALL


class _Graded:
    """The grades so far."""

    def __init__(self, solutions: list[Solution], progress: Progress, *, as_json: bool) -> None:
        self._solutions = {solution.id: solution for solution in solutions}
        self._grades: dict[str, Grade] = {}
        self._progress = progress
        self._task = progress.add_task("grading", total=len(solutions))
        self._as_json = as_json

    def take(self, grade: Grade) -> None:
        """Note one, and show that it is there. Raises Unavailable if nobody asked for it."""
        if grade.id not in self._solutions:
            raise Unavailable("the service answered for a submission that was not sent")
        self._grades[grade.id] = grade
        self._progress.advance(self._task)
        if self._as_json:
            print(verdicts.json_line(self._solutions[grade.id].path, grade), flush=True)

    def rows(self) -> list[tuple[Path, Grade]]:
        """File by file. Raises Unavailable if the answers broke off."""
        missing = len(self._solutions) - len(self._grades)
        if missing:
            raise Unavailable(f"the service ended the connection with {missing} of {len(self._solutions)} not graded")
        return [(solution.path, self._grades[solution.id]) for solution in self._solutions.values()]


def _grader(order: Order, settings: Settings) -> Callable[[bytes, Callable[[Grade], None]], None]:
    """Who grades: a service, or this machine. Raises ConfigurationError if this machine cannot."""
    url = order.url
    if url is not None:
        if order.jobs is not None:
            raise BadRequest("--jobs is for grading here; with --url the service decides")
        return lambda body, take: remote.grade_all(url, body, take)
    preflight.require(settings)
    here = settings.model_copy(update={"slots": _jobs(order)})
    return lambda body, take: embedded.grade_all(here, body, take)


def _jobs(order: Order) -> int:
    """One slot for each processor, but none that would find nothing to do."""
    asked = len(os.sched_getaffinity(0)) if order.jobs is None else order.jobs
    if asked < 1:
        raise BadRequest("--jobs: at least 1")
    return min(asked, len(order.solutions))


def _progress(order: Order) -> Progress:
    """On stderr, where a person looks on, and gone when it is done."""
    console = Console(stderr=True)
    shown = console.is_terminal and not (order.as_json and sys.stdout.isatty())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not shown)
