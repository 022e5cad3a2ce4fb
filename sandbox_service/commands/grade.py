"""`proctor grade`: grades solution files against a problem file, on this machine or with a service."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandbox_service.commands import (
    grade_input,
    grade_output,
    grade_package,
    grade_published,
    local_grading,
    remote_grading,
)
from sandbox_service.commands.grade_input import Solution
from sandbox_service.doctor import preflight
from sandbox_service.errors import BadRequestError, UnavailableError
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

ALL_ACCEPTED, NOT_ALL = 0, 1


@dataclass(frozen=True)
class GradeOptions:
    """The arguments of `proctor grade`."""

    problem: Path
    solutions: list[Path]
    url: str | None = None
    jobs: int | None = None
    as_json: bool = False
    wanted: str = ""
    """The id or the number of a problem of a data set."""


def run(options: GradeOptions, settings: Settings) -> int:
    """Grade the solutions and print the grades.

    Args:
        options: The command's arguments.
        settings: The settings.

    Returns:
        0 if all solutions are accepted, or those of a package have the verdicts of their folders; otherwise 1.

    Raises:
        ProctorError: The files or the machine are not usable.
        BadRequestError: No program is named.
    """
    with grade_package.opened(options.problem) as package:
        if package is not None:
            return _package(options, package, settings)
    if not options.solutions:
        raise BadRequestError("name the programs to grade")
    is_published = grade_published.is_published(options.problem)
    if options.wanted and not is_published and options.problem.exists():
        raise BadRequestError(f"{options.problem}: the file is one problem, not a data set; remove --id")
    if options.wanted or is_published:
        problem = grade_published.read(options.problem, options.wanted)
    else:
        problem = grade_input.read_problem(options.problem)
    solutions = [grade_input.read_solution(path) for path in options.solutions]
    grade_all = _grader(options, settings)
    with _progress(options) as progress:
        graded = _Graded(solutions, progress, as_json=options.as_json)
        grade_all(grade_input.batch(problem, solutions), graded.take)
    rows = graded.rows()
    if not options.as_json:
        grade_output.print_table(rows)
    return ALL_ACCEPTED if all(grade.verdict == Verdict.AC for _, grade in rows) else NOT_ALL


def _package(options: GradeOptions, folder: Path, settings: Settings) -> int:
    """Grade programs of a package in a folder, and compare the verdicts with those that their folders name."""
    package = grade_package.read(folder)
    found = grade_package.solutions(package, folder, options.solutions)
    solutions = [replace(each, path=_named(each.path, folder, options.problem)) for each in found]
    chosen = replace(options, solutions=[each.path for each in solutions])
    grade_all = _grader(chosen, settings)
    with _progress(options) as progress:
        graded = _Graded(solutions, progress, as_json=options.as_json)
        grade_all(grade_input.batch(grade_package.shared(package), solutions), graded.take)
    rows = graded.rows()
    graded_programs = [(each, grade) for each, (_, grade) in zip(solutions, rows, strict=True)]
    if not options.as_json:
        grade_output.print_package_table(graded_programs)
    is_met = all(grade_package.is_met(grade, each) for each, grade in graded_programs)
    return ALL_ACCEPTED if is_met else NOT_ALL


def _named(path: Path, folder: Path, package: Path) -> Path:
    """Return the path under which a program is shown: below the package's own, if that was unpacked to a folder."""
    return package / path.relative_to(folder) if path.is_relative_to(folder) else path


class _Graded:
    """The grades so far."""

    def __init__(self, solutions: Sequence[Solution], progress: Progress, *, as_json: bool) -> None:
        self._solutions = {solution.id: solution for solution in solutions}
        self._grades: dict[str, Grade] = {}
        self._progress = progress
        self._task = progress.add_task("grading", total=len(solutions))
        self._as_json = as_json

    def take(self, grade: Grade) -> None:
        """Store a grade and show progress. Raise UnavailableError for an unknown id."""
        if grade.id not in self._solutions:
            raise UnavailableError("the service answered for a submission that was not sent")
        self._grades[grade.id] = grade
        self._progress.advance(self._task)
        if self._as_json:
            print(grade_output.json_line(self._solutions[grade.id].path, grade), flush=True)

    def rows(self) -> list[tuple[Path, Grade]]:
        """Return each file with its grade. Raise UnavailableError if grades are missing."""
        missing = len(self._solutions) - len(self._grades)
        if missing:
            raise UnavailableError(
                f"the service ended the connection with {missing} of {len(self._solutions)} not graded"
            )
        return [(solution.path, self._grades[solution.id]) for solution in self._solutions.values()]


def _grader(options: GradeOptions, settings: Settings) -> Callable[[bytes, Callable[[Grade], None]], None]:
    """Return the function that grades. Raise ConfigurationError if this machine cannot grade."""
    url = options.url
    if url is not None:
        if options.jobs is not None:
            raise BadRequestError("--jobs applies to grading on this machine; remove it or --url")
        return lambda body, take: remote_grading.grade_all(url, body, take)
    preflight.require(settings)
    here = settings.model_copy(update={"slots": _jobs(options)})
    return lambda body, take: local_grading.grade_all(here, body, take)


def _jobs(options: GradeOptions) -> int:
    """Return the number of slots: one per CPU, and no more than there are solutions."""
    slots = len(os.sched_getaffinity(0)) if options.jobs is None else options.jobs
    if slots < 1:
        raise BadRequestError("--jobs: must be at least 1")
    return min(slots, len(options.solutions))


def _progress(options: GradeOptions) -> Progress:
    """Return a progress bar on stderr, shown on a terminal only and removed at the end."""
    console = Console(stderr=True)
    shown = console.is_terminal and not (options.as_json and sys.stdout.isatty())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not shown)
