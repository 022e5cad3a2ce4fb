"""Finds near-duplicate problems by sketches of their texts, in bounded memory.

The shingles of a text are the hashes of its word n-grams in lower case; its sketch is the `SKETCH` smallest hashes,
from which the Jaccard similarity of two texts is estimated. Two texts are compared only if they share one of their
`KEYS` smallest hashes: at a similarity of 0.8, this misses one pair in a billion. Equal texts and equal sets of tests
need no estimate. The result is deterministic and depends on the order of the problems in one way: the earlier one
stays.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_service.formats.problem import Problem
from sandbox_service.validation.sources import prompts

SKETCH = 128
KEYS = 16
SHORT = 32  # shingles: for a shorter text, one different word may be the whole difference, so nearly all must match
CONTAINED = 0.9
LEAST_RUNS = 6  # a text with fewer is only a phrase
COMMON = 200  # a shingle that more texts share is boilerplate of the data set, and causes no comparison
LEAST_SHARED_TESTS = 3  # fewer equal tests do not identify a problem
_WORD = re.compile(r"[^\W_]+")
_SENTENCES = (prompts.BY_STDIN, prompts.BY_CALL, prompts.TO_COMPLETE, prompts.TO_WRITE, prompts.IN_A_BOX)
_AROUND = (r"The function is called `[^`]*`\.", r"It has to pass:\s+```python\n.*?\n```")
_OURS = re.compile("|".join([*map(re.escape, _SENTENCES), *_AROUND]), re.DOTALL)
_WORD_OR_SIGN = re.compile(r"[^\W_]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Likeness:
    """A similar problem: its id, the similarity from 0 to 1, and the part that is similar (text, words or tests)."""

    id: str
    share: float
    by: str

    def reason(self) -> str:
        """Return the reason of a finding, for a person."""
        if self.by == "text":
            return f"word by word the text of {self.id}"
        if self.by == "tests":
            return f"the very tests of {self.id}"
        return f"{self.share:.0%} of its phrases are those of {self.id}"


class Index:
    """Problems seen so far. Two are alike from a similarity of `similarity` on.

    With `signs`, brackets and operators count as words: two problems may differ in nothing else. Without, the index
    also finds copies with other punctuation, and texts that are contained in others.
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
        """Return the earliest of the most similar problems, or None if none is alike."""
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
        """Add a problem to the index."""
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
    """Return the share of the other text that is in this one, if nearly all of it is; else, or for a short text, 0.

    A full sketch covers its text only up to its largest hash (Broder, 1997: containment by bottom sketches).
    """
    known = [each for each in other if len(sketch) < SKETCH or each <= sketch[-1]]
    share = len({*known} & {*sketch}) / len(known) if len(known) >= LEAST_RUNS else 0.0
    return share if share >= CONTAINED else 0.0


@dataclass(frozen=True, slots=True)
class _Print:
    """The parts of a problem that the index keeps."""

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
    """Return the prompt of a problem, or the text of its conversation."""
    if problem.prompt is not None:
        return problem.prompt
    return "\n".join(each.content for each in problem.messages or () if each.role == "user")


def statement_of(problem: Problem) -> str:
    """Return the prompt without the instructions that readers add, which would make short statements look alike."""
    return _OURS.sub("", text_of(problem))


def _tests(problem: Problem) -> bytes:
    """A hash of the tests in any order; empty if there are too few to identify a problem."""
    lines = sorted({each.model_dump_json(exclude={"weight"}) for each in problem.tests or ()})
    return _hashed("\n".join(lines)) if len(lines) >= LEAST_SHARED_TESTS else b""


def _hashed(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
