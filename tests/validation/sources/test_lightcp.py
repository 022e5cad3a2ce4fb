"""Packages of LiveCodeBench Pro, as folders and as the zip files that are published. They are made here."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from sandbox_service.commands import grade_package
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import InteractiveTest, JudgeProgram, StdinTest
from tests.validation.sources.reading import one, refused

pytest.importorskip("yaml")

SHEET = "type: default\ntime: 1500ms\nmemory: 512m\nchecker: own.cc\nsubtasks:\n  - score: 100\n    n_cases: 2\n"
DOUBLE = {
    "config.yaml": SHEET,
    "statement.txt": "Double a number.",
    "own.cc": '#include "testlib.h"\n#include "mine.h"\nint main() {}',
    "mine.h": "",
    "testdata/1.in": "2\n",
    "testdata/1.ans": "4\n",
    "testdata/2.in": "3\n",
    "testdata/2.ans": "6\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / "2000A" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def packed(folder: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(folder / "2000A.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return folder


def stdin_tests(problem: Problem) -> list[tuple[str, str | list[str]]]:
    return [(test.input, test.output) for test in problem.tests or () if isinstance(test, StdinTest)]


@pytest.mark.parametrize("made_by", [written, packed])
def test_a_package_has_its_tests_checker_and_limits(made_by: object, tmp_path: Path) -> None:
    assert callable(made_by)
    made = one(made_by(tmp_path, DOUBLE))
    assert (made.id, made.language, made.groups) == ("livecodebench-pro/2000A", "cpp", None)
    assert made.prompt is not None
    assert "C++ program" in made.prompt
    assert "Double a number." in made.prompt
    assert "Python" not in made.prompt
    assert stdin_tests(made) == [("2\n", "4\n"), ("3\n", "6\n")]
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (1.5, 512 << 20)
    judge = made.checker
    assert isinstance(judge, JudgeProgram)
    assert (judge.protocol, judge.main, sorted(judge.files or ())) == ("testlib", "own.cc", ["mine.h", "own.cc"])


def test_a_zip_file_is_read_by_its_own_name(tmp_path: Path) -> None:
    assert one(packed(tmp_path, DOUBLE) / "2000A.zip").id == "livecodebench-pro/2000A"


def test_statements_come_from_the_rows_beside_the_packages(tmp_path: Path) -> None:
    row = {"problem_id": "2000A", "problem_title": "Twice", "difficulty": "easy", "platform": "codeforces"}
    other = {"problem_id": "2000B", "problem_statement": "Another."}
    lines = [json.dumps(other), json.dumps(row | {"problem_statement": "Print twice the number."})]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    made = one(packed(tmp_path, {name: text for name, text in DOUBLE.items() if name != "statement.txt"}))
    assert made.prompt is not None
    assert made.prompt.endswith("Print twice the number.")
    assert made.meta == {"title": "Twice", "difficulty": "easy", "platform": "codeforces"}


def test_subtasks_are_groups_and_their_tests_are_counted_on(tmp_path: Path) -> None:
    sheet = SHEET + "  - score: 50\n    cases: [{input: 2.in, output: 2.out}]\n"
    made = one(written(tmp_path, DOUBLE | {"config.yaml": sheet}))
    assert made.groups is not None
    assert [(group.name, group.points, group.rule) for group in made.groups] == [
        ("subtask 1", 100.0, "all"),
        ("subtask 2", 50.0, "all"),
    ]
    assert stdin_tests(made)[2] == ("3\n", "6\n")  # 2.out is looked for as 2.ans first
    counted = SHEET.replace("n_cases: 2", "n_cases: 1") + "  - {score: 1, n_cases: 1}\n"
    made = one(written(tmp_path, DOUBLE | {"config.yaml": counted}))
    assert stdin_tests(made) == [("2\n", "4\n"), ("3\n", "6\n")]


def test_a_problem_may_interact(tmp_path: Path) -> None:
    sheet = SHEET.replace("default", "interactive").replace("checker: own.cc\n", "")
    made = one(written(tmp_path, DOUBLE | {"config.yaml": sheet, "interactor.cc": "int main() {}"}))
    assert made.checker is None
    assert made.interactor is not None
    assert (made.interactor.main, made.interactor.protocol) == ("interactor.cc", "testlib")
    assert all(isinstance(test, InteractiveTest) for test in made.tests or ())


def test_without_a_checker_tokens_are_compared(tmp_path: Path) -> None:
    made = one(written(tmp_path, DOUBLE | {"config.yaml": SHEET.replace("checker: own.cc\n", "")}))
    assert made.checker is None
    assert len(stdin_tests(made)) == 2


def test_a_package_is_graded_without_a_statement(tmp_path: Path) -> None:
    folder = written(tmp_path, {name: text for name, text in DOUBLE.items() if name != "statement.txt"})
    assert refused(folder).endswith("statement is missing or empty")
    assert grade_package.read(folder / "2000A").id == "livecodebench-pro/2000A"


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        ("[]", "not a mapping"),
        ("subtasks: []", "no tests"),
        ("type: leetcode\nsubtasks: [{n_cases: 2}]", "type is 'leetcode'"),
        ("type: interactive\nsubtasks: [{n_cases: 2}]", "interactor.cc is not there"),
        ("checker: absent.cc\nsubtasks: [{n_cases: 2}]", "checker absent.cc is not there"),
        ("checker_type: lua\nsubtasks: [{n_cases: 2}]", "checker_type is 'lua'"),
        ("subtasks: [{n_cases: 3}]", "test 3.in are not in testdata"),
        ("subtasks: [{cases: [{input: ../own.cc, output: 1.ans}]}]", "test ../own.cc are not in testdata"),
        ("subtasks: [{n_cases: 1, time: 1s}, {n_cases: 1, time: 2s}]", "different limits"),
        ("colour: red\nsubtasks: [{n_cases: 2}]", "'colour' for the problem"),
        ("subtasks: [{n_cases: 2, colour: red}]", "'colour' for a subtask"),
        ("subtasks: [{cases: [{input: 1.in, output: 1.ans, colour: red}]}]", "'colour' for a test"),
    ],
)
def test_a_package_that_cannot_be_read_is_refused(tmp_path: Path, sheet: str, why: str) -> None:
    assert why in refused(written(tmp_path, DOUBLE | {"config.yaml": sheet}))
