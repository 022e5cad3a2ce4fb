"""Rows in each published format become problems with the right content and provenance."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, CallTest, Checker, JudgeProgram, StdinTest
from sandbox_service.validation.sources import READERS, detect
from tests.validation.sources import published
from tests.validation.sources.published import ROWS, Row


def problem(row: Row) -> Problem:
    """Read a row with the reader for its fields, and check the round trip."""
    made = detect(row)(row)
    assert Problem.model_validate_json(made.model_dump_json()) == made
    return made


def pairs(made: Problem) -> list[tuple[str, Any]]:
    return [(test.input, test.output) for test in made.tests or () if isinstance(test, StdinTest)]


def calls(made: Problem) -> list[tuple[str, list[Any], Any]]:
    return [(test.function, test.args, test.output) for test in made.tests or () if isinstance(test, CallTest)]


def asserts(made: Problem) -> list[AssertTest]:
    return [test for test in made.tests or () if isinstance(test, AssertTest)]


@pytest.mark.parametrize(("name", "row"), ROWS.values(), ids=list(ROWS))
def test_a_form_is_known_by_its_fields(name: str, row: Row) -> None:
    assert detect(row).name == name
    assert problem(row).tests


def test_every_reader_has_a_row_here_but_for_that_of_folders() -> None:
    assert {name for name, _ in ROWS.values()} == set(READERS) - {
        "kattis",
        "polygon",
        "dmoj",
        "cms",
        "livecodebench-pro",
    }


def test_a_row_that_nobody_knows_is_told_by_its_fields() -> None:
    with pytest.raises(ConfigurationError, match=r"fields colour, size; name one of: problem, labelled"):
        detect({"colour": 1, "size": 2})


def test_a_row_that_may_be_two_things_has_to_be_named() -> None:
    with pytest.raises(ConfigurationError, match="may be any of livecodebench, codeelo: name it"):
        detect(published.LIVECODEBENCH | published.CODEELO)


@pytest.mark.parametrize("row", [row for _, row in ROWS.values()], ids=list(ROWS))
@pytest.mark.parametrize("wrong", [None, 3, "", "{", [], [[]], {}, {"a": 1}, True], ids=repr)
def test_no_field_of_the_wrong_kind_ends_in_anything_but_a_reason(row: Row, wrong: Any) -> None:
    reader = detect(row)
    for field in row:
        with contextlib.suppress(ValueError):
            reader(row | {field: wrong})


@pytest.mark.parametrize(
    ("row", "changed", "reason"),
    [
        (published.LIVECODEBENCH, {"question_id": None}, "question_id should be a name"),
        (published.MBPP, {"task_id": None}, "task_id should be a name"),
        (published.MBPP, {"test_list": [None, "assert f()"]}, "an entry that is no text"),
        (
            published.CODECONTESTS,
            {"private_tests": {"input": ["1"], "output": []}},
            "1 entries of input but 0 of output",
        ),
    ],
)
def test_no_part_of_a_row_is_made_up(row: Row, changed: Row, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        problem({**row, **changed})


def test_ours_is_read_as_it_is() -> None:
    assert problem(published.OURS) == Problem.model_validate(published.OURS)
    with pytest.raises(ValueError, match=r"colour is not known"):
        problem(published.OURS | {"colour": "red"})


def test_labelled_programs_keep_their_verdicts() -> None:
    made = problem(published.LABELLED)
    assert [(each.name, each.verdicts) for each in made.solutions] == [("right.py", ["AC"]), ("wrong.py", ["NOT_AC"])]
    assert (made.source, made.licence) == ("bugs", "MIT")
    assert made.provenance is not None
    assert made.provenance.url == "https://example.org/bugs"
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (2.0, 512 << 20)


def test_labelled_programs_of_kattis_are_judged_by_its_flags() -> None:
    failing = {"code": "1 / 0", "language": "python", "expected_verdict": ["RTE"], "file": "failing.py"}
    flags = {"type": "default", "flags": "float_tolerance 1e-6"}
    made = problem(published.LABELLED | {"checker": flags, "solutions": [failing]})
    assert made.checker == Checker(float_tolerance=1e-6, integers_too=True, ignore_case=True)
    assert [each.verdicts for each in made.solutions] == [["RTE", "MLE"]]


def test_labelled_calls_and_asserts() -> None:
    call = {"kind": "call_args", "fn_name": "double", "tests": [{"args": [2], "output": 4}]}
    assert calls(problem(published.LABELLED | call)) == [("double", [2], 4)]
    asserted = {"kind": "assert", "fn_name": "Solution().pick", "tests": [{"assert": "check(Solution().pick)"}]}
    (test,) = asserts(problem(published.LABELLED | asserted))
    assert (test.entry_point, test.prelude) == ("Solution().pick", "@leetcode")


def test_labelled_problems_keep_the_flags_of_their_checker() -> None:
    made = problem(published.LABELLED | {"checker": {"type": "default", "flags": "float_absolute_tolerance 1e-2"}})
    assert made.checker == Checker(ignore_case=True, absolute_tolerance=0.01, integers_too=True)
    assert problem(published.LABELLED | {"checker": {"type": "default"}}).checker is None


def test_labelled_problems_with_a_checker_of_their_own_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a checker of its own \(custom\)"):
        problem(published.LABELLED | {"checker": {"type": "custom", "files": ["validate.cc"]}})


def test_archer_has_columns_records_and_answers() -> None:
    code = problem(published.ARCHER_CODE)
    assert (code.id, code.source, code.prompt) == ("code/train/7", "code", None)
    assert [turn.role for turn in code.messages or ()] == ["system", "user"]
    assert pairs(code) == [("2\n", "4\n")]
    lcb = problem(published.ARCHER_LCB)
    assert calls(lcb) == [("pick", [[3, 4], 1], [3])]
    assert lcb.checker == Checker(type="tokens", float_tolerance=0.0)
    assert lcb.limits is not None
    assert lcb.limits.cpu_seconds == 6.0
    answer = problem(published.ARCHER_MATH)
    assert (answer.language, answer.checker, pairs(answer)) == ("text", Checker(type="math"), [("", "\\frac{1}{2}")])


def test_a_list_of_answers_means_any_of_them() -> None:
    row = published.verl("aime2024", '["0.5", "1/2"]', "math")
    assert pairs(problem(row)) == [("", ["0.5", "1/2"])]
    assert pairs(problem(published.verl("aime2024", "[1, 2)", "math"))) == [("", "[1, 2)")]
    assert pairs(problem(published.verl("aime2024", "042", ""))) == [("", "042")]


def test_code_r1_says_in_its_program_what_the_candidate_is() -> None:
    made = problem(published.CODE_R1)
    (test,) = asserts(made)
    assert (test.entry_point, test.prelude) == ("Solution().pick", "@leetcode")
    assert made.references[0].code == published.PICK
    assert made.meta == {"ability": "coding", "platform": "LeetCodeDataset"}


def test_verl_rows_of_a_table_have_all_kinds_and_use_one() -> None:
    truth = {"functional": None, "pytest": "", "inputs": ["2\n"], "outputs": ["4\n"]}
    assert pairs(problem(published.verl("code", truth))) == [("2\n", "4\n")]
    with pytest.raises(ValueError, match="has functional, inputs: none of them is a kind of tests"):
        problem(published.verl("code", {"functional": None, "inputs": []}))
    test = "from solution import f\n\ndef test_f():\n    assert f() == 1\n"
    assert len(asserts(problem(published.verl("kodcode", {"pytest": test})))) == 1


def test_verl_rows_without_an_index_have_a_name_all_the_same() -> None:
    row = published.verl("code", {"inputs": ["2"], "outputs": ["4"]}, index=None)
    assert problem(row).id == problem(dict(row)).id != problem(published.ARCHER_CODE).id
    assert problem(row).id.startswith("code/")


def test_deepcoder_has_records_and_columns() -> None:
    assert pairs(problem(published.PRIMEINTELLECT)) == [("2\n", "4\n")]
    assert problem(published.PRIMEINTELLECT).references[0].code == published.DOUBLE
    assert calls(problem(published.PRIMEINTELLECT_CALL)) == [("double", [2], 4)]
    assert pairs(problem(published.DEEPCODER_TACO)) == [("2\n", "4\n"), ("3\n", "6\n")]
    assert calls(problem(published.DEEPCODER_LCB)) == [("pick", [[3, 4], 1], [3])]
    assert pairs(problem(published.DEEPCODER_CODEFORCES)) == [("2\n", "4\n")]


def test_deepcoder_rows_of_two_kinds_are_refused() -> None:
    mixed = json.loads(published.PRIMEINTELLECT["tests"]) + json.loads(published.PRIMEINTELLECT_CALL["tests"])
    with pytest.raises(ValueError, match="tests mix programs and calls"):
        problem(published.PRIMEINTELLECT | {"tests": json.dumps(mixed)})


def test_livecodebench_has_public_and_hidden_tests() -> None:
    made = problem(published.LIVECODEBENCH)
    assert made.id == "livecodebench/abc1_a"
    assert pairs(made) == [("1\n", "2\n"), ("4\n", "8\n")]
    assert made.meta == {
        "date": "2024-08-03", "difficulty": "easy", "platform": "atcoder", "title": "Double", "contest": "abc1",
    }  # fmt: skip
    assert calls(problem(published.LIVECODEBENCH_CALL)) == [("pick", [[1, 2], 1], [1]), ("pick", [[], 0], [])]


def test_livecodebench_calls_need_a_name() -> None:
    with pytest.raises(ValueError, match="call a function without a name"):
        problem(published.LIVECODEBENCH_CALL | {"metadata": "{}"})


def test_leetcode_is_the_same_before_and_from_031() -> None:
    old, new = problem(published.LEETCODE_OLD), problem(published.LEETCODE_NEW)
    assert old.tests == new.tests
    assert old.solutions == new.solutions
    assert old.starter == new.starter == published.STARTER
    assert (old.meta or {})["difficulty"] == (new.meta or {})["difficulty"] == "Easy"
    assert (new.meta or {})["date"] == "2019-03-01"
    assert old.prompt == "Take the first k. Answer in Python."
    assert "def pick(self" in (new.prompt or "")


def test_leetcode_without_a_completion_takes_the_response() -> None:
    made = problem(published.LEETCODE_OLD | {"completion": ""})
    assert made.references[0].code == published.PICK.rstrip("\n") + "\n"


def test_taco_joins_lines_and_reads_limits_in_words() -> None:
    made = problem(published.TACO)
    assert pairs(made) == [("2", "4"), ("3\n", "6\n")]
    assert len(made.references) == 2
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (2.0, 512 << 20)
    assert made.meta == {
        "date": "2021-05-01", "difficulty": "EASY", "platform": "codeforces",
        "tags": ["Mathematics", "Implementation"], "skills": ["Sorting"],
    }  # fmt: skip


def test_taco_calls_with_integer_keys_are_programs_that_have_them() -> None:
    first, second = asserts(problem(published.TACO_CALL))
    assert "candidate({1: 2})" in first.code
    assert "assert got == 12" in second.code
    assert first.entry_point == "total"
    method = problem(published.TACO_CALL | {"starter_code": "class Solution:\n    def total(self, t):\n        "})
    assert asserts(method)[0].entry_point == "Solution().total"


def test_apps_is_no_taco() -> None:
    made = problem(published.APPS)
    assert (made.id, made.source) == ("apps/5", "apps")
    assert calls(made) == [("pick", [[3, 4], 1], [3])]


def test_codecontests_has_programs_in_four_languages_right_and_wrong() -> None:
    made = problem(published.CODECONTESTS)
    assert pairs(made) == [("2\n", "4\n"), ("3\n", "6\n"), ("4\n", "8\n"), ("5\n", "10\n")]
    assert [each.language for each in made.references] == ["python", "cpp"]
    assert [(each.language, each.verdicts) for each in made.wrong] == [("python2", ["NOT_AC"]), ("unknown", ["NOT_AC"])]
    assert made.limits is not None
    assert made.limits.cpu_seconds == 1.5
    assert made.meta == {
        "difficulty": 800, "platform": "codeforces", "tags": ["math"], "contest": {"id": 1, "index": "A"},
    }  # fmt: skip


def test_codecontests_as_records_is_the_same() -> None:
    tests = {"public_tests": [{"input": "2\n", "output": "4\n"}]}
    assert problem(published.CODECONTESTS | tests) == problem(published.CODECONTESTS)


def test_codecontests_with_files_is_refused() -> None:
    with pytest.raises(ValueError, match=r"use a file \(in.txt\)"):
        problem(published.CODECONTESTS | {"input_file": "in.txt"})


def test_kodcode_has_a_program_for_each_test() -> None:
    made = problem(published.KODCODE)
    two, none, more = (test.code for test in asserts(made))
    assert {test.entry_point for test in asserts(made)} == {"double"}
    assert two.endswith("test_two()\n")
    assert "twice = double" in two
    assert "solution" not in two
    assert none.endswith("test_none()\n")
    assert more.endswith("TestMore().test_nought()\n")
    assert "def double(n):" in (made.prompt or "")
    assert made.licence == "CC-BY-NC-4.0"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("def test_f(tmp_path):\n    pass", "test_f takes fixtures"),
        ("import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_f(x):\n    pass", "test_f has a decorator"),
        ("import pytest\ndef test_f():\n    assert f() == pytest.approx(1)", r"pytest\.approx"),
        (
            "import pytest\ndef test_f():\n    with pytest.raises((KeyError, Odd)):\n        f()",
            "expect Odd to be raised",
        ),
        ("import solution\ndef test_f():\n    assert solution.f()", "import the solution as a module"),
        ("from pytest import raises\ndef test_f():\n    pass", "import names from pytest"),
        ("class TestF(Base):\n    def test_f(self):\n        pass", "has a base or a set-up"),
        ("async def test_f():\n    pass", "a test is a coroutine"),
        ("x = 1", "no test functions"),
        ("if True:\n    def test_f():\n        pass", "inside of a block"),
        (
            "class F(unittest.TestCase):\n    def test_f(self):\n        pass\ndef test_g():\n    pass",
            "F is unittest's",
        ),
        ("def test_f(:", "no Python program"),
    ],
)
def test_kodcode_tests_that_need_pytest_are_refused(test: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        problem(published.KODCODE | {"test": test})


def test_synthetic_one_is_code_or_mathematics_and_nothing_else() -> None:
    made = problem(published.SYNTHETIC)
    assert (made.id, pairs(made)) == ("synthetic-1/vfc_9", [("2\n", "4\n")])
    assert made.references[0].code == published.DOUBLE
    assert pairs(problem(published.SYNTHETIC_MATH)) == [("", "1/2")]
    with pytest.raises(ValueError, match="the task is 'swe'"):
        problem(published.SYNTHETIC | {"task_type": "swe", "verification_info": '{"ground_truth": "1"}'})
    with pytest.raises(ValueError, match="neither in JSON nor in Python"):
        problem(published.SYNTHETIC | {"verification_info": "__import__('os').getcwd()"})


def test_humaneval_gives_what_stands_before_the_function_to_both_boxes() -> None:
    made = problem(published.HUMANEVAL)
    (test,) = asserts(made)
    assert (test.entry_point, test.prelude) == (
        "add",
        "from typing import List\n\n\ndef helper(x):\n    return x\n\n\n",
    )
    assert made.references[0].code == published.HUMANEVAL["prompt"] + published.HUMANEVAL["canonical_solution"]
    plus = problem(published.HUMANEVAL_PLUS)
    assert (plus.id, plus.source, plus.licence) == ("HumanEval+/0", "humaneval+", "Apache-2.0")


def test_mbpp_shows_its_assertions_for_they_name_the_function() -> None:
    made, plus = problem(published.MBPP), problem(published.MBPP_PLUS)
    assert asserts(made)[0].code == "one = 1\nassert add(1, 2) == 3\nassert add(0, 0) == one - 1"
    assert asserts(plus)[0].code == "assert add(2, 2) == 4"
    assert "assert add(1, 2) == 3" in (made.prompt or "")
    assert (made.id, plus.id) == ("mbpp/11", "mbpp+/11")


def test_codeelo_knows_its_contest_and_refuses_what_answers_back() -> None:
    made = problem(published.CODEELO)
    assert made.meta is not None
    assert made.meta["contest"] == {"id": 2000, "index": "B1"}
    assert made.limits is not None
    assert made.limits.cpu_seconds == 1.5
    with pytest.raises(ValueError, match="is interactive"):
        problem(published.CODEELO | {"interaction": "You ask, we answer."})
    with pytest.raises(ValueError, match="no examples"):
        problem(published.CODEELO | {"examples": []})


def test_the_solutions_of_taco_are_a_list() -> None:
    assert len(problem(published.TACO).references) == 2
    assert problem(published.TACO | {"solutions": ""}).references == []
    for wrong, reason in (('["print(1)", "pri', "solutions is not JSON"), ('{"a": 1}', "solutions should be a list")):
        with pytest.raises(ValueError, match=reason):
            problem(published.TACO | {"solutions": wrong})


def test_areal_is_asked_as_it_is() -> None:
    made = problem(published.AREAL)
    assert (made.id, made.prompt, pairs(made)) == ("areal/q1", "Double a number, please.", [("2\n", "4\n")])
    question = {"question": "Double.", "input_output": {"inputs": [[2]], "outputs": [4], "fn_name": "double"}}
    assert calls(problem(question)) == [("double", [2], 4)]
    assert problem(published.AREAL_MATH).checker == Checker(type="math")
    with pytest.raises(ValueError, match="task is 'search'"):
        problem(published.AREAL | {"task": "search"})


def test_mathematics_is_a_text_whose_answer_is_a_reference() -> None:
    made = problem(published.MATH)
    assert (made.language, made.references[0].language, made.references[0].code) == ("text", "text", "\\frac{1}{2}")
    assert made.checker == Checker(type="math")
    assert "\\boxed" in (made.prompt or "")
    assert pairs(problem(published.MATH | {"answer": 42})) == [("", "42")]
    with pytest.raises(ValueError, match="there is no answer"):
        problem(published.MATH | {"answer": None})


def test_what_cannot_be_written_as_json_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        problem(published.CODEELO | {"title": "\ud800"})
    with pytest.raises(ValueError, match="surrogates not allowed"):
        problem(published.HUMANEVAL | {"canonical_solution": "\ud800"})


def test_codeforces_brings_checkers_that_print_one() -> None:
    made = problem(published.CODEFORCES)
    assert isinstance(made.checker, JudgeProgram)
    assert (made.checker.protocol, made.checker.language) == ("codeforces-python", "python")
    assert pairs(made) == [("2\n", "4\n"), ("3\n", "6\n")]
    assert made.limits is not None
    assert (made.limits.cpu_seconds, made.limits.memory_bytes) == (1.5, 512 << 20)
    assert made.meta is not None
    assert made.meta["tests_are_incomplete"] is True
    assert problem(published.CODEFORCES | {"generated_checker": None}).checker is None
    cut = [*published.CODEFORCES["official_tests"], {"input": "1 2 3 ...\n", "output": "4"}]
    assert len(problem(published.CODEFORCES | {"official_tests": cut}).tests or ()) == 2


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"interaction_format": "Ask."}, "interactive"),
        ({"input_mode": "file"}, "by file"),
        ({"official_tests": []}, "no official tests"),
    ],
)
def test_codeforces_problems_that_cannot_be_judged_are_refused(changed: Row, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        problem(published.CODEFORCES | changed)


def test_codecontests_plus_brings_testlib_checkers_and_programs_by_language() -> None:
    made = problem(published.CODECONTESTS_PLUS)
    assert isinstance(made.checker, JudgeProgram)
    assert (made.checker.protocol, made.checker.language) == ("testlib", "cpp")
    assert [(each.language, each.verdicts) for each in made.solutions] == [
        ("python", ["AC"]), ("cpp", ["AC"]), ("python", ["NOT_AC"]),
    ]  # fmt: skip
    assert problem(published.CODECONTESTS_PLUS | {"checker": ""}).checker is None


def test_multipl_e_asks_for_whole_functions() -> None:
    made = problem(published.MULTIPL_E)
    (test,) = asserts(made)
    assert (made.language, made.id) == ("cpp", "multipl-e/cpp/HumanEval_0_add")
    assert test.code.lstrip().startswith("int main()")
    assert "Complete this C++ function" in (made.prompt or "")
    assert "```cpp\n" in (made.prompt or "")
    assert problem(published.MULTIPL_E | {"language": "js"}).language == "javascript"
    with pytest.raises(ValueError, match="test programs in lua are not run here"):
        problem(published.MULTIPL_E | {"language": "lua"})


def test_humaneval_x_has_solutions_and_humanevalpack_buggy_ones() -> None:
    made = problem(published.HUMANEVAL_X)
    (solution,) = made.solutions
    assert (solution.language, solution.code) == (
        "cpp", "#include <stdio.h>\nusing namespace std;\nint add(int a, int b){\n    return a + b;\n}\n",
    )  # fmt: skip
    packed = problem(published.HUMANEVAL_PACK)
    assert [each.verdicts for each in packed.solutions] == [["AC"], ["NOT_AC"]]
    assert packed.meta == {"bug_type": "operator misuse", "failure_symptoms": "incorrect output"}
    with pytest.raises(ValueError, match="test programs in Kotlin are not run here"):
        problem(published.HUMANEVAL_X | {"task_id": "Kotlin/0"})
