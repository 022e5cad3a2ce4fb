"""Rewards of testers, and the choice of a solution, from the matrix of solutions and test cases. Pure.

A row has for each test case whether the solution passes it; None if the service gave no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from trainer.duel.question import Case

Row = Sequence[bool] | None


@dataclass(frozen=True)
class Score:
    """The reward of a tester's answer, and measurements by name for the report."""

    value: float
    figures: Mapping[str, float]


def scores(right: Sequence[bool | None], rows: Sequence[Row], columns: Sequence[Sequence[int] | None]) -> list[Score]:
    """Score the answers to one problem.

    An answer earns 0 unless all right solutions pass all of its cases, then the share of wrong solutions that fail at
    least one of them. This is the positive part of CURE's reward (arXiv 2506.03136, section 3.2), which also punishes
    invalid cases by the share of wrong solutions that pass them. The group's mean does that here.

    Args:
        right: For each solution whether it passes the hidden tests; None without a verdict.
        rows: For each solution its row.
        columns: For each answer the numbers of its cases; None if its form is wrong.

    Returns:
        A score an answer; an empty list if there is no right or no wrong solution with a row.
    """
    passing = [row for row, is_right in zip(rows, right, strict=True) if is_right is True and row is not None]
    failing = [row for row, is_right in zip(rows, right, strict=True) if is_right is False and row is not None]
    if not passing or not failing:
        return []
    return [_score(each, passing, failing) for each in columns]


def _score(columns: Sequence[int] | None, right: Sequence[Sequence[bool]], wrong: Sequence[Sequence[bool]]) -> Score:
    if columns is None:
        return Score(0.0, {"formed": 0.0, "valid": 0.0})
    valid = [all(row[column] for row in right) for column in columns]
    figures = {"formed": 1.0, "valid": fmean(valid)}
    if not all(valid):
        return Score(0.0, figures)
    caught = fmean(not all(row[column] for column in columns) for row in wrong)
    return Score(caught, figures | {"caught": caught})


def choose(rows: Sequence[Row]) -> int:
    """Return the solution that passes the most test cases, the first of equal ones."""
    return max(range(len(rows)), key=lambda each: (sum(rows[each] or ()), -each))


def distinct(written: Sequence[Sequence[Case] | None]) -> tuple[list[Case], list[list[int] | None]]:
    """Return the distinct cases of several written answers, and for each answer the numbers of its cases; None stays
    None.
    """
    numbers: dict[tuple[str, str], int] = {}
    cases: list[Case] = []
    columns: list[list[int] | None] = []
    for answer in written:
        for case in answer or ():
            if numbers.setdefault((case["input"], case["output"]), len(cases)) == len(cases):
                cases.append(case)
        columns.append(None if answer is None else [numbers[case["input"], case["output"]] for case in answer])
    return cases, columns
