"""Checkers that a model writes: a stand-in endpoint, real grading. Only a checker that the programs confirm is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_service import cli
from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram, StdinTest
from sandbox_service.validation import checker_writer, model, recipe
from sandbox_service.validation.output import plain
from tests.conftest import need_firejail
from tests.markers import some
from tests.validation.endpoint import Endpoint, Json, completion, refusal, serving
from tests.validation.world import enter, evidence, run

UP = "n = int(input())\nprint(1, n - 1)"
DOWN = "n = int(input())\nprint(n - 1, 1)"
WRONG = "n = int(input())\nprint(1, n - 1 if n < 50 else n)"
ASKED = (
    "A farmer divides n loaves, which are given in one line, between two neighbours, and each of them has to get at "
    "least one loaf. Print how many loaves the first and the second one get, with a blank between the two numbers. If "
    "there are several answers, print any of them."
)
RIGHT = """def check(input, output, answer):
    words = output.split()
    if len(words) != 2 or not all(word.isdigit() and len(word) < 10 for word in words):
        return False
    first, second = map(int, words)
    return first >= 1 and second >= 1 and first + second == int(input)
"""
TAKES_ALL = "def check(input, output, answer):\n    return True"
TAKES_NUMBERS = "def check(input, output, answer):\n    return len(output.split()) == 2"
TAKES_WRONG = RIGHT.replace("== int(input)", ">= int(input)")
TAKES_ONE = "def check(input, output, answer):\n    return output.split() == answer.split()"
FAILS = RIGHT.replace("return False", "raise ValueError(output)")
MODEL = "writer-1"


def loaves(**changes: Any) -> Problem:
    numbers = (2, 3, 10, 49, 50, 1000)
    tests = [{"type": "stdin", "input": f"{n}\n", "output": f"1 {n - 1}\n"} for n in numbers]
    solutions = [{"code": UP}, {"code": DOWN}, {"code": WRONG, "verdicts": ["WA"]}]
    fields = {"id": "loaves", "prompt": ASKED, "tests": tests, "solutions": solutions, "source": "ours", **changes}
    return Problem.model_validate(fields)


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Enter an empty folder with default settings; serve a model."""
    need_firejail()
    monkeypatch.setattr(model, "FIRST_PAUSE_SECONDS", 0.01)
    enter(tmp_path, monkeypatch)
    with serving(Endpoint()) as running:
        yield running


def validated(endpoint: Endpoint, *problems: Problem, programs: int = 3) -> Json:
    Path("problems.jsonl").write_text("".join(json.dumps(plain(each)) + "\n" for each in problems))
    writer = {"url": endpoint.url, "model": MODEL, "programs": programs}
    lines = ['name = "small"', "[[sources]]", 'path = "problems.jsonl"', "[checker.writer]"]
    Path("recipe.toml").write_text("\n".join([*lines, *(f"{name} = {json.dumps(writer[name])}" for name in writer)]))
    assert cli.main(["validate", "recipe.toml", "--jobs", "1"]) == 0
    manifest: Json = json.loads(Path("validated/small/manifest.json").read_text())
    return manifest


def clean() -> list[Json]:
    return [json.loads(line) for line in Path("validated/small/clean.jsonl").read_text().splitlines()]


def answering(*sources: str) -> list[Any]:
    return [completion(f"It reads both numbers.\n\n```python\n{source}\n```") for source in sources]


def test_a_confirmed_checker_takes_the_problem_out_of_quarantine(endpoint: Endpoint) -> None:
    endpoint.acts = answering(RIGHT)
    manifest = validated(endpoint, loaves())
    assert manifest["problems"]["clean"] == 1
    assert manifest["generated_checkers"] == ["loaves"]
    assert manifest["findings"]["generated_checker"]["problems"] == 1
    [line] = clean()
    problem = Problem.model_validate(line)
    assert isinstance(problem.checker, JudgeProgram)
    assert (problem.checker.protocol, problem.checker.source) == ("function", RIGHT)
    assert problem.meta == {"generated_checker": MODEL}
    [asked] = endpoint.asked
    assert asked["model"] == MODEL
    assert ASKED in asked["messages"][0]["content"]
    assert "def check(input, output, answer)" in asked["messages"][0]["content"]


REFUTED = [TAKES_ALL, TAKES_NUMBERS, TAKES_WRONG, TAKES_ONE, FAILS, "print(1)", "def check("]


