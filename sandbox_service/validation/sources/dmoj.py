"""Reads DMOJ problems: folders with an `init.yml`, whose checkers are given by name.

Tests are files beside it or in a zip archive; `dmoj_checkers` reads checkers. Graders in Python, generators of tests,
and interactors that are not called as testlib's are refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram, Limits
from sandbox_service.validation.sources import (
    bounds,
    dmoj_checkers,
    fields,
    optional_libraries,
    packages,
    prompts,
    scored_tests,
)
from sandbox_service.validation.sources.package_parts import check_names, rows_of, test_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed, Row
from sandbox_service.validation.sources.scored_tests import Grouped, Place, Policy

SHEET = "init.yml"
STATEMENTS = ("statement.md", "README.md", "problem.md")
NOT_RUN = ("custom_judge", "signature_grader", "generator", "file_io", "grader")
OF_A_PROBLEM = frozenset(
    ("archive", "test_cases", "pretest_test_cases", "checker", "points", "hints", "meta", "unbuffered", "binary_data",
     "symlinks", "short_circuit", "interactive", "wall_time_factor", "output_prefix_length", "output_limit_length",
     "time_limit", "memory_limit")
)  # fmt: skip
OF_A_BATCH = frozenset(("batched", "points", "dependencies"))
OF_A_TEST = frozenset(("checker", "binary_data", "output_prefix_length", "output_limit_length"))


_END_OF_LINE = re.compile("\r\n?")


def is_package(folder: Path) -> bool:
    """Return whether the folder is a DMOJ problem."""
    return (folder / SHEET).is_file()


def rows(folders: list[Path]) -> Iterator[Found | Malformed]:
    """Yield a row for each problem."""
    yaml = optional_libraries.need("yaml", "a DMOJ problem", "safe_load")
    return rows_of(folders, "a DMOJ problem", lambda folder: _row(folder, yaml), (yaml.YAMLError,))


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that `rows` sets."""
    return {"dmoj", "init", "tests"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If it is judged in a way that is not known here.
    """
    init = fields.mapping(row, "init")
    _check_names(init, NOT_RUN, OF_A_PROBLEM, "the problem")
    files, talks = fields.mapping(row, "files"), init.get("interactive")
    interactor = dmoj_checkers.bridged("interactor", talks, files) if talks else None
    checker = None if interactor else dmoj_checkers.read(init.get("checker"), files)
    given = fields.listing(row, "tests")
    for each in given:
        _check_names(each.get("asks") or {}, NOT_RUN, OF_A_TEST, "a test")
        if (own := (each.get("asks") or {}).get("checker")) is not None and own != init.get("checker"):
            raise ValueError("the tests have different checkers")
        if each["output"] is None and not (interactor or isinstance(checker, JudgeProgram)):
            raise ValueError("a test has no out, with which its checker compares")
    if not given:
        raise ValueError("the problem has no tests")
    groups = _groups(given, fields.listing(row, "batches"))
    tests = [
        test_of(
            {**test, "output": test["output"] or ""},
            more,
            is_interactive=interactor is not None,
            is_judged=isinstance(checker, JudgeProgram),
        )
        for test, more in zip(given, groups.of_tests(has_checker=False), strict=True)
    ]
    return Problem(
        id=f"dmoj/{fields.text(row, 'dmoj')}",
        prompt=prompts.to_solve(fields.text(row, "statement")),
        tests=tests,
        checker=checker,
        interactor=interactor,
        groups=list(groups.groups) or None,
        limits=_limits(init),
        source="dmoj",
    )


def _check_names(given: Mapping[str, Any], not_run: Sequence[str], known: frozenset[str], whose: str) -> None:
    """Refuse names that are not known: they may decide verdicts."""
    for name in not_run:
        if given.get(name):
            raise ValueError(f"it has a {name}, which is not run here")
    check_names(SHEET, given, known.union(not_run), whose)


def _limits(init: Row) -> Limits | None:
    given = {"time_limit_s": init.get("time_limit"), "memory_limit_kb": init.get("memory_limit")}
    found = bounds.limits(given, least_memory=bounds.LEAST_OF_PACKAGES)
    if not init.get("output_limit_length"):
        return found
    return (found or Limits()).model_copy(update={"output_bytes": int(init["output_limit_length"])})


def _groups(tests: Sequence[Row], batches: Sequence[Row]) -> Grouped:
    """The groups: each batch, whose worst test decides, and all other tests. None if points are weights alone."""
    places = [Place(str(each["batch"] or scored_tests.TESTS), _points(each)) for each in tests]
    if not batches and all(place.points for place in places):
        return Grouped((), tuple(Place("", place.points) for place in places))
    policies = [
        Policy(f"batch {number}", "min", _points(each), tuple(f"batch {one}" for one in each.get("dependencies") or ()))
        for number, each in enumerate(batches, 1)
    ]
    parts = {
        policy.name: (policy.points or 0.0) / len(each["batched"])
        for policy, each in zip(policies, batches, strict=True)
    }
    weighed = [Place(place.group, parts.get(place.group, place.points)) for place in places]
    return scored_tests.grouped(weighed, [*policies, Policy(scored_tests.TESTS, "sum", None)])


def _points(given: Row) -> float:
    points = given.get("points")
    return 1.0 if points is None else float(points)


# --- from a folder to a row


def _row(folder: Path, yaml: Any) -> dict[str, Any]:
    packages.check_files(folder)
    init = yaml.safe_load((folder / SHEET).read_bytes())
    if not isinstance(init, dict):
        raise ValueError(f"{SHEET} is not a mapping of names to values")
    read = _Archive(folder, str(init.get("archive") or ""))
    statement = next((folder / name for name in STATEMENTS if (folder / name).is_file()), None)
    sources = [each for each in folder.iterdir() if each.suffix in (".cpp", ".cc", ".c", ".py", ".java", ".h", ".hpp")]
    return {
        "dmoj": folder.name,
        "init": init,
        "statement": packages.source_of(statement) if statement else "",
        "tests": [_read(each, read, is_binary=bool(init.get("binary_data"))) for each in _flat(init.get("test_cases"))],
        "batches": [each for each in init.get("test_cases") or () if "batched" in each],
        "files": {each.name: packages.source_of(each) for each in sources},
    }  # fmt: skip


def _flat(found: object) -> Iterator[Row]:
    """The tests of a list, those of batches in their places and with the batch's name."""
    if not isinstance(found, list):
        raise ValueError("test_cases is no list: tests that are found by patterns are not known here")
    batches = 0
    for each in _mappings(found, "test_cases"):
        if "batched" in each:
            batches += 1
            _check_names(each, (), OF_A_BATCH, "a batch")
            yield from ({**one, "batch": f"batch {batches}"} for one in _mappings(each["batched"], "batched"))
        else:
            yield each


def _mappings(found: object, name: str) -> list[Row]:
    """Return a list of tests. Raises ValueError if it is none."""
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{name} is not a list of tests with names and values")
    return found


def _read(test: Row, read: _Archive, *, is_binary: bool) -> Row:
    """Return a test. One that a program judges may have no output, and any test no input.

    All ends of lines are those of Unix, as on DMOJ, unless the problem or the test says that its data are binary.

    Raises:
        ValueError: a generator makes it.
    """
    if not {"in", "out"} & test.keys():
        raise ValueError("a test has neither in nor out: tests that a generator makes are not known here")
    own = {name: value for name, value in test.items() if name not in ("in", "out", "points", "batch")}
    places = {"points": test.get("points"), "batch": test.get("batch"), "asks": own}
    is_binary = is_binary or bool(test.get("binary_data"))
    given, wanted = (read(str(test[name])) if test.get(name) else None for name in ("in", "out"))
    if not is_binary:
        given, wanted = (text and _END_OF_LINE.sub("\n", text) for text in (given, wanted))
    return {"input": given or "", "output": wanted, **places}


class _Archive:
    """The files of tests: in a zip archive, or in the folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._zip = zipfile.ZipFile(folder / name) if name else None
        if self._zip is not None and (size := sum(each.file_size for each in self._zip.infolist())) > MOST_ROW_BYTES:
            raise ValueError(f"{name} has {size} bytes, and {MOST_ROW_BYTES} are the most")

    def __call__(self, name: str) -> str:
        """Return the text of a file."""
        if self._zip is not None:
            return self._zip.read(name).decode()
        place = self._folder / name
        if not place.resolve().is_relative_to(self._folder.resolve()):
            raise ValueError(f"{name} leads out of the problem")
        return packages.text_of(place)


READER = Reader("dmoj", "DMOJ problems, with checkers by name", is_mine, make)
