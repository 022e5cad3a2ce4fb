"""Lists the global names that a test program reads and defines, from its symbol table."""

from __future__ import annotations

# the C module behind `symtable`, whose Python classes cost four times the parse
import _symtable  # type: ignore[import-not-found]
import ast
import builtins
import contextlib
from typing import Any

from name_uses import SOLUTION, NameUses

FILENAME = "test.py"


class TestNames:
    """The global names that a test program reads, defines, and imports from the submission."""

    __slots__ = ("_uses", "bound", "check_uncalled", "read", "test", "uncalled")

    def __init__(self, test: str) -> None:
        top = _symtable.symtable(test, FILENAME, "exec")
        self.test = test
        self.read = {name for name, flags in top.symbols.items() if flags & _symtable.USE}
        self.bound = {name for name, flags in top.symbols.items() if flags & _BINDS}
        self.check_uncalled = "check" in self.bound and "check" not in self.read
        self._uses: NameUses | None = None
        self._descend(top)
        if not _RUNNING_TEXT.isdisjoint(self.read):
            self._add_texts(test)
        self.uncalled = self.bound - self.read
        self.read -= self.bound

    def _descend(self, table: Any) -> None:
        for child in table.children:
            for name, flags in child.symbols.items():
                scope = (flags >> _symtable.SCOPE_OFF) & _symtable.SCOPE_MASK
                if flags & _symtable.USE and scope in _GLOBAL:
                    self.read.add(name)
                if flags & _BINDS and scope == _symtable.GLOBAL_EXPLICIT:
                    self.bound.add(name)
            self._descend(child)

    def _add_texts(self, test: str) -> None:
        """Add the names of the texts that the test runs: `exec("assert f(1) == 1")`."""
        for node in ast.walk(ast.parse(test)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _RUNNING_TEXT):
                continue
            for each in node.args[:1]:
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    with contextlib.suppress(SyntaxError, ValueError):
                        found = TestNames(each.value)
                        self.read |= found.read
                        self.bound |= found.bound

    @property
    def read_builtins(self) -> set[str]:
        """The builtins that the test reads and does not define."""
        return {name for name in self.read if hasattr(builtins, name)}

    @property
    def uses(self) -> NameUses:
        """The test's uses of names; parses the text when first read."""
        if self._uses is None:
            self._uses = NameUses(self.test)
        return self._uses

    @property
    def imports_solution(self) -> bool:
        """True if the test imports the submission as a module."""
        return SOLUTION in self.test and self.uses.imports_solution

    @property
    def imported(self) -> set[str]:
        """The names that the test imports from that module."""
        return self.uses.from_solution if self.imports_solution else set()


_RUNNING_TEXT = frozenset(("exec", "eval"))
_BINDS = _symtable.DEF_LOCAL | _symtable.DEF_IMPORT
_GLOBAL = (_symtable.GLOBAL_IMPLICIT, _symtable.GLOBAL_EXPLICIT)
