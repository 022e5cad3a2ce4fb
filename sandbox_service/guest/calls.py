"""Calls a submission's functions with plain arguments and writes one JSON line per result (encoded by `results`).

All calls of a submission share one box. Nothing here is believed: a line is only a value, which the host compares with
the expected one, so a submission that writes lines itself has merely returned those values in another way. The host
repeats every call that did not pass cleanly in a box of its own.
"""

import builtins
import json
import os
import sys
import types
from typing import Any, NoReturn

import ending
import leetcode
import operations
import program
import results
import stacks

CALLS_FD, RESULTS_FD = 5, 6

Function = Any  # any object of the submission's

# Python's builtins and LeetCode's usual names, made available as builtins, so that two hundred names need not be copied
# into every program's globals.
_builtins = types.ModuleType("builtins")

REHEARSALS = 9
REHEARSAL = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        return a + b\n"


def prepare() -> None:
    """Collect the predefined names and rehearse a few calls to specialise their code; called once, in the zygote."""
    vars(_builtins).update(leetcode.namespace())
    vars(_builtins).update(vars(builtins))  # last: `math.pow` must not hide `pow`
    requested = json.dumps([{"function": "add", "args": [1, 2], "kwargs": {}, "calls": None}])
    for _ in range(REHEARSALS):
        namespace: dict[str, Any] = {"__name__": "solution", "__builtins__": vars(_builtins)}
        exec(compile(REHEARSAL, program.FILENAME, "exec"), namespace)
        for call in json.loads(requested):
            _result(namespace, call)


def run() -> NoReturn:
    """Load the submission, make every call in order, write every result, and exit."""
    requested = json.loads(os.pread(CALLS_FD, os.fstat(CALLS_FD).st_size, 0))
    code, needs = program.load()
    os.closerange(program.SOURCE_FD, CALLS_FD + 1)
    namespace = sys.modules["__main__"].__dict__
    sys.modules["builtins"] = _builtins  # a program may change them
    namespace["__builtins__"] = vars(_builtins)
    operations.name_as_module(namespace)
    sys.setrecursionlimit(stacks.CALL_RECURSION)
    status = program.execute(code, namespace)
    if status:
        os._exit(status)
    search = bool(needs & program.SEARCH)
    for call in requested:
        try:
            result = _result(namespace, call)
        except SystemExit as end:
            ending.end_calls(program.exit_status(end) or 1, search=search)
        except BaseException as error:  # any exception of the submission's; the host reads it from stderr
            ending.end_calls(program.explain(error), search=search)
        os.write(RESULTS_FD, result)
    ending.end_calls(0, search=search)


def _result(namespace: dict[str, Any], call: dict[str, Any]) -> bytes:
    return results.encoded(_design(namespace, call) if call["calls"] else _call(namespace, call))


def _call(namespace: dict[str, Any], call: dict[str, Any]) -> object:
    function = _find(namespace, call["function"])
    return _invoke(function, call["args"], call["kwargs"])


def _design(namespace: dict[str, Any], call: dict[str, Any]) -> list[object]:
    """Run a class-design problem of LeetCode: a constructor, then methods; the constructor's result is null."""
    (_, arguments), *methods = call["calls"]
    instance = _invoke(_find(namespace, call["function"]), arguments, {})
    return [None] + [_invoke(getattr(instance, name), arguments, {}) for name, arguments in methods]


def _find(namespace: dict[str, Any], dotted: str) -> Function:
    """Return the named function: a global, or a method of a class, which is instantiated."""
    first, *rest = dotted.replace("()", "").split(".")
    if not rest and hasattr(namespace.get("Solution"), first):  # even if there is a free function of that name
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
    """Convert arguments whose parameter is annotated as ListNode or TreeNode from LeetCode's encoding."""
    hints = {name: _node_kind(hint) for name, hint in _annotations(function).items()}
    if not any(hints.values()):
        return args, kwargs, ""
    import inspect  # large and rarely needed: in the zygote it would make every fork slower

    names = list(inspect.signature(function).parameters)
    args = [_build(hints.get(name, ""), value) for name, value in zip(names, args, strict=False)] + args[len(names) :]
    kwargs = {name: _build(hints.get(name, ""), value) for name, value in kwargs.items()}
    return args, kwargs, hints.get("return", "")


def _annotations(function: Function) -> dict[str, Any]:
    target = vars(function).get("__init__") if isinstance(function, type) else function
    found = getattr(target, "__annotations__", None)
    return found if isinstance(found, dict) else {}


def _node_kind(hint: object) -> str:
    """Return `ListNode` or `TreeNode`, with `list:` before it for a list of nodes, or nothing."""
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
