"""Compares a program's output with the expected output: one function for each checker type.

Comparison is on bytes; text is decoded for display only, so no encoding error can decide a reward. Outputs are hostile
and may be many megabytes: every checker is linear in time, compares as it reads, and stops at the first difference.
Nothing here executes anything. Results of call tests are compared in `values`, mathematics in `mathematics`, and other
systems' rules are in `systems`.

No submission can pass a test whose expected output is wrong by its own checker (`check(checker, expected, expected)`
gives a reason: not JSON, not a number, NaN); such a test should be refused when it is submitted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from io import BytesIO
from itertools import compress, islice, zip_longest
from math import isfinite, nan
from operator import and_

from pydantic_core import to_json

from sandbox_service.judging import collector, flat_json, systems
from sandbox_service.judging.numeric import (
    NUMBER_SYNTAX,
    Tolerance,
    is_nan,
    is_number,
    parse,
    same_number,
    same_numbers,
    tolerance_of,
)
from sandbox_service.judging.text import GROUP, PIECE_BYTES, first_wrong_line, groups, shown, unequal, words
from sandbox_service.judging.values import (
    JSON_GROWTH,
    READ_BYTES,
    check_value,
    parsed_quickly,
    rules_of,
    too_many_elements,
    too_many_objects,
    without_repeated_keys,
)
from sandbox_service.schema import Checker

__all__ = ["check", "check_any", "check_value"]

# Python refuses to convert more than 4300 digits; Decimal takes any number of them, exactly.
INT_DIGITS = 4000
# In longer JSON a number nearer to 0 than every float is 0, and one beyond every float is refused.
EXACT_BYTES = 1 << 20

# Types of checkers that accept an output that is equal to the expected one, whatever that is.
_REFLEXIVE = frozenset({"exact", "stripped", "lines"})

_LONG_INTEGER = re.compile(rb"(?<!\d)\d{%d}" % (INT_DIGITS + 1))
# A float may be beyond every other, or nearer to 0, if it has this many digits, or three in its exponent. With a zero
# for each digit and point, such numbers are found without a regular expression.
LONG_FLOAT = b"0" * 200
HUGE_EXPONENTS = b"e000", b"e+000", b"e-000"
_CLASSES = bytes.maketrans(b"123456789.E", b"0000000000e")
_FLOAT = re.compile(r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?")
_TOKEN = re.compile(rb"\S++")
_OF_INTEGERS = b"0123456789 \t\n\r\x0b\x0c"
_ONLY_NUMBERS = re.compile(rb"\s*+(?:" + NUMBER_SYNTAX + rb"(?:\s++|\Z))*+")


def check(checker: Checker, output: bytes, expected: bytes) -> str | None:
    """Compare an output with the expected one.

    With `ignore_case`, ASCII letters are compared, and shown, in lower case.

    Args:
        checker: type and options of the comparison.
        output: the program's output.
        expected: the expected output.

    Returns:
        None if the output is right, else a short reason.
    """
    if checker.ignore_case and checker.type != "json":
        output, expected = output.lower(), expected.lower()
    return _CHECKERS[checker.type](checker, output, expected)


def check_any(checker: Checker, output: bytes, outputs: Sequence[str]) -> str | None:
    """Compare an output with several accepted ones.

    Args:
        checker: type and options of the comparison.
        output: the program's output.
        outputs: the accepted outputs.

    Returns:
        None if one of them matches, else the reason why the first does not.
    """
    reason = check(checker, output, outputs[0].encode("utf-8"))
    if reason is None or all(check(checker, output, other.encode("utf-8")) is not None for other in outputs[1:]):
        return reason
    return None


def accepts_equal(checker: Checker, expected: str) -> bool:
    """Return True if an output that is the expected one, byte for byte, is right; False if `check` must decide.

    Args:
        checker: type and options of the comparison.
        expected: the expected output.
    """
    if checker.type == "tokens":
        return "nan" not in expected.lower()  # two such tokens are equal as text, but not as numbers
    return checker.type in _REFLEXIVE


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
            return f"line {number}: got {shown(line)}, which is not expected, or occurs too often"
        wanted[line] -= 1
    missing = next(wanted.elements(), None)
    return None if missing is None else f"the line {shown(missing)} is missing"


def _unordered_tokens(_: Checker, output: bytes, expected: bytes) -> str | None:
    wanted = Counter(words(expected))
    for token in words(output):
        if wanted[token] == 0:
            return f"got {shown(token)}, which is not expected, or occurs too often"
        wanted[token] -= 1
    missing = next(wanted.elements(), None)
    return None if missing is None else f"{shown(missing)} is missing"


def _yes_no(_: Checker, output: bytes, expected: bytes) -> str | None:
    return _compare_tokens(output, expected, _same_yes_no, trust_equal=False)


def _same_yes_no(got: bytes, expected: bytes) -> bool:
    return got.upper() == expected.upper() in (b"YES", b"NO")


def _tokens(checker: Checker, output: bytes, expected: bytes) -> str | None:
    # see accepts_equal
    has_no_nan = b"nan" not in expected.lower()
    if output == expected and has_no_nan:
        return None
    tolerance = tolerance_of(checker)
    trust_equal = tolerance is None or has_no_nan
    at_once = None if tolerance is None else partial(same_numbers, tolerance=tolerance)
    return _compare_tokens(output, expected, partial(_token_is_right, tolerance), trust_equal, at_once)


def _token_is_right(tolerance: Tolerance | None, got: bytes, expected: bytes) -> bool:
    if tolerance is None:
        return got == expected
    if got == expected:
        return not is_nan(expected)
    return is_number(expected) and is_number(got) and same_number(got, expected, tolerance)


def _token_lines(checker: Checker, output: bytes, expected: bytes) -> str | None:
    """Compare the tokens of each line. Blank lines do not count, as in DMOJ's checkers."""
    tolerance = tolerance_of(checker)
    near = None if tolerance is None else partial(_lines_are_near, tolerance)
    return first_wrong_line(_lines_of_tokens(output), _lines_of_tokens(expected), near)


