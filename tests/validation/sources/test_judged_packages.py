"""Packages of Polygon and of DMOJ: checkers, interactors, tests, and solutions by tag. The packages are made here."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.commands import grade_package
from sandbox_service.errors import BadRequestError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Checker, InteractiveTest, JudgeProgram, StdinTest
from sandbox_service.validation.sources import dmoj_checkers, polygon
from tests.validation.sources.reading import one, refused

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
POLYGON_PROGRAMS = {
    "main/right.py": ("python", ("AC",)),
    "wrong-answer/four.cpp": ("cpp", ("WA",)),
    "time-limit-exceeded-or-accepted/slow.py": ("python", ("AC", "TLE")),
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


def test_a_polygon_package_brings_its_checker_and_headers(tmp_path: Path) -> None:
    made = one(written(tmp_path, POLYGON))
    assert (made.id, made.source) == ("polygon/double", "polygon")
    assert isinstance(made.checker, JudgeProgram)
    assert (made.checker.protocol, made.checker.language, made.checker.main) == ("testlib", "cpp17", "check.cpp")
    assert set(made.checker.files or {}) == {"check.cpp", "testlib.h", "mine.h"}
    tests = [(test.input, test.output) for test in made.tests or () if isinstance(test, StdinTest)]
    assert tests == [("2\n", "4\n"), ("3\n", "6\n")]
    solutions = [(each.name, each.language, each.verdicts) for each in made.solutions]
    assert solutions == [
        ("main/right.py", "python", ["AC"]),
        ("wrong-answer/four.cpp", "cpp17", ["WA"]),
        ("time-limit-exceeded-or-accepted/slow.py", "python", ["AC", "TLE"]),
    ]
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (1.5, 256 << 20)
    assert "Double a number.\n\nInput:\nOne." in (made.prompt or "")
    assert made.meta == {"title": "Double", "tags": ["math"]}


@pytest.mark.parametrize(
    ("kind", "language"),
    [
        ("cpp.g++", "cpp"),
        ("cpp.g++11", "cpp11"),
        ("cpp.gcc14-64-msys2-g++23", "cpp23"),
        ("cpp.ms2017", "cpp"),
        ("python.3", "python"),
        ("python.2", "python2"),
        ("python.pypy3-64", "pypy"),
        ("java21", "java"),
        ("java.8", "java"),
        ("pas.fpc", "pas"),
        ("js.nodejs", "javascript"),
        ("js.v8", "js.v8"),
    ],
)
def test_polygon_names_languages_and_standards(kind: str, language: str) -> None:
    assert polygon.language_of(kind) == language


def test_a_polygon_package_for_windows_has_the_same_tests(tmp_path: Path) -> None:
    changed = {name: text.replace("\n", "\r\n") for name, text in POLYGON.items() if name.startswith("tests/")}
    folder = written(tmp_path, POLYGON | changed)
    for name, text in changed.items():
        (folder / name).write_bytes(text.encode())
    assert [test.input for test in one(folder).tests or () if isinstance(test, StdinTest)] == ["2\n", "3\n"]


def test_a_group_without_points_stays_if_others_require_it(tmp_path: Path) -> None:
    groups = (
        '<tests><test points="0.0" group="0" sample="true"/><test points="100.0" group="1"/></tests><groups>'
        '<group name="0" points-policy="each-test"/><group name="1" points-policy="complete-group" points="100.0">'
        '<dependencies><dependency group="0"/></dependencies></group></groups></testset>'
    )
    made = one(written(tmp_path, POLYGON | {"problem.xml": XML.replace("</testset>", groups)}))
    assert [(each.name, each.points, each.rule, each.requires) for each in made.groups or ()] == [
        ("0", 0.0, "sum", []),
        ("1", 100.0, "all", ["0"]),
    ]
    assert [test.group for test in made.tests or ()] == ["0", "1"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "1\n2\n"),
        ({"init.yml": f"binary_data: true\n{DMOJ['init.yml']}"}, "1\r\n2\r"),
        ({"init.yml": DMOJ["init.yml"].replace("points: 3", "points: 3, binary_data: true")}, "1\r\n2\r"),
    ],
)
def test_ends_of_lines_of_dmoj_are_those_of_unix(tmp_path: Path, changes: dict[str, str], text: str) -> None:
    folder = written(tmp_path, DMOJ | changes)
    (folder / "1.in").write_bytes(b"1\r\n2\r")
    tests = [test.input for test in one(folder).tests or () if isinstance(test, StdinTest)]
    assert text in tests


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
        (("<judging ", '<judging run-count="2" '), "several times"),
        (('<testset name="tests">', '<testset name="a"/><testset name="b">'), "none is named tests"),
        (('type="testlib"', 'type="pcms"'), "'pcms', which is not known"),
        (
            (
                "</testset>",
                '<tests><test points="1" group="1"/></tests><groups><group name="0" points-policy="each-test"/>'
                "</groups></testset>",
            ),
            "has no rule for its score",
        ),
        (
            (
                "</testset>",
                '<tests><test points="1" group="1"/></tests><groups><group name="1" points-policy="all"/>'
                "</groups></testset>",
            ),
            "'all', which is not known",
        ),
        (
            ("<assets>", '<files><resources><file path="g.cpp" stages="COMPILE"/></resources></files><assets>'),
            "compiled",
        ),
    ],
)
def test_a_polygon_package_that_cannot_be_read_is_refused(tmp_path: Path, changed: tuple[str, str], why: str) -> None:
    assert why in refused(written(tmp_path, POLYGON | {"problem.xml": XML.replace(*changed, 1)}))


def test_a_polygon_package_brings_its_validators(tmp_path: Path) -> None:
    listed = '<validators><validator><source path="files/val.cpp" type="cpp.g++20"/></validator></validators>'
    files = POLYGON | {
        "problem.xml": XML.replace("<solutions>", f"{listed}<solutions>"),
        "files/val.cpp": "int main() {}",
    }
    [validator] = one(written(tmp_path, files)).validators
    assert (validator.language, validator.code, validator.accepts) == ("cpp20", "int main() {}", 0)
    assert "testlib.h" in validator.files


def test_a_dmoj_problem_has_batches_and_a_checker_by_name(tmp_path: Path) -> None:
    made = one(written(tmp_path, DMOJ))
    assert (made.id, made.checker) == (
        "dmoj/package",
        Checker(type="token_lines", float_tolerance=1e-4, integers_too=True),
    )
    tests = [test for test in made.tests or () if isinstance(test, StdinTest)]
    assert [(test.input, test.weight) for test in tests] == [("1\n", 3.0), ("3\n", 7.0)]


def test_a_dmoj_problem_may_have_its_tests_in_an_archive(tmp_path: Path) -> None:
    folder = written(tmp_path, DMOJ | {"init.yml": "archive: tests.zip\ntest_cases: [{in: a/1, out: a/2}]\n"})
    with zipfile.ZipFile(folder / "tests.zip", "w") as archive:
        archive.writestr("a/1", "5\n")
        archive.writestr("a/2", "2.5\n")
    made = one(folder)
    assert made.checker == Checker(type="token_lines")
    assert [test.output for test in made.tests or () if isinstance(test, StdinTest)] == ["2.5\n"]


POINTS = (
    '<tests><test points="0.0" group="0" sample="true"/><test points="30.0" group="1"/></tests>'
    '<groups><group name="0" points="0" points-policy="each-test"/>'
    '<group name="1" points-policy="complete-group"><dependencies><dependency group="0"/></dependencies></group>'
    "</groups>"
)


def pointed(points: str) -> dict[str, str]:
    return POLYGON | {"problem.xml": XML.replace("</testset>", f"{points}</testset>")}


def groups_of(problem: Problem) -> list[tuple[str, float, str, list[str]]]:
    return [(each.name, each.points, each.rule, each.requires) for each in problem.groups or ()]


def test_groups_and_points_of_a_polygon_package(tmp_path: Path) -> None:
    made = one(written(tmp_path, pointed(POINTS)))
    assert groups_of(made) == [("0", 0.0, "sum", []), ("1", 30.0, "all", ["0"])]
    assert [test.group for test in made.tests or ()] == ["0", "1"]


def test_points_without_groups_are_weights_and_full_scores(tmp_path: Path) -> None:
    points = '<tests><test points="20.0"/><test points="30.0"/></tests>'
    made = one(written(tmp_path, pointed(points)))
    assert groups_of(made) == [("tests", 50.0, "sum", [])]
    tests = [(test.weight, test.full_score) for test in made.tests or () if isinstance(test, StdinTest)]
    assert tests == [(20.0, 20.0), (30.0, 30.0)]


def test_groups_without_points_only_order_the_tests(tmp_path: Path) -> None:
    groups = (
        '<tests><test group="1"/><test group="2"/></tests><groups><group name="1" points-policy="each-test"/></groups>'
    )
    assert one(written(tmp_path, pointed(groups))).groups is None


def test_the_testset_named_tests_decides(tmp_path: Path) -> None:
    pretests = '<testset name="pretests"><test-count>1</test-count></testset><testset name="tests">'
    made = one(written(tmp_path, POLYGON | {"problem.xml": XML.replace('<testset name="tests">', pretests)}))
    assert len(made.tests or ()) == 2


CMS = {
    "task.yaml": "name: sums\ntitle: Sums\ntime_limit: 1.5\nmemory_limit: 256\ninfile: ''\noutfile: ''\n",
    "statement/english.md": "Add two numbers.",
    "gen/GEN": "# three tests\n#ST: 0\n1 2\n#ST: 40\n3 4 # small\n\n#ST: 60\n#COPY: gen/x.txt\n5 6\n",
    **{f"input/input{number}.txt": f"{number} 1\n" for number in range(4)},
    **{f"output/output{number}.txt": f"{number + 1}\n" for number in range(4)},
    "sol/solution.cpp": "int main() {}",
    "sol/slow.py": "while True: pass",
    "check/checker.cpp": "int main() {}",
    "check/checker": "the program",
}


def test_a_cms_task_has_subtasks_and_a_checker(tmp_path: Path) -> None:
    made = one(written(tmp_path, CMS))
    assert (made.id, made.source) == ("cms/sums", "cms")
    assert groups_of(made) == [
        ("subtask 0", 0.0, "min", []), ("subtask 1", 40.0, "min", []), ("subtask 2", 60.0, "min", [])
    ]  # fmt: skip
    assert [test.group for test in made.tests or ()] == ["subtask 0", "subtask 1", "subtask 2", "subtask 2"]
    assert isinstance(made.checker, JudgeProgram)
    assert (made.checker.protocol, made.checker.main) == ("codeforces-python", "checker.cpp")
    assert [(each.name, each.verdicts) for each in made.solutions] == [("solution.cpp", ["AC"])]
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (1.5, 256 << 20)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (POLYGON, POLYGON_PROGRAMS),
        (CMS, {"solution.cpp": ("cpp23", ("AC",))}),
    ],
    ids=["polygon", "cms"],
)
def test_programs_that_a_package_names_are_graded(
    tmp_path: Path, files: dict[str, str], expected: dict[str, tuple[str, tuple[str, ...]]]
) -> None:
    folder = written(tmp_path, files)
    found = grade_package.solutions(grade_package.read(folder), folder, [])
    named = {str(each.path.relative_to(folder)): (each.language_name, each.expected) for each in found}
    assert named == expected


def test_a_problem_without_a_statement_or_programs_of_its_own_can_be_graded(tmp_path: Path) -> None:
    folder = written(tmp_path, {name: text for name, text in DMOJ.items() if name != "statement.md"})
    (folder / "half.py").write_text("print(int(input()) / 2)")
    problem = grade_package.read(folder)
    with pytest.raises(BadRequestError, match="no program in a language that is run here"):
        grade_package.solutions(problem, folder, [])
    (found,) = grade_package.solutions(problem, folder, [folder / "half.py"])
    assert (found.language_name, found.expected) == ("python", ("AC",))
    with pytest.raises(BadRequestError, match=r"none of problem\.yaml, problem\.xml, init\.yml, task\.yaml"):
        grade_package.read(tmp_path)


def test_a_polygon_package_without_a_statement_can_be_graded(tmp_path: Path) -> None:
    folder = written(tmp_path, {name: text for name, text in POLYGON.items() if not name.startswith("statements")})
    assert "statement is missing" in refused(folder)
    assert grade_package.read(folder).id == "polygon/double"


def test_a_cms_task_without_subtasks_is_a_sum(tmp_path: Path) -> None:
    plain = {name: text for name, text in CMS.items() if not name.startswith(("gen", "check"))}
    made = one(written(tmp_path, plain))
    assert groups_of(made) == [("tests", 100.0, "sum", [])]
    assert made.checker is None


SUMS = CMS["task.yaml"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"task.yaml": "[]"}, "no mapping"),
        ({"task.yaml": SUMS.replace("infile: ''", "")}, "use files (infile)"),
        ({"task.yaml": SUMS + "task_type: Communication"}, "Communication"),
        ({"task.yaml": SUMS + "output_only: true"}, "OutputOnly"),
        ({"task.yaml": SUMS + "score_type: GroupThreshold"}, "GroupThreshold"),
        ({"task.yaml": SUMS + "score_type: GroupMul"}, "GroupMul"),
        ({"task.yaml": SUMS + "score_type_parameters: [[100, '.*']]"}, "by a pattern"),
        ({"task.yaml": SUMS + "colour: red"}, "'colour', which is not known"),
        ({"sol/grader.cpp": ""}, "compiled with sol/grader.cpp"),
        ({"gen/GEN": "#ST: 100\n1\n"}, "1 tests, and there are 4"),
        ({"task.yaml": SUMS + f"score_type: GroupMin\nscore_type_parameters: [[100, 1{'0' * 30}]]"}, "and there are 4"),
        ({"task.yaml": SUMS + "score_type: GroupMin\nscore_type_parameters: [[50, -1], [50, 5]]"}, "and there are 4"),
        ({"input/input7.txt": ""}, "not numbered"),
        ({"statement/english.md": ""}, "statement is missing"),
    ],
)
def test_a_cms_task_that_cannot_be_judged_is_refused(tmp_path: Path, changes: dict[str, str], why: str) -> None:
    assert why in refused(written(tmp_path, CMS | changes))


def test_a_cms_checker_without_its_source_is_refused(tmp_path: Path) -> None:
    found = {name: text for name, text in CMS.items() if name != "check/checker.cpp"}
    assert "without its source" in refused(written(tmp_path, found))


def test_batches_of_a_dmoj_problem_are_groups(tmp_path: Path) -> None:
    sheet = (
        "test_cases:\n- {in: 1.in, out: 1.out, points: 0}\n- {in: 1.in, out: 1.out, points: 5}\n"
        "- {batched: [{in: 1.in, out: 1.out}, {in: 2.in, out: 2.out}], points: 20}\n"
        "- {batched: [{in: 2.in, out: 2.out}], points: 30, dependencies: [1]}\noutput_limit_length: 1000\n"
    )
    made = one(written(tmp_path, DMOJ | {"init.yml": sheet}))
    assert groups_of(made) == [
        ("batch 1", 20.0, "min", []), ("batch 2", 30.0, "min", ["batch 1"]), ("tests", 5.0, "sum", []),
        ("without points", 0.0, "all", []),
    ]  # fmt: skip
    assert [test.group for test in made.tests or ()] == ["without points", "tests", "batch 1", "batch 1", "batch 2"]
    assert [test.weight for test in made.tests or ()] == [1.0, 5.0, 10.0, 10.0, 30.0]
    assert made.limits is not None
    assert made.limits.output_bytes == 1000


RELATIVE = {"name": "floats", "args": {"precision": 2, "error_mode": "relative"}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, Checker(type="token_lines")),
        ("standard", Checker(type="token_lines")),
        ("identical", Checker(type="exact")),
        ("rstripped", Checker(type="lines")),
        ("unordered", Checker(type="unordered_tokens")),
        ("floatsabs", Checker(type="token_lines", absolute_tolerance=1e-6, integers_too=True)),
        (RELATIVE, Checker(type="token_lines", relative_tolerance=0.01, integers_too=True)),
    ],
)
def test_dmojs_checkers_by_name(given: Any, expected: Checker) -> None:
    assert dmoj_checkers.read(given, {}) == expected


BY_WORDS = {"name": "sorted", "args": {"split_on": "whitespace"}}
MATCHES = {"name": "linematches", "args": {"point_distribution": [1, 3], "feedback": True}}
OWN = """from dmoj.result import CheckerResult
from dmoj.utils.unicode import utf8text
def check(process_output, judge_output, judge_input, point_value, most=2, **kwargs):
    if process_output == judge_output:
        return True
    return CheckerResult(int(process_output) < most, point_value / 2, "near " + utf8text(judge_input))
