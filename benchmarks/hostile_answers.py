"""Measures the CPU time that the trusted side takes to read, compare or extract hostile answers, by family.

Each family makes an answer of any size. This work is outside the submission's own limits, so no family may cost more
than a small multiple of reading its bytes. `tests/judging/test_cost.py` runs the same families at a smaller size.

    python -m benchmarks hostile_answers
    python -m benchmarks hostile_answers --mib 1 --family extraction
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from sandbox_service.judging import mathematics, standard_checkers
from sandbox_service.judging.checkers import check_any
from sandbox_service.judging.extraction import extract
from sandbox_service.judging.values import MOST_OBJECTS, check_result
from sandbox_service.sandbox.file_uses import native_uses_files, python_uses_files
from sandbox_service.schema import Checker, ExtractionRule, JudgeProgram
from sandbox_service.schema.tests import MOST_JUDGE_BYTES

MIB = 1 << 20
FULL_BYTES = 16 * MIB

CheckerType = Literal[
    "exact", "stripped", "lines", "tokens", "numbers", "json", "unordered_lines",
    "lcb", "prime_code", "sandboxfusion", "deepcoder",
]  # fmt: skip
CHECKERS: tuple[CheckerType, ...] = get_args(CheckerType)
RULES: tuple[ExtractionRule, ...] = ("all_blocks", "answer_tag", "boxed")
CALL_CHECKERS: tuple[CheckerType, ...] = ("tokens", "unordered_lines")

HASH_MODULUS = (1 << 61) - 1  # k times this has the hash 0
SMALL = "1 2 3\n4 5 6\n"


@dataclass(frozen=True)
class Family:
    """Answers of one kind: `make` returns one of a given size in bytes, `judge` does what the slot does with it."""

    group: str
    name: str
    make: Callable[[int], bytes]
    judge: Callable[[bytes], object]

    @property
    def id(self) -> str:
        """Readable and unique name."""
        return f"{self.group}: {self.name}"


def seconds(family: Family, size: int) -> float:
    """Return the CPU seconds that the trusted side takes for an answer of about `size` bytes."""
    answer = family.make(size)
    begin = time.process_time()
    family.judge(answer)
    return time.process_time() - begin


def families() -> Iterator[Family]:
    """Return all families, grouped by what is judged."""
    yield from _outputs()
    yield from _long_expectations()
    yield from _long_outputs()
    yield from _json_outputs()
    yield from _long_json()
    yield from _results()
    yield from _mathematics()
    yield from _completions()
    yield from _sources()


def filled(unit: bytes, end: bytes = b"", begin: bytes = b"") -> Callable[[int], bytes]:
    """Return a maker of answers that repeat `unit` up to the size, between `begin` and `end`."""
    return lambda size: begin + unit * max(1, size // len(unit)) + end


def printed(checker: Checker, *expected: str) -> Callable[[bytes], object]:
    """Return a judge of a program's output."""
    return lambda output: check_any(checker, output, expected)


def returned(checker: Checker, expected: object) -> Callable[[bytes], object]:
    """Return a judge of a call's result."""
    return lambda line: check_result(checker, line, expected)


def completed(rule: ExtractionRule) -> Callable[[bytes], object]:
    """Return a judge of a model's completion."""
    return lambda completion: extract(completion.decode(), rule, "python")


# --- outputs of programs, against a short expected output


OUTPUTS: dict[str, Callable[[int], bytes]] = {
    "line ends": filled(b"\n"),
    "line ends, then the answer": filled(b"\n", SMALL.encode()),
    "the answer, then line ends": filled(b"\n", begin=SMALL.encode()),
    "carriage returns": filled(b"\r"),
    "blanks": filled(b" "),
    "blanks, then the answer": filled(b" ", SMALL.encode()),
    "lines of a blank": filled(b" \n"),
    "the answer between lines of a blank": filled(b" \n", b"4 5 6\n" + b"\n", b"1 2 3\n"),
    "form feeds": filled(b"\x0c"),
    "zero bytes": filled(b"\0"),
    "one long word": filled(b"x"),
    "one long number": filled(b"1"),
    "one long decimal": filled(b"1", begin=b"1."),
    "leading zeros": filled(b"0", b"1"),
    "zeros after the point": filled(b"0", begin=b"1."),
    "points": filled(b"."),
    "signs": filled(b"+-"),
    "exponents": filled(b"1e999999999 "),
    "one long exponent": filled(b"9", begin=b"1e"),
    "short words": filled(b"a "),
    "short lines": filled(b"1\n"),
    "the answer, again and again": filled(SMALL.encode()),
    "high bytes": filled(b"\xff"),
    "half characters": filled(b"\xed\xa0\x80"),
    "sharp s": filled("ß".encode()),
    "letters to be lowered": filled(b"A"),
}


