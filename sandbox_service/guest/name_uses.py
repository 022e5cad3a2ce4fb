"""Analyses how a test program uses names: calls, attributes, classes and imports."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

SOLUTION = "solution"
"""The module name by which a test may import the submission."""


class NameUses:
    """The uses of names in a test.

    `calls`: the calls of each name. `attributes`: the attributes read of a name; `made_attributes`: those read of the
    result of calling it. `only_attributes`: names of which only attributes are read (`np.allclose`). `tried`: names
    that an assertion calls with literals alone. `certain`: names and import lines that are always reached. `data`:
    names that are the only one in an assertion.
    """

    def __init__(self, test: str) -> None:
        tree = ast.parse(test)
        nodes = list(ast.walk(tree))
        self.from_solution: set[str] = set()
        self.modules: set[str] = set()
        self.imports_solution = False
        self.calls: dict[str, list[ast.Call]] = {}
        self.attributes: dict[str, set[str]] = {}
        self.made_attributes: dict[str, set[str]] = {}
        self.classes: set[str] = set()
        self.errors: set[str] = set()
        self.tried: set[str] = set()
        self.data: set[str] = set()
        made = _made_by(nodes)
        for node in nodes:
            self._look_at(node, made)
        reads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        owners = [node.value for node in nodes if isinstance(node, ast.Attribute)]
        bases = Counter(owner.id for owner in owners if isinstance(owner, ast.Name))
        self.only_attributes = {name for name, count in bases.items() if count == reads[name]}
        for kind in reversed([node for node in nodes if isinstance(node, ast.ClassDef)]):
            self.errors.update(_ids(kind.bases) if kind.name in self.errors else ())
        self.certain = frozenset(_certain(tree))
        self.local_lines = frozenset(_local_lines(nodes))
        self.changes_process = any(map(_changes_process, nodes))
        self.uses_files = any(map(_uses_files, nodes))
        self.changes_attributes = _changes_attributes(nodes)
        for module in self.modules:
            self.from_solution |= self.attributes.get(module, set())
        self.imports_solution = self.imports_solution or bool(self.modules)

    def _look_at(self, node: ast.AST, made: dict[str, set[str]]) -> None:
        if isinstance(node, ast.Call):
            self._look_at_call(node, made)
        elif isinstance(node, ast.Attribute):
            self._look_at_attribute(node, made)
        elif isinstance(node, ast.Subscript):
            self._look_at_subscript(node, made)
        elif isinstance(node, ast.ClassDef):
            self.classes.update(_ids(node.bases))
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            self.errors.update(_ids([node.type]))
        elif isinstance(node, ast.Raise) and node.exc is not None:
            self.errors.update(_ids([node.exc.func if isinstance(node.exc, ast.Call) else node.exc]))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._look_at_import(node)
        elif isinstance(node, ast.Assert):
            self._look_at_assertion(node.test)
            self._look_for_data([node.test])

    def _look_at_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            self.modules.update(alias.asname or alias.name for alias in node.names if alias.name == SOLUTION)
        elif node.module == SOLUTION:
            self.imports_solution = True
            self.from_solution.update(alias.name for alias in node.names if alias.name != "*")

    def _look_at_subscript(self, node: ast.Subscript, made: dict[str, set[str]]) -> None:
        method = _SPECIAL_ITEMS.get(type(node.ctx))
        if method is not None:
            for name in made.get(_variable(node.value) or "", ()):
                self.made_attributes.setdefault(name, set()).add(method)

    def _look_at_call(self, node: ast.Call, made: dict[str, set[str]]) -> None:
        function = node.func
        if isinstance(function, ast.Name):
            self.calls.setdefault(function.id, []).append(node)
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if isinstance(function, ast.Name):
            for made_by in made.get(function.id, ()):
                self.made_attributes.setdefault(made_by, set()).add("__call__")
        if name in ("isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"):
            self.classes.update(_ids(node.args[1:2]))
        if name in ("raises", "assertRaises", "assertRaisesRegex", "suppress"):
            self.errors.update(_ids(node.args))
        if name.startswith("assert"):
            self._look_for_data(node.args)
            for argument in node.args:
                self._look_at_assertion(argument)

    def _look_at_attribute(self, node: ast.Attribute, made: dict[str, set[str]]) -> None:
        owner = node.value
        if isinstance(owner, ast.Name):
            self.attributes.setdefault(owner.id, set()).add(node.attr)
        for name in made.get(_variable(owner) or "", ()):
            self.made_attributes.setdefault(name, set()).add(node.attr)
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name):
            self.made_attributes.setdefault(owner.func.id, set()).add(node.attr)

    def _look_at_assertion(self, asserted: ast.expr) -> None:
        called = {
            node.func.id
            for node in ast.walk(asserted)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id)
        }
        if len(called) == 1 and called == set(_ids_within(asserted)):
            self.tried |= called

    def _look_for_data(self, asserted: list[ast.expr]) -> None:
        """Record a name that is alone in an assertion, or in one operand of an `and`."""
        if len(asserted) == 1 and isinstance(asserted[0], ast.BoolOp) and isinstance(asserted[0].op, ast.And):
            for part in asserted[0].values:
                self._look_for_data([part])
            return
        read = {name for part in asserted for name in _ids_within(part)}
        self.data |= read if len(read) == 1 else set()

    @property
    def used_as_classes(self) -> set[str]:
        """The names that the text uses as classes."""
        return self.classes | self.errors | self.made_attributes.keys()

    def tests_data(self, name: str) -> bool:
        """Return True if an assertion is about this global alone, as in `assert LIMIT == 10`.

        Data of the submission beside a result of its functions could decide the comparison: `abs(f() - 3) < epsilon`.

        Args:
            name: the global's name.
        """
        return name in self.data and name not in self.calls

    def fits(self, name: str, found: Any) -> bool:
        """Return True if a library object supports everything that the test does with the name.

        Args:
            name: the name.
            found: the library object.
        """
        if not all(hasattr(found, attribute) for attribute in self.attributes.get(name, ())):
            return False
        calls = self.calls.get(name, [])
        if calls and not callable(found):
            return False
        if callable(found) and self.tests_data(name) and name not in self.attributes:  # `assert count == 2`
            return False
        if isinstance(found, type) and not all(
            hasattr(found, attribute) for attribute in self.made_attributes.get(name, ())
        ):
            return False
        return all(_binds(found, call) for call in calls)


_LOCAL = frozenset(
    (
        "asdict", "astuple", "is_dataclass", "get_type_hints", "getsizeof", "getrefcount", "getmembers", "isfunction",
        "ismethod", "isclass", "isroutine", "isgenerator", "isgeneratorfunction", "iscoroutinefunction", "iscoroutine",
        "isasyncgen", "isasyncgenfunction", "isawaitable", "GeneratorType", "FunctionType", "LambdaType", "MethodType",
        "CoroutineType", "AsyncGeneratorType", "BuiltinFunctionType", "__annotations__", "__mro__", "__bases__",
        "__base__", "__subclasses__", "__slots__", "__wrapped__", "__self__", "__func__", "__cause__", "__context__",
        "__suppress_context__", "__traceback__", "__notes__", "add_note", "pickle", "marshal",
    )
)  # fmt: skip
"""Names of functions and attributes that inspect an object itself, of which a handle shows only a part."""

_PROCESS_WIDE = frozenset(
    (
        "monkeypatch", "catch_warnings", "warns", "deprecated_call", "assertWarns", "assertWarnsRegex", "assertLogs",
        "assertNoLogs", "caplog", "recwarn", "capfd", "wait_for",
    )
)  # fmt: skip
"""Names of functions that change, watch or time the test's process, which is not the candidate's."""


def _local_lines(nodes: list[ast.AST]) -> Iterator[int]:
    """Yield the lines of statements that inspect objects themselves."""
    for statement in nodes:
        if isinstance(statement, (ast.Assert, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
            names = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(statement)}
            if not _LOCAL.isdisjoint(names):
                yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _changes_process(node: ast.AST) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute, ast.arg)):
        if getattr(node, "id", getattr(node, "attr", getattr(node, "arg", None))) in _PROCESS_WIDE:
            return True
        return isinstance(getattr(node, "ctx", None), ast.Store) and _variable(node) in ("sys.stdin", "sys.argv")
    if isinstance(node, ast.ImportFrom):
        return node.module in ("unittest.mock", "mock")
    if isinstance(node, ast.Import):
        return any(alias.name in ("unittest.mock", "mock") for alias in node.names)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _variable(node.value) in ("os.environ", "sys.modules", "environ")
    return False


_FILE_FUNCTIONS = frozenset(
    (
        "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile", "mkstemp", "mkdtemp",
        "tmp_path", "tmpdir", "makedirs", "mkdir", "listdir", "scandir", "rmtree", "chdir", "read_text", "write_text",
        "read_bytes", "write_bytes", "touch", "copyfile", "copytree",
    )
)  # fmt: skip
_FILE_MODULES = ("os", "os.path", "shutil", "io")
"""Modules whose functions of these names are about files: `items.remove` is not."""
_FILE_NAMES = frozenset(("open", "remove", "unlink", "rename", "exists", "isfile", "isdir", "getsize", "move", "copy"))


def _uses_files(node: ast.AST) -> bool:
    """Return True if a node makes, reads or looks for a file: each box has a folder of its own."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "open" or node.func.id in _FILE_FUNCTIONS
    if isinstance(node, ast.arg):
        return node.arg in _FILE_FUNCTIONS
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in _FILE_FUNCTIONS or (node.attr in _FILE_NAMES and _variable(node.value) in _FILE_MODULES)


