"""Tells that a test program is at fault: it imports a library that is not there, or has a syntax error.

Such a test program fails with every submission. A submission can have a compiler print any words, and the caller must
run the test program alone before it believes them.

Of a library two facts must agree: the test program imports it, and the compiler or interpreter says that it is missing.
A submission's own imports fail at its expense. In Rust `use` names the submission's modules and types as well, which
are missing too when the test program runs alone. So there a name after `use` is a library's only if it is that of a
well-known crate, or begins with `::`. An import that is not always reached says nothing about other answers: in
JavaScript one that is not the first part of a statement outside of brackets, as in `f || require("./f")`, in C and C++
one between `#if` and `#endif`.

Of a syntax error it must be certain that no name which the submission declares would remove it. Compilers of C and C++
call a missing type or macro a syntax error: `new Answer` has none, but "expected type-specifier". So there only errors
of the lexer, brackets that stay open, and a missing sign before another sign or a keyword count, and those only in test
programs without conditions. A macro may have any sign between its brackets but foreign characters and backquotes.
"""

from __future__ import annotations

import re

from sandbox_service.languages.drivers.scan import masked

# The imports of a language, and what its compiler or interpreter says of a missing one
_NODE = (
    re.compile(
        r"""\b(?:import\b[^;'"()=]{0,999}+|(?:(?:const|let|var)\s++(?:[\w$]++|\{[^{}=]{0,999}+\}|\[[^\[\]=]{0,999}+\])\s*+"""
        r"""(?::[^=;]{0,999}+)?=\s*+\(?+)?\s*+(?:await\s++import|require)\s*+\(\s*+)(["'])(?P<name>[^"'\n]++)\1"""
        r"""(?!\s*+\)\s*+\.\s*+(?:catch|then)\b)"""
    ),
    re.compile(r"Cannot find (?:module|package) '(?P<name>[^'\n]++)'"),
)
_CRATES = """
    anyhow approx bigdecimal chrono criterion crossbeam futures hashbrown indexmap itertools lazy_static libc
    maplit mockall nalgebra ndarray nom num_bigint num_complex num_integer num_rational num_traits once_cell
    ordered_float petgraph pretty_assertions proptest quickcheck quickcheck_macros rand rand_chacha rayon regex rstest
    rust_decimal serde serde_json serial_test smallvec tempfile test_case thiserror tokio uuid
""".split()
_CPP = (
    re.compile(r"#\s*+include\s*+[<\"](?P<name>[^<>\"\n]++)[>\"]"),
    re.compile(r"fatal error: (?P<name>[^:\n]++): No such file"),
)
_MAY_BE_A_BRANCH = ("var", "require", "await")  # `if (a) var b = 1` is allowed, `if (a) const b = 1` is not
_IF, _END_IF = re.compile(r"#[ \t]*+if"), re.compile(r"#[ \t]*+endif\b")
_OPENING = {"}": "{", ")": "(", "]": "["}
_LANGUAGES = {
    "javascript": _NODE,
    "typescript": _NODE,
    "java": (
        re.compile(r"\bimport\s++(?:static\s++)?(?P<name>\w++(?:\.\w++)*+)"),
        re.compile(r"error: package (?P<name>[\w.]++) does not exist"),
    ),
    "rust": (
        re.compile(
            rf"\b(?:use\s++::\s*+|extern\s++crate\s++|use\s++(?=(?:{'|'.join(_CRATES)})\b))(?P<name>\w++)", re.ASCII
        ),
        re.compile(r"(?:unresolved import|find crate for|(?:undeclared|unlinked) crate[^`\n]{0,80}) `(?P<name>\w++)"),
    ),
    "cpp": _CPP,
    "c": _CPP,
}

