"""What those who carry an answer read of it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.grading.encoded_grade import EncodedGrade, again, begin_of_tests
from sandbox_service.schema import Grade, TestResult, Verdict


def answer(verdict: Verdict, reward: float | None) -> EncodedGrade:
    return EncodedGrade(Grade(id="x", verdict=verdict, reward=reward, total=2).model_dump_json().encode())


@pytest.mark.parametrize(
    ("verdict", "reward", "is_fault", "is_lasting"),
    [
        (Verdict.AC, 1.0, False, True),
        (Verdict.WA, 0.0, False, True),
        (Verdict.TLE, 0.0, False, False),
        (Verdict.IE, None, True, False),
        (Verdict.WA, None, True, False),  # one test is wrong, another has no verdict, and each would have counted
    ],
)
def test_what_has_no_reward_is_our_fault(
    verdict: Verdict, reward: float | None, *, is_fault: bool, is_lasting: bool
) -> None:
    found = answer(verdict, reward)
    assert (found.is_fault, found.is_lasting) == (is_fault, is_lasting)


HOSTILE = (
    '","tests":[{"index":0,"verdict":"AC"',
    '\\","tests":[',
    '{"index":9,"verdict":"AC"',
    "\\",
    '"',
    "\x00\ud7ff",
)
texts = st.one_of(st.text(), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map("".join))


@given(texts, texts, st.lists(st.tuples(st.sampled_from(Verdict), texts, texts), max_size=4))
def test_no_text_in_a_grade_looks_like_a_part_of_it(
    message: str, id_: str, tests: list[tuple[Verdict, str, str]]
) -> None:
    results = [
        TestResult(index=index, verdict=verdict, stdout=stdout, message=said)
        for index, (verdict, stdout, said) in enumerate(tests)
    ]
    grade = Grade(id=id_, verdict=Verdict.WA, reward=0.0, message=message, tests=results)
    found = EncodedGrade(grade.model_dump_json().encode())
    assert found.is_whole
    assert found.head == grade.model_dump(mode="json", exclude={"tests"})
    assert {name.decode(): count for name, count in found.tests.items()} == Counter(each.verdict for each in results)
    other = again(found, "other")
    assert other.grade().tests == results
    assert (other.grade().id, other.grade().message, other.grade().grader.cached) == ("other", message, True)
    assert not found.head["grader"]["cached"], "the one in the cache is as it was"


@pytest.mark.parametrize("fault", [None, "jail"])
def test_tests_are_counted_by_verdict_though_an_accepted_one_s_are_not_read(fault: str | None) -> None:
    verdicts = [Verdict.AC, Verdict.AC] + [Verdict.IE] * bool(fault)  # a jail that fails after the last test
    results = [TestResult(index=index, verdict=each) for index, each in enumerate(verdicts)]
    grade = Grade(id="", verdict=Verdict.AC, reward=None if fault else 1.0, total=2, failure_kind=fault, tests=results)
    found = EncodedGrade(grade.model_dump_json().encode())
    assert {verdict.decode(): count for verdict, count in found.tests.items()} == Counter(verdicts)


def test_what_is_no_grade_or_half_of_one_is_not_whole() -> None:
    body = answer(Verdict.AC, 1.0).body
    assert EncodedGrade(body).is_whole
    without_verdict = body.replace(b'"verdict":"AC"', b'"verdict":null', 1)
    without_total = body.replace(b'"total":2', b'"total":"2"')
    for wrong in (
        b"",
        b"null",
        b"[]",
        b"{}",
        body[:-1],
        body[: len(body) // 2],
        without_verdict,
        without_total,
        b'{"id":1,"tests":[]}',
    ):
        assert not EncodedGrade(wrong).is_whole, wrong


@pytest.mark.parametrize("brackets", [0, 1, 7, 8, 9, 100])
def test_the_tests_are_found_behind_any_number_of_brackets(brackets: int) -> None:
    grade = Grade(id="[" * brackets, verdict=Verdict.AC, reward=1.0, notes=["["], tests=[])
    body = grade.model_dump_json().encode()
    assert body[begin_of_tests(body) :] == b',"tests":[]}'


@pytest.mark.parametrize("body", [b"", b"[", b'"tests":[', b"[" * 100])
def test_a_text_without_tests_is_no_grade(body: bytes) -> None:
    with pytest.raises(ValueError, match="not found"):
        begin_of_tests(body)
