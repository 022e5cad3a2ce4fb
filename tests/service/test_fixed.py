"""Ways of escaping a verdict, or of being paid for nothing, that were once open."""

from __future__ import annotations

from tests.conftest import Service

DEEP = "def solve(a):\n    for _ in range(200):\n        a = [a]\n    return a"


def test_a_set_does_not_pass_for_a_sorted_list(service: Service) -> None:
    test = {"type": "call", "function": "solve", "args": [[3, 1, 2]], "output": [1, 2, 3]}
    assert service.grade(code="def solve(a): return set(a)", tests=[test])["verdict"] == "WA"
    unordered = {"type": "unordered_lines"}
    assert service.grade(code="def solve(a): return set(a)", tests=[test], checker=unordered)["verdict"] == "AC"


def test_a_value_too_deep_to_be_passed_back_is_the_candidates_failure(service: Service) -> None:
    test = {"type": "assert", "code": "assert solve([solve(1)]) == 2", "entry_point": "solve"}
    grade = service.grade(code=DEEP, tests=[test])
    assert (grade["verdict"], grade["reward"]) == ("RTE", 0.0)


def test_a_failing_test_counts_though_a_later_one_cannot_be_run(service: Service) -> None:
    wrong = {"type": "assert", "code": "assert solve(1) == 2", "entry_point": "solve"}
    bad = {"type": "assert", "code": "assert 1 ==", "entry_point": "solve"}
    grade = service.grade(code="def solve(a): return a", tests=[wrong, bad], stop_on_failure=False)
    assert (grade["verdict"], grade["reward"], grade["mask_sample"]) == ("WA", 0.0, False)
    grade = service.grade(code="def solve(a): return 2", tests=[wrong, bad], stop_on_failure=False)
    assert (grade["verdict"], grade["reward"], grade["failure_kind"]) == ("IE", None, "bad_test")
