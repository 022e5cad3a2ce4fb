"""Operators of mutation that waste time: the program says the same and needs many times longer on a large input.

They follow programs that are right and too slow: a loop inside a loop, a search in a list, no memory of results.
"""

from __future__ import annotations

import ast

from sandbox_service.strengthen.operators import Operators, Variants

_MEMORIES = ("cache", "lru_cache")


def _loop_in_loop(node: ast.AST) -> Variants:
    """A loop that goes through all its items at each of them."""
    if not isinstance(node, ast.For) or not _can_be_repeated(node.iter):
        return []
    again = ast.For(ast.Name("_again", ast.Store()), node.iter, [ast.Pass()], [])
    return [ast.For(node.target, node.iter, [again, *node.body], node.orelse)]


def _can_be_repeated(items: ast.expr) -> bool:
    """Return whether items are a range or have a name; of an iterator that has a name, the first turn takes all."""
    is_range = isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "range"
    return is_range or isinstance(items, ast.Name)


def _linear_membership(node: ast.AST) -> Variants:
    """A search in a list instead of a set or a dictionary."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
        return []
    listed = ast.Call(ast.Name("list", ast.Load()), node.comparators, [])
    return [ast.Compare(node.left, node.ops, [listed])]


def _lost_memory(node: ast.AST) -> Variants:
    """A function that computes known results again."""
    if not isinstance(node, ast.FunctionDef):
        return []
    left = [each for each in node.decorator_list if not any(name in ast.unparse(each) for name in _MEMORIES)]
    if len(left) == len(node.decorator_list):
        return []
    return [ast.FunctionDef(node.name, node.args, node.body, left, node.returns)]


def _linear_search(node: ast.AST) -> Variants:
    """A count of the smaller items instead of bisection."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords:
        return []
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    signs = {"bisect_left": ast.Lt(), "bisect_right": ast.LtE(), "bisect": ast.LtE()}
    if name not in signs:
        return []
    item = ast.Name("_item", ast.Load())
    smaller = ast.Compare(item, [signs[name]], [node.args[1]])
    every = ast.comprehension(ast.Name("_item", ast.Store()), node.args[0], [], 0)
    return [ast.Call(ast.Name("sum", ast.Load()), [ast.GeneratorExp(smaller, [every])], [])]


SLOW_OPERATORS: Operators = {
    "lost memory": _lost_memory,
    "linear search": _linear_search,
    "linear membership": _linear_membership,
    "loop in a loop": _loop_in_loop,
}
