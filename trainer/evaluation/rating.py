"""A Codeforces rating after CodeElo: where a model would have been in contests that people took part in.

CodeElo (Quan et al. 2025, arXiv 2501.01257) and rLLM's calculation after it. For each contest, of a problem whose i-th
sample (from 0) is the first that is right,

    score   += max(0, points - 50·i)    where problems have points
    score   += 1, penalty += 10·i       where they are counted (ICPC rules, Div. 3 and 4)

The model's place m is one after all rated official participants who did better. Its rating r in that contest is where
the expected place is m:   1 + Σ_j 1 / (1 + 10^((r - r_j) / 400)) = m   over their ratings r_j before the contest.
The left side falls with r, so r is found by halving [0, max r_j + 100]. The rating is the mean over contests.

It says too much where tests are few. What is graded here is what the problem's line has; CodeElo's published
data has the statements' examples only, of which most problems have one to three, and wrong programs pass them. The
same holds for time: people lose points by the minute, and a model is taken to answer at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

LEAST_PARTICIPANTS = 200  # rated official ones: CodeElo leaves out contests with fewer
WRONG_POINTS = 50.0  # that a wrong sample before the right one costs
WRONG_PENALTY = 10.0  # minutes that it costs where problems are counted
ROOM_ABOVE = 100.0


@dataclass(frozen=True)
class Participant:
    """A rated official one."""

    rating: float  # before the contest
    points: float
    penalty: float


@dataclass(frozen=True)
class Contest:
    """Its final standings. A problem without points is one that is counted."""

    id: int
    name: str
    problems: Mapping[str, float | None]  # points by index
    participants: Sequence[Participant]

    @property
    def is_counted(self) -> bool:
        """Whether problems are counted, and have no points."""
        return not any(self.problems.values())


@dataclass(frozen=True)
class Place:
    """How a model did in a contest."""

    contest: int
    name: str
    score: float
    penalty: float
    rank: int
    rating: float
    asked: int  # problems of it that were asked
    problems: int  # that it has

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Rating:
    """The mean over contests, and what was left out and why."""

    value: float | None
    error: float | None  # the standard error of the mean over contests
    places: Sequence[Place] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return {
            "value": self.value,
            "error": self.error,
            "contests": [each.plain() for each in self.places],
            "left_out": {str(contest): why for contest, why in self.left_out.items()},
        }


Tries = Mapping[str, Sequence[bool | None]]  # of a contest: by index of a problem, whether each sample was right


def rate(tries: Mapping[int, Tries], contests: Mapping[int, Contest]) -> Rating:
    """The rating of a model that tried these problems. Contests without standings or enough people are left out."""
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
    """Where it would have been in one contest."""
    score, penalty = score_of(tries, contest)
    rank = rank_of(score, penalty, contest.participants)
    rating = rating_at(rank, [each.rating for each in contest.participants])
    return Place(contest.id, contest.name, score, penalty, rank, rating, len(tries), len(contest.problems))


def score_of(tries: Tries, contest: Contest) -> tuple[float, float]:
    """Points or problems, and penalty. A sample without a verdict is no try."""
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
    """One after all who have more, or as much with a smaller penalty."""
    return 1 + sum((-each.points, each.penalty) < (-score, penalty) for each in participants)


def rating_at(rank: int, ratings: Sequence[float]) -> float:
    """Where the expected rank among these is the given one; at most 100 above the best of them, at least 0."""
    low, high = 0.0, max(ratings) + ROOM_ABOVE
    while high - low > 1e-3:
        middle = (low + high) / 2
        if expected_rank(middle, ratings) < rank:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def expected_rank(rating: float, ratings: Sequence[float]) -> float:
    """1 + the sum of everybody's chance to do better, by Elo's formula."""
    return 1 + sum(1 / (1 + 10 ** ((rating - each) / 400)) for each in ratings)


def _unfit(tries: Tries, contest: Contest | None) -> str | None:
    if contest is None:
        return "no standings"
    if len(contest.participants) < LEAST_PARTICIPANTS:
        return f"{len(contest.participants)} rated official participants, fewer than {LEAST_PARTICIPANTS}"
    strange = sorted(set(tries) - set(contest.problems))
    return f"problems that it does not have: {', '.join(strange)}" if strange else None
