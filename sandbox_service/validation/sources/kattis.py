"""Kattis problem packages, as `packages` finds them: a statement, tests, and programs in folders named by a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandbox_service import cases
from sandbox_service.problem import Problem, Solution
from sandbox_service.schema import Checker, Limits
from sandbox_service.validation.sources import bounds, fields, prompts
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Row

# What is right for a program of each folder. Kattis says run time error for too much memory as well.
VERDICTS: Mapping[str, list[str]] = {
    "accepted": ["AC"],
    "wrong_answer": ["WA"],
    "time_limit_exceeded": ["TLE"],
    "run_time_error": ["RTE", "MLE"],
    "brute_force": ["TLE", "RTE", "MLE"],
    "rejected": ["NOT_AC"],
    "partially_accepted": ["NOT_AC"],
}
LANGUAGES: Mapping[str, str] = {
    "py": "python", "py2": "python2", "py3": "python", "c": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp",
    "java": "java", "kt": "kotlin", "rs": "rust", "go": "go", "hs": "haskell", "js": "javascript", "ts": "typescript",
    "ml": "ocaml", "rb": "ruby", "php": "php", "cs": "csharp", "scala": "scala", "pas": "pascal", "pl": "perl",
    "swift": "swift", "lua": "lua", "jl": "julia", "d": "d", "m": "objective-c", "r": "r", "sh": "bash",
}  # fmt: skip
TOLERANCES: Mapping[str, str] = {
    "float_tolerance": "float_tolerance",
    "float_absolute_tolerance": "absolute_tolerance",
    "float_relative_tolerance": "relative_tolerance",
}

_PYTHON_2 = re.compile(r"#!.*python2")


def is_mine(row: Row) -> bool:
    """By the fields that `packages` gives it."""
    return {"package", "sheet", "submissions"} <= row.keys()


def make(row: Row) -> Problem:
    """Raises ValueError for what needs a program of its own to be judged."""
    sheet, tests = fields.mapping(row, "sheet"), fields.listing(row, "tests")
    _check_sheet(sheet, fields.listing(row, "validators"))
    if lacking := [test["name"] for test in tests if test["output"] is None]:
        raise ValueError(f"the test {lacking[0]} has no answer")
    examples = [(test["input"], test["output"]) for test in tests if test["name"].startswith("sample/")]
    return Problem(
        id=f"kattis/{fields.text(row, 'package')}",
        prompt=prompts.with_examples(prompts.to_solve(fields.text(row, "statement")), examples),
        tests=[cases.stdin(test["input"], test["output"]) for test in tests],
        checker=checker(_flags(sheet, fields.listing(row, "test_flags"))),
        limits=_limits(sheet),
        solutions=[each for found in fields.listing(row, "submissions") if (each := _solution(found)) is not None],
        source="kattis",
        licence=str(sheet.get("license") or ""),
        meta=_meta(sheet),
    )


def checker(flags: str) -> Checker:
    """The default validator: words, in any case and at any distance, unless flags say otherwise."""
    said: dict[str, Any] = {"ignore_case": True}
    words = iter(flags.split())
    for word in words:
        if word in TOLERANCES:
            said[TOLERANCES[word]] = _tolerance(word, next(words, ""))
        elif word == "case_sensitive":
            said["ignore_case"] = False
        elif word == "space_change_sensitive":
            said["type"] = "exact"
        else:
            raise ValueError(f"validator flag {word!r} is not known")
    if said.get("type") == "exact" and len(said.keys() & set(TOLERANCES.values())):
        raise ValueError("validator flags want white space to the letter and numbers that are near: not both, here")
    return Checker(**said)


def _tolerance(word: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"validator flag {word} has {value!r} in place of a number") from None


def _check_sheet(sheet: Row, validators: list[str]) -> None:
    """Of the older format `validation` decides; of the newer one `type`, and whether there is a validator."""
    validation, kind = str(sheet.get("validation") or "default"), str(sheet.get("type") or "pass-fail")
    for word in ("interactive", "multi-pass", "submit-answer"):
        if word in validation or word in kind:
            raise ValueError(f"it is {word}")
    if validation.startswith("custom"):
        raise ValueError("it has an output validator of its own, which cannot be run here")
    if "type" in sheet and "output_validator" in validators:
        raise ValueError("it has an output validator of its own, which cannot be run here")


def _flags(sheet: Row, of_groups: list[str]) -> str:
    """Those of the sheet and of the groups of tests, if all say the same."""
    said = {flags for flags in (str(sheet.get("validator_flags") or ""), *map(str, of_groups)) if flags.strip()}
    if len(said) > 1:
        raise ValueError(f"its groups of tests are compared in different ways: {'; '.join(sorted(said))}")
    return said.pop() if said else ""


def _limits(sheet: Row) -> Limits | None:
    """Where there is no time limit, it is derived from the accepted programs: that is the job's to measure."""
    said = sheet.get("limits")
    if not isinstance(said, Mapping):
        return None
    return bounds.limits({"time_limit_s": said.get("time_limit"), "memory_limit_mb": said.get("memory")})


def _solution(found: Row) -> Solution | None:
    """A program of one file in a folder that says something. Several files, or another folder, are left out."""
    verdicts, files = VERDICTS.get(found["verdict"]), found["files"]
    if verdicts is None or len(files) != 1:
        return None
    language = _language(files[0]["name"], files[0]["code"])
    name = f"{found['verdict']}/{found['name']}"
    return Solution.model_validate({"code": files[0]["code"], "language": language, "verdicts": verdicts, "name": name})


def _language(file: str, code: str) -> str:
    suffix = file.rpartition(".")[2].lower()
    if suffix == "py" and _PYTHON_2.match(code):
        return "python2"
    return LANGUAGES.get(suffix, suffix)


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