def _lines_of_tokens(data: bytes) -> Iterator[bytes]:
    lines = (b" ".join(line.split()) for line in BytesIO(data.replace(b"\r", b"\n")))
    return (line for line in lines if line)


def _lines_are_near(tolerance: Tolerance, gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    for got, wanted in zip(gots, wanteds, strict=True):
        tokens, right = got.split(), wanted.split()
        if len(tokens) != len(right) or not all(map(partial(_token_is_right, tolerance), tokens, right)):
            return False
    return True


def _numbers(checker: Checker, output: bytes, expected: bytes) -> str | None:
    trust_equal = not expected.translate(None, _OF_INTEGERS) or _ONLY_NUMBERS.fullmatch(expected) is not None
    tolerance = tolerance_of(checker)
    at_once = partial(same_numbers, tolerance=tolerance)
    return _compare_tokens(output, expected, partial(_number_is_right, tolerance), trust_equal, at_once)


def _number_is_right(tolerance: Tolerance | None, got: bytes, expected: bytes) -> bool:
    return is_number(got) and is_number(expected) and (got == expected or same_number(got, expected, tolerance))


@collector.paused()
def _json(checker: Checker, output: bytes, expected: bytes) -> str | None:
    if not output.strip() and not expected.strip():
        return None
    if len(output) > JSON_GROWTH * len(expected) + READ_BYTES:
        return f"the output has {len(output)} bytes, the expected one {len(expected)}"
    if (reason := too_many_objects(expected) or too_many_objects(output)) is not None:
        return reason
    parse = partial(_parsed, exact=max(len(output), len(expected)) <= EXACT_BYTES)
    if (found := flat_json.compare(rules_of(checker), output, expected, parse)) is not None:
        return found.reason
    try:
        wanted = parse(expected)
    except (ValueError, RecursionError) as error:
        return f"the expected output is not JSON: {error}"
    if len(output) > READ_BYTES:
        # without escapes the text has the brackets and commas that json.dumps would write
        right = json.dumps(wanted, default=str).encode() if b"\\" in expected else expected
        surplus = too_many_elements(output, right)
        if surplus is not None:
            return surplus
    try:
        got = parse(output)
    except (ValueError, RecursionError) as error:
        return f"the output is not JSON: {error}"
    are_told_apart = not any(word in text for text in (output, expected) for word in (b"true", b"false", b"NaN"))
    return None if are_told_apart and _are_equal(got, wanted) else check_value(checker, got, wanted)


def _are_equal(got: object, expected: object) -> bool:
    """Return True if two parsed values are equal; Python takes true for 1, and one NaN for itself."""
    try:
        return got == expected
    except RecursionError:
        return False


_CHECKERS: dict[str, Callable[[Checker, bytes, bytes], str | None]] = {
    "exact": _exact,
    "stripped": _stripped,
    "lines": _lines,
    "tokens": _tokens,
    "numbers": _numbers,
    "json": _json,
    "unordered_lines": _unordered_lines,
    "unordered_tokens": _unordered_tokens,
    "yes_no": _yes_no,
    "token_lines": _token_lines,
    "lcb": systems.lcb,
    "prime_code": systems.prime_code,
    "sandboxfusion": systems.sandboxfusion,
    "deepcoder": systems.deepcoder,
}


def _parsed(data: bytes, *, exact: bool = True) -> object:
    """Return the value of a text in JSON, if `exact` with numbers that no float holds as Decimals.

    Python's parser reads what `parsed_quickly` may read otherwise: that knows no Decimals either.

    Raises:
        ValueError: it is not JSON, or not `exact` and has a number beyond every float.
    """
    classes = data.translate(_CLASSES)
    is_long = LONG_FLOAT in classes
    has_huge = is_long or any(exponent in classes for exponent in HUGE_EXPONENTS)
    if has_huge and exact:
        return _parsed_slowly(data, is_long=is_long, parse_float=_floats_in)
    try:
        value = parsed_quickly(data)
    except ValueError:
        value = _parsed_slowly(data, is_long=is_long)
    if has_huge and _infinities(value) != data.count(b"Infinity"):
        raise ValueError(f"a number beyond every float in JSON of more than {EXACT_BYTES} bytes")
    return value


def _parsed_slowly(
    data: bytes, *, is_long: bool, parse_float: Callable[[str], Callable[[str], float | Decimal]] | None = None
) -> object:
    """Return the value of a text in JSON by Python's parser; `parse_float` makes what reads the floats of the text."""
    text = data.decode("utf-8")
    return json.loads(
        text,
        parse_int=_exact_integer if is_long and _LONG_INTEGER.search(data) else None,
        parse_float=parse_float and parse_float(text),
        object_pairs_hook=without_repeated_keys,
    )


def _infinities(value: object) -> int:
    """Return how often a value in JSON has an infinity, or the word."""
    try:
        return to_json(value).count(b"Infinity")
    except ValueError:  # half a surrogate pair
        return json.dumps(value, default=str).count("Infinity")


def _floats_in(text: str) -> Callable[[str], float | Decimal]:
    """Return `_finite_float`, prepared for the numbers of a text: a few calls for all of them instead of one each."""
    written = list(set(_FLOAT.findall(text)))
    values = list(map(float, written))
    is_plain = map(and_, map(bool, values), map(isfinite, values))
    return _Floats(compress(zip(written, values, strict=True), is_plain)).__getitem__


class _Floats(dict[str, float | Decimal]):
    """Numbers by their notation."""

    def __missing__(self, text: str) -> float | Decimal:
        value = self[text] = _finite_float(text)
        return value


def _exact_integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= INT_DIGITS else Decimal(digits)


def _finite_float(text: str) -> float | Decimal:
    """Return a float, or a Decimal for numbers such as 1e400 and 1e-400, which as floats are infinity and zero."""
    value = float(text)
    if isfinite(value) and value != 0.0:
        return value
    exact = parse(text.encode())
    if exact is None:
        return nan
    return value if exact == value else exact


def _compare_tokens(
    output: bytes,
    expected: bytes,
    is_right: Callable[[bytes, bytes], bool],
    trust_equal: bool,
    are_right: Callable[[Sequence[bytes], Sequence[bytes]], bool] | None = None,
) -> str | None:
    """Return a reason for the first wrong token, or None.

    With `trust_equal`, tokens with equal bytes are right without a call of `is_right`. `are_right` may accept many
    pairs in one call.
    """
    if trust_equal and (output == expected or _same_when_split(output, expected)):
        return None
    for base, (gots, wanteds) in enumerate(groups(words(output), words(expected))):
        if len(gots) == len(wanteds):
            doubtful = unequal(gots, wanteds) if trust_equal else (gots, wanteds)
            if not doubtful[0] or (are_right is not None and are_right(*doubtful)):
                continue
        for index, (got, wanted) in enumerate(zip_longest(gots, wanteds), base * GROUP):
            if (trust_equal and got == wanted) or (None not in (got, wanted) and is_right(got, wanted)):
                continue
            return _wrong_token(output, index, got, wanted)
    return None


def _wrong_token(output: bytes, index: int, got: bytes | None, expected: bytes | None) -> str:
    if got is None:
        return f"the output ends where {shown(expected or b'')} is expected"
    what = "the end of the output" if expected is None else shown(expected)
    return f"line {_line_of_token(output, index)}: got {shown(got)}, expected {what}"


def _same_when_split(output: bytes, expected: bytes) -> bool:
    return max(len(output), len(expected)) <= PIECE_BYTES and output.split() == expected.split()


def _line_of_token(output: bytes, index: int) -> int:
    token = next(islice(_TOKEN.finditer(output), index, None))
    return output.count(b"\n", 0, token.start()) + 1


def _trimmed_lines(data: bytes) -> Iterator[bytes]:
    """Yield lines without trailing white space (hence CRLF = LF), and without blank lines at the very end."""
    return (line.rstrip() for line in BytesIO(data.rstrip()))
