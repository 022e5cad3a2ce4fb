"""Programs with known verdicts in every language. The expensive ones are repetitions of what the cheap ones show."""

from __future__ import annotations

from collections import Counter

import pytest

from sandbox_service.grading.grader import Grader
from sandbox_service.languages import LANGUAGES
from sandbox_service.validation.evidence import anew
from tests.languages.toolchains import ENDLESS, LIMITS, SHORT, Case, cases, need, submission
from tests.markers import some

CHEAP = {"c", "javascript", "lua"}  # their compilers take little; of the others, hello is run for each
CHOSEN = {"java-RTE-overflow", "java-MLE-list"}  # what virtual machines get wrong


def params() -> list[object]:
    """All programs; those are not marked `full` that are chosen, or the first of a verdict in a cheap language."""
    count: Counter[tuple[str, str]] = Counter()
    found: list[object] = []
    for case in cases():
        count[case.language, case.verdict] += 1
        is_first = case.language in CHEAP and count[case.language, case.verdict] == 1
        found.append(pytest.param(case, id=case.id, marks=() if is_first or case.id in CHOSEN else pytest.mark.full))
    return found


@pytest.mark.parametrize("case", params())
def test_every_program_gets_its_verdict(grader: Grader, case: Case) -> None:
    need(case.language)
    limits = SHORT if case.verdict == "TLE" or (case.language, case.verdict) in ENDLESS else LIMITS
    grade = grader.grade(submission(case.language, case.code, limits=limits))
    shown = [(test.verdict, test.message, test.cpu_seconds, test.peak_memory_bytes >> 20) for test in grade.tests]
    assert grade.verdict == case.verdict, (grade.message, grade.failure_reason, shown)


def compiled_languages() -> list[object]:
    """All but Python. Each standard's header of C++ takes seconds to compile, so `make test` runs one of them."""
    names = [each.name for each in LANGUAGES if each.toolchain]
    return [*some(names, set(names) - {"cpp11", "cpp14", "cpp20", "cpp23"})]


@pytest.mark.parametrize("language", compiled_languages())
def test_hello_is_printed_in_every_language(grader: Grader, language: str) -> None:
    need(language)
    toolchain = next(each.toolchain for each in LANGUAGES if each.name == language)
    assert toolchain is not None
    code = anew(toolchain.hello, language)  # as `proctor validate` grades a reference once more
    grade = grader.grade(submission(language, code, tests=[{"type": "stdin", "output": "hello\n"}]))
    assert grade.verdict == "AC", (grade.message, grade.failure_reason)
    assert grade.grader.language.startswith(f"{language} ")


@pytest.mark.parametrize(
    ("language", "code", "name", "beside"),
    [
        ("javascript", "console.log(require('./b').word + require('./c.json'))", "b.js", "exports.word = 'he'"),
        ("javascript", "import { word } from './b.js'; console.log(word + 'llo')", "b.js", "export const word = 'he'"),
        ("typescript", "import { word } from './b'; console.log(word + 'llo')", "b.ts", "export let word: any = 'he'"),
        ("bash", ". ${0%/*}/b.sh; echo ${word}llo", "b.sh", "word=he"),
    ],
    ids=["script", "module", "typescript", "bash"],
)  # fmt: skip
def test_files_beside_a_source_are_found(grader: Grader, language: str, code: str, name: str, beside: str) -> None:
    need(language)
    test = {"type": "stdin", "output": "hello\n"}
    grade = grader.grade(submission(language, code, tests=[test], files={name: beside, "c.json": '"llo"'}))
    assert grade.verdict == "AC", (grade.message, grade.failure_reason)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("java", 'public class Main { public static void main(String[] a) { while (true) System.out.println("x"); } }'),
        pytest.param("go", 'package main\nimport . "fmt"\nfunc main() { for { Println(0) } }', marks=pytest.mark.full),
    ],
    ids=["java", "go"],
)
@pytest.mark.parametrize("isolation", ["submission", "test"])
def test_a_program_that_prints_on_is_ended_before_its_time(
    grader: Grader, language: str, code: str, isolation: str
) -> None:
    """Java and Go do not end at the largest size of a file, and used up their CPU time."""
    need(language)
    limits = LIMITS.model_copy(update={"cpu_seconds": 20.0, "wall_seconds": 60.0})
    grade = grader.grade(submission(language, code, limits=limits, isolation=isolation))
    assert grade.verdict == "OLE", (grade.message, grade.failure_reason)
    assert grade.tests[0].cpu_seconds < 10.0


def test_each_verdict_has_five_programs_in_c_cpp_and_java() -> None:
    found = Counter((case.language, case.verdict) for case in cases())
    wanted = ("AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE")
    assert all(found[language, verdict] >= 5 for language in ("c", "cpp", "java") for verdict in wanted)
