r"""Reads the tests in SandboxFusion's and ScaleBox's `provided_data`.

This is a row of a data set. `config.dataset_type` or the data set's name tells which of their classes reads it
(`data_sets`); without these its fields do:

    CommonOJ    {"test": [{"input": {"stdin"}, "output": {"stdout"}}, …]}
    AutoEval    {"test": {"code", "asset"}, "labels": {"programming_language"}}
    MBPP        {"test_list": ["assert …", …]}, or "test", and {"labels": {"test_setup_code"}}
    HumanEval   {"test": "def check(candidate): …", "entry_point", "prompt"}, or "content" and "labels": {"entry_point"}
    MultiPL-E   {"tests": "…", "language", "prompt", "stop_tokens"}
    MHPP        {"test": "assert …\nassert …", "content"}
    LiveCodeBench  {"test": {"input_output": {"inputs", "outputs", "fn_name"}}}, or that packed as LiveCodeBench does
    ScaleBox    {"test_cases": [{"type", "input", "output", "fn_name"}, …]}, or one object with columns of these,
                or {"type": "assert"} with HumanEval's fields

Any field may be JSON text. All formats of `formats.ground_truth` are read as well. `row_tests` reads those whose tests
are programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import from_json

from sandbox_service.api.compat import data_sets, row_tests
from sandbox_service.api.compat.row_fields import Row, part, text, unpacked
from sandbox_service.api.compat.tasks import Task
from sandbox_service.errors.fields import kind_of
from sandbox_service.formats import cases, ground_truth
from sandbox_service.formats.modes import MODES
from sandbox_service.formats.unpacking import packed_value
from sandbox_service.schema import CallTest, StdinTest, TestCase


def read(
    data: Any, data_set: str = "", kind: str | None = None, language: str | None = None, *, fewshot: bool = False
) -> Task:
    """Return the task of a row.

    Args:
        data: The row.
        data_set: The name of its data set.
        kind: The kind of data set, one of `data_sets`' constants; None to tell by the fields.
        language: The language of the request.
        fewshot: The prompt showed tests.

    Raises:
        ValueError: The format is unknown or a field is invalid.
    """
    row = unpacked(data)
    if not isinstance(row, Mapping):
        raise ValueError(f"should be an object, but is {kind_of(row)}")
    if row.get("test_cases") is not None:
        return _scalebox(unpacked(row["test_cases"]), data_set, language)
    match kind or _kind(row):
        case data_sets.MBPP:
            return row_tests.mbpp(row, fewshot=fewshot)
        case data_sets.MHPP:
            return row_tests.mhpp(row)
        case data_sets.HUMAN_EVAL:
            return row_tests.human_eval(row, data_set, language)
        case data_sets.AUTO_EVAL:
            return row_tests.auto_eval(row)
        case data_sets.NCB:
            return row_tests.auto_eval(row, language="java" if "java" in data_set else "python", tag="Python")
        case data_sets.LIVE_CODE_BENCH:
            return _live_code_bench(row)
        case data_sets.COMMON_OJ:
            return Task({"tests": _common_oj(unpacked(row.get("test")))})
    return Task(ground_truth.read(row))


def _kind(row: Row) -> str | None:
    """Return the kind of data set that a row's fields show, or None."""
    test = unpacked(row.get("test"))
    if row.get("test_list") is not None:
        return data_sets.MBPP
    if isinstance(row.get("tests"), str) and row.get("prompt") is not None and isinstance(unpacked(row["tests"]), str):
        return data_sets.HUMAN_EVAL
    if test is None:
        return None
    if isinstance(test, Mapping):
        return data_sets.AUTO_EVAL
    if isinstance(test, str):
        return data_sets.HUMAN_EVAL if _names_candidate(row, test) else data_sets.MHPP
    is_text = isinstance(test, list) and bool(test) and all(isinstance(each, str) for each in test)
    return data_sets.MBPP if is_text else data_sets.COMMON_OJ


def _names_candidate(row: Row, test: str) -> bool:
    return bool(row.get("entry_point") or part(row, "labels").get("entry_point") or "def check" in test)


