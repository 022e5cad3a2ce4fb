"""Joins a submission and a test program in one source, for test programs that cannot be translated to calls.

The submission can end the program with success before a test has run: verdicts from here are marked as forgeable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from sandbox_service.languages.assertions.tokens import NotPlainError

# how failed assertions end, in stdout or stderr
FAILED = (b"Assertion", b"AssertionError", b"assertion failed", b"assertion `", b"--- FAIL")

_PUBLIC = re.compile(r"\bpublic\s+(?=(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s)")
_JAVA_IMPORT = re.compile(r"^[ \t]*+import\s++(?:static\s++)?[\w.*]++\s*+;", re.MULTILINE)
_JAVA_ASSERT = re.compile(r"\bassert\b(?=[\s(!])")
_CONSOLE = "console.assert = (ok, ...words) => { if (!ok) throw new Error('Assertion failed ' + words.join(' ')); }; "
_GO_TEST = re.compile(r"^func\s+(Test\w+)\s*\(", re.MULTILINE)
_GO_MAIN = re.compile(r"^func\s+main\s*\(", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^[^\S\n]*+package\s+\w+", re.MULTILINE)
_GO_IMPORT = re.compile(r'^import\s*(?:\((?:[^()]|\([^()\n]*+\))*+\)|"[^"\n]*")[ \t]*;?', re.MULTILINE)
_GO_PATH = re.compile(r'(?:(?<![\w.])[\w.]++[ \t]++)?"[^"\n]+"')
_RUST_MAIN = re.compile(r"^(?:pub\s+)?fn\s+main\s*\(", re.MULTILINE)
_RUST_TEST = re.compile(r"#\[test\]\s*(?:pub\s+)?fn\s+(\w+)\s*\(")


def combined(language: str, prelude: str, source: str, code: str) -> str:
    """Return one program: exit status 0 means that the tests passed.

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


def _java(prelude: str, source: str, code: str) -> str:
    if _PUBLIC.search(code):  # a file has one public class, and it is the test's that is run
        source = _PUBLIC.sub("", source)
    imports = "".join(f"{each}\n" for each in _JAVA_IMPORT.findall(code))  # they are errors behind a class
    return f"{prelude}{imports}{source}\n{_with_assertions(_JAVA_IMPORT.sub('', code))}"


def _with_assertions(code: str) -> str:
    """Replace Java's assertions, which are off by default, by conditions."""
    parts: list[str] = []
    begin = 0
    for found in _JAVA_ASSERT.finditer(code):
        end = code.find(";\n", found.end())
        if found.start() < begin or end < 0:
            continue
        parts += [code[begin : found.start()], f"if (!({code[found.end() : end]})) throw new AssertionError()"]
        begin = end
    return "".join([*parts, code[begin:]])


def _javascript(prelude: str, source: str, code: str) -> str:
    return f"{prelude}{source}\n;{_CONSOLE}{code}"


def _typescript(prelude: str, source: str, code: str) -> str:
    return f"{prelude}{source}\n;{_CONSOLE.replace('ok, ...words', 'ok: any, ...words: any[]')}{code}"


def _go(prelude: str, source: str, code: str) -> str:
    texts = (prelude, source, code)
    imports = dict.fromkeys(each for text in texts for each in _go_imports(text))
    bodies = [_go_body(text) for text in texts]
    if foreign := next((each for each in (*_go_imports(prelude), *_go_imports(code)) if "." in each), None):
        raise NotPlainError(f"the test program imports {foreign}, which is not there")
    tests = _GO_TEST.findall(code)
    if not tests and not _GO_MAIN.search(code):
        raise NotPlainError("the test program has neither main nor tests")
    main = ""
    if tests:
        bodies[1] = _GO_MAIN.sub("func submissionMain(", bodies[1])
        listed = ", ".join(f'{{Name: "{name}", F: {name}}}' for name in tests)
        main = (
            "\nfunc main() {\n\ttesting.Main(func(string, string) (bool, error) { return true, nil },"
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
    return _GO_IMPORT.sub("", _GO_PACKAGE.sub("", text))


def _go_imports(text: str) -> list[str]:
    found = [each[0].removeprefix("import").strip() for each in _GO_IMPORT.finditer(text)]
    return [path for each in found for path in _GO_PATH.findall(each)]


def _go_uses(body: str, path: str) -> bool:
    alias, _, quoted = path.rpartition(" ")
    name = alias.strip() or quoted.strip('"').rpartition("/")[2]
    return name in ("_", ".") or re.search(rf"\b{re.escape(name)}\.", body) is not None


def _rust(prelude: str, source: str, code: str) -> str:
    if _RUST_MAIN.search(code):
        return f"{prelude}{_RUST_MAIN.sub('fn submission_main(', source)}\n{code}"
    tests = _RUST_TEST.findall(code)
    if not tests:
        raise NotPlainError("the test program has neither main nor tests")
    module = re.search(r"\bmod\s+(\w+)", code)
    owner = f"{module[1]}::" if module else ""
    body = _RUST_TEST.sub(r"pub fn \1(", code.replace("#[cfg(test)]", ""))
    main = "".join(f"    {owner}{name}();\n" for name in tests)
    return f"{prelude}{_RUST_MAIN.sub('fn submission_main(', source)}\n{body}\nfn main() {{\n{main}}}\n"


_JOINED: dict[str, Callable[[str, str, str], str]] = {
    "java": _java,
    "javascript": _javascript,
    "typescript": _typescript,
    "go": _go,
    "rust": _rust,
}
