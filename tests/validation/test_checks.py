"""Each check by itself: its findings, their reasons, and problems without findings. Nothing is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.validation import assertions, checks, finding
from sandbox_service.validation.checks import comparison, constraints
from sandbox_service.validation.checks.tests import how_many
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.recipe import Rung
from sandbox_service.validation.sources import prompts
from tests.validation.world import STORY, evidence, letters, recipe, run, sums, words

AC = ["AC"] * 6


def found(problem: Problem, seen: Evidence | None = None, **fields: Any) -> dict[str, str]:
    """Findings by name; by default with a good reference."""
    seen = seen if seen is not None else evidence(run("reference", AC, outputs=outputs(problem)))
    return {each.name: each.reason for each in checks.findings(problem, seen, recipe(**fields))}


def outputs(problem: Problem) -> list[str]:
    return [str(getattr(each, "output", "")) for each in problem.tests or ()]


def condemned(problem: Problem, seen: Evidence | None = None, **fields: Any) -> set[str]:
    return {name for name in found(problem, seen, **fields) if finding.severity_of(name, {}) == "quarantine"}


@pytest.mark.parametrize("problem", [sums(), words(), letters()])
def test_a_good_problem_is_left_alone(problem: Problem) -> None:
    good = evidence(
        run("reference", ["AC"] * 5, outputs=outputs(problem)[:5]),
        run("again", ["AC"] * 5),
        run("seed", ["AC"] * 5, seed=1),
        run("wrong", ["WA"]),
        run("probe", ["WA"]),
    )
    assert not condemned(problem, good)


def test_every_finding_has_a_meaning_and_every_check_a_reason() -> None:
    assert all(check.__doc__ for check in checks.CHECKS)
    assert {severity for severity, _ in finding.MEANINGS.values()} == {"quarantine", "note"}
    overrides: dict[str, finding.Severity] = {"image": "note", "twin": "off"}
    said = [finding.Finding(name, "") for name in ("image", "twin", "interactive")]
    assert [each.name for each in finding.quarantine_causes(said, overrides)] == ["interactive"]
    assert [each.name for each in finding.reported(said, overrides)] == ["image", "interactive"]


# --- tests


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("assert f(1) == 1", 1),
        ("assert f(1) == 1\nassert f(1) == 1", 1),
        ("def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3", 2),
        ("for n in range(9):\n    assert f(n) == n", 100),
        ("assertion(f(1), 1)\nassertion(f(2), 2)", 2),
        ("raise SystemExit", 100),
        ("no python (", 100),
    ],
)
def test_assertions_are_counted(code: str, count: int) -> None:
    assert assertions.count(code) == count


@pytest.mark.parametrize(
    ("code", "answers"),
    [
        ("assert f(1) == 2\nassert f(2) == [3, 'x']", ["2", "[3, 'x']"]),
        ("def check(candidate):\n    assert candidate(1) is True", ["True"]),
        ("assert f(1) == 2\nassert f(2) == g(3)", []),
        ("assert f(1) == 2\nassert f(2) < 3", []),
        ("assert f(1)", []),
        ("assert is_right(f(1), 2) == True", []),
        ("no python (", []),
    ],
)
def test_answers_are_read_from_plain_assertions_only(code: str, answers: list[str]) -> None:
    assert assertions.answers(code) == answers


@pytest.mark.parametrize(
    ("code", "right", "wrong"),
    [
        ("assert f() == [1, [2, 3]]", [[3, 2], 1], [[3, 1], 2]),
        ("assert f() == (1, 2)", (2, 1), (2, 2)),
    ],
)
def test_a_test_without_order_takes_any_order_and_no_other_items(code: str, right: object, wrong: object) -> None:
    looser = assertions.without_order(code)
    assert looser is not None
    exec(looser, {"f": lambda: right})
    with pytest.raises(AssertionError):
        exec(looser, {"f": lambda: wrong})
    with pytest.raises(AssertionError):
        exec(code, {"f": lambda: right})


def test_without_lists_there_is_no_order() -> None:
    assert assertions.without_order("assert f() == {1, 2} and f() in [1, 2]") is None


def test_few_tests_and_tests_that_say_nothing_twice() -> None:
    tests = sums().model_dump(mode="json")["tests"]
    assert found(sums(tests=tests[:4]))["too_few_tests"] == "4 distinct tests, at least 5 are wanted"
    assert "too_few_tests" in found(sums(tests=tests[:1] * 9))
    assert how_many(sums(tests=tests[:1] * 9).tests or []) == 1
    assert "too_few_tests" not in found(sums(tests=tests[:4]), thresholds={"least_tests": 4})


def functions(count: int, **changes: Any) -> Problem:
    """A function with `count` assertions."""
    code = "".join(f"assert add({n}, 1) == {n + 1}\n" for n in range(count))
    solution = {"code": "def add(a, b):\n    return a + b"}
    return sums(tests=[{"type": "assert", "code": code}], solutions=[solution], **changes)


@pytest.mark.parametrize(
    ("prompt", "names"), [("Write a function that adds two numbers.", set()), ("Add.", {"too_short"})]
)
def test_a_function_is_asked_for_in_a_sentence_and_tested_with_three_assertions(prompt: str, names: set[str]) -> None:
    assert condemned(functions(3, prompt=prompt)) == names
    assert condemned(functions(2, prompt=prompt)) == {"too_few_tests", *names}
    assert condemned(functions(3), thresholds={"least_function_tests": 4}) == {"too_few_tests"}


def test_what_readers_put_around_a_statement_asks_nothing() -> None:
    asked = prompts.to_solve("", function="greatest_common_divisor_of_two_numbers")
    assert found(functions(3, prompt=asked))["too_short"].startswith("0 letters and digits in the prompt")


def test_an_answer_in_words_is_one_test_and_may_be_asked_for_in_a_line() -> None:
    tests = [{"type": "stdin", "output": "2"}]
    assert not condemned(sums(prompt=f"What is $1 + 1$? {prompts.IN_A_BOX}", tests=tests, language="text"))
    assert condemned(sums(prompt=prompts.IN_A_BOX, tests=tests, language="text")) == {"too_short"}


def test_assertions_with_one_answer() -> None:
    code = "".join(f"assert f({n}) == 7\n" for n in range(5))
    assert found(sums(tests=[{"type": "assert", "code": code}]))["same_answer"] == "5 of 5 tests have the answer '7'"
    loop = "for n in range(9):\n    assert f(n) == n + 1"
    assert "same_answer" not in found(sums(tests=[{"type": "assert", "code": loop}]))


def test_tests_with_one_answer() -> None:
    tests = [{"type": "stdin", "input": str(n), "output": "YES \n" if n else "YES"} for n in range(6)]
    assert found(sums(tests=tests))["same_answer"] == "6 of 6 tests have the answer 'YES'"
    tests[0]["output"] = "NO"
    assert "same_answer" not in found(sums(tests=tests))
    assert "same_answer" in found(sums(tests=tests), thresholds={"most_same_answer": 0.8})


def test_two_answers_for_one_question() -> None:
    tests = [{"type": "call", "function": "f", "args": [1], "output": n} for n in (1, 2)]
    assert "both '1' and '2' are expected" in found(sums(tests=tests))["contradictory_tests"]
    same = [{"type": "stdin", "input": "1", "output": each} for each in (["2", "3"], "3", "3 ")]
    assert "contradictory_tests" not in found(sums(tests=same))
    ended = [{"type": "stdin", "input": f"1{end}", "output": f"{n}"} for n, end in enumerate(("", "\n"))]
    assert "contradictory_tests" in found(sums(tests=ended))


def test_white_space_may_be_what_is_asked_about() -> None:
    lines = [{"type": "stdin", "input": text, "output": str(n)} for n, text in enumerate(("", "\n", "\n\n", "x ", "x"))]
    assert "contradictory_tests" not in found(sums(tests=lines))
    assert how_many(sums(tests=lines).tests or []) == 5


# --- constraints


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("The first line contains a single integer n (2 ≤ n ≤ 3 ⋅ 10^5).", ("n", 2, 300000)),
        ("The only line contains two integers x and n (2 ≤ x ≤ 10^{9}, 1 ≤ n ≤ 7).", ("x", 2, 10**9)),
        ("The first line holds L, a length (1 <= L <= 1 000).", ("L", 1, 1000)),
        ("The first line contains n (1 ≤ n ≤ 3·105).", ("n", 1, 300000)),
        ("The first line contains q (-5 ≤ q ≤ 1013).", ("q", -5, 10**13)),
        ("The first line contains n and m (1 ≤ m ≤ 9).", None),
        ("The first line contains n (1 ≤ n ≤ m).", None),
        ("The first line contains n, m (1 ≤ n, m ≤ 9).", None),
        ("The first line of each test case contains n (1 ≤ n ≤ 9).", None),
        ("There are t test cases. The first line contains n (1 ≤ n ≤ 9).", None),
        ("The first line contains t. The first line of a block contains n (1 ≤ n ≤ 9).", None),
        ("The second line contains n (1 ≤ n ≤ 9).", None),
    ],
)
def test_a_bound_is_read_where_it_is_certain(text: str, bounds: tuple[str, int, int] | None) -> None:
    assert constraints.bounds_of(text) == bounds


def test_inputs_beyond_the_stated_bounds_are_noted() -> None:
    tests = [{"type": "stdin", "input": f"{n}\n1 2", "output": str(n)} for n in (2, 1, 9, 10, 5, 3)]
    problem = sums(prompt=STORY * 2 + "The first line contains one integer n (2 ≤ n ≤ 9).", tests=tests)
    assert found(problem)["outside_constraints"] == "2 of 6 inputs, first that of test 2: n = 1"
    assert not condemned(problem)


# --- prompt


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (STORY + "![loaf](loaf.png) What is its weight?", {"image"}),
        (STORY + 'See <img src="loaf.png">.', {"image"}),
        (STORY + "It is <image>.\nExamples\n", {"image"}),
        (STORY + "\n\n<image>\n\nHow much is it?", {"image"}),
        (STORY * 3 + "\n\n<image>\n\nHow much is it?", {"picture"}),
        (STORY * 3 + "\n\n![a loaf](loaf.png)", {"picture"}),
        (STORY * 3 + "\n\n<image> A loaf as it is.", {"picture"}),
        (STORY * 3 + "\n\n<image>, and no more.", {"image"}),
        (STORY + "\nExamples\n\n1 2\n\n![as here](loaf.png)", {"illustration"}),
        (STORY + "```\nif not argv: print('![x](y)')\n```", set()),
        (STORY + "Write <imagine> and !important.", set()),
        ("Add.", {"too_short"}),
        (STORY + "This is an interactive problem.", {"interactive"}),
        (STORY + "Do not forget to flush the output.", {"interactive"}),
        (STORY + "This is not an interactive problem.", set()),
        (STORY + "The toilet has a flush.", set()),
        (STORY + "If there are several answers, print any.", {"needs_checker"}),
        (STORY + "Print any of them.", {"needs_checker"}),
        (STORY + "You may print the loaves in any order.", {"needs_checker"}),
        (STORY + "Any valid answer is accepted.", {"needs_checker"}),
        (STORY + "Print the number of loaves of any kind. The loaves may come in any order.", set()),
        (STORY + "If there is no such loaf, print -1.", set()),
    ],
)
def test_prompts(text: str, names: set[str]) -> None:
    assert set(found(sums(prompt=text))) - {"stricter_checker"} == names


def test_several_answers_are_fine_where_tests_or_checker_know_them() -> None:
    text = STORY + "Print any of them."
    tests = [{"type": "stdin", "input": str(n), "output": [str(n), str(-n)]} for n in range(1, 7)]
    assert "needs_checker" not in found(sums(prompt=text, tests=tests))
    tests[0]["output"] = "0"
    assert "needs_checker" not in found(sums(prompt=text, tests=tests)), "where there is one, they know one"
    assert "needs_checker" not in found(sums(prompt=text, checker={"type": "unordered_lines"}))
    code = "def check(candidate):\n" + "".join(f"    assert sorted(candidate({n})) == [{n}]\n" for n in range(6))
    assert "needs_checker" not in found(sums(prompt=text, tests=[{"type": "assert", "code": code, "entry_point": "f"}]))


def test_a_starter_that_nobody_calls() -> None:
    starter = "class Solution:\n    def halves(self, n):\n        "
    call = {"type": "call", "function": "thirds", "args": [1], "output": 1}
    assert found(sums(starter=starter, tests=[call]))["starter_not_called"].endswith("the tests call thirds")
    good = call | {"function": "Solution.halves"}
    assert "starter_not_called" not in found(sums(starter=starter, tests=[good]))
    program = {"type": "assert", "code": "assert candidate(1) == 2", "entry_point": "Solution().halves"}
    assert "starter_not_called" not in found(sums(starter=starter, tests=[program]))


# --- what was run


def test_a_reference_that_fails_is_told_with_its_place() -> None:
    seen = evidence(run("reference", ["AC", "RTE"], name="best.py"))
    assert found(sums(), seen)["reference_fails"] == "best.py: RTE on test 2 of 2: no reason is given"


def test_references_that_agree_against_a_test_blame_the_test() -> None:
    answers = ["3", "30", "0", "-2", "350", "1"]
    wrong = [run("reference", ["AC"] * 5 + ["WA"], name=name, outputs=answers) for name in "ab"]
    assert "it is the test that is wrong" in found(sums(), evidence(*wrong))["reference_fails"]


def test_references_that_differ_need_a_checker() -> None:
    seen = evidence(run("reference", AC, name="a"), run("reference", ["AC"] * 5 + ["WA"], name="b"))
    assert found(sums(), seen)["needs_checker"].startswith("a and b differ on test 6")


def test_the_same_words_in_another_order_need_a_checker() -> None:
    seen = evidence(run("reference", ["WA"] + ["AC"] * 4, outputs=["c\nb\na", *outputs(words())[1:]]))
    assert "another order" in found(words(), seen)["needs_checker"]


def test_who_passes_without_order_needs_a_checker() -> None:
    seen = evidence(run("reference", ["WA"]), run("any_order", ["AC"], name="best.py"))
    assert found(functions(3), seen)["needs_checker"] == "best.py gives the items of an answer in another order"


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        (evidence(), "no_reference"),
        (evidence(not_run=["cpp"]), "not_run"),
        (evidence(refusal="limits.cpu_seconds is 99"), "refused"),
        (evidence(run("reference", ["IE"], kind="bad_test")), "bad_test"),
        (evidence(run("reference", ["IE"], kind="sandbox")), "not_judged"),
        (evidence(run("reference", AC), run("again", ["WA"])), "unstable"),
        (evidence(run("reference", AC), run("seed", ["WA"], seed=1), run("seed", AC, seed=0)), "unstable"),
        (evidence(run("reference", ["TLE"])), "too_slow"),
        (evidence(run("reference", AC, seconds=30.0)), "too_slow"),
        (evidence(run("reference", AC), run("reference", ["TLE"])), "slow_reference"),
        (evidence(run("reference", AC), run("probe", AC, name="prints nothing")), "probe_passes"),
        (evidence(run("reference", AC), run("probe", AC, name="solves another problem")), "twin"),
    ],
)
def test_what_was_run_speaks(seen: Evidence, name: str) -> None:
    assert name in found(sums(), seen)


@pytest.mark.parametrize(
    "seen",
    [
        evidence(run("reference", AC), run("seed", ["WA"], seed=1), run("seed", ["WA"], seed=0)),
        evidence(run("reference", AC), run("seed", ["RTE"], seed=1)),
        evidence(run("reference", AC), run("again", ["IE"], kind="bad_test")),
    ],
)
def test_a_detour_that_fails_proves_nothing(seen: Evidence) -> None:
    assert "unstable" not in found(sums(), seen)


def test_a_known_wrong_solution_that_passes() -> None:
    problem = sums(solutions=[{"code": "a", "verdicts": ["NOT_AC"]}, {"code": "b", "verdicts": ["TLE"]}])
    wrong, slow = problem.wrong
    seen = evidence(run("reference", AC), run("wrong", AC, solution=wrong), run("wrong", AC, solution=slow))
    assert {"wrong_passes", "slow_passes"} <= found(problem, seen).keys()


# --- comparison


@pytest.mark.parametrize(
    ("printed", "expected", "rung"),
    [
        ("1 2\n", "1 2\n", "exact"),
        ("1 2 \n", "1 2\n", "lines"),
        ("1\n2\n", "1 2\n", "tokens"),
        ("1.0000000001 2\n", "1 2\n", "numbers"),
        ("YES\n", "Yes\n", "ignore_case"),
        ("b\na\n", "a\nb\n", "unordered_lines"),
        ("other\n", "a\n", None),
    ],
)
def test_the_strictest_comparison_is_found(printed: str, expected: str, rung: Rung | None) -> None:
    problem = sums(tests=[{"type": "stdin", "output": expected}])
    seen = evidence(run("reference", ["WA"], outputs=[printed]))
    policy = recipe().checker
    wanted = comparison.checker_of(rung, policy) if rung else None
    assert comparison.strictest(problem, seen, policy) == wanted


def test_a_looser_comparison_is_written_only_where_the_recipe_allows_it() -> None:
    problem = sums(tests=[{"type": "stdin", "input": str(n), "output": f"{n}.5"} for n in range(5)])
    seen = evidence(run("reference", ["WA"] * 5, outputs=[f"{n}.4999999999" for n in range(5)]))
    assert not condemned(problem, seen)
    assert "looser_checker" in found(problem, seen)
    proposal = comparison.proposed(problem, seen, recipe())
    assert proposal is not None
    assert proposal.float_tolerance == 1e-6
    strict = {"checker": {"allowed": ["tokens"]}}
    assert condemned(problem, seen, **strict) == {"reference_fails"}
    assert "it would pass under tokens, numbers within 1e-06" in found(problem, seen, **strict)["reference_fails"]
    assert condemned(problem, seen, checker={"policy": "keep"}) == {"reference_fails"}


def test_what_was_cut_is_not_compared() -> None:
    seen = run("reference", ["WA"], outputs=["1"])
    cut = seen.grade.model_copy(update={"tests": [seen.grade.tests[0].model_copy(update={"stdout_truncated": True})]})
    problem = sums(tests=[{"type": "stdin", "output": "1"}])
    assert comparison.strictest(problem, evidence(type(seen)("reference", "", cut)), recipe().checker) is None


def test_checks_are_named_once() -> None:
    def name(check: Callable[..., object]) -> str:
        return f"{check.__module__}.{check.__qualname__}"

    assert len({name(each) for each in checks.CHECKS}) == len(checks.CHECKS)