def _common_oj(test: Any) -> list[TestCase]:
    if not isinstance(test, list) or not test:
        raise ValueError("test should be a list of tests, an object or a test program")
    return [_streams(each) for each in test]


def _streams(case: Any) -> TestCase:
    if not isinstance(case, Mapping):
        raise ValueError(f"test: a test should be an object, but is {kind_of(case)}")
    if "input" not in case or "output" not in case:
        raise ValueError("test: a test should have an input and an output")
    given, wanted = part(case, "input"), part(case, "output")
    if set(given) - {"stdin"} or set(wanted) != {"stdout"}:
        raise ValueError("test: only an input of stdin and an output of stdout are supported, no files")
    return cases.stdin(given.get("stdin"), wanted["stdout"])


def _live_code_bench(row: Row) -> Task:
    """Return the task of a row of LiveCodeBench, whose tests are columns; outputs are compared as there."""
    packed = unpacked(row.get("test"))
    found = packed_value(packed) if isinstance(packed, str) else packed
    if not isinstance(found, Mapping) or found.get("input_output") is None:
        raise ValueError("test should have the field input_output, as LiveCodeBench's do")
    tests = cases.either(unpacked(found["input_output"]))
    mode = MODES["lcb"]
    return Task({"language": "python", "tests": tests, "checker": mode.checker, "limits": mode.limits})


def _scalebox(found: Any, data_set: str, language: str | None) -> Task:
    if isinstance(found, Mapping) and found.get("type") == "assert":
        return replace(row_tests.human_eval(found, data_set, language), prompt="", lacks_prompt=False)
    if isinstance(found, Mapping):
        found = _records(found)
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise ValueError("test_cases should be an object with input and output, or a list of tests")
    return Task({"tests": [_case(each, found[0]) for each in found]})


def _records(columns: Row) -> list[dict[str, Any]]:
    given, wanted = unpacked(columns.get("input")), unpacked(columns.get("output"))
    if not isinstance(given, list) or not isinstance(wanted, list) or len(given) != len(wanted):
        raise ValueError("test_cases: input and output should be lists of the same length")
    same = {name: value for name, value in columns.items() if name not in ("input", "output")}
    return [{**same, "input": one, "output": other} for one, other in zip(given, wanted, strict=True)]


def _case(case: Any, first: Any) -> TestCase:
    """Return a test. As in ScaleBox, the first test determines the type of all."""
    if not isinstance(case, Mapping) or not isinstance(first, Mapping):
        raise ValueError("test_cases: a test should be an object")
    if "input" not in case or "output" not in case:
        raise ValueError("test_cases: a test should have an input and an output")
    kind = first.get("type") or ("function_call" if first.get("fn_name") else "stdin_stdout")
    if case.get("type") not in (None, first.get("type")):
        raise ValueError("test_cases.type: all tests should have the type of the first, which decides")
    if kind == "stdin_stdout":
        return cases.stdin(case["input"], case["output"])
    if kind != "function_call":
        raise ValueError(f"test_cases.type: unknown type {kind!r}; use stdin_stdout, function_call or assert")
    return _call(case)


def _call(case: Row) -> TestCase:
    """Return a function call. The result is in a list of one, or is JSON text if the arguments are JSON lines."""
    function, args, wanted = text(case, "fn_name"), case["input"], case["output"]
    if not function:
        raise ValueError("test_cases.fn_name: the name of the function is missing")
    if isinstance(args, str):
        args = [from_json(line) for line in args.split("\n") if line.strip()]
        wanted = from_json(wanted) if isinstance(wanted, str) else wanted
    elif isinstance(wanted, list) and len(wanted) == 1:
        wanted = wanted[0]
    else:
        raise ValueError("test_cases.output: the result of a call should be in a list of one")
    return CallTest(function=function, args=args, output=wanted)


def describe_test(test: Any) -> dict[str, Any] | None:
    """Return the description of a test as the originals put it into an answer; None for a test program."""
    if isinstance(test, StdinTest):
        return {"input": {"stdin": test.input}, "output": {"stdout": test.outputs[0]}}
    if isinstance(test, CallTest):
        return {"type": "function_call", "fn_name": test.function, "input": test.args, "output": [test.output]}
    return None
