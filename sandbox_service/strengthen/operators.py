"""Operators of mutation: functions from a node of Python's syntax to the nodes that may replace it.

Each returns a list of variants, empty where it does not apply, and may change the node that it is given. They follow
mistakes that programs of contests and models have: boundaries, off by one, forgotten cases, wrong starts, wrong order,
numbers that overflow in other languages.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping

Variants = list[ast.AST]
Operators = Mapping[str, Callable[[ast.AST], Variants]]

_REVERSED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BOUNDARY: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_ARITHMETIC: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add, ast.FloorDiv), ast.FloorDiv: (ast.Mult,),
    ast.Div: (ast.Mult,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitOr,),
}  # fmt: skip
_OPPOSITES: Mapping[str, str] = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}


def _comparison(node: ast.AST) -> Variants:
    return _compared(node, _REVERSED)


def _boundary(node: ast.AST) -> Variants:
    return _compared(node, _BOUNDARY)


def _equality(node: ast.AST) -> Variants:
    """== becomes an order, and an order equality."""
    if not isinstance(node, ast.Compare):
        return []
    kinds = (ast.LtE, ast.GtE) if isinstance(node.ops[0], ast.Eq) else (ast.Eq,)
    if not isinstance(node.ops[0], ast.Eq | ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return []
    return [ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators) for kind in kinds]


def _compared(node: ast.AST, kinds: Mapping[type[ast.cmpop], type[ast.cmpop]]) -> Variants:
    if not isinstance(node, ast.Compare):
        return []
    found: Variants = []
    for place, each in enumerate(node.ops):
        if type(each) in kinds:
            ops = [*node.ops[:place], kinds[type(each)](), *node.ops[place + 1 :]]
            found.append(ast.Compare(node.left, ops, node.comparators))
    return found


def _arithmetic(node: ast.AST) -> Variants:
    if not isinstance(node, ast.BinOp):
        return []
    return [ast.BinOp(node.left, kind(), node.right) for kind in _ARITHMETIC.get(type(node.op), ())]


def _operand_order(node: ast.AST) -> Variants:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        return [ast.BinOp(node.right, node.op, node.left)]
    return []


def _lost_operand(node: ast.AST) -> Variants:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Mod):
        return [node.left]
    return []


def _division(node: ast.AST) -> Variants:
    """Whole and real division, and division that rounds up."""
    if not isinstance(node, ast.BinOp):
        return []
    if isinstance(node.op, ast.Div):
        return [ast.BinOp(node.left, ast.FloorDiv(), node.right)]
    if isinstance(node.op, ast.FloorDiv):
        up = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), node.left), ast.FloorDiv(), node.right))
        real = ast.Call(ast.Name("int", ast.Load()), [ast.BinOp(node.left, ast.Div(), node.right)], [])
        return [up, real]
    return []


def _constant(node: ast.AST) -> Variants:
    if not isinstance(node, ast.Constant) or type(node.value) is not int:
        return []
    values = {node.value + 1, node.value - 1, 0, *((node.value // 10,) if abs(node.value) >= 100 else ())}
    return [ast.Constant(value) for value in sorted(values - {node.value})]


def _off_by_one(node: ast.AST) -> Variants:
    """Bounds of ranges, subscripts and slices."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
        stop = 0 if len(node.args) == 1 else 1
        found: Variants = [ast.Call(node.func, _moved(node.args, stop, by), []) for by in (1, -1)]
        if len(node.args) > 1:
            found += [ast.Call(node.func, _moved(node.args, 0, by), []) for by in (1, -1)]
        return found
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if isinstance(node.slice, ast.Slice):
            return _moved_slices(node, node.slice)
        if not isinstance(node.slice, ast.Tuple | ast.Constant):
            return [ast.Subscript(node.value, _plus(node.slice, by), node.ctx) for by in (1, -1)]
    return []