@pytest.mark.parametrize("source", some(REFUTED, (TAKES_ALL, TAKES_ONE, FAILS)))
def test_a_checker_that_the_programs_refute_is_not_kept(endpoint: Endpoint, source: str) -> None:
    endpoint.acts = answering(source)
    manifest = validated(endpoint, loaves(), programs=1)
    assert manifest["problems"]["quarantined"] == 1
    assert manifest["generated_checkers"] == []
    assert "needs_checker" in manifest["findings"]


def test_the_next_checker_is_tried_and_nothing_is_asked_twice(endpoint: Endpoint) -> None:
    endpoint.acts = answering(TAKES_ALL, RIGHT)
    first = validated(endpoint, loaves())
    assert first["generated_checkers"] == ["loaves"]
    assert len(endpoint.asked) == 2
    assert validated(endpoint, loaves())["generated_checkers"] == ["loaves"]
    Path("validated/small/journal.jsonl").unlink()  # the judgements are lost, the completions are not
    assert validated(endpoint, loaves())["generated_checkers"] == ["loaves"]
    assert len(endpoint.asked) == 2


def test_a_refused_prompt_leaves_the_problem_in_quarantine(endpoint: Endpoint) -> None:
    endpoint.acts = [refusal(400, "too long")]
    assert validated(endpoint, loaves())["problems"]["quarantined"] == 1


def test_other_problems_are_not_asked_about(endpoint: Endpoint) -> None:
    one_answer = ASKED.partition(" If ")[0]
    has_one = loaves(id="has one", checker={"type": "program", "protocol": "function", "source": RIGHT})
    single = loaves(id="one answer", prompt=one_answer, solutions=[{"code": UP}])
    broken = loaves(id="no reference", solutions=[])
    few = loaves(id="few tests", tests=loaves().model_dump(mode="json")["tests"][:2])
    manifest = validated(endpoint, has_one, single, broken, few)
    assert endpoint.asked == []
    assert manifest["generated_checkers"] == []


def test_changed_answers_differ_from_the_right_ones() -> None:
    tests = [StdinTest(input="1", output="YES\n1 2\n"), StdinTest(input="2", output="-1\n"), StdinTest(output="")]
    assert list(checker_writer.changed_answers(tests)) == [
        ["", "", ""],
        ["YES\n1 ", "", ""],
        ["YES\n1 2 2\n", "-1 -1\n", " 0\n"],
        ["YES\n2 3\n", "0\n", ""],
        ["-1\n", "", "YES\n1 2\n"],
    ]


def test_a_checker_needs_references_that_end_and_programs_that_fail() -> None:
    before = evidence(run("reference", ["AC"], name="a"), run("reference", ["WA"], name="b"))
    both = (run("reference", ["AC"], name="a"), run("reference", ["AC"], name="b"))
    assert checker_writer.is_confirmed(before, evidence(*both, run("wrong", ["WA"]), run("probe", ["WA"])))
    assert not checker_writer.is_confirmed(before, evidence(*both[:1], run("reference", ["WA"], name="b")))
    assert not checker_writer.is_confirmed(before, evidence(*both, run("wrong", ["AC"])))
    assert not checker_writer.is_confirmed(before, evidence(*both, run("probe", ["AC"])))
    assert not checker_writer.is_confirmed(before, evidence(*both, run("wrong", ["IE"])))
    assert not checker_writer.is_confirmed(before, evidence(*both, refusal="too large"))
    assert not checker_writer.is_confirmed(evidence(run("reference", ["TLE"])), evidence(*both))


def test_a_writer_without_an_address_or_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    start = 'name = "small"\n[[sources]]\npath = "p.jsonl"\n[checker.writer]\n'
    for more, said in (('model = "m"', "url is missing"), ('url = "http://127.0.0.1:1/v1"', "url needs model")):
        path.write_text(start + more)
        with pytest.raises(ConfigurationError, match=said):
            recipe.read(path)


def test_the_address_of_the_writer_does_not_change_what_was_judged() -> None:
    def fingerprint(**writer: Any) -> str:
        fields = {"name": "small", "sources": [{"path": "p"}], "checker": {"writer": writer}}
        return recipe.Recipe.model_validate(fields).fingerprint

    assert fingerprint(url="http://a/v1", model="m") == fingerprint(url="http://b/v1", model="m", concurrency=2)
    assert fingerprint(url="http://a/v1", model="m") != fingerprint(url="http://a/v1", model="n")
