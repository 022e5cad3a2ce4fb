"""The driver of Go: a file of its own that calls the submission's functions by reflection."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import Functions

TEMPLATE = Path(__file__).with_name("driver.go")

# LeetCode's imports, each for a program that uses it
_PACKAGES = {
    name.rpartition("/")[2]: name
    for name in (
        "bufio", "bytes", "container/heap", "container/list", "container/ring", "errors", "fmt", "math", "math/big",
        "math/bits", "math/rand", "os", "regexp", "sort", "strconv", "strings", "sync", "time", "unicode",
        "unicode/utf8",
    )
}  # fmt: skip
_GIVEN = {
    "ListNode": "type ListNode struct { Val int; Next *ListNode }",
    "TreeNode": "type TreeNode struct { Val int; Left *TreeNode; Right *TreeNode }",
}
_PACKAGE = re.compile(r"^[^\S\n]*+package\s+\w+[ \t]*;?", re.MULTILINE)
_MAIN = re.compile(r"^func\s+main\s*\(", re.MULTILINE)


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return the submission and its driver.

    Args:
        source: the submission.
        code: the same, masked.
        functions: what is called.
    """
    if main := _MAIN.search(code):
        source = source[: main.start()] + "func submissionMain(" + source[main.end() :]
    imports = ""
    if "import" not in code:
        used = [path for name, path in _PACKAGES.items() if re.search(rf"\b{name}\.[A-Z]", code)]
        imports = "".join(f'import "{path}"; ' for path in used)
    package = _PACKAGE.search(code)
    body = source[package.end() :] if package else source
    lines = source[: package.end()].count("\n") if package else 0
    given = [text for name, text in _GIVEN.items() if name in code and not _declares(code, name)]
    table = "\n".join([*given, "var proctorFunctions = map[string]interface{}{", *_entries(code, functions), "}\n"])
    return "\n" * lines + "package main; " + imports + body, {"driver.go": TEMPLATE.read_text() + "\n" + table}


def _declares(code: str, name: str) -> bool:
    return re.search(rf"\btype\s+{name}\b|^[^\S\n]*+{name}\s+struct\b", code, re.MULTILINE) is not None


def _entries(code: str, functions: Functions) -> list[str]:
    names = {function.name: function.name for function in functions.plain}
    for name, _ in functions.methods:
        own = next((each for each in (f"New{name}", f"Constructor{name}") if scan.owners(code, "go", each)), None)
        names[name] = own or "Constructor"
    return [f'\t"{name}": {target},' for name, target in names.items()]
