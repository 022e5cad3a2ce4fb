"""The table of `python -m benchmarks labelled`: what counts as labelled, explained, and neither."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.labelled import explanations
from benchmarks.labelled.cases import Case, cases
from benchmarks.labelled.table import Judged, lines


def judged(name: str, label: str, verdict: str, explanation: dict[str, str] | None = None) -> Judged:
    case = Case(name, "file", "python", (label,), {})
    return Judged(case, {"verdict": verdict, "message": "one\ntwo"}, "", explanation)


def test_a_fault_of_the_service_is_no_wrong_verdict() -> None:
    assert judged("a", "NOT_AC", "WA").is_met
    assert not judged("a", "NOT_AC", "IE").is_met
    assert not judged("a", "NOT_AC", "").is_settled
    assert judged("a", "AC", "WA", {"class": "c", "why": "w"}).is_settled


def test_the_table_counts_each_program_once_and_names_those_that_differ() -> None:
    found = [
        judged("a", "AC", "AC"),
        judged("b", "AC", "WA"),
        judged("c", "NOT_AC", "AC", {"class": "data", "why": "no tests"}),
        Judged(Case("d", "file", "lisp", ("AC",), None), {}, "no lisp", None),
    ]
    text = "\n".join(lines(found))
    assert "| all | | 4 | 1 | 1 | 1 | 1 |" in text
    assert "- b: WA for AC (one)" in text
    assert "data: 1\n- c: AC for NOT_AC (one): no tests" in text
    assert "not run: 1: no lisp" in text


def test_problems_with_judges_become_submissions(tmp_path: Path) -> None:
    judge = {
        "language": "python", "main": "v.py", "source": "import helper", "files": {"helper.py": ""},
        "protocol": "domjudge", "flags": ["x"], "interactive": True, "passes": 3,
    }  # fmt: skip
    programs = [
        {"name": "accepted/a.py", "language": "python", "code": "1", "expected": ["AC"]},
        {
            "name": "accepted/b",
            "language": "python",
            "files": {"m.py": "", "n.py": ""},
            "main": "m.py",
            "expected": ["AC"],
        },
        {"name": "accepted/c.hs", "language": "haskell", "code": "1", "expected": ["AC"]},
    ]
    test = {"name": "1", "input": "in", "answer": "out", "flags": ["y"]}
    row = {"id": "p", "judge": judge, "tests": [test], "time_limit": 2, "memory_mb": 512, "submissions": programs}
    path = tmp_path / "judges.jsonl"
    path.write_text(json.dumps(row) + "\n")
    first, second, third = cases(path)
    assert first.body is not None
    assert first.body["interactor"]["arguments"] == ["x", "y"]
    assert first.body["interactor"]["files"] == {"v.py": "import helper", "helper.py": ""}
    assert first.body["tests"] == [{"type": "interactive", "input": "in", "output": "out"}]
    path.write_text(json.dumps(row | {"tests": [test, test | {"flags": []}]}) + "\n")
    first, *_ = cases(path)
    assert first.body is not None
    assert first.body["interactor"]["arguments"] == ["x"]
    assert [test["judge_arguments"] for test in first.body["tests"]] == [["y"], []]
    assert second.body is not None
    assert second.body["files"] == {"n.py": ""}
    assert third.body is None
    assert "haskell" in third.why_not


def test_each_explanation_has_a_class_and_a_reason() -> None:
    assert all(each["class"] and each["why"] for each in explanations().values())
