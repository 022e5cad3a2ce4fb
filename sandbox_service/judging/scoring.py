"""Scores groups of tests as contests do: all or nothing, the minimum, the maximum or the sum, and dependencies.

A test's share is 1 if it was accepted, else 0, unless a checker program awarded a part of it. A test that was not run
has the share 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from sandbox_service.schema import GroupResult, TestCase, TestGroup, TestResult, Verdict


def share_of(result: TestResult | None) -> float:
    """Return the part of a test that was achieved, from 0 to 1; 0 if it was not run."""
    if result is None:
        return 0.0
    if result.share is not None:
        return result.share
    return 1.0 if result.verdict == Verdict.AC else 0.0


def group_results(
    groups: Sequence[TestGroup], tests: Sequence[TestCase], results: Iterable[TestResult]
) -> list[GroupResult]:
    """Return the score of each group.

    Args:
        groups: the groups, in any order; no dependency is circular.
        tests: all tests, which name their groups.
        results: the results of the tests that were run.
    """
    done = {result.index: result for result in results}
    members = members_of(groups, tests)
    shares: dict[str, float] = {}
    by_name = {group.name: group for group in groups}
    for group in groups:
        _share(group, by_name, members, tests, done, shares)
    return [_result(group, shares[group.name], members[group.name], done) for group in groups]


def members_of(groups: Sequence[TestGroup], tests: Sequence[TestCase]) -> dict[str, list[int]]:
    """Return the indices of the tests of each group."""
    members: dict[str, list[int]] = {group.name: [] for group in groups}
    for index, test in enumerate(tests):
        if test.group in members:
            members[test.group].append(index)
    return members


def _share(
    group: TestGroup,
    groups: Mapping[str, TestGroup],
    members: Mapping[str, Sequence[int]],
    tests: Sequence[TestCase],
    done: Mapping[int, TestResult],
    shares: dict[str, float],
) -> float:
    """Return the share of a group, and store it and those of the groups it depends on."""
    if group.name not in shares:
        needed = [_share(groups[name], groups, members, tests, done, shares) for name in group.requires]
        own = [(share_of(done.get(index)), tests[index].weight) for index in members[group.name]]
        is_open = all(share >= 1.0 for share in needed)
        shares[group.name] = _combined(group.rule, own) if is_open else 0.0
    return shares[group.name]


def _combined(rule: str, shares: Sequence[tuple[float, float]]) -> float:
    """Return the share of a group from those of its tests, which come with their weights."""
    if rule == "sum":
        heaviest = max(weight for _, weight in shares)
        scaled = [(share, weight / heaviest) for share, weight in shares]
        return fsum(share * weight for share, weight in scaled) / fsum(weight for _, weight in scaled)
    if rule == "all":
        return float(all(share >= 1.0 for share, _ in shares))
    return (min if rule == "min" else max)(share for share, _ in shares)


def _result(group: TestGroup, share: float, members: Sequence[int], done: Mapping[int, TestResult]) -> GroupResult:
    verdicts = [done[index].verdict for index in members if index in done]
    failed = [verdict for verdict in verdicts if verdict != Verdict.AC]
    verdict = failed[0] if failed else Verdict.AC if len(verdicts) == len(members) else None
    return GroupResult(name=group.name, score=group.points * share, points=group.points, verdict=verdict)


def total_share(groups: Sequence[GroupResult]) -> float:
    """Return the share of all points; of groups without points, the share of those that have their full share."""
    points = fsum(group.points for group in groups)
    if points > 0:
        return fsum(group.score for group in groups) / points
    return float(all(group.verdict == Verdict.AC for group in groups))


def lost(groups: Sequence[TestGroup], tests: Sequence[TestCase], results: Iterable[TestResult]) -> frozenset[str]:
    """Return the groups whose score is certain to be 0, so that their other tests need not be run.

    Args:
        groups: the groups.
        tests: all tests.
        results: the results so far.
    """
    by_name = {group.name: group for group in groups}
    failed: set[str] = set()
    without_share: set[str] = set()
    for result in results:
        name = tests[result.index].group
        if name in by_name and result.verdict not in (Verdict.AC, Verdict.IE):
            failed.add(name)
            if share_of(result) == 0.0:
                without_share.add(name)
    gone = {name for name in failed if by_name[name].rule == "all"}
    gone |= {name for name in without_share if by_name[name].rule == "min"}
    closed = {name for name in failed if by_name[name].rule != "max"} | gone
    return frozenset(gone | _dependants(closed, groups))


def _dependants(closed: set[str], groups: Sequence[TestGroup]) -> set[str]:
    """Return the groups that depend, directly or not, on one that cannot have its full share."""
    found: set[str] = set()
    grew = True
    while grew:
        more = {group.name for group in groups if (closed | found) & set(group.requires)} - found
        found |= more
        grew = bool(more)
    return found


def fault(groups: Sequence[TestGroup], tests: Sequence[TestCase]) -> str | None:
    """Return why these groups cannot be used for these tests, or None."""
    names = [group.name for group in groups]
    if len(set(names)) < len(names):
        return "two groups have the same name"
    known = set(names)
    for group in groups:
        if unknown := set(group.requires) - known:
            return f"the group {group.name!r} requires {min(unknown)!r}, which is no group"
        if group.name in _dependants({group.name}, groups):
            return f"the group {group.name!r} depends on itself"
    for index, test in enumerate(tests):
        if test.group and test.group not in known:
            return f"tests.{index}: {test.group!r} is no group"
    empty = [name for name, members in members_of(groups, tests).items() if not members]
    return f"the group {empty[0]!r} has no tests" if empty else None
