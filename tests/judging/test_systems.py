"""The rules of other systems, compared in groups of lines, against the same rules line by line and word by word."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any

import pytest

from sandbox_service.judging.checkers import check
from sandbox_service.judging.text import GROUP
from sandbox_service.schema import Checker

TEXTS = 1500
TOKENS = [
    *"0 1 -0 +0 00 0.0 -0.0 .5 5. 0.50 5e-1 5E-1 1e400 2e400 1e-400 nan inf 1_0 0x10 1e + . x abc YES yes 1e5".split(),
    *"100000 100001 1000001 9007199254740993 9007199254740992 9007199254740992.0 0.1 0.10000000000000000555".split(),
    *"0.500001 0.5000011 2e308 1e-8 0.0000000101 1.00001 1.0000100001 0.99999".split(),
    *("0.5" + "0" * 1100, "1" * 1100, "1" * 1099 + "2"),
]
SEPARATORS = [" ", " ", "\n", "\n", "\n", "\t", "\r\n", "\n\n", "\n \n", "\x0b", " \n"]
NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

Rule = Callable[[bytes, bytes], bool]


def floats(got: bytes, wanted: bytes) -> tuple[float, float] | None:
    if not all(NUMBER.fullmatch(text.strip()) for text in (got, wanted)):
        return None
    pair = float(got), float(wanted)
    return pair if all(map(isfinite, pair)) else None


def is_close(got: bytes, wanted: bytes) -> bool:
    pair = floats(got, wanted)
    return pair is not None and abs(pair[0] - pair[1]) <= 1e-8 + 1e-5 * abs(pair[1])


def is_near(got: bytes, wanted: bytes) -> bool:
    pair = floats(got, wanted)
    return pair is not None and abs(pair[0] - pair[1]) / max(abs(pair[1]), 1e-10) < 1e-5


def same_decimal(got: bytes, wanted: bytes) -> bool:
    if not all(NUMBER.fullmatch(text) for text in (got, wanted)):
        return False
    return got == wanted or Decimal(got.decode()) == Decimal(wanted.decode())


def pairwise(rule: Rule, gots: list[bytes], wanteds: list[bytes]) -> bool:
    return len(gots) == len(wanteds) and all(map(rule, gots, wanteds))


def lcb(output: bytes, expected: bytes) -> bool:
    def line(got: bytes, wanted: bytes) -> bool:
        return got == wanted or pairwise(same_decimal, got.split(), wanted.split())

    return pairwise(line, stripped(output), stripped(expected))


def sandboxfusion(output: bytes, expected: bytes) -> bool:
    return pairwise(
        lambda got, wanted: got == wanted or is_near(got, wanted),
        stripped(output.lower()),
        stripped(expected.lower()),
    )


def deepcoder(output: bytes, expected: bytes) -> bool:
    def line(got: bytes, wanted: bytes) -> bool:
        return pairwise(lambda one, other: one == other or is_close(one, other), got.split(), wanted.split())

    return pairwise(line, *([each for each in data.split(b"\n") if each.strip()] for data in (output, expected)))


def prime_code(output: bytes, expected: bytes) -> bool:
    output = output.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    wanteds = [line.strip() for line in expected.split(b"\n") if line]
    gots = [line for line in output.split(b"\n") if line]
    digits = all(got.isdigit() and wanted.isdigit() for got, wanted in zip(gots, wanteds, strict=False))
    return (
        stripped(output) == (expected.strip().split(b"\n") if expected.strip() else [])
        or output.strip() == expected.strip()
        or output.removesuffix(b"\n").split(b"\n") == wanteds
        or gots == wanteds
        or (not digits and pairwise(is_close, gots, wanteds))
    )


def stripped(data: bytes) -> list[bytes]:
    return [line.strip() for line in data.strip().split(b"\n")] if data.strip() else []


def texts(draw: random.Random) -> tuple[bytes, bytes]:
    """An output and an expected output that are often the same but for the spelling."""
    tokens = draw.choices(TOKENS, k=draw.choice([1, 1, 2, 3, 8]))
    others = [token if draw.random() < 0.8 else draw.choice(TOKENS) for token in tokens]
    separators = draw.choices(SEPARATORS, k=len(tokens))
    closer = [one if draw.random() < 0.95 else draw.choice(SEPARATORS) for one in separators]
    respelled = [token + "0" if re.fullmatch(r"\d*\.\d*", token) and draw.random() < 0.5 else token for token in others]
    expected = "".join(token + separator for token, separator in zip(tokens, separators, strict=True))
    output = "".join(token + separator for token, separator in zip(respelled, closer, strict=True))
    if draw.random() < 0.05:
        count = draw.choice([GROUP - 1, GROUP, GROUP + 1])
        output, expected = "0.50 1\n" * (count + draw.choice([0, 0, 0, 1, -1])) + output, "0.5 1\n" * count + expected
    return output.encode(), expected.encode()


@pytest.mark.parametrize("rule", [lcb, sandboxfusion, deepcoder, prime_code], ids=lambda rule: rule.__name__)
def test_groups_of_lines_are_compared_as_line_by_line(rule: Rule) -> None:
    draw = random.Random(15)
    kind: Any = rule.__name__
    checker = Checker(type=kind)
    accepted = 0
    for _ in range(TEXTS):
        output, expected = texts(draw)
        is_right = rule(output, expected)
        accepted += is_right
        assert (check(checker, output, expected) is None) == is_right, (output[-300:], expected[-300:])
    assert TEXTS // 10 < accepted < TEXTS


@pytest.mark.parametrize("kind", ["lcb", "prime_code", "deepcoder"])
def test_one_long_line_is_compared_in_pieces(kind: Any) -> None:
    checker = Checker(type=kind)
    expected = b"0.5 " * 150_000
    output = b"0.50 " * 150_000
    assert (check(checker, output, expected) is None) == (kind != "prime_code")
    assert check(checker, output[:-5] + b"0.6", expected) is not None
    assert check(checker, output + b"1", expected) is not None
