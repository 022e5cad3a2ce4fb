"""Is this output the expected one? One function per kind of comparison, and a reason where the answer is no.

Comparison is on bytes; text is decoded for display only, so no encoding error can decide a reward. Outputs are
hostile and may be many megabytes: every checker is linear in time, compares as it reads, and stops at the first
difference. Nothing here executes anything. Values of call tests are compared in `values`, mathematics in `mathematics`,
and as other systems do it in `systems`.

A test whose expected output is not right by its own checker (`check(checker, expected, expected)` gives a reason:
no JSON, no number, NaN) can be passed by nobody; whoever accepts tests should refuse it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from io import BytesIO
from itertools import islice, zip_longest
from math import isfinite, nan

from sandbox_service.judging import systems
from sandbox_service.judging.numeric import (
    NUMBER_SYNTAX,
    Tolerance,
    is_nan,
    is_number,
    parse,
    same_number,
    tolerance_of,
)
from sandbox_service.judging.text import PIECE_BYTES, first_wrong_line, shown, words
from sandbox_service.judging.values import check_value
from sandbox_service.schema import Checker

__all__ = ["check", "check_any", "check_value"]

# Parsed JSON takes some twenty times its size in memory: no right answer is so much longer than the expected one.
JSON_GROWTH = 64
JSON_SLACK_BYTES = 64 << 10
# Python refuses to convert more than 4300 digits; Decimal takes any number of them, exactly.
INT_DIGITS = 4000

_TOKEN = re.compile(rb"\S++")
_ONLY_NUMBERS = re.compile(rb"\s*+(?:" + NUMBER_SYNTAX + rb"(?:\s++|\Z))*+")


def check(checker: Checker, output: bytes, expected: bytes) -> str | None:
    """None if `output` is right, else a short reason why not.

    With `ignore_case`, ASCII letters are compared without their case, and shown so.
    """
    if checker.ignore_case and checker.type != "json":
        output, expected = output.lower(), expected.lower()
    return _CHECKERS[checker.type](checker, output, expected)


def check_any(checker: Checker, output: bytes, outputs: Sequence[str]) -> str | None:
    """None if `output` is any of those that are right, else a short reason why it is not the first of them."""
    reasons = [check(checker, output, expected.encode("utf-8")) for expected in outputs]
    return None if None in reasons else reasons[0]


def _exact(_: Checker, output: bytes, expected: bytes) -> str | None:
    if output == expected:
        return None
    return first_wrong_line(BytesIO(output), BytesIO(expected))


def _stripped(_: Checker, output: bytes, expected: bytes) -> str | None:
    output, expected = output.strip(), expected.strip()
    return None if output == expected else first_wrong_line(BytesIO(output), BytesIO(expected))


def _lines(_: Checker, output: bytes, expected: bytes) -> str | None:
    if output == expected:
        return None
    return first_wrong_line(_trimmed_lines(output), _trimmed_lines(expected))


def _unordered_lines(_: Checker, output: bytes, expected: bytes) -> str | None:
    if output == expected:
        return None
    wanted = Counter(_trimmed_lines(expected))
    for number, line in enumerate(_trimmed_lines(output), 1):
        if wanted[line] == 0:
            return f"line {number}: got {shown(line)}, which is not expected, or not so often"
        wanted[line] -= 1
    missing = next(wanted.elements(), None)
    return None if missing is None else f"the line {shown(missing)} is missing"


def _tokens(checker: Checker, output: bytes, expected: bytes) -> str | None:
    tolerance = tolerance_of(checker)
    # Two tokens that say nan are alike as text, but not where numbers are meant.
    trust_equal = tolerance is None or b"nan" not in expected.lower()
    return _compare_tokens(output, expected, partial(_token_is_right, tolerance), trust_equal)


def _token_is_right(tolerance: Tolerance | None, got: bytes, expected: bytes) -> bool:
    if tolerance is None:
        return got == expected
    if got == expected:
        return not is_nan(expected)
    return is_number(expected) and is_number(got) and same_number(got, expected, tolerance)


def _numbers(checker: Checker, output: bytes, expected: bytes) -> str | None:
    trust_equal = _ONLY_NUMBERS.fullmatch(expected) is not None
    return _compare_tokens(output, expected, partial(_number_is_right, tolerance_of(checker)), trust_equal)


def _number_is_right(tolerance: Tolerance | None, got: bytes, expected: bytes) -> bool:
    return is_number(got) and is_number(expected) and (got == expected or same_number(got, expected, tolerance))


def _json(checker: Checker, output: bytes, expected: bytes) -> str | None:
    if not output.strip() and not expected.strip():
        return None
    if len(output) > JSON_GROWTH * len(expected) + JSON_SLACK_BYTES:
        return f"the output has {len(output)} bytes, the expected one {len(expected)}"
    try:
        got = _parsed(output)
    except (ValueError, RecursionError) as error:
        return f"the output is not JSON: {error}"
    try:
        wanted = _parsed(expected)
    except (ValueError, RecursionError) as error:
        return f"the expected output is not JSON: {error}"
    return check_value(checker, got, wanted)


_CHECKERS: dict[str, Callable[[Checker, bytes, bytes], str | None]] = {
    "exact": _exact,
    "stripped": _stripped,
    "lines": _lines,
    "tokens": _tokens,
    "numbers": _numbers,
    "json": _json,
    "unordered_lines": _unordered_lines,
    "lcb": systems.lcb,
    "prime_code": systems.prime_code,
    "sandboxfusion": systems.sandboxfusion,
    "deepcoder": systems.deepcoder,
}


def _parsed(data: bytes) -> object:
    return json.loads(data.decode("utf-8"), parse_int=_exact_integer, parse_float=_finite_float)


def _exact_integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= INT_DIGITS else Decimal(digits)


def _finite_float(text: str) -> float | Decimal:
    """A float; but 1e400 and 2e400, which as floats are both infinite, stay themselves."""
    value = float(text)
    if isfinite(value):
        return value
    exact = parse(text.encode())
    return nan if exact is None else exact


def _compare_tokens(
    output: bytes, expected: bytes, is_right: Callable[[bytes, bytes], bool], trust_equal: bool
) -> str | None:
    """The first wrong token, if any. With `trust_equal`, `is_right` is not asked about two tokens of the same bytes."""
    if trust_equal and (output == expected or _same_when_split(output, expected)):
        return None
    for index, (got, wanted) in enumerate(zip_longest(words(output), words(expected))):
        if trust_equal and got == wanted:
            continue
        if got is None:
            return f"the output ends where {shown(wanted)} is expected"
        if wanted is None:
            return f"line {_line_of_token(output, index)}: got {shown(got)}, expected the end of the output"
        if not is_right(got, wanted):
            return f"line {_line_of_token(output, index)}: got {shown(got)}, expected {shown(wanted)}"
    return None


def _same_when_split(output: bytes, expected: bytes) -> bool:
    return max(len(output), len(expected)) <= PIECE_BYTES and output.split() == expected.split()


def _line_of_token(output: bytes, index: int) -> int:
    token = next(islice(_TOKEN.finditer(output), index, None))
    return output.count(b"\n", 0, token.start()) + 1


def _trimmed_lines(data: bytes) -> Iterator[bytes]:
    """Lines without white space at their ends (hence CRLF = LF), and without blank lines at the very end."""
    return (line.rstrip() for line in BytesIO(data.rstrip()))