def _moved_slices(node: ast.Subscript, bounds: ast.Slice) -> Variants:
    found: Variants = []
    for by in (1, -1):
        if bounds.lower is not None:
            found.append(
                ast.Subscript(node.value, ast.Slice(_plus(bounds.lower, by), bounds.upper, bounds.step), node.ctx)
            )
        if bounds.upper is not None:
            found.append(
                ast.Subscript(node.value, ast.Slice(bounds.lower, _plus(bounds.upper, by), bounds.step), node.ctx)
            )
    return found


def _moved(arguments: list[ast.expr], place: int, by: int) -> list[ast.expr]:
    return [_plus(each, by) if at == place else each for at, each in enumerate(arguments)]


def _plus(value: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(value, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def _dropped_branch(node: ast.AST) -> Variants:
    """A branch that does nothing, and an `else` that is gone."""
    if not isinstance(node, ast.If):
        return []
    found: Variants = [ast.If(node.test, [ast.Pass()], node.orelse)]
    if node.orelse:
        found.append(ast.If(node.test, node.body, []))
        found.append(ast.If(ast.Constant(value=True), node.body, []))
    return found


def _negated(node: ast.AST) -> Variants:
    if isinstance(node, ast.If):
        return [ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)]
    if isinstance(node, ast.While):
        return [ast.While(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)]
    if isinstance(node, ast.IfExp):
        return [ast.IfExp(node.test, node.orelse, node.body), node.body, node.orelse]
    return []


def _lost_condition(node: ast.AST) -> Variants:
    """One of the parts of `and` and `or`, or the other operator."""
    if not isinstance(node, ast.BoolOp):
        return []
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    found: Variants = [ast.BoolOp(other, node.values)]
    for place in range(len(node.values)):
        left = [each for at, each in enumerate(node.values) if at != place]
        found.append(left[0] if len(left) == 1 else ast.BoolOp(node.op, left))
    return found


def _early_end(node: ast.AST) -> Variants:
    """A loop that ends after its first turn, and a function that returns the value of its first branch."""
    if isinstance(node, ast.For):
        return [ast.For(node.target, node.iter, [*node.body, ast.Break()], node.orelse)]
    if isinstance(node, ast.While):
        return [ast.While(node.test, [*node.body, ast.Break()], node.orelse)]
    if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
        return [node.body[0]]
    return []


def _skipped_items(node: ast.AST) -> Variants:
    """A loop without its first, without its last, or with only the first thousand items."""
    if not isinstance(node, ast.For):
        return []
    items = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
    one = ast.Constant(1)
    bounds = [ast.Slice(one, None, None), ast.Slice(None, ast.UnaryOp(ast.USub(), one), None)]
    found: Variants = []
    for each in [*bounds, ast.Slice(None, ast.Constant(1000), None)]:
        found.append(ast.For(node.target, ast.Subscript(items, each, ast.Load()), node.body, node.orelse))
    return found


def _break_or_continue(node: ast.AST) -> Variants:
    if isinstance(node, ast.Break):
        return [ast.Continue(), ast.Pass()]
    if isinstance(node, ast.Continue):
        return [ast.Break(), ast.Pass()]
    return []


def _swapped_arguments(node: ast.AST) -> Variants:
    if not isinstance(node, ast.Call) or len(node.args) < 2 or any(isinstance(each, ast.Starred) for each in node.args):
        return []
    if isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "print"):
        return []
    return [ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)]


def _sort_order(node: ast.AST) -> Variants:
    """Sorting the other way round, and not at all."""
    if not isinstance(node, ast.Call):
        return []
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name not in ("sorted", "sort"):
        return []
    others = [each for each in node.keywords if each.arg != "reverse"]
    if len(others) == len(node.keywords):
        others.append(ast.keyword("reverse", ast.Constant(value=True)))
    found: Variants = [ast.Call(node.func, node.args, others)]
    if any(each.arg == "key" for each in node.keywords):
        found.append(ast.Call(node.func, node.args, [each for each in node.keywords if each.arg != "key"]))
    if name == "sorted":
        found.append(ast.Call(ast.Name("list", ast.Load()), node.args[:1], []))
    return found


