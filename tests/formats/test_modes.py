"""Modes: each compares, samples and limits like the system after which it is named.

The cases name the lines of the original that define a rule: LiveCodeBench at commit 8610ffb, prime_code in verl 0.9.1,
SandboxFusion at b39391b of wapleeeeee/SandboxFusion, Code-R1 at 443f8da, rLLM at 874daa4, problemtools at 150184d.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox_service.api.intake import Intake
from sandbox_service.errors import LimitTooHighError
from sandbox_service.formats.modes import MODES
from sandbox_service.grading.suites import Suite, chosen, read
from sandbox_service.judging.checkers import check
from sandbox_service.queues.base import Job
from sandbox_service.schema import (
    AssertTest,
    CallTest,
    Checker,
    Limits,
    Mode,
    Sample,
    StdinTest,
    Submission,
    TestCase,
)
from sandbox_service.schema.tests import OWN_TOLERANCE
from sandbox_service.settings import Settings
from tests.conftest import Service

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "modes.md"
MEGABYTE = 1 << 20

# (expected, printed, accepted)
Case = tuple[str, str, bool]
RULES: dict[Mode, list[Case]] = {
    # lcb_runner/evaluation/testing_util.py: get_stripped_lines, convert_line_to_decimals, and the end of grade_stdio
    "lcb": [
        ("1\n2", "\n 1 \r\n\t2\n\n", True),
        ("a b", "a  b", False),
        ("1 2", "1.0  +2e0", True),
        ("1 2", "1 2 3", False),
        ("1 2 3", "1 2", False),
        ("1\n2", "1 2", False),
        ("1\n\n2", "1\n2", False),
        ("x 1", "x 1.0", False),
        ("x\n1", "x\n1.0", True),
        ("0.1", "0.10000000000000001", False),
        ("10000000000000000", "10000000000000001", False),
        ("1", "", False),
    ],
    # prime_code/testing_util.py: custom_compare_ (569-587) and the readings after it in run_test (350-500)
    "prime_code": [
        ("a\nb", "\na \r\n b\n\n", True),  # the whole; its lines stripped
        ("a \nb", "a \nb", True),
        ("a \nb", "a\nb", True),  # the expected lines stripped
        ("a\n \nb", "a\n\nb", True),  # … where a line of blanks is one
        ("a\n\nb", "a\nb", True),  # without empty lines, of the expected ones …
        ("a\nb", "a\n\n\nb", True),  # … and of the output's,
        ("a\nb", "a \n\nb", False),  # whose lines are then not stripped
        ("1\nb", "1 \n\nb", False),
        ("1\n2", "1 \n\n2", True),  # but numbers may have blanks around them
        ("1\n2", "1.000001\n2.0", True),
        ("1 2", "1.0 2", False),  # a number in each line, and nothing else
        ("x\n1", "x\n1.0", False),
        ("1", "01", False),  # digits are no floats
        ("1000000", "1000001", False),
        ("-1000000", "-1000001", True),  # but a sign is no digit
        ("1000000\n0.5", "1000001\n0.5", True),
        ("1\n2", "1.0", False),
        ("0", "0.00000001", True),
        ("0", "0.0000001", False),
        ("1 2", "2 1", False),
    ],
    # sandbox/utils/testing.py: check_stdio_test_case, is_float, float_equal
    "sandboxfusion": [
        ("Yes\nNO", " yes\n\tno \n", True),
        ("a\n\nb", "a\nb", False),
        ("a b", "a  b", False),
        ("1", "1.000009", True),
        ("1", "1.00001", False),
        ("1 2", "1.0 2.0", False),
        ("100000000", "100000999", True),
        ("0", "0.0000000000000001", True),
        ("0", "0.00000000000001", False),
        ("nan", "NaN", True),
        ("1E3", "1e3", True),
    ],
    # verl/utils/reward_score/coder1/__init__.py:110
    "code_r1": [
        ("a b\nc", "\n a b\nc \n", True),
        ("a\nb", "a \nb", False),
        ("a\nb", "a\r\nb", False),
        ("a\nb", "a\n\nb", False),
        ("1", "1.0", False),
        ("YES", "yes", False),
        ("", " \n", True),
    ],
    # rllm/rewards/code_utils/taco.py: stripped_string_compare (623-633), without its `pass`
    "deepcoder": [
        ("a b\nc", "\n a\t b \n\n\nc", True),
        ("a b", "a\nb", False),
        ("x 1", "x 1.000001", True),
        ("x 1", "y 1", False),
        ("NO", "YES", False),
        ("1 2", "1 2 3", False),
        ("100000000", "100000001", True),
        ("0", "0.00000001", True),
        ("0", "0.0000001", False),
        ("1\n2", "2\n1", False),
        ("5 5", "5", False),
        ("nan", "NaN", False),
    ],
    # support/default_validator/default_validator.cc: main, without arguments
    "kattis": [
        ("Yes 1\n", "yES\n\n1", True),
        ("1", "1.0", False),
        ("a b", "ab", False),
        ("a b", "a b c", False),
        ("É", "é", False),
    ],
}

# expected, printed, and what comes of it under our own `tokens` and under each mode. *: the system itself accepts it
PAIRS = [
    ("3\n", "3", "AC AC AC AC AC AC AC"),
    ("1 2\n", " 1 2 \n", "AC AC AC AC AC AC AC"),
    ("a b\n", "a  b\n", "AC WA WA WA WA AC AC"),
    ("1\n2\n", "1 \n2 \n", "AC AC AC AC WA AC AC"),
    ("1\n2\n", "1\r\n2\r\n", "AC AC AC AC WA AC AC"),
    ("1 2\n", "1\n2\n", "AC WA WA WA WA WA AC"),
    ("a\nb\n", "a\n\nb\n", "AC WA AC WA WA AC AC"),
    ("a\n\nb\n", "a\nb\n", "AC WA AC WA WA AC AC"),
    ("a\nb\n", "a \n\nb\n", "AC WA WA WA WA AC AC"),
    ("YES\n", "yes\n", "WA WA WA AC WA WA* AC"),
    ("YES\n", "NO\n", "WA WA WA WA WA WA* WA"),
    ("1\n", "1.0\n", "WA AC AC AC WA AC WA"),
    ("1\n", "01\n", "WA AC WA AC WA AC WA"),
    ("1 2\n", "1.0 2\n", "WA AC WA WA WA AC WA"),
    ("x 1\n", "x 1.0\n", "WA WA WA WA WA AC WA"),
    ("x\n1\n", "x\n1.0\n", "WA AC WA AC WA AC WA"),
    ("1000000\n", "1e6\n", "WA AC AC AC WA AC WA"),
    ("10\n", "1_0\n", "WA WA* WA* WA* WA WA* WA"),
    ("0.5\n", "0.500001\n", "WA WA AC AC WA AC WA"),
    ("0.5 1\n", "0.500001 1\n", "WA WA WA WA WA AC WA"),
    ("0\n", "0.000000001\n", "WA WA AC WA WA AC WA"),
    ("1000000\n", "1000001\n", "WA WA WA AC WA AC WA"),
    ("-1000000\n", "-1000001\n", "WA WA AC AC WA AC WA"),
    ("1e400\n", "2e400\n", "WA WA WA* WA WA WA* WA"),
    ("nan\n", "NaN\n", "WA WA WA AC WA WA AC"),
    ("1\n2\n", "2\n1\n", "WA WA WA WA WA WA* WA"),
    ("1\n2\n", "12\n", "WA WA WA WA WA WA* WA"),
    ("5 5\n", "5\n", "WA WA WA WA WA WA* WA"),
    ("", "\n", "AC AC AC AC AC AC AC"),
]


def accepts(checker: Checker, printed: str, expected: str) -> bool:
    reason = check(checker, printed.encode(), expected.encode())
    assert reason is None or 0 < len(reason) < 300
    return reason is None


# --- comparison


@pytest.mark.parametrize(
    ("mode", "expected", "printed", "accepted"), [(mode, *case) for mode, cases in RULES.items() for case in cases]
)
def test_outputs_are_compared_as_there(mode: Mode, expected: str, printed: str, accepted: bool) -> None:
    assert accepts(MODES[mode].checker, printed, expected) == accepted


@pytest.mark.parametrize(("expected", "printed", "verdicts"), PAIRS)
def test_modes_differ_as_the_table_says(expected: str, printed: str, verdicts: str) -> None:
    checkers = [Checker(), *(each.checker for each in MODES.values())]
    found = ["AC" if accepts(checker, printed, expected) else "WA" for checker in checkers]
    assert found == verdicts.replace("*", "").split()


def test_the_document_has_the_table() -> None:
    heads = ["expected", "printed", "`tokens`", *(f"`{mode}`" for mode in MODES)]
    rows = [heads, ["---"] * len(heads)]
    rows += [[f"`{json.dumps(each)}`" for each in pair[:2]] + pair[2].split() for pair in PAIRS]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    assert table in DOCUMENT.read_text(), f"docs/modes.md should have\n{table}"


def test_the_document_says_what_each_mode_stands_for() -> None:
    text = DOCUMENT.read_text()
    for mode, defaults in MODES.items():
        seconds = f"{(defaults.limits or Limits()).cpu_seconds:g} s"
        sample = f"the {defaults.sample.count} {defaults.sample.rule}" if defaults.sample else "all"
        assert (
            f"\n| `{mode}` | `{json.dumps(defaults.checker.model_dump(exclude_unset=True))}` | {sample} | {seconds} |"
            in text
        )


# --- the same rules once more, as plainly as can be, on texts that are small enough for that


def rows(text: str) -> list[str]:
    return [row.strip() for row in text.strip().split("\n")]


def decimals(row: str) -> list[Decimal] | None:
    try:
        return [Decimal(word) for word in row.split()]
    except InvalidOperation:
        return None


def near(got: str, expected: str, is_near: Callable[[float, float], bool]) -> bool:
    try:
        return is_near(float(got), float(expected))
    except ValueError:
        return False


def is_close(got: float, expected: float) -> bool:
    return abs(got - expected) <= 1e-8 + 1e-5 * abs(expected)


def as_lcb(printed: str, expected: str) -> bool:
    pairs = list(zip(rows(printed), rows(expected), strict=False))
    values = [(decimals(got), decimals(wanted)) for got, wanted in pairs]
    alike = [
        got == wanted or (left is not None and left == right)
        for (got, wanted), (left, right) in zip(pairs, values, strict=True)
    ]
    return len(rows(printed)) == len(rows(expected)) and all(alike)


def as_sandboxfusion(printed: str, expected: str) -> bool:
    left, right = rows(printed.lower()), rows(expected.lower())
    return len(left) == len(right) and all(
        got == wanted or near(got, wanted, lambda a, b: abs(a - b) / max(abs(b), 1e-10) < 1e-5)
        for got, wanted in zip(left, right, strict=True)
    )


def as_deepcoder(printed: str, expected: str) -> bool:
    left, right = ([row.split() for row in rows(text) if row] for text in (printed, expected))
    return [len(row) for row in left] == [len(row) for row in right] and all(
        got == wanted or near(got, wanted, is_close)
        for one, other in zip(left, right, strict=True)
        for got, wanted in zip(one, other, strict=True)
    )


def as_prime_code(printed: str, expected: str) -> bool:
    got, wanted = printed.splitlines(), [row.strip() for row in expected.split("\n") if row]
    full = [row for row in got if row]
    readings = ("\n".join(got).strip(), "\n".join(row.strip() for row in got).strip())
    if expected.strip() in readings or wanted in (got, full):
        return True
    if all(one.isdigit() and other.isdigit() for one, other in zip(full, wanted, strict=False)):
        return False
    return len(full) == len(wanted) and all(map(lambda a, b: near(a, b, is_close), full, wanted))


PLAINLY = {"lcb": as_lcb, "sandboxfusion": as_sandboxfusion, "deepcoder": as_deepcoder, "prime_code": as_prime_code}
PIECES = [
    "1",
    "1.0",
    "01",
    "-1",
    "0.5",
    "1000000",
    "1000001",
    "-1000000",
    "-1000001",
    ".000001",
    "x",
    "X",
    " ",
    "\n",
    "\r\n",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


@st.composite
def texts_and_changes(draw: st.DrawFn) -> tuple[str, str]:
    """Draw an expected output and the same text with an insertion or deletion."""
    expected = draw(TEXTS)
    start = draw(st.integers(0, len(expected)))
    return expected, expected[:start] + draw(TEXTS) + expected[start + draw(st.integers(0, 2)) :]


@pytest.mark.parametrize("mode", PLAINLY)
@given(pair=texts_and_changes())
def test_a_piece_at_a_time_is_the_same_as_all_at_once(mode: Mode, pair: tuple[str, str]) -> None:
    expected, printed = pair
    assert accepts(MODES[mode].checker, printed, expected) == PLAINLY[mode](printed, expected)


@pytest.mark.parametrize("kind", ["stripped", *OWN_TOLERANCE])
@pytest.mark.parametrize(
    "text", [b"1." + b"7" * MEGABYTE, b"a" + b"\n" * MEGABYTE + b"b", b"1.5 " * (MEGABYTE // 4), b"\xff\x00" * MEGABYTE]
)
def test_large_outputs_take_time_in_proportion(kind: Any, text: bytes) -> None:
    begin = time.process_time()
    assert check(Checker(type=kind), text + b" x", text) is not None
    assert check(Checker(type=kind), text + b"\n", text) is None
    assert time.process_time() - begin < 4


@pytest.mark.parametrize("kind", OWN_TOLERANCE)
def test_a_rule_with_a_tolerance_of_its_own_takes_no_other(kind: Any) -> None:
    with pytest.raises(ValidationError, match="its own rule for numbers: remove the tolerance"):
        Checker(type=kind, float_tolerance=0.1)
    assert accepts(Checker(type=kind, ignore_case=True), "YES", "yes")


# --- samples


def of_lengths(*lengths: int) -> list[TestCase]:
    return [StdinTest(input="é" * length, output="") for length in lengths]


def places(tests: list[TestCase], sample: Sample) -> list[int]:
    return [place for place, _ in chosen(tests, sample)]


def test_the_first_are_the_first() -> None:
    assert places(of_lengths(1, 3, 2, 3), Sample(count=2, rule="first")) == [0, 1]
    assert places(of_lengths(1, 3), Sample(count=9, rule="first")) == [0, 1]


def test_the_longest_keep_their_order_and_the_earlier_goes_first() -> None:
    tests = of_lengths(2, 1, 3, 2, 2)
    assert places(tests, Sample(count=1, rule="longest")) == [2]
    assert places(tests, Sample(count=3, rule="longest")) == [0, 2, 3]
    assert places(tests, Sample(count=5, rule="longest")) == [0, 1, 2, 3, 4]


def test_of_tests_that_have_no_stdin_what_they_are_given_counts() -> None:
    tests: list[TestCase] = [
        StdinTest(input="x" * 20, output="y" * 99),
        CallTest(function="f" * 99, args=["x" * 30], output="y" * 99),
        CallTest(function="f", calls=[("f", []), ("g", ["x" * 90])], output=None),
        AssertTest(code="assert " + "x" * 40),
    ]
    assert [places(tests, Sample(count=count, rule="longest")) for count in (1, 2, 3)] == [[2], [2, 3], [1, 2, 3]]


def test_chance_is_as_it_was() -> None:
    assert places(of_lengths(*range(50)), Sample(count=6, seed=3)) == places(
        of_lengths(*range(50, 100)), Sample(count=6, seed=3, rule="random")
    )
    assert Sample(count=6, rule="random").model_dump(exclude_defaults=True) == {"count": 6}


def test_a_seed_without_chance_is_refused() -> None:
    with pytest.raises(ValidationError, match="is not random: remove the seed"):
        Sample(count=1, seed=1, rule="first")


# --- where submissions are taken

TESTS: list[dict[str, Any]] = [{"type": "stdin", "output": "1"}] * 20
SUITE = {"tests": TESTS, "checker": {"type": "lines"}, "limits": {"cpu_seconds": 3.0}}


def taken(body: dict[str, Any], suite: Suite | None = None, **limits: Any) -> Job:
    async def find(_: str) -> Suite | None:
        return suite

    return asyncio.run(Intake(Settings(**limits), find).one(json.dumps({"code": "1"} | body).encode()))


def test_every_mode_has_its_row() -> None:
    assert list(MODES) == list(get_args(Mode))


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_the_same_work_as_what_it_stands_for(mode: Mode) -> None:
    defaults = MODES[mode]
    fields = {"checker": defaults.checker, "limits": defaults.limits, "sample": defaults.sample}
    spelt = {name: value.model_dump(exclude_unset=True) for name, value in fields.items() if value is not None}
    named, whole = taken({"tests": TESTS, "mode": mode}), taken({"tests": TESTS} | spelt)
    assert named.body == whole.body
    assert named.tests == whole.tests == (defaults.sample.count if defaults.sample else 20)
    assert taken({"tests": TESTS}).body == taken({"tests": TESTS, "mode": None}).body != named.body


def test_what_a_submission_or_its_suite_says_goes_before_a_mode() -> None:
    own = {"checker": {"type": "exact"}, "limits": {"cpu_seconds": 1.0}, "sample": None}
    assert taken({"tests": TESTS, "mode": "deepcoder"} | own).body == taken({"tests": TESTS} | own).body
    suite = read(json.dumps(SUITE).encode())
    found = Submission.model_validate_json(taken({"suite": suite.id, "mode": "deepcoder"}, suite).body)
    assert (found.checker, found.limits) == (suite.checker, suite.limits)
    assert (found.mode, found.sample) == (None, MODES["deepcoder"].sample)


def test_a_batch_of_one_mode_is_read_as_each_alone() -> None:
    defaults = {"tests": TESTS, "mode": "prime_code"}
    body = json.dumps({"defaults": defaults, "submissions": [{"code": str(i)} for i in range(3)]}).encode()

    async def find(_: str) -> Suite | None:
        return None

    jobs = asyncio.run(Intake(Settings(), find).many(body))
    assert [(job.body, job.tests) for job in jobs] == [(taken(defaults | {"code": str(i)}).body, 10) for i in range(3)]


def test_bad_modes_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match="'lcb', 'prime_code'"):
        taken({"tests": TESTS, "mode": "LCB"})
    with pytest.raises(LimitTooHighError, match=r"cpu_seconds is 30, the most is 10 \(SANDBOX_MAX_CPU_SECONDS\)"):
        taken({"tests": TESTS, "mode": "code_r1"}, max_cpu_seconds=10)


# --- graded: a program that prints what it reads; the verdict by default, by the mode, and how many tests that asks

GRADED: list[tuple[Mode, str, str, int, str, str, int]] = [
    ("lcb", "1 2\n", "1.0 2\n", 1, "WA", "AC", 1),
    ("prime_code", "0.5\n", "0.500001\n", 12, "WA", "AC", 10),
    ("sandboxfusion", "Yes\n2\n", "YES\n2.0\n", 2, "WA", "AC", 2),
    ("code_r1", "a\nb\n", "a \nb\n", 1, "AC", "WA", 1),
    ("deepcoder", "x 0.5\n", "x 0.500001\n", 17, "WA", "AC", 15),
    ("kattis", "Yes\n", "yes\n", 1, "WA", "AC", 1),
]


@pytest.mark.parametrize(("mode", "expected", "printed", "tests", "by_default", "by_mode", "total"), GRADED)
def test_graded(
    service: Service, mode: Mode, expected: str, printed: str, tests: int, by_default: str, by_mode: str, total: int
) -> None:
    suite = [{"type": "stdin", "input": printed, "output": expected}] * tests
    body = {"code": "import sys\nsys.stdout.write(sys.stdin.read())", "tests": suite, "stop_on_failure": True}
    assert service.grade(**body)["verdict"] == by_default
    found = service.grade(**body, mode=mode)
    assert (found["verdict"], found["total"]) == (by_mode, total)


def test_what_is_wrong_outside_the_sample_is_not_seen(service: Service) -> None:
    """The last of seventeen tests fails, and has the shortest input."""
    right, wrong = {"type": "stdin", "input": "12", "output": "12"}, {"type": "stdin", "input": "1", "output": "2"}
    body = {"code": "print(input())", "tests": [*[right] * 16, wrong]}
    verdicts = {mode: service.grade(**body, mode=mode)["verdict"] for mode in MODES}
    assert {mode for mode, verdict in verdicts.items() if verdict == "AC"} == {"prime_code", "deepcoder"}
