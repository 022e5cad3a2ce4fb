"""Best of n by the model's own test cases: of each problem's samples, the one that passes the most of them.

The model is asked for test cases as testers are in training (`trainer.duel`): `--testers` answers of `--cases` cases
for each problem, from its statement without examples. Each sample is graded once against all cases of its problem. The
problem's own tests then say whether the chosen sample is right. Files: questions.jsonl, answers.jsonl, matrix.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data import OTHER_TESTS, Problem, Problems
from trainer.duel.question import Case, parse_cases, question_for
from trainer.duel.referee import Row, distinct
from trainer.evaluation import jsonl, samples
from trainer.evaluation.concurrency import for_each
from trainer.evaluation.grading import GradingOptions, submission_of
from trainer.evaluation.interval import estimate
from trainer.evaluation.results import Result
from trainer.evaluation.samples import Sample, digest
from trainer.reward import RewardClient

QUESTIONS, ANSWERS, MATRIX = "questions.jsonl", "answers.jsonl", "matrix.jsonl"


@dataclass(frozen=True)
class Selection:
    """Which test cases are asked for, and where they are kept."""

    folder: Path
    testers: int  # answers a problem
    cases: int  # test cases an answer
    ask: str  # the question; empty: duel/question.py's

    @property
    def answers(self) -> Path:
        """The file of the testers' answers."""
        return self.folder / ANSWERS

    def questions(self, problems: Problems) -> Problems:
        """Write the questions as problems, with the ids of the problems that they are about.

        Args:
            problems: The problems.

        Returns:
            The questions, in the order of the problems.

        Raises:
            ConfigError: A problem has tests that testers cannot write.
        """
        with jsonl.atomic_write(self.folder / QUESTIONS) as file:
            for spot in problems.spots:
                question = question_for(problems.by_id(spot.id), self.ask, self.cases)
                line = {"id": question.id, "messages": list(question.messages), "tests": NO_TESTS}
                file.write(json.dumps(line) + "\n")
        return Problems([self.folder / QUESTIONS])

    async def grade(
        self, problems: Problems, wanted: Sequence[Sample], options: GradingOptions, notice: Callable[[str], None]
    ) -> None:
        """Grade samples against the test cases; rows in the file are reused.

        Args:
            problems: The problems.
            wanted: The samples.
            options: The grading settings.
            notice: Receives lines about outages.

        Raises:
            UnavailableError: The service does not answer.
            ConfigError: The service refuses a submission.
        """
        cases, known = self._cases(), self._rows()
        async with RewardClient(options.peer(), notice=notice) as client:
            with jsonl.JsonlWriter(self.folder / MATRIX) as file:

                async def one(sample: Sample) -> None:
                    mine, problem = cases.get(sample.problem, []), problems.by_id(sample.problem)
                    submission = self._submission(sample, problem, mine, options)
                    if not mine or known.get(sample.key, {}).get("work") == submission["id"]:
                        return
                    grade = await client.grade_problem(submission, {"tests": mine}, problem.id)
                    if grade.reward is not None:
                        passed = [each.index for each in grade.tests if each.verdict == "AC"]
                        line = {"problem": sample.problem, "sample": sample.sample, "work": submission["id"]}
                        file.append(line | {"passed": passed, "cases": len(mine)})

                await for_each(wanted, one, options.concurrency)

    def figures(self, results: Sequence[Result]) -> dict[str, Any]:
        """Return the share of problems whose chosen sample is right.

        Args:
            results: The results by the problems' own tests.
        """
        rows = self._rows()
        right = [chosen for each in results if (chosen := self._chosen(each, rows)) is not None]
        found = estimate([float(each) for each in right], len(right))
        settings = {"testers": self.testers, "cases": self.cases}
        return settings | {"best": found.plain() if found else None, "formed": self._formed()}

    def _chosen(self, result: Result, rows: Mapping[tuple[str, int], Mapping[str, Any]]) -> bool | None:
        """Return whether the sample that is chosen among those with a verdict is right; None if there is none."""
        numbers = [number for number, is_right in enumerate(result.right) if is_right is not None]
        if not numbers:
            return None
        passed = [[True] * len(rows.get((result.problem, number), {}).get("passed", ())) for number in numbers]
        return result.right[numbers[choose(passed)]]

    def _formed(self) -> float:
        """Return the share of answers with the right form."""
        read = [parse_cases(each.text, self.cases) is not None for each in self._answers()]
        return sum(read) / max(len(read), 1)

    def _answers(self) -> Iterator[Sample]:
        return (each for each in samples.read(self.answers) if each.sample < self.testers)

    def _cases(self) -> dict[str, list[Case]]:
        """Return the distinct test cases of each problem."""
        written: dict[str, list[list[Case] | None]] = {}
        for answer in self._answers():
            written.setdefault(answer.problem, []).append(parse_cases(answer.text, self.cases))
        return {problem: distinct(each)[0] for problem, each in written.items()}

    def _rows(self) -> dict[tuple[str, int], dict[str, Any]]:
        return {(line["problem"], line["sample"]): line for line in jsonl.read(self.folder / MATRIX)}

    def _submission(
        self, sample: Sample, problem: Problem, cases: Sequence[Case], options: GradingOptions
    ) -> dict[str, Any]:
        submission = submission_of(sample, problem, options) | OTHER_TESTS
        what = json.dumps([submission, list(cases)], sort_keys=True)
        return {"id": f"evaluate-cases-{digest(what)}-{digest(sample.problem)}", **submission}


NO_TESTS = [{"type": "stdin", "output": ""}]  # questions are not graded


def choose(rows: Sequence[Row]) -> int:
    """Return the solution whose row has the most passed test cases, the first of equal ones."""
    return max(range(len(rows)), key=lambda each: (sum(rows[each] or ()), -each))