_SIGNS = _LOCAL | _PROCESS_WIDE | _FILE_FUNCTIONS | _FILE_NAMES | {"argv", "environ", "mock", "modules", "stdin"}
_WORD = re.compile(r"[^\W\d]\w*")


def may_be_inconclusive(test: str) -> bool:
    """Return False if no failure of a test can be due to its own process, to files, or to objects that it inspects.

    Most tests have none of the words by which `NameUses` tells that, and need not be parsed.

    Args:
        test: its text.
    """
    return not _SIGNS.isdisjoint(_WORD.findall(test))


_CHANGES = frozenset(
    (
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "clear",
        "sort", "reverse", "rotate", "add", "discard", "update", "setdefault", "subtract", "difference_update",
        "intersection_update", "symmetric_difference_update",
    )
)  # fmt: skip
"""Methods that change a list, a dictionary, a set or a deque."""


def _changes_attributes(nodes: list[ast.AST]) -> bool:
    """Return True if the text changes the value of an attribute or an item in place.

    Examples: `stack.items.append(1)`, `d.by_id[1] = 2`, `grid[0][1] = 2`, `row = grid[0]` and `row.append(1)`.
    """
    attributes = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Subscript))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            changed = node.func.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node.value
        else:
            continue
        if isinstance(changed, (ast.Attribute, ast.Subscript)):
            return True
        if isinstance(changed, ast.Name) and changed.id in attributes:
            return True
    return False


