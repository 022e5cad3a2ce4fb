"""Reads tests in the formats that data sets share.

There are two families. *Columns*: `inputs` and `outputs` of the same length, and `fn_name` for calls of a function
(APPS, TACO, AReaL, verl). *Records*: a list with one object per test, each with its own type (LiveCodeBench,
PrimeIntellect). Ambiguous tests are refused with a reason: a test that is misread rewards wrong programs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sandbox_service.errors.fields import kind_of
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

STDIN = ("stdin", "stdin_stdout", "stdio", "standard_input")
CALL = ("functional", "function_call", "call", "function")

Row: TypeAlias = Mapping[str, Any]

_INTEGER = re.compile("0|-?[1-9][0-9]*")  # as JSON writes an integer key: of `1` and `01` one would be lost
_LISTS = re.compile(r"(?:(?:typing\.)?(?:Optional|List|list)\[)*")


def either(found: Any, function: str = "", starter: str = "") -> list[TestCase]:
    """Return the tests of columns or records.

    Args:
        found: The columns or records.
        function: The name of the function, if the tests do not contain it.
        starter: The starter code, whose annotations describe the results.

    Raises:
        ValueError: The tests are invalid.
    """
    if isinstance(found, dict):
        return columns(found, function, starter)
    if found is not None and not isinstance(found, list):
        raise ValueError(f"tests should be a list or an object, but are {kind_of(found)}")
    return records(found or [], function, starter)


def columns(found: Row, function: str = "", starter: str = "") -> list[TestCase]:
    """Return the tests of `{inputs, outputs, fn_name?}`; see `either`."""
    inputs, outputs = _column(found, "inputs"), _column(found, "outputs")
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs but {len(outputs)} outputs")
    if not inputs:
        raise ValueError("there are no tests")
    if function := _named(found.get("fn_name")) or function:
        results = [_result(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]
        if not any(isinstance(each, str) for each in inputs):
            results = unwrapped(results, starter, function)
        return calls(function, [_arguments(each) for each in inputs], results, starter)
    return [stdin(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]


def records(found: Sequence[Row], function: str = "", starter: str = "") -> list[TestCase]:
    """Return the tests of a list of `{input, output, type | testtype, fn_name?, metadata?}`; see `either`."""
    if not found:
        raise ValueError("there are no tests")
    kinds = {_kind(each, function) for each in found}
    if len(kinds) > 1:
        raise ValueError("the tests mix programs and calls; use one kind")
    if kinds == {"stdin"}:
        return [stdin(each["input"], each["output"]) for each in found]
    names = {_function(each) or function for each in found}
    if names == {""}:
        raise ValueError("the tests call a function without a name (fn_name)")
    if len(names) > 1:
        raise ValueError(f"the tests call several functions: {', '.join(sorted(names))}; use one")
    named = names.pop()
    inputs = [_arguments(each["input"]) for each in found]
    outputs = [_result(each["input"], each["output"]) for each in found]
    if not any(isinstance(each["input"], str) for each in found):
        outputs = unwrapped(outputs, starter, named)
    return calls(named, inputs, outputs, starter)


def stdin(given: Any, wanted: Any) -> StdinTest:
    """Return the test of a program.

    Args:
        given: The input, as text or as a list of lines.
        wanted: The expected output, in the same forms.

    Raises:
        ValueError: The expected output is missing, or one of both is an object.
    """
    if wanted is None:
        raise ValueError("the expected output of a test is missing: it is null")
    return StdinTest(input=lines(given), output=lines(wanted))


def lines(value: Any) -> str:
    """Return a value as text: text unchanged, a list as joined lines, and a number as Python prints it.

    A list in a list is lines as well, as in TACO, if it is of texts: of numbers it may be one line.

    Args:
        value: The value.

    Raises:
        ValueError: It has several forms as text, such as a truth value, or none.
    """
    if isinstance(value, (list, tuple)):
        return "\n".join(_line(each, "a line of the input or output of a program") for each in value)
    return "" if value is None else _line(value, "the input or output of a program")


def _line(value: Any, what: str) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{what} should be text, but is {kind_of(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{what} should be text, but is a number that is not finite")
    return str(value)


def calls(function: str, inputs: Sequence[list[Any]], outputs: Sequence[Any], starter: str = "") -> list[TestCase]:
    """Return a test per call.

    JSON turns integer keys into text. If all keys of the first arguments are integers, they are converted back, as the
    graders of APPS and TACO do; the tests are then test programs. Results are compared with text as keys.

    Args:
        function: The name of the function.
        inputs: The arguments of each call.
        outputs: The result of each call.
        starter: The starter code, which tells whether the function is a method of Solution.
    """
    pairs = list(zip(inputs, outputs, strict=True))
    mappings = [args[0] for args in inputs if args and isinstance(args[0], dict) and args[0]]
    if mappings and all(_INTEGER.fullmatch(key) for each in mappings for key in each):
        entry = f"Solution().{function}" if "class Solution" in starter else function
        return [_with_integer_keys(entry, args, wanted) for args, wanted in pairs]
    return [CallTest(function=function, args=args, output=wanted) for args, wanted in pairs]


def unwrapped(outputs: Sequence[Any], starter: str, function: str) -> list[Any]:
    """Return the results without the list of one that some data sets put around each.

    Results count as wrapped if every one is a list of one, unless the starter's annotation says that the function
    returns such lists: `-> List[int]` has depth one.

    Args:
        outputs: The results.
        starter: The starter code.
        function: The name of the function.
    """
    if not all(isinstance(each, list) and len(each) == 1 for each in outputs):
        return list(outputs)
    depth = annotated_depth(starter, function)
    if depth is not None and max(map(_depth, outputs)) <= depth:
        return list(outputs)
    return [each[0] for each in outputs]


def annotated_depth(starter: str, function: str) -> int | None:
    """Return the depth of lists in the return annotation of a starter's function; None without an annotation."""
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
        raise ValueError(f"{name} should be a list, but is {kind_of(value)}")
    return value


