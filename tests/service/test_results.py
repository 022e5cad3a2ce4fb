"""What calls return, by kind of value, through the real service; and text that cannot be sent."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.conftest import Service

RIGHT: list[tuple[str, Any]] = [
    ("(1, 2)", [1, 2]),
    ("{(1, 2): 3}", {"(1, 2)": 3}),
    ("{('a', 1.5, None, True): 3}", {"('a', 1.5, None, True)": 3}),
    ("{((1, 2), 3): {(4,): 5}}", {"((1, 2), 3)": {"(4,)": 5}}),
    ("[{(1, 2): (x for x in 'ab')}]", [{"(1, 2)": ["a", "b"]}]),
    ("{'a': (x for x in 'ab'), (1, 2): 0}", {"a": ["a", "b"], "(1, 2)": 0}),
    ("__import__('decimal').Decimal('1.5')", 1.5),
    ("[__import__('decimal').Decimal('2.00')]", [2]),
    ("__import__('decimal').Decimal('0.1')", 0.1),
    ("__import__('fractions').Fraction(1, 2)", 0.5),
    ("__import__('fractions').Fraction(6, 3)", 2),
    ("__import__('array').array('i', [1, 2])", [1, 2]),
    ("__import__('array').array('d', [1.5])", [1.5]),
    ("__import__('itertools').chain([1], [2])", [1, 2]),
    ("__import__('itertools').islice(__import__('itertools').count(), 3)", [0, 1, 2]),
    ("__import__('itertools').accumulate([1, 2, 3])", [1, 3, 6]),
    ("__import__('itertools').product('ab', [1])", [["a", 1], ["b", 1]]),
    ("__import__('itertools').permutations([1, 2])", [[1, 2], [2, 1]]),
    (
        "[enumerate('a'), reversed([1, 2]), iter([3]), zip([1], [2]), map(abs, [-1])]",
        [[[0, "a"]], [2, 1], [3], [[1, 2]], [1]],
    ),
    ("__import__('collections').deque([1, {2}.pop()])", [1, 2]),
    ("__import__('collections').Counter('aab')", {"a": 2, "b": 1}),
    ("__import__('collections').OrderedDict(a=1)", {"a": 1}),
    ("__import__('collections').OrderedDict(a=1).values()", [1]),
    ("__import__('collections').defaultdict(list, {1: [2]})", {"1": [2]}),
    ("__import__('collections').ChainMap({'a': 1}, {'b': 2})", {"a": 1, "b": 2}),
    ("__import__('collections').namedtuple('P', 'x y')(1, 2)", [1, 2]),
    ("__import__('dataclasses').make_dataclass('P', ['x', 'y'])(1, [2])", {"x": 1, "y": [2]}),
    ("__import__('enum').IntEnum('E', 'A B').B", 2),
    ("__import__('types').MappingProxyType({'a': 1})", {"a": 1}),
    ("type('S', (str,), {})('a')", "a"),
    ("type('I', (int,), {})(3)", 3),
    ("{'__set__': [1, 2]}", {"__set__": [1, 2]}),
    ("range(3)", [0, 1, 2]),
    ("float('inf')", float("inf")),
]
NUMPY: list[tuple[str, Any]] = [
    ("{np.int64(3): np.float32(0.5)}", {"3": 0.5}),
    ("[np.arange(3), np.bool_(True), np.int8(-1)]", [[0, 1, 2], True, -1]),
    ("{(np.int64(3).item(), 1): [np.ones((1, 2))]}", {"(3, 1)": [[[1.0, 1.0]]]}),
]
NOT_PLAIN = [
    "b'a'", "bytearray(b'a')", "1j", "object()", "len", "int", "...", "{b'a': 1}", "{frozenset([1]): 1}",
    "{(b'a',): 1}", "__import__('enum').Enum('E', 'A B').B", "__import__('decimal').Decimal('1e-400')",
    "__import__('decimal').Decimal('1e999999')", "__import__('fractions').Fraction(1, 10**400)",
    "__import__('datetime').date(2020, 1, 1)", "memoryview(b'a')", "__import__('re').compile('a')",
    "{(1, 2): 3, '(1, 2)': 2}",
]  # fmt: skip
WRONG: list[tuple[str, Any]] = [
    ("__import__('decimal').Decimal('1e400')", 1e308),
    ("__import__('decimal').Decimal('NaN')", 1),
    ("{(1, 2): 3}", {"1,2": 3}),
    ("{(1, 2): 3}", {"(1,2)": 3}),
    ("{'__set__': [1, 2]}", [1, 2]),
    ("{1: 3, '1': 2}", {"1": 2}),
    ("{True: 3, 'true': 2}", {"true": 2}),
    ("{1, 2}", [1, 2]),
    ("__import__('fractions').Fraction(1, 3)", 0.333),
    ("'\\ud800'", "?"),
]


def call(output: str) -> str:
    """The JSON of one test whose expected value is written so."""
    return f'[{{"type": "call", "function": "f", "output": {output}}}]'


def sent(fields: dict[str, Any], tests: str) -> str:
    """The JSON of a submission."""
    return f'{json.dumps(fields)[:-1]}, "tests": {tests}}}'


def graded(service: Service, values: list[tuple[str, Any]], before: str = "") -> list[dict[str, Any]]:
    """The grades of functions that return these, in order."""
    submissions = [
        {
            "id": f"{before}{index}-{hash(text)}",
            "code": f"{before}\ndef solve():\n    return {text}",
            "tests": [{"type": "call", "function": "solve", "output": expected}],
        }
        for index, (text, expected) in enumerate(values)
    ]
    return [service.grade(**submission) for submission in submissions]


def test_values_with_a_plain_meaning_are_compared(service: Service) -> None:
    grades = graded(service, RIGHT)
    assert [
        (text, grade["message"]) for (text, _), grade in zip(RIGHT, grades, strict=True) if grade["reward"] != 1
    ] == []


def test_numbers_and_arrays_of_numpy_are_compared(service: Service) -> None:
    pytest.importorskip("numpy")
    grades = graded(service, NUMPY, "import numpy as np")
    assert [
        (text, grade["message"]) for (text, _), grade in zip(NUMPY, grades, strict=True) if grade["reward"] != 1
    ] == []


def test_other_values_are_a_failure_with_a_reason(service: Service) -> None:
    for text, grade in zip(NOT_PLAIN, graded(service, [(text, 1) for text in NOT_PLAIN]), strict=True):
        assert (grade["verdict"], grade["reward"]) == ("RTE", 0.0), (text, grade)


def test_what_means_something_else_is_wrong(service: Service) -> None:
    for (text, _), grade in zip(WRONG, graded(service, WRONG), strict=True):
        assert (grade["verdict"], grade["reward"]) == ("WA", 0.0), (text, grade)


@pytest.mark.parametrize("output", ["NaN", "[1, NaN]", '{"a": [NaN]}'])
def test_an_expected_nan_is_the_test_s_fault(service: Service, output: str) -> None:
    body = sent({"code": "def f():\n    return float('nan')"}, call(output))
    status, grade = service.client.post("/v1/grade", body.encode())
    assert (status, grade["verdict"], grade["failure_kind"]) == (200, "IE", "bad_test")


@pytest.mark.parametrize("put", [False, True])
@pytest.mark.parametrize(
    ("value", "output", "verdict"),
    [
        ("float('inf')", "1e400", "WA"),
        ("10**400", "1e400", "AC"),
        ("10**400", "1E+400", "AC"),
        ("-10**400", "-1e400", "AC"),
        ("10**400", "2e400", "WA"),
        ("[1, {'a': float('-inf')}]", '[1, {"a": -1e999}]', "WA"),
        ("float('inf')", "Infinity", "AC"),
        ("10**400", "Infinity", "WA"),
        ("[float('inf'), 10**400]", "[Infinity, 1e400]", "AC"),
        ("[float('inf')] * 2", "[Infinity, 1e400]", "WA"),
        ("0.0", "1e-400", "AC"),
        ("5e-324", "5e-324", "AC"),
        ("0", "-0.0", "AC"),
        ("float('nan')", "1e99999999999999999999", "IE"),
    ],
)
def test_numbers_beyond_a_float_are_themselves(
    service: Service, value: str, output: str, verdict: str, put: bool
) -> None:
    code = json.dumps(f"def f():\n    return {value}")
    tests = call(output)
    asked = f'"tests": {tests}'
    if put:
        suite = f'{{"tests": {tests}}}'.encode()
        name = hashlib.sha256(suite).hexdigest()
        assert service.client.request("PUT", f"/v1/suites/{name}", suite)[0] in (200, 201)
        asked = f'"suite": "sha256:{name}"'
    status, grade = service.client.post("/v1/grade", f'{{"code": {code}, {asked}}}'.encode())
    assert (status, grade["verdict"]) == (200, verdict), grade


@pytest.mark.parametrize("field", ["code", "completion"])
def test_half_a_character_in_a_request_is_refused(service: Service, field: str) -> None:
    submission = {field: "\ud800", "tests": [{"type": "stdin", "output": "1"}]}
    for route, body in (("/v1/grade", submission), ("/v1/grade/batch", {"submissions": [submission]})):
        status, answer = service.client.post(route, body)
        assert 400 <= status < 500, answer
