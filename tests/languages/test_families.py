"""Families of attacks in C, C++, Java and JavaScript, a program each: its input names the family that it runs.

None is paid, none prints ESCAPED, and none is taken for a fault of the sandbox. The family `clean` is the next run: it
looks for what the others left. Do not run one of the programs outside a box.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox_service.grading.grader import Grader
from tests.languages.test_attacks import ESCAPED, LIMITS, SECRET
from tests.languages.toolchains import need, submission

FOLDER = Path(__file__).parent / "families"
CLEAN = "clean"
PROGRAMS = {
    "c": ("families.c", re.compile(r"FAMILY\((\w+)\)[,}]")),
    "cpp": ("families.cpp", re.compile(r'\{"(\w+)", ')),
    "java": ("Families.java", re.compile(r"^    static void (\w+)\(\) ", re.MULTILINE)),
    "javascript": ("families.js", re.compile(r"^  (\w+)\(\) \{", re.MULTILINE)),
}
CHEAP = {"c"}  # virtual machines take a tenth of a second for each run, and C++ seconds to compile
AFTER_EACH = {"c"}  # where a look for what was left costs nothing


def families(language: str) -> list[str]:
    """The families of a program, as its own table names them."""
    name, pattern = PROGRAMS[language]
    return [each for each in pattern.findall((FOLDER / name).read_text()) if each != CLEAN]


def runs(language: str) -> list[str]:
    """The families in their order, and looks for what they left."""
    if language in AFTER_EACH:
        return [each for family in families(language) for each in (family, CLEAN)]
    return [*families(language), CLEAN]


@pytest.mark.parametrize(
    "language", [pytest.param(each, marks=() if each in CHEAP else pytest.mark.full) for each in PROGRAMS]
)
def test_no_family_pays_and_the_next_run_is_honest(grader: Grader, language: str) -> None:
    need(language)
    names = runs(language)
    outputs = {CLEAN: "clean\n"}
    tests = [{"type": "stdin", "input": f"{each}\n", "output": outputs.get(each, f"{SECRET}\n")} for each in names]
    code = (FOLDER / PROGRAMS[language][0]).read_text()
    grade = grader.grade(submission(language, code, tests=tests, limits=LIMITS, stop_on_failure=False))
    assert len(grade.tests) == len(names), (grade.verdict, grade.message, grade.failure_reason)
    for name, test in zip(names, grade.tests, strict=True):
        shown = (name, test.verdict, test.message, test.stdout[-300:], test.stderr[-300:])
        assert ESCAPED not in test.stdout, shown
        assert (test.verdict == "AC") == (name == CLEAN), shown
        assert test.verdict not in ("IE", "CE"), shown


def test_memory_is_bounded_while_a_program_runs(grader: Grader) -> None:
    """Memory that became read-only is no longer counted by RLIMIT_DATA; the box is killed soon after its limit."""
    need("c")
    test = {"type": "stdin", "input": "becomes_readonly\n", "output": f"{SECRET}\n"}
    code = (FOLDER / "families.c").read_text()
    grade = grader.grade(submission("c", code, tests=[test], limits=LIMITS))
    assert grade.verdict == "MLE", grade.message
    assert grade.tests[0].peak_memory_bytes < 3 * int(LIMITS["memory_bytes"])


def test_there_are_as_many_as_are_promised() -> None:
    assert len(families("c")) >= 25
    assert min(len(families(each)) for each in PROGRAMS) >= 10
