"""A submission and its test program in one source."""

from __future__ import annotations

import pytest

from sandbox_service.languages.assertions.combined import closed, combined, without_imports_of_tests
from sandbox_service.languages.assertions.tokens import NotPlainError


def test_cpp_is_source_then_test() -> None:
    assert combined("cpp", "#include <x>", "int f();", "int main() {}") == "#include <x>\nint f();\nint main() {}"


def test_assertions_of_cpp_are_on_unless_the_test_has_its_own() -> None:
    assert combined("cpp", "", "", "void g() { assert(1); }").startswith("\n#undef NDEBUG\n#include <assert.h>\n")
    for code in ("}\nvoid g() { assert(1); }", "#define assert(x)\nvoid g() { assert(1); }", "// assert(1)"):
        assert combined("cpp", "", "", code) == f"\n{code}"


def test_a_class_of_java_that_is_run_is_the_only_public_one() -> None:
    assert (
        combined("java", "", "public class Solution {}", "public class Main {}")
        == "class Solution {}\npublic class Main {}"
    )


def test_a_failed_assertion_of_javascript_ends_the_program() -> None:
    assert "throw new Error" in combined("javascript", "", "f", "console.assert(false)")


def test_tests_of_go_have_a_main() -> None:
    code = 'package f_test\nimport ("testing"; "fmt")\nfunc TestF(t *testing.T) { t.Fail() }'
    joined = combined("go", "", 'package main\nimport "sort"\nfunc f() { sort.Ints(nil) }\nfunc main() {}', code)
    assert joined.startswith('package main\nimport "sort"\nimport "testing"\n')
    assert joined.count("package") == 1
    assert 'testing.InternalTest{{Name: "TestF", F: TestF}}' in joined
    assert "fmt" not in joined
    assert "func submissionMain(" in joined


def test_imports_of_tests_of_go_are_left_out() -> None:
    source = 'package f_test\n\nimport (\n    "testing"\n    "fmt"\n    "sort"\n)\n\nfunc f() { sort.Ints(nil) }'
    assert without_imports_of_tests(source) == 'package main\nimport "sort"\n\n\n\n\nfunc f() { sort.Ints(nil) }'


def test_a_library_that_go_does_not_have_is_told() -> None:
    with pytest.raises(NotPlainError, match="testify"):
        combined("go", "", "", 'import "github.com/stretchr/testify/assert"\nfunc TestF(t *testing.T) {}')


def test_a_library_that_the_submission_asks_for_is_no_fault_of_the_test() -> None:
    joined = combined("go", "", 'import "github.com/own"\nfunc f() { own.F() }', "func TestF(t *testing.T) {}")
    assert 'import "github.com/own"' in joined


def test_tests_of_rust_have_a_main() -> None:
    code = "#[cfg(test)]\nmod tests {\n use super::*;\n #[test]\n fn test_f() { assert!(f()); }\n}"
    joined = combined("rust", "", "fn f() -> bool { true }\nfn main() {}", code)
    assert "fn main() {\n    proctor_passes(tests::test_f());\n}" in joined
    assert "pub fn test_f() {" in joined
    assert "fn submission_main() {}" in joined


def test_brackets_are_closed_if_both_sides_say_so() -> None:
    assert closed(1, "}\nint main() { }") == 1
    assert closed(0, "}\nint main() { }") == 0
    assert closed(2, "}\nvoid main() { }\n}") == 2
    assert closed(3, "int main() { }") == 0


def test_imports_of_tests_of_java_come_first() -> None:
    joined = combined(
        "java", "", "class Solution {}", "import java.util.*;\nimport static java.lang.Math.abs;\nclass Main {}"
    )
    assert joined.startswith("import java.util.*;\nimport static java.lang.Math.abs;\nclass Solution {}\n")
    assert joined.count("import") == 2
