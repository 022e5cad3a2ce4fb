"""How other systems compare outputs, so that figures can be held against theirs. `modes` says what else is theirs.

These are their rules, but not their code, and not the parts that let a wrong answer pass by mistake: docs/modes.md
names what is left out. Where a system makes floats of numbers, so do the rules here; `checkers` compares exact values,
and is what to train with. As there, comparison is on bytes, linear in time, and stops at the first difference. White
space and the case of letters are ASCII's, and a number is in plain decimal notation: no infinity, no `1_000`.

Lines are counted as they are compared: without those that a rule leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import zip_longest
from math import isfinite

from sandbox_service.judging.numeric import is_number, same_number
from sandbox_service.judging.text import first_wrong_line, words
from sandbox_service.schema import Checker

# numpy.isclose's defaults, which prime_code and DeepCoder take
ABSOLUTE, RELATIVE = 1e-8, 1e-5
# SandboxFusion's float_equal
RELATIVE_TO_EXPECTED, LEAST_EXPECTED = 1e-5, 1e-10


def lcb(_: Checker, output: bytes, expected: bytes) -> str | None:
    """LiveCodeBench: the same lines but for white space around each, or line by line the same decimal numbers."""
    return first_wrong_line(_stripped_lines(output), _stripped_lines(expected), _same_decimals)


def _same_decimals(got: bytes, expected: bytes) -> bool:
    if got == expected:
        return True
    pairs = zip_longest(words(got), words(expected), fillvalue=b"")
    return all(_same_decimal(left, right) for left, right in pairs)


def _same_decimal(got: bytes, expected: bytes) -> bool:
    return is_number(got) and is_number(expected) and (got == expected or same_number(got, expected, None))


def sandboxfusion(_: Checker, output: bytes, expected: bytes) -> str | None:
    """SandboxFusion: the same lines but for case and white space around each; or, of a line, two numbers that are near.

    Near: |got − expected| / max(|expected|, 1e-10) < 1e-5, of integers too.
    """
    return first_wrong_line(_stripped_lines(output.lower()), _stripped_lines(expected.lower()), _same_or_near)


def _same_or_near(got: bytes, expected: bytes) -> bool:
    if got == expected:
        return True
    numbers = _floats(got, expected)
    if numbers is None:
        return False
    distance, size = abs(numbers[0] - numbers[1]), abs(numbers[1])
    return distance / max(size, LEAST_EXPECTED) < RELATIVE_TO_EXPECTED


def deepcoder(_: Checker, output: bytes, expected: bytes) -> str | None:
    """DeepCoder's TACO grader: in each line that is not blank the same words, or numbers that are close.

    Close as in `numpy.isclose`: |got − expected| ≤ 1e-8 + 1e-5 × |expected|, of integers too.
    """
    return first_wrong_line(_full(_stripped_lines(output)), _full(_stripped_lines(expected)), _close_words)


def _close_words(got: bytes, expected: bytes) -> bool:
    if got == expected:
        return True
    pairs = zip_longest(words(got), words(expected), fillvalue=b"")
    return all(left == right or _is_close(left, right) for left, right in pairs)


def prime_code(_: Checker, output: bytes, expected: bytes) -> str | None:
    """PRIME's grader in verl: the same text in one of four readings, or a number in every line, each of them close.

    The readings: the whole without white space around it; the same with the output's lines stripped as well; the
    output's lines as they are, against the expected ones stripped and without empty ones; and that without the output's
    empty lines. Numbers are close as in `numpy.isclose`, but not where all lines are digits.
    """
    output = output.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if output.strip() == expected.strip() or _alike(_stripped_lines(output), _lines(expected.strip())):
        return None
    if _alike(_lines(output), _wanted(expected)) or _alike(_full(_lines(output)), _wanted(expected)):
        return None
    if not _all_digits(output, expected):
        pairs = zip_longest(_full(_lines(output)), _wanted(expected), fillvalue=b"")
        if all(_is_close(got, wanted) for got, wanted in pairs):
            return None
    return _first_wrong(output, expected)


def _all_digits(output: bytes, expected: bytes) -> bool:
    """Lines that have no partner are not asked; a sign is no digit."""
    pairs = zip(_full(_lines(output)), _wanted(expected), strict=False)
    return all(got.isdigit() and wanted.isdigit() for got, wanted in pairs)


def _first_wrong(output: bytes, expected: bytes) -> str | None:
    """The first line that nothing excuses, or, of text with numbers among it, the first that is not the same."""
    excused = first_wrong_line(
        _full(_lines(output)), _wanted(expected), lambda got, wanted: got == wanted or _is_close(got, wanted)
    )
    return excused or first_wrong_line(_full(_lines(output)), _wanted(expected))


def _is_close(got: bytes, expected: bytes) -> bool:
    numbers = _floats(got, expected)
    return numbers is not None and abs(numbers[0] - numbers[1]) <= ABSOLUTE + RELATIVE * abs(numbers[1])


def _floats(got: bytes, expected: bytes) -> tuple[float, float] | None:
    """Both as floats, or None if one is no number, or too large to be a float."""
    if not (is_number(got.strip()) and is_number(expected.strip())):
        return None
    left, right = float(got), float(expected)
    return (left, right) if isfinite(left) and isfinite(right) else None


def _alike(left: Iterable[bytes], right: Iterable[bytes]) -> bool:
    return all(one == other for one, other in zip_longest(left, right))


def _lines(data: bytes) -> Iterator[bytes]:
    return (line.removesuffix(b"\n") for line in BytesIO(data))


def _stripped_lines(data: bytes) -> Iterator[bytes]:
    """Lines without white space around them, from the first to the last that is not blank."""
    return (line.strip() for line in BytesIO(data.strip()))


def _full(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line in lines if line)


def _wanted(expected: bytes) -> Iterator[bytes]:
    """The expected lines that are not empty, stripped (so that one of blanks is there, and empty)."""
    return (line.strip() for line in _full(_lines(expected)))
