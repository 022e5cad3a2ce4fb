"""Decides a mathematical answer without parsing it, where text or plain numbers are enough.

Most answers of a training run are the expected text, or plain numbers like the expected one: `at_once` decides these
exactly and at no cost. Other answers are decided in a sandbox (`guest/mathematics.py`): `question` is the referee's
input, `answer` reads its report. No mathematics library is imported here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sandbox_service.judging.extraction import boxed
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.schema import Checker

MOST_BYTES = 4000  # longest answer; the guest counts characters instead
SHOWN_CHARACTERS = 60

# white space between two words or numbers is significant
_NOISE = re.compile(r"\$|(?<!\\)\\[,;:!]|\\(?:left|right)(?![a-zA-Z])|(?<!\w)\s+|\s+(?!\w)")
# separators of two numbers: removing one would join these; not the thin space between thousands
_BETWEEN_DIGITS = re.compile(
    r"(?<=\d)(?!\s*\\[,:; ]\s*\d{3}(?!\d))(?:\s|\$|\\[,;:]|\\(?:left|right)(?![a-zA-Z]))+(?=\d)"
)
_DIGITS = r"(?:\d{1,200}|\d{1,3}(?:,\d{3}){1,50})"
_DECIMAL = re.compile(rf"([-+]?{_DIGITS}(?:\.\d{{1,200}})?)", re.ASCII)
_FRACTION = re.compile(
    r"([-+]?)(?:\\[dt]?frac\{([-+]?\d{1,200})\}\{([-+]?\d{1,200})\}|(\d{1,200})/(\d{1,200}))", re.ASCII
)


def accepted(outputs: Sequence[str]) -> list[str]:
    """Return the expected answers: the contents of their boxes, where they have one.

    Args:
        outputs: the test's outputs.
    """
    return [found if (found := boxed(output)) is not None else output.strip() for output in outputs]


def refusal(output: str) -> str | None:
    """Return why a text cannot be an expected answer, as far as that shows without parsing; None if it may be one.

    Args:
        output: one of the test's outputs.
    """
    [expected] = accepted([output])
    if not expected:
        return "an empty answer"
    return "an answer that is too long" if len(expected.encode()) > MOST_BYTES else None


def at_once(got: bytes, expected: Sequence[str], *, tolerant: bool = False) -> tuple[bool, str | None]:
    """Decide an answer without parsing, if that is possible.

    Args:
        got: the candidate's answer.
        expected: the expected answers.
        tolerant: numbers that differ may still be within the tolerance.

    Returns:
        Whether the answer is decided, and the reason if it is wrong.
    """
    text = got.decode("utf-8", "replace").strip()
    if not text:
        return True, "there is no answer"
    if len(got) > MOST_BYTES:
        return True, f"the answer has {len(got)} bytes, the most is {MOST_BYTES}"
    plain, wanted = _plain(text), [_plain(each) for each in expected]
    if plain in wanted:
        return True, None
    number, numbers = _number(plain), [_number(each) for each in wanted]
    if number is None or None in numbers:
        return False, None
    if number in numbers:
        return True, None
    if tolerant and any(each is not None and each.denominator != 1 for each in (number, *numbers)):
        return False, None
    return True, f"got {text[:SHOWN_CHARACTERS]!r}, expected {expected[0][:SHOWN_CHARACTERS]!r}"


def _plain(text: str) -> str:
    return _NOISE.sub("", _BETWEEN_DIGITS.sub(" ", text))


def _number(plain: str) -> Fraction | None:
    """Return the exact value of a plain decimal number or fraction; None if the text is neither."""
    if decimal := _DECIMAL.fullmatch(plain):
        return Fraction(decimal[1].replace(",", ""))
    if found := _FRACTION.fullmatch(plain):
        sign, *parts = found.groups()
        top, bottom = (int(part) for part in parts if part is not None)
        return None if bottom == 0 else Fraction(-top if sign == "-" else top, bottom)
    return None


def question(expected: Sequence[str], checker: Checker) -> bytes:
    """Return the referee's input.

    Args:
        expected: the expected answers.
        checker: the checker, for its tolerance.
    """
    tolerance = tolerance_of(checker)
    bounds = None if tolerance is None else [float(tolerance.absolute), float(tolerance.relative)]
    return json.dumps({"expected": list(expected), "tolerance": bounds}).encode()


def answer(report: Mapping[str, object] | None) -> tuple[str, str]:
    """Return the referee's result and its reason.

    Args:
        report: the referee's report, or None if it wrote none.

    Returns:
        passed, failed, bad_test, gone (the reader sent nothing) or fault; and the message.
    """
    if report is None:
        return "fault", "the referee wrote no report"
    return str(report.get("result")), str(report.get("message") or "")
