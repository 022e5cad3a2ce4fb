"""Reads the test cases in a tester's answer. The form is strict: what has another form is no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

CASE_BYTES = 1 << 16  # of input and output together
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)

Case = Mapping[str, str]  # a stdin test of sandbox_service.schema


def parse_cases(text: str, count: int) -> list[Case] | None:
    """Return the `count` test cases of an answer, None if its form is not a JSON array of {"input": text, "output":
    text}.

    The array is the last fenced block, or the whole answer, without a part that ends with `</think>`.
    """
    answer = text.rpartition("</think>")[2]
    blocks = FENCE.findall(answer)
    try:
        found = json.loads(blocks[-1] if blocks else answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or len(found) != count or not all(map(_is_case, found)):
        return None
    return [{"type": "stdin", "input": each["input"], "output": each["output"]} for each in found]


def _is_case(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"input", "output"}:
        return False
    if not all(isinstance(part, str) for part in value.values()):
        return False
    try:
        return len("".join(value.values()).encode()) <= CASE_BYTES
    except UnicodeEncodeError:  # an unpaired surrogate
        return False
