"""The history of answers: how much is kept, for how long, and what is shown."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from sandbox_service.api.history import MOST_TESTS, SHOWN, details, row, shown_test, worth_showing
from sandbox_service.errors import UnavailableError
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe import activity, records
from sandbox_service.observe.activity import BUCKET_SECONDS
from sandbox_service.observe.events import MOST_UNREAD, MOST_UNREAD_BYTES, EventBatcher
from sandbox_service.observe.history import MOST_BYTES, MOST_RECORDS, History
from sandbox_service.queues.base import Job
from sandbox_service.queues.observers import GradedEvent, Observers, Watched
from sandbox_service.schema import AssertTest, CallTest, Grade, GraderIdentity, StdinTest, TestResult, Verdict
from tests.pages.world import grade, job

NOON = 1_800_000_000.0


class LoneHistory(History):
    """A history that is the only reader of its events."""

    def __init__(self, most: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.events = EventBatcher()
        super().__init__(self.events, most, most_bytes)


def note(book: LoneHistory, given: Job, found: Grade, when: float = NOON) -> EncodedGrade:
    answer = EncodedGrade(found.model_dump_json().encode())
    if book.events.add(GradedEvent(given, answer, when, 0.0)):
        book.events.flush()
    return answer


def ids(book: History) -> list[str]:
    return [record.id for record in book.records()]


def kept_bytes(book: History) -> int:
    whole = [record for record in book.records() if record.program or record.answer]
    bodies = {record.suite: book.suite(record.suite) or b"" for record in whole}
    return sum(record.size for record in whole) + sum(map(len, bodies.values()))


def test_of_the_most_frequent_verdict_the_oldest_goes_first() -> None:
    book = LoneHistory(most=52)
    note(book, job("rare"), grade("rare", "IE", failure_kind="sandbox"))
    for number in range(150):
        note(book, job(f"a{number}"), grade(f"a{number}"))
    note(book, job("last"), grade("last", "WA"))
    assert ids(book) == ["last", *(f"a{number}" for number in reversed(range(100, 150))), "rare"]
    assert book.last == 152
    assert book.faults() == {"sandbox": 1}


@pytest.mark.parametrize("share", ["programs", "suites of their own", "answers"])
def test_however_large_it_all_is_it_is_bounded(share: str) -> None:
    book, large = LoneHistory(most_bytes=8 << 20), "x" * 900_000
    for number in range(30):
        tests = [StdinTest(output=f"{number}{large}")] if share == "suites of their own" else None
        given = job(f"{number}", tests, code=large) if share == "programs" else job(f"{number}", tests)
        shown = TestResult(index=0, verdict=Verdict.AC, stdout=large if share == "answers" else "")
        note(book, given, grade(f"{number}", "AC", 0.01, shown))
        assert kept_bytes(book) <= 8 << 20
    assert ids(book) == [str(number) for number in reversed(range(30))], "all are listed"
    whole = [record.id for record in book.records() if record.program]
    assert whole[0] == "29"
    assert 5 <= len(whole) < 10, "so many fit"
    assert details(next(book.records()), None)["is_whole"] is True
    assert details(list(book.records())[-1], None)["is_whole"] is False


def test_a_suite_that_many_share_is_counted_once_and_goes_with_the_last_of_them() -> None:
    book, suite = LoneHistory(most=50), [StdinTest(output="x" * 900_000)]
    shared = [job(f"{number}", suite) for number in range(40)]
    for given in shared:
        note(book, given, grade(given.id))
    assert len(ids(book)) == 40
    assert book.suite(shared[0].suite.id) == shared[0].suite.body
    for number in range(50):
        note(book, job(f"other{number}"), grade(f"other{number}"))
    assert len(ids(book)) == 50
    assert book.suite(shared[0].suite.id) is None


def test_of_each_verdict_the_oldest_programs_go_first_and_then_the_oldest_records() -> None:
    book, large = LoneHistory(most=12, most_bytes=8 << 20), "x" * 900_000
    for number in range(16):
        verdict = "WA" if number % 4 == 1 else "AC"
        note(book, job(f"{number}", code=large), grade(f"{number}", verdict))
    assert ids(book) == [str(number) for number in reversed(range(16)) if number not in (0, 2, 3, 4)]
    assert [each.id for each in book.records() if each.program] == "15 14 13 12 11 10 9 5 1".split()
    assert sorted(each.id for each in book.unordered()) == sorted(ids(book))
    assert kept_bytes(book) <= 8 << 20


def test_of_what_is_too_large_its_head_is_kept() -> None:
    book, large = LoneHistory(), "x" * (records.LARGE_BYTES + 1)
    given = job("large", [StdinTest(output=large)], code=large)
    note(book, given, grade("large", "WA", 0.01, TestResult(index=0, verdict=Verdict.WA, stdout=large)))
    [record] = book.records()
    assert (record.id, record.verdict, record.program, record.answer) == ("large", "WA", b"", b"")
    assert book.suite(record.suite) is None
    assert details(record, None)["is_whole"] is False


def test_what_waits_to_be_settled_is_bounded_too() -> None:
    book = LoneHistory()
    answers = [note(book, job(f"{number}"), grade()) for number in range(MOST_UNREAD - 1)]
    assert all(answer._head is None for answer in answers), "not even read while nobody looks"
    note(book, job("one more"), grade())
    assert all(answer._head is not None for answer in answers)
    large = note(book, job("large", code="x" * MOST_UNREAD_BYTES), grade())
    assert large._head is not None


def test_a_key_is_of_one_book_only() -> None:
    books = [LoneHistory(), LoneHistory()]
    for book in books:
        note(book, job("same"), grade("same"))
    [record] = books[0].records()
    assert books[0].find(record.key) is record
    assert books[1].find(record.key) is None
    assert books[0].find("nonsense") is None


def test_buckets_hold_what_was_answered_in_their_seconds() -> None:
    book = LoneHistory()
    for when, verdict, cached in (
        (0, "AC", False),
        (1, "WA", True),
        (6, "AC", False),
        (16, "IE", False),
        (12, "AC", False),
    ):
        kind = "sandbox" if verdict == "IE" else None
        found = grade("x", verdict, 0.5, failure_kind=kind, grader=GraderIdentity(cached=cached))
        note(book, job("x"), found, NOON + when)
    first, second, third = book.buckets(0)
    assert [each.start - NOON for each in (first, second, third)] == [0, 5, 15]
    assert dict(first.verdicts) == {"AC": 1, "WA": 1}
    assert (first.cached, first.graded_seconds, first.longest_queued_seconds) == (1, 1.0, 0.001)
    assert dict(third.verdicts) == {"IE": 1, "AC": 1}, "the clock was put back: it counts as now"
    assert [each.start - NOON for each in book.buckets(NOON + 6)] == [5, 15]


def test_old_buckets_go() -> None:
    book = LoneHistory()
    for number in range(activity.BUCKETS + 20):
        note(book, job("x"), grade(), NOON + number * BUCKET_SECONDS)
    assert len(list(book.buckets(0))) == activity.BUCKETS


def test_the_slowest_suites_are_those_with_the_greatest_mean() -> None:
    book = LoneHistory()
    quick, slow, never = ([StdinTest(output=name)] for name in ("quick", "slow", "never"))
    for seconds in (0.1, 0.3):
        note(book, job("q", quick), grade("q", "AC", seconds))
    note(book, job("s", slow), grade("s", "TLE", 2.0))
    note(book, job("n", never), grade("n", "AC", 0.0, grader=GraderIdentity(cached=True)))
    note(book, job("n", never), grade("n", "IE", 9.0, failure_kind="sandbox"))
    first, second = book.slowest(5)
    assert (first.suite, first.submissions, first.longest_seconds) == (job("s", slow).suite.id, 1, 2.0)
    assert (second.submissions, second.longest_seconds) == (2, 0.3)
    assert second.seconds == pytest.approx(0.4)
    assert book.slowest(1) == [first]


def test_suites_that_are_not_used_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "MOST_SUITES", 2)
    book = LoneHistory()
    for name in ("a", "b", "a", "c"):
        note(book, job(name, [StdinTest(output=name)]), grade())
    assert {pace.suite for pace in book.slowest(9)} == {job(name, [StdinTest(output=name)]).suite.id for name in "ac"}


def test_an_answer_costs_next_to_nothing_while_nobody_looks() -> None:
    """Measured at 2 µs; the bound is that of a machine with much else to do."""
    book, given, body = LoneHistory(), job("x"), grade().model_dump_json().encode()
    answers = [EncodedGrade(body) for _ in range(5000)]
    began = time.process_time()
    for answer in answers:
        book.events.add(GradedEvent(given, answer, NOON, 0.0))
    assert (time.process_time() - began) / len(answers) < 50e-6


# --- the queue


class Ticket:
    """A submission that the test answers."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.watched: Watched = []

    def release(self) -> None:
        """See Waiter."""


