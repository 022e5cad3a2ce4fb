"""Reads rows whose tests are programs: those of HumanEval, MultiPL-E, MBPP, MHPP, AutoEval and NaturalCodeBench.

The test program becomes an assert test, so that it runs apart from the answer. A program with a place for the answer
(`#<INSERT>`) is taken apart there, if the place is a line of its own; what is before it then belongs to both sides.
Files beside a program are written by both sides before they begin.
"""

from __future__ import annotations

import re
from typing import Any

from sandbox_service import languages
from sandbox_service.api.compat import data_sets, host_files
from sandbox_service.api.compat.row_fields import Row, part, text, texts, unpacked
from sandbox_service.api.compat.tasks import Task, stops_of
from sandbox_service.schema import AssertTest

INSERT = "#<INSERT>"
# the imports that precede HumanEval's answers, except those that load slowly
IMPORTS = (
    "import collections, copy, datetime, functools, heapq, itertools, math, re, string, sys\n"
    "from collections import *\n"
    "from typing import *\n"
)
PRELUDES = {
    "python": IMPORTS,
    "cpp": "#include <bits/stdc++.h>\n#include <cassert>\nusing namespace std;\n",
    "java": "import java.util.*;\nimport java.math.*;\nimport java.io.*;\nimport java.util.stream.*;\n",
}
# imports that MultiPL-E's prompts have whether they are needed or not; the libraries are not installed
_OPTIONAL = {
    "cpp": (re.compile(r"^#include\s*<boost/any\.hpp>[ \t]*$", re.MULTILINE), ("boost::", "any_cast")),
    "java": (
        re.compile(r"^import org\.javatuples\.\*;[ \t]*$", re.MULTILINE),
        ("Pair<", "Triplet<", "Quartet<", "Unit<"),
    ),
}
PYTEST = "pytest"
SECONDS_OF_BIG_TESTS = 60.0


def human_eval(row: Row, data_set: str, language: str | None) -> Task:
    """Return the task of a row of HumanEval's or MultiPL-E's form.

    Args:
        row: The row.
        data_set: The name of the data set, which may name the language.
        language: The language of the request, where neither row nor data set names one.

    Raises:
        ValueError: A field is invalid or missing.
    """
    labels = part(row, "labels")
    code = text(row, "tests") or text(row, "test")
    if not code:
        raise ValueError("test: the test program is missing")
    named = text(row, "language") or text(labels, "programming_language") or data_sets.language_in(data_set)
    name = languages.find(data_sets.language_of(named, language)).name
    prompt = text(row, "prompt") or text(row, "content")
    entry = text(row, "entry_point") or text(labels, "entry_point")
    stops = stops_of(texts(row, "stop_tokens") or texts(labels, "stop_tokens")) if name != "python" else ()
    if name == "python":
        before, _, _ = prompt.rpartition(f"def {entry}(") if entry else ("", "", "")  # imports and helpers
        test = AssertTest(code=code, entry_point=entry or None, prelude=IMPORTS + before)
    else:
        prompt, code = _without_optional(name, prompt, code)
        prompt, code = (each.replace("class Problem", "class Main") for each in (prompt, code))
        test = AssertTest(code=code, prelude=PRELUDES.get(name))
    fields = {"language": name, "tests": [test], **_limits(data_set)}
    return Task(fields, prompt=prompt, stops=stops, lacks_prompt=not prompt)


def _limits(data_set: str) -> dict[str, Any]:
    """Return the time limit of a data set that has one of its own, unless the request sets another."""
    return {"limits": {"cpu_seconds": SECONDS_OF_BIG_TESTS}} if data_set.lower() == "bigcodebench" else {}


def _without_optional(language: str, prompt: str, code: str) -> tuple[str, str]:
    """Return prompt and test without imports of libraries that are not there. Raise ValueError if they are needed."""
    pattern, signs = _OPTIONAL.get(language, (None, ()))
    found = pattern.search(prompt + "\n" + code) if pattern else None
    if found and any(sign in prompt or sign in code for sign in signs):
        raise ValueError(f"prompt: {found[0].strip()!r} needs a library that is not installed")
    return without_unused(language, prompt), without_unused(language, code)


def without_unused(language: str, code: str) -> str:
    """Return a program without an unused import that MultiPL-E's prompts have, of a library that is not there.

    Args:
        language: The name of the language.
        code: The program.
    """
    pattern, signs = _OPTIONAL.get(language, (None, ()))
    return code if pattern is None or any(sign in code for sign in signs) else pattern.sub("", code)


def mbpp(row: Row, *, fewshot: bool) -> Task:
    """Return the task of a row of MBPP: assertions in `test_list` or `test`.

    Args:
        row: The row.
        fewshot: Only the last assertion counts: the prompt showed the others.

    Raises:
        ValueError: A field is invalid or missing.
    """
    assertions = texts(row, "test_list") or texts(row, "test")
    if not assertions:
        raise ValueError("test_list: the assertions are missing")
    labels = part(row, "labels")
    setup = text(labels, "test_setup_code") or text(row, "test_setup_code")
    imports = texts(row, "test_imports")
    code = "\n".join((*imports, setup, *(assertions[-1:] if fewshot else assertions)))
    return Task({"language": "python", "tests": [AssertTest(code=code, prelude=setup or None)]}, plain=True)


def mhpp(row: Row) -> Task:
    """Return the task of a row of MHPP, whose test is a list of statements as text. Raise ValueError."""
    code = text(row, "test")
    if not code:
        raise ValueError("test: the test program is missing")
    return Task({"language": "python", "tests": [AssertTest(code=code, prelude=IMPORTS)]}, plain=True)


def auto_eval(row: Row, *, language: str | None = None, tag: str = "") -> Task:
    """Return the task of a row of AutoEval or NaturalCodeBench: a test program, and possibly files.

    Args:
        row: The row.
        language: The language of the program, if the row does not name it.
        tag: The name of brackets around answers.

    Raises:
        ValueError: A field is invalid, missing or not supported.
    """
    test, labels = part(row, "test"), part(row, "labels")
    code = text(test, "code")
    if not code:
        raise ValueError("test.code: the test program is missing")
    name = languages.find(data_sets.language_of(text(labels, "programming_language"), language)).name
    _check_runner(text(labels, "execution_language"), name)
    before, after = _around_answer(code)
    files = host_files.decoded(unpacked(test.get("asset")) or {}, "test.asset")
    if files and name != "python":
        raise ValueError(f"test.asset: files are for python, not for {name}")
    prelude = host_files.writer(files) + before if files else before
    made = AssertTest(code=after, prelude=prelude or None)
    return Task({"language": name, "tests": [made]}, tag=tag)


def _check_runner(runner: str, language: str) -> None:
    """Raise ValueError if a row's tests need another program than its language; pytest's tests run without pytest."""
    if not runner or (runner == PYTEST and language == "python"):
        return
    if data_sets.language_of(runner) not in (language, *languages.find(language).aliases):
        raise ValueError(f"labels.execution_language: {runner[:40]!r} is not supported; use {language}")


def _around_answer(code: str) -> tuple[str, str]:
    """Return the parts of a test program before and behind the answer. Raise ValueError if it surrounds the answer."""
    if INSERT not in code:
        return "", code
    before, _, after = code.partition(INSERT)
    whole_line = before[-1:] in ("", "\n") and after[:1] in ("", "\n", "\r")
    if not whole_line or INSERT in after:
        raise ValueError(f"test.code: {INSERT} is supported once, on a line of its own at the outermost level")
    return before, after
