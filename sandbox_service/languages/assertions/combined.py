"""Joins a submission and a test program in one source, for test programs that cannot be translated to calls.

The submission can end the program with success before a test has run: verdicts from here are marked as forgeable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from sandbox_service.languages.assertions import rust_tests
from sandbox_service.languages.assertions.shared_names import declared
from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.drivers.scan import masked

# how failed assertions end, in stdout or stderr
FAILED = (b"Assertion", b"AssertionError", b"assertion failed", b"assertion `", b"--- FAIL")

FILES: Mapping[str, Mapping[str, str]] = {
    "java": {"ProctorAssertions.java": "package proctor; final class Assertions {}"}  # see ProctorMain.java
}
"""What lies beside the program of a language; in Java, what enables assertions."""

_PUBLIC = re.compile(r"\bpublic\s+(?=(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s)")
_JAVA_IMPORT = re.compile(r"\bimport\s++(?:static\s++)?[\w.*]++\s*+;")
_JAVA_MAIN = re.compile(r"\bmain(?=\s*+\(\s*+(?:final\s++)?String\b)")
_JAVA_PACKAGE = re.compile(r"\bpackage\s++[\w.]++\s*+;")
_CONSOLE = "console.assert = (ok, ...words) => { if (!ok) throw new Error('Assertion failed ' + words.join(' ')); };\n"
_IMPORT = re.compile(r"""^import\b[^;'"()]*+["'][^"'\n]++["'];?+""", re.MULTILINE)
_OF_MODULES = re.compile(r"^(?:import\b(?!\s*+\()|export\b)", re.MULTILINE)
_REQUIRE = "import { createRequire as proctorRequire } from 'module'; const require = proctorRequire(import.meta.url);"
_CALLS_REQUIRE = re.compile(r"\brequire\s*+\(")
_C_MAIN = re.compile(r"\bmain(?=\s*+\()")
_WORD, _MEMBER = re.compile(r"\w++"), re.compile(r"\.\s*+(\w++)")
_C_ASSERT, _C_OWN_ASSERT = re.compile(r"\bassert\s*+\("), re.compile(r"#\s*+define\s++assert\b")
_C_ASSERTIONS = "#undef NDEBUG\n#include <assert.h>\n"  # whatever the submission has made of them
_GO_TEST = re.compile(r"^func\s+(Test\w+)\s*\(", re.MULTILINE)
_GO_MAIN = re.compile(r"^func\s+main\s*\(", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^[^\S\n]*+package\s+\w+", re.MULTILINE)
_GO_IMPORT = re.compile(r'^import\s*(?:\((?:[^()]|\([^()\n]*+\))*+\)|"[^"\n]*")[ \t]*;?', re.MULTILINE)
_GO_PATH = re.compile(r'(?:(?<![\w.])[\w.]++[ \t]++)?"[^"\n]+"')
_RUST_HEAD = re.compile(r"(?:\s++|//[^\n]*+|#!\[[^\]]*+\])*+")
_RUST_INNER = re.compile(r"^#!\[[^\]]*+\]|^//![^\n]*+", re.MULTILINE)
_RUST_MODULE = """mod proctor_tests {{
#[allow(unused_imports)]
use super::*;
{}
}}
fn main() -> impl std::process::Termination {{
    proctor_tests::main()
}}
"""


def combined(language: str, prelude: str, source: str, code: str) -> str:
    """Return one program: exit status 0 means that the tests passed.

    Imports and `main` may be in both texts. In JavaScript, TypeScript and Rust so may any name, in Go names of
    helpers, and each side has its own then.

    Args:
        language: the name of a language.
        prelude: code before the submission.
        source: the submission.
        code: the test program.

    Raises:
        NotPlainError: the test program has no way to be run.
    """
    join = _JOINED.get(language, _plain)
    return join(prelude + "\n" if prelude else "", source, code)


def closed(source_depth: int, code: str) -> int:
    """Return how many brackets that the submission leaves open the test program closes.

    Args:
        source_depth: open brackets at the submission's end.
        code: the test program, masked.
    """
    depth = unmatched = 0
    for sign in code:
        if sign == "{":
            depth += 1
        elif sign == "}":
            unmatched += depth == 0
            depth = max(0, depth - 1)
    return min(max(0, source_depth), unmatched)


def _plain(prelude: str, source: str, code: str) -> str:
    return f"{prelude}{source}\n{code}"


def _with_own_helpers(source: str, code: str) -> str:
    """Return a submission in Go whose helpers have other names if its test program declares helpers of these names.

    Nothing is renamed if the test program uses nothing else of the submission: it would test functions of its own.
    """
    own, others = declared(source, "go"), declared(code, "go")
    if not (own - others) & set(_WORD.findall(masked(code, "go"))):
        return source
    members = set(_MEMBER.findall(masked(source, "go")))
    for name in sorted((own & others) - members):
        source = _replaced(re.compile(rf"\b{name}\b"), f"{name}OfSubmission", source, "go")
    return source


def _c(prelude: str, source: str, code: str) -> str:
    if _found(_C_MAIN, code, "cpp"):
        source = _replaced(_C_MAIN, "submission_main", source, "cpp")
    visible = masked(code, "cpp")
    # in a function that the source leaves open nothing may be included
    asserts = _C_ASSERT.search(visible) and not _C_OWN_ASSERT.search(prelude + code) and not closed(1, visible)
    return _plain(prelude, source, _C_ASSERTIONS + code if asserts else code)


def _java(prelude: str, source: str, code: str) -> str:
    if _PUBLIC.search(code):  # a file has one public class
        source = _PUBLIC.sub("", source)
    if _found(_JAVA_MAIN, code, "java"):
        source = _replaced(_JAVA_MAIN, "mainOfSubmission", source, "java")
    texts = [_replaced(_JAVA_PACKAGE, "", each, "java") for each in (prelude, source, code)]
    # they are errors behind a class
    imports = "".join(f"{each}\n" for text in texts for each in _found(_JAVA_IMPORT, text, "java"))
    return imports + _plain(*(_replaced(_JAVA_IMPORT, "", each, "java") for each in texts))


def _found(pattern: re.Pattern[str], text: str, language: str) -> list[str]:
    """Return the matches of a pattern that do not begin in a comment or a literal."""
    visible = masked(text, language)
    return [found[0] for found in pattern.finditer(text) if visible[found.start()] == found[0][0]]


def _replaced(pattern: re.Pattern[str], new: str, text: str, language: str) -> str:
    """Return a text with other words for the matches that `_found` returns."""
    visible = masked(text, language)
    return pattern.sub(lambda found: new if visible[found.start()] == found[0][0] else found[0], text)


def _javascript(prelude: str, source: str, code: str) -> str:
    is_module = _OF_MODULES.search(masked(source, "javascript")) is not None
    if (
        is_module
        and _CALLS_REQUIRE.search(masked(code, "javascript"))
        and "require" not in declared(source, "javascript")
    ):
        prelude = f"{_REQUIRE} {prelude}"
    return _joined_scripts(prelude, source, code, _CONSOLE)


def _typescript(prelude: str, source: str, code: str) -> str:
    return _joined_scripts(prelude, source, code, _CONSOLE.replace("ok, ...words", "ok: any, ...words: any[]"))


def _joined_scripts(prelude: str, source: str, code: str, console: str) -> str:
    there = {_spelling(each) for each in _IMPORT.findall(source)}
    code = _IMPORT.sub(lambda found: "" if _spelling(found[0]) in there else found[0], code)
    visible = masked(code, "javascript")
    if not _OF_MODULES.search(visible) and declared(source, "javascript") & declared(code, "javascript", again=True):
        code = f"({'async ' * ('await' in visible)}() => {{ {code}\n}})();"
    return f"{prelude}{source}\n;{console}{code}"


def _spelling(statement: str) -> str:
    """Return an import in one spelling."""
    return re.sub(r"\s+", " ", statement.replace("'", '"').replace('"node:', '"').rstrip("; "))


def _go(prelude: str, source: str, code: str) -> str:
    texts = (prelude, _with_own_helpers(source, code), code)
    imports = dict.fromkeys(each for text in texts for each in _go_imports(text))
    bodies = [_go_body(text) for text in texts]
    bodies[1] = _GO_MAIN.sub("func submissionMain(", bodies[1])
    if foreign := next((each for each in (*_go_imports(prelude), *_go_imports(code)) if "." in each), None):
        raise NotPlainError(f"the test program imports {foreign}, which is not there")
    tests = _GO_TEST.findall(code)
    if not tests and not _GO_MAIN.search(code):
        raise NotPlainError("the test program has neither main nor tests")
    main = ""
    if tests:
        listed = ", ".join(f'{{Name: "{name}", F: {name}}}' for name in tests)
        bodies[2], mains = _GO_MAIN.subn("func mainOfTests(", bodies[2])
        main = (
            f"\nfunc main() {{\n{'mainOfTests();' * mains}"
            "\ttesting.Main(func(string, string) (bool, error) { return true, nil },"
            f" []testing.InternalTest{{{listed}}}, nil, nil)\n}}\n"
        )
        imports['"testing"'] = None
    return _go_program(imports, "\n".join(bodies) + main)


def without_imports_of_tests(source: str) -> str:
    """Return a submission in Go without the imports that only its test program uses, as MultiPL-E's prompts have them.

    Args:
        source: the submission.
    """
    return _go_program(_go_imports(source), _go_body(source))


def _go_program(imports: Iterable[str], body: str) -> str:
    used = [each for each in imports if _go_uses(body, each)]
    return "package main\n" + "".join(f"import {each}\n" for each in used) + body


def _go_body(text: str) -> str:
    return _replaced(_GO_IMPORT, "", _GO_PACKAGE.sub("", text), "go")


def _go_imports(text: str) -> list[str]:
    found = [each.removeprefix("import").strip() for each in _found(_GO_IMPORT, text, "go")]
    return [path for each in found for path in _GO_PATH.findall(each)]


def _go_uses(body: str, path: str) -> bool:
    alias, _, quoted = path.rpartition(" ")
    name = alias.strip() or quoted.strip('"').rpartition("/")[2]
    return name in ("_", ".") or re.search(rf"\b{re.escape(name)}\.", body) is not None


def _rust(prelude: str, source: str, code: str) -> str:
    texts = (prelude, source, code)
    heads = [_RUST_HEAD.match(each)[0] for each in texts]  # type: ignore[index]  # it matches every text
    inner = "".join(f"{each}\n" for head in heads for each in _RUST_INNER.findall(head) if each.startswith("#"))
    prelude, source, code = (
        _RUST_INNER.sub("", head) + text[len(head) :] for head, text in zip(heads, texts, strict=True)
    )
    source = rust_tests.MAIN.sub("fn submission_main(", source)
    tested = rust_tests.with_main(code)
    if declared(source, "rust") & declared(code, "rust"):
        tested = _RUST_MODULE.format(rust_tests.MAIN.sub("pub fn main(", tested))
    return f"{inner}{prelude}{source}\n{tested}"


_JOINED: dict[str, Callable[[str, str, str], str]] = {
    "c": _c,
    "cpp": _c,
    "java": _java,
    "javascript": _javascript,
    "typescript": _typescript,
    "go": _go,
    "rust": _rust,
}
