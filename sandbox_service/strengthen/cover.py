"""Chooses tests by greedy cover: few and short ones that fail most wrong programs, each program several times.

A program that no chosen test fails counts more than all programs that one fails already. Further tests that fail a
program guard against unknown programs, and count ever less: a program that few inputs tell is refused a second time
before one that many tell is refused a fourth time. Large inputs cost more to grade: what they fail counts less, so that
one is chosen only where small ones do not tell. Ties go to the shorter input, then to the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

LARGE = 10_000  # size of an input in bytes at which the programs that it fails count half
FIRST = 1000  # weight of a program that nothing fails yet
FADE = 0.2  # weight of the second failure of a program, and of each further one for that of the one before


def choose(fails: Mapping[int, Set[int]], sizes: Sequence[int], most: int, depth: int) -> list[int]:
    """Return the chosen tests, in the order of choice.

    Args:
        fails: By program, the tests that it fails.
        sizes: Bytes of each test's input.
        most: At most so many tests.
        depth: Tests that shall fail each program, where there are so many.
    """
    failed: dict[int, int] = dict.fromkeys(fails, 0)
    by_test: dict[int, list[int]] = {}
    for program, tests in fails.items():
        for test in tests:
            by_test.setdefault(test, []).append(program)
    chosen: list[int] = []
    while len(chosen) < most:
        gains = {
            test: _gain(programs, failed, depth) / (1 + sizes[test] / LARGE)
            for test, programs in by_test.items()
            if test not in chosen
        }
        best = max(gains, key=lambda test: (gains[test], -sizes[test], -test), default=None)
        if best is None or gains[best] == 0:
            break
        chosen.append(best)
        for program in by_test[best]:
            failed[program] += 1
    return chosen


def _gain(programs: Sequence[int], failed: Mapping[int, int], depth: int) -> float:
    return sum(FADE ** failed[each] if failed[each] else FIRST for each in programs if failed[each] < depth)


def filled(
    chosen: Sequence[int], groups: Sequence[str], answers: Sequence[str], least: int, without: Set[int] = frozenset()
) -> list[int]:
    """Return the chosen tests, with others of new groups and new answers until there are `least`.

    Args:
        chosen: The tests that are chosen.
        groups: By test, how its input was made.
        answers: By test, its answer.
        least: So many tests, if there are.
        without: Tests that are not added.
    """
    found = list(chosen)
    for wants_new_answer in (True, False):
        for test, group in enumerate(groups):
            if len(found) >= least:
                return found
            is_new = group not in {groups[each] for each in found}
            has_new = answers[test] not in {answers[each] for each in found}
            if test not in found and test not in without and is_new and (has_new or not wants_new_answer):
                found.append(test)
    return found
