"""Adapter for TRL's GRPOTrainer and its relatives: `GRPOTrainer(reward_funcs=[CodeReward("http://proctor:8080")], …)`.

A batch is graded as one. Without a verdict a reward is None, which TRL masks: it does not count in its group's
baseline, and its advantage is 0. This requires that every other reward function returns None for the sample as well;
otherwise TRL adds up their values. open-r1 is TRL; its data sets have the tests in `verification_info`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox_service.adapters.common import PATIENCE_SECONDS, client, submissions


class CodeReward:
    """A reward function, which can be pickled.

    Args:
        url: The service's address; default: PROCTOR_URL.
        truth: The data set's column with the ground truth.
        name: The name in TRL's logs.
        patience_seconds: Time to wait for an unavailable service.
        **options: Further fields of the submissions.
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
        """Return a reward per completion; None without a verdict.

        Args:
            completions: Texts or messages.
            **columns: The data set's columns.

        Raises:
            ValueError: A ground truth is missing or invalid.
        """
        if self._truth not in columns:
            raise ValueError(f"the data set has no column {self._truth!r}: set `truth` to the column with the tests")
        fields = submissions(completions, columns[self._truth], self._options)
        grades = client(*self._client).grade_many(fields)
        if "log_extra" in columns:
            columns["log_extra"](f"{self.__name__}_verdict", [str(grade.verdict) for grade in grades])
        if "log_metric" in columns:
            share = sum(grade.reward is None for grade in grades) / len(grades)
            columns["log_metric"](f"{self.__name__}/no_verdict", share)
        return [grade.reward for grade in grades]
