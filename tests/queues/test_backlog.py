"""The backlog: order, shares and bounds, beside the cases of fairness_cases.py."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sandbox_service.bounds import Bounds
from sandbox_service.errors import QueueFullError
from sandbox_service.queues.backlog import LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS, Backlog, Load, Waiting
from sandbox_service.queues.base import PRIORITIES

HIGH, NORMAL, LOW = range(3)


def backlog(submissions: int = 100, size: int = 100_000, cpu_seconds: float = 1000.0, slots: int = 1) -> Backlog:
    return Backlog(Bounds(submissions, size, cpu_seconds), slots)


def add(books: Backlog, key: str, client: str = "", priority: int = NORMAL, load: Load | None = None) -> None:
    books.add(Waiting(key, client, priority, load or Load(1, 10, 1.0)))


def drained(books: Backlog) -> list[str]:
    """Everything, in the order in which it is given out."""
    found = []
    while (key := books.next()) is not None:
        found.append(key)
    return found


def refusal(books: Backlog, client: str, more: Load) -> QueueFullError:
    with pytest.raises(QueueFullError) as found:
        books.check_room(client, more)
    return found.value


# --- turns


def test_an_empty_one_has_nothing_to_give() -> None:
    assert backlog().next() is None


def test_of_one_client_what_came_first_is_first() -> None:
    books = backlog()
    for key in "abc":
        add(books, key)
    assert drained(books) == ["a", "b", "c"]


def test_clients_take_turns_and_keep_their_own_order() -> None:
    books = backlog()
    for key in ("a1", "a2", "a3", "b1", "b2", "c1"):
        add(books, key, client=key[0])
    assert drained(books) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_one_who_comes_late_is_served_within_a_round() -> None:
    books = backlog()
    for number in range(5):
        add(books, f"a{number}", client="a")
    assert books.next() == "a0"
    add(books, "b0", client="b")
    assert [books.next(), books.next()] == ["a1", "b0"]


def test_priorities_go_before_turns() -> None:
    books = backlog()
    for key, client, priority in [("l", "a", LOW), ("n", "b", NORMAL), ("h1", "a", HIGH), ("h2", "a", HIGH)]:
        add(books, key, client, priority)
    assert drained(books) == ["h1", "h2", "n", "l"]


def test_what_is_removed_is_stepped_over_and_costs_its_client_no_turn() -> None:
    books = backlog()
    for number in range(4):
        add(books, f"a{number}", client="a")
        add(books, f"b{number}", client="b")
    for number in range(3):
        books.remove(f"b{number}")
    assert drained(books) == ["a0", "b3", "a1", "a2", "a3"]


def test_a_key_that_comes_again_has_its_new_place_and_is_given_once() -> None:
    books = backlog()
    add(books, "x", client="a")
    books.remove("x")
    add(books, "y", client="a")
    add(books, "x", client="a", priority=LOW)
    assert drained(books) == ["y", "x"]


def test_what_is_put_back_is_the_next_whoever_s_turn_it_is() -> None:
    books = backlog()
    for key in ("a1", "a2", "b1"):
        add(books, key, client=key[0])
    assert books.next() == "a1"
    books.put_back("a1")
    assert drained(books) == ["a1", "b1", "a2"]


# --- bounds


def test_alone_a_client_may_have_everything_and_not_more() -> None:
    books = backlog(submissions=4)
    books.check_room("a", Load(4, 0, 0))
    refusal(books, "a", Load(5, 0, 0))
    for key in "wxy":
        add(books, key, "a")
    books.check_room("a", Load(1, 0, 0))
    refusal(books, "a", Load(2, 0, 0))


@pytest.mark.parametrize(
    ("more", "named"),
    [(Load(9, 0, 0), "submissions"), (Load(2, 901, 0), "bytes"), (Load(2, 0, 91.0), "CPU seconds")],
)
def test_each_bound_is_kept_and_named(more: Load, named: str) -> None:
    books = backlog(submissions=10, size=1000, cpu_seconds=100)
    add(books, "x", "a", load=Load(2, 100, 10))
    books.check_room("a", Load(8, 900, 90))
    assert named in str(refusal(books, "a", more))


def test_whoever_has_nothing_may_send_one_however_large_but_not_two() -> None:
    books = backlog(submissions=1, size=10, cpu_seconds=1)
    add(books, "x", "a")
    books.check_room("b", Load(1, 10**9, 10**9))
    refusal(books, "b", Load(2, 0, 0))
    refusal(books, "a", Load(1, 0, 0))


@pytest.mark.parametrize(
    ("size", "named"),
    [(Load(2, 0, 0), "submissions"), (Load(1, 200, 0), "bytes"), (Load(1, 0, 20.0), "CPU seconds")],
)
def test_nobody_may_have_more_while_the_others_have_twice_the_bounds(size: Load, named: str) -> None:
    books = backlog(submissions=10, size=1000, cpu_seconds=100)
    for number in range(10):
        books.check_room(f"client {number}", Load(1, 0, 0))
        add(books, f"{number}", f"client {number}", load=size)
    for more in (Load(1, 0, 0), Load(2, 0, 0)):
        assert f"{named} of others" in str(refusal(books, "another", more))
    books.remove("0")
    books.check_room("another", Load(1, 0, 0))


def test_shares_are_equal_among_those_who_have_something_and_the_one_who_asks() -> None:
    books = backlog(submissions=12)
    for client in "abc":
        add(books, client, client)
    books.check_room("a", Load(3, 0, 0))
    assert "3 clients" in str(refusal(books, "a", Load(4, 0, 0)))
    books.check_room("d", Load(3, 0, 0))
    assert "4 clients" in str(refusal(books, "d", Load(4, 0, 0)))
    books.remove("b")
    books.check_room("a", Load(5, 0, 0))


def test_what_is_being_done_still_counts_until_it_is_removed() -> None:
    books = backlog(submissions=2)
    add(books, "x", "a")
    add(books, "y", "a")
    assert books.next() == "x"
    refusal(books, "a", Load(1, 0, 0))
    books.remove("x")
    books.check_room("a", Load(1, 0, 0))


@pytest.mark.parametrize(
    ("seconds", "slots", "expected"), [(0.1, 1, LEAST_RETRY_SECONDS), (40.0, 4, 10.0), (1e6, 4, MOST_RETRY_SECONDS)]
)
def test_one_is_to_come_back_when_the_slots_will_be_through(seconds: float, slots: int, expected: float) -> None:
    books = backlog(submissions=1, cpu_seconds=1e9, slots=slots)
    add(books, "x", "a", load=Load(1, 0, seconds))
    assert refusal(books, "a", Load(1, 0, 0)).retry_after_seconds == pytest.approx(expected)


# --- what it says


def test_it_says_how_much_there_is() -> None:
    books = backlog()
    assert books.depth().submissions == books.depth().oldest_seconds == 0
    add(books, "x", "a", load=Load(1, 30, 1.5))
    add(books, "y", "b", load=Load(1, 40, 2.0))
    books.next()
    depth = books.depth()
    assert (depth.submissions, depth.waiting, depth.bytes, depth.cpu_seconds) == (2, 1, 70, 3.5)
    assert depth.oldest_seconds >= 0
    assert books.waiting() == ["y"]


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_done_the_books_are_right(seed: int) -> None:
    """Against a list that is searched."""
    chance = random.Random(seed)
    books = backlog()
    there: dict[str, Waiting] = {}
    taken: set[str] = set()
    for number in range(2000):
        what = chance.choice(["add", "add", "next", "remove", "put back"])
        if what == "add":
            key = f"{number}" if chance.random() < 0.9 or not there else chance.choice(list(there))
            if key not in there:
                load = Load(1, chance.randrange(100), chance.random())
                there[key] = Waiting(key, chance.choice("abc"), chance.randrange(len(PRIORITIES)), load)
                books.add(there[key])
        elif what == "next":
            key = books.next() or ""
            waiting = [place for place in there.values() if place.key not in taken]
            assert bool(key) == bool(waiting)
            if key:
                assert key not in taken
                assert there[key].priority == min(place.priority for place in waiting)
                taken.add(key)
        elif what == "remove" and there:
            key = chance.choice(list(there))
            books.remove(key)
            del there[key]
            taken.discard(key)
        elif what == "put back" and taken:
            key = chance.choice(sorted(taken))
            books.put_back(key)
            taken.discard(key)
        depth = books.depth()
        assert (depth.submissions, depth.waiting) == (len(there), len(there) - len(taken))
        assert depth.bytes == sum(place.load.bytes for place in there.values())
    assert Counter(drained(books)) == Counter(set(there) - taken)
    for key in list(there):
        books.remove(key)
    assert (books.depth().bytes, books.depth().submissions) == (0, 0)
    books.check_room("a", Load(100, 0, 0))  # nobody has anything: the whole is for one
