"""Packages of Polygon and of DMOJ: checkers, interactors, tests, and solutions by tag. The packages are made here."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, InteractiveTest, JudgeProgram, StdinTest
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed, dmoj

pytest.importorskip("yaml")

XML = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<problem revision="3" short-name="double">
  <judging cpu-name="x" input-file="" output-file="">
    <testset name="tests">
      <time-limit>1500</time-limit><memory-limit>268435456</memory-limit><test-count>2</test-count>
      <input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>
    </testset>
  </judging>
  <assets>
    <checker name="own" type="testlib"><source path="files/check.cpp" type="cpp.g++17"/></checker>
    <solutions>
      <solution tag="main"><source path="solutions/right.py" type="python.3"/></solution>
      <solution tag="wrong-answer"><source path="solutions/four.cpp" type="cpp.g++17"/></solution>
      <solution tag="time-limit-exceeded-or-accepted"><source path="solutions/slow.py" type="python.3"/></solution>
    </solutions>
  </assets>
  <tags><tag value="math"/></tags>
</problem>
"""
POLYGON = {
    "problem.xml": XML,
    "statements/russian/problem-properties.json": '{"name": "x", "legend": "y"}',
    "statements/english/problem-properties.json": '{"name": "Double", "legend": "Double a number.", "input": "One.",'
    ' "output": "Its double.", "notes": null}',
    "files/check.cpp": '#include "testlib.h"\n#include "mine.h"\nint main() {}',
    "files/testlib.h": "// the header",
    "files/mine.h": "",
    "files/olymp.sty": "",
    "tests/01": "2\n",
    "tests/01.a": "4\n",
    "tests/02": "3\n",
    "tests/02.a": "6\n",
    "solutions/right.py": "print(2 * int(input()))",
    "solutions/four.cpp": "int main() {}",
    "solutions/slow.py": "while True: pass",
}
DMOJ = {
    "init.yml": "test_cases:\n- {in: 1.in, out: 1.out, points: 3}\n"
    "- batched:\n  - {in: 2.in, out: 2.out}\n  points: 7\n"
    "checker: {name: floats, args: {precision: 4}}\n",
    "statement.md": "Halve a number.",
    "1.in": "1\n",
    "1.out": "0.5\n",
    "2.in": "3\n",
    "2.out": "1.5\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / "package" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder / "package"


def one(folder: Path) -> Problem:
    (found,) = sources.read(str(folder))
    assert isinstance(found, Problem), found
    return found


def refused(folder: Path) -> str:
    (found,) = sources.read(str(folder))
    assert isinstance(found, Malformed), found
    return found.reason


def test_a_polygon_package_brings_its_checker_and_headers(tmp_path: Path) -> None:
    made = one(written(tmp_path, POLYGON))
    assert (made.id, made.source) == ("polygon/double", "polygon")
    assert isinstance(made.checker, JudgeProgram)
    assert (made.checker.protocol, made.checker.language, made.checker.main) == ("testlib", "cpp", "check.cpp")
    assert set(made.checker.files or {}) == {"check.cpp", "testlib.h", "mine.h"}
    tests = [(test.input, test.output) for test in made.tests or () if isinstance(test, StdinTest)]
    assert tests == [("2\n", "4\n"), ("3\n", "6\n")]
    solutions = [(each.name, each.language, each.verdicts) for each in made.solutions]
    assert solutions == [("main/right.py", "python", ["AC"]), ("wrong-answer/four.cpp", "cpp", ["WA"])]
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (1.5, 256 << 20)
    assert "Double a number.\n\nInput:\nOne." in (made.prompt or "")
    assert made.meta == {"title": "Double", "tags": ["math"]}


def test_a_polygon_package_may_interact(tmp_path: Path) -> None:
    interactor = '<interactor><source path="files/mine.h" type="cpp.g++17"/></interactor>'
    made = one(written(tmp_path, POLYGON | {"problem.xml": XML.replace("<solutions>", f"{interactor}<solutions>")}))
    assert made.interactor is not None
    assert made.checker is not None
    assert all(isinstance(test, InteractiveTest) for test in made.tests or ())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (("<test-count>2", "<test-count>3"), "test 3 is not in the package; use a full package"),
        (('input-file=""', 'input-file="in.txt"'), "use files"),
        (("files/check.cpp", "../../outside"), "is outside of the package"),
        (("<problem ", '<!DOCTYPE p [<!ENTITY a "b">]><problem '), "declares entities"),
        (("</problem>", ""), "no element found"),
        (("<assets>", "<other>"), "mismatched tag"),
    ],
)
def test_a_polygon_package_that_cannot_be_read_is_refused(tmp_path: Path, changed: tuple[str, str], why: str) -> None:
    assert why in refused(written(tmp_path, POLYGON | {"problem.xml": XML.replace(*changed, 1)}))


