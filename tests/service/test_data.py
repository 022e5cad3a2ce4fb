"""Real problems with known answers: what is right is accepted, what is wrong is not, and every exception is explained.

The data are not part of the project (see the fixture `data`); without them all of this is skipped. All programs go in
one batch, as a trainer would send them.
"""

from __future__ import annotations

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service

Json = dict[str, Any]

FLOATS = {"type": "tokens", "float_tolerance": 1e-6}
FLOATS_ANY_CASE = FLOATS | {"ignore_case": True}

# QuixBugs: right programs that are not accepted within a second
EXPONENTIAL = {
    "quixbugs/knapsack/0": "tries every subset of the things",
    "quixbugs/levenshtein/0": "tries every way to edit, without remembering any",
}
# LeetCode: its solution lists ladders in the order of a set of strings, which is another with every hash seed
HASH_ORDER = {"lcd-v0.2.0-train/word-ladder-ii/0"}
# Kattis: what needs more than a program, its input and its output
KATTIS = {
    "Kattis/problemtools/examples/guess/9": "interactive: it ends with an assertion when nobody answers",
    "Kattis/problem-package-format/examples/problems/maximal/0": "imports a file that its package includes",
}
# CodeContests: labelled right, and yet refused
SEVERAL = "several answers are right; this one is another than the expected"
REFUSED = {
    "codecontests/1041_e_tree_reconstruction_8858/0": SEVERAL + ": any tree with these pairs",
    "codecontests/1056_d_decorate_apple_tree_1782/0": "the test is cut: n = 1 without its empty second line",
    "codecontests/1076_d_edge_deletion_9486/0": SEVERAL + ": any edges that keep as many vertices good",
    "codecontests/1118_f1_tree_cutting_easy_version_12195/0": "the test is of the hard version: two numbers in line 1",
    "codecontests/1133_f1_spanning_tree_with_maximum_degree_10945/0": "the program solves F2: it reads three numbers",
    "codecontests/1176_e_cover_it_10635/0": "the program does not read the number of queries, and prints edges",
    "codecontests/1217_d_coloring_edges_7410/0": SEVERAL + ": any colouring with so few colours",
    "codecontests/1324_f_maximum_white_subtree_3668/0": "the program solves another problem: one number for n",
    "codecontests/1325_c_ehab_and_pathetic_mexs_1064/0": SEVERAL + ": any labels with so small a maximum",
    "codecontests/1391_e_pairs_of_pairs_6690/0": SEVERAL + ": any path or pairing",
    "codecontests/1521_d_nastia_plays_with_a_tree_11693/0": SEVERAL + ": any shortest list of operations",
    "codecontests/27_b_tournament_1914/0": SEVERAL + ": the missing game has no known winner",
    "codecontests/45_h_road_problem_460/0": SEVERAL + ": a road may be named from either end",
    "codecontests/576_a_vasya_and_petyas_game_7650/0": SEVERAL + ": questions in any order",
    "codecontests/680_c_bear_and_prime_100_4430/0": "interactive: the answers are scripted for other questions",
    "codecontests/963_b_destruction_of_a_tree_65/0": SEVERAL + ": any order that destroys all",
}


@dataclass
class Case:
    """A program, and whether (or how) it should be judged."""

    id: str
    place: int
    """Its problem's line in the file."""
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
        Case(
            f"{name}/{row['id']}/{number}",
            place,
            program["expected_verdict"],
            {"code": program["code"], **to_body(row)},
        )
        for place, row in enumerate(rows(data, name))
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


SLOW_CPU_SECONDS = 20  # mbpp/123 takes half of the default limit on an idle processor
STEP = 6  # `make test` grades the programs of every sixth problem from the second on, `make test-all` all
COUNTS = {
    "humaneval": {"AC": 164},
    "humanevalpack_python_0_59": {"AC": 60, "NOT_AC": 60},
    "mbpp": {"AC": 974},
    "mbppplus_60": {"AC": 60},
    "leetcode_train_120": {"AC": 120},
    "quixbugs": {"AC": 31, "NOT_AC": 31},
    "codecontests_100": {"AC": 100},
}


