"""Says which answers are the only right ones, as far as the statement and the checker show it.

A made test compares a program's answer with that of a reference. Where a statement accepts several answers and no
checker program judges them, only some answers are safe: that there is none, in a word of the statement or as -1. Real
numbers are compared safely by a checker with a tolerance only.
"""

from __future__ import annotations

import re
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.schema import Checker, JudgeProgram
from sandbox_service.validation.duplicates import text_of

_SEVERAL = re.compile(
    r"""
    \b(?:print|output|display)\s[^.\n]{0,80}?\b(?:any|arbitrary)\b
        (?!\s(?:two|vertex\sas|case|register|letter|number\sof|changes?|more|further|extra|other|additional))
    | \b(?:return|find|give|provide|choose|construct|restore)\s(?:an?\s)?(?:any|arbitrary)\s
        (?:one|of|such|valid|possible|suitable|correct|solution|answer|order|permutation|sequence|array|string|pair)\b
    | \bany\s(?:of\s(?:them|these|those)\b|(?:correct|valid|possible|suitable|appropriate|acceptable|optimal|such)\b)
    | \bif\b[^.\n]{0,50}\b(?:multiple|several|many|more\sthan\sone|various|different)\s(?:\w+\s){0,3}
        (?:answers?|solutions?|ways?|variants?|options?|sequences?|permutations?|strings?|arrays?|numbers?|sets?|pairs?
        |paths?|orders?|decompositions?|triples?|possibilit\w+|plans?|trees?|graphs?|ones?|\w*answers?)\b
    | \bany\s(?:answer|solution|order)\b
    | \bin\s(?:any|an?\sarbitrary)\sorder\b
    | \bprovide\san\sexample\b
    | \b(?:solution|answer|output|program)\s(?:will|is|shall|should)\s(?:be\s)?considered\s(?:to\sbe\s)?
        (?:correct|right)\sif\b(?![^.]*\berror\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONSTRUCTED = re.compile(
    r"\b(?:next|following)\s\$*[kmtp]\$*\slines\b|\bas\s(?:large|small|short|long|few|many)\sas\spossible",
    re.IGNORECASE,
)
_OUTPUT = re.compile(r"^\W*output\W*$", re.IGNORECASE | re.MULTILINE)
_EXAMPLES = re.compile(r"^\W*(?:sample|examples?|notes?)\W*(?:inputs?|tests?|\d+)?\W*$", re.IGNORECASE | re.MULTILINE)
_NAMED = re.compile(r"\b(?:\w+est|least|first|last|min\w+|max\w+|lexicographical\w*)\b", re.IGNORECASE)  # of several
_ANY = re.compile(r"\b(?:any|arbitrary)\b", re.IGNORECASE)
_ANSWERED = re.compile(r"\b(?:print|output|return|answers?|solutions?|display|write)", re.IGNORECASE)
_ORDER = re.compile(r"\border\b", re.IGNORECASE)
_REAL = re.compile(r"-?\d*\.\d+(?:[eE][-+]?\d+)?|-?\d+[eE][-+]?\d+|-?(?:inf|nan)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]{2,}[.!]?|-1")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=[*#-])")
_TEXTUAL = ("exact", "stripped", "lines", "tokens", "unordered_lines", "unordered_tokens")


def accepts_several(statement: str) -> bool:
    """Return whether a statement accepts several answers to one input.

    Args:
        statement: Text of the problem.
    """
    output = examples[0] if (examples := _EXAMPLES.split(statement)) else ""
    output = parts[1] if len(parts := _OUTPUT.split(output, maxsplit=1)) > 1 else ""
    return bool(_CONSTRUCTED.search(output)) or any(map(_is_about_answers, _SENTENCE.split(statement)))


def _is_about_answers(sentence: str) -> bool:
    words = " ".join(sentence.split())
    is_one_named = _NAMED.search(words) is not None and not _ANY.search(words)
    return _SEVERAL.search(words) is not None and _ANSWERED.search(words) is not None and not is_one_named


class Uniqueness:
    """Which answers of one problem can be compared."""

    def __init__(self, statement: str, checker: Checker) -> None:
        """Read a statement.

        Args:
            statement: Text of the problem.
            checker: Compares answers.
        """
        self._statement = statement
        self._has_several = accepts_several(statement)
        self._is_textual = checker.type in _TEXTUAL and tolerance_of(checker) is None

    def is_unique(self, answer: str) -> bool:
        """Return whether an output may be compared with those of other programs.

        Args:
            answer: What a reference printed.
        """
        tokens = answer.split()
        if self._is_textual and any(_REAL.fullmatch(each) for each in tokens):
            return False
        return not self._has_several or all(map(self._is_said, tokens))

    def _is_said(self, token: str) -> bool:
        """Return whether a token is a word of the statement, such as NO, or -1."""
        said = rf"(?<!\w){re.escape(token)}(?!\w)"
        return _WORD.fullmatch(token) is not None and re.search(said, self._statement) is not None

    def is_unique_value(self, value: Any) -> bool:
        """Return whether a result of a call may be compared with those of other functions.

        Args:
            value: The result.
        """
        return not self._has_several or value in (None, -1, "") or isinstance(value, bool) or _has_one_order(value)


def uniqueness_of(problem: Problem) -> Uniqueness | None:
    """Return the uniqueness of a problem's answers; None if a checker program judges them: it knows all right ones."""
    if isinstance(problem.checker, JudgeProgram):
        return None
    checker = problem.checker if isinstance(problem.checker, Checker) else Checker()
    return Uniqueness(text_of(problem), checker)


def _has_one_order(value: Any) -> bool:
    """Return whether a value is an empty list."""
    return isinstance(value, list | tuple | set | dict) and not value
