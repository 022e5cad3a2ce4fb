"""The driver of JavaScript and TypeScript, which is in one file behind the submission: it needs the file's names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import SOLUTION, Functions

TEMPLATE = Path(__file__).with_name("driver.js")

_GIVEN = {
    "ListNode": "function ListNode(val, next)"
    " { this.val = val === undefined ? 0 : val; this.next = next === undefined ? null : next; }",
    "TreeNode": "function TreeNode(val, left, right) { this.val = val === undefined ? 0 : val;"
    " this.left = left === undefined ? null : left; this.right = right === undefined ? null : right; }",
}
_TYPED = {
    "ListNode": "class ListNode { val: any; next: any; constructor(val?: any, next?: any)"
    " { this.val = val === undefined ? 0 : val; this.next = next === undefined ? null : next; } }",
    "TreeNode": "class TreeNode { val: any; left: any; right: any; constructor(val?: any, left?: any, right?: any)"
    " { this.val = val === undefined ? 0 : val; this.left = left === undefined ? null : left;"
    " this.right = right === undefined ? null : right; } }",
}
_EXPORT = re.compile(
    r"^[ \t]*export[ \t]+(?:default[ \t]+)?(?=(?:async|function|class|const|let|var|abstract)\b)", re.M
)
_EXPORT_LIST = re.compile(
    r"^[ \t]*(?:export[ \t]*\{[^{}]*+\}[ \t]*;?"
    r"|export[ \t]+default[ \t]+(?!(?:async|function|class|abstract)\b)\w+[ \t]*;?)",
    re.M,
)
_IS_MAIN = re.compile(r"\brequire\.main\s*===?\s*module\b|\bmodule\s*===?\s*require\.main\b")
_DOCUMENT = re.compile(r"/\*\*(?:(?!\*/).){0,4000}\*/\s*(?:export\s+)?(?:async\s+)?[^;{}()]{0,200}\Z", re.DOTALL)
_VALUE = 'typeof NAME !== "undefined" ? NAME : typeof module === "undefined" ? undefined : module.exports["NAME"]'
_START = (
    '(run) => typeof require === "undefined"'  # in a module
    ' ? import("module").then((module) => run(module.createRequire(process.cwd() + "/"))) : run(eval("require"))'
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_RESERVED = frozenset(
    "await break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if import in instanceof new null return super switch this throw true try typeof var void while with "
    "yield".split()
)
_ARROW = re.compile(r"[\w$]+\s*=\s*(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>")
# by LeetCode's names of parameters, and members that only nodes have
_NODES = {
    "TreeNode": (re.compile(r"(?:sub)?[rR]oot\d?"), "(?:left|right)"),
    "ListNode": (re.compile(r"head[A-Z12]?|list[12]|l[12]"), "next"),
}
_AS_ARRAY = (
    r"\bNAME\s*(?:\?\.)?(?:\[|\.\s*(?:length|map|filter|forEach|reduce|slice|splice|push|pop|shift|sort|join|at)\b)"
    r"|\bof\s+NAME\b|\.\.\.NAME\b"
)
_TAG = re.compile(r"@(param|returns?)\s*\{([^}\n]*)\}")


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return a JavaScript submission with its driver.

    Args:
        source: the submission.
        code: the same, masked.
        functions: what is called.
    """
    return _joined(source, code, functions, "javascript", _GIVEN), {}


