"""Reads Kattis problem packages from `packages`: a statement, tests, and programs in folders named by a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import Checker, InteractiveTest, Limits, StdinTest, TestGroup
from sandbox_service.validation.sources import bounds, fields, kattis_judges, prompts
from sandbox_service.validation.sources.kattis_judges import language_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

# Right verdicts for the programs of each folder. For Kattis, too much memory is a run time error as well.
VERDICTS: Mapping[str, list[str]] = {
    "accepted": ["AC"],
    "wrong_answer": ["WA"],
    "time_limit_exceeded": ["TLE"],
    "run_time_error": ["RTE", "MLE"],
    "brute_force": ["TLE", "RTE", "MLE"],
    "rejected": ["NOT_AC"],
    "partially_accepted": ["NOT_AC"],
}
TOLERANCES: Mapping[str, str] = {
    "float_tolerance": "float_tolerance",
    "float_absolute_tolerance": "absolute_tolerance",
    "float_relative_tolerance": "relative_tolerance",
}


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that `packages` sets."""
    return {"package", "sheet", "submissions"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: For packages that are judged in a way that is not known here.
    """
    sheet, tests = fields.mapping(row, "sheet"), fields.listing(row, "tests")
    judge = kattis_judges.read(sheet, row)
    if lacking := [test["name"] for test in tests if test["output"] is None]:
        raise ValueError(f"the test {lacking[0]} has no answer")
    groups = kattis_judges.groups(row.get("groups") or {}, [str(test["name"]) for test in tests], sheet)
    examples = [(test["input"], test["output"]) for test in tests if test["name"].startswith("sample/")]
    return Problem(
        id=f"kattis/{fields.text(row, 'package')}",
        prompt=prompts.with_examples(prompts.to_solve(fields.text(row, "statement")), examples),
        tests=[_test(test, judge, groups) for test in tests],
        checker=judge.program if judge.program and not judge.interacts else checker(_flags_of(judge, sheet, row)),
        interactor=judge.program if judge.interacts else None,
        groups=groups or None,
        limits=_limits(sheet),
        solutions=[each for found in fields.listing(row, "submissions") if (each := _solution(found)) is not None],
        source="kattis",
        licence=str(sheet.get("license") or ""),
        meta=_meta(sheet),
    )


def _test(test: Row, judge: kattis_judges.Judge, groups: list[TestGroup]) -> StdinTest | InteractiveTest:
    given, wanted, name = test["input"], test["output"], str(test["name"])
    group = kattis_judges.group_of(name, groups)
    if judge.interacts:
        return InteractiveTest(input=given, output=wanted, group=group)
    if judge.program is not None:
        return StdinTest(input=given, output=wanted, group=group)
    return cases.stdin(given, wanted).model_copy(update={"group": group})


def _flags_of(judge: kattis_judges.Judge, sheet: Row, row: Row) -> str:
    return "" if judge.program else _flags(sheet, fields.listing(row, "test_flags"))


def checker(flags: str) -> Checker:
    """Return the checker for the flags of the default validator.

    Words are compared, in any case and spacing, unless flags differ.

    Raises:
        ValueError: A flag is unknown, has no number, or contradicts another.
    """
    options: dict[str, Any] = {"ignore_case": True}
    words = iter(flags.split())
    for word in words:
        if word in TOLERANCES:
            options[TOLERANCES[word]] = _tolerance(word, next(words, ""))
        elif word == "case_sensitive":
            options["ignore_case"] = False
        elif word == "space_change_sensitive":
            options["type"] = "exact"
        else:
            raise ValueError(f"validator flag {word!r} is not known")
    if options.get("type") == "exact" and len(options.keys() & set(TOLERANCES.values())):
        raise ValueError("validator flags ask for exact white space and a numeric tolerance: a checker cannot do both")
    return Checker(**options)


def _tolerance(word: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"validator flag {word} has {value!r} in place of a number") from None


def _flags(sheet: Row, of_groups: list[str]) -> str:
    """Flags of the package and of its test groups, if all are equal."""
    distinct = {flags for flags in (str(sheet.get("validator_flags") or ""), *map(str, of_groups)) if flags.strip()}
    if len(distinct) > 1:
        raise ValueError(f"the groups of tests are compared in different ways: {'; '.join(sorted(distinct))}")
    return distinct.pop() if distinct else ""


def _limits(sheet: Row) -> Limits | None:
    """The limits. Without a time limit the job derives one from the accepted programs."""
    limits = sheet.get("limits")
    if not isinstance(limits, Mapping):
        return None
    return bounds.limits({"time_limit_s": limits.get("time_limit"), "memory_limit_mb": limits.get("memory")})


def _solution(found: Row) -> Solution | None:
    """A program of one file in a folder with a known verdict; others are left out."""
    verdicts, files = VERDICTS.get(found["verdict"]), found["files"]
    if verdicts is None or len(files) != 1:
        return None
    language = language_of(files[0]["name"], files[0]["code"])
    name = f"{found['verdict']}/{found['name']}"
    return Solution.model_validate({"code": files[0]["code"], "language": language, "verdicts": verdicts, "name": name})


def _meta(sheet: Row) -> dict[str, Any] | None:
    title = sheet.get("name")
    title = (title.get("en") or next(iter(title.values()), None)) if isinstance(title, dict) else title
    keywords = sheet.get("keywords")
    return fields.meta(
        platform="kattis",
        title=title,
        tags=keywords.split() if isinstance(keywords, str) else fields.texts(keywords),
        contest=sheet.get("source"),
        authors=sheet.get("author") or sheet.get("credits"),
        owner=sheet.get("rights_owner"),
    )


READER = Reader("kattis", "Kattis problem packages", is_mine, make)
