"""Which problems are reported as alike, and which are not."""

from __future__ import annotations

import random

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.validation.duplicates import Index
from sandbox_service.validation.sources import prompts
from tests.validation.world import STORY, letters, sums, words


def index(*problems: Problem, similarity: float = 0.9, signs: bool = True) -> Index:
    made = Index(similarity, 5, signs=signs)
    for each in problems:
        made.add(each)
    return made


def test_unlike_problems_are_not_alike() -> None:
    assert index(sums(), words()).find(letters()) is None


@pytest.mark.parametrize("changes", [{}, {"prompt": f"  {sums().prompt}\n".upper()}])
def test_the_same_text_in_other_letters(changes: dict[str, str]) -> None:
    likeness = index(words(), sums(id="first"), sums(id="later")).find(sums(**changes))
    assert likeness is not None
    assert (likeness.id, likeness.by, likeness.share) == ("first", "text", 1.0)


def test_the_very_same_tests_in_another_order() -> None:
    tests = sums().model_dump(mode="json")["tests"][::-1]
    likeness = index(sums()).find(sums(id="other", tests=tests, prompt="Entirely different words for it."))
    assert likeness is not None
    assert likeness.by == "tests"


def test_signs_may_be_all_the_difference() -> None:
    """As between two problems of HumanEval that ask for round and for pointed brackets."""
    of_round, of_pointed = (sums(prompt=f"{STORY} Are they well nested? {each}") for each in ("( ) (", "< > <"))
    of_pointed = of_pointed.model_copy(update={"tests": words().tests})
    assert index(of_round, similarity=0.99).find(of_pointed) is None
    assert index(of_round, similarity=0.99, signs=False).find(of_pointed) is not None


def test_what_readers_put_around_a_statement_makes_nothing_alike() -> None:
    """Three words are asked, and thirty are always the same."""
    asked = [prompts.to_solve(text, function=text[:3]) for text in ("Add two numbers.", "Sort a list.")]
    first, other = (sums(prompt=prompt, tests=each().tests) for prompt, each in zip(asked, (sums, words), strict=True))
    assert index(first, similarity=0.4, signs=False).find(other) is None


def test_a_word_is_all_the_difference_between_short_texts() -> None:
    """Two of MBPP's, and a copy that begins in another way."""
    text = "Write a function to find all index positions of the minimum values in a given list"
    first, other = sums(prompt=text), words(prompt=text.replace("minimum", "maximum"))
    copy = words(prompt=f"Read carefully. {text}")
    assert index(first, similarity=0.6).find(other) is None
    assert index(first, similarity=0.6).find(copy) is not None


@pytest.mark.parametrize("frame", [30, 600])
def test_an_evaluation_problem_is_found_within_other_words(frame: int) -> None:
    """As a prompt puts them around it; the very same index finds nothing where half of it is there."""
    words_around = " ".join(f"w{n}" for n in range(frame))
    text = " ".join(f"v{n}" for n in range(frame))
    known = sums(prompt=text)
    assert index(known, similarity=0.6, signs=False).find(words(prompt=f"{words_around} {text}")) is not None
    half = text[: len(text) // 2]
    assert index(known, similarity=0.6, signs=False).find(words(prompt=f"{words_around} {half}")) is None
    assert index(known, similarity=0.6).find(words(prompt=f"{words_around} {text}")) is None


def test_alike_to_a_share_as_the_words_are() -> None:
    """Half of the words in a row are others': the estimate is near the truth, and the threshold decides."""
    chance = random.Random(7)
    text = [f"w{chance.randrange(10**6)}" for _ in range(600)]
    other = text[:300] + [f"v{chance.randrange(10**6)}" for _ in range(300)]
    known, asked = sums(prompt=" ".join(text)), words(prompt=" ".join(other))
    likeness = index(known, similarity=0.2).find(asked)
    assert likeness is not None
    assert likeness.share == pytest.approx(1 / 3, abs=0.12)
    assert index(known, similarity=0.6).find(asked) is None


def test_a_thousand_texts_with_a_common_beginning_are_told_apart() -> None:
    chance = random.Random(3)
    texts = [STORY + " ".join(f"w{chance.randrange(10**6)}" for _ in range(200)) for _ in range(1000)]
    made = index(
        *(sums(id=str(n), prompt=text, tests=[{"type": "stdin", "output": str(n)}]) for n, text in enumerate(texts))
    )
    assert made.find(sums(prompt=STORY + "something new", tests=[{"type": "stdin", "output": "x"}])) is None
    likeness = made.find(sums(prompt=texts[777] + " and no more", tests=[{"type": "stdin", "output": "x"}]))
    assert likeness is not None
    assert likeness.id == "777"
