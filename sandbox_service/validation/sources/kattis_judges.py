"""Reads how a Kattis package is judged: its validator, whether that interacts, and its groups of tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_service.schema import JudgeProgram, TestGroup
from sandbox_service.validation.sources import fields
from sandbox_service.validation.sources.rows import Row

LANGUAGES: Mapping[str, str] = {
    "py": "python", "py2": "python2", "py3": "python", "c": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp",
    "java": "java", "kt": "kotlin", "rs": "rust", "go": "go", "hs": "haskell", "js": "javascript", "ts": "typescript",
    "ml": "ocaml", "rb": "ruby", "php": "php", "cs": "csharp", "scala": "scala", "pas": "pascal", "pl": "perl",
    "swift": "swift", "lua": "lua", "jl": "julia", "d": "d", "m": "objective-c", "r": "r", "sh": "bash",
}  # fmt: skip
HEADERS = ("h", "hpp", "hh")
SCRIPTS = ("build", "run")
DEFAULT_PASSES = 2
RULES = {"min": "min", "max": "max", "sum": "sum", "avg": "sum"}
_INTERPRETER = re.compile(r"#!.*\b(python2|python|bash|sh)[\d.]*\s*$", re.MULTILINE)
_PYTHON_2 = re.compile(r"#!.*python2")


@dataclass(frozen=True)
class Judge:
    """The judging of a package.

    Attributes:
        program: its own validator; None for the default one.
        interacts: the validator talks to the program.
    """

    program: JudgeProgram | None = None
    interacts: bool = False


def read(sheet: Row, row: Row) -> Judge:
    """Return how a package is judged.

    `validation` says so in the older format; `type` and a validator folder in the newer one.

    Args:
        sheet: its `problem.yaml`.
        row: what `packages` read.

    Raises:
        ValueError: in a way that is not known here.
    """
    validation, kind = str(sheet.get("validation") or "default"), str(sheet.get("type") or "pass-fail")
    if "submit-answer" in kind:
        raise ValueError("the problem is of the type submit-answer")
    interacts = "interactive" in validation or "interactive" in kind
    passes = "multi-pass" in kind or "multipass" in validation or "multi-pass" in validation
    # a folder of validators may also have a README or a licence
    judges = [each for each in fields.listing(row, "judges") if any(map(_is_program, each["files"]))]
    is_custom = validation.startswith("custom") or ("type" in sheet and bool(judges))
    if not (is_custom or interacts or passes):
        return Judge()
    if len(judges) != 1:
        raise ValueError(f"the problem has {len(judges)} validators, and one is needed")
    return Judge(_program(sheet, row, judges[0]["files"], passes=passes), interacts)


def _program(sheet: Row, row: Row, files: Sequence[Row], *, passes: bool) -> JudgeProgram:
    if any(each["name"] in SCRIPTS for each in files):
        raise ValueError("the validator is built by a script, which is not run here")
    mains = list(filter(_is_program, files))
    main = next((each for each in mains if re.match(r"(?:main|validat|output_valid|interact)", each["name"])), None)
    main = main or (mains[0] if mains else None)
    if main is None:
        raise ValueError("the validator has no program")
    limits = sheet.get("limits")
    most = limits.get("validation_passes") if isinstance(limits, Mapping) else None
    return JudgeProgram.model_validate(
        {
            "type": "program",
            "language": language_of(main["name"], main["code"]),
            "files": {each["name"]: each["code"] for each in files},
            "main": main["name"],
            "protocol": "kattis",
            "arguments": _flags(sheet, fields.listing(row, "test_flags")),
            "passes": int(most or DEFAULT_PASSES) if passes else 1,
        }
    )


def _is_program(file: Row) -> bool:
    """Return True for a source file that may be a program, and for a script that builds one."""
    return file["name"] in SCRIPTS or language_of(file["name"], file["code"]) in LANGUAGES.values()


def _flags(sheet: Row, of_groups: list[str]) -> list[str]:
    """Flags of the package and of its groups, which have to be the same for all tests."""
    distinct = {flags for flags in (str(sheet.get("validator_flags") or ""), *map(str, of_groups)) if flags.strip()}
    if len(distinct) > 1:
        raise ValueError(f"the groups of tests have different flags: {'; '.join(sorted(distinct))}")
    return distinct.pop().split() if distinct else []


def groups(settings: Mapping[str, Row], tests: Sequence[str], sheet: Row) -> list[TestGroup]:
    """Return the groups of a problem that is scored; none for one that is passed or failed.

    The folders below `secret` are the groups, as most problems have it. Deeper folders belong to theirs.

    Args:
        settings: `testdata.yaml` or `test_group.yaml` of each folder.
        tests: the tests' names: their paths below `data`.
        sheet: `problem.yaml`.
    """
    if "scoring" not in str(sheet.get("type") or "") and "score" not in str(sheet.get("validation") or ""):
        return []
    names = list(dict.fromkeys(_folder(name) for name in tests))
    return [_group(name, settings) for name in names]


def _group(name: str, settings: Mapping[str, Row]) -> TestGroup:
    found = settings.get(name) or {}
    flags = str(found.get("grader_flags") or found.get("score_aggregation") or "min").split()
    rule = next((RULES[word] for word in flags if word in RULES), "min")
    points = 0.0 if name == "sample" else _points(found)
    requires = [each for each in fields.texts(found.get("require_pass")) if each != "sample"]
    return TestGroup.model_validate({"name": name, "points": points, "rule": rule, "requires": requires})


def _points(found: Row) -> float:
    """The points of a group: those of an accepted test, or the upper end of its range."""
    for value in (found.get("max_score"), found.get("accept_score"), str(found.get("range") or "").split(" ")[-1]):
        if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", str(value)):
            return float(str(value))
    return 1.0


def group_of(name: str, groups: Sequence[TestGroup]) -> str:
    """Return the group of the test with this name; empty if there are no groups."""
    return _folder(name) if groups else ""


def _folder(name: str) -> str:
    """Return a test's group: the folder below `secret`, or the part of the data it is in."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def language_of(file: str, code: str) -> str:
    """Return the language of a file, by its name and the first line of its code."""
    if "." not in file and (found := _INTERPRETER.match(code)):
        return {"python2": "python2", "sh": "bash", "bash": "bash"}.get(found[1], "python")
    suffix = file.rpartition(".")[2].lower()
    if suffix == "py" and _PYTHON_2.match(code):
        return "python2"
    return LANGUAGES.get(suffix, suffix)
