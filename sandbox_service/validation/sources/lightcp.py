"""Reads the problems of LiveCodeBench Pro: packages of its judge LightCPVerifier, with a `config.yaml` and `testdata/`.

A package is a folder, or the zip file in which the data set publishes it. Statements are published apart, as rows with
`problem_id` and `problem_statement`: a file of them (.jsonl, .parquet) beside the packages is read; `statement.txt` in
a package comes first. Checkers and interactors are testlib programs; testlib.h is not in the packages.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import JudgeProgram
from sandbox_service.validation.sources import (
    bounds,
    fields,
    jsonlines,
    optional_libraries,
    packages,
    parquet,
    prompts,
    scored_tests,
    streams,
)
from sandbox_service.validation.sources.package_parts import check_names, rows_of, test_of
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed, Row
from sandbox_service.validation.sources.scored_tests import Place, Policy

SHEET = "config.yaml"
TESTS, STATEMENT = "testdata", "statement.txt"
CHECKER, INTERACTOR = "chk.cc", "interactor.cc"  # where the sheet names none
HEADERS = (".h", ".hpp")
LANGUAGE = "cpp"  # that of the benchmark
OF_A_PROBLEM = frozenset(
    """
    type time time_limit memory memory_limit checker checker_type interactor subtasks filename
    input_prefix output_prefix input_suffix output_suffix
    """.split()
)
OF_A_SUBTASK = frozenset("time time_limit memory memory_limit score n_cases cases".split())
OF_A_TEST = frozenset("input output time memory".split())


def is_package(path: Path) -> bool:
    """Return whether the folder or zip file is a package."""
    if path.is_dir():
        return (path / SHEET).is_file() and (path / TESTS).is_dir()
    if path.suffix.lower() != ".zip" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return SHEET in archive.namelist()


def rows(places: list[Path]) -> Iterator[Found | Malformed]:
    """Yield a row for each package."""
    yaml = optional_libraries.need("yaml", "a problem of LiveCodeBench Pro", "safe_load")
    known = _published(places[0].parent)

    def read(place: Path) -> Row:
        return _row(place, yaml, known.get(place.stem if place.is_file() else place.name, {}))

    return rows_of(places, "a problem of LiveCodeBench Pro", read, (yaml.YAMLError,))


def is_mine(row: Row) -> bool:
    """Return whether the row has the fields that `rows` sets."""
    return {"lightcp", "config", "tests"} <= row.keys()


def make(row: Row) -> Problem:
    """Return the problem.

    Raises:
        ValueError: If it is judged in a way that is not known here.
    """
    config, given = fields.mapping(row, "config"), fields.listing(row, "tests")
    if not given:
        raise ValueError("the problem has no tests")
    files, published = fields.mapping(row, "files"), fields.mapping(row, "published")
    is_interactive = _kind(config) == "interactive"
    judge = _judge(config, files, is_interactive)
    groups = _groups(config, given)
    name = fields.text(row, "lightcp")
    return Problem(
        id=f"livecodebench-pro/{name}",
        prompt=prompts.to_solve(fields.text(row, "statement"), language=LANGUAGE),
        language=LANGUAGE,
        tests=[
            test_of(test, more, is_interactive=is_interactive, is_judged=judge is not None)
            for test, more in zip(given, groups.of_tests(has_checker=False), strict=True)
        ],
        checker=None if is_interactive else judge,
        interactor=judge if is_interactive else None,
        groups=list(groups.groups) or None,
        limits=_limits(given),
        source="livecodebench-pro",
        meta=fields.meta(
            title=published.get("problem_title"),
            difficulty=published.get("difficulty"),
            platform=published.get("platform"),
        ),
    )


def _kind(config: Row) -> str:
    kind = str(config.get("type") or "default")
    if kind not in ("default", "interactive"):
        raise ValueError(f"its type is {kind!r}, which is not run here")
    return kind


def _judge(config: Row, files: Mapping[str, str], is_interactive: bool) -> JudgeProgram | None:
    """The checker or interactor; None if there is neither, and tests are compared by tokens."""
    field, usual = ("interactor", INTERACTOR) if is_interactive else ("checker", CHECKER)
    if config.get("checker_type", "testlib") != "testlib":
        raise ValueError(f"its checker_type is {config['checker_type']!r}, and only testlib is known here")
    named = str(config.get(field) or usual)
    if named in files:
        headers = {name: text for name, text in files.items() if name.endswith(HEADERS)}
        program = {"language": LANGUAGE, "main": named, "files": {named: files[named], **headers}}
        return JudgeProgram.model_validate({"type": "program", "protocol": "testlib", **program})
    if is_interactive or config.get(field):
        raise ValueError(f"its {field} {named} is not there")
    return None


def _groups(config: Row, tests: list[Row]) -> scored_tests.Grouped:
    """A group for each subtask, if there are several; all tests of it decide."""
    subtasks = fields.listing(config, "subtasks")
    if len(subtasks) < 2:
        return scored_tests.Grouped((), tuple(Place("", None) for _ in tests))
    policies = [
        Policy(f"subtask {number}", "all", float(each.get("score") or 0.0)) for number, each in enumerate(subtasks, 1)
    ]
    return scored_tests.grouped([Place(f"subtask {each['subtask']}", None) for each in tests], policies)


def _limits(tests: list[Row]) -> Any:
    given = {(each["time_limit"], each["memory_limit"]) for each in tests}
    if len(given) > 1:
        raise ValueError("its tests have different limits, and a problem has one set of limits here")
    return bounds.limits(tests[0], least_memory=bounds.LEAST_OF_PACKAGES)


# --- from a folder or a zip file to a row


class _Files(Protocol):
    """The files of a package."""

    def names(self) -> set[str]: ...

    def text(self, name: str) -> str: ...


class _Folder:
    def __init__(self, folder: Path) -> None:
        packages.check_files(folder)
        self._folder = folder

    def names(self) -> set[str]:
        return {str(each.relative_to(self._folder)) for each in self._folder.rglob("*") if each.is_file()}

    def text(self, name: str) -> str:
        return packages.text_of(self._folder / name)


class _Archive:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        size = sum(each.file_size for each in archive.infolist())
        if size > MOST_ROW_BYTES:
            raise ValueError(f"the files have {size} bytes, and {MOST_ROW_BYTES} are the most")
        self._archive = archive

    def names(self) -> set[str]:
        return set(self._archive.namelist())

    def text(self, name: str) -> str:
        try:
            return self._archive.read(name).decode()
        except UnicodeDecodeError as trouble:
            raise ValueError(f"{name} is not UTF-8: {trouble.reason} at byte {trouble.start}") from None


def _row(place: Path, yaml: Any, published: Row) -> dict[str, Any]:
    archive: AbstractContextManager[zipfile.ZipFile | None]
    archive = nullcontext() if place.is_dir() else zipfile.ZipFile(place)
    with archive as opened:
        files: _Files = _Folder(place) if opened is None else _Archive(opened)
        config = yaml.safe_load(files.text(SHEET))
        if not isinstance(config, dict):
            raise ValueError(f"{SHEET} is not a mapping of names to values")
        check_names(SHEET, config, OF_A_PROBLEM, "the problem")
        names = files.names()
        statement = files.text(STATEMENT) if STATEMENT in names else str(published.get("problem_statement") or "")
        beside = [name for name in names if "/" not in name and name.endswith((".cc", ".cpp", *HEADERS))]
        return {
            "lightcp": place.name if opened is None else place.stem,
            "config": config,
            "statement": statement,
            "published": published,
            "tests": [_read(test, files, names) for test in _tests(config)],
            "files": {name: files.text(name) for name in sorted(beside)},
        }


def _tests(config: Row) -> Iterator[dict[str, Any]]:
    """The tests of all subtasks: named one by one, or counted, with numbers that go on from subtask to subtask."""
    done = 0
    for number, subtask in enumerate(fields.listing(config, "subtasks"), 1):
        check_names(SHEET, subtask, OF_A_SUBTASK, "a subtask")
        if "n_cases" in subtask:
            count = int(subtask["n_cases"])
            named = [_numbered(config, each) for each in range(done + 1, done + count + 1)]
            done += count
        else:
            named = fields.listing(subtask, "cases")
        for each in named:
            check_names(SHEET, each, OF_A_TEST, "a test")
            time = each.get("time") or _first(subtask, "time") or _first(config, "time") or "1s"
            memory = each.get("memory") or _first(subtask, "memory") or _first(config, "memory") or "256m"
            yield {**each, "subtask": number, "time_limit": time, "memory_limit": memory}


def _first(given: Row, what: str) -> Any:
    return given.get(f"{what}_limit") or given.get(what)


def _numbered(config: Row, number: int) -> dict[str, str]:
    given, wanted = config.get("input_suffix") or ".in", config.get("output_suffix") or ".ans"
    return {
        "input": f"{config.get('input_prefix') or ''}{number}{given}",
        "output": f"{config.get('output_prefix') or ''}{number}{wanted}",
    }


def _read(test: Row, files: _Files, names: set[str]) -> dict[str, Any]:
    """The texts of a test. An answer `1.out` may be in the file `1.ans`, which the verifier tries first."""
    answer = str(test["output"])
    tried = [answer.removesuffix(".out") + ".ans", answer] if answer.endswith(".out") else [answer]
    found = next((name for name in tried if f"{TESTS}/{name}" in names), None)
    if found is None or f"{TESTS}/{test['input']}" not in names:
        raise ValueError(f"the files of the test {test['input']} are not in {TESTS}")
    texts = {"input": files.text(f"{TESTS}/{test['input']}"), "output": files.text(f"{TESTS}/{found}")}
    return {**texts, **{name: test[name] for name in ("subtask", "time_limit", "memory_limit")}}


def _published(folder: Path) -> dict[str, Row]:
    """The rows of the data set's other files, by the problem's id."""
    found: dict[str, Row] = {}
    for path in sorted(folder.iterdir()):
        for each in _rows(path):
            if isinstance(each, Found) and "problem_statement" in each.row:
                found.setdefault(str(each.row.get("problem_id")), each.row)
    return found


def _rows(path: Path) -> Iterator[Found | Malformed]:
    if path.suffix == ".parquet":
        yield from parquet.rows(path, str(path))
    elif path.suffix == ".jsonl":
        with streams.open_unpacked(path) as stream:
            yield from jsonlines.rows(stream, str(path))


READER = Reader("livecodebench-pro", "LiveCodeBench Pro: packages with testlib checkers and interactors", is_mine, make)
