"""Generators that a model writes: what is asked, which inputs are believed, and what a second run asks again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.strengthen import job
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.validation.model import Model
from sandbox_service.validation.output import plain
from sandbox_service.validation.recipe import Recipe
from tests.strengthen.test_work import OR, RIGHT, problem
from tests.strengthen.world import ExecutingJudge
from tests.validation.endpoint import Endpoint, Json, completion, refusal, serving

THIRD = "print(sum(int(each) for each in input().split()))"
WRONG_WHEN_LARGE = {
    "code": "a, b = map(int, input().split())\nprint((a + b) % 2**40)",
    "verdicts": ["WA"],
    "name": "wraps",
}
LARGE = "seed = int(input())\nprint(10**12 + seed, 10**15)"
BROKEN = "raise SystemExit(3)"
SAME = "input()\nprint(7, 6)"


def answer(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\n"


def strengthened(
    endpoint: Endpoint, folder: Path, given: Problem, judge: ExecutingJudge, **changes: Any
) -> dict[str, Any]:
    (folder / "problems.jsonl").write_text(json.dumps(plain(given)) + "\n")
    wanted = {"url": endpoint.url, "model": "m", "programs": 2, "inputs": 5, "patience_seconds": 2.0, **changes}
    recipe = Recipe.model_validate(
        {
            "name": "t",
            "output": str(folder / "out"),
            "sources": [{"path": str(folder / "problems.jsonl")}],
            "strengthen": {"inputs": 8, "mutants": 0, "tests": 8, "generators": wanted},
        }
    )
    assert recipe.strengthen.generators is not None

    async def run() -> dict[str, Any]:
        async with Model(recipe.strengthen.generators, "", print) as model:  # type: ignore[arg-type]
            return await job.Job(recipe, judge, 1, lambda _: None, model=model).run()

    return asyncio.run(run())


def added(folder: Path) -> list[Any]:
    line = json.loads((folder / "out/clean.jsonl").read_text())
    return [each["how"] for each in line["strength"]["added"]]


def well_judged(**changes: Any) -> Problem:
    return problem(solutions=[*({"code": code} for code in (*RIGHT, THIRD)), OR, WRONG_WHEN_LARGE], **changes)


def test_a_program_that_only_a_generator_s_input_tells_is_refused(tmp_path: Path) -> None:
    codes = iter([LARGE, BROKEN])
    with serving(Endpoint(say=lambda _: completion(answer(next(codes))))) as endpoint:
        manifest = strengthened(endpoint, tmp_path, well_judged(), ExecutingJudge())
    assert manifest["run"]["asked_now"] == 2
    assert any(how.startswith("generator") for how in added(tmp_path))
    assert manifest["strength"]["after"]["share"] == 1.0
    [asked, _] = endpoint.asked
    assert "seed" in asked["messages"][0]["content"]
    assert "1 2\n" in asked["messages"][0]["content"]  # an example


def test_without_three_references_inputs_stay_within_what_is_known(tmp_path: Path) -> None:
    codes = iter([LARGE, SAME])
    with serving(Endpoint(say=lambda _: completion(answer(next(codes))))) as endpoint:
        strengthened(endpoint, tmp_path, problem(), ExecutingJudge())
    line = json.loads((tmp_path / "out/clean.jsonl").read_text())
    assert max(int(number) for test in line["tests"] for number in test["input"].split()) <= 16
    subject = subject_of(problem())
    assert not isinstance(subject, str)
    assert subject.admitted("7 6", judges=1) == "7 6\n"
    assert subject.admitted("7 1000000", judges=1) is None
    assert subject.admitted("7 6 5", judges=2) is None
    assert subject.admitted("7 1000000", judges=3) == "7 1000000\n"


@pytest.mark.parametrize(
    ("text", "judges", "admitted"),
    [
        ("[3, 2]", 1, "[3, 2]"),
        ("[3, 20000]", 1, None),
        ("[3, 20000]", 3, "[3, 20000]"),
        ("[3]", 3, None),
        ("open('x')", 3, None),
        ("3, 2", 3, None),
    ],
)
def test_arguments_are_literals_of_the_same_kinds(text: str, judges: int, admitted: str | None) -> None:
    tests = [{"type": "call", "function": "f", "args": [a, b], "output": a + b} for a, b in ((1, 2), (4, 8), (9, 1))]
    subject = subject_of(problem(tests=tests, solutions=[{"code": "def f(a, b): return a + b"}]))
    assert not isinstance(subject, str)
    assert subject.admitted(text, judges=judges) == admitted


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    with serving(Endpoint(say=lambda _: completion(answer(LARGE)))) as endpoint:
        judge = ExecutingJudge()
        strengthened(endpoint, tmp_path, well_judged(), judge)
        first, judged = (tmp_path / "out/clean.jsonl").read_bytes(), judge.asked
        again = strengthened(endpoint, tmp_path, well_judged(), judge, concurrency=3)
        assert (again["run"]["asked_now"], judge.asked) == (0, judged)
        (tmp_path / "out/journal.jsonl").unlink()
        once_more = strengthened(endpoint, tmp_path, well_judged(), judge)
    assert once_more["run"]["asked_now"] == 0
    assert judge.asked == 2 * judged
    assert (tmp_path / "out/clean.jsonl").read_bytes() == first
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize("said", ["There is no such program.", answer("def ("), answer(BROKEN), ""])
def test_a_model_that_writes_no_generator_costs_nothing_else(tmp_path: Path, said: str) -> None:
    with serving(Endpoint(say=lambda _: completion(said))) as endpoint:
        manifest = strengthened(endpoint, tmp_path, well_judged(), ExecutingJudge())
    assert manifest["problems"]["strengthened"] == 1
    assert not any(how.startswith("generator") for how in added(tmp_path))


def test_a_prompt_that_the_model_refuses_leaves_the_problem_without_generators(tmp_path: Path) -> None:
    def say(body: Json) -> Any:
        too_long = "seed" in body["messages"][0]["content"]
        return refusal(400, "the prompt is too long") if too_long else completion("yes")

    with serving(Endpoint(say=say)) as endpoint:
        manifest = strengthened(endpoint, tmp_path, well_judged(), ExecutingJudge())
    assert manifest["problems"]["strengthened"] == 1


def test_generators_need_an_address_and_a_model() -> None:
    for given in ({}, {"url": "http://127.0.0.1:1/v1"}, {"model": "m"}):
        with pytest.raises(ValueError, match="url"):
            Recipe.model_validate(
                {"name": "t", "sources": [{"path": "x"}], "strengthen": {"generators": given}},
            )
