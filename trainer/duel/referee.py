"""Rewards the testers of a problem: grades each solution against all of their test cases, once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from trainer.config import Duel
from trainer.duel.matrix import Row, distinct, scores
from trainer.duel.question import Case, parse_cases
from trainer.episode import Completion, Episode, Prompt, Reward
from trainer.reward import Grader


class Referee:
    """Compares solutions and test cases by the reward service."""

    def __init__(self, settings: Duel, grader: Grader) -> None:
        self._settings = settings
        self._grader = grader

    async def judge(
        self, name: str, solutions: Sequence[Episode], answers: Sequence[Completion], earlier: Sequence[str] = ()
    ) -> list[Episode]:
        """Return the testers' episodes.

        Args:
            name: A unique name of the group.
            solutions: The solver's graded episodes.
            answers: The testers' answers to the same problem.
            earlier: Wrong programs of earlier steps.

        Returns:
            An episode an answer; without a reward if no solution is right, or neither a solution nor an earlier program
            is wrong.
        """
        if not answers:
            return []
        written = [parse_cases(each.text, self._settings.cases) for each in answers]
        cases, columns = distinct(written)
        now = [each.completion for each in solutions]
        before = [_as_completion(text) for text in earlier if text not in {each.text for each in now}]
        right = [*map(_is_right, solutions), *(False for _ in before)]
        programs = [*now, *before] if {True, False} <= set(right) else []
        rows = await self._rows(name, solutions[0].prompt, programs, cases) or [None] * len(right)
        found = scores(right, rows, columns)
        rewards = [Reward(each.value, figures=each.figures) for each in found] or [UNKNOWN] * len(answers)
        prompt = solutions[0].prompt.tester or solutions[0].prompt
        return [Episode(prompt, *each, role="tester") for each in zip(answers, rewards, strict=True)]

    async def _rows(
        self, name: str, prompt: Prompt, programs: Sequence[Completion], cases: Sequence[Case]
    ) -> list[Row]:
        if not cases:
            return [[] for _ in programs]
        each = [
            self._grader.passes(f"{name}.cases.{number}", prompt, program, cases)
            for number, program in enumerate(programs)
        ]
        return list(await asyncio.gather(*each))


UNKNOWN = Reward(None, reason="no right or no wrong solution")


def _as_completion(text: str) -> Completion:
    return Completion((), (), text, False, 0, 0)


def _is_right(solution: Episode) -> bool | None:
    """Return None for a solution that says nothing about test cases: without a verdict or a program, or suspect."""
    reward = solution.reward
    is_evidence = reward.has_program and not (reward.is_fault or reward.is_suspect)
    return reward.verdict == "AC" if is_evidence else None
