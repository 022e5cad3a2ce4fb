"""Reads a problem package for `proctor grade`: its tests and judge, and its programs with the verdicts that are right.

In Kattis' packages programs are in folders of `submissions` that are named by their verdict; a program may also name
verdicts for DOMjudge. A program of several files has a folder of its own; the first file whose name begins with `main`,
or else the first one, is the one that is run. Polygon's packages and tasks of CMS name their programs themselves.
Problems of DMOJ and LiveCodeBench Pro have none.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_service.commands.grade_input import Solution
from sandbox_service.errors import BadRequestError, ConfigurationError, UnsupportedLanguageError
from sandbox_service.formats.problem import Problem
from sandbox_service.formats.problem import Solution as ProblemSolution
from sandbox_service.judging.scoring import share_of
from sandbox_service.languages import find
from sandbox_service.schema import Grade, Verdict
from sandbox_service.validation.sources import (
    archives,
    cms,
    dmoj,
    kattis,
    kattis_submissions,
    lightcp,
    packages,
    polygon,
)
from sandbox_service.validation.sources.kattis_judges import HEADERS, language_of
from sandbox_service.validation.sources.kattis_submissions import Demands
from sandbox_service.validation.sources.rows import Malformed

SUBMISSIONS = "submissions"
WITHOUT_STATEMENT = "The package has no statement."  # which grading does not need, and a problem does
KINDS = (
    (packages, kattis.READER),
    (polygon, polygon.READER),
    (dmoj, dmoj.READER),
    (cms, cms.READER),
    (lightcp, lightcp.READER),
)
"""The kinds of packages: the module that makes a row of a folder, and the reader that makes a problem of the row."""


@dataclass(frozen=True)
class PackageSolution(Solution):
    """A program of a package, its language, further files, the verdicts that its folder names, and further demands."""

    language_name: str = "python"
    files: dict[str, str] = field(default_factory=dict)
    expected: tuple[str, ...] = ("AC",)
    demands: Demands = field(default_factory=Demands)

    def fields(self) -> dict[str, Any]:
        """Return the fields that complete the problem to a submission."""
        return {"id": self.id, "code": self.text, "files": self.files}

    @property
    def language(self) -> dict[str, str]:
        """The field `language`, by the program's text and the file's suffix."""
        return {"language": self.language_name}


@contextmanager
def opened(path: Path) -> Iterator[Path | None]:
    """Yield the place of a package: a folder, also that of an unpacked zip file, or a file that is read as it is.

    Args:
        path: what may be a package; None is yielded for a file that is none.

    Raises:
        ConfigurationError: the zip file cannot be unpacked.
    """
    if path.is_dir() or lightcp.is_package(path):
        yield path
    elif archives.is_archive(path):
        with archives.unpacked(path) as folder:
            yield folder
    else:
        yield None


def read(folder: Path) -> Problem:
    """Return the problem of a package.

    Args:
        folder: the package, which may be an archive.

    Raises:
        BadRequestError: it is no package, or it is judged in a way that is not known here.
    """
    kind = next((each for each in KINDS if each[0].is_package(folder)), None)
    if kind is None:
        sheets = ", ".join(each[0].SHEET for each in KINDS)
        raise BadRequestError(f"{folder}: not a problem package: there is none of {sheets}")
    try:
        found = next(kind[0].rows([folder]))
        if isinstance(found, Malformed):
            raise BadRequestError(f"{folder}: {found.reason}")
        return kind[1]({**found.row, "statement": found.row["statement"] or WITHOUT_STATEMENT})
    except ConfigurationError as error:
        raise BadRequestError(str(error)) from None
    except ValueError as error:
        raise BadRequestError(f"{folder}: {error}") from None


def shared(problem: Problem) -> dict[str, Any]:
    """Return the fields that all submissions of a problem share."""
    names = ("tests", "checker", "interactor", "limits", "groups")
    return problem.model_dump(mode="json", include=set(names), exclude_none=True)


def solutions(problem: Problem, folder: Path, chosen: Sequence[Path]) -> list[PackageSolution]:
    """Return the programs to grade.

    Args:
        problem: the package's problem.
        folder: the package.
        chosen: programs, or folders of programs; none for all of the package.

    Raises:
        BadRequestError: a program cannot be read, or there is none in a language that is run here.
    """
    if chosen or packages.is_package(folder):
        places = [place for path in chosen or [folder / SUBMISSIONS] for place in _programs(path)]
        rules = kattis_submissions.Rules(kattis_submissions.expectations_of(folder / SUBMISSIONS))
        found = [solution for place in places if (solution := _solution(place, rules)) is not None]
    else:
        found = [solution for each in problem.solutions if (solution := _named(each, folder)) is not None]
    if not found:
        raise BadRequestError(f"{folder}: no program in a language that is run here, for {problem.id}")
    return found


def _named(solution: ProblemSolution, folder: Path) -> PackageSolution | None:
    """Return a program that the package names; None if it is in a language that is not run here."""
    try:
        language = find(solution.language)
    except UnsupportedLanguageError:
        return None
    place, expected = folder / solution.name, tuple(solution.verdicts)
    return PackageSolution(uuid.uuid4().hex, place, solution.code, language.name, {}, expected)


def _programs(path: Path) -> list[Path]:
    """Return the programs at a path: itself, or those in a folder of verdicts, or in all such folders."""
    if path.is_file() or path.parent.name in kattis_submissions.VERDICTS or path.parent.parent.name == SUBMISSIONS:
        return [path]
    if path.name in kattis_submissions.VERDICTS or path.parent.name == SUBMISSIONS:
        return sorted(each for each in path.iterdir() if not packages.is_left_over(each))
    if not path.is_dir():
        raise BadRequestError(f"{path}: no such file")
    return [place for each in sorted(path.iterdir()) if each.is_dir() for place in _programs(each)]


def _solution(place: Path, rules: kattis_submissions.Rules) -> PackageSolution | None:
    """Return a program; None if it is in a language that is not run here, or nothing says what it must get."""
    try:
        texts = {each.name: packages.source_of(each) for each in packages.source_files(place)}
    except OSError as error:
        raise BadRequestError(f"{place}: {error}") from None
    sources = [name for name in texts if name.rpartition(".")[2].lower() not in HEADERS]
    if not sources:
        return None
    folder, entry = place.parent.name, rules.entry_of(place.parent.name, place.name)
    main = next((name for name in sources if name == entry), "")
    main = main or next((name for name in sources if name.lower().startswith("main")), sources[0])
    try:
        language = find(rules.language_of(folder, place.name) or language_of(main, texts[main]))
        verdicts = rules.verdicts_of(folder, place.name, [*texts.values()])
        demands = rules.demands_of(folder, place.name)
    except UnsupportedLanguageError:
        return None
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    is_sorted = place.parent.parent.name == SUBMISSIONS
    expected = tuple(verdicts or (() if is_sorted else ("AC",)))
    if not expected:
        return None
    beside = {name: text for name, text in texts.items() if name != main}
    return PackageSolution(uuid.uuid4().hex, place, texts[main], language.name, beside, expected, demands)


def is_met(grade: Grade, solution: PackageSolution) -> bool:
    """Return whether a program got a verdict that its folder names, and what else its package demands.

    One that is to fail may also be accepted by a judge that awards it a part of a test, as a validator of Kattis does.

    Args:
        grade: the program's.
        solution: the program.
    """
    return _has_verdict(grade, solution.expected) and solution.demands.are_met(grade)


def _has_verdict(grade: Grade, expected: Sequence[str]) -> bool:
    if grade.verdict in expected or kattis_submissions.ANY_FAILURE not in expected or grade.verdict == Verdict.IE:
        return grade.verdict in expected
    return grade.verdict != Verdict.AC or any(share_of(test) < 1.0 for test in grade.tests)
