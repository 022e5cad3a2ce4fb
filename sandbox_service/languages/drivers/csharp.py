"""The driver of C#: a class of its own that finds the submission's by reflection."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import Functions

TEMPLATE = Path(__file__).with_name("driver.cs")

# LeetCode's imports, on one line, so that the submission's line numbers stay
_USING = "".join(
    f"using {name}; "
    for name in ("System", "System.Collections", "System.Collections.Generic", "System.Linq", "System.Text")
)
_GIVEN = {
    "ListNode": "public class ListNode { public int val; public ListNode next;"
    " public ListNode(int val = 0, ListNode next = null) { this.val = val; this.next = next; } }",
    "TreeNode": "public class TreeNode { public int val; public TreeNode left, right;"
    " public TreeNode(int val = 0, TreeNode left = null, TreeNode right = null)"
    " { this.val = val; this.left = left; this.right = right; } }",
}
_MAIN = re.compile(r"\bstatic\s+(?:async\s+)?(?:void|int|Task)\s+(Main)\s*\(")


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return the submission, the driver and the classes that LeetCode gives.

    Args:
        source: the submission.
        code: the same, masked.
        functions: not needed: the driver finds them.
    """
    del functions
    for main in reversed(list(_MAIN.finditer(code))):  # a program has one entry
        source = f"{source[: main.start(1)]}SubmissionMain{source[main.end(1) :]}"
    given = [text for name, text in _GIVEN.items() if name in code and not scan.has_class(code, name)]
    missing = [each for each in _USING.split("; ") if each and not re.search(rf"\b{re.escape(each)}\s*;", code)]
    driver = TEMPLATE.read_text() + "".join(f"\n{text}\n" for text in given)
    return "".join(f"{each}; " for each in missing) + source, {"driver.cs": driver}
