"""Applies a recipe's filters before judging: leaves problems out, and selects the tests to run."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import StdinTest, TestCase
from sandbox_service.validation.finding import Finding
from sandbox_service.validation.recipe import Filters


def left_out(problem: Problem, filters: Filters) -> str | None:
    """Return why the recipe leaves this problem out, or None if it does not."""
    if filters.languages and problem.language not in filters.languages:
        return "language"
    if (filters.sources and problem.source not in filters.sources) or problem.source in filters.not_sources:
        return "source"
    if problem.id in filters.not_ids:
        return "named in the recipe"
    if not _is_in_time(problem, filters):
        return "date"
    if not _is_as_hard(problem, filters):
        return "difficulty"
    return "tests contain what the recipe excludes" if _has_what_is_excluded(problem, filters) else None


def prepared(problem: Problem, filters: Filters) -> tuple[Problem, list[Finding]]:
    """Return the problem with the tests to run, and findings about the tests that were removed."""
    if problem.tests is None:
        return problem, []
    distinct = _distinct(problem.tests)
    small = [each for each in distinct if size_of(each) <= filters.most_input_bytes] or distinct[:1]
    kept = _chosen(small, filters)
    findings = []
    if len(distinct) < len(problem.tests):
        findings.append(
            Finding(
                "duplicate_tests",
                f"{len(problem.tests) - len(distinct)} of {len(problem.tests)} tests were there before",
            )
        )
    if len(small) < len(distinct):
        findings.append(
            Finding(
                "oversized_tests",
                f"{len(distinct) - len(small)} tests have more than {filters.most_input_bytes} bytes of input",
            )
        )
    if len(kept) == len(problem.tests):
        return problem, findings
    return problem.model_copy(update={"tests": kept}), findings


def size_of(test: TestCase) -> int:
    """Return the size of a test's input, in bytes."""
    if isinstance(test, StdinTest):
        return len(test.input.encode("utf-8", "replace"))
    return len(test.model_dump_json(exclude={"output", "weight"}).encode())


def _is_in_time(problem: Problem, filters: Filters) -> bool:
    if not filters.from_date and not filters.until_date:
        return True
    date = str((problem.meta or {}).get("date") or "")[:10]
    return bool(date) and date >= filters.from_date and (not filters.until_date or date < filters.until_date)


def _is_as_hard(problem: Problem, filters: Filters) -> bool:
    if filters.difficulty is None or problem.difficulty is None:
        return True
    low, high = filters.difficulty
    return low <= problem.difficulty <= high


def _has_what_is_excluded(problem: Problem, filters: Filters) -> bool:
    if not filters.not_containing:
        return False
    texts = [each.model_dump_json() for each in problem.tests or ()]
    return any(wanted in text for wanted in filters.not_containing for text in texts)


def _distinct(tests: Sequence[TestCase]) -> list[TestCase]:
    """The first of each group of equal tests; weights may differ, input and answer may not."""
    found: dict[str, TestCase] = {}
    for test in tests:
        found.setdefault(test.model_dump_json(exclude={"weight"}), test)
    return list(found.values())


def _chosen(tests: list[TestCase], filters: Filters) -> list[TestCase]:
    """The tests that the recipe keeps, in their order."""
    if filters.most_tests is None or len(tests) <= filters.most_tests:
        return tests
    places = list(range(len(tests)))
    if filters.kept_tests == "shortest":
        places.sort(key=lambda place: (size_of(tests[place]), place))
    return [tests[place] for place in sorted(places[: filters.most_tests])]