def test_answers_are_noted_and_what_has_none_is_not() -> None:
    async def scenario() -> None:
        book, observers = LoneHistory(), Observers()
        observers.collect(book.events)
        jobs = [job("known"), job("cancelled"), job("refused"), replace(job("recheck"), fresh=True), job("later")]
        known, cancelled, refused, again, _ = tickets = [Ticket(each.id) for each in jobs]
        cancelled.answer.cancel()
        refused.answer.set_exception(UnavailableError("closing"))
        answer = EncodedGrade(grade("known").model_dump_json().encode())
        for each in (known, again):
            each.answer.set_result(answer)
        observers.watch(jobs, tickets, 0.0)
        await asyncio.sleep(0)
        assert ids(book) == ["known"]
        for each in tickets:
            observers.answered(each.watched, answer)
        await asyncio.sleep(0)
        assert ids(book) == ["later", "known"]
        assert not book.closing.is_set()
        observers.closing()
        assert book.closing.is_set()

    asyncio.run(scenario())


# --- what is shown of it


def test_each_kind_of_test_says_what_it_gives_and_expects() -> None:
    assert shown_test(StdinTest(input="1", output=["a", "b"])) == {
        "kind": "stdin",
        "input": "1",
        "expected": ["a", "b"],
        "expected_truncated": False,
    }
    call = CallTest(function="f", args=[1, "é"], kwargs={"k": None}, output=10**30)
    assert (shown_test(call)["input"], shown_test(call)["expected"]) == ('f(1, "é", k=null)', [str(10**30)])
    design = CallTest(function="Stack", calls=[("Stack", []), ("push", [3])], output=[None, None])
    assert shown_test(design)["input"] == "Stack()\npush(3)"
    assert shown_test(AssertTest(code="assert f()")) == {
        "kind": "assert",
        "input": "assert f()",
        "expected": [],
        "expected_truncated": False,
    }
    long = shown_test(StdinTest(input="x" * 9999, output="y" * 9999))
    assert (len(long["input"]), len(long["expected"][0]), long["expected_truncated"]) == (SHOWN, SHOWN, True)


