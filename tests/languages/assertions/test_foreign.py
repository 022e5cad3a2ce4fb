"""Libraries that are not there: the fault of the test program that imports them, not of the submission."""

from __future__ import annotations

import pytest

from sandbox_service.languages.assertions.foreign import missing

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
        ("cpp", "#ifndef LIGHT\n#include <boost/any.hpp>\n#endif", "fatal error: boost/any.hpp: No such file"),
        ("csharp", "using NUnit;", "error CS0246"),
    ],
)
def test_another_failure_is_the_submissions(language: str, code: str, said: str) -> None:
    assert missing(language, code, said) is None
