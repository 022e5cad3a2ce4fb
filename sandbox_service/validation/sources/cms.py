"""Reads tasks of CMS in the Italian format: folders with `task.yaml`, tests, `gen/GEN` and perhaps a checker.

The tests must have been generated. Subtasks become groups whose worst test decides. A checker (`check` or `cor`) is
called with the input, the right output and the participant's, and prints a part from 0 to 1. Tasks whose programs are
compiled with a grader, talk to a manager, or are outputs, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import JudgeProgram
from sandbox_service.validation.sources import (
    bounds,
    fields,
    optional_libraries,
    packages,
    programs,
    prompts,
    scored_tests,
)
from sandbox_service.validation.sources.kattis_judges import LANGUAGES, language_of
from sandbox_service.validation.sources.package_parts import rows_of, test_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Found, Malformed, Row
from sandbox_service.validation.sources.scored_tests import Grouped, Place, Policy

SHEET = "task.yaml"
CHECKERS = (("check", "checker"), ("cor", "correttore"))
STATEMENTS = ("statement", "testo")
RIGHT = ("solution", "soluzione")
WITHOUT_SOURCE = "its checker is there without its source"
ALL_POINTS = 100.0
KNOWN = frozenset(
    """
    name title nome nome_breve primary_language n_input total_value score_precision score_mode
    public_testcases risultati feedback_level tags syllabuslevel difficulty memlimit timeout time_limit
    memory_limit infile outfile score_type score_type_parameters task_type output_only max_submission_number
    max_user_test_number min_submission_interval min_user_test_interval attachments
    """.split()
)

_SUBTASK = re.compile(r"#\s*ST:\s*([\d.]+)", re.ASCII)
_COPY = re.compile(r"#\s*COPY:")
_NUMBER = re.compile(r"input(\d+)\.txt", re.ASCII)


def is_package(folder: Path) -> bool:
    """Return whether the folder is a task."""
    return (folder / SHEET).is_file()


def rows(folders: list[Path]) -> Iterator[Found | Malformed]:
    """Yield a row for each task."""
    yaml = optional_libraries.need("yaml", "a CMS task", "safe_load")
    return rows_of(folders, "a CMS task", lambda folder: _row(folder, yaml), (yaml.YAMLError,))


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that `rows` sets."""
    return {"cms", "sheet", "subtasks"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If it is judged in a way that is not known here.
    """
    sheet, given = fields.mapping(row, "sheet"), fields.listing(row, "tests")
    _check(sheet, row)
    checker = _checker(row.get("checker"))
    groups = _groups(sheet, fields.listing(row, "subtasks"), len(given), has_checker=checker is not None)
    tests = [
        test_of(test, more, is_interactive=False, is_judged=checker is not None)
        for test, more in zip(given, groups.of_tests(has_checker=False), strict=True)
    ]
    return Problem(
        id=f"cms/{fields.text(row, 'cms')}",
        prompt=prompts.to_solve(fields.text(row, "statement")),
        tests=tests,
        checker=checker,
        groups=list(groups.groups) or None,
        limits=bounds.limits(
            {
                "time_limit_s": sheet.get("time_limit", sheet.get("timeout")),
                "memory_limit_mb": sheet.get("memory_limit", sheet.get("memlimit")),
            },
            least_memory=bounds.LEAST_OF_PACKAGES,
        ),
        solutions=[_solution(each) for each in fields.listing(row, "solutions")],
        source="cms",
        meta=fields.meta(title=sheet.get("title", sheet.get("nome"))),
    )


def _check(sheet: Row, row: Row) -> None:
    """Raise ValueError for a task that is judged in a way that is not known here."""
    if unknown := [name for name in sheet if name not in KNOWN and not str(name).startswith("token_")]:
        raise ValueError(f"{SHEET} has {unknown[0]!r}, which is not known here")
    if sheet.get("output_only") or str(sheet.get("task_type") or "Batch") != "Batch":
        raise ValueError(f"its type is {sheet.get('task_type') or 'OutputOnly'}, and only Batch is known here")
    if used := [name for name in ("infile", "outfile") if sheet.get(name, "a default name") != ""]:
        raise ValueError(f"its programs use files ({used[0]}), not standard input and output")
    if companions := fields.listing(row, "companions"):
        raise ValueError(f"its programs are compiled with sol/{companions[0]}, which is not supported")
    if row.get("unread_checker"):
        raise ValueError(WITHOUT_SOURCE)


def _checker(found: Any) -> JudgeProgram | None:
    if not found:
        return None
    return JudgeProgram(
        type="program",
        language=language_of(found["name"], found["code"]),
        protocol="codeforces-python",  # the same arguments and the same answer
        main=found["name"],
        files={found["name"]: found["code"]},
    )


def _groups(sheet: Row, subtasks: list[Any], count: int, *, has_checker: bool) -> Grouped:
    """The groups: those of GEN or of the sheet; without any, all tests have the same part of the points."""
    kind = str(sheet.get("score_type") or ("GroupMin" if subtasks else "Sum"))
    if kind not in ("Sum", "GroupMin", "GroupMul") or (kind == "GroupMul" and has_checker):
        raise ValueError(f"its points are combined as {kind}, which is not known here")
    if kind == "Sum":
        return scored_tests.grouped([Place("", ALL_POINTS / count)] * count, [])
    if parameters := sheet.get("score_type_parameters"):
        subtasks = parameters
    if not all(_is_subtask(each) for each in subtasks):
        raise ValueError("its subtasks name their tests by a pattern, which is not known here")
    total, is_whole = sum(tests for _, tests in subtasks), all(tests >= 0 and tests % 1 == 0 for _, tests in subtasks)
    if total != count or not is_whole:
        raise ValueError(f"its subtasks have {total} tests, and there are {count}")
    places = [Place(f"subtask {number}", None) for number, (_, tests) in enumerate(subtasks) for _ in range(int(tests))]
    policies = [Policy(f"subtask {number}", "min", float(points)) for number, (points, _) in enumerate(subtasks)]
    return scored_tests.grouped(places, policies)


def _is_subtask(each: Any) -> bool:
    return isinstance(each, list) and len(each) == 2 and all(isinstance(one, (int, float)) for one in each)


def _solution(found: Mapping[str, str]) -> Solution:
    return programs.one(found["code"], language=language_of(found["name"], found["code"]), name=found["name"])


# --- from a folder to a row


def _row(folder: Path, yaml: Any) -> dict[str, Any]:
    packages.check_files(folder)
    sheet = yaml.safe_load((folder / SHEET).read_bytes())
    if not isinstance(sheet, dict):
        raise ValueError(f"{SHEET} is no mapping of names to values")
    checker, unread = _checker_in(folder)
    gen = folder / "gen" / "GEN"
    sources = sorted(each for each in (folder / "sol").glob("*") if each.is_file())
    return {
        "cms": str(sheet.get("name") or sheet.get("nome_breve") or folder.name),
        "sheet": sheet,
        "statement": _statement(folder),
        "tests": _tests(folder),
        "subtasks": _subtasks(packages.text_of(gen)) if gen.is_file() else [],
        "checker": checker,
        "unread_checker": unread,
        "companions": [each.name for each in sources if each.stem in ("grader", "stub")],
        "solutions": [
            {"name": each.name, "code": packages.text_of(each)}
            for each in sources
            if each.stem in RIGHT and each.suffix[1:] in LANGUAGES
        ],
    }


def _checker_in(folder: Path) -> tuple[dict[str, str] | None, bool]:
    """The checker's source, and whether there is a checker without one."""
    found = [each for part, stem in CHECKERS for each in sorted((folder / part).glob(f"{stem}*")) if each.is_file()]
    sources = [each for each in found if each.suffix[1:] in LANGUAGES]
    if not sources:
        return None, bool(found)
    return {"name": sources[0].name, "code": packages.text_of(sources[0])}, False


def _statement(folder: Path) -> str:
    found = [
        each
        for part in STATEMENTS
        for kind in ("md", "txt", "tex")
        for each in sorted((folder / part).glob(f"*.{kind}"))
    ]
    return packages.text_of(found[0]) if found else ""


def _tests(folder: Path) -> list[Row]:
    numbers = sorted(int(found[1]) for each in folder.glob("input/*") if (found := _NUMBER.fullmatch(each.name)))
    if not numbers:
        raise ValueError("it has no tests in input: generate them first")
    if numbers != list(range(len(numbers))):
        raise ValueError(f"its inputs are not numbered from 0 to {len(numbers) - 1}")
    return [
        {
            "input": packages.text_of(folder / "input" / f"input{number}.txt"),
            "output": packages.text_of(folder / "output" / f"output{number}.txt"),
        }
        for number in numbers
    ]


def _subtasks(text: str) -> list[list[float]]:
    """The subtasks of a GEN file: points, and the number of tests, which is that of lines with arguments or copies."""
    found: list[list[float]] = []
    for line in map(str.strip, text.splitlines()):
        if subtask := _SUBTASK.match(line):
            found.append([float(subtask[1]), 0])
        elif line.partition("#")[0].strip() or _COPY.match(line):
            if not found:
                return []
            found[-1][1] += 1
    return found


READER = Reader("cms", "CMS tasks in the Italian format, with subtasks and checkers", is_mine, make)
