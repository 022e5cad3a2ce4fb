"""Reads the groups of tests of a scored Kattis package, and the greatest score of each test.

In the older format (`testdata.yaml`) a group adds, averages or takes the least or greatest of its tests' scores. That
counts only if the group is accepted: if all tests are, unless a flag says otherwise. In the newer format
(`test_group.yaml`) a group passes or fails, or adds, or takes the least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox_service.schema import TestGroup
from sandbox_service.validation.sources import fields
from sandbox_service.validation.sources.kattis_settings import Settings
from sandbox_service.validation.sources.rows import Row

RULES = {"min": "min", "max": "max", "sum": "sum", "avg": "sum"}
NEWER_RULES = {"pass-fail": "all", "sum": "sum", "min": "min"}
ACCEPTING = ("accept_if_any_accepted", "always_accept")
SAMPLE, SECRET = "sample", "secret"
DEFAULT_MOST = 100.0  # of `secret`, in the newer format


@dataclass(frozen=True)
class Scored:
    """The scoring of a package.

    Attributes:
        groups: the groups; none for a problem that is passed or failed.
        full_scores: the greatest score of each test, by its name, if a validator may award a part of it.
    """

    groups: tuple[TestGroup, ...] = ()
    full_scores: Mapping[str, float] = field(default_factory=dict)

    def group_of(self, test: str) -> str:
        """Return the group of the test with this name; empty if there are no groups."""
        return _folder(test) if self.groups else ""


def scored(settings: Settings, tests: Sequence[str], has_validator: bool) -> Scored:
    """Return the rules by which a package is scored.

    The folders below `secret` are the groups. Deeper folders belong to theirs.

    Args:
        settings: of the package.
        tests: the tests' names: their paths below `data`.
        has_validator: a validator of the package may award a part of a test.

    Raises:
        ValueError: in a way that cannot be expressed here.
    """
    if not settings.is_scored:
        return Scored()
    members: dict[str, list[str]] = {}
    for test in tests:
        members.setdefault(_folder(test), []).append(test)
    secret = settings.of(SECRET)
    if secret_rule := _unlike_a_sum(settings, secret, list(members)):
        raise ValueError(f"the scores of its groups are combined by {secret_rule}, and only sums are known here")
    groups: list[TestGroup] = []
    scores: dict[str, float] = {}
    for name, inside in members.items():
        group, most = (_newer if settings.is_newer else _legacy)(name, settings.of(name), len(inside), has_validator)
        groups.append(group)
        if has_validator and most is not None:
            scores |= dict.fromkeys(inside, most)
    names = {group.name for group in groups}
    return Scored(tuple(_with_names(group, names) for group in groups), scores)


def _unlike_a_sum(settings: Settings, secret: Row, groups: Sequence[str]) -> str | None:
    """Return the rule that combines the scores of groups below `secret`; None if they are added, or without groups."""
    if not any("/" in name for name in groups):
        return None
    if settings.is_newer:
        rule = str(secret.get("score_aggregation") or "sum")
        return None if rule == "sum" else rule
    rules = [word for word in _words(secret) if word in RULES]
    return rules[-1] if rules and rules[-1] != "sum" else None


def _words(settings: Row) -> list[str]:
    return str(settings.get("grader_flags") or "").split()


def _legacy(name: str, settings: Row, count: int, has_validator: bool) -> tuple[TestGroup, float | None]:
    """Return a group of the older format, and the greatest score of a test."""
    words = _words(settings)
    how = next((word for word in reversed(words) if word in RULES), "sum")
    needs_all = how != "min" and count > 1 and not any(word in words for word in ACCEPTING)
    accept, most = _points(settings.get("accept_score")), _upper_end(settings)
    if name == SAMPLE:
        return _group(name, 0.0, "min", settings), accept or most
    if has_validator and count > 1 and how != "min" and (needs_all or accept is None):
        raise ValueError(f"the greatest score of a test of {name} is not known, or counts only if all are accepted")
    points = accept if accept is not None else 1.0 if most is None else most
    if how == "sum" and (accept is not None or most is None):
        points *= count
    return _group(name, points, "all" if needs_all else RULES[how], settings), accept or most


def _newer(name: str, settings: Row, count: int, _: bool) -> tuple[TestGroup, float | None]:
    """Return a group of the newer format, and the greatest score of a test."""
    how = str(settings.get("score_aggregation") or ("sum" if name == SECRET else "pass-fail"))
    if name == SAMPLE:
        return _group(name, 0.0, "all", settings), None
    if how not in NEWER_RULES:
        raise ValueError(f"the score_aggregation of {name} is {how!r}, which is not known here")
    points = _points(settings.get("max_score", DEFAULT_MOST if name == SECRET else None))
    if points is None:
        raise ValueError(f"the score of {name} has no greatest value (max_score), of which a share could be a reward")
    most = {"pass-fail": None, "sum": points / count, "min": points}[how] or None
    return _group(name, points, NEWER_RULES[how], settings), most


def _group(name: str, points: float, rule: str, settings: Row) -> TestGroup:
    requires = fields.texts(settings.get("require_pass"))
    return TestGroup.model_validate({"name": name, "points": points, "rule": rule, "requires": requires})


def _with_names(group: TestGroup, names: set[str]) -> TestGroup:
    """Return the group with the full names of the groups that it requires."""
    found = []
    for each in group.requires:
        name = each if each in names else f"secret/{each}"
        if name not in names:
            raise ValueError(f"the group {group.name} requires {each!r}, which is no group")
        found.append(name)
    return group.model_copy(update={"requires": found})


def _upper_end(settings: Row) -> float | None:
    words = str(settings.get("range") or "").split()
    return _points(words[-1]) if words else None


def _points(value: object) -> float | None:
    """Return a number of points; None if there is none or it has no bound.

    Raises:
        ValueError: it is no number, or negative.
    """
    if value is None or str(value) == "unbounded":
        return None
    try:
        points = float(str(value))
    except ValueError:
        raise ValueError(f"{str(value)[:40]!r} is no number of points") from None
    if points < 0 or math.isnan(points):
        raise ValueError(f"{points:g} is no number of points")
    return points if math.isfinite(points) else None


def _folder(name: str) -> str:
    """Return a test's group: the folder below `secret`, or the part of the data it is in."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
