"""Reads Polygon packages: folders with a `problem.xml`, tests, a checker, perhaps an interactor, and solutions by tag.

The package must be a full one, whose tests have been generated. Checkers and interactors are testlib programs; the
package brings testlib.h. Points and groups of tests become the problem's groups.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sandbox_service.formats.problem import InputValidator, Problem, Solution
from sandbox_service.schema import JudgeProgram
from sandbox_service.validation.sources import bounds, fields, packages, programs, prompts, scored_tests
from sandbox_service.validation.sources.kattis_judges import CPP_STANDARDS
from sandbox_service.validation.sources.package_parts import rows_of, test_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Found, Malformed, Row
from sandbox_service.validation.sources.scored_tests import Place, Policy

SHEET = "problem.xml"
PARTS = (("legend", ""), ("input", "Input"), ("output", "Output"), ("interaction", "Interaction"), ("notes", "Note"))
VERDICTS: Mapping[str, list[str]] = {
    "main": ["AC"],
    "accepted": ["AC"],
    "wrong-answer": ["WA"],
    "presentation-error": ["WA"],
    "time-limit-exceeded": ["TLE"],
    "memory-limit-exceeded": ["MLE"],
    "time-limit-exceeded-or-accepted": ["AC", "TLE"],
    "time-limit-exceeded-or-memory-limit-exceeded": ["TLE", "MLE"],
    "rejected": ["NOT_AC"],
    "failed": ["NOT_AC"],
}
LANGUAGES = {"cpp": "cpp", "c": "c", "python": "python", "java": "java", "csharp": "csharp", "rust": "rust", "go": "go",
             "kotlin": "kotlin", "pypy": "pypy", "js": "javascript"}  # fmt: skip
RESOURCES = (".h", ".hpp")
RULES = {"complete-group": "all", "each-test": "sum"}

_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_PATTERN = re.compile(r"%0?(\d*)d")
_JAVA = re.compile(r"java\d+", re.ASCII)
_STANDARD = re.compile(r"\+\+(\d\d)", re.ASCII)


def is_package(folder: Path) -> bool:
    """Return whether the folder is a Polygon package."""
    return (folder / SHEET).is_file()


def rows(folders: list[Path]) -> Iterator[Found | Malformed]:
    """Yield a row for each package."""
    return rows_of(folders, "a Polygon package", _row, (ElementTree.ParseError,))


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that `rows` sets."""
    return {"polygon", "statement", "tests", "assets"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If its tests are not in the package, or its programs use files.
    """
    assets, given = fields.mapping(row, "assets"), fields.listing(row, "tests")
    interactor, checker = _program(assets, "interactor"), _program(assets, "checker")
    groups = scored_tests.grouped([_place(each) for each in given], _policies(fields.listing(row, "groups"), given))
    tests = [
        test_of(each, more, is_interactive=interactor is not None, is_judged=checker is not None)
        for each, more in zip(given, groups.of_tests(checker is not None), strict=True)
    ]
    return Problem(
        id=f"polygon/{fields.text(row, 'polygon')}",
        prompt=prompts.to_solve(fields.text(row, "statement")),
        tests=tests,
        checker=checker,
        interactor=interactor,
        groups=list(groups.groups) or None,
        limits=bounds.limits(row, least_memory=bounds.LEAST_OF_PACKAGES),
        solutions=[each for found in assets["solutions"] if (each := _solution(found)) is not None],
        validators=[
            InputValidator(code=each["code"], language=each["language"], files=assets["resources"])
            for each in assets["validators"]
        ],
        source="polygon",
        meta=fields.meta(title=row.get("title"), tags=row.get("tags")),
    )


def _place(test: Row) -> Place:
    points = test.get("points")
    return Place(str(test.get("group") or ""), None if points is None else float(points))


def _policies(groups: list[Row], tests: list[Row]) -> list[Policy]:
    """The rules of groups; none if nothing gives points: groups then only order the tests."""
    if all(each.get("points") is None for each in (*groups, *tests)):
        return []
    found = []
    for group in groups:
        if group["policy"] not in RULES:
            raise ValueError(
                f"the points-policy of the group {group['name']} is {group['policy']!r}, which is not known"
            )
        points = group.get("points")
        rule = RULES[group["policy"]]
        found.append(Policy(group["name"], rule, None if points is None else float(points), tuple(group["requires"])))
    return found


def _program(assets: Row, name: str) -> JudgeProgram | None:
    found = assets.get(name)
    if not found:
        return None
    files = {found["name"]: found["code"], **assets["resources"]}
    return JudgeProgram(type="program", language=found["language"], protocol="testlib", main=found["name"], files=files)


def _solution(found: Row) -> Solution | None:
    verdicts = VERDICTS.get(found["tag"])
    if verdicts is None:
        return None
    return programs.one(found["code"], *verdicts, language=found["language"], name=f"{found['tag']}/{found['name']}")


def _statement(properties: Row) -> str:
    parts = [(title, str(properties.get(name) or "").strip()) for name, title in PARTS]
    return "\n\n".join(f"{title}:\n{text}" if title else text for title, text in parts if text)


# --- from a folder to a row


def _row(folder: Path) -> dict[str, Any]:
    packages.check_files(folder)
    text = packages.text_of(folder / SHEET)
    if _DOCTYPE.search(text):
        raise ValueError(f"{SHEET} declares entities")
    sheet = ElementTree.fromstring(text)  # noqa: S314  without entities, what it takes is bounded by its size
    judging = _need(sheet, "judging")
    if judging.get("input-file") or judging.get("output-file"):
        raise ValueError("the programs use files, not standard input and output")
    if int(judging.get("run-count") or 1) > 1 or int(judging.findtext("run-count") or 1) > 1:
        raise ValueError("the programs are run several times for a test, which is not supported")
    if any(each.get("stages") for each in sheet.iterfind("files/resources/file")):
        raise ValueError("the programs are compiled with files of the package, which is not supported")
    testset, properties = _testset(judging), _properties(folder)
    return {
        "polygon": sheet.get("short-name") or folder.name,
        "statement": _statement(properties),
        "title": properties.get("name"),
        "tests": [*_tests(folder, testset)],
        "groups": [_group(each) for each in testset.iterfind("groups/group")],
        "time_limit_ms": float(testset.findtext("time-limit") or 0),
        "memory_limit_bytes": int(testset.findtext("memory-limit") or 0),
        "assets": _assets(folder, _need(sheet, "assets")),
        "tags": [each.get("value") for each in sheet.findall("tags/tag")],
    }


def _testset(judging: ElementTree.Element) -> ElementTree.Element:
    """The tests that decide: those named `tests`, of which pretests are a part."""
    found = judging.findall("testset")
    named = [each for each in found if each.get("name") == "tests"] or found
    if len(named) != 1:
        raise ValueError(
            f"{SHEET} has {len(found)} testsets, and none is named tests" if found else f"{SHEET} has no testset"
        )
    return named[0]


def _group(group: ElementTree.Element) -> Row:
    return {
        "name": group.get("name") or "",
        "points": group.get("points"),
        "policy": group.get("points-policy") or "",
        "requires": [each.get("group") or "" for each in group.iterfind("dependencies/dependency")],
    }


def _need(parent: ElementTree.Element, name: str) -> ElementTree.Element:
    found = parent.find(name)
    if found is None:
        raise ValueError(f"{SHEET} has no {name}")
    return found


def _properties(folder: Path) -> dict[str, Any]:
    """The parts of the statement in English, else in any language; {} if there is none."""
    found = sorted(folder.glob("statements/*/problem-properties.json"))
    if not found:
        return {}
    english = next((each for each in found if each.parent.name == "english"), found[0])
    value = json.loads(english.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{english.name} is not an object")
    return value


def _tests(folder: Path, testset: ElementTree.Element) -> Iterator[Row]:
    inputs, answers = testset.findtext("input-path-pattern") or "", testset.findtext("answer-path-pattern") or ""
    marked = testset.findall("tests/test")
    for number in range(1, int(testset.findtext("test-count") or 0) + 1):
        test = marked[number - 1] if number <= len(marked) else ElementTree.Element("test")
        given, wanted = _named(inputs, number), _named(answers, number)
        if not (folder / given).is_file() or not (folder / wanted).is_file():
            raise ValueError(f"test {number} is not in the package; use a full package")
        # a package for Windows has that system's ends of lines, which its programs do not see
        read = {"input": _text(folder, given), "output": _text(folder, wanted)}
        yield read | {"points": test.get("points"), "group": test.get("group")}


def _named(pattern: str, number: int) -> str:
    """The path of a test's file: the pattern has a place for its number, such as `tests/%02d.a`."""
    return _PATTERN.sub(lambda found: str(number).zfill(int(found[1] or 0)), pattern)


def _assets(folder: Path, assets: ElementTree.Element) -> dict[str, Any]:
    resources = sorted(each for each in folder.glob("files/*") if each.suffix in RESOURCES)
    for name in ("checker", "interactor"):
        kind = assets.find(name)
        if kind is not None and (kind.get("type") or "testlib") != "testlib":
            raise ValueError(f"its {name} is of the type {kind.get('type')!r}, which is not known here")
    return {
        "checker": _source(folder, assets.find("checker/source")),
        "interactor": _source(folder, assets.find("interactor/source")),
        "validators": [_source(folder, each) for each in assets.findall("validators/validator/source")],
        "resources": {each.name: _read(folder, f"files/{each.name}") for each in resources},
        "solutions": [
            {"tag": each.get("tag") or "", **source}
            for each in assets.findall("solutions/solution")
            if (source := _source(folder, each.find("source")))
        ],
    }


def _source(folder: Path, found: ElementTree.Element | None) -> dict[str, str] | None:
    if found is None:
        return None
    path = found.get("path") or ""
    return {"name": Path(path).name, "code": _read(folder, path), "language": language_of(found.get("type") or "")}


def language_of(kind: str) -> str:
    """Return the language of a source by Polygon's type of it, such as `cpp.g++17` or `python.pypy3-64`.

    Args:
        kind: the type.
    """
    family, _, compiler = kind.partition(".")
    if family == "cpp" and (standard := _STANDARD.search(compiler)) and f"cpp{standard[1]}" in CPP_STANDARDS:
        return f"cpp{standard[1]}"
    if kind == "js.v8":
        return kind  # V8's own shell, whose programs call readline and print
    if family == "python" and compiler in ("2", "pypy2"):
        return "python2"
    if family == "python" and compiler.startswith("pypy3"):
        return "pypy"
    return LANGUAGES.get(family, "java" if _JAVA.fullmatch(family) else family)


def _read(folder: Path, path: str) -> str:
    return packages.source_of(_inside(folder, path))


def _text(folder: Path, path: str) -> str:
    return packages.text_of(_inside(folder, path)).replace("\r\n", "\n")


def _inside(folder: Path, path: str) -> Path:
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path} is outside of the package")
    return place


READER = Reader("polygon", "Polygon packages", is_mine, make)
