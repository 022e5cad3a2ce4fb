"""Kattis packages with validators of their own, interaction, passes and groups."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import InteractiveTest, JudgedTest, JudgeProgram
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


def test_flags_may_differ_by_group_and_by_test(tmp_path: Path) -> None:
    files = {
        "data__testdata.yaml": "output_validator_flags: all\n",
        "data__secret__g1__testdata.yaml": "output_validator_flags: 'one two'\n",
        "data__secret__g2__test_group.yaml": "output_validator_args: [group, 'a b']\n",
        "data__secret__g2__4.in": "",
        "data__secret__g2__4.ans": "",
        "data__secret__g2__4.yaml": "output_validator_args: [own]\nhint: x\n",
    }
    sheet = "validation: custom\nvalidator_flags: first\n"
    problem = problem_in(package(tmp_path, sheet, **{"output_validators__v__v.py": ""}, **files))
    found = {test.input: test.judge_arguments for test in problem.tests or () if isinstance(test, JudgedTest)}
    assert found == {
        "abc\n": ["first", "all"],
        "xyz\n": ["first", "one", "two"],
        "pq\n": ["first", "group", "a b"],
        "": ["first", "own"],
    }
    assert isinstance(problem.checker, JudgeProgram)
    assert problem.checker.arguments == []


MORE = {"data__secret__g2__4.in": "", "data__secret__g2__4.ans": ""}
NEWER = "problem_format_version: 2025-09\ntype: scoring\n"
JUDGED = {"output_validator__v.py": VALIDATOR}
GROUPS: list[tuple[str, dict[str, str], list[tuple[str, float, str, list[str]]], float | None]] = [
    # g2 has two tests: each gives five points, all of which need both
    ("type: scoring\n", {"data__secret__g2__testdata.yaml": "accept_score: 5"},
     [("sample", 0.0, "min", []), ("secret/g1", 1.0, "sum", []), ("secret/g2", 10.0, "all", [])], None),
    ("type: scoring\n", {"data__secret__g2__testdata.yaml": "accept_score: 5\ngrader_flags: sum always_accept"},
     [("sample", 0.0, "min", []), ("secret/g1", 1.0, "sum", []), ("secret/g2", 10.0, "sum", [])], None),
    ("type: scoring\n", {"data__testdata.yaml": "accept_score: 7\nrange: -inf +inf", "data__secret__g2__testdata.yaml":
     "grader_flags: max accept_if_any_accepted"},
     [("sample", 0.0, "min", []), ("secret/g1", 7.0, "sum", []), ("secret/g2", 7.0, "max", [])], None),
    ("validation: custom score\n", {"output_validators__v.py": VALIDATOR, "data__secret__g1__testdata.yaml":
     "range: 0 30", "data__secret__g2__testdata.yaml": "grader_flags: min\nrange: 0 70"},
     [("sample", 0.0, "min", []), ("secret/g1", 30.0, "sum", []), ("secret/g2", 70.0, "min", [])], 70.0),
    # a draft of the newer format has the settings of the older one
    ("problem_format_version: 2023-07-draft\ntype: scoring\n", {"data__secret__testdata.yaml": "grader_flags: sum",
     "data__secret__g1__testdata.yaml": "range: 0 30\ngrader_flags: min", "data__secret__g2__testdata.yaml":
     "accept_score: 70\ngrader_flags: min"},
     [("sample", 0.0, "min", []), ("secret/g1", 30.0, "min", []), ("secret/g2", 70.0, "min", [])], None),
    (NEWER, {"data__secret__g1__test_group.yaml": "max_score: 40\nrequire_pass: sample",
             "data__secret__g2__test_group.yaml": "max_score: 60\nscore_aggregation: sum\nrequire_pass: [secret/g1]"},
     [("sample", 0.0, "all", []), ("secret/g1", 40.0, "all", ["sample"]), ("secret/g2", 60.0, "sum", ["secret/g1"])],
     None),
    (NEWER, JUDGED | {"data__secret__g1__test_group.yaml": "max_score: 40\nscore_aggregation: min",
                      "data__secret__g2__test_group.yaml": "max_score: 60\nscore_aggregation: sum"},
     [("sample", 0.0, "all", []), ("secret/g1", 40.0, "min", []), ("secret/g2", 60.0, "sum", [])], 30.0),
]  # fmt: skip


@pytest.mark.parametrize(("sheet", "files", "groups", "full_score"), GROUPS)
def test_groups_of_both_formats(
    tmp_path: Path, sheet: str, files: dict[str, Any], groups: list[Any], full_score: float | None
) -> None:
    problem = problem_in(package(tmp_path, sheet, **MORE, **files))
    assert [(each.name, each.points, each.rule, each.requires) for each in problem.groups or ()] == groups
    last = (problem.tests or [])[-1]
    assert isinstance(last, JudgedTest)
    assert last.full_score == full_score


def test_limits_of_validators_and_of_outputs_are_read(tmp_path: Path) -> None:
    sheet = "type: multi-pass\nlimits: {output: 8, validation_time: 20, validation_memory: 512, validation_passes: 3}\n"
    problem = problem_in(package(tmp_path, sheet, **JUDGED))
    assert isinstance(problem.checker, JudgeProgram)
    assert (problem.checker.limits.cpu_seconds, problem.checker.limits.memory_bytes) == (20.0, 512 << 20)
    assert problem.limits is not None
    assert problem.limits.output_bytes == 8 << 20


@pytest.mark.parametrize(
    ("place", "text"), [(".timelimit", "3\n"), ("domjudge-problem.ini", "color='#f00'\ntimelimit = '3'\n")]
)
def test_a_time_limit_may_be_beside_the_sheet(tmp_path: Path, place: str, text: str) -> None:
    problem = problem_in(package(tmp_path, "name: x\n", **{place: text}))
    assert problem.limits is not None
    assert problem.limits.cpu_seconds == 3.0


def test_a_package_of_domjudge_needs_no_sheet(tmp_path: Path) -> None:
    settings = "timelimit = 2.5\r\nspecial_compare_args='case_sensitive'\n"
    folder = package(tmp_path, "", **{"domjudge-problem.ini": settings})
    (folder / "problem.yaml").unlink()
    assert packages.is_package(folder)
    problem = problem_in(folder)
    assert problem.checker == kattis.checker("case_sensitive")
    assert problem.limits is not None
    assert problem.limits.cpu_seconds == 2.5


@pytest.mark.parametrize("name", ["validate.cpp", "validate.cc", "validate.C"])
def test_cpp_is_of_the_standard_with_which_kattis_compiles(tmp_path: Path, name: str) -> None:
    files: dict[str, Any] = {f"output_validators__v__{name}": "int main() {}"}
    problem = problem_in(package(tmp_path, "validation: custom\n", **files))
    assert isinstance(problem.checker, JudgeProgram)
    assert problem.checker.language == "cpp23"


def test_flags_may_be_a_list(tmp_path: Path) -> None:
    sheet = "validation: custom\nvalidator_flags: [a b, 3]\n"
    problem = problem_in(package(tmp_path, sheet, **{"output_validators__v.py": VALIDATOR}))
    assert isinstance(problem.checker, JudgeProgram)
    assert problem.checker.arguments == ["a b", "3"]


@pytest.mark.parametrize(
    ("sheet", "files", "reason"),
    [
        ("validation: custom\n", {}, "0 validators"),
        ("validation: custom\n", {"output_validators__a.py": "", "output_validators__b.py": ""}, "2 validators"),
        ("validation: custom\n", {"output_validators__a__build": "", "output_validators__a__run": ""}, "script"),
        ("type: submit-answer\n", {}, "submit-answer"),
        ("type: [scoring, quantum]\n", {}, "'quantum', which is not known"),
        ("validation: custom remote\n", {"output_validators__v.py": ""}, "'remote', which is not known"),
        ("grading: {objective: min}\n", {}, "least score"),
        ("name: x\n", {"domjudge-problem.ini": "special_compare = boolfind_cmp"}, "'boolfind_cmp' of a DOMjudge"),
        ("name: x\n", {"domjudge-problem.ini": "special_run = 'talk'"}, "special_run"),
        ("name: x\n", {"include__cpp__grader.cpp": ""}, "folder include"),
        ("name: x\n", {"static_validator__v.py": ""}, "static_validator"),
        ("name: x\n", {"data__secret__testdata.yaml": "colour: red"}, "'colour', which is not known"),
        ("name: x\n", {"data__secret__testdata.yaml": "grading: custom"}, "a grader of the package"),
        ("name: x\n", {"data__secret__testdata.yaml": "grader_flags: always_accept"}, "although tests failed"),
        ("name: x\n", {"data__secret__testdata.yaml": "output_validator_flags: case_sensitive"}, "different ways"),
        ("name: x\n", {"data__secret__g1__2.yaml": "args: [-v]"}, "gives its program arguments"),
        ("name: x\n", {"data__secret__g1__2.yaml": "max_score: 3"}, "'max_score', which is not known"),
        ("name: x\n", {"data__secret__g1__2.files__a.txt": ""}, r"gives its program 2\.files"),
        ("type: scoring\n", {"data__secret__testdata.yaml": "reject_score: 1"}, "wrong outputs"),
        ("type: scoring\n", {"data__secret__testdata.yaml": "grader_flags: min"}, "combined by min"),
        ("type: scoring\n", {"data__secret__testdata.yaml": "accept_score: many"}, "no number of points"),
        ("validation: custom score\n", {"output_validators__v.py": "", **MORE}, "greatest score of a test"),
        (NEWER, {}, "no greatest value"),
        (NEWER, {"data__secret__test_group.yaml": "score_aggregation: pass-fail"}, "combined by pass-fail"),
        (NEWER, {"data__secret__g1__test_group.yaml": "max_score: 1\nrequire_pass: g9"}, "requires 'g9'|no greatest"),
        (NEWER, {"data__secret__g1__test_group.yaml": "static_validation_score: 1"}, "score the source"),
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


def test_a_program_that_is_accepted_in_part_is_met_by_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = "import sys\nopen(sys.argv[3] + 'score.txt', 'w').write(input())\nsys.exit(42)\n"
    sheet = "type: scoring\nvalidation: custom score\n"
    groups = {f"data__secret__g{number}__testdata.yaml": "range: 0 10\n" for number in (1, 2)}
    folder = package(tmp_path, sheet, **groups, **{"output_validators__v.py": half})
    for name in ("accepted", "wrong_answer", "run_time_error"):
        shutil.rmtree(folder / "submissions" / name)
    for name, points in (("half", 5), ("whole", 10)):
        write(folder, {f"submissions/partially_accepted/{name}.py": f"print({points})\n"})
    assert grade(folder) == 1
    said = capsys.readouterr().out
    assert "1 of 2 as expected" in said