"""


@pytest.mark.parametrize(
    ("given", "output", "answer", "expected"),
    [
        ("sorted", "b  a\nc\n", "c\nb a", True),
        ("sorted", "a b\nc\n", "c\nb a", False),
        (BY_WORDS, "a b\nc\n", "c b a", True),
        ("easy", "B a\n", "aB", True),
        ("easy", "aab", "ab", False),
        ("linecount", "a \nb", "a\nb", True),
        ("linecount", "a\nx", "a\nb", 0.5),
        ("linecount", "a\nb\nc", "a\nb", False),
        (MATCHES, "x\nb", "a\nb", 0.75),
        (MATCHES, "a\nb", "a\nb", 1.0),
        (MATCHES, "b", "a\nb", 0),
        ("own.py", "7", "7", True),
        ("own.py", "1", "7", (0.5, "near in")),
        ({"name": "own.py", "args": {"most": 1}}, "0", "7", (0.5, "near in")),
    ],
)
def test_dmojs_functions(
    given: Any, output: str, answer: str, expected: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = dmoj_checkers.read(given, {"own.py": OWN})
    assert isinstance(made, JudgeProgram)
    assert made.protocol == "function"
    for name, text in (made.files or {}).items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    main: dict[str, Any] = {}
    exec(made.program, main)
    assert main["check"]("in", output, answer) == expected


def test_a_bridged_checker_is_a_program() -> None:
    given = {"name": "bridged", "args": {"files": ["c.cpp", "x.h"], "type": "testlib"}}
    made = dmoj_checkers.read(given, {"c.cpp": "int main() {}", "x.h": ""})
    assert isinstance(made, JudgeProgram)
    assert (made.protocol, made.main, made.language) == ("testlib", "c.cpp", "cpp23")
    with pytest.raises(ValueError, match=r"x\.h is not there"):
        dmoj_checkers.read(given, {"c.cpp": ""})


COCI = {"name": "bridged", "args": {"type": "coci"}}


@pytest.mark.parametrize(
    "given",
    ["own.py", "colours", COCI, {"name": "linecount", "args": {"match": "lambda p, j: p == j"}},
     {"name": "bridged", "args": {"files": "c.cpp", "args": "{output_file}"}}],
)  # fmt: skip
def test_a_checker_that_compares_in_another_way_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"DMOJ's|not known here"):
        dmoj_checkers.read(given, {"c.cpp": ""})


def test_a_dmoj_problem_may_interact(tmp_path: Path) -> None:
    sheet = "interactive: {files: talk.cpp, type: testlib}\nunbuffered: true\ntest_cases: [{in: 1.in, out: 1.out}]\n"
    made = one(written(tmp_path, DMOJ | {"init.yml": sheet, "talk.cpp": "int main() {}"}))
    assert made.interactor is not None
    assert (made.interactor.protocol, made.interactor.main, made.checker) == ("testlib", "talk.cpp", None)
    assert all(isinstance(test, InteractiveTest) for test in made.tests or ())


def test_a_dmoj_test_that_a_program_judges_needs_no_output(tmp_path: Path) -> None:
    checker = "checker: {name: bridged, args: {files: [x.h, c.cc], type: testlib}}\n"
    sheet = checker + "test_cases: [{in: 1.in}, {out: 1.out}]\n"
    made = one(written(tmp_path, DMOJ | {"init.yml": sheet, "c.cc": "int main() {}", "x.h": ""}))
    assert isinstance(made.checker, JudgeProgram)
    assert made.checker.main == "c.cc"
    tests = [(each.input, each.output) for each in made.tests or () if isinstance(each, StdinTest)]
    assert tests == [("1\n", ""), ("", "0.5\n")]


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        ("[]", "not a mapping"),
        ("test_cases: {input_format: x}", "found by patterns"),
        ("test_cases: [{in: ../../x, out: 1.out}]", "leads out of the problem"),
        ("archive: 1.in\ntest_cases: []", "not a zip file"),
        ("test_cases: []", "no tests"),
        ("custom_judge: x.py\ntest_cases: []", "custom_judge"),
        ("interactive: {files: x.cpp}\ntest_cases: []", "interactor of the type 'default'"),
        ("file_io: {input: a}\ntest_cases: []", "file_io"),
        ("colour: red\ntest_cases: []", "'colour' for the problem"),
        ("test_cases: [{in: 1.in, out: 1.out, checker: identical}]", "different checkers"),
        ("test_cases: [{in: 1.in, out: 1.out, colour: red}]", "'colour' for a test"),
        ("test_cases: [{batched: [{in: 1.in, out: 1.out}], colour: red}]", "'colour' for a batch"),
        ("test_cases: [{batched: [{in: 1.in, out: 1.out}], dependencies: [7]}]", "requires 'batch 7'"),
        ("test_cases: [{generator_args: [1]}]", "a generator makes"),
        ("test_cases: [7]", "not a list of tests"),
        ("test_cases: [[1.in, 1.out]]", "not a list of tests"),
        ("test_cases: [{batched: {in: 1.in, out: 1.out}}]", "batched is not a list of tests"),
        ("test_cases: [{batched: [1.in]}]", "batched is not a list of tests"),
        ("test_cases: [{in: 1.in}]", "no out, with which its checker compares"),
    ],
)
def test_a_dmoj_problem_that_cannot_be_read_is_refused(tmp_path: Path, sheet: str, why: str) -> None:
    assert why in refused(written(tmp_path, DMOJ | {"init.yml": sheet}))
