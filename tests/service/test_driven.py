"""Call and assert tests of languages other than Python, over HTTP."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Service
from tests.languages.toolchains import need

CODE = "const add = (a, b) => a + b;"


def test_calls_and_test_programs_are_graded_over_http(service: Service) -> None:
    if shutil.which("node") is None:
        pytest.skip("javascript is missing: apt-get install nodejs")
    call = {"type": "call", "function": "add", "args": [1, 2], "output": 3}
    program = {"type": "assert", "code": "console.assert(add(1, 2) === 3);"}
    grade = service.grade(language="javascript", code=CODE, tests=[call, program])
    assert (grade["verdict"], grade["forgeable"]) == ("AC", False)
    wrong = service.grade(language="javascript", code=CODE.replace("+", "-"), tests=[program])
    assert wrong["verdict"] == "WA"


def test_tests_without_a_driver_are_refused_over_http(service: Service) -> None:
    body = {"language": "lua", "code": "x", "tests": [{"type": "call", "function": "f", "output": 1}]}
    status, answer = service.client.post("/v1/grade", body)
    assert (status, answer["error"]["type"]) == (422, "invalid_request")
    assert "use stdin for lua" in answer["error"]["message"]


def test_calls_in_a_standard_of_cpp_older_than_the_driver(service: Service) -> None:
    need("cpp14")
    completion = "```cpp17\nclass Solution { public: int twice(int x) { return 2 * x; } };\n```"
    test = {"type": "call", "function": "twice", "args": [4], "output": 8}
    grade = service.grade(language="c++14", completion=completion, tests=[test])
    assert grade["verdict"] == "AC", grade["message"]
    assert grade["grader"]["language"].startswith("cpp14 ")


BROKEN = {
    "javascript": ("function f() { return 1 }", "for (const n of [1]) { if (f() !== n) throw n"),
    "java": ("class A { static int f() { return 1; } }", "class T { static void g() { int n = 1 } }"),
    "rust": ("fn f() -> i32 { 1 }", "fn main() { let n = 1 assert_eq!(f(), n); }"),
    "cpp": ("int f() { return 1; }", "#include <cassert>\nint main() { int n = 1 int m; assert(f() == n); }"),
}


@pytest.mark.parametrize("language", ["javascript", pytest.param("java", marks=pytest.mark.full), "rust", "cpp"])
def test_a_syntax_error_of_a_test_program_is_no_fault_of_the_answer(service: Service, language: str) -> None:
    need(language)
    code, test = BROKEN[language]
    grade = service.grade(language=language, code=code, tests=[{"type": "assert", "code": test}])
    assert (grade["verdict"], grade["failure_kind"]) == ("IE", "bad_test"), (grade["message"], grade["tests"])
    assert "the test program alone has a syntax error" in grade["failure_reason"]


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("function f( { return 1 }", "for (const n of [1]) { if (f() !== n) throw n }"),
        ("function f( { return 1", "}\nfor (const n of [1]) { if (f() !== n) throw n }"),
    ],
    ids=["the answer's", "with a bracket that the test closes"],
)
def test_a_syntax_error_of_an_answer_is_its_own(service: Service, code: str, test: str) -> None:
    need("javascript")
    grade = service.grade(language="javascript", code=code, tests=[{"type": "assert", "code": test}])
    assert (grade["verdict"], grade["reward"]) == ("CE", 0.0), grade["failure_reason"]
