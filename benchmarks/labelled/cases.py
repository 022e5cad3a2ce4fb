"""Programs with known verdicts, as submissions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_service import languages
from sandbox_service.errors import UnsupportedLanguageError
from sandbox_service.formats.problem import Problem
from sandbox_service.languages import toolchains
from sandbox_service.validation import sources
from sandbox_service.validation.known_checkers import KnownCheckers

Json = dict[str, Any]

SHARED = ("tests", "checker", "interactor", "limits", "groups")


@dataclass(frozen=True)
class Case:
    """A program, and the verdicts that are right for it.

    Attributes:
        id: `<problem>/<number or name>`.
        file: the name of the data set's file.
        language: the name of its language.
        expected: verdicts; `NOT_AC` stands for every wrong one.
        body: the submission; None if it cannot be run here.
        why_not: why it cannot be run.
    """

    id: str
    file: str
    language: str
    expected: tuple[str, ...]
    body: Json | None = field(repr=False)
    why_not: str = ""


def cases(path: Path, checkers: KnownCheckers | None = None) -> Iterator[Case]:
    """Yield the programs of a data set.

    Args:
        path: a file.
        checkers: for problems that have none.
    """
    with path.open() as stream:
        first = json.loads(stream.readline())
    if {"judge", "submissions"} <= first.keys():
        yield from judged(path)
        return
    for problem in sources.read(str(path)):
        if not isinstance(problem, Problem):
            print(f"{problem.place}: left out: {problem.reason}")
            continue
        problem = checkers.applied(problem) if checkers else problem
        shared = problem.model_dump(mode="json", include=set(SHARED), exclude_none=True)
        for number, solution in enumerate(problem.solutions):
            body = {"code": solution.code, **shared}
            yield made(f"{problem.id}/{number}", path, solution.language, tuple(solution.verdicts), body)


def judged(path: Path) -> Iterator[Case]:
    """Yield the programs of problems with a `judge` of their own, which is called as Kattis and DOMjudge do.

    Args:
        path: a file of such problems.
    """
    for row in map(json.loads, path.read_text().splitlines()):
        shared = _judged_fields(row)
        for program in row["submissions"]:
            code, files = _program(program)
            body = {"code": code, "files": files, **shared}
            name, expected = f"{row['id']}/{program['name']}", tuple(program["expected"])
            yield made(name, path, program["language"], expected, body)


def made(name: str, path: Path, language: str, expected: tuple[str, ...], body: Json) -> Case:
    """Return a case.

    Args:
        name: its id.
        path: of the data set.
        language: the language as the data set names it.
        expected: the verdicts.
        body: the submission, without its language.
    """
    try:
        found = languages.find(language)
        toolchains.require(found)
    except UnsupportedLanguageError as error:
        return Case(name, path.stem, language, expected, None, str(error))
    full = {"language": found.name, **{key: value for key, value in body.items() if value != {}}}
    return Case(name, path.stem, found.name, expected, full)


def _judged_fields(row: Json) -> Json:
    """Return what the submissions of a problem share."""
    judge, interacts = row["judge"], row["judge"]["interactive"]
    flags = [test.get("flags") or [] for test in row["tests"]]
    shared = flags[0] if all(each == flags[0] for each in flags) else None
    program = {
        "type": "program",
        "protocol": judge["protocol"],
        "arguments": [*judge["flags"], *(shared or [])],
        "passes": judge.get("passes", 1),
        **_sources(judge),
    }
    kind = "interactive" if interacts else "stdin"
    limits = {"cpu_seconds": row["time_limit"], "memory_bytes": row["memory_mb"] << 20}
    tests = [
        {"type": kind, "input": test["input"], "output": test["answer"]}
        | ({"judge_arguments": own} if shared is None else {})
        for test, own in zip(row["tests"], flags, strict=True)
    ]
    return {"tests": tests, "interactor" if interacts else "checker": program, "limits": limits}


def _sources(judge: Json) -> Json:
    """Return language, main and files of a judge.

    One that a script builds has a single source in C, which is called with the input and a file for its messages.
    """
    if judge["language"] != "build_run":
        files = {judge["main"]: judge["source"], **judge["files"]}
        return {"language": judge["language"], "main": judge["main"], "files": files}
    [source] = [name for name in judge["files"] if name.endswith(".c")]
    return {"language": "c", "main": "main.c", "files": {"jury.h": judge["files"][source], "main.c": _CALLER}}


_CALLER = """#define main jury_main
#include "jury.h"
#undef main
int main(int count, char **arguments) {
    char out[4096];
    snprintf(out, sizeof out, "%sout", arguments[3]);
    char *given[] = {arguments[0], arguments[1], out, 0};
    return jury_main(3, given);
}
"""


def _program(program: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the source and the files beside it."""
    if "code" in program:
        return program["code"], {}
    files = dict(program["files"])
    return files.pop(program["main"]), files
