"""Suites: their names, which of their tests a sample is, and shelves that agree without asking."""

from __future__ import annotations

import hashlib
import random

import pytest
from pydantic import ValidationError

from sandbox_service.grading import suites
from sandbox_service.grading.suites import ID_LENGTH, LruCache
from sandbox_service.schema import CallTest, Checker, Limits, Sample, StdinTest, TestCase


def numbered(count: int) -> list[TestCase]:
    return [StdinTest(output=f"{number}") for number in range(count)]


def places(tests: int, count: int, seed: int) -> list[int]:
    return [index for index, _ in suites.chosen(numbered(tests), Sample(count=count, seed=seed))]


# --- names


def test_a_field_that_is_named_and_not_used_changes_no_name() -> None:
    plain = suites.of_tests([StdinTest(output="3"), StdinTest(output="4")])
    named = StdinTest(output="3", group="", hidden=False, role="scored", cpu_seconds=None, judge_arguments=[])
    assert suites.of_tests([named, StdinTest(output="4")]).id == plain.id
    assert suites.of_tests([StdinTest(output="3"), StdinTest(output="4", hidden=True)]).id != plain.id


def test_a_suite_s_name_is_the_hash_of_its_bytes() -> None:
    body = b'{"tests": [{"type": "stdin", "output": "3"}], "limits": {"cpu_seconds": 2}, "checker": {"type": "lines"}}'
    suite = suites.read(body)
    assert suite.id == "sha256:" + hashlib.sha256(body).hexdigest()
    assert len(suite.id) == ID_LENGTH
    assert suite.body == body
    assert suite.tests == [StdinTest(output="3")]
    assert (suite.limits, suite.checker) == (Limits(cpu_seconds=2), Checker(type="lines"))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"tests": []}', b'{"tests": [{"type": "stdin"}]}', b'{"test": 1}']
)
def test_what_is_no_suite_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationError):
        suites.read(body)


def test_tests_from_a_submission_become_a_suite_with_a_name_that_lasts() -> None:
    """The name is part of what is cached, and of what two processes must agree on."""
    suite = suites.of_tests([StdinTest(input="1 2\n", output="3\n"), CallTest(function="add", args=[1, 2], output=3)])
    assert suite.id == "sha256:37e916e9ca7667918b1c68d249e1c0498f77fed7fc2d634314b23b69b9d9d39b"
    assert (suite.checker, suite.limits) == (None, None)


def test_a_suite_made_of_tests_is_read_as_what_it_was_made_of() -> None:
    tests: list[TestCase] = [
        StdinTest(input="\x00\u2028é\U0001f600", output="\n", weight=0.5),
        CallTest(function="f", args=[None, 1e308, {"a": [1, "x"]}], kwargs={"k": True}, output=[1, 2.5, None]),
        CallTest(function="C", calls=[("C", [1]), ("get", [])], output=[None, 1]),
    ]
    suite = suites.of_tests(tests)
    again = suites.read(suite.body)
    assert (again.id, again.tests) == (suite.id, tests)


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", "1e400"])
def test_an_answer_that_is_no_finite_number_does_not_become_another(value: str) -> None:
    """Null would make a program that returns None right, and the right one wrong."""
    body = f'{{"tests": [{{"type": "call", "function": "f", "args": [{value}], "output": [{value}, null]}}]}}'
    given = suites.read(body.encode())
    again = suites.read(suites.of_tests(given.tests).body)
    assert repr(again.tests) == repr(given.tests)
    [test] = again.tests
    assert isinstance(test, CallTest)
    assert isinstance(test.output, list)
    assert [type(each) for each in test.output] == [float, type(None)]


# --- samples


@pytest.mark.parametrize(
    ("tests", "count", "seed", "expected"),
    [
        (10, 3, 0, [2, 3, 9]),
        (10, 3, 1, [5, 7, 8]),
        (10, 3, 7, [0, 1, 2]),
        (10, 9, 0, [0, 1, 2, 3, 5, 6, 7, 8, 9]),
        (100, 15, 7, [0, 1, 2, 18, 23, 30, 31, 35, 58, 60, 63, 70, 71, 74, 89]),
        (100, 5, -1, [12, 24, 33, 42, 62]),
        (1000, 4, 2**63, [393, 475, 695, 833]),
    ],
)
def test_a_sample_is_the_same_for_ever(tests: int, count: int, seed: int, expected: list[int]) -> None:
    """Written down: rewards of two runs can be compared only if this never changes."""
    assert places(tests, count, seed) == expected


