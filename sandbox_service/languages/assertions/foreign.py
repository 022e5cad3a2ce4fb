"""Tells that a test program is at fault: it imports a library that is not there, or has a syntax error.

Such a test program fails with every submission. Of a library two facts must agree: the test program imports it, and the
compiler or interpreter says that it is missing. A submission can have it say so, and the caller must run the test
program alone before it believes that. A submission's own imports fail at its expense. A syntax error is one that the
test program has alone, where the names that only the submission declares are missing: in languages whose compilers read
names and syntax at once it counts only if it is the first error.
"""

from __future__ import annotations

import re

from sandbox_service.languages.drivers.scan import masked

# The imports of a language, and what its compiler or interpreter says of a missing one
_NODE = (
    re.compile(r"""(?:\brequire\s*+\(\s*+|\bfrom\s*+|\bimport\s*+(?:\(\s*+)?)(["'])(?P<name>[^"'\n]++)\1"""),
    re.compile(r"Cannot find (?:module|package) '(?P<name>[^'\n]++)'"),
)
_CPP = (
    re.compile(r"#\s*+include\s*+[<\"](?P<name>[^<>\"\n]++)[>\"]"),
    re.compile(r"fatal error: (?P<name>[^:\n]++): No such file"),
)
_OPENING = {"}": "{", ")": "(", "]": "["}
_LANGUAGES = {
    "javascript": _NODE,
    "typescript": _NODE,
    "java": (
        re.compile(r"\bimport\s++(?:static\s++)?(?P<name>\w++(?:\.\w++)*+)"),
        re.compile(r"error: package (?P<name>[\w.]++) does not exist"),
    ),
    "rust": (
        re.compile(r"\b(?:use\s++(?:::)?|extern\s++crate\s++)(?P<name>\w++)"),
        re.compile(r"(?:unresolved import|find crate for|(?:undeclared|unlinked) crate[^`\n]{0,80}) `(?P<name>\w++)"),
    ),
    "cpp": _CPP,
    "c": _CPP,
}

_SAID = r"(?:^|[\s:])(?:fatal )?error(?:\[\w+\])?: (?P<error>[^\n]++)"
_EXPECTED = r"(?:expected|missing terminating|stray|unterminated|extended character|.else. without)\b.*"
_OF_JAVA = (
    r".* expected|reached end of file while parsing|illegal (?:start of|character|escape).*|not a statement|"
    r"unclosed .*|empty character literal|'\w+' without '\w+'|invalid method declaration.*|malformed .*"
)
# what the compiler of a language says of any error, and of one of syntax
_SYNTAX = {
    "javascript": (r"(?P<error>SyntaxError: [^\n]++)", ".*"),
    "typescript": (r"(?P<error>(?:SyntaxError|error TS\d++): [^\n]++)", ".*"),
    "java": (_SAID, _OF_JAVA),
    # its errors with a number are of names and types
    "rust": (r"^error: (?P<error>[^\n]++)|^error\[", r"(?!cannot find).*"),
    "cpp": (_SAID, _EXPECTED),
    "c": (_SAID, _EXPECTED),
}


def syntax_error(language: str, code: str, said: str) -> str | None:
    """Return the syntax error of a test program, or None.

    Args:
        language: the name of a language's family.
        code: the test program, with its prelude.
        said: what the compiler said of it without a submission.
    """
    if language not in _SYNTAX or closes_more(code, language):
        return None
    any_error, of_syntax = _SYNTAX[language]
    first = re.search(any_error, said, re.MULTILINE)
    error: str | None = first["error"] if first else None
    return error if error is not None and re.fullmatch(of_syntax, error) else None


def closes_more(code: str, language: str) -> bool:
    """Return whether a test program closes brackets that it does not open, which a submission may leave open.

    Args:
        code: the test program.
        language: the name of a language's family.
    """
    depth = {"{": 0, "(": 0, "[": 0}
    for sign in masked(code, _masked_as(language)):
        if sign in depth:
            depth[sign] += 1
        elif sign in _OPENING:
            depth[_OPENING[sign]] -= 1
            if depth[_OPENING[sign]] < 0:
                return True
    return False


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
    imports = [found["name"] for found in importing.finditer(code) if visible[found.start()] == code[found.start()]]
    absent = {found["name"] for found in missed.finditer(said)}
    return next((name for name in imports if any(_is_of(name, each, language) for each in absent)), None)


def _is_of(imported: str, absent: str, language: str) -> bool:
    return imported == absent or (language == "java" and imported.startswith(f"{absent}."))


def _masked_as(language: str) -> str:
    return "cpp" if language == "c" else language