def _opposite(node: ast.AST) -> Variants:
    """Min and max, any and all, and only the first of their arguments."""
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Name) and node.func.id in _OPPOSITES:
        found: Variants = [ast.Call(ast.Name(_OPPOSITES[node.func.id], ast.Load()), node.args, node.keywords)]
        if len(node.args) > 1:
            found += [node.args[0], node.args[1]]
        return found
    if isinstance(node.func, ast.Attribute) and node.func.attr in _OPPOSITES:
        changed = ast.Attribute(node.func.value, _OPPOSITES[node.func.attr], ast.Load())
        return [ast.Call(changed, node.args, node.keywords)]
    return []


def _initial_value(node: ast.AST) -> Variants:
    """Another start of a variable: one more or less; infinity becomes a number that is too small."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    value = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
    if isinstance(value, ast.Constant) and type(value.value) is int:
        starts: list[ast.expr] = [_plus(node.value, 1), _plus(node.value, -1)]
        if abs(value.value) >= 10_000:
            starts = [ast.Constant(1000), ast.Constant(0)]
        return [ast.Assign(node.targets, start) for start in starts]
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "float":
        return [ast.Assign(node.targets, ast.Constant(start)) for start in (1000, 0)]
    return []


def _lost_statement(node: ast.AST) -> Variants:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return [ast.Pass()] if is_call or isinstance(node, ast.AugAssign) else []


def _augmented(node: ast.AST) -> Variants:
    if not isinstance(node, ast.AugAssign):
        return []
    found: Variants = [ast.AugAssign(node.target, kind(), node.value) for kind in _ARITHMETIC.get(type(node.op), ())]
    target = copy.deepcopy(node.target)
    return [*found, ast.Assign([target], node.value)]


def _overflow(node: ast.AST) -> Variants:
    """A sum or a product that is kept in 32 bits."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Mult):
        target = copy.deepcopy(node.target)
        loaded = copy.deepcopy(node.target)
        loaded.ctx = ast.Load()
        return [ast.Assign([target], _wrapped(ast.BinOp(loaded, node.op, node.value)))]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return [_wrapped(node)]
    return []


def _wrapped(value: ast.expr) -> ast.expr:
    half = ast.Constant(1 << 31)
    return ast.BinOp(ast.BinOp(ast.BinOp(value, ast.Add(), half), ast.Mod(), ast.Constant(1 << 32)), ast.Sub(), half)


def _lost_duplicates(node: ast.AST) -> Variants:
    """A list without its repeated items."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("list", "sorted")
        and node.args
    ):
        once = ast.Call(ast.Attribute(ast.Name("dict", ast.Load()), "fromkeys", ast.Load()), node.args[:1], [])
        return [ast.Call(node.func, [once, *node.args[1:]], node.keywords)]
    return []


def _lost_call(node: ast.AST) -> Variants:
    """The argument of a call instead of its result."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return [node.args[0]] if node.func.id in ("abs", "set", "sorted", "reversed", "round") else []
    return []


OPERATORS: Operators = {
    "boundary": _boundary,
    "off by one": _off_by_one,
    "constant": _constant,
    "dropped branch": _dropped_branch,
    "initial value": _initial_value,
    "comparison": _comparison,
    "equality": _equality,
    "arithmetic": _arithmetic,
    "lost condition": _lost_condition,
    "early end": _early_end,
    "skipped items": _skipped_items,
    "opposite function": _opposite,
    "sort order": _sort_order,
    "overflow": _overflow,
    "lost duplicates": _lost_duplicates,
    "negated condition": _negated,
    "break or continue": _break_or_continue,
    "swapped arguments": _swapped_arguments,
    "operand order": _operand_order,
    "lost operand": _lost_operand,
    "division": _division,
    "augmented assignment": _augmented,
    "lost statement": _lost_statement,
    "lost call": _lost_call,
}
