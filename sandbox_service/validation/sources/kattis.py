"""Reads Kattis problem packages from `packages`: a statement, tests, and programs in folders named by a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_service.formats import cases
from sandbox_service.formats.problem import InputValidator, Problem, Solution
from sandbox_service.schema import Checker, InteractiveTest, Limits, StdinTest
from sandbox_service.validation.sources import (
    bounds,
    fields,
    kattis_judges,
    kattis_scores,
    kattis_settings,
    kattis_submissions,
    prompts,
)
from sandbox_service.validation.sources.kattis_judges import language_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

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
    if not tests:
        raise ValueError("it has no tests: no .in file below data/sample and data/secret; generators are not run here")
    kattis_settings.check_sheet(sheet, row)
    settings = kattis_settings.Settings(sheet, row)
    tests = settings.that_count(tests)
    flags = [settings.flags_of(test) for test in tests]
    shared = flags[0] if flags and all(each == flags[0] for each in flags) else None
    judge = kattis_judges.read(sheet, row, shared or [])
    if lacking := [test["name"] for test in tests if test["output"] is None]:
        raise ValueError(f"the test {lacking[0]} has no answer")
    if judge.program is None and shared is None and flags:
        distinct = sorted({" ".join(each) for each in flags})
        raise ValueError(f"its groups of tests are compared in different ways: {'; '.join(map(repr, distinct))}")
    rules = kattis_submissions.Rules(fields.mapping(row, "expectations"))
    scored = kattis_scores.scored(settings, [str(test["name"]) for test in tests], judge.program is not None)
    examples = [(test["input"], test["output"]) for test in tests if test["name"].startswith("sample/")]
    return Problem(
        id=f"kattis/{fields.text(row, 'package')}",
        prompt=prompts.with_examples(prompts.to_solve(fields.text(row, "statement")), examples),
        tests=[
            _test(test, judge, {"group": scored.group_of(test["name"])} | _asks(judge, shared, own, test, scored))
            for test, own in zip(tests, flags, strict=True)
        ],
        checker=judge.program if judge.program and not judge.interacts else checker(" ".join(shared or [])),
        interactor=judge.program if judge.interacts else None,
        groups=list(scored.groups) or None,
        limits=_limits(sheet, row),
        solutions=[
            each for found in fields.listing(row, "submissions") if (each := _solution(found, rules)) is not None
        ],
        validators=_input_validators(row),
        source="kattis",
        licence=str(sheet.get("license") or ""),
        meta=_meta(sheet),
    )


def _input_validators(row: Row) -> list[InputValidator]:
    """The validators of inputs; none if one of them gets arguments, or is nothing that is run here."""
    settings = [fields.mapping(row, "sheet"), *fields.mapping(row, "groups").values()]
    if any(each.get(name) for each in settings for name in kattis_settings.VALIDATOR_ARGUMENTS):
        return []
    found = [kattis_judges.input_validator(each["files"]) for each in fields.listing(row, "input_validators")]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def _asks(
    judge: kattis_judges.Judge, shared: list[str] | None, own: list[str], test: Row, scored: kattis_scores.Scored
) -> dict[str, Any]:
    """The fields of a test for the package's validator: flags, if tests differ in these, and the greatest score."""
    if judge.program is None:
        return {}
    return {"judge_arguments": own if shared is None else [], "full_score": scored.full_scores.get(test["name"])}


def _test(test: Row, judge: kattis_judges.Judge, more: dict[str, Any]) -> StdinTest | InteractiveTest:
    given, wanted = test["input"], test["output"]
    if judge.interacts:
        return InteractiveTest(input=given, output=wanted, **more)
    if judge.program is not None:
        return StdinTest(input=given, output=wanted, **more)
    return cases.stdin(given, wanted).model_copy(update=more)


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
    if options.keys() & set(TOLERANCES.values()):
        options["integers_too"] = True
    if options.get("type") == "exact" and len(options.keys() & set(TOLERANCES.values())):
        raise ValueError("validator flags ask for exact white space and a numeric tolerance: a checker cannot do both")
    return Checker(**options)


def _tolerance(word: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"validator flag {word} has {value!r} in place of a number") from None


def _limits(sheet: Row, row: Row) -> Limits | None:
    """The limits. Without a time limit the job derives one from the accepted programs."""
    own = sheet.get("limits")
    limits = own if isinstance(own, Mapping) else {}
    seconds = limits.get("time_limit") or row.get("time_limit") or None
    given = {"time_limit_s": seconds, "memory_limit_mb": limits.get("memory")}
    found = bounds.limits(given, least_memory=bounds.LEAST_OF_PACKAGES)
    if not limits.get("output"):
        return found
    return (found or Limits()).model_copy(update={"output_bytes": int(float(limits["output"]) * (1 << 20))})


def _solution(found: Row, rules: kattis_submissions.Rules) -> Solution | None:
    """A program of one file with a known verdict; others are left out."""
    files = found["files"]
    verdicts = rules.verdicts_of(found["verdict"], found["name"], [each["code"] for each in files])
    if not verdicts or len(files) != 1:
        return None
    language = rules.language_of(found["verdict"], found["name"]) or language_of(files[0]["name"], files[0]["code"])
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
