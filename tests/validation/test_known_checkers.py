"""The checkers of datasets/checkers: they accept every right output, refuse wrong ones, and never fail.

The inputs are made for these tests. With the data (see the fixture `data`), the answers of the data set are accepted,
and perturbed ones refused.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import AssertTest, JudgeProgram, StdinTest
from sandbox_service.validation.known_checkers import KnownCheckers

FILE = Path(__file__).parents[2] / "datasets" / "checkers" / "codecontests.toml"
KEYS = list(tomllib.loads(FILE.read_text()))
PATH = "4\n1 2\n2 3\n3 4\n"
STAR = "4\n1 2\n1 3\n1 4\n"

# key: input, answer, right outputs, wrong outputs
CASES: dict[str, tuple[str, str, list[str], list[str]]] = {
    "1041_e": (
        "4\n3 4\n1 4\n2 4\n",
        "YES\n4 3\n3 1\n4 2",
        ["YES\n4 3\n3 1\n4 2", "yes\n2 4\n1 4\n3 4"],
        ["NO", "YES", "YES\n1 3\n3 2\n2 4", "YES\n1 2\n1 2\n3 4", "YES\n1 2\n2 3\n3 5", "YES\n1 2\n2 3\n3 x"],
    ),
    "1076_d": (
        "3 3 2\n1 2 1\n3 2 1\n1 3 2\n",
        "2\n1 2",
        ["2\n1 2", "2\n1 3", "2\n3 1"],
        ["", "2\n2 3", "1\n1", "3\n1 2 3", "2\n1 1", "2\n1 4", "2\n1"],
    ),
    "1217_d": (
        "3 3\n1 2\n2 3\n3 1\n",
        "2\n1 1 2",
        ["2\n1 1 2", "2\n2 1 1", "2\n1 2 2"],
        ["1\n1 1 1", "2\n1 1 1", "3\n1 2 3", "2\n1 2", "2\n1 2 3", "2\n0 1 2", ""],
    ),
    "1286_b": (
        "3\n2 0\n0 2\n2 0\n",
        "YES\n1 3 2",
        ["YES\n1 3 2", "YES\n5 9 5", "yes 1 2 1"],
        ["NO", "YES\n3 2 1", "YES\n1 3", "YES\n0 3 2", "YES\n1 3000000000 2", "YES\n1 3 2 1", ""],
    ),
    "1294_c": (
        "3\n64\n7\n24\n",
        "YES\n2 4 8\nNO\nYES\n2 3 4",
        ["YES\n8 4 2\nNO\nYES\n2 4 3"],
        ["NO\nNO\nNO", "YES\n4 4 4\nNO\nYES\n2 3 4", "YES\n1 8 8\nNO\nYES\n2 3 4", "YES\n2 4 8\nNO\nYES\n2 3 4\n1", ""],
    ),
    "1325_c": (STAR, "0\n1\n2", ["0\n1\n2", "2\n0\n1"], ["", "0\n0\n1", "0\n1", "0\n1\n3", "0\n1\n2\n3", "0\n1\n-2"]),
    "1391_e": (
        "1\n4 3\n1 2\n1 3\n1 4\n",
        "PATH\n2\n1 2",
        ["PATH\n2\n4 1", "PATH\n3\n2 1 3", "PAIRING\n1\n1 2", "PAIRING\n1\n2 3"],
        [
            "PATH\n1\n1",
            "PATH\n2\n2 3",
            "PATH\n3\n2 1 2",
            "PAIRING\n2\n1 2\n3 3",
            "PAIRING\n2\n1 2\n3 4",
            "",
            "PATH\n2\n1 5",
            "PATH\n2\n1 2\n3",
        ],
    ),
    "1454_d": (
        "2\n360\n7\n",
        "3\n2 2 90\n1\n7",
        ["3\n2 6 30\n1\n7", "3 2 2 90 1 7"],
        ["2\n6 60\n1\n7", "3\n2 3 60\n1\n7", "3\n1 2 180\n1\n7", "3\n2 2 90\n1\n8", "3\n2 2 90\n1\n7\n1", ""],
    ),
    "150_a": (
        "180\n",
        "1\n6",
        ["1\n6", "1\n10", "1\n15", "1\n4", "1\n9"],
        ["2", "1\n2", "1\n12", "1\n180", "1\n7", "1", ""],
    ),
    "1521_d": (
        "1\n4\n1 2\n1 3\n1 4\n",
        "1\n1 2 3 2",
        ["1\n1 2 3 2", "1\n1 4 2 4", "1\n3 1 4 3"],
        [
            "0",
            "1\n2 3 1 4",
            "1\n1 2 1 2",
            "1\n1 2 3 4",
            "1\n1 2 2 2",
            "1\n1 2 3",
            "2\n1 2 3 2\n1 3 2 3",
            "",
            "1\n1 2 3 5",
        ],
    ),
    "27_b": ("3\n1 2\n1 3\n", "2 3", ["2 3", "3 2"], ["1 2", "2 2", "2 4", "2", "2 3 1", "x y", ""]),
    "404_c": (
        "3 2\n0 1 1\n",
        "2\n1 2\n1 3",
        ["2\n1 2\n1 3", "3\n2 3\n1 2\n3 1"],
        ["-1", "1\n1 2", "2\n1 2\n2 3", "2\n1 2\n1 2", "2\n1 2\n3 3", "2\n1 2\n1 4", "2\n1 2\n1", ""],
    ),
    "45_h": (
        "4 3\n1 2\n2 3\n3 4\n",
        "1\n1 4",
        ["1\n1 4", "1\n4 1"],
        ["0", "-1", "1\n1 2", "1\n2 4", "1\n1 1", "1\n1 5", "2\n1 4\n1 3", "1\n1", ""],
    ),
    "576_a": ("4\n", "3\n2 4 3", ["3\n3 4 2"], ["2\n2 3", "3\n2 3 3", "4\n1 2 3 4", ""]),
    "963_b": (
        "3\n0 1 1\n",
        "YES\n1\n2\n3",
        ["YES\n1\n3\n2", "yes 1 2 3"],
        ["NO", "YES\n2\n1\n3", "YES\n1\n2", "YES\n1\n1\n2", "YES\n1\n2\n4", ""],
    ),
    "981_c": (
        STAR,
        "Yes\n3\n1 2\n1 3\n1 4",
        ["Yes\n3\n4 1\n1 2\n3 1", "Yes\n2\n2 3\n1 4"],
        [
            "No",
            "Yes\n1\n1 2",
            "Yes\n3\n1 2\n1 2\n1 4",
            "Yes\n2\n2 3\n3 4",
            "Yes\n3\n1 2\n1 3\n1 5",
            "Yes\n3\n1 1\n1 2\n1 3",
            "Yes",
            "",
        ],
    ),
}
MORE: list[tuple[str, str, str, str, bool]] = [
    ("1041_e", "2\n1 2\n", "NO", "no", True),
    ("1325_c", PATH, "0\n1\n2", "1\n0\n2", True),
    ("1325_c", "6\n1 2\n1 3\n2 4\n2 5\n5 6\n", "0\n3\n2\n4\n1", "0\n4\n3\n1\n2", False),
    ("1325_c", "6\n1 2\n1 3\n2 4\n2 5\n5 6\n", "0\n3\n2\n4\n1", "3\n1\n0\n4\n2", True),
    ("150_a", "6\n", "2", "2", True),
    ("150_a", "7\n", "1\n0", "1\n0", True),
    ("150_a", "7\n", "1\n0", "1\n7", False),
    ("404_c", "3 1\n0 0 0\n", "-1", "-1", True),
    ("45_h", "2 1\n1 2\n", "-1", "-1", True),
    ("981_c", PATH, "Yes\n1\n1 4", "Yes\n2\n1 2\n2 4", True),
    ("981_c", PATH, "Yes\n1\n1 4", "Yes\n3\n1 2\n2 3\n3 4", False),
    ("981_c", "3\n3 3\n1 2\n", "Yes\n1\n1 2", "Yes\n1\n1 2", True),
    ("1521_d", "1\n2\n1 3\n0 4\n", "0", "0", True),
]
HOSTILE = ["9" * 5000, "-1", "١ ٢", "\0", "YES " + "1 " * 50_000, "1 " * 50_000, "nan inf", "Yes\n" + "9" * 5000]


@cache
def checker(key: str) -> Callable[[str, str, str], Any]:
    """The function `check` of a checker; these are our own, and run in this process."""
    program = KnownCheckers.read(str(FILE)).applied(problem(f"x/{key}_name")).checker
    assert isinstance(program, JudgeProgram)
    names: dict[str, Any] = {}
    exec(program.source or "", names)
    found: Callable[[str, str, str], Any] = names["check"]
    return found


def problem(name: str, **fields: Any) -> Problem:
    return Problem(id=name, prompt="p", **({"tests": [StdinTest(output="1")]} | fields))


def accepts(key: str, given: str, output: str, answer: str) -> bool:
    said = checker(key)(given, output, answer)
    assert isinstance(said, bool) or said[0] == "WA"
    return said is True


def one_by_one() -> Iterator[object]:
    for key, (given, answer, right, wrong) in CASES.items():
        yield from (pytest.param(key, given, answer, each, True, id=f"{key}-right-{n}") for n, each in enumerate(right))
        yield from (
            pytest.param(key, given, answer, each, False, id=f"{key}-wrong-{n}") for n, each in enumerate(wrong)
        )
    yield from (pytest.param(*each, id=f"{each[0]}-more-{n}") for n, each in enumerate(MORE))


@pytest.mark.parametrize(("key", "given", "answer", "output", "is_right"), [*one_by_one()])
def test_right_outputs_are_told_from_wrong_ones(key: str, given: str, answer: str, output: str, is_right: bool) -> None:
    assert accepts(key, given, output, answer) is is_right


@pytest.mark.parametrize("key", CASES)
def test_no_output_makes_a_checker_fail(key: str) -> None:
    given, answer, *_ = CASES[key]
    assert not any(accepts(key, given, output, answer) for output in HOSTILE)


def test_each_checker_is_tried() -> None:
    aliases = {"1287_d": "1286_b", "151_c": "150_a"}
    assert set(KEYS) == CASES.keys() | aliases.keys()
    assert all(checker(name).__code__.co_code == checker(other).__code__.co_code for name, other in aliases.items())


def perturbed(answer: str) -> Iterator[str]:
    """Outputs that no checker may accept: parts of an answer, more than it, and nothing."""
    words = answer.split()
    yield ""
    yield " ".join([*words, "1"])
    if len(words) > 1:
        yield " ".join(words[:-1])
        yield " ".join(words[:1])
        yield " ".join([*words[:-1], "1000000007"])


def test_the_answers_of_the_data_are_accepted_and_perturbed_ones_refused(data: Path) -> None:
    rows = [json.loads(line) for line in (data / "codecontests_100.jsonl").read_text().splitlines()]
    seen = set()
    for row in rows:
        for key in (each for each in KEYS if row["id"].rpartition("/")[2].startswith(f"{each}_")):
            seen.add(key)
            for test in row["tests"]:
                assert accepts(key, test["input"], test["output"], test["output"]), row["id"]
                assert not any(accepts(key, test["input"], each, test["output"]) for each in perturbed(test["output"]))
    assert seen == set(KEYS)


def test_a_problem_keeps_the_checker_that_it_has_and_other_kinds_of_tests_get_none() -> None:
    known = KnownCheckers({"1_a": "def check(input, output, answer):\n    return True"})
    assert isinstance(known.applied(problem("x/1_a")).checker, JudgeProgram)
    own = JudgeProgram(type="program", source="x", protocol="kattis")
    assert known.applied(problem("x/1_a_b", checker=own)).checker == own
    several = problem("x/1_a", tests=[StdinTest(output=["1", "2"])])
    for other in (problem("x/1_ab"), problem("x/11_a"), several, problem("x/1_a", tests=[AssertTest(code="1")])):
        assert known.applied(other).checker is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("a = 1", "a has no function"), ("a = 'x'", "a has no function"), ("a", "not TOML"), (None, "No such")],
)
def test_a_file_that_is_no_list_of_checkers_is_refused(tmp_path: Path, text: str | None, why: str) -> None:
    path = tmp_path / "checkers.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigurationError, match=why):
        KnownCheckers.read(str(path))
