"""The driver of Java: a class in a package of its own, which finds the submission's classes by reflection."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import Functions

TEMPLATE = Path(__file__).with_name("ProctorDriver.java")

# LeetCode's imports, on one line, so that the submission's line numbers stay
_IMPORTS = "".join(
    f"import {name}.*; "
    for name in ("java.io", "java.math", "java.text", "java.util", "java.util.function", "java.util.stream")
)
_GIVEN = {
    "ListNode": "class ListNode { int val; ListNode next; ListNode() {} ListNode(int val) { this.val = val; }"
    " ListNode(int val, ListNode next) { this.val = val; this.next = next; } }",
    "TreeNode": "class TreeNode { int val; TreeNode left, right; TreeNode() {} TreeNode(int val) { this.val = val; }"
    " TreeNode(int val, TreeNode left, TreeNode right) { this.val = val; this.left = left; this.right = right; } }",
}
_PACKAGE = re.compile(r"^[^\S\n]*+package\s++[\w.$]++\s*+;", re.MULTILINE)


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return the driver, whose class is the main one, and the submission beside it.

    Args:
        source: the submission.
        code: the same, masked.
        functions: not needed: the driver finds them.
    """
    del functions
    if package := _PACKAGE.search(code):
        source = source[: package.start()] + " " * len(package[0].replace("\n", "")) + source[package.end() :]
    given = {f"{name}.java": text for name, text in _GIVEN.items() if name in code and not scan.has_class(code, name)}
    return TEMPLATE.read_text(), {**given, f"{scan.public_type(source) or 'Solution'}.java": _IMPORTS + source}