def test_a_sample_by_submission_follows_from_the_id() -> None:
    def taken(name: str, count: int = 20) -> list[int]:
        sample = Sample(count=count, by="submission")
        return [index for index, _ in suites.chosen(numbered(50), sample.of(name))]

    assert taken("a") == taken("a")
    assert taken("a")[:5] == [4, 5, 6, 8, 12]
    assert len({tuple(taken(f"rollout {number}")) for number in range(100)}) == 100
    assert set(taken("a", 10)) < set(taken("a"))
    assert {index for number in range(100) for index in taken(f"rollout {number}")} == set(range(50))


@pytest.mark.parametrize("rule", ["first", "longest"])
def test_only_a_random_sample_differs_by_submission(rule: str) -> None:
    with pytest.raises(ValidationError, match="takes the same tests for every submission"):
        Sample.model_validate({"count": 1, "rule": rule, "by": "submission"})


def test_a_sample_keeps_the_order_and_knows_the_places() -> None:
    found = suites.chosen(numbered(50), Sample(count=20, seed=3))
    assert [test for _, test in found] == [numbered(50)[index] for index, _ in found]
    assert [index for index, _ in found] == sorted({index for index, _ in found})


def test_a_larger_sample_contains_the_smaller() -> None:
    for seed in range(5):
        assert set(places(100, 10, seed)) < set(places(100, 11, seed))


@pytest.mark.parametrize("count", [5, 6, 1000])
def test_a_sample_of_all_or_more_is_all(count: int) -> None:
    assert places(5, count, 1) == [0, 1, 2, 3, 4]


def test_without_a_sample_it_is_all() -> None:
    assert suites.chosen(numbered(3), None) == list(enumerate(numbered(3)))


def test_every_test_is_in_about_as_many_samples_as_any_other() -> None:
    often = [0] * 20
    for seed in range(2000):
        for index in places(20, 5, seed):
            often[index] += 1
    assert sum(often) == 10_000
    assert 400 < min(often) <= max(often) < 600  # expected: 500 ± 19


# --- shelves


def test_a_shelf_holds_as_many_as_fit_and_lets_the_least_recently_used_go() -> None:
    shelf: LruCache[int] = LruCache(3, 100)
    for number in range(3):
        shelf.put(f"{number}", number, 10)
    assert shelf.get("0") == 0
    shelf.put("3", 3, 10)
    assert [name in shelf for name in "0123"] == [True, False, True, True]
    assert shelf.get("1") is None
    assert len(shelf) == 3


def test_a_shelf_holds_no_more_bytes_than_fit_except_the_last_thing() -> None:
    shelf: LruCache[str] = LruCache(100, 100)
    for name in "abc":
        shelf.put(name, name, 40)
    assert [name in shelf for name in "abc"] == [False, True, True]
    shelf.put("huge", "huge", 1000)
    assert [name in shelf for name in ("b", "c", "huge")] == [False, False, True]
    shelf.put("d", "d", 1)
    assert [name in shelf for name in ("huge", "d")] == [False, True]
    assert len(shelf) == 1


def test_what_is_put_again_or_dropped_is_counted_once() -> None:
    shelf: LruCache[int] = LruCache(100, 100)
    for _ in range(5):
        shelf.put("a", 1, 60)
    shelf.put("b", 2, 40)
    assert len(shelf) == 2
    shelf.drop("a")
    shelf.drop("a")
    shelf.drop("never there")
    shelf.put("c", 3, 60)
    assert [name in shelf for name in "abc"] == [False, True, True]
    shelf.clear()
    shelf.put("d", 4, 100)
    assert len(shelf) == 1


@pytest.mark.parametrize("seed", range(10))
def test_two_shelves_that_are_used_alike_hold_the_same(seed: int) -> None:
    """So the service need not ask a slot what it has."""
    chance = random.Random(seed)
    sizes = {f"{number}": chance.randrange(1, 60) for number in range(30)}
    here: LruCache[bool] = LruCache(8, 200)
    there: LruCache[str] = LruCache(8, 200)
    sent = 0
    for _ in range(3000):
        name = chance.choice(list(sizes))
        if here.get(name) is None:
            here.put(name, True, sizes[name])
            there.put(name, name, sizes[name])
            sent += 1
        assert there.get(name) == name
        assert len(here) == len(there) <= 8
    assert 100 < sent < 3000
