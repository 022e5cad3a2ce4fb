"""TRL's GRPOTrainer and its kin: `GRPOTrainer(reward_funcs=[CodeReward("http://proctor:8080")], …)`.

A batch is graded as one. Without a verdict a reward is None, which TRL masks: it is no part of its group's baseline,
and its advantage is 0. But only where every other reward function says None for that sample as well; otherwise TRL
adds up what the others say. open-r1 is TRL: its data sets have the tests in `verification_info`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox_service.adapters.asking import PATIENCE_SECONDS, client, submissions


class CodeReward:
    """A reward function. `truth` names the data set's column with the tests; `options` are fields of submissions.

    It can be pickled. Raises ValueError for a ground truth that is not understood, and what the client raises.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        truth: str = "tests",
        name: str = "proctor",
        patience_seconds: float = PATIENCE_SECONDS,
        **options: Any,
    ) -> None:
        self.__name__ = name  # TRL logs it
        self._truth = truth
        self._client = (url, patience_seconds)
        self._options = options

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """A reward for each completion, text or messages; None where there is no verdict."""
        if self._truth not in columns:
            raise ValueError(f"the data set has no column {self._truth!r}: name the one with the tests as `truth`")
        asked = submissions(completions, columns[self._truth], self._options)
        grades = client(*self._client).grade_many(asked)
        if "log_extra" in columns:
            columns["log_extra"](f"{self.__name__}_verdict", [str(grade.verdict) for grade in grades])
        if "log_metric" in columns:
            share = sum(grade.reward is None for grade in grades) / len(grades)
            columns["log_metric"](f"{self.__name__}/no_verdict", share)
        return [grade.reward for grade in grades]
