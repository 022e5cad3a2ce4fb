"""What is kept of what was answered: how much, for how long, and what of it is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, cast

import pytest

from sandbox_service import recent
from sandbox_service.answers import Answer
from sandbox_service.api.recent import MOST_TESTS, SHOWN, asks, details, worth_showing
from sandbox_service.errors import Unavailable
from sandbox_service.journal import MOST_UNREAD, MOST_UNREAD_BYTES, Journal, Passed
from sandbox_service.queues.base import Job, JobQueue
from sandbox_service.recent import BUCKET_SECONDS, MOST_BYTES, MOST_OF_A_VERDICT, Book, RecordedQueue
from sandbox_service.schema import AssertTest, CallTest, Grade, GraderIdentity, StdinTest, TestResult, Verdict
from tests.pages.world import grade, job

NOON = 1_800_000_000.0


class BookOfItsOwn(Book):
    """One that alone reads its journal."""

    def __init__(self) -> None:
        self.journal = Journal()
        super().__init__(self.journal)


def note(book: BookOfItsOwn, given: Job, found: Grade, when: float = NOON) -> Answer:
    answer = Answer(found.model_dump_json().encode())
    book.journal.note(Passed(given, answer, when, 0.0))
    return answer


def ids(book: Book) -> list[str]:
    return [entry.id for entry in book.entries()]


def kept_bytes(book: Book) -> int:
    entries = book.entries()
    bodies = {entry.suite: book.suite(entry.suite) or b"" for entry in entries}
    return sum(entry.size for entry in entries) + sum(map(len, bodies.values()))


def test_the_last_of_each_verdict_are_kept_the_last_one_first() -> None:
    book = BookOfItsOwn()
    note(book, job("rare"), grade("rare", "IE", failure_kind="sandbox"))
    for number in range(3 * MOST_OF_A_VERDICT):
        note(book, job(f"a{number}"), grade(f"a{number}"))
    note(book, job("last"), grade("last", "WA"))
    assert ids(book) == ["last", *(f"a{number}" for number in reversed(range(100, 150))), "rare"]
    assert book.last == 152
    assert book.faults() == {"sandbox": 1}


@pytest.mark.parametrize("share", ["programs", "suites of their own", "answers"])
def test_however_large_it_all_is_it_is_bounded(share: str) -> None:
    book, large = BookOfItsOwn(), "x" * 900_000
    for number in range(60):
        tests = [StdinTest(output=f"{number}{large}")] if share == "suites of their own" else None
        given = job(f"{number}", tests, code=large) if share == "programs" else job(f"{number}", tests)
        shown = TestResult(index=0, verdict=Verdict.AC, stdout=large if share == "answers" else "")
        note(book, given, grade(f"{number}", "AC", 0.01, shown))
        assert kept_bytes(book) <= MOST_BYTES
    assert 10 <= len(book.entries()) < 20, "so many fit"
    assert ids(book)[0] == "59"


def test_a_suite_that_many_share_is_counted_once_and_goes_with_the_last_of_them() -> None:
    book, suite = BookOfItsOwn(), [StdinTest(output="x" * 900_000)]
    shared = [job(f"{number}", suite) for number in range(40)]
    for given in shared:
        note(book, given, grade(given.id))
    assert len(book.entries()) == 40
    assert book.suite(shared[0].suite.id) == shared[0].suite.body
    for number in range(MOST_OF_A_VERDICT):
        note(book, job(f"other{number}"), grade(f"other{number}"))
    assert len(book.entries()) == MOST_OF_A_VERDICT
    assert book.suite(shared[0].suite.id) is None


def test_of_what_is_too_large_its_head_is_kept() -> None:
    book, large = BookOfItsOwn(), "x" * (recent.LARGE_BYTES + 1)
    given = job("large", [StdinTest(output=large)], code=large)
    note(book, given, grade("large", "WA", 0.01, TestResult(index=0, verdict=Verdict.WA, stdout=large)))
    [entry] = book.entries()
    assert (entry.id, entry.facts["verdict"], entry.program, entry.answer) == ("large", "WA", b"", b"")
    assert book.suite(entry.suite) is None
    assert details(entry, None)["is_whole"] is False


def test_what_waits_to_be_settled_is_bounded_too() -> None:
    book = BookOfItsOwn()
    answers = [note(book, job(f"{number}"), grade()) for number in range(MOST_UNREAD - 1)]
    assert all(answer._head is None for answer in answers), "not even read while nobody looks"
    note(book, job("one more"), grade())
    assert all(answer._head is not None for answer in answers)
    large = note(book, job("large", code="x" * MOST_UNREAD_BYTES), grade())
    assert large._head is not None


def test_a_key_is_of_one_book_only() -> None:
    books = [BookOfItsOwn(), BookOfItsOwn()]
    for book in books:
        note(book, job("same"), grade("same"))
    [entry] = books[0].entries()
    key = books[0].key(entry)
    assert books[0].find(key) is entry
    assert books[1].find(key) is None
    assert books[0].find("nonsense") is None


def test_buckets_hold_what_was_answered_in_their_seconds() -> None:
    book = BookOfItsOwn()
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
    book = BookOfItsOwn()
    for number in range(recent.BUCKETS + 20):
        note(book, job("x"), grade(), NOON + number * BUCKET_SECONDS)
    assert len(list(book.buckets(0))) == recent.BUCKETS


def test_the_slowest_suites_are_those_with_the_greatest_mean() -> None:
    book = BookOfItsOwn()
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
    monkeypatch.setattr(recent, "MOST_SUITES", 2)
    book = BookOfItsOwn()
    for name in ("a", "b", "a", "c"):
        note(book, job(name, [StdinTest(output=name)]), grade())
    assert {pace.suite for pace in book.slowest(9)} == {job(name, [StdinTest(output=name)]).suite.id for name in "ac"}


def test_an_answer_costs_next_to_nothing_while_nobody_looks() -> None:
    """Measured at 2 µs; the bound is that of a machine with much else to do."""
    book, given, body = BookOfItsOwn(), job("x"), grade().model_dump_json().encode()
    answers = [Answer(body) for _ in range(5000)]
    began = time.process_time()
    for answer in answers:
        book.journal.note(Passed(given, answer, NOON, 0.0))
    assert (time.process_time() - began) / len(answers) < 50e-6


# --- the queue


class Below:
    """A queue whose answers are told to it."""

    def __init__(self) -> None:
        self.answers: list[asyncio.Future[Answer]] = []
        self.drained = 0.0

    async def submit(self, jobs: Iterable[Job]) -> list[Any]:
        tickets = []
        for _ in jobs:
            ticket: Any = type("Ticket", (), {"answer": asyncio.get_running_loop().create_future()})
            self.answers.append(ticket.answer)
            tickets.append(ticket)
        return tickets

    async def drain(self, seconds: float) -> None:
        self.drained = seconds


def test_answers_are_noted_and_what_has_none_is_not() -> None:
    async def scenario() -> None:
        below = Below()
        queue = RecordedQueue(cast(JobQueue, below))
        await queue.submit([job("right"), job("cancelled"), job("refused")])
        right, cancelled, refused = below.answers
        right.set_result(Answer(grade("right").model_dump_json().encode()))
        cancelled.cancel()
        refused.set_exception(Unavailable("closing"))
        await asyncio.sleep(0)
        assert ids(queue.book) == ["right"]
        assert not queue.closing.is_set()
        await queue.drain(3.0)
        assert queue.closing.is_set()
        assert below.drained == 3.0

    asyncio.run(scenario())


# --- what is shown of it


def test_each_kind_of_test_says_what_it_gives_and_expects() -> None:
    assert asks(StdinTest(input="1", output=["a", "b"])) == {
        "kind": "stdin",
        "input": "1",
        "expected": ["a", "b"],
        "expected_truncated": False,
    }
    call = CallTest(function="f", args=[1, "é"], kwargs={"k": None}, output=10**30)
    assert (asks(call)["input"], asks(call)["expected"]) == ('f(1, "é", k=null)', [str(10**30)])
    design = CallTest(function="Stack", calls=[("Stack", []), ("push", [3])], output=[None, None])
    assert asks(design)["input"] == "Stack()\npush(3)"
    assert asks(AssertTest(code="assert f()")) == {
        "kind": "assert",
        "input": "assert f()",
        "expected": [],
        "expected_truncated": False,
    }
    long = asks(StdinTest(input="x" * 9999, output="y" * 9999))
    assert (len(long["input"]), len(long["expected"][0]), long["expected_truncated"]) == (SHOWN, SHOWN, True)


def test_of_many_tests_those_that_failed_are_shown_first_of_all() -> None:
    run = [{"index": index, "verdict": "WA" if index in (3, 150, 199) else "AC"} for index in range(200)]
    shown = [result["index"] for result in worth_showing(run)]
    assert shown == [*range(98), 150, 199]
    assert len(shown) == MOST_TESTS


def test_one_submission_shows_each_test_beside_what_it_should_have_said() -> None:
    book, long = BookOfItsOwn(), "z" * 9999
    tests = [StdinTest(input="a", output="b"), StdinTest(input="c", output="d")]
    found = TestResult(index=1, verdict=Verdict.WA, stdout=long, message="m", stderr="e")
    given = job("one", tests, code="print(1)", labels={"client": "anna"}, checker={"type": "exact"})
    note(book, given, grade("one", "WA", 0.01, found))
    [entry] = book.entries()
    shown = details(entry, given.suite.tests)
    assert (shown["program"], shown["is_completion"], shown["is_whole"]) == ("print(1)", False, True)
    assert (shown["asked"]["checker"]["type"], shown["labels"]) == ("exact", {"client": "anna"})
    [test] = shown["tests"]
    assert (test["input"], test["expected"], test["stdout"], test["stdout_truncated"]) == (
        "c",
        ["d"],
        long[:SHOWN],
        True,
    )
    assert "expected" not in details(entry, None)["tests"][0], "a suite that is here no more"


def test_a_result_of_no_test_of_the_suite_is_shown_without_one() -> None:
    book = BookOfItsOwn()
    given = job("one")
    note(book, given, grade("one", "WA", 0.01, TestResult(index=7, verdict=Verdict.WA)))
    assert "expected" not in details(book.entries()[0], given.suite.tests)["tests"][0]
