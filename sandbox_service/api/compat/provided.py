"""What SandboxFusion and ScaleBox call provided data, as tests of ours.

It is a row of a data set, and which class of theirs reads it is told by its fields:

    CommonOJ    {"test": [{"input": {"stdin"}, "output": {"stdout"}}, …]}
    AutoEval    {"test": {"code"}, "labels": {"programming_language"}}
    MBPP        {"test": ["assert …", …], "labels": {"test_setup_code"}}
    HumanEval   {"test": "def check(candidate): …", "entry_point", "prompt"}
    ScaleBox    {"test_cases": [{"type", "input", "output", "fn_name"}, …]}, or one object with columns of these,
                or {"type": "assert"} with HumanEval's fields

Any field may be JSON text. What else `truths` reads is read, too. Refused is what only makes sense in one program with
the answer: a test into which the answer is put (`#<INSERT>`), tests with files beside them, other languages' tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sandbox_service import cases, truths
from sandbox_service.schema import AssertTest, CallTest, StdinTest, TestCase

Row = Mapping[str, Any]

INSERT = "#<INSERT>"
# HumanEval's answers are run below imports of theirs; without those that are slow to load
IMPORTS = (
    "import collections, copy, datetime, functools, heapq, itertools, math, re, string, sys\n"
    "from collections import *\n"
    "from typing import *\n"
)


def read(data: Any) -> dict[str, Any]:
    """A submission's fields: `tests`, and perhaps `language`. Raises ValueError for what is not understood."""
    row = _unpacked(data)
    if not isinstance(row, Mapping):
        raise ValueError(f"should be an object, and is a {type(row).__name__}")
    if row.get("test_cases") is not None:
        return {"tests": _scalebox(_unpacked(row["test_cases"]))}
    if row.get("test") is not None:
        return _row(row, _unpacked(row["test"]))
    return truths.read(row)


def _row(row: Row, test: Any) -> dict[str, Any]:
    if isinstance(test, Mapping):
        return _auto_eval(test, _object(row, "labels"))
    if isinstance(test, str):
        return {"tests": [_human_eval(row, test)]}
    if not isinstance(test, Sequence) or not test:
        raise ValueError("test should be a list of tests, an object or a test program")
    if all(isinstance(each, str) for each in test):
        setup = _text(_object(row, "labels"), "test_setup_code")
        return {"tests": [AssertTest(code="\n".join((setup, *test)))]}
    return {"tests": [_streams(each) for each in test]}


def _streams(case: Any) -> TestCase:
    if not isinstance(case, Mapping):
        raise ValueError(f"test: a test should be an object, and is a {type(case).__name__}")
    given, wanted = _object(case, "input"), _object(case, "output")
    if set(given) - {"stdin"} or set(wanted) != {"stdout"}:
        raise ValueError("a test should have an input of stdin and an output of stdout, and no files")
    return cases.stdin(given.get("stdin"), wanted["stdout"])


def _auto_eval(test: Row, labels: Row) -> dict[str, Any]:
    code, language = _text(test, "code"), _text(labels, "programming_language") or "python"
    if not code:
        raise ValueError("test.code: there is no test program")
    if INSERT in code:
        raise ValueError(f"test.code: an answer cannot be put into its test, which has {INSERT}")
    if _unpacked(test.get("asset")):
        raise ValueError("test.asset: this service puts no files beside a program")
    if (runner := _text(labels, "execution_language") or language) != language:
        raise ValueError(f"labels.execution_language: {runner!r} runs nothing here; there is: {language}")
    return {"language": language, "tests": [AssertTest(code=code)]}


def _human_eval(row: Row, test: str) -> TestCase:
    name = _text(row, "entry_point")
    before, _, _ = _text(row, "prompt").rpartition(f"def {name}(")  # imports, and perhaps a helper
    return AssertTest(code=test, entry_point=name or None, prelude=IMPORTS + before)


def _scalebox(found: Any) -> list[TestCase]:
    if isinstance(found, Mapping) and found.get("type") == "assert":
        if "tests" in found:
            raise ValueError("test_cases.tests: tests that are appended to other languages' programs are not run here")
        return [_human_eval(found, _text(found, "test"))]
    if isinstance(found, Mapping):
        found = _records(found)
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise ValueError("test_cases should be an object with input and output, or a list of tests")
    return [_case(each, found[0]) for each in found]


def _records(columns: Row) -> list[dict[str, Any]]:
    given, wanted = _unpacked(columns.get("input")), _unpacked(columns.get("output"))
    if not isinstance(given, list) or not isinstance(wanted, list) or len(given) != len(wanted):
        raise ValueError("test_cases: input and output should be lists of the same length")
    same = {name: value for name, value in columns.items() if name not in ("input", "output")}
    return [{**same, "input": one, "output": other} for one, other in zip(given, wanted, strict=True)]


def _case(case: Any, first: Any) -> TestCase:
    """A test; as there, the first one says of which kind all are."""
    if not isinstance(case, Mapping) or not isinstance(first, Mapping):
        raise ValueError("test_cases: a test should be an object")
    if "input" not in case or "output" not in case:
        raise ValueError("test_cases: a test should have an input and an output")
    kind = first.get("type") or ("function_call" if first.get("fn_name") else "stdin_stdout")
    if kind == "stdin_stdout":
        return cases.stdin(case["input"], case["output"])
    if kind != "function_call":
        raise ValueError(f"test_cases.type: {kind!r}; there is: stdin_stdout, function_call, assert")
    return _call(case)


def _call(case: Row) -> TestCase:
    """A call. Its result is in a list of one; arguments that are text are JSON a line, and their result is JSON."""
    args, wanted = case["input"], case["output"]
    if isinstance(args, str):
        args = [from_json(line) for line in args.split("\n") if line.strip()]
        wanted = from_json(wanted) if isinstance(wanted, str) else wanted
    elif isinstance(wanted, list) and len(wanted) == 1:
        wanted = wanted[0]
    else:
        raise ValueError("test_cases.output: the result of a call should be in a list of one")
    return CallTest(function=_text(case, "fn_name"), args=args, output=wanted)


def about(test: Any) -> dict[str, Any] | None:
    """A test as theirs describe it in an answer."""
    if isinstance(test, StdinTest):
        return {"input": {"stdin": test.input}, "output": {"stdout": test.outputs[0]}}
    if isinstance(test, CallTest):
        return {"type": "function_call", "fn_name": test.function, "input": test.args, "output": [test.output]}
    return None


def _object(row: Row, name: str) -> Row:
    """A field that is an object, or JSON text with one; empty if it is not there."""
    found = _unpacked(row.get(name))
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ValueError(f"{name} should be an object, and is a {type(found).__name__}")
    return found


def _text(row: Row, name: str) -> str:
    found = row.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"{name} should be text, and is a {type(found).__name__}")
    return found or ""


def _unpacked(value: Any) -> Any:
    """The value of JSON text; other text, and anything else, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value
