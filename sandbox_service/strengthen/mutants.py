"""Makes mutants: copies of a Python program with one change that programmers make by mistake.

`operators` lists the changes. Whether a mutant differs from its program at all is not decided here, but by inputs.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sandbox_service.strengthen.operators import OPERATORS, Operators

MOST_NODES = 20_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed program."""

    operator: str
    line: int
    code: str

    @property
    def name(self) -> str:
        """The operator and the line, for people."""
        return f"{self.operator}, line {self.line}"


def of(code: str, most: int, chance: random.Random, operators: Operators = OPERATORS) -> list[Mutant]:
    """Return mutants of a program, operators in turn, each different from the program and the others.

    Args:
        code: Source of the program.
        most: Number of mutants.
        chance: Random numbers, which select among the places of an operator.
        operators: By name.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        return []
    seen, found = {ast.unparse(tree)}, []
    sites = list(_sites(tree))
    for operator, site, variant in _in_turn(sites, chance, operators):
        changed = _changed(tree, site, variant)
        if changed is None or changed in seen:
            continue
        seen.add(changed)
        found.append(Mutant(operator, site.line, changed))
        if len(found) == most:
            break
    return found


@dataclass(frozen=True, slots=True)
class _Site:
    """A node with its place in its parent: the name of a field, and the position if the field is a list."""

    node: ast.AST
    parent: ast.AST
    field: str
    position: int | None

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 0))

    def put(self, node: ast.AST) -> None:
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


def _sites(node: ast.AST) -> Iterator[_Site]:
    """The nodes of a tree with a line, except those of the usual classes for fast input and output."""
    for field, value in ast.iter_fields(node):
        for position, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_fast_output(child):
                continue
            if hasattr(child, "lineno"):
                yield _Site(child, node, field, position)
            yield from _sites(child)


def _is_fast_output(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and "IO" in "".join(map(ast.unparse, node.bases))


def _in_turn(sites: list[_Site], chance: random.Random, operators: Operators) -> Iterator[tuple[str, _Site, ast.AST]]:
    """Operator, site and variant: one of each operator, then a second one of each, …"""
    queues: list[list[tuple[str, _Site, ast.AST]]] = []
    for name, operator in operators.items():
        places = [(name, site, variant) for site in sites for variant in operator(site.node)]
        chance.shuffle(places)
        queues.append(places)
    return one_of_each(queues)


def one_of_each(queues: Sequence[list[T]]) -> Iterator[T]:
    """Take the last item of each list, then a second one of each, until all are empty.

    Args:
        queues: The lists, which are emptied.

    Yields:
        The items.
    """
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop()


def _changed(tree: ast.Module, site: _Site, variant: ast.AST) -> str | None:
    """Return the program with a variant in place of a node, or None if that is no program."""
    if not hasattr(variant, "lineno"):
        ast.fix_missing_locations(ast.copy_location(variant, site.node))
    site.put(variant)
    try:
        code = ast.unparse(tree)
        with warnings.catch_warnings(action="ignore"):  # a mutant may be odd
            compile(code, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return None
    finally:
        site.put(site.node)
    return code
