"""Where sources declare functions."""

from __future__ import annotations

import re
import time

import pytest

from sandbox_service.languages import compiler
from sandbox_service.languages.assertions import combined
from sandbox_service.languages.drivers import go, java, javascript
from sandbox_service.languages.drivers.functions import found
from sandbox_service.languages.drivers.scan import has_class, masked, parameters, public_type

CASES = [
    ("cpp", "class Solution { public: int f(int x) { return g(x); } };", "f", ("Solution", "f")),
    ("cpp", "int f(int x) { return x; } class Solution { int g() { return f(1); } };", "f", ("", "f")),
    ("cpp", "namespace n { struct A { int f(); }; }\n", "f", ("A", "f")),
    ("cpp", "int f(int x) { return x; } class Solution { int f(int x) { return ::f(x); } };", "f", ("Solution", "f")),
    ("cpp", "// int f(int x) {\nclass Solution { vector<int> f(int); };", "f", ("Solution", "f")),
    ("cpp", 'const char* s = "int f(";\nint f() { return 1\'000; }', "f", ("", "f")),
    ("cpp", 'auto s = R"x(} class Y { int f(" )x"; int f();', "f", ("", "f")),
    ("cpp", "int main() { return f(1); }", "f", ("", "f")),
    ("java", "class Problem { public static List<Integer> f(int[] x) { return null; } }", "f", ("Problem", "f")),
    ("java", 'class A { String s = """\n class B { int f() { } """; int f() { return 1; } }', "f", ("A", "f")),
    ("csharp", "public class Solution { public int TwoSum(int[] x) { return 1; } }", "twoSum", ("Solution", "TwoSum")),
    ("csharp", 'class A { string s = @"\\"; int F(int x) { return x; } }', "f", ("A", "F")),
    ("rust", "struct S; impl S { pub fn two_sum<'a>(x: &'a [i32]) -> i32 { 1 } }", "twoSum", ("S", "two_sum")),
    ("rust", "impl Show for S { fn show(&self) {} }", "show", ("S", "show")),
    ("rust", "fn f(x: char) -> bool { x == '{' }\nfn g() {}", "g", ("", "g")),
    ("go", "func (s *S) f() {}\nfunc f(x int) int { return x }", "f", ("", "f")),
    ("javascript", "const f = (x) => x;", "f", ("", "f")),
    ("javascript", "class Solution { f(x) { return x; } }", "f", ("Solution", "f")),
    ("javascript", "const s = `${1} } {`; const r = /[{]/; var f = function (x) {};", "f", ("", "f")),
    ("typescript", "function f<T>(x: T): T { return x; }", "f", ("", "f")),
    ("cpp", "class Other {};", "Other().f", ("Other", "f")),
    ("java", "abstract class A { int f() { return 1; } } class Solution extends A { }", "f", ("Solution", "f")),
    ("cpp", "struct A { int f(); }; class Solution : public A {};", "f", ("Solution", "f")),
    ("java", "class A { int f() { return 1; } } class Solution { A a; }", "f", ("A", "f")),
    ("java", "class Main { static class Solution { int f() { return 1; } } }", "f", ("Main.Solution", "f")),
]


@pytest.mark.parametrize(("language", "source", "name", "expected"), CASES)
def test_a_function_is_found(language: str, source: str, name: str, expected: tuple[str, str]) -> None:
    assert found(masked(source, language), language, name) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("/*\npublic class A {}\n*/ public class B {}", "B"),
        ('@SuppressWarnings("public class A") public final class B {}', "B"),
        ("import java.util.*; public class B$1 {}", "B$1"),
        ("class A { public class Inner {} }\npublic record B(int x) {}", "B"),
        ("public\nsealed interface B permits C {}", "B"),
        ("class A { public static void main(String[] a) {} }", None),
        (r"/* \u002a/ public class A {} \u007d", "A"),
        (r"public class B\uu0061r { }", "Bar"),
        (r'class A { String s = "\\u0022"; } public class B {}', "B"),
    ],
)
def test_the_public_type_names_the_file(source: str, expected: str | None) -> None:
    assert public_type(source) == expected


def test_masking_keeps_every_line_and_column() -> None:
    source = 'int a; // "x\n/* \n */ char* b = "\\"}"; int c;'
    code = masked(source, "cpp")
    assert len(code) == len(source)
    assert code.count("\n") == source.count("\n")
    assert code.index("int c") == source.index("int c")
    assert "x" not in code
    assert "}" not in code


@pytest.mark.parametrize("language", ["cpp", "java", "csharp", "go", "rust", "javascript"])
@pytest.mark.parametrize("part", ["/*", '"', "'", '"""', 'R"x(', 'r#"', "`", "{", "class A {", "(/", "impl "])
def test_hostile_sources_are_read_to_their_end(language: str, part: str) -> None:
    source = part * 20_000
    assert found(masked(source, language), language, "f")[1] == "f"


def test_a_declared_class_is_no_definition() -> None:
    assert has_class("struct ListNode { int val; };", "ListNode")
    assert not has_class("struct ListNode; struct ListNode* f(struct ListNode* x);", "ListNode")


@pytest.mark.parametrize("source", ["struct Solution;", "pub struct Solution(i32);", "struct Solution { x: i32 }"])
def test_a_type_of_rust_without_fields_is_a_definition(source: str) -> None:
    assert has_class(source, "Solution", "rust")
    assert not has_class("impl Solution { fn f() {} }", "Solution", "rust")


def test_the_parameters_of_a_function_are_read() -> None:
    source = "#include <string>\nint f(std::string a, /* b */ int b);\nint f( std::string a,  int b) { return g(f); }"
    assert parameters(masked(source, "cpp"), "cpp", "f") == ["std::string a, int b"] * 2
    assert parameters("struct A { int f(int x); };", "cpp", "f") == []


@pytest.mark.parametrize(
    ("pattern", "start", "text"),
    [
        (go._PACKAGE, "", "\n"),
        (java._PACKAGE, "", "\n"),
        (java._PACKAGE, "", "package\n"),
        (combined._GO_PACKAGE, "", "\n"),
        (combined._GO_IMPORT, "", "import (\n"),
        (combined._GO_PATH, "import (", "a"),
        (javascript._EXPORT_LIST, "", "export {\n"),
        (compiler._OF_WINDOWS, "%", "0"),
    ],
)
def test_a_source_is_searched_in_linear_time(pattern: re.Pattern[str], start: str, text: str) -> None:
    begin = time.process_time()
    assert pattern.search(start + text * 200_000) is None
    assert time.process_time() - begin < 1.0
