"""Compares the answers to equal reads of an object that the candidate returned.

Such an object answers each read anew. Without this module it could be more than 3 where the test compares it with 3,
and less than 4 where the test compares it with 4. So between two requests that may change something, equal reads must
have equal answers. Objects that the test created itself from a class are exempt: their changes are what is under test.

Answers that refer to objects are not compared, because a property may create a new object for each read.
"""

from __future__ import annotations

LASTING = frozenset(("item", "get"))
"""Reads whose answers no other read changes."""
PASSING = frozenset(("content", "len", "bool", "str", "repr", "hash", "format"))
"""Reads whose answers may change when an item is read for the first time: a `defaultdict` adds it."""
READS = LASTING | PASSING | {"next"}
NEUTRAL = frozenset(("iter", "class", "dir"))
"""Requests that change nothing, and whose answers are not compared."""
_OBJECT = '{"H"'


class SteadyReads:
    """The answers since the last request that may have changed something."""

    __slots__ = ("_iterators", "_lasting", "_passing")

    def __init__(self) -> None:
        self._lasting: dict[tuple[str, str], int] = {}
        self._passing: dict[tuple[str, str], int] = {}
        self._iterators: dict[int, tuple[int, int]] = {}

    def forget(self) -> None:
        """Forget all answers: a request may have changed something."""
        self._lasting.clear()
        self._passing.clear()
        self._iterators.clear()

    def begin(self, number: int, iterator: int) -> None:
        """Remember the object that an iterator iterates over.

        Args:
            number: number of the object.
            iterator: number of the iterator. One that an object returns again goes on where it was.
        """
        self._passing.clear()
        if self._iterators.pop(iterator, None) is None:
            self._iterators[iterator] = number, 0

    def agree(self, word: str, rest: str, body: str, reply: str) -> bool:
        """Remember the answer to a read; return False if the same read had another answer before.

        Args:
            word: the request's first word.
            rest: the rest of its header line.
            body: the request's message.
            reply: the reply's message.

        Returns:
            Whether the answers agree.
        """
        known = self._passing
        if word == "next":
            word, known = "iterated", self._lasting
            number, place = self._iterators.get(int(rest), (-1, 0))
            if number < 0:  # a generator, whose code may change anything
                self.forget()
                return True
            self._iterators[int(rest)] = number, place + 1
            rest = f"{number} {place}"
            self._passing.clear()
        elif word in LASTING:
            known = self._lasting
            if (f"{word} {rest}", body) not in known:
                self._passing.clear()
        return _OBJECT in reply or known.setdefault((f"{word} {rest}", body), hash(reply)) == hash(reply)
