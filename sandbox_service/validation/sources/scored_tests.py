"""Makes a problem's groups of tests that have points, or belong to a group that has: for Polygon, DMOJ and CMS.

Tests without points are in a group that counts nothing: their verdicts matter, and their shares do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_service.schema import TestGroup

TESTS, WITHOUT_POINTS = "tests", "without points"


@dataclass(frozen=True)
class Place:
    """The place of a test: its group, empty if it is in none, and its points, None if nothing says so."""

    group: str
    points: float | None


@dataclass(frozen=True)
class Policy:
    """The scoring of a group. Without `points` it has those of its tests."""

    name: str
    rule: str
    points: float | None
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grouped:
    """Groups, and the place of each test in them."""

    groups: tuple[TestGroup, ...]
    places: tuple[Place, ...]

    def of_tests(self, has_checker: bool) -> Iterator[dict[str, Any]]:
        """Yield the fields of each test: its group, its weight, and its full score if a checker may award a part.

        Args:
            has_checker: a checker program awards points, of which the test's are all.
        """
        for place in self.places:
            fields: dict[str, Any] = {"group": place.group}
            if place.points:
                fields["weight"] = place.points
                fields |= {"full_score": place.points} if has_checker else {}
            yield fields


def grouped(places: Sequence[Place], policies: Sequence[Policy]) -> Grouped:
    """Return the groups of a problem's tests.

    Args:
        places: of all tests, in order.
        policies: of the groups that the tests name. Without any, tests with points are one group, a sum.

    Raises:
        ValueError: a test or a group has no place in this.
    """
    if not policies and all(place.points is None for place in places):
        return Grouped((), tuple(Place("", None) for _ in places))
    if not policies:
        policies = [Policy(TESTS, "sum", None)]
        places = [Place(TESTS, place.points) for place in places]
    known = {policy.name: policy for policy in policies}
    required = {name for policy in policies for name in policy.requires} - {
        each.group for each in places if each.points
    }
    found: list[Place] = []
    for number, place in enumerate(places, 1):
        policy = known.get(place.group)
        if policy is None and place.points:
            raise ValueError(
                f"test {number} gives points in the group {place.group!r}, which has no rule for its score"
            )
        counts = policy is not None and (
            policy.rule != "sum" or policy.points is not None or bool(place.points) or policy.name in required
        )
        found.append(place if counts else Place(WITHOUT_POINTS, None))
    groups = [_group(policy, [place for place in found if place.group == policy.name]) for policy in policies]
    made = [group for group in groups if group is not None]
    if any(place.group == WITHOUT_POINTS for place in found):
        made.append(TestGroup(name=WITHOUT_POINTS, points=0.0))
    names = {group.name for group in made}
    for group in made:
        if unknown := [each for each in group.requires if each not in names]:
            raise ValueError(f"the group {group.name} requires {unknown[0]!r}, which has no tests")
    return Grouped(tuple(made), tuple(found))


def _group(policy: Policy, places: Sequence[Place]) -> TestGroup | None:
    """Return a group; None if it has no tests."""
    if not places:
        return None
    given = [place.points or 0.0 for place in places]
    if policy.rule == "sum" and any(given) and not all(given):
        raise ValueError(f"the group {policy.name} adds the points of its tests, of which one has none")
    points = sum(given) if policy.points is None else policy.points
    requires = list(policy.requires)
    return TestGroup.model_validate({"name": policy.name, "points": points, "rule": policy.rule, "requires": requires})
