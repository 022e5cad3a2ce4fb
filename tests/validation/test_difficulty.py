"""Difficulty for a model: each sample is requested and graded once, and selects problems. Without a jail."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.errors import BadRequestError, ConfigurationError, UnavailableError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Grade
from sandbox_service.validation import job
from sandbox_service.validation.completions import Completion
from sandbox_service.validation.judge import Fields, Judge
from sandbox_service.validation.model import Completer, Messages, ModelRefusedError
from sandbox_service.validation.recipe import Source
from sandbox_service.validation.sources import Malformed
from tests.validation.world import FakeJudge, letters, recipe, run, sums, words

Json = dict[str, Any]
FILES = ("clean.jsonl", "quarantine.jsonl", "difficulty.jsonl")
ASKED: Json = {"url": "http://127.0.0.1:1/v1", "model": "m", "samples": 4}


class Grader(FakeJudge):
    """Gives a completion the verdict that it names, and programs the verdict of FakeJudge."""

    def __init__(self) -> None:
        super().__init__()
        self.graded: Counter[str] = Counter()

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        if "completion" not in submissions[0]:
            return await super().grade(shared, submissions)
        return [self._graded(each["completion"]) for each in submissions]

    def _graded(self, text: str) -> Grade:
        self.graded[text] += 1
        return run("reference", [text.split()[0]]).grade


class Speaker:
    """Solves as many samples of a problem as `solves` says, by a word of its prompt; counts requests."""

    def __init__(self, **solves: int) -> None:
        self.solves = solves
        self.asked: Counter[tuple[str, int]] = Counter()

    async def ask(self, messages: Messages, seed: int) -> Completion:
        await asyncio.sleep(0)
        prompt = messages[-1]["content"]
        self.asked[prompt, seed] += 1
        number = sum(1 for each, _ in self.asked if each == prompt)
        name = next(name for name in self.solves if name in prompt)
        verdict = "AC" if number <= self.solves[name] else "WA"
        return Completion(f"{verdict} {name} {seed}", is_cut=verdict == "WA" and number == 4, tokens=3)


def validate(
    folder: Path, model: Completer | None, by: Judge | None = None, rows: Sequence[Problem] = (), **fields: Any
) -> Json:
    def read(_: Source) -> Iterator[Problem | Malformed]:
        yield from rows or (sums(), words(), letters(), sums(id="copy"))

    made = recipe(folder, **{"difficulty": ASKED, **fields})
    return asyncio.run(job.Job(made, by or Grader(), 3, lambda _: None, read, model).run())


def lines(folder: Path, name: str = "clean.jsonl") -> list[Json]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def speaker() -> Speaker:
    """Solves one problem always, one half the time, one never."""
    return Speaker(loaves=4, alphabetical=2, painter=0)


def test_difficulty_is_the_share_of_samples_that_fail(tmp_path: Path) -> None:
    asked = speaker()
    manifest = validate(tmp_path, asked)
    assert {each["id"]: each["difficulty"] for each in lines(tmp_path)} == {"sums": 0.0, "words": 0.5, "letters": 1.0}
    assert lines(tmp_path, "difficulty.jsonl")[1] == {"problem": "words", "n": 4, "correct": 2, "cut": 1}
    assert manifest["difficulty"] == {
        "known": 3,
        "unknown": 0,
        "too easy": 0,
        "too hard": 0,
        "samples": {"graded": 12, "passed": 6, "cut": 2, "not_judged": 0},
        "solved": {"0.000": 1, "0.500": 1, "1.000": 1},
    }
    assert len(asked.asked) == 12, "what is in quarantine is not asked"
    assert manifest["run"]["asked_now"] == 12


def test_what_is_always_or_never_solved_is_left_out(tmp_path: Path) -> None:
    manifest = validate(tmp_path, speaker(), difficulty={**ASKED, "least": 0.01, "most": 0.99})
    assert [each["id"] for each in lines(tmp_path)] == ["words"]
    assert manifest["problems"]["left_out"] == {"too easy": 1, "too hard": 1}
    assert (manifest["problems"]["clean"], manifest["problems"]["read"]) == (1, 4)
    assert [each["problem"] for each in lines(tmp_path, "difficulty.jsonl")] == ["sums", "words", "letters"]


def test_results_of_before_select_the_same(tmp_path: Path) -> None:
    bounds = {"least": 0.01, "most": 0.6}
    first = validate(tmp_path / "asked", speaker(), difficulty={**ASKED, **bounds})
    results = str(tmp_path / "asked" / "difficulty.jsonl")
    second = validate(tmp_path / "known", None, difficulty={"results": results, **bounds})
    clean, again = (tmp_path / each / "clean.jsonl" for each in ("asked", "known"))
    assert clean.read_bytes() == again.read_bytes()
    assert first["problems"] == second["problems"]
    assert {**first["difficulty"], "samples": 0} == {**second["difficulty"], "samples": 0}


@pytest.mark.parametrize("after", [1, 5, 11])
def test_ended_in_the_middle_nothing_is_asked_or_graded_twice(tmp_path: Path, after: int) -> None:
    def solved(seed: int) -> str:
        return "AC" if seed % 2 else "WA"

    class Mortal(Speaker):
        begun = 0

        async def ask(self, messages: Messages, seed: int) -> Completion:
            self.begun += 1
            if self.begun > self.solves["after"]:
                await asyncio.sleep(0.003)
                raise UnavailableError("gone")
            await asyncio.sleep(0.001 * (seed % 5))
            self.asked[messages[-1]["content"], seed] += 1
            return Completion(f"{solved(seed)} {seed}", is_cut=False)

    whole, first, second = Mortal(after=99), Mortal(after=after), Mortal(after=99)
    validate(tmp_path / "whole", whole)
    graders = Grader(), Grader()
    with pytest.raises(UnavailableError):
        validate(tmp_path / "parts", first, graders[0])
    assert not (tmp_path / "parts" / "clean.jsonl").exists()
    with (tmp_path / "parts" / "samples.jsonl").open("a") as file:
        file.write('{"key": "torn')
    again = validate(tmp_path / "parts", second, graders[1])
    assert first.asked + second.asked == whole.asked, "each once, in all"
    assert max((graders[0].graded + graders[1].graded).values()) == 1
    assert again["run"]["asked_now"] == second.asked.total()
    for name in FILES:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_more_samples_and_another_selection_ask_for_what_is_missing_only(tmp_path: Path) -> None:
    validate(tmp_path, speaker())
    more, judge = speaker(), Grader()
    manifest = validate(tmp_path, more, judge, difficulty={**ASKED, "samples": 6, "most": 0.9})
    assert more.asked.total() == 6
    assert manifest["run"]["judged_now"] == 0
    assert judge.graded.total() == 6
    other = speaker()
    validate(tmp_path, other, difficulty={**ASKED, "model": "another"})
    assert other.asked.total() == 12


def test_samples_that_the_sandbox_cannot_judge_are_left_out_and_graded_again(tmp_path: Path) -> None:
    class Faulty(Grader):
        def _graded(self, text: str) -> Grade:
            grade = super()._graded(text)
            return run("reference", ["IE"], kind="sandbox").grade if text.startswith("WA") else grade

    asked = speaker()
    manifest = validate(tmp_path, asked, Faulty())
    assert lines(tmp_path)[1]["difficulty"] == 0.0, "of the two that are judged, both pass"
    assert "difficulty" not in lines(tmp_path)[2]
    assert (manifest["difficulty"]["unknown"], manifest["difficulty"]["samples"]["not_judged"]) == (1, 6)
    healthy, nobody = Grader(), speaker()
    validate(tmp_path, nobody, healthy)
    assert [each["difficulty"] for each in lines(tmp_path)] == [0.0, 0.5, 1.0]
    assert nobody.asked.total() == 0
    assert healthy.graded.total() == 6


def test_a_problem_that_the_model_or_the_judge_refuses_stays_without(tmp_path: Path) -> None:
    class Choosy(Speaker):
        async def ask(self, messages: Messages, seed: int) -> Completion:
            if "painter" in messages[-1]["content"]:
                raise ModelRefusedError("400: the prompt is too long")
            return await super().ask(messages, seed)

    class Strict(Grader):
        async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
            if "alphabetical" in submissions[0].get("completion", ""):
                raise BadRequestError("too large")
            return await super().grade(shared, submissions)

    manifest = validate(tmp_path, Choosy(loaves=4, alphabetical=2), Strict())
    assert [each.get("difficulty") for each in lines(tmp_path)] == [0.0, None, None]
    assert manifest["difficulty"]["unknown"] == 2
    report = (tmp_path / "report.html").read_text()
    assert "the model refuses it: 400: the prompt is too long" in report
    assert "the judge refuses what the model said: too large" in report


def test_the_same_question_is_asked_once_for_two_problems(tmp_path: Path) -> None:
    tests = sums().model_dump(mode="json")["tests"]
    more = sums(id="more", tests=[*tests, {"type": "stdin", "input": "3 4\n", "output": "7\n"}])
    asked = speaker()
    severity = {"duplicate": "note", "twin": "note"}
    validate(tmp_path, asked, rows=[sums(), more], severity=severity)
    assert asked.asked.total() == 4
    assert [each["difficulty"] for each in lines(tmp_path)] == [0.0, 0.0]


def test_conversations_are_asked_as_they_are(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "Think."}, {"role": "user", "content": sums().prompt or ""}]
    heard: list[Messages] = []

    class Listener(Speaker):
        async def ask(self, messages: Messages, seed: int) -> Completion:
            heard.append(messages)
            return await super().ask(messages, seed)

    validate(tmp_path, Listener(loaves=1), rows=[sums(prompt=None, messages=said)])
    assert heard == [said] * 4


def test_a_page_shows_how_many_are_solved_how_often(tmp_path: Path) -> None:
    validate(tmp_path, speaker(), difficulty={**ASKED, "least": 0.01, "most": 0.99})
    text = (tmp_path / "report.html").read_text()
    assert "Samples of m that pass" in text
    assert "1 too easy" in text
    assert "1 too hard" in text
    assert "2 of 12 samples were cut off" in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"problem": "sums", "n": 2, "correct": 3}', "3 correct of 2"),
        ('{"problem": "sums"}', "lines with problem, n and correct are expected"),
        ("[]", "lines with problem, n and correct are expected"),
        ("{", "lines with problem"),
    ],
)
def test_results_that_are_none_are_said(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "results.jsonl").write_text(line + "\n")
    with pytest.raises(ConfigurationError, match=said):
        validate(tmp_path, None, difficulty={"results": str(tmp_path / "results.jsonl")})


def test_results_with_a_problem_that_nobody_sampled_say_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"problem": "sums", "n": 0, "correct": 0}\n\n')
    manifest = validate(tmp_path, None, difficulty={"results": str(tmp_path / "results.jsonl"), "least": 0.5})
    assert (manifest["problems"]["clean"], manifest["difficulty"]["unknown"]) == (3, 3)