_SPECIAL_ITEMS: dict[type, str] = {ast.Store: "__setitem__", ast.Del: "__delitem__"}


def _ids(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names among the nodes, including those in tuples."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Tuple):
            yield from _ids(node.elts)


def _ids_within(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not hasattr(builtins, each.id))


def _made_by(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Return, by variable, the names whose calls were assigned to it (`stack = Stack()`, `with Timer() as timer`)."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr | None, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            pairs = [(item.optional_vars, item.context_expr) for item in node.items]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            name = _variable(target)
            if name is not None and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                found.setdefault(name, set()).add(value.func.id)
    return found


def _variable(node: ast.AST | None) -> str | None:
    """Return a variable, or an attribute of one (`self.stack`), as text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _certain(tree: ast.AST) -> Iterator[Any]:
    """Yield names and import lines that are reached whatever the candidate answers, unless an earlier step fails."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
        waiting.extend(_certain_children(node))


def _certain_children(node: ast.AST) -> Iterator[ast.AST]:
    for field, value in ast.iter_fields(node):
        if (type(node), field) in _UNCERTAIN:
            continue
        children = value if isinstance(value, list) else [value]
        first_only = isinstance(node, ast.BoolOp) and field == "values"
        yield from (child for child in children[: 1 if first_only else None] if isinstance(child, ast.AST))


_UNCERTAIN = {
    (ast.If, "body"), (ast.If, "orelse"), (ast.IfExp, "body"), (ast.IfExp, "orelse"), (ast.Assert, "msg"),
    (ast.While, "body"), (ast.While, "orelse"), (ast.Try, "handlers"), (ast.Try, "orelse"), (ast.Raise, "exc"),
    (ast.Raise, "cause"), (ast.ExceptHandler, "body"),
}  # fmt: skip


def _binds(found: Any, call: ast.Call) -> bool:
    """Return True if a call fits the signature, as far as both are known."""
    import inspect

    stars = any(isinstance(argument, ast.Starred) for argument in call.args)
    if stars or any(keyword.arg is None for keyword in call.keywords):
        return True
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*call.args, **{str(keyword.arg): keyword.value for keyword in call.keywords})
    except TypeError:
        return False
    return True
