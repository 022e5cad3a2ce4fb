"""Runs a submission's functions on plain arguments and writes what they return: one JSON line for each call.

All calls of a submission share one box. Nothing here is believed: a line is only a value, which the host compares
with the expected one outside; a submission that writes lines itself has merely returned those values in another way.
Whatever is not a clean pass is repeated by the host in a box of its own.

Values are written as JSON writes them (a tuple is a list, a key is a string); a set, which JSON lacks, is tagged.
Anything else is "not a plain value", and fails.
"""

import builtins
import json
import os
import sys
import types
from typing import Any, NoReturn

import leetcode
import program

CALLS_FD, RESULTS_FD = 5, 6
SET_TAG = "__set__"

LISTED: tuple[type, ...] = (
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    types.GeneratorType,
    map,
    filter,
    zip,
    range,
    reversed,
)

Function = Any  # whatever the submission defines under the name

# python's builtins and LeetCode's usual names. A program finds them where it finds builtins, so that two hundred names
# need not be put into every program's globals.
_builtins = types.ModuleType("builtins")

REHEARSALS = 9
REHEARSAL = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        return a + b\n"


def prepare() -> None:
    """Once, in the zygote: gather the names, and make a few calls, which specialises what they use before any fork."""
    vars(_builtins).update(leetcode.namespace())
    vars(_builtins).update(vars(builtins))  # last: `math.pow` must not hide `pow`
    wanted = json.dumps([{"function": "add", "args": [1, 2], "kwargs": {}, "calls": None}])
    for _ in range(REHEARSALS):
        namespace: dict[str, Any] = {"__name__": "solution", "__builtins__": vars(_builtins)}
        exec(compile(REHEARSAL, program.FILENAME, "exec"), namespace)
        for call in json.loads(wanted):
            _result(namespace, call)


def run() -> NoReturn:
    """Load the submission, make every call in order, write every result, and end."""
    wanted = json.loads(os.pread(CALLS_FD, os.fstat(CALLS_FD).st_size, 0))
    code = program.load()
    os.closerange(program.SOURCE_FD, CALLS_FD + 1)
    namespace = sys.modules["__main__"].__dict__
    sys.modules["builtins"] = _builtins  # a program may change them
    namespace["__builtins__"] = vars(_builtins)
    namespace["__name__"] = "solution"  # a submission's `if __name__ == "__main__"` part is for stdin tests
    status = program.execute(code, namespace)
    if status:
        os._exit(status)
    for call in wanted:
        try:
            result = _result(namespace, call)
        except SystemExit as end:
            os._exit(program.finish(1 if end.code is None else program._exit_status(end.code) or 1))
        except BaseException as error:  # the submission's own; the host reads it from stderr
            os._exit(program.finish(program.explain(error)))
        os.write(RESULTS_FD, result)
    os._exit(program.finish(0))


def _result(namespace: dict[str, Any], call: dict[str, Any]) -> bytes:
    value = _design(namespace, call) if call["calls"] else _call(namespace, call)
    return json.dumps(value, default=_untangle).encode() + b"\n"


def _call(namespace: dict[str, Any], call: dict[str, Any]) -> object:
    function = _find(namespace, call["function"])
    return _invoke(function, call["args"], call["kwargs"])


def _design(namespace: dict[str, Any], call: dict[str, Any]) -> list[object]:
    """LeetCode's class-design problems: a constructor, then methods; the constructor's own result is null."""
    (_, arguments), *methods = call["calls"]
    instance = _invoke(_find(namespace, call["function"]), arguments, {})
    return [None] + [_invoke(getattr(instance, name), arguments, {}) for name, arguments in methods]


def _find(namespace: dict[str, Any], dotted: str) -> Function:
    """The function of that name: a global, or a method of a class, of which an instance is made."""
    first, *rest = dotted.replace("()", "").split(".")
    if first not in namespace and not rest and hasattr(namespace.get("Solution"), first):
        first, rest = "Solution", [first]
    if first not in namespace:
        raise NameError(f"name {first!r} is not defined by the submission")
    found = namespace[first]
    for name in rest:
        found = getattr(found() if isinstance(found, type) else found, name)
    return found


def _invoke(function: Function, args: list[Any], kwargs: dict[str, Any]) -> object:
    args, kwargs, returns = _linked(function, args, kwargs)
    value = function(*args, **kwargs)
    if value is None and returns == "ListNode":
        return []
    if value is None and returns == "TreeNode":
        return []
    return value


def _linked(function: Function, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any], str]:
    """Arguments whose parameter is annotated as ListNode or TreeNode, built from LeetCode's encoding."""
    hints = {name: _node_kind(hint) for name, hint in _annotations(function).items()}
    if not any(hints.values()):
        return args, kwargs, ""
    import inspect  # large, and seldom needed: a zygote that has it makes every fork dearer

    names = list(inspect.signature(function).parameters)
    args = [_build(hints.get(name, ""), value) for name, value in zip(names, args, strict=False)] + args[len(names) :]
    kwargs = {name: _build(hints.get(name, ""), value) for name, value in kwargs.items()}
    return args, kwargs, hints.get("return", "")


def _annotations(function: Function) -> dict[str, Any]:
    target = vars(function).get("__init__") if isinstance(function, type) else function
    found = getattr(target, "__annotations__", None)
    return found if isinstance(found, dict) else {}


def _node_kind(hint: object) -> str:
    """`ListNode`, `TreeNode`, either with `list:` before it for a list of them, or nothing."""
    text = hint if isinstance(hint, str) else hint.__name__ if isinstance(hint, type) else repr(hint)
    kind = next((kind for kind in ("ListNode", "TreeNode") if kind in text), "")
    return f"list:{kind}" if kind and "list[" in text.lower() else kind


def _build(kind: str, value: Any) -> Any:
    if kind.startswith("list:") and isinstance(value, list):
        return [_build(kind.removeprefix("list:"), each) for each in value]
    if kind == "ListNode" and isinstance(value, list):
        return leetcode.list_node(value)
    if kind == "TreeNode" and isinstance(value, list):
        return leetcode.tree_node(value)
    return value


def _untangle(value: Any) -> object:
    """What JSON cannot say by itself: sets, deques, LeetCode's nodes, numbers and arrays of numpy."""
    kind = type(value)
    if kind is set or kind is frozenset:
        return {SET_TAG: list(value)}
    if kind.__name__ == "ListNode":
        return leetcode.list_values(value)
    if kind.__name__ == "TreeNode":
        return leetcode.tree_values(value)
    if kind.__module__ == "collections" and kind.__name__ == "deque":
        return list(value)
    if kind.__module__ == "numpy":
        return value.tolist()
    if kind in LISTED:
        return list(value)
    raise TypeError(f"the submission returned a {kind.__name__}, which is not a plain value")