def typed_files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return a TypeScript submission with its driver, which is text to the compiler: it has no types.

    Args:
        source: the submission.
        code: the same, masked.
        functions: what is called.
    """
    return _joined(source, code, functions, "typescript", _TYPED), {}


def _joined(source: str, code: str, functions: Functions, language: str, given: dict[str, str]) -> str:
    for export in (_EXPORT_LIST, _EXPORT):  # a script has no exports; the masked source tells them from text
        for found in reversed(list(export.finditer(code))):
            source = source[: found.start()] + " " * len(found[0]) + source[found.end() :]
    for found in reversed(list(_IS_MAIN.finditer(code))):  # the program itself is not run, as in Python
        source = source[: found.start()] + "false".ljust(len(found[0])) + source[found.end() :]
    hints = dict(_all_hints(source, code, functions))
    hinted = {hint.removeprefix("list:") for each in hints.values() for hint in each}
    nodes = [name for name in given if name in code + source or name in hinted]
    absent = [name for name in nodes if not _declares(code, language, name)]
    plain = [(function.owner or function.name, function) for function in functions.plain]
    names = {name for name, _ in plain} | {name for name, _ in functions.methods}
    table = ", ".join(
        f"{name}: {_VALUE.replace('NAME', name)}" for name in sorted({*names, *nodes, SOLUTION}) if _is_name(name)
    )
    parts = [source, "\n;\n", *(given[name] + "\n" for name in absent)]
    body = TEMPLATE.read_text()
    made = f'new Function("require", "table", "hints", {json.dumps(body)})'
    parts.append(f"({_START})((require) => {made}(require, {{ {table} }}, {json.dumps(hints)}));\n")
    return "".join(parts)


def _declares(code: str, language: str, name: str) -> bool:
    return scan.has_class(code, name) or "" in scan.owners(code, language, name)


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in _RESERVED


def _all_hints(source: str, code: str, functions: Functions) -> Iterator[tuple[str, list[str]]]:
    """Yield the hints of functions by their full names; those of a constructor by its class."""
    for function in functions.plain:
        yield function.full_name, _hints(source, code, function.name)
    for owner, methods in functions.methods:
        yield owner, _hints(source, code, owner) or _hints(source, code, "constructor")
        for method in methods:
            if method.name != owner:
                yield f"{owner}.{method.name}", _hints(source, code, method.name)


def _hints(source: str, code: str, name: str) -> list[str]:
    """Return the kinds of nodes of the parameters, and last of the result.

    A comment or TypeScript's annotations say them, or else the parameters' names and what the source does with these.
    """
    declared = next((each.start() for each in re.finditer(rf"\b{re.escape(name)}\b", code)), None)
    if declared is None:
        return []
    comment = _DOCUMENT.search(source[:declared][-6000:])
    if comment is not None and (tags := _TAG.findall(comment[0])):
        parameters = [kind(text) for tag, text in tags if tag == "param"]
        return [*parameters, next((kind(text) for tag, text in tags if tag != "param"), "")]
    head = re.compile(r"[^(]{0,80}\(([^)]{0,2000})\)\s*(?::([^{=]{0,200}))?").match(code, declared)
    if head is None or ":" not in head[0]:
        arrow = _ARROW.match(code, declared)
        return _inferred(code, [arrow[1]] if arrow else [*_NAME.findall(head[1])] if head else [])
    parameters = [kind(each.partition(":")[2]) for each in re.split(r",(?![^<\[(]*[>\])])", head[1])]
    return [*parameters, kind(head[2] or "")]


def _inferred(code: str, parameters: list[str]) -> list[str]:
    """Return the hints for parameters without types, as answers in JavaScript often have them.

    A parameter is a node if the source uses members of nodes of it, or of others if it is named as LeetCode names
    nodes, and never uses the parameter as an array. A result of null is then an empty list or tree.

    Args:
        code: the masked source.
        parameters: their names.
    """
    found = [_node(code, each) for each in parameters]
    result = next((each.removeprefix("list:") for each in found if each), "")
    return [*found, result] if result else []


def _node(code: str, parameter: str) -> str:
    if parameter == "lists" and _has_member(code, "next"):
        return "list:ListNode"
    if re.search(_AS_ARRAY.replace("NAME", re.escape(parameter)), code):
        return ""
    for node, (names, member) in _NODES.items():
        if (names.fullmatch(parameter) and _has_member(code, member)) or _has_member(code, member, parameter):
            return node
    return ""


def _has_member(code: str, member: str, of: str | None = None) -> bool:
    """Return whether a source uses a member of a variable, or of anything, as in `a.left` and `const { left } = a`."""
    name = "" if of is None else rf"\b{re.escape(of)}\b"
    dotted = rf"{name}\??\.{member}\b(?!\()"
    taken = rf"\{{[^{{}}]{{0,200}}\b{member}\b[^{{}}]{{0,200}}\}}\s*=(?!=)\s*{name}"
    return re.search(f"{dotted}|{taken}", code) is not None


def kind(text: str) -> str:
    """Return `ListNode` or `TreeNode` if a type is one, with `list:` before it for an array of them, or nothing.

    Args:
        text: the type as it is written.
    """
    node = next((name for name in _GIVEN if name in text), "")
    return f"list:{node}" if node and ("[]" in text or "Array" in text) else node
