"""The driver of Rust: behind the submission, in one file, since that is compiled once."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox_service.languages.drivers import scan
from sandbox_service.languages.drivers.functions import SOLUTION, Function, Functions

TEMPLATE = Path(__file__).with_name("driver.rs")

_GIVEN = {
    "ListNode": "#[derive(PartialEq, Eq, Clone, Debug)] pub struct ListNode"
    " { pub val: i32, pub next: Option<Box<ListNode>> }\n"
    "impl ListNode { #[inline] pub fn new(val: i32) -> Self { ListNode { next: None, val } } }\n",
    "TreeNode": "#[derive(Debug, PartialEq, Eq)] pub struct TreeNode { pub val: i32,"
    " pub left: Option<std::rc::Rc<std::cell::RefCell<TreeNode>>>,"
    " pub right: Option<std::rc::Rc<std::cell::RefCell<TreeNode>>> }\n"
    "impl TreeNode { #[inline] pub fn new(val: i32) -> Self { TreeNode { val, left: None, right: None } } }\n",
}
_USUAL = {
    "Rc": "std::rc::Rc",
    "RefCell": "std::cell::RefCell",
    **{name: f"std::collections::{name}" for name in (
        "BTreeMap", "BTreeSet", "BinaryHeap", "HashMap", "HashSet", "VecDeque",
    )},
}  # fmt: skip
_MAIN = re.compile(r"^(?:pub\s+)?fn\s+main\s*\(", re.MULTILINE)


def files(source: str, code: str, functions: Functions) -> tuple[str, dict[str, str]]:
    """Return the submission with its driver.

    Args:
        source: the submission.
        code: the same, masked.
        functions: what is called.
    """
    if main := _MAIN.search(code):
        source = source[: main.start()] + "#[allow(dead_code)] fn submission_main(" + source[main.end() :]
    parts = [source, "\n", *_missing(code)]
    driver, _, rest = TEMPLATE.read_text().partition("//- ListNode\n")
    nodes, _, rest = rest.partition("//- TreeNode\n")
    trees, _, main_text = rest.partition("//- main\n")
    parts += [driver, nodes if "ListNode" in code else "", trees if "TreeNode" in code else "", main_text]
    return "".join([*parts, _calls(functions), "}\n\nfn main() {\n    proctor_driver::main()\n}\n"]), {}


def _missing(code: str) -> list[str]:
    """Return LeetCode's definitions that the submission lacks."""
    found = [text for name, text in _GIVEN.items() if name in code and not scan.has_class(code, name, "rust")]
    if re.search(rf"\bimpl\s+{SOLUTION}\b", code) and not scan.has_class(code, SOLUTION, "rust"):
        found.append(f"struct {SOLUTION};\n")
    for name, path in _USUAL.items():
        used = re.search(rf"(?<![:\w]){name}\b", code)
        imported = re.search(rf"\buse\b[^;]*(?:\b{name}\b|::\*)", code)
        if used and not imported and not scan.has_class(code, name, "rust"):
            found.append(f"use {path};\n")
    return found


def _calls(functions: Functions) -> str:
    plain = "".join(
        f'            ("{each.full_name}", {each.count}) =>'
        f" {{ {_arguments(each)}let value = {_target(each)}({_names(each)}); from.result(value, from.in_place) }}\n"
        for each in functions.plain
    )
    classes = "".join(_class(name, methods) for name, methods in functions.methods)
    return (
        "\n    fn make_call(name: &str, count: usize, from: &mut Reader) -> String {\n        match (name, count) {\n"
        f"{plain}            _ => from.absent(name, count),\n        }}\n    }}\n"
        "\n    fn make_object(name: &str, left: usize, from: &mut Reader) -> String {\n        match name {\n"
        f"{classes}            _ => from.absent(name, left),\n        }}\n    }}\n"
    )


def _target(function: Function) -> str:
    return f"super::{function.owner}::{function.name}" if function.owner else f"super::{function.name}"


def _class(name: str, methods: tuple[Function, ...]) -> str:
    makers = "".join(
        f"{each.count} => {{ {_arguments(each)}super::{name}::new({_names(each)}) }} "
        for each in methods
        if each.name == name
    )
    others = "".join(
        f'                        ("{each.name}", {each.count}) =>'
        f" {{ {_arguments(each)}let value = made.{each.name}({_names(each)}); from.result(value, false) }}\n"
        for each in methods
        if each.name != name
    )
    return (
        f'            "{name}" => {{\n                let (maker, count) = from.named();\n'
        f"                let mut made = match count {{ {makers}_ => from.absent(&maker, count) }};\n"
        '                let mut found = vec!["null".to_string()];\n                for _ in 1..left {\n'
        "                    let (method, count) = from.named();\n"
        f"                    found.push(match (method.as_str(), count) {{\n{others}"
        "                        _ => from.absent(&method, count),\n                    });\n                }\n"
        '                format!("[{}]", found.join(","))\n            }\n'
    )


def _arguments(function: Function) -> str:
    return "".join(f"let a{index} = next(from); " for index in range(function.count))


def _names(function: Function) -> str:
    return ", ".join(f"a{index}" for index in range(function.count))
