"""Restores expected values of calls that pydantic cannot represent: 1e400 in JSON becomes infinity as a float.

Where a suite contains such a number, it is parsed again here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from math import inf, nan

from sandbox_service.judging.numeric import parse
from sandbox_service.schema import CallTest, TestCase

_HUGE = re.compile(rb"[0-9]\.?[eE]\+?[0-9]{3}|(?<![0-9])[0-9]{309}[0-9]*+\.")


def as_written(tests: Sequence[TestCase], body: bytes) -> list[TestCase]:
    """Return the tests of a suite, with finite numbers where floats would be infinite.

    Args:
        tests: the parsed tests.
        body: the suite's JSON.
    """
    if not any(isinstance(test, CallTest) for test in tests) or not _HUGE.search(body):
        return list(tests)
    written = json.loads(body, parse_float=_number)["tests"]
    return [
        test.model_copy(update={"output": given["output"]}) if isinstance(test, CallTest) else test
        for test, given in zip(tests, written, strict=True)
    ]


def _number(text: str) -> float | Decimal:
    """Return a float, a Decimal for a number beyond float, or NaN for one whose exponent is beyond Decimal."""
    value = float(text)
    if abs(value) != inf:
        return value
    exact = parse(text.encode())
    return nan if exact is None else exact
