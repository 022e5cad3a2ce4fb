"""Tests in the shapes that data sets share, as tests of ours.

Two families. *Columns*: `inputs` and `outputs` of the same length, and `fn_name` where a function is called (APPS,
TACO, AReaL, verl). *Records*: a list with a test each, which says its own type (LiveCodeBench, PrimeIntellect).
What cannot be told for certain is refused, with a reason: a test that is read wrongly pays for wrong programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

STDIN = ("stdin", "stdin_stdout", "stdio", "standard_input")
CALL = ("functional", "function_call", "call", "function")

Row: TypeAlias = Mapping[str, Any]

_INTEGER = re.compile(r"-?\d+")
_LISTS = re.compile(r"(?:(?:typing\.)?(?:Optional|List|list)\[)*")


def either(found: Any, function: str = "", starter: str = "") -> list[TestCase]:
    """Columns or records, whichever they are."""
    if isinstance(found, dict):
        return columns(found, function, starter)
    if found is not None and not isinstance(found, list):
        raise ValueError(f"tests should be a list or an object, and are a {type(found).__name__}")
    return records(found or [], function, starter)


def columns(found: Row, function: str = "", starter: str = "") -> list[TestCase]:
    """Tests from `{inputs, outputs, fn_name?}`."""
    inputs, outputs = _column(found, "inputs"), _column(found, "outputs")
    if len(inputs) != len(outputs):
        raise ValueError(f"there are {len(inputs)} inputs and {len(outputs)} outputs")
    if not inputs:
        raise ValueError("it has no tests")
    if function := str(found.get("fn_name") or function):
        results = [_result(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]
        if not any(isinstance(each, str) for each in inputs):
            results = unwrapped(results, starter, function)
        return calls(function, [_arguments(each) for each in inputs], results, starter)
    return [stdin(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]


def records(found: Sequence[Row], function: str = "", starter: str = "") -> list[TestCase]:
    """Tests from a list of `{input, output, type | testtype, fn_name?, metadata?}`."""
    if not found:
        raise ValueError("it has no tests")
    kinds = {_kind(each) for each in found}
    if len(kinds) > 1:
        raise ValueError("its tests are of two kinds, programs and calls, and no answer can be both")
    if kinds == {"stdin"}:
        return [stdin(each["input"], each["output"]) for each in found]
    names = {_function(each) or function for each in found}
    if names == {""}:
        raise ValueError("its tests call a function that has no name")
    if len(names) > 1:
        raise ValueError(f"its tests call several functions: {', '.join(sorted(names))}")
    named = names.pop()
    inputs = [_arguments(each["input"]) for each in found]
    outputs = [_result(each["input"], each["output"]) for each in found]
    if not any(isinstance(each["input"], str) for each in found):
        outputs = unwrapped(outputs, starter, named)
    return calls(named, inputs, outputs, starter)


def stdin(given: Any, wanted: Any) -> StdinTest:
    """Either may be a list of lines."""
    return StdinTest(input=lines(given), output=lines(wanted))


def lines(value: Any) -> str:
    """Text as it is, lines joined, a number as Python prints it."""
    if isinstance(value, (list, tuple)):
        return "\n".join(lines(each) for each in value)
    if isinstance(value, Mapping):
        raise ValueError("the input or output of a program is an object, which is no text")
    return "" if value is None else str(value)


def calls(function: str, inputs: Sequence[list[Any]], outputs: Sequence[Any], starter: str = "") -> list[TestCase]:
    """A call a test. Where the first argument had integers as keys, which JSON made text, a test program that has them.

    APPS' and TACO's graders turn them back as well. What is returned is compared with text for keys, as calls are.
    """
    pairs = list(zip(inputs, outputs, strict=True))
    mappings = [args[0] for args in inputs if args and isinstance(args[0], dict) and args[0]]
    if mappings and all(_INTEGER.fullmatch(key) for each in mappings for key in each):
        entry = f"Solution().{function}" if "class Solution" in starter else function
        return [_with_integer_keys(entry, args, wanted) for args, wanted in pairs]
    return [CallTest(function=function, args=args, output=wanted) for args, wanted in pairs]


def unwrapped(outputs: Sequence[Any], starter: str, function: str) -> list[Any]:
    """Results without the list of one that some data sets put round each.

    They are wrapped if every one is a list of one, unless the starter's annotation says that such lists are what is
    returned: `-> List[int]` has lists one deep.
    """
    if not all(isinstance(each, list) and len(each) == 1 for each in outputs):
        return list(outputs)
    said = annotated_depth(starter, function)
    if said is not None and max(map(_depth, outputs)) <= said:
        return list(outputs)
    return [each[0] for each in outputs]


def annotated_depth(starter: str, function: str) -> int | None:
    """How deep the lists are that a function says it returns; None if it does not say."""
    found = re.search(rf"def\s+{re.escape(function)}\s*\(.*?\)\s*->\s*([^:]+):", starter, re.DOTALL)
    if found is None:
        return None
    before = _LISTS.match(found[1].strip().strip("\"'"))
    return 0 if before is None else len(re.findall(r"[Ll]ist\[", before[0]))


def _column(found: Row, name: str) -> list[Any]:
    value = found.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{name} should be a list, and is a {type(value).__name__}")
    return value


def _kind(test: Row) -> str:
    """As the test says; one that does not say calls a function if it names one."""
    said = str(test.get("type") or test.get("testtype") or "").lower()
    if said in STDIN:
        return "stdin"
    if said in CALL or (not said and _function(test)):
        return "call"
    if said:
        raise ValueError(f"a test is of type {said!r}: {', '.join((*STDIN, *CALL))} are known")
    return "stdin"


def _function(test: Row) -> str:
    more = test.get("metadata")
    more = more if isinstance(more, Mapping) else {}
    return str(test.get("fn_name") or more.get("func_name") or more.get("fn_name") or "")


def _arguments(given: Any) -> list[Any]:
    """A list of arguments, or text with one in JSON a line."""
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        raise ValueError(f"arguments should be a list, or JSON a line, and are a {type(given).__name__}")
    return [_value(line, "an argument") for line in given.split("\n") if line.strip()]


def _result(given: Any, wanted: Any) -> Any:
    """Where arguments are text, so is the result."""
    return _value(wanted, "a result") if isinstance(given, str) and isinstance(wanted, str) else wanted


def _value(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise ValueError(f"{what} of a call is not JSON: {text[:40]!r}: {trouble}") from None


def _with_integer_keys(entry: str, args: list[Any], wanted: Any) -> AssertTest:
    first = {int(key): value for key, value in args[0].items()} if isinstance(args[0], dict) else args[0]
    given = ", ".join(map(repr, [first, *args[1:]]))
    json.dumps([args, wanted], allow_nan=False)  # NaN has no name in Python
    return AssertTest(
        entry_point=entry,
        code=(
            "import json\n\n\ndef check(candidate):\n"
            f"    got = json.loads(json.dumps(candidate({given})))\n"
            f"    assert got == {wanted!r}\n"
        ),
    )


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0
