"""Missing libraries and syntax errors are the fault of the test program that has them, not of the submission."""

from __future__ import annotations

import pytest

from sandbox_service.languages.assertions.foreign import missing, syntax_error

LODASH = "Error: Cannot find module 'lodash'\nRequire stack:\n- /tmp/main.js"
JUNIT = "Main.java:1: error: package org.junit.jupiter.api does not exist\nimport org.junit.jupiter.api.Test;"


@pytest.mark.parametrize(
    ("language", "code", "said", "absent"),
    [
        ("javascript", 'const _ = require("lodash")', LODASH, "lodash"),
        ("typescript", "import _ from 'lodash'", LODASH, "lodash"),
        ("javascript", "import 'lodash'", "Cannot find package 'lodash' imported from main.mjs", "lodash"),
        ("java", "import org.junit.jupiter.api.Test;", JUNIT, "org.junit.jupiter.api.Test"),
        ("java", "import static org.junit.jupiter.api.Assertions.*;", JUNIT, "org.junit.jupiter.api.Assertions"),
        ("rust", "use rand::Rng;", "error[E0432]: unresolved import `rand`", "rand"),
        ("rust", "use ::hexane::Hexane;", "error[E0432]: unresolved import `hexane`", "hexane"),
        ("rust", "extern crate rand;", "error[E0463]: can't find crate for `rand`", "rand"),
        ("typescript", "function g() { return '{' }\nimport { isEqual } from 'lodash'", LODASH, "lodash"),
        ("javascript", "let a = {}; const { b } = (await import('lodash')).default", LODASH, "lodash"),
        ("cpp", "#ifdef A\n#endif\n#include <b.h>", "fatal error: b.h: No such file or directory", "b.h"),
        ("cpp", "#include <boost/any.hpp>", "fatal error: boost/any.hpp: No such file or directory", "boost/any.hpp"),
    ],
)
def test_a_library_that_the_test_imports_is_named(language: str, code: str, said: str, absent: str) -> None:
    assert missing(language, code, said) == absent


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        ("javascript", 'const assert = require("assert")', LODASH),  # the submission imports it
        ("javascript", '// require("lodash")', LODASH),
        ("javascript", 'const _ = require("lodash")', "AssertionError"),  # it is there
        ("java", "import java.util.*;", JUNIT),
        ("rust", "use super::*;", "error[E0432]: unresolved import `rand`"),
        *(
            ("rust", f"use {path};", f"error[E0432]: unresolved import `{path.partition(':')[0]}`")
            for path in (
                "crate::add",
                "super::add",
                "self::add as plus",
                "Op::Plus",
                "shapes::area",
                "randomness::seed",
            )
        ),
        ("javascript", 'let eq; try { eq = require("lodash").isEqual } catch { eq = Object.is }', LODASH),
        *(
            ("javascript", code, LODASH)
            for code in (
                "const eq = typeof eq2 === 'function' ? eq2 : require('lodash').isEqual",
                "if (typeof eq === 'undefined') var eq = require('lodash').isEqual",
                "if (!eq)\n  eq = require('lodash').isEqual",
                "if (!eq)\n  var eq = require('lodash').isEqual",
                "eq(1) ||\nrequire('lodash')",
                "const all = [\n  require('lodash')]",
                "const _ = await import('lodash').catch(() => null)",
                "const later = () => require('lodash')",
            )
        ),
        ("cpp", "#ifndef LIGHT\n#include <boost/any.hpp>\n#endif", "fatal error: boost/any.hpp: No such file"),
        ("csharp", "using NUnit;", "error CS0246"),
    ],
)
def test_another_failure_is_the_submissions(language: str, code: str, said: str) -> None:
    assert missing(language, code, said) is None


@pytest.mark.parametrize(
    ("language", "code", "said", "error"),
    [
        ("javascript", "check(1", "main.js:1\n\nSyntaxError: missing ) after argument list", "SyntaxError: missing )"),
        ("typescript", "let a: = 1", "main.ts(1,8): error TS1110: Type expected.", "error TS1110: Type expected."),
        ("java", "class T { int f() { return 1 } }", "Main.java:1: error: ';' expected", "';' expected"),
        ("java", "class T {", "Main.java:1: error: reached end of file while parsing", "reached end of file"),
        ("cpp", "```", "1: error: stray '`' in program", "stray"),
        ("go", "func main() { f(1 }", "main.go:2:19: syntax error: unexpected }", "syntax error"),
        ("rust", "fn main() { let = 1; }", "error: expected pattern, found `=`", "expected pattern"),
        ("cpp", "int main() { return 0 }", "main.cpp:1:23: error: expected ';' before '}' token", "expected ';'"),
        ("cpp", "int n = 1 int m;", "1:11: error: expected ‘,’ or ‘;’ before ‘int’", "expected ‘,’"),
        ("cpp", '#include "x\n', '1:1: warning: missing\n1:9: error: missing terminating " character', "missing"),
    ],
)
def test_a_syntax_error_of_the_test_alone_is_named(language: str, code: str, said: str, error: str) -> None:
    assert (syntax_error(language, code, said) or "").startswith(error)


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        ("javascript", "}\ncheck(1)", "SyntaxError: Unexpected token '}'"),  # a submission may leave the bracket open
        ("javascript", "export { f }", "SyntaxError: Export 'f' is not defined in module"),
        ("cpp", "int main() { TEXT(a # b); }", "1: error: stray '#' in program"),
        ("cpp", "#ifndef A\nint n = 1 int m;\n#endif", "2: error: expected ',' or ';' before 'int'"),
        ("java", "class T { A a; }", "Main.java:1: error: cannot find symbol"),
        ("cpp", "int main() { A a; }", "1: error: 'A' was not declared\n1: error: expected ';' before 'a'"),
        ("rust", "fn main() { f() }", "error[E0425]: cannot find function `f` in this scope"),
        ("rust", "fn main() { f!() }", "error: cannot find macro `f` in this scope"),
        ("cpp", "int main() { new A; }", "1: error: expected type-specifier before 'A'"),
        ("cpp", "struct B : A {};", "1: error: expected class-name before '{' token"),
        ("cpp", "struct B { B(A<int> a) {} };", "1: error: expected ')' before '<' token"),
        ("cpp", "int f() A { return 1; }", "1: error: expected initializer before 'A'"),
        ("cpp", 'int main() { printf("%" A); }', "1: error: expected ')' before 'A'"),
        ("cpp", "TEST(a) {}", "1: error: expected constructor, destructor, or type conversion before '(' token"),
        ("typescript", "const a: A = 1", "main.ts(1,10): error TS2304: Cannot find name 'A'."),
        ("rust", "#![deny(warnings)]\nuse a::A;", "error: unused import: `a::A`"),
        ("cpp", "int main() {}", ""),
        ("csharp", "class T {", "error CS1513: } expected"),
    ],
)
def test_an_error_that_a_submission_may_remove_is_not_the_tests(language: str, code: str, said: str) -> None:
    assert syntax_error(language, code, said) is None
