"""Computes a Codeforces rating after CodeElo: the model's place among the human participants of contests.

CodeElo (Quan et al. 2025, arXiv 2501.01257), as implemented in rLLM. For each contest and each problem whose i-th
sample (from 0) is the first right one,

    score   += max(0, points - 50·i)    where problems have points
    score   += 1, penalty += 10·i       where solved problems are counted (ICPC rules, Div. 3 and 4)

The model's place m is one after all rated official participants who did better. Its rating r in the contest is where
the expected place is m:   1 + Σ_j 1 / (1 + 10^((r - r_j) / 400)) = m   over their ratings r_j before the contest.
The left side decreases with r, so r is found by bisection of [0, max r_j + 100]. The rating is the mean over contests.

The rating is too high where tests are few. CodeElo's published data has the statements' examples only, mostly one to
three a problem, which wrong programs pass. It also ignores time: people lose points by the minute, and a model is
assumed to answer at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

LEAST_PARTICIPANTS = 200  # rated official participants; CodeElo omits contests with fewer
WRONG_POINTS = 50.0  # deducted for each wrong sample before the first right one
WRONG_PENALTY = 10.0  # minutes, where solved problems are counted
ROOM_ABOVE = 100.0


@dataclass(frozen=True)
class Participant:
    """A rated official participant."""

    rating: float  # before the contest
    points: float
    penalty: float


@dataclass(frozen=True)
class Contest:
    """A contest's final standings. A problem without points is counted."""

    id: int
    name: str
    problems: Mapping[str, float | None]  # points by index
    participants: Sequence[Participant]

    @property
    def is_counted(self) -> bool:
        """Return whether solved problems are counted instead of points."""
        return not any(self.problems.values())


@dataclass(frozen=True)
class Place:
    """A model's result in a contest."""

    contest: int
    name: str
    score: float
    penalty: float
    rank: int
    rating: float
    asked: int  # of its problems, how many the model was asked
    problems: int  # in the contest

    def plain(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Rating:
    """The mean over contests, and which contests were omitted and why."""

    value: float | None
    error: float | None  # the standard error of the mean over contests
    places: Sequence[Place] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON-compatible data."""
        return {
            "value": self.value,
            "error": self.error,
            "contests": [each.plain() for each in self.places],
            "left_out": {str(contest): why for contest, why in self.left_out.items()},
        }


Tries = Mapping[str, Sequence[bool | None]]  # of a contest: by problem index, whether each sample was right


def rate(tries: Mapping[int, Tries], contests: Mapping[int, Contest]) -> Rating:
    """Return a model's rating. Contests without standings or with too few participants are omitted.

    Args:
        tries: By contest and problem index, whether each sample was right; None without a verdict.
        contests: Standings by contest.
    """
    places, left_out = [], {}
    for number in sorted(tries):
        if (why := _unfit(tries[number], contests.get(number))) is not None:
            left_out[number] = why
        else:
            places.append(place(tries[number], contests[number]))
    ratings = [each.rating for each in places]
    error = stdev(ratings) / math.sqrt(len(ratings)) if len(ratings) > 1 else None
    return Rating(fmean(ratings) if ratings else None, error, places, left_out)


def place(tries: Tries, contest: Contest) -> Place:
    """Return the model's result in one contest.

    Args:
        tries: By problem index, whether each sample was right.
        contest: The contest.
    """
    score, penalty = score_of(tries, contest)
    rank = rank_of(score, penalty, contest.participants)
    rating = rating_at(rank, [each.rating for each in contest.participants])
    return Place(contest.id, contest.name, score, penalty, rank, rating, len(tries), len(contest.problems))


def score_of(tries: Tries, contest: Contest) -> tuple[float, float]:
    """Return points (or solved problems) and penalty. Samples without a verdict are ignored.

    Args:
        tries: By problem index, whether each sample was right.
        contest: The contest.
    """
    score = penalty = 0.0
    for index, samples in tries.items():
        known = [each for each in samples if each is not None]
        if True not in known:
            continue
        wrong = known.index(True)
        if contest.is_counted:
            score, penalty = score + 1, penalty + WRONG_PENALTY * wrong
        else:
            score += max(0.0, (contest.problems[index] or 0.0) - WRONG_POINTS * wrong)
    return score, penalty


def rank_of(score: float, penalty: float, participants: Sequence[Participant]) -> int:
    """Return the place: one after all with a higher score, or the same score and a lower penalty.

    Args:
        score: The model's score.
        penalty: The model's penalty.
        participants: The other participants.
    """
    return 1 + sum((-each.points, each.penalty) < (-score, penalty) for each in participants)


def rating_at(rank: int, ratings: Sequence[float]) -> float:
    """Return the rating whose expected place is `rank`, between 0 and 100 above the best participant.

    Args:
        rank: The place.
        ratings: The participants' ratings.
    """
    low, high = 0.0, max(ratings) + ROOM_ABOVE
    while high - low > 1e-3:
        middle = (low + high) / 2
        if expected_rank(middle, ratings) < rank:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def expected_rank(rating: float, ratings: Sequence[float]) -> float:
    """Return 1 plus the sum of each participant's probability to do better, by Elo's formula.

    Args:
        rating: The model's rating.
        ratings: The participants' ratings.
    """
    return 1 + sum(1 / (1 + 10 ** ((rating - each) / 400)) for each in ratings)


def _unfit(tries: Tries, contest: Contest | None) -> str | None:
    if contest is None:
        return "no standings"
    if len(contest.participants) < LEAST_PARTICIPANTS:
        return f"{len(contest.participants)} rated official participants, fewer than {LEAST_PARTICIPANTS}"
    strange = sorted(set(tries) - set(contest.problems))
    return f"problems that it does not have: {', '.join(strange)}" if strange else None
