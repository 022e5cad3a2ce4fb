"""Checkers that follow the rules of other systems, for comparable figures; `modes` holds their other settings.

The rules are theirs; the code is not, and neither are the parts that accept a wrong answer by mistake: docs/modes.md
lists the differences. Where a system converts numbers to float, so does the checker; `checkers` compares exact values
and is the one to train with. Comparison is on bytes, linear in time, and stops at the first difference. White space and
letter case are ASCII's, and numbers are in plain decimal notation: no infinity, no `1_000`.

Lines are numbered as they are compared, without those that a rule ignores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain
from math import isfinite
from operator import methodcaller

from sandbox_service.judging.numeric import are_numbers, floats_of, same_numbers
from sandbox_service.judging.text import PIECE_BYTES, first_wrong_line, groups, line_pieces, unequal, words
from sandbox_service.schema import Checker

# numpy.isclose's defaults, which prime_code and DeepCoder take
ABSOLUTE, RELATIVE = 1e-8, 1e-5
# SandboxFusion's float_equal
RELATIVE_TO_EXPECTED, LEAST_EXPECTED = 1e-5, 1e-10

_LINE_ENDS = re.compile(rb"\n\n++")
_VISIBLE_LINE = re.compile(rb"\S[^\n]*+")
_OF_NUMBERS = b"0123456789.eE+- \t\n\r\x0b\x0c"


def lcb(_: Checker, output: bytes, expected: bytes) -> str | None:
    """LiveCodeBench: equal lines after stripping, or, line by line, equal decimal numbers.

    Args:
        output: the program's output.
        expected: the expected output.

    Returns:
        None if the output is right, else a short reason.
    """
    return first_wrong_line(_stripped_lines(output), _stripped_lines(expected), _same_decimals)


def _same_decimals(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    return _same_words(gots, wanteds, _same_decimal_words)


def _same_decimal_words(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    differing = unequal(gots, wanteds)
    return (len(differing[0]) == len(gots) or are_numbers(gots)) and same_numbers(*differing, tolerance=None)


def sandboxfusion(_: Checker, output: bytes, expected: bytes) -> str | None:
    """SandboxFusion: equal lines after stripping and lowering; or a line that is a number near the expected one.

    Near: |got − expected| / max(|expected|, 1e-10) < 1e-5, for integers too.

    Args:
        output: the program's output.
        expected: the expected output.

    Returns:
        None if the output is right, else a short reason.
    """
    return first_wrong_line(_stripped_lines(output.lower()), _stripped_lines(expected.lower()), _near_numbers)


def _near_numbers(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    return _pairwise(_is_near, gots, wanteds)


def _is_near(got: float, expected: float) -> bool:
    return abs(got - expected) / max(abs(expected), LEAST_EXPECTED) < RELATIVE_TO_EXPECTED


def deepcoder(_: Checker, output: bytes, expected: bytes) -> str | None:
    """DeepCoder's TACO grader: the same words in each line that is not blank, or close numbers.

    Close as in `numpy.isclose`: |got − expected| ≤ 1e-8 + 1e-5 × |expected|, for integers too.

    Args:
        output: the program's output.
        expected: the expected output.

    Returns:
        None if the output is right, else a short reason.
    """
    return first_wrong_line(_visible_lines(output), _visible_lines(expected), _close_words)


def _close_words(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    return _same_words(gots, wanteds, _equal_or_close)


def _equal_or_close(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    return _close_numbers(*unequal(gots, wanteds))


def prime_code(_: Checker, output: bytes, expected: bytes) -> str | None:
    """PRIME's grader in verl: equal text in one of four readings, or a close number in every line.

    The readings: the whole text stripped; the same with the output's lines stripped as well; the output's lines
    unchanged, against the expected ones stripped and without empty ones; and that without the output's empty lines.
    Numbers are close as in `numpy.isclose`, but not if all lines are digits.

    Args:
        output: the program's output.
        expected: the expected output.

    Returns:
        None if the output is right, else a short reason.
    """
    output = output.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if output.strip() == expected.strip() or _alike(_stripped_lines(output), _lines(expected.strip())):
        return None
    if _alike(_lines(output), _expected_lines(expected)):
        return None
    output = _LINE_ENDS.sub(b"\n", output)  # the lines below leave empty lines out, several times over
    if _alike(_full_lines(output), _expected_lines(expected)):
        return None
    reason = first_wrong_line(_full_lines(output), _expected_lines(expected), _close_numbers)
    if reason is not None:
        return reason
    if not _all_digits(output, expected) and _all_floats(_full_lines(output)):
        return None
    return first_wrong_line(_full_lines(output), _expected_lines(expected))


def _all_digits(output: bytes, expected: bytes) -> bool:
    """Return True if all paired lines are digits; a sign is not a digit."""
    pairs = zip(_full_lines(output), _expected_lines(expected), strict=False)
    return all(got.isdigit() and wanted.isdigit() for got, wanted in pairs)


def _all_floats(lines: Iterable[bytes]) -> bool:
    return all(_floats(group) is not None for group, _ in groups(lines, ()))


def _close_numbers(gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    return _pairwise(_is_close, gots, wanteds)


def _is_close(got: float, expected: float) -> bool:
    return abs(got - expected) <= ABSOLUTE + RELATIVE * abs(expected)


def _pairwise(is_right: Callable[[float, float], bool], gots: Sequence[bytes], wanteds: Sequence[bytes]) -> bool:
    """Return True if all texts are numbers that a float can hold, each right beside the expected one."""
    lefts, rights = _floats(gots), _floats(wanteds)
    if lefts is None or rights is None:
        return False
    return lefts == rights or all(map(is_right, lefts, rights))


def _floats(texts: Sequence[bytes]) -> list[float] | None:
    """Return all as floats; None if one is no number (white space around it is ignored) or too large for a float."""
    if b"".join(texts).translate(None, _OF_NUMBERS):  # other notations that float takes have other characters
        return None
    values = floats_of(texts)
    return values if values is not None and all(map(isfinite, values)) else None


def _same_words(
    gots: Sequence[bytes], wanteds: Sequence[bytes], are_same: Callable[[Sequence[bytes], Sequence[bytes]], bool]
) -> bool:
    """Return True if the lines have as many words, pairwise the same."""
    if sum(map(len, gots)) + sum(map(len, wanteds)) > PIECE_BYTES:
        return all(
            len(left) == len(right) and are_same(left, right)
            for got, wanted in zip(gots, wanteds, strict=True)
            for left, right in groups(words(got), words(wanted))
        )
    if b"" not in gots and b"" not in wanteds:  # most lines are one word: one call splits all of them
        found, sought = b" ".join(gots).split(), b" ".join(wanteds).split()
        if len(found) == len(gots) and len(sought) == len(wanteds):
            return are_same(found, sought)
    lefts, rights = list(map(bytes.split, gots)), list(map(bytes.split, wanteds))
    return list(map(len, lefts)) == list(map(len, rights)) and are_same(
        list(chain.from_iterable(lefts)), list(chain.from_iterable(rights))
    )


def _alike(left: Iterable[bytes], right: Iterable[bytes]) -> bool:
    return all(one == other for one, other in groups(left, right))


def _lines(data: bytes) -> Iterator[bytes]:
    return map(methodcaller("removesuffix", b"\n"), BytesIO(data))


def _stripped_lines(data: bytes) -> Iterator[bytes]:
    """Yield stripped lines, from the first to the last that is not blank."""
    return map(bytes.strip, BytesIO(data.strip()))


def _full_lines(data: bytes) -> Iterator[bytes]:
    """Yield lines that are not empty."""
    return filter(None, chain.from_iterable(piece.split(b"\n") for piece in line_pieces(data)))


def _visible_lines(data: bytes) -> Iterator[bytes]:
    """Yield lines that are not blank, stripped."""
    return map(bytes.rstrip, _found(_VISIBLE_LINE, data))


def _expected_lines(expected: bytes) -> Iterator[bytes]:
    """Yield the expected lines that are not empty, stripped; a line of blanks yields an empty line."""
    return map(bytes.strip, _full_lines(expected))


def _found(line: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    """Yield all that a pattern finds, which must not go beyond one line."""
    return chain.from_iterable(map(line.findall, line_pieces(data)))
