"""Adds the ordering and arithmetic operators to `RemoteHandle`, by the rules that `remote_handle` states."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from handle_state import DERIVED, MADE, HandleState
from operations import OPERATORS
from remote_handle import RemoteHandle, _comparable, decide, is_class_under_test


def _operate(handle: RemoteHandle, operation: str, operand: Any) -> Any:
    """Send an arithmetic operator with an operand to the candidate, if the rules allow it."""
    state = handle.proctor_handle
    other = operand.proctor_handle if type(operand) is RemoteHandle else None
    if state.sort != "instance":
        return NotImplemented
    if state.base is not None and other is None and not is_class_under_test(state):
        return OPERATORS[operation](state.connection.content(state), operand)
    if other is None and not state.rank:
        return NotImplemented
    value = state.connection.request_with(f"op {operation} {state.number}", operand)
    plain_is_fair = other is not None or is_class_under_test(state)
    tainted = state.tainted or other is None or other.tainted
    return _result(state, operation, value, tainted, plain_is_fair and not state.tainted)


def _operate_alone(handle: RemoteHandle, operation: str, *digits: Any) -> Any:
    """Send an operator without an operand that might be an expected answer; `round` may have a number of digits."""
    state = handle.proctor_handle
    if state.base is not None and not is_class_under_test(state):
        return OPERATORS[operation](state.connection.content(state), *digits)
    if not state.rank:
        raise TypeError(f"unsupported operation on {handle!r}")
    head = f"op {operation} {state.number}"
    value = state.connection.request_with(head, *digits) if digits else state.connection.request(head)
    return _result(state, operation, value, state.tainted, not state.tainted)


def _result(state: HandleState, operation: str, value: Any, tainted: bool, plain_is_fair: bool) -> Any:
    state.connection.calls += 1
    if type(value) is not RemoteHandle:
        if value is NotImplemented or not plain_is_fair:
            state.connection.end("not_plain", f"the operator {operation} with a plain operand returned a plain value")
        return value
    result = value.proctor_handle
    if result.sort == "instance" and result.rank != MADE:
        result.rank, result.tainted = DERIVED, tainted
    elif tainted and not is_class_under_test(result):
        result.tainted = True
    return value


def _order(operation: str) -> Callable[[RemoteHandle, Any], Any]:
    def method(self: RemoteHandle, other: Any, /) -> Any:
        state = self.proctor_handle
        if type(other) is not RemoteHandle and state.base is not None:
            return getattr(operator, operation)(state.connection.content(state), other)
        if type(other) is not RemoteHandle or not _comparable(self, other):
            return NotImplemented
        return decide(self, operation, other)

    return method


def _binary(operation: str) -> Callable[[RemoteHandle, Any], Any]:
    return lambda self, other, /: _operate(self, operation, other)


def _unary(operation: str) -> Callable[..., Any]:
    return lambda self, /, *digits: _operate_alone(self, operation, *digits)


BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
          "xor", "or")  # fmt: skip
UNARY = ("neg", "pos", "invert", "abs", "round", "trunc", "floor", "ceil")
for _name in ("lt", "le", "gt", "ge"):
    setattr(RemoteHandle, f"__{_name}__", _order(_name))
for _name in BINARY:
    setattr(RemoteHandle, f"__{_name}__", _binary(_name))
    setattr(RemoteHandle, f"__r{_name}__", _binary(f"r{_name}"))
    if _name != "divmod":
        setattr(RemoteHandle, f"__i{_name}__", _binary(f"i{_name}"))
for _name in UNARY:
    setattr(RemoteHandle, f"__{_name}__", _unary(_name))
