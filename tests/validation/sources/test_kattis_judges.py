"""Kattis packages with validators of their own, interaction, passes and groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import InteractiveTest, JudgeProgram
from sandbox_service.validation.sources import kattis, packages
from sandbox_service.validation.sources.rows import Found
from tests import markers

VALIDATOR = "import sys\nsys.exit(42 if sorted(input()) == sorted(open(sys.argv[2]).read().strip()) else 43)\n"
INTERACTOR = """import sys
secret = open(sys.argv[1]).read().strip()
print(secret, flush=True)
sys.exit(42 if input() == secret[::-1] else 43)
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def package(folder: Path, sheet: str, **files: str) -> Path:
    usual = {
        "problem.yaml": sheet,
        "problem_statement/problem.en.md": "Solve it.",
        "data/sample/1.in": "abc\n",
        "data/sample/1.ans": "cba\n",
        "data/secret/g1/2.in": "xyz\n",
        "data/secret/g1/2.ans": "zyx\n",
        "data/secret/g2/3.in": "pq\n",
        "data/secret/g2/3.ans": "qp\n",
        "submissions/accepted/right.py": "print(input()[::-1])\n",
        "submissions/wrong_answer/wrong.py": "print('no')\n",
        "submissions/run_time_error/fails.py": "1 / 0\n",
    }
    return write(folder, usual | {name.replace("__", "/"): text for name, text in files.items()})


def problem_in(folder: Path) -> Problem:
    (found,) = packages.rows([folder])
    assert isinstance(found, Found)
    return kattis.READER(found.row)


def test_a_validator_becomes_a_checker_program(tmp_path: Path) -> None:
    files: dict[str, Any] = {"output_validators__mine__validate.py": VALIDATOR}
    problem = problem_in(package(tmp_path, "validation: custom\nvalidator_flags: strict 3\n", **files))
    assert isinstance(problem.checker, JudgeProgram)
    assert (problem.checker.protocol, problem.checker.arguments) == ("kattis", ["strict", "3"])
    assert (problem.checker.program, problem.checker.language, problem.checker.passes) == (VALIDATOR, "python", 1)
    assert [each.verdicts for each in problem.solutions] == [["AC"], ["RTE", "MLE"], ["WA"]]
    assert problem.groups is None


@pytest.mark.parametrize("place", ["output_validators__README.md", "output_validators__mine__README"])
def test_what_is_no_source_is_no_validator(tmp_path: Path, place: str) -> None:
    files: dict[str, Any] = {"output_validators__mine__validate.py": VALIDATOR, place: "How it compares."}
    problem = problem_in(package(tmp_path, "validation: custom\n", **files))
    assert isinstance(problem.checker, JudgeProgram)
    assert problem.checker.program == VALIDATOR


def test_an_interactive_package_gets_an_interactor(tmp_path: Path) -> None:
    files = {"output_validators__validate.py": INTERACTOR}
    problem = problem_in(package(tmp_path, "validation: custom interactive\n", **files))
    assert problem.interactor is not None
    assert all(isinstance(test, InteractiveTest) for test in problem.tests or ())


def test_passes_are_read_from_both_formats(tmp_path: Path) -> None:
    newer = "type: multi-pass\nlimits:\n  validation_passes: 7\n"
    problem = problem_in(package(tmp_path / "a", newer, **{"output_validator__validate.py": VALIDATOR}))
    assert isinstance(problem.checker, JudgeProgram)
    assert problem.checker.passes == 7


def test_groups_are_read_from_testdata(tmp_path: Path) -> None:
    files = {
        "data__secret__g1__testdata.yaml": "range: 0 30\ngrader_flags: min\n",
        "data__secret__g2__testdata.yaml": "accept_score: 70\ngrader_flags: sum\n",
    }
    problem = problem_in(package(tmp_path, "type: scoring\n", **files))
    assert [(each.name, each.points, each.rule) for each in problem.groups or ()] == [
        ("sample", 0.0, "min"),
        ("secret/g1", 30.0, "min"),
        ("secret/g2", 70.0, "sum"),
    ]
    assert [test.group for test in problem.tests or ()] == ["sample", "secret/g1", "secret/g2"]


@pytest.mark.parametrize(
    ("sheet", "files", "reason"),
    [
        ("validation: custom\n", {}, "0 validators"),
        ("validation: custom\n", {"output_validators__a.py": "", "output_validators__b.py": ""}, "2 validators"),
        ("validation: custom\n", {"output_validators__a__build": "", "output_validators__a__run": ""}, "script"),
        ("type: submit-answer\n", {}, "submit-answer"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, sheet: str, files: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        problem_in(package(tmp_path, sheet, **files))


@markers.needs("jail")
def grade(folder: Path, *programs: Path) -> int:
    from sandbox_service.cli import main

    return main(["grade", str(folder), *map(str, programs), "--jobs", "1"])


def test_programs_are_compared_with_their_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = package(tmp_path, "validation: custom interactive\n", **{"output_validators__v__v.py": INTERACTOR})
    assert grade(folder) == 0
    said = capsys.readouterr().out
    assert "3 of 3 as expected" in said
    write(folder, {"submissions/accepted/bad.py": "print(1)\n"})
    assert grade(folder, folder / "submissions" / "accepted") == 1
    said = capsys.readouterr().out
    assert "1 of 2 as expected" in said
    assert "NOT as expected" in said
