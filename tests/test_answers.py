"""What those who carry an answer read of it."""

from __future__ import annotations

import pytest

from sandbox_service.answers import Answer
from sandbox_service.schema import Grade, Verdict


def answer(verdict: Verdict, reward: float | None) -> Answer:
    return Answer(Grade(id="x", verdict=verdict, reward=reward, total=2).model_dump_json().encode())


@pytest.mark.parametrize(
    ("verdict", "reward", "is_fault", "is_lasting"),
    [
        (Verdict.AC, 1.0, False, True),
        (Verdict.WA, 0.0, False, True),
        (Verdict.TLE, 0.0, False, False),
        (Verdict.IE, None, True, False),
        (Verdict.WA, None, True, False),  # one test is wrong, another has no verdict, and each would have counted
    ],
)
def test_what_has_no_reward_is_our_fault(
    verdict: Verdict, reward: float | None, *, is_fault: bool, is_lasting: bool
) -> None:
    found = answer(verdict, reward)
    assert (found.is_fault, found.is_lasting) == (is_fault, is_lasting)