def _kind(test: Row, function: str) -> str:
    """Return the type that the test declares. A test without a type is a call if it or the problem names a function."""
    kind = str(test.get("type") or test.get("testtype") or "").lower()
    if kind in STDIN:
        return "stdin"
    if kind in CALL or (not kind and (_function(test) or function)):
        return "call"
    if kind:
        raise ValueError(f"unknown type of a test {kind!r}; use one of {', '.join((*STDIN, *CALL))}")
    return "stdin"


def _function(test: Row) -> str:
    more = test.get("metadata")
    more = more if isinstance(more, Mapping) else {}
    return _named(test.get("fn_name") or more.get("func_name") or more.get("fn_name"))


def _named(name: Any) -> str:
    """Return a function's name without blanks around it, "" for none."""
    if name is not None and not isinstance(name, str):
        raise ValueError(f"the function's name (fn_name) should be text, but is {kind_of(name)}")
    return (name or "").strip()


def _arguments(given: Any) -> list[Any]:
    """Return the arguments, given as a list or as JSON text with one per line."""
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        raise ValueError(f"arguments should be a list, or JSON lines, but are {kind_of(given)}")
    return [_value(line, "an argument") for line in given.split("\n") if line.strip()]


def _result(given: Any, wanted: Any) -> Any:
    """Return the result, which is JSON text if the arguments are."""
    return _value(wanted, "a result") if isinstance(given, str) and isinstance(wanted, str) else wanted


def _value(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} of a call is not JSON: {text[:40]!r}: {error}") from None


def _with_integer_keys(entry: str, args: list[Any], wanted: Any) -> AssertTest:
    first = {int(key): value for key, value in args[0].items()} if isinstance(args[0], dict) else args[0]
    given = ", ".join(map(repr, [first, *args[1:]]))
    json.dumps([args, wanted], allow_nan=False)  # repr(nan) is not a Python expression
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