def test_a_dmoj_problem_has_batches_and_a_checker_by_name(tmp_path: Path) -> None:
    made = one(written(tmp_path, DMOJ))
    assert (made.id, made.checker) == ("dmoj/package", Checker(type="tokens", float_tolerance=1e-4))
    tests = [test for test in made.tests or () if isinstance(test, StdinTest)]
    assert [(test.input, test.weight) for test in tests] == [("1\n", 3.0), ("3\n", 7.0)]


def test_a_dmoj_problem_may_have_its_tests_in_an_archive(tmp_path: Path) -> None:
    folder = written(tmp_path, DMOJ | {"init.yml": "archive: tests.zip\ntest_cases: [{in: a/1, out: a/2}]\n"})
    with zipfile.ZipFile(folder / "tests.zip", "w") as archive:
        archive.writestr("a/1", "5\n")
        archive.writestr("a/2", "2.5\n")
    made = one(folder)
    assert made.checker is None
    assert [test.output for test in made.tests or () if isinstance(test, StdinTest)] == ["2.5\n"]


RELATIVE = {"name": "floats", "args": {"precision": 2, "error_mode": "relative"}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ("standard", None),
        ("identical", Checker(type="exact")),
        ("rstripped", Checker(type="lines")),
        ("sorted", Checker(type="unordered_lines")),
        ("unordered", Checker(type="unordered_tokens")),
        ("floatsabs", Checker(type="tokens", absolute_tolerance=1e-6)),
        (RELATIVE, Checker(type="tokens", relative_tolerance=0.01)),
    ],
)
def test_dmojs_checkers_by_name(given: Any, expected: Checker | None) -> None:
    assert dmoj.checker_of(given, {}) == expected


def test_a_bridged_checker_is_a_program() -> None:
    given = {"name": "bridged", "args": {"files": ["c.cpp", "x.h"], "type": "testlib"}}
    made = dmoj.checker_of(given, {"c.cpp": "int main() {}", "x.h": ""})
    assert isinstance(made, JudgeProgram)
    assert (made.protocol, made.main, made.language) == ("testlib", "c.cpp", "cpp")
    with pytest.raises(ValueError, match=r"x\.h is not there"):
        dmoj.checker_of(given, {"c.cpp": ""})


COCI = {"name": "bridged", "args": {"type": "coci"}}


@pytest.mark.parametrize("given", ["linecount", "own.py", {"name": "easy"}, COCI])
def test_a_checker_that_compares_in_another_way_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"DMOJ's|not known here"):
        dmoj.checker_of(given, {})


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        ("[]", "not a mapping"),
        ("test_cases: {input_format: x}", "found by patterns"),
        ("test_cases: [{in: ../../x, out: 1.out}]", "leads out of the problem"),
        ("archive: 1.in\ntest_cases: []", "not a zip file"),
        ("test_cases: []", "no tests"),
        ("custom_judge: x.py\ntest_cases: []", "custom_judge"),
    ],
)
def test_a_dmoj_problem_that_cannot_be_read_is_refused(tmp_path: Path, sheet: str, why: str) -> None:
    assert why in refused(written(tmp_path, DMOJ | {"init.yml": sheet}))