def _outputs() -> Iterator[Family]:
    for kind in CHECKERS:
        if kind == "json":
            continue
        given = {} if kind in ("lcb", "prime_code", "sandboxfusion", "deepcoder") else {"float_tolerance": 1e-6}
        checker = Checker(type=kind, ignore_case=True, **given)
        for name, make in OUTPUTS.items():
            yield Family(kind, name, make, printed(checker, SMALL, "7"))


# --- outputs against an expected one of a megabyte, of which they are a costly near miss


def _long_expectations() -> Iterator[Family]:
    zeros = b"0.5\n" * (MIB // 4)
    near = {
        "other spelling": filled(b"0.50\n"),
        "other spelling, exponents": filled(b"5e-1\n"),
        "long spelling": filled(b"0.5" + b"0" * 60 + b"\n"),
        "the same but the last": lambda _: zeros[:-4] + b"0.7\n",
        "the same in one line": filled(b"0.50 "),
        "blank lines between": filled(b"0.5\n\n \n"),
    }
    for kind in CHECKERS:
        given = {} if kind in ("lcb", "prime_code", "sandboxfusion", "deepcoder") else {"float_tolerance": 1e-6}
        checker = Checker(type=kind, **given)
        for name, make in near.items():
            yield Family(f"{kind}, 1 MiB expected", name, make, printed(checker, zeros.decode()))


# --- outputs against an expected one with as many numbers

# a number of the expected output, and of the answer
LONG_OUTPUTS = {
    "exponents": (b"0.5", b"5e-1"),
    "long exponents": (b"0.0", b"1e-999"),
    "at the edge of the tolerance": (b"0.5", b"0.500001"),
    "at the edge, 16 digits": (b"0.5123456789012345", b"0.5123466789012345"),
}


def _long_outputs() -> Iterator[Family]:
    for kind in CHECKERS:
        if kind in ("exact", "stripped", "lines", "json", "unordered_lines"):
            continue
        given = {} if kind in ("lcb", "prime_code", "sandboxfusion", "deepcoder") else {"float_tolerance": 1e-6}
        for name, (wanted, got) in LONG_OUTPUTS.items():
            judge = _judged_by_lines(Checker(type=kind, **given), wanted)
            yield Family(f"{kind}, as many expected", name, filled(got + b"\n"), judge)


def _judged_by_lines(checker: Checker, wanted: bytes) -> Callable[[bytes], object]:
    """Return a judge that expects as many lines as the answer has."""
    return lambda output: check_any(checker, output, [(wanted + b"\n").decode() * output.count(b"\n")])


# --- JSON, printed or returned


NESTED_JSON: dict[str, Callable[[int], bytes]] = {
    "open brackets": filled(b"["),
    "open braces": filled(b'{"a":'),
    "empty lists": filled(b"[],", b"0]", b"["),
    "empty objects": filled(b"{},", b"0]", b"["),
    "small integers": filled(b"1,", b"0]", b"["),
    "deep lists in a list": filled(b"[" * 500 + b"]" * 500 + b",", b"0]", b"["),
    "long integers": filled(b"7" * 4000 + b",", b"0]", b"["),
    "integers that are too long": filled(b"7" * 5000 + b",", b"0]", b"["),
    "one long integer": filled(b"7"),
    "one long decimal": filled(b"7", begin=b"0."),
    "one long exponent": filled(b"7", begin=b"1e"),
    "huge exponents": filled(b"1e999999999,", b"0]", b"["),
    "one long text": filled(b"x", b'"', b'"'),
    "one text of escapes": filled(b"\\ud800", b'"', b'"'),
    "texts": filled(b'"a",', b"0]", b"["),
    "one key again and again": filled(b'"a":0,', b'"b":0}', b"{"),
    "white space": filled(b" ", b"1"),
    "commas in a text": filled(b",", b'"', b'"'),
    "brackets in a text": filled(b"[", b'"', b'"'),
    "quotes and brackets in a text without an end": filled(b"[" + b'\\"' * 15, begin=b'["'),
    "quotes in a text": filled(b'\\"', b'"', b'"'),
    "no JSON": filled(b"x"),
    "NaN": filled(b"NaN,", b"0]", b"["),
}


def many_keys(size: int) -> bytes:
    """Return an object with a distinct key every 16 bytes."""
    return b"{" + b",".join(b'"%09d":0' % number for number in range(size // 14)) + b"}"


def _json_outputs() -> Iterator[Family]:
    for expected in ("[1, 2, 3]", json.dumps(list(range(50_000))), json.dumps([[0]] * 25_000)):
        checker = Checker(type="json", float_tolerance=1e-6)
        group = f"json, {len(expected)} bytes expected"
        for name, make in {**NESTED_JSON, "many keys": many_keys}.items():
            yield Family(group, name, make, printed(checker, expected))


# an element of the expected JSON, and of the answer
LONG_JSON = {
    "other spelling": (b"0.5", b"0.50"),
    "at the edge of the tolerance": (b"0.5", b"0.500001"),
    "at the edge, all digits": (b"0.5123456789012345", b"0.5123466789012345"),
    "lists in other spelling": (b"[1]", b"[1.0]"),
    "objects in other spelling": (b'{"a":1}', b'{"a":1.0}'),
    "true beside numbers": (b"[true,1]", b"[true,1.0]"),
    "near integers": (b"1", b"1.000001"),
    "keys in another order": (b'{"a":1,"b":1}', b'{"b":1.0,"a":1}'),
    "keys in another order, and true": (b'{"a":1,"b":true}', b'{"b":true,"a":1.0}'),
    "lists beside numbers": (b"1,[2.5]", b"1,[2.500001]"),
    "deep lists": (b"[[[[[[[[1]]]]]]]]", b"[[[[[[[[1.0]]]]]]]]"),
    "deep lists, 40 levels": (b"[" * 40 + b"1.5" + b"]" * 40, b"[" * 40 + b"1.500001" + b"]" * 40),
    "deep lists of texts": (b'[[[[[[[["a"]]]]]]]]', b'[[[[[[[["A"]]]]]]]]'),
    "deep lists of texts and numbers": (b'[[[[[[[["a"]]]]]]],1]', b'[[[[[[[["A"]]]]]]],1.0]'),
    "deep lists of true": (b"[[[[[[[[true]]]]]]]]", b"[[[[[[[[ true]]]]]]]]"),
    "deep empty lists": (b"[[[[[[[[]]]]]]]]", b"[[[[[[[[ ]]]]]]]]"),
    "empty lists": (b"[]", b"[ ]"),
    "deep lists, another value": (b"[[[[[[[[1]]]]]]]]", b"[[[[[[[[2]]]]]]]]"),
    "deep lists, another depth": (b"[[[[[[[[1]]]]]]]]", b"[[[[[[[1]]]]]]]"),
    "trees of lists": (b"[[[1],[1]],[[1],[1]]]", b"[[[1],[1]],[[1],[1.0]]]"),
    "deep objects": (b'{"a":{"a":{"a":{"a":1}}}}', b'{"a":{"a":{"a":{"a":1.0}}}}'),
    "deep objects and lists": (b'{"a":[{"a":[{"a":[1]}]}]}', b'{"a":[{"a":[{"a":[1.0]}]}]}'),
    "letters in another case": (b'"a"', b'"A"'),
    "exponents": (b"1", b"1e0"),
    "huge exponents": (b"1e300", b"1.0e300"),
    "beyond every float": (b"1e999", b"1.0e999"),
    "near zero": (b"0.0", b"1e-999"),
    "near zero in objects": (b'{"a":0.0}', b'{"a":1e-999}'),
    "keys in another order, deep": (b'{"a":{"a":{"a":1,"b":1}}}', b'{"a":{"a":{"b":1.0,"a":1}}}'),
}


def _long_json() -> Iterator[Family]:
    for name, (wanted, got) in LONG_JSON.items():
        yield Family("json, as many expected", name, _many_elements(got), _judged_by_elements(wanted, got))
        yield _returned_elements(name, wanted, got)
    objects = filled(b'{"a":1},', b"0]", b"[")
    yield Family("json, as many expected", "too many objects", objects, _judged_by_elements(b'{"a":1}', b'{"a":1}'))
    last = filled(b"0.5,", b"0.7]", b"[")
    yield Family("json, as many expected", "wrong at the end", last, _judged_by_elements(b"0.5", b"0.5"))


def _many_elements(element: bytes) -> Callable[[int], bytes]:
    """Return a maker of lists of an element, with no more objects than are compared."""
    make, objects = filled(element + b",", element + b"]", b"["), element.count(b"{")
    return lambda size: make(min(size, (MOST_OBJECTS // objects - 1) * (len(element) + 1)) if objects else size)


def _judged_by_elements(wanted: bytes, got: bytes) -> Callable[[bytes], object]:
    """Return a judge of an output that expects as many elements as the answer has."""
    checker = Checker(type="json", float_tolerance=1e-6, ignore_case=True)
    return lambda output: check_any(checker, output, [_as_many(wanted, got, output).decode()])


def _returned_elements(name: str, wanted: bytes, got: bytes) -> Family:
    """Return a family of results. The expected value, which a slot has parsed before, is made with the answer."""
    checker = Checker(type="tokens", float_tolerance=1e-6, ignore_case=True)
    expected: list[object] = []

    def make(size: int) -> bytes:
        answer = _many_elements(got)(size)
        expected[:] = [json.loads(_as_many(wanted, got, answer))]
        return answer

    return Family("call, as many expected", name, make, lambda line: check_result(checker, line, expected[0]))


def _as_many(wanted: bytes, got: bytes, answer: bytes) -> bytes:
    count = (answer.count(b",") + 1) // (got.count(b",") + 1)
    return b"[" + b",".join([wanted] * count) + b"]"


# --- results of calls


def set_of(element: Callable[[int], object], width: int) -> Callable[[int], bytes]:
    """Return a maker of tagged sets, whose elements take about `width` bytes each."""
    return lambda size: json.dumps({"__set__": [element(number) for number in range(size // width)]}).encode()


def nested_sets(size: int) -> bytes:
    """Return sets in sets, 400 deep, with a wide one in the middle."""
    inside = b",".join([b"1"] * (size // 2))
    return b'{"__set__":[' * 400 + inside + b"]}" * 400


RESULTS: dict[str, Callable[[int], bytes]] = {
    **NESTED_JSON,
    "many keys": many_keys,
    "a set of integers with one hash": set_of(lambda number: number * HASH_MODULUS, 26),
    "a set of floats with one hash": set_of(lambda number: float(number % 700) * float(HASH_MODULUS), 24),
    "a set of lists": set_of(lambda number: [number, [number]], 20),
    "sets in sets": nested_sets,
    "tags": filled(b'{"__set__":[]},', b"0]", b"["),
}


def _results() -> Iterator[Family]:
    expected: dict[str, object] = {
        "3 numbers": [1, 2, 3],
        "100,000 numbers": list(range(100_000)),
        "32 lists of zeros": [[0.0] * 3000] * 32,
        "50,000 lists": [[0]] * 50_000,
        "a text": "x" * 100_000,
    }
    for kind in CALL_CHECKERS:
        checker = Checker(type=kind, float_tolerance=1e-6, ignore_case=True)
        for title, value in expected.items():
            if kind == "tokens" and title != "3 numbers":
                continue
            for name, make in {**RESULTS, "nearly right": _nearly(value)}.items():
                group = f"call ({kind}), {title} expected"
                yield Family(group, name, make, returned(checker, value))


def _nearly(value: object) -> Callable[[int], bytes]:
    """The expected value except for its last part."""
    text = json.dumps(value)
    return lambda _: (text[:-3] + "9" + text[-2:]).encode()


# --- mathematics, before it sees a jail


def _mathematics() -> Iterator[Family]:
    makes = {name: OUTPUTS[name] for name in ("blanks", "one long number", "line ends, then the answer", "high bytes")}
    for name, make in makes.items():
        yield Family("math", name, make, lambda output: mathematics.at_once(output, ["5", "\\frac{1}{2}"]))


# --- completions


COMPLETIONS: dict[str, Callable[[int], bytes]] = {
    "backticks": filled(b"`"),
    "tildes": filled(b"~"),
    "fences": filled(b"```\n"),
    "fences of different lengths": lambda size: b"".join(b"`" * (3 + n % 100) + b"x\n" for n in range(size // 54)),
    "indented fences": filled(b"   ```\n"),
    "open fences of both kinds": filled(b"```a\n~~~b\n"),
    "line ends": filled(b"\n"),
    "line ends in a block": filled(b"\n", begin=b"```python\n"),
    "carriage returns": filled(b"\r"),
    "both line ends": filled(b"\r\n"),
    "blanks": filled(b" "),
    "lines of blanks": filled(b"    \n"),
    "tabs": filled(b"\t"),
    "block quotes": filled(b"> "),
    "lines of block quotes": filled(b">" * 400 + b"\n"),
    "block quotes with fences": filled(b"> ```python\n> x\n> ```\n"),
    "deeper and deeper quotes": lambda size: b"\n".join(b"> " * n + b"```" for n in range(1, int(size**0.5))),
    "lists": filled(b"- "),
    "lines of lists": filled(b"- a\n"),
    "deeper and deeper lists": lambda size: b"\n".join(b"  " * n + b"- ```" for n in range(1, int(size**0.5))),
    "numbers of lists": filled(b"1. "),
    "long numbers": filled(b"1"),
    "fences in lists": filled(b"- ```python\n  x\n  ```\n"),
    "thoughts": filled(b"<think>"),
    "ends of thoughts": filled(b"</think>"),
    "thoughts and ends": filled(b"<think></think>"),
    "ends of thoughts in blocks": filled(b"```python\n</think>\n```\n"),
    "ends of thoughts in open blocks": filled(b"</think>\n```python\n"),
    "answer tags": filled(b"<answer>"),
    "closed answer tags": filled(b"<answer></answer>"),
    "ends of answer tags": filled(b"</answer>"),
    "brackets": filled(b"["),
    "headings": filled(b"# "),
    "high characters": filled("\u2028".encode()),
    "boxes": filled(b"\\boxed{"),
    "braces in a box": filled(b"{", begin=b"\\boxed{"),
    "closed braces in a box": filled(b"{}", begin=b"\\boxed{"),
    "backslashes in a box": filled(b"\\", begin=b"\\boxed{"),
    "an info string without end": filled(b"python ", begin=b"```"),
    "attributes without end": filled(b".python ", begin=b"```{"),
    "a long version": filled(b".1", b"x\nprint()\n```\n", b"```python"),
}


def _completions() -> Iterator[Family]:
    for rule in RULES:
        for name, make in COMPLETIONS.items():
            yield Family(f"extraction, {rule}", name, make, completed(rule))


# --- sources of programs


SOURCES: dict[str, Callable[[int], bytes]] = {
    "a long import": filled(b"a", b" -", b"import "),
    "a long import from": filled(b"a", b" . import", b"from "),
    "imports": filled(b"import re;"),
    "lists of imports": filled(b"re,", b"re", b"import "),
    "blanks before an import": filled(b" ", b"import re"),
    "blanks in an import": filled(b" ", b"-", b"import re"),
    "open quotes": filled(b'"a '),
    "a string of blanks": filled(b" ", begin=b'"'),
    "escaped quotes": filled(b'\\"', begin=b'"'),
    "open comments": filled(b"/* "),
}


def _sources() -> Iterator[Family]:
    judges: dict[str, Callable[[bytes], object]] = {
        "a Python source": lambda source: python_uses_files(source.decode()),
        "a C source": lambda source: native_uses_files([source.decode()]),
        "a checker's source": lambda source: standard_checkers.known(_checker_of(source[:MOST_JUDGE_BYTES].decode())),
    }
    for group, judge in judges.items():
        for name, make in SOURCES.items():
            yield Family(group, name, make, judge)


def _checker_of(source: str) -> JudgeProgram:
    return JudgeProgram(type="program", source=source)


def table(size: int, wanted: str = "") -> str:
    """Return CPU seconds by family as a table in Markdown, the most expensive first."""
    costs = sorted(((seconds(each, size), each) for each in families() if wanted in each.id), key=lambda cost: -cost[0])
    rows = [f"| {family.group} | {family.name} | {cost:.3f} |" for cost, family in costs]
    return "\n".join([f"| | answer of {size / MIB:g} MiB | CPU s |", "|---|---|---|", *rows])


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks hostile_answers", description="CPU time of hostile answers.")
    parser.add_argument("--mib", type=float, default=FULL_BYTES / MIB, help="size of each answer; default 16")
    parser.add_argument("--family", default="", help="only those with this in their names")
    given = parser.parse_args(arguments)
    print(table(int(given.mib * MIB), given.family))
    return 0
