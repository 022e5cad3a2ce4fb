"""Real problems with known answers: what is right is accepted, what is wrong is not, and every exception is explained.

The data are not part of the project (see the fixture `data`); without them all of this is skipped. All programs go in
one batch, as a trainer would send them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service

Json = dict[str, Any]

FLOATS = {"type": "tokens", "float_tolerance": 1e-6}
FLOATS_ANY_CASE = FLOATS | {"ignore_case": True}

# QuixBugs: right programs that are not accepted
EXPONENTIAL = {
    "quixbugs/knapsack": "tries every subset: minutes for 24 things",
    "quixbugs/levenshtein": "tries every path: seconds for two words of ten letters",
}
# LeetCode: its solution lists the ladders in the order of a set of strings, which is another with every hash seed
HASH_ORDER = {"leetcode/word-ladder-ii"}
# Kattis: what needs more than a program, its input and its output
KATTIS_SKIPPED: dict[str, str] = {}
# CodeContests: labelled right, and yet refused
REFUSED: dict[str, str] = {}


@dataclass
class Case:
    """A program, and whether (or how) it should be judged."""

    id: str
    expected: list[str]
    body: Json = field(repr=False)

    def is_met(self, grade: Json) -> bool:
        """Whether the verdict is one of those expected; `NOT_AC` is any but AC and IE."""
        verdict = grade["verdict"]
        return verdict in self.expected or ("NOT_AC" in self.expected and verdict not in ("AC", "IE"))


Cases = list[Case]
Grades = dict[str, Json]


# --- from rows of data to submissions


def rows(data: Path, name: str) -> Iterator[Json]:
    for line in (data / f"{name}.jsonl").read_text().splitlines():
        row: Json = json.loads(line)
        row["programs"] = [(n, each) for n, each in enumerate(row["solutions"]) if each["language"] == "python"]
        yield row


def cases(data: Path, name: str, to_body: Callable[[Json], Json]) -> Cases:
    """Every Python program of a file, as `<file>/<problem>/<number>`."""
    return [
        Case(f"{name}/{row['id']}/{number}", program["expected_verdict"], {"code": program["code"], **to_body(row)})
        for row in rows(data, name)
        for number, program in row["programs"]
    ]


def asserts(row: Json, **extra: str) -> Json:
    entry = {"entry_point": row["fn_name"]} if row.get("fn_name") else {}
    return {"tests": [{"type": "assert", "code": test["assert"], **entry, **extra} for test in row["tests"]]}


def human_eval(row: Json) -> Json:
    return asserts(row, prelude=before_last_function(row["statement"]))


def before_last_function(prompt: str) -> str:
    """Imports and helpers that stand in a prompt before the function that is asked for."""
    last = [node for node in ast.parse(prompt).body if isinstance(node, ast.FunctionDef)][-1]
    return "".join(prompt.splitlines(keepends=True)[: last.lineno - 1])


def leetcode(row: Json) -> Json:
    return asserts(row, prelude="@leetcode")


def quixbugs(row: Json) -> Json:
    """A second is plenty, except for the exponential two; `sqrt` is asked for with a tolerance of its own."""
    tests = [
        {"type": "call", "function": row["fn_name"], "args": test["args"], "output": test["output"]}
        for test in row["tests"]
    ]
    checker: Json = dict(FLOATS)
    if row["fn_name"] == "sqrt":
        checker["absolute_tolerance"] = max(test["args"][1] for test in row["tests"])
    return {"tests": tests, "checker": checker, "limits": {"cpu_seconds": 1}}


def stdin(row: Json, checker: Json) -> Json:
    tests = [{"type": "stdin", "input": test["input"], "output": test["output"]} for test in row["tests"]]
    limits = {"limits": {"cpu_seconds": row["time_limit_s"]}} if row.get("time_limit_s") else {}
    return {"tests": tests, "checker": checker, **limits}


# --- graded once


@pytest.fixture(scope="module")
def graded(service: Service, data: Path) -> tuple[Cases, Grades]:
    every = [
        *cases(data, "humaneval", human_eval),
        *cases(data, "humanevalpack_python_0_59", human_eval),
        *cases(data, "mbpp", asserts),
        *cases(data, "mbppplus_60", asserts),
        *cases(data, "leetcode_train_120", leetcode),
        *cases(data, "quixbugs", quixbugs),
        *cases(data, "kattis_problemtools", lambda row: stdin(row, FLOATS)),
        *cases(data, "codecontests_100", lambda row: stdin(row, FLOATS_ANY_CASE)),
    ]
    assert len({case.id for case in every}) == len(every)
    return every, service.client.batch({"id": case.id, **case.body} for case in every)
