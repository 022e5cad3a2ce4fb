"""Errors while two answers are compared are attributed to the answer or to the service."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("math_verify", reason="pip install 'proctor[math]'")

from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import equality  # isort: skip
import latex_answers  # isort: skip
import mathematics  # isort: skip


class _Ended(BaseException):
    """Raised instead of ending the process."""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    def end(_: int) -> None:
        raise _Ended

    words: list[tuple[str, str]] = []
    monkeypatch.setattr(mathematics, "_report", lambda *word: words.append(word))
    monkeypatch.setattr(os, "_exit", end)
    return words


def compare(monkeypatch: pytest.MonkeyPatch, trouble: Exception) -> tuple[str, str]:
    def difference(*_: object) -> Any:
        raise trouble

    monkeypatch.setattr(equality, "difference", difference)
    verdict: tuple[str, str] = mathematics._verdict(
        [equality.Value(latex_answers.read("2"))], latex_answers.read("3"), None
    )
    return verdict


@pytest.mark.parametrize("trouble", [TypeError("no"), NotImplementedError(), ZeroDivisionError()])
def test_what_does_not_compare_is_not_the_answer(
    monkeypatch: pytest.MonkeyPatch, said: list[tuple[str, str]], trouble: Exception
) -> None:
    result, message = compare(monkeypatch, trouble)
    assert (result, said) == ("failed", [])
    assert type(trouble).__name__ in message


@pytest.mark.parametrize("trouble", [NameError("oops"), KeyError("oops"), AssertionError("oops"), ImportError("oops")])
def test_what_nobody_thought_of_says_nothing_about_the_answer(
    monkeypatch: pytest.MonkeyPatch, said: list[tuple[str, str]], trouble: Exception
) -> None:
    with pytest.raises(_Ended):
        compare(monkeypatch, trouble)
    (word,) = said
    assert word[0] == "fault"
    assert "oops" in word[1]