def test_of_many_tests_those_that_failed_are_shown_first_of_all() -> None:
    run = [{"index": index, "verdict": "WA" if index in (3, 150, 199) else "AC"} for index in range(200)]
    shown = [result["index"] for result in worth_showing(run)]
    assert shown == [*range(98), 150, 199]
    assert len(shown) == MOST_TESTS


def test_one_submission_shows_each_test_beside_what_it_should_have_said() -> None:
    book, long = LoneHistory(), "z" * 9999
    tests = [StdinTest(input="a", output="b"), StdinTest(input="c", output="d")]
    found = TestResult(index=1, verdict=Verdict.WA, stdout=long, message="m", stderr="e")
    given = job("one", tests, code="print(1)", labels={"client": "anna"}, checker={"type": "exact"})
    note(book, given, grade("one", "WA", 0.01, found))
    [record] = book.records()
    shown = details(record, given.suite.tests)
    assert (shown["program"], shown["is_completion"], shown["is_whole"]) == ("print(1)", False, True)
    assert (shown["asked"]["checker"]["type"], row(record)["labels"]) == ("exact", {"client": "anna"})
    assert shown["decided_by"] == 1
    [test] = shown["tests"]
    assert (test["input"], test["expected"], test["stdout"], test["stdout_truncated"]) == (
        "c",
        ["d"],
        long[:SHOWN],
        True,
    )
    assert "expected" not in details(record, None)["tests"][0], "a suite that is here no more"


def test_a_result_of_no_test_of_the_suite_is_shown_without_one() -> None:
    book = LoneHistory()
    given = job("one")
    note(book, given, grade("one", "WA", 0.01, TestResult(index=7, verdict=Verdict.WA)))
    assert "expected" not in details(next(book.records()), given.suite.tests)["tests"][0]
