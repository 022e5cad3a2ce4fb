"""Which problems are alike? By their words in a row, with a sketch of each text, so that memory is bounded.

A text's shingles are its runs of some words in lower case, by their hashes; its sketch is the `SKETCH` smallest, from
which the share of common shingles of two texts (Jaccard) is estimated. Two texts are compared only if they have one of
their `KEYS` smallest in common: of two that are alike to 0.8, one pair in a billion would be missed. Texts that are the
same word by word, or have the very same tests, need no estimate. Nothing depends on chance, and on the order only this:
it is always the earlier one that stays.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_service.problem import Problem
from sandbox_service.validation.sources import prompts

SKETCH = 128
KEYS = 16
SHORT = 32  # runs of words: of so short a text, nearly all must be in the other, or a word is all the difference
CONTAINED = 0.9
LEAST_RUNS = 6  # a text of fewer is a phrase
COMMON = 200  # a shingle that so many texts begin with is a phrase of the data set: it leads to no comparison
LEAST_SHARED_TESTS = 3  # tests that are alike say something only if there are some
_WORD = re.compile(r"[^\W_]+")
_SENTENCES = (prompts.BY_STDIN, prompts.BY_CALL, prompts.TO_COMPLETE, prompts.TO_WRITE, prompts.IN_A_BOX)
_AROUND = (r"The function is called `[^`]*`\.", r"It has to pass:\s+```python\n.*?\n```")
_OURS = re.compile("|".join([*map(re.escape, _SENTENCES), *_AROUND]), re.DOTALL)
_WORD_OR_SIGN = re.compile(r"[^\W_]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Likeness:
    """To which problem, how much from 0 to 1, and by what: text, words or tests."""

    id: str
    share: float
    by: str

    def reason(self) -> str:
        """For a person."""
        if self.by == "text":
            return f"word by word the text of {self.id}"
        if self.by == "tests":
            return f"the very tests of {self.id}"
        return f"{self.share:.0%} of its phrases are those of {self.id}"


class Index:
    """Texts that were seen. `similarity`: from where on two are alike.

    With `signs`, brackets and the like are words, too: two problems may differ in nothing else. Without, a copy is
    found whose signs were written in another way, and one that stands within other words.
    """

    def __init__(self, similarity: float, words: int, *, signs: bool = True) -> None:
        self._similarity = similarity
        self._size = words
        self._word = _WORD_OR_SIGN if signs else _WORD
        self._within = not signs
        self._ids: list[str] = []
        self._sketches: list[array[int]] = []
        self._texts: dict[bytes, int] = {}
        self._tests: dict[bytes, int] = {}
        self._keys: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, problem: Problem) -> Likeness | None:
        """The first problem that is most like this one, if any is like it."""
        print_ = _Print.of(problem, self._word, self._size)
        if (place := self._texts.get(print_.text)) is not None:
            return Likeness(self._ids[place], 1.0, "text")
        if print_.tests and (place := self._tests.get(print_.tests)) is not None:
            return Likeness(self._ids[place], 1.0, "tests")
        found = [(self._alike(print_.sketch, place), -place) for place in self._near(print_)]
        if not found or max(found)[0] < self._similarity:
            return None
        share, place = max(found)
        return Likeness(self._ids[-place], share, "words")

    def add(self, problem: Problem) -> None:
        """From now on it is known."""
        print_ = _Print.of(problem, self._word, self._size)
        place = len(self._ids)
        self._ids.append(problem.id)
        self._sketches.append(print_.sketch)
        self._texts.setdefault(print_.text, place)
        if print_.tests:
            self._tests.setdefault(print_.tests, place)
        for key in print_.sketch[:KEYS]:
            places = self._keys.setdefault(key, [])
            if len(places) < COMMON:
                places.append(place)

    def _near(self, print_: _Print) -> Iterator[int]:
        met: Counter[int] = Counter()
        for key in print_.sketch if self._within else print_.sketch[:KEYS]:
            met.update(self._keys.get(key, ()))
        return iter(met)

    def _alike(self, sketch: array[int], place: int) -> float:
        other = self._sketches[place]
        union = heapq.nsmallest(SKETCH, {*sketch, *other})
        common = {*sketch} & {*other}
        shorter = min(len(sketch), len(other))
        if shorter < SHORT and len(common) < CONTAINED * shorter:
            return 0.0
        share = sum(each in common for each in union) / len(union) if union else 0.0
        return max(share, _contained(sketch, other)) if self._within else share


def _contained(sketch: array[int], other: array[int]) -> float:
    """The share of the other text that is in this one, if it is nearly all; else, or of a few words, nothing.

    A sketch that is full knows its text only up to its largest hash (Broder, 1997: containment by bottom sketches).
    """
    known = [each for each in other if len(sketch) < SKETCH or each <= sketch[-1]]
    share = len({*known} & {*sketch}) / len(known) if len(known) >= LEAST_RUNS else 0.0
    return share if share >= CONTAINED else 0.0


@dataclass(frozen=True, slots=True)
class _Print:
    """What is kept of a problem."""

    text: bytes
    tests: bytes
    sketch: array[int]

    @classmethod
    def of(cls, problem: Problem, word: re.Pattern[str], size: int) -> _Print:
        words = word.findall(statement_of(problem).lower()) or word.findall(text_of(problem).lower())
        runs = {" ".join(words[at : at + size]) for at in range(max(len(words) - size + 1, 1))}
        hashes = (int.from_bytes(_hashed(run)[:8], "big") for run in runs)
        return cls(_hashed(" ".join(words)), _tests(problem), array("Q", heapq.nsmallest(SKETCH, hashes)))


def text_of(problem: Problem) -> str:
    """What is asked, whichever way it is."""
    if problem.prompt is not None:
        return problem.prompt
    return "\n".join(each.content for each in problem.messages or () if each.role == "user")


def statement_of(problem: Problem) -> str:
    """The same without what readers put around a statement: it asks nothing, and would make short ones alike."""
    return _OURS.sub("", text_of(problem))


def _tests(problem: Problem) -> bytes:
    """The tests' own hash, whatever their order; nothing if there are too few to say anything."""
    lines = sorted({each.model_dump_json(exclude={"weight"}) for each in problem.tests or ()})
    return _hashed("\n".join(lines)) if len(lines) >= LEAST_SHARED_TESTS else b""


def _hashed(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
