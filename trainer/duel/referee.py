"""Rewards the testers of a problem, by the matrix of its solutions and all of their test cases.

A row of the matrix has for each test case whether a solution passes it; it is None if the service gave no verdict. Each
solution is graded against all distinct cases once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from trainer.config.sections import Duel
from trainer.duel.question import Case, parse_cases
from trainer.episode import Completion, Episode, Group, Reward

if TYPE_CHECKING:
    from trainer.reward import Grader

Row = Sequence[bool] | None
UNKNOWN = Reward(None, reason="no right or no wrong solution")
TEXT_LENGTH = 256 << 20  # characters of all earlier programs; the problems that were sampled longest ago go first


async def judge(
    settings: Duel,
    grader: Grader,
    name: str,
    solutions: Sequence[Episode],
    answers: Sequence[Completion],
    earlier: Sequence[str] = (),
) -> list[Episode]:
    """Return the testers' episodes of a group with a unique name, one for each of the answers to the same problem.

    They have no reward if no solution is right, or neither a solution nor a program of earlier steps is wrong.
    """
    if not answers:
        return []
    cases, columns = distinct([parse_cases(each.text, settings.cases) for each in answers])
    prompt, now = solutions[0].prompt, [each.completion for each in solutions]
    before = [Completion((), (), text, False, 0, 0) for text in earlier if text not in {each.text for each in now}]
    right = [*map(_is_right, solutions), *(False for _ in before)]
    programs = [*now, *before] if {True, False} <= set(right) else []

    async def row(number: int, program: Completion) -> Row:
        return await grader.passes(f"{name}.cases.{number}", prompt, program, cases) if cases else []

    rows = await asyncio.gather(*(row(*each) for each in enumerate(programs)))
    rewards = scores(right, rows or [None] * len(right), columns) or [UNKNOWN] * len(answers)
    return [
        Episode(prompt.tester or prompt, answer, reward, role="tester")
        for answer, reward in zip(answers, rewards, strict=True)
    ]


def _is_right(solution: Episode) -> bool | None:
    """Return None for a solution that says nothing about test cases: without a verdict or a program, or suspect."""
    reward = solution.reward
    is_evidence = reward.has_program and not (reward.is_fault or reward.is_suspect)
    return reward.verdict == "AC" if is_evidence else None


def scores(right: Sequence[bool | None], rows: Sequence[Row], columns: Sequence[Sequence[int] | None]) -> list[Reward]:
    """Return the rewards of the answers to one problem, with figures for the report.

    An answer earns 0 unless all right solutions pass all of its cases, then the share of wrong solutions that fail at
    least one of them: the positive part of CURE's reward (arXiv 2506.03136, section 3.2).

    Solutions are right, wrong or unknown (None), and have a row each; answers have the numbers of their cases
    (columns), or None if their form is wrong. Without a right or a wrong solution with a row the list is empty.
    """
    passing = [row for row, is_right in zip(rows, right, strict=True) if is_right is True and row is not None]
    failing = [row for row, is_right in zip(rows, right, strict=True) if is_right is False and row is not None]
    if not passing or not failing:
        return []
    return [_score(each, passing, failing) for each in columns]


def _score(columns: Sequence[int] | None, right: Sequence[Sequence[bool]], wrong: Sequence[Sequence[bool]]) -> Reward:
    if columns is None:
        return Reward(0.0, figures={"formed": 0.0, "valid": 0.0})
    valid = [all(row[column] for row in right) for column in columns]
    figures = {"formed": 1.0, "valid": fmean(valid)}
    if not all(valid):
        return Reward(0.0, figures=figures)
    caught = fmean(not all(row[column] for column in columns) for row in wrong)
    return Reward(caught, figures=figures | {"caught": caught})


def distinct(written: Sequence[Sequence[Case] | None]) -> tuple[list[Case], list[list[int] | None]]:
    """Return the distinct cases of several written answers, and for each answer the numbers of its cases, or None."""
    cases = {(case["input"], case["output"]): case for answer in written for case in answer or ()}
    numbers = {key: number for number, key in enumerate(cases)}
    columns = [None if some is None else [numbers[each["input"], each["output"]] for each in some] for some in written]
    return list(cases.values()), columns


class EarlierPrograms:
    """The newest different wrong completions of each problem, at most `count` a problem; see docs/training.md."""

    def __init__(self, count: int, text_length: int = TEXT_LENGTH) -> None:
        self._count = count
        self._left = text_length
        self._texts: OrderedDict[str, list[str]] = OrderedDict()

    def of(self, problem: str) -> list[str]:
        """Return the programs of a problem, the oldest first."""
        return list(self._texts.get(problem, ()))

    def add(self, group: Group) -> None:
        """Add the programs of a group's wrong solutions. One that ended at the token limit may be half a program."""
        whole = [each for each in group.episodes if each.role == "solver" and not each.completion.is_truncated]
        graded = [each for each in whole if each.reward.has_program and not each.reward.is_fault]
        texts = [each.completion.text for each in graded if each.reward.verdict != "AC"]
        old = [text for text in self.of(group.prompt.id) if text not in texts]
        self._put(group.prompt.id, [*old, *dict.fromkeys(texts)][-self._count :] if self._count else [])

    def state(self) -> dict[str, list[str]]:
        return dict(self._texts)

    def restore(self, state: Mapping[str, Sequence[str]]) -> None:
        for problem, texts in state.items():
            self._put(problem, list(texts))

    def _put(self, problem: str, texts: list[str]) -> None:
        self._left += sum(map(len, self._texts.pop(problem, ())))
        if texts:
            self._texts[problem] = texts
            self._left -= sum(map(len, texts))
        while self._left < 0:
            _, forgotten = self._texts.popitem(last=False)
            self._left += sum(map(len, forgotten))