_SAID = r"(?:^|[\s:])(?:fatal )?error(?:\[\w+\])?: (?P<error>[^\n]++)"
_KEYWORD = r"(?:auto|bool|char|const|double|for|if|int|long|return|while)"
_OF_CPP = (  # GCC's quotation marks depend on the locale
    r"stray ['‘][`\\].*|(?:missing terminating|unterminated|extended character) .*|expected .* at end of input|"
    rf"expected (?:.,. or )?.[;)\]}}]. before (?:['‘][;}}]['’] token|['‘]{_KEYWORD}['’])"
)
_OF_JAVA = (
    r".* expected|reached end of file while parsing|illegal (?:start of|character|escape).*|not a statement|"
    r"unclosed .*|empty character literal|'\w+' without '\w+'|invalid method declaration.*|malformed .*"
)
_OF_RUST = "expected|unexpected|mismatched closing|this file contains|unterminated|unknown (?:start|prefix)"
# what the compiler of a language says of any error, and of one of syntax
_SYNTAX = {
    "javascript": (r"(?P<error>SyntaxError: [^\n]++)", r"(?!.*is not defined in module).*"),  # `export { f }`
    "typescript": (r"(?P<error>(?:SyntaxError|error TS1\d{3}): [^\n]++)", ".*"),
    "java": (_SAID, _OF_JAVA),
    # its errors with a number are of names and types
    "rust": (r"^error: (?P<error>[^\n]++)|^error\[", rf"(?:{_OF_RUST})\b.*"),
    "go": (r"^main\.go:\d+:\d+: (?P<error>[^\n]++)", "syntax error: .*"),
    "cpp": (_SAID, _OF_CPP),
    "c": (_SAID, _OF_CPP),
}


def syntax_error(language: str, code: str, said: str) -> str | None:
    """Return the syntax error of a test program, or None.

    Args:
        language: the name of a language's family.
        code: the test program.
        said: what the compiler said of it without a submission.
    """
    if language not in _SYNTAX or _closes_more(code, language) or (_masked_as(language) == "cpp" and _IF.search(code)):
        return None
    any_error, of_syntax = _SYNTAX[language]
    first = re.search(any_error, said, re.MULTILINE)
    error: str | None = first["error"] if first else None
    return error if error is not None and re.fullmatch(of_syntax, error) else None


def missing(language: str, code: str, said: str) -> str | None:
    """Return a library that a test program imports and that is not there, or None.

    Args:
        language: the name of a language's family.
        code: the test program, with its prelude.
        said: what the compiler or interpreter said when the program failed.
    """
    if language not in _LANGUAGES:
        return None
    importing, missed = _LANGUAGES[language]
    visible = masked(code, _masked_as(language))
    imports = [
        found["name"]
        for found in importing.finditer(code)
        if visible[found.start()] == code[found.start()]
        and _is_always_reached(language, visible[: found.start()], found[0])
    ]
    absent = {found["name"] for found in missed.finditer(said)}
    return next((name for name in imports if any(_is_of(name, each, language) for each in absent)), None)


def _is_always_reached(language: str, before: str, statement: str) -> bool:
    """Return whether a statement after a text, without literals and comments, is in no block and no condition."""
    if language in ("javascript", "typescript"):
        return _is_whole_statement(before, statement)
    return language not in ("cpp", "c") or len(_IF.findall(before)) == len(_END_IF.findall(before))


def _is_whole_statement(before: str, text: str) -> bool:
    """Return whether a text in JavaScript begins a statement outside of all brackets, which is no branch of another."""
    is_first = before.rpartition("\n")[2].rstrip()[-1:] in ("", ";")
    is_branch = text.startswith(_MAY_BE_A_BRANCH) and before.rstrip()[-1:] not in ("", ";", "}")
    is_outside = all(before.count(opening) == before.count(closing) for closing, opening in _OPENING.items())
    return is_first and is_outside and not is_branch


def _is_of(imported: str, absent: str, language: str) -> bool:
    return imported == absent or (language == "java" and imported.startswith(f"{absent}."))


def _masked_as(language: str) -> str:
    return "cpp" if language == "c" else language


def _closes_more(code: str, language: str) -> bool:
    """Return whether a test program closes brackets that it does not open, which a submission may leave open."""
    depth = {"{": 0, "(": 0, "[": 0}
    for sign in masked(code, _masked_as(language)):
        if sign in depth:
            depth[sign] += 1
        elif sign in _OPENING:
            depth[_OPENING[sign]] -= 1
            if depth[_OPENING[sign]] < 0:
                return True
    return False
