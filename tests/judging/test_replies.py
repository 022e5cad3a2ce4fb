"""Replies of a candidate's box: what is believed of them, and what is left to the test program."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from sandbox_service.judging.plain_asserts import PlainTest, plain_test
from sandbox_service.judging.replies import MOST_BYTES, MOST_HASHED, BothReplies, Open, Replies
from sandbox_service.schema import Verdict
from tests.judging.test_plain_asserts import frame

LOOK = frame('ok\n[[[["f",[{"H":[0,"function","f"]}]]],null]]')
WRONG = (Verdict.WA, "AssertionError (line 1: assert f([3, 1]) == %s)")


def asserted(expected: str) -> PlainTest:
    found = plain_test(f"assert f([3, 1]) == {expected}", None)
    assert found is not None
    return found


def judge_replies(test: PlainTest, data: bytes) -> Any:
    """The finding, which is the same if the replies come in pieces."""
    at_once, in_pieces = Replies(test), Replies(test)
    at_once.read(data)
    for end in range(min(len(data), 200) + 1):
        in_pieces.read(data[:end])
    in_pieces.read(data)
    assert in_pieces.finding == at_once.finding
    return at_once.finding


def judged(expected: str, message: Any, head: str = "ok") -> Any:
    body = message if isinstance(message, str) else json.dumps(message)
    return judge_replies(asserted(expected), LOOK + frame(f"{head}\n{body}"))


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("1", 1),
        ("1", True),  # as in Python
        ("1", 1.0),
        ("None", None),
        ("'é'", "é"),
        ("[1, [2]]", [1, [2]]),
        ("(1, (2,))", {"T": [1, {"T": [2]}]}),
        ("{1, 2}", {"S": [2, 1]}),
        ("{'a': [1], (2,): {}}", {"D": [[{"T": [2]}, "a"], [{"D": [[], []]}, [1]]]}),
        ("b'\\xff'", {"B": "ÿ"}),
    ],
)
def test_a_right_value_passes(expected: str, value: Any) -> None:
    assert judged(expected, [value]) == (Verdict.AC, None)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("1", 2),
        ("1", "1"),
        ("1", None),
        ("[1, 2]", {"T": [1, 2]}),
        ("(1, 2)", [1, 2]),
        ("{1, 2}", [1, 2]),
        ("{'a': 1}", [["a", 1]]),
        ("'é'", {"B": "é"}),
    ],
)
def test_a_value_of_another_kind_is_wrong(expected: str, value: Any) -> None:
    assert judged(expected, [value]) == (WRONG[0], WRONG[1] % expected)


def test_nan_equals_nothing() -> None:
    assert judged("[1.0]", "[[NaN]]")[0] == Verdict.WA


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ([{"@": 0}, [], [[0, [1, 3]]]], Verdict.AC),  # the list of the call, sorted
        ([{"@": 0}], Verdict.WA),  # the same, as it was
        ([5, [], [[0, [1, 3]]]], Verdict.WA),  # another result
    ],
)
def test_the_result_may_be_the_list_of_the_call(message: Any, verdict: Verdict) -> None:
    assert judged("[1, 3]", message)[0] == verdict


@pytest.mark.parametrize(
    ("message", "head", "found"),
    [
        ([[["ZeroDivisionError", "Exception"], ["by zero"]]], "raise", (Verdict.RTE, "ZeroDivisionError: by zero")),
        ([[["MyError", "Exception"], [], "text", 3]], "raise", (Verdict.RTE, "MyError")),
        ([[["MemoryError"], []]], "raise", (Verdict.MLE, "MemoryError")),
        ([[["E"], ["\ud800"]]], "raise", (Verdict.RTE, "E: \\ud800")),
        (["too big"], "no", (Verdict.RTE, "the value cannot be sent: too big")),
    ],
)
def test_an_exception_fails(message: Any, head: str, found: tuple[Verdict, str]) -> None:
    assert judged("1", message, head) == found


def test_a_program_that_did_not_load_fails_unless_a_prelude_may_have() -> None:
    failed = frame('load\n[[["ImportError","Exception"],["no x"]]]')
    assert judge_replies(asserted("1"), failed) == (Verdict.RTE, "ImportError: no x")
    code = "def check(candidate):\n    assert candidate() == 1"
    with_prelude = plain_test(code, "f", "import math")
    assert with_prelude is not None
    assert judge_replies(with_prelude, failed) is Open.UNREADABLE


@pytest.mark.parametrize("cut", [0, 3, 4, len(LOOK) - 1, len(LOOK), len(LOOK) + 5, len(LOOK + frame("ok\n[1]")) - 1])
def test_half_a_reply_decides_nothing(cut: int) -> None:
    whole = LOOK + frame("ok\n[1]")
    assert judge_replies(asserted("1"), whole[:cut]) is Open.RIGHT_SO_FAR


def test_the_first_failure_decides_whatever_follows() -> None:
    code = "assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3"
    test = plain_test(code, None)
    assert test is not None
    begun = LOOK + frame("ok\n[1]")
    assert judge_replies(test, begun + frame("ok\n[5]") + b"rubbish")[0] == Verdict.WA
    assert judge_replies(test, begun + frame("ok\n[2]") + b"\xff\xff\xff\x7f") is Open.RIGHT_SO_FAR
    assert judge_replies(test, begun + frame("ok\n[2]") + frame("ok\n[3]") + b"rubbish") == (Verdict.AC, None)


UNREADABLE: list[Any] = [
    {"H": [1, "instance", "Liar"]},  # an object of the submission's
    {"I": "0x" + "f" * 300},
    {"t": [1, "P", ["x"], [1]]},
    {"e": [1, 2, "Color", "RED", 1]},
    {"P": 0},
    {"@": 1},
    {"T": [1], "S": [1]},
    {"T": 1},
    {"T": {"T": []}},
    {},
    {"S": [1, True]},
    {"S": [[1]]},
    {"D": [["a"], [1, 2]]},
    {"D": [["a", "a"], [1, 2]]},
    {"S": [n * (2**61 - 1) for n in range(MOST_HASHED + 1)]},
    {"B": "€"},
    {"B": 5},
]


@pytest.mark.parametrize("value", UNREADABLE, ids=str)
def test_other_values_are_left_to_the_test_program(value: Any) -> None:
    assert judged("1", [value]) is Open.UNREADABLE
    assert judged("[1]", [[value]]) is Open.UNREADABLE


@pytest.mark.parametrize(
    ("message", "head"),
    [
        ("[1", "ok"),
        ("", "ok"),
        ("[]", "ok"),
        ("5", "ok"),
        ("{}", "ok"),
        ('[1,[["ListNode",[],[]]]]', "ok"),  # a table of instances
        ("[1,[],5]", "ok"),
        ("[1,[],[],[]]", "ok"),
        ('[{"@":0},[],5]', "ok"),
        ('[{"@":0},[],[[1,[2]]]]', "ok"),
        ("[" * 100_000, "ok"),
        ("[" * 200 + "]" * 200, "ok"),
        ("[1]", "printed"),
        ("[1]", "back 0"),
        ("[1]", "passed"),
        ("[[[],[]]]", "raise"),
        ("[[[5],[]]]", "raise"),
        ('[[["E"],[[1]]]]', "raise"),
        ('[[["E"],[1,2,3,4,5]]]', "raise"),
        ("[5]", "raise"),
        ("[5]", "no"),
        ("[" + "9" * 5000 + "]", "ok"),
    ],
)
def test_forged_replies_are_left_to_the_test_program(message: str, head: str) -> None:
    assert judged("1", message, head) is Open.UNREADABLE


@pytest.mark.parametrize(
    "look",
    [
        'ok\n[[[["f",[{"H":[1,"function","f"]}]]],null]]',
        'ok\n[[[["f",[5]]],null]]',
        'ok\n[[[["f",[]]],null]]',
        "ok\n[[[],null]]",
        'ok\n[[[["g",[{"H":[0,"function","g"]}]]],null]]',
        'ok\n[[[["f",[{"H":[0,"function","f"]}]]],{"H":[0]}]]',
        'raise\n[[["NameError","Exception"],["f"]]]',
        "ok\n[[[],{}]]",
        "ok\nrubbish",
    ],
)
def test_another_first_reply_is_left_to_the_test_program(look: str) -> None:
    assert judge_replies(asserted("1"), frame(look) + frame("ok\n[1]")) is Open.UNREADABLE


def test_bytes_that_are_no_text_are_left_to_the_test_program() -> None:
    data = b"ok\n[\xff]"
    assert judge_replies(asserted("1"), LOOK + len(data).to_bytes(4, "little") + data) is Open.UNREADABLE


@pytest.mark.parametrize(
    "value",
    [
        "[" + "1," * 60_000 + "1]",
        '["' + "a" * 125_000 + '"]',
        json.dumps([{"S": [n * (2**61 - 1) for n in range(MOST_HASHED)]}] * 20),
        "[" + ",".join(["[" * 30 + "]" * 30] * 2_000) + "]",
        "[" + ",".join(['{"T":[]}'] * 12_500) + "]",
        "[" * 125_000,
    ],
    ids=["a long list", "a long text", "sets that collide", "brackets", "tags", "brackets without end"],
)
def test_the_dearest_replies_cost_less_than_a_second(value: str) -> None:
    data = LOOK + frame(f"ok\n[{value}]")
    assert MOST_BYTES * 0.8 < len(data) < MOST_BYTES
    start = time.process_time()
    Replies(asserted("[1]")).read(data)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("values", "audit", "scored"),
    [
        ([1, 2, 3], (Verdict.AC, None), (Verdict.AC, None)),
        ([9, 2, 3], (Verdict.WA, "AssertionError (line 1: assert f(1) == 1)"), (Verdict.AC, None)),
        ([1, 2, 9], (Verdict.AC, None), (Verdict.WA, "AssertionError (line 1: assert f(3) == 3)")),
        ([1, 2], (Verdict.AC, None), Open.RIGHT_SO_FAR),
        ([1], Open.RIGHT_SO_FAR, Open.RIGHT_SO_FAR),
        ([9], (Verdict.WA, "AssertionError (line 1: assert f(1) == 1)"), Open.RIGHT_SO_FAR),
        ([{"H": [1]}, 2, 3], Open.UNREADABLE, Open.RIGHT_SO_FAR),
    ],
)
def test_replies_to_two_tests_are_told_apart(values: list[Any], audit: Any, scored: Any) -> None:
    first = plain_test("assert f(1) == 1\nassert f(2) == 2", None)
    second = plain_test("assert f(3) == 3", None)
    assert first is not None
    assert second is not None
    data = LOOK + b"".join(frame(f"ok\n{json.dumps([value])}") for value in values)
    at_once, in_pieces = BothReplies(first, second), BothReplies(first, second)
    is_over = at_once.read(data)
    for end in range(len(data)):
        in_pieces.read(data[:end])
    assert in_pieces.read(data) == is_over
    for each in (at_once, in_pieces):
        assert (each.audit.finding, each.scored.finding) == (audit, scored)
    assert is_over == (audit is Open.UNREADABLE or scored is not Open.RIGHT_SO_FAR)
