"""Gives a test program in Rust a `main` that runs its functions with `#[test]`, as `cargo test` does.

A function may be in modules of any depth, have further attributes, return a `Result`, and say `#[should_panic]` or
`#[ignore]`.
"""

from __future__ import annotations

import re

from sandbox_service.languages.assertions.tokens import NotPlainError
from sandbox_service.languages.drivers.scan import masked

MAIN = re.compile(r"^(?:pub\s+)?fn\s+main\s*\(", re.MULTILINE)

_ATTRIBUTE = r"#\[(?:[^\[\]\"]|\"[^\"]*+\"|\[[^\]]*+\])*+\]"
_FUNCTION = re.compile(
    rf"(?P<attributes>{_ATTRIBUTE}(?:\s++|//[^\n]*+|{_ATTRIBUTE})*+)(?:pub(?:\([^()]*+\))?\s++)?fn\s++(?P<name>\w++)\s*+\("
)
_ONE = re.compile(_ATTRIBUTE)
_OF_TESTS = re.compile(r"#\[(?:test|(?:ignore|should_panic)(?:[^\[\]\"]|\"[^\"]*+\")*+)\]")
_EXPECTED, _ANY = re.compile(r'"[^"]*+"'), '""'
_MODULE = re.compile(r"^[ \t]*+mod\s++(?P<name>\w++)\s*+\{", re.MULTILINE)
_PUBLIC = r"pub mod \g<name> {"
_SCOPE = re.compile(r"\bmod\s++(?P<name>\w++)\s*+\{|[{}]")
_RUNS = r"""
fn proctor_passes<T: std::process::Termination>(result: T) {
    let status = format!("{:?}", result.report());
    assert_eq!(status, format!("{:?}", std::process::ExitCode::SUCCESS));
}
#[allow(dead_code)]
fn proctor_panics(test: fn(), expected: &str) {
    let panic = std::panic::catch_unwind(test).err().expect("assertion failed: the test did not panic");
    let text = panic.downcast_ref::<&str>().map(|each| each.to_string());
    let said = text.or(panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    assert!(said.contains(expected), "{said}");
}
"""


def with_main(code: str) -> str:
    """Return a test program with a function `main`, which it may have.

    Args:
        code: the test program.

    Raises:
        NotPlainError: it has neither `main` nor tests.
    """
    visible = masked(code, "rust")
    tests = [found for found in _FUNCTION.finditer(code) if _is_test(found, visible)]
    if not tests:
        if MAIN.search(code):
            return code
        raise NotPlainError("the test program has neither main nor tests")
    calls = [_call(found, _modules(visible[: found.start()])) for found in tests]
    body, mains = MAIN.subn("fn main_of_tests(", _with_plain_functions(code, tests))
    calls += ["    proctor_passes(main_of_tests());\n"] * bool(mains)
    return f"{_MODULE.sub(_PUBLIC, body)}\n{_RUNS}fn main() {{\n{''.join(calls)}}}\n"


def _is_test(found: re.Match[str], visible: str) -> bool:
    places = (found.start() + each.start() for each in _ONE.finditer(found["attributes"]) if each[0] == "#[test]")
    return any(visible[place] == "#" for place in places)


def _call(found: re.Match[str], modules: str) -> str:
    """Return the statement that runs a test; nothing for an ignored one."""
    attributes = _ONE.findall(found["attributes"])
    test = f"{modules}{found['name']}()"
    if any(each.startswith("#[ignore") for each in attributes):
        return ""
    panics = next((each for each in attributes if each.startswith("#[should_panic")), None)
    if panics is None:
        return f"    proctor_passes({test});\n"
    expected = _EXPECTED.search(panics)
    return f"    proctor_panics(|| {{ {test}; }}, {expected[0] if expected else _ANY});\n"


def _modules(before: str) -> str:
    """Return the path of the modules that are open at the end of a masked text."""
    opened: list[str | None] = []
    for found in _SCOPE.finditer(before):
        if found[0] != "}":
            opened.append(found["name"])
        elif opened:
            opened.pop()
    return "".join(f"{name}::" for name in opened if name)


def _with_plain_functions(code: str, tests: list[re.Match[str]]) -> str:
    """Return a test program with functions that are no tests any more."""
    parts, begin = [], 0
    for found in tests:
        kept = _OF_TESTS.sub("", found["attributes"])
        parts += [code[begin : found.start()], f"{kept}pub fn {found['name']}("]
        begin = found.end()
    return "".join([*parts, code[begin:]]).replace("#[cfg(test)]", "")
