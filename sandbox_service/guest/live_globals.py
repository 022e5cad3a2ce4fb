"""Compiles a test so that each read of the submission's data asks for it: a function may have changed it since."""

from __future__ import annotations

import ast
import types

from name_table import FILENAME

READ = "__proctor_global__"
"""The function that returns the present value of a global of the submission's."""


def compile_test(test: str, names: set[str]) -> types.CodeType:
    """Return the test's code, in which `READ` supplies these globals.

    A name that the test also uses for a variable of its own is left as it is: its value is the one after loading.

    Args:
        test: the test's text, which compiles.
        names: names of the submission's data.
    """
    tree = ast.parse(test)
    nodes = list(ast.walk(tree))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    changed = ast.fix_missing_locations(_Reads(names - own).visit(tree))
    return compile(changed, FILENAME, "exec", dont_inherit=True)


class _Reads(ast.NodeTransformer):
    """Replaces reads of these names by calls of `READ`."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names:
            return node
        return ast.copy_location(ast.Call(ast.Name(READ, ast.Load()), [ast.Constant(node.id)], []), node)