@pytest.fixture(scope="module")
def every(data: Path) -> Cases:
    return [
        *cases(data, "humaneval", human_eval),
        *cases(data, "humanevalpack_python_0_59", human_eval),
        *cases(data, "mbpp", lambda row: asserts(row) | {"limits": {"cpu_seconds": SLOW_CPU_SECONDS}}),
        *cases(data, "mbppplus_60", asserts),
        *cases(data, "leetcode_train_120", leetcode),
        *cases(data, "quixbugs", quixbugs),
        *cases(data, "kattis_problemtools", lambda row: stdin(row, FLOATS)),
        *cases(data, "codecontests_100", lambda row: stdin(row, FLOATS_ANY_CASE)),
    ]


@pytest.fixture(scope="module", params=[True, pytest.param(False, marks=pytest.mark.full)], ids=["some", "others"])
def graded(service: Service, every: Cases, request: pytest.FixtureRequest) -> tuple[Cases, Grades]:
    """Grade the programs of every sixth problem, or those of the others."""
    chosen = [each for each in every if (each.place % STEP == 1) is request.param]
    return chosen, grade(service, chosen)


def grade(service: Service, every: Cases) -> Grades:
    return service.client.batch({"id": case.id, **case.body} for case in every)


def missed(graded: tuple[Cases, Grades], *files: str) -> dict[str, str]:
    """Which programs of these files were judged otherwise than expected, and how."""
    every, grades = graded
    chosen = [case for case in every if case.id.partition("/")[0] in files]
    assert chosen
    return {
        case.id.partition("/")[2]: f"{grades[case.id]['verdict']}: {grades[case.id]['message']}"
        for case in chosen
        if not case.is_met(grades[case.id])
    }


def among(graded: tuple[Cases, Grades], file: str, problems: Iterable[str]) -> set[str]:
    """Return those of some programs of a file that were graded."""
    return {case.id.partition("/")[2] for case in graded[0] if case.id.startswith(f"{file}/")} & {*problems}


def test_every_file_is_whole(every: Cases) -> None:
    assert len({case.id for case in every}) == len(every)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in every:
        found[case.id.partition("/")[0]][case.expected[0]] += 1
    assert {name: dict(found[name]) for name in COUNTS} == COUNTS


def test_every_program_gets_a_verdict(graded: tuple[Cases, Grades]) -> None:
    every, grades = graded
    assert set(grades) == {case.id for case in every}
    assert [grade for grade in grades.values() if grade["verdict"] == "IE"] == []


@pytest.mark.parametrize("file", ["humaneval", "humanevalpack_python_0_59", "mbpp", "mbppplus_60"])
def test_functions_are_accepted_if_they_are_right(graded: tuple[Cases, Grades], file: str) -> None:
    assert missed(graded, file) == {}


def test_leetcode_is_accepted_but_for_an_answer_in_hash_order(graded: tuple[Cases, Grades]) -> None:
    assert set(missed(graded, "leetcode_train_120")) == among(graded, "leetcode_train_120", HASH_ORDER)


def test_quixbugs_are_told_apart(graded: tuple[Cases, Grades]) -> None:
    misses = missed(graded, "quixbugs")
    assert set(misses) == among(graded, "quixbugs", EXPONENTIAL)
    assert all(verdict.startswith("TLE") for verdict in misses.values())


def test_kattis_programs_get_their_verdicts(graded: tuple[Cases, Grades]) -> None:
    assert set(missed(graded, "kattis_problemtools")) == among(graded, "kattis_problemtools", KATTIS)


def test_code_contests_are_accepted_but_for_those_whose_label_or_test_is_wrong(graded: tuple[Cases, Grades]) -> None:
    """Every refusal was read: statement, test, output. Where several answers are right only a program can check."""
    assert set(missed(graded, "codecontests_100")) == among(graded, "codecontests_100", REFUSED)
