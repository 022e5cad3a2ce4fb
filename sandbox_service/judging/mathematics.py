"""A mathematical answer, as far as it can be judged without understanding it.

Most answers of a training run are the same text as expected, or plain numbers as the expected one is: `at_once` decides
these, exactly, and they cost nothing. Any other is for a jail (`guest/mathematics.py`): `question` is what its referee
is asked, `answer` what its report comes to. No mathematics library is imported on this side of the wall.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sandbox_service.judging.extraction import boxed
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.schema import Checker

MOST_BYTES = 4000  # what is longer is no answer; the guest counts characters
SHOWN_CHARACTERS = 60

# white space between two words or numbers means something
_NOISE = re.compile(r"\$|(?<!\\)\\[,;:!]|\\(?:left|right)(?![a-zA-Z])|(?<!\w)\s+|\s+(?!\w)")
_DIGITS = r"(?:\d{1,200}|\d{1,3}(?:,\d{3}){1,50})"
_DECIMAL = re.compile(rf"([-+]?{_DIGITS}(?:\.\d{{1,200}})?)", re.ASCII)
_FRACTION = re.compile(
    r"([-+]?)(?:\\[dt]?frac\{([-+]?\d{1,200})\}\{([-+]?\d{1,200})\}|(\d{1,200})/(\d{1,200}))", re.ASCII
)


def accepted(outputs: Sequence[str]) -> list[str]:
    """The expected answers: what is in their boxes, where they have one."""
    return [found if (found := boxed(output)) is not None else output.strip() for output in outputs]


def refusal(output: str) -> str | None:
    """Why this can be no expected answer, as far as can be seen without reading it; None if it may be one."""
    [expected] = accepted([output])
    if not expected:
        return "an empty answer"
    return "an answer that is too long" if len(expected.encode()) > MOST_BYTES else None


def at_once(got: bytes, expected: Sequence[str], *, tolerant: bool = False) -> tuple[bool, str | None]:
    """Whether it is decided, and why it is wrong if it is. `tolerant`: numbers that differ may still be near enough."""
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
    return _NOISE.sub("", text)


def _number(plain: str) -> Fraction | None:
    """What a plain decimal number or fraction is worth, exactly; None if it is neither."""
    if decimal := _DECIMAL.fullmatch(plain):
        return Fraction(decimal[1].replace(",", ""))
    if found := _FRACTION.fullmatch(plain):
        sign, *parts = found.groups()
        top, bottom = (int(part) for part in parts if part is not None)
        return None if bottom == 0 else Fraction(-top if sign == "-" else top, bottom)
    return None


def question(expected: Sequence[str], checker: Checker) -> bytes:
    """What the referee is asked."""
    tolerance = tolerance_of(checker)
    bounds = None if tolerance is None else [float(tolerance.absolute), float(tolerance.relative)]
    return json.dumps({"expected": list(expected), "tolerance": bounds}).encode()


def answer(report: Mapping[str, object] | None) -> tuple[str, str]:
    """What the referee came to, and why: passed, failed, bad_test, gone (the reader said nothing) or fault."""
    if report is None:
        return "fault", "the referee said nothing"
    return str(report.get("result")), str(report.get("message") or "")
