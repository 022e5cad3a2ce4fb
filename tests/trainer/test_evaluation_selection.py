"""Tests of the best of n by a model's own test cases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from trainer.data import Problems
from trainer.evaluation import selection
from trainer.evaluation.grading import GradingOptions, Verdict
from trainer.evaluation.options import parse
from trainer.evaluation.results import Results
from trainer.evaluation.samples import Sample
from trainer.evaluation.selection import ANSWERS, MATRIX, Selection, choose
from trainer.evaluation.table import notes

NAMES = ("a", "b", "c")
ANSWER = '[{"input": "1", "output": "1"}, {"input": "2", "output": "2"}]'


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    tests = [{"type": "stdin", "input": "9", "output": "9"}]
    lines = [{"id": name, "prompt": f"{name}?\nExample:\n9", "tests": tests} for name in NAMES]
    (tmp_path / "problems.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Problems([tmp_path / "problems.jsonl"])


def samples(*texts: str) -> list[Sample]:
    return [Sample(name, number, text) for name in NAMES for number, text in enumerate(texts)]


def results(problems: Problems, right: Mapping[str, list[bool]]) -> Results:
    made = Results((problems.by_id(name) for name in NAMES), 2)
    for sample in samples("", ""):
        word = "AC" if right[sample.problem][sample.sample] else "WA"
        made.add(sample, Verdict(sample.problem, sample.sample, word, ""))
    return made


class Client:
    """Grades without a service: a text passes the cases whose output it contains."""

    asked: ClassVar[list[Mapping[str, Any]]] = []

    def __init__(self, *_: object, **__: object) -> None: ...

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def grade_problem(self, submission: Mapping[str, Any], grading: Mapping[str, Any], _: str) -> Any:
        self.asked.append(submission)
        passed = [case["output"] in submission["completion"] for case in grading["tests"]]
        tests = [SimpleNamespace(index=number, verdict="AC" if each else "WA") for number, each in enumerate(passed)]
        return SimpleNamespace(reward=None if submission["completion"] == "fault" else 1.0, tests=tests)


def graded(chosen: Selection, problems: Problems, *texts: str) -> list[dict[str, Any]]:
    Client.asked = []
    asyncio.run(chosen.grade(problems, samples(*texts), GradingOptions(), print))
    return [json.loads(line) for line in (chosen.folder / MATRIX).read_text().splitlines()]


def write_answers(folder: Path, *texts: str) -> None:
    lines = [json.dumps(Sample(name, number, text).plain()) for name in NAMES for number, text in enumerate(texts)]
    (folder / ANSWERS).write_text("\n".join(lines) + "\n")


def test_the_solution_that_passes_most_cases_is_chosen() -> None:
    assert choose([[True, False], [True, True], [True, True], None]) == 1
    assert choose([None, []]) == 0


def test_a_question_is_about_a_problem_and_has_its_id(tmp_path: Path, problems: Problems) -> None:
    asked = Selection(tmp_path, 2, 2, "{cases}: {statement}").questions(problems)
    assert [asked[each].id for each in range(3)] == list(NAMES)
    assert asked[0].messages[-1]["content"] == "2: a?\nExample:\n9", "less than a quarter would be left"


def test_each_sample_is_graded_once_against_all_cases(
    tmp_path: Path, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "RewardClient", Client)
    chosen = Selection(tmp_path, 2, 2, "")
    write_answers(tmp_path, ANSWER, ANSWER, ANSWER.replace("1", "3"))
    rows = graded(chosen, problems, "1", "1 2", "fault")
    assert [(row["problem"], row["sample"], row["passed"], row["cases"]) for row in rows] == [
        (name, number, passed, 2) for name in NAMES for number, passed in ((0, [0]), (1, [0, 1]))
    ]
    assert all(each["stop_on_failure"] is False for each in Client.asked)
    assert len(graded(chosen, problems, "1", "1 2", "fault")) == 6
    assert {each["completion"] for each in Client.asked} == {"fault"}, "what has a row is not graded again"
    write_answers(tmp_path, ANSWER, ANSWER.replace("1", "3"))
    assert len(graded(chosen, problems, "1", "1 2")) == 12, "other cases are other work"


def test_the_figure_is_the_share_of_right_choices(tmp_path: Path, problems: Problems) -> None:
    write_answers(tmp_path, ANSWER, "no answer")
    rows = [("a", 0, [0]), ("a", 1, [0, 1]), ("b", 0, [1]), ("b", 1, [0])]
    lines = [{"problem": name, "sample": number, "passed": passed, "work": ""} for name, number, passed in rows]
    (tmp_path / MATRIX).write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = results(problems, {"a": [False, True], "b": [False, True], "c": [True, False]})
    figures = Selection(tmp_path, 2, 2, "").figures(told.all)
    assert figures["best"]["value"] == pytest.approx(2 / 3)
    assert (figures["best"]["n"], figures["formed"]) == (3, 0.5)
    summary = {"n": 2, "faults": 0, "missing": 0, "without_verdict": {"problems": 0}, "pass": {}, "selection": figures}
    assert next(notes(summary)).startswith("best of 2 by 2 × 2 test cases of its own: 66.7 (")


def test_the_options_are_read() -> None:
    plan = parse(["model", "problems.jsonl", "--testers", "8", "--cases", "2", "--ask", "{statement}?"])
    assert (plan.testers, plan.cases, plan.ask) == (8, 2, "{statement}?")
    assert parse(["model", "problems.jsonl"]).testers == 0
