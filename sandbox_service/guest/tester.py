"""The tester process of an assert test: runs the test program, which reaches the submission only through messages.

The test sees the submission as `RemoteHandle`s: calling one sends and gets plain values. This process alone decides.
Its report is one JSON object, written last. A failure on the other side (death, a forged or oversized frame) ends the
run at once, and the test's own `except` cannot catch that.

Covered: no object, code, type or exception of the submission's exists here; the candidate answers an operator only
where that cannot make a wrong answer pass (see `remote_handle`); the end of an iteration reaches the test only from
`next` on a generator's handle; the test's text alone decides who supplies a name (see `name_resolution`); a submission
cannot cause `bad_test` (see `connection`).
NOT covered: weak tests, hard-coded answers, answers that depend on earlier calls, and tests that call from several
threads at once. The host enforces the time limit.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

import candidate
import live_globals
import proxy_classes
import type_name
from channel import Channel, frame
from connection import Connection
from error_codec import MODULE
from explanations import exception_text, explain, line_of
from framework_tests import FrameworkTests, is_skip
from name_resolution import resolve
from name_table import FILENAME, TestNames
from name_uses import SOLUTION, may_be_inconclusive
from prelude import run_prelude
from remote_handle import RemoteHandle


def run(
    read_fd: int, write_fd: int, report_fd: int, test: str, prelude: str | None, entry_point: str | None,
    needs_call: bool = True, audit: dict[str, Any] | None = None,
) -> int:  # fmt: skip
    """Run a test program against the candidate at the other end of the pipes, and write the report.

    An audit test runs before it, in the candidate's fresh process, and has the first line of the report.

    Args:
        read_fd: pipe to read replies from.
        write_fd: pipe to write requests to.
        report_fd: file for the report.
        test: source of the test program.
        prelude: source of the prelude, the name of the built-in one, or None.
        entry_point: expression for the candidate, or None.
        needs_call: a test that never calls the candidate is `bad_test`; else it may pass.
        audit: `code`, `entry_point` and `needs_call` of an audit test with the same prelude, or None.

    Returns:
        The exit status.
    """
    channel, stdout = Channel(read_fd, write_fd), sys.stdout

    def scored() -> None:
        sys.stdout = stdout
        _run_test(Connection(channel, report_fd), _new_main(), test, prelude, entry_point, needs_call)

    if audit is not None:  # if it fails, `end` runs the scored test below it, and exits
        connection = Connection(channel, report_fd, scored)
        _run_test(connection, _new_main(), audit["code"], prelude, audit["entry_point"], audit["needs_call"])
    scored()
    return 0


def _new_main() -> dict[str, Any]:
    """Return the namespace of a new `__main__` module."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=FILENAME)
    sys.modules["__main__"] = main
    return main.__dict__


def warm() -> None:
    """Rehearse both halves of a small assert test in this process; called once, in the zygote.

    Code that has run a few times is specialised in place; a fork then copies fewer pages (a tenth of an assert test's
    CPU time). All objects made here are closed and dropped.
    """
    main = sys.modules["__main__"]
    program = compile(_REHEARSAL_PROGRAM, FILENAME, "exec")

    def test_half(read_fd: int, write_fd: int, report_fd: int) -> int:
        return run(read_fd, write_fd, report_fd, _REHEARSAL_TEST, "", "f")

    def candidate_half(read_fd: int, write_fd: int, _: int) -> int:
        sys.modules["__main__"] = types.ModuleType("__main__")
        return candidate.serve(read_fd, write_fd, program, "")

    for _ in range(_REHEARSALS):
        _rehearse(_rehearse(_REHEARSAL_REPLIES, test_half), candidate_half)
        _rehearse_failure()
    sys.modules["__main__"] = main
    sys.modules.pop(MODULE, None)  # the rehearsed candidate; a stdin program may import a file of that name


def _rehearse(heard: bytes, half: Callable[[int, int, int], int]) -> bytes:
    """Run one half on the given input bytes and return what it sends."""
    pipes = os.pipe(), os.pipe(), os.pipe()
    os.write(pipes[0][1], heard)
    os.close(pipes[0][1])
    half(pipes[0][0], pipes[1][1], pipes[2][1])
    said = os.read(pipes[1][0], _PIPE_BYTES)
    for fd in (pipes[0][0], *pipes[1], *pipes[2]):
        os.close(fd)
    return said


def _rehearse_failure() -> None:
    """Explain a failed assertion, as at the end of a test that the submission does not pass."""
    run = _Run(Connection(Channel(-1, -1), -1), TestNames(_REHEARSAL_TEST), {})
    try:
        exec(compile(_REHEARSAL_TEST, FILENAME, "exec"), {"f": lambda _: 0})
    except AssertionError as error:
        run._inconclusive(error)
        explain(error, _REHEARSAL_TEST)


_PIPE_BYTES = 1 << 16
_REHEARSALS = 24  # specialises code that a run executes once; with two, an assert test copies 40 more pages
_REHEARSAL_PROGRAM = "def f(x):\n    x.append(1)\n    return x, {'a': 1.5}\n"
_REHEARSAL_TEST = """
def check(candidate):
    for _ in range(16):
        numbers = [0]
        assert candidate(numbers) == ([0, 1], {"a": 1.5}) and numbers == [0, 1]
check(f)
"""
_REHEARSAL_REPLIES = frame("ok", '[[[["f",[{"H":[0,"function","f"]}]]],null]]') + 16 * frame(
    "ok", '[{"T":[{"@":0},{"D":[["a"],[1.5]]}]},[],[[0,[0,1]]]]'
)


# --- run -------------------------------------------------------------------------------------------------------------


def _run_test(
    connection: Connection, namespace: dict[str, Any], test: str, prelude: str | None, entry_point: str | None,
    needs_call: bool,
) -> None:  # fmt: skip
    code, names = _read_test(connection, test)
    entry = _EntryPoint(connection, entry_point)
    try:
        connection.classes = run_prelude(prelude, namespace)
    except BaseException as error:
        connection.end("bad_test", f"the prelude failed: {explain(error, test)}")
    run = _Run(connection, names, {})
    try:
        handle = _bind(connection, namespace, names, entry, run.missing)
        if connection.data_names:
            code = live_globals.compile_test(test, connection.data_names)
            namespace[live_globals.READ] = connection.global_value
        framework = _framework_tests(test, namespace)
        run.run_part(lambda: exec(code, namespace), framework)
        if names.check_uncalled:
            run.run_part(lambda: namespace["check"](handle), framework)
        if framework is not None:
            run.run_part(lambda: framework.run(names.uncalled), framework)
            run.check_framework(framework)
    except BaseException as error:
        run.end_by(error)
    if needs_call and not connection.calls:
        run.never_called()
    connection.report("passed", "")


def _framework_tests(test: str, namespace: dict[str, Any]) -> FrameworkTests | None:
    """Return the tests written for a framework, if the text may contain any."""
    return FrameworkTests(test, namespace) if any(sign in test for sign in _FOR_A_FRAMEWORK) else None


_FOR_A_FRAMEWORK = ("unittest", "pytest", "def test", "class Test")


def _read_test(connection: Connection, test: str) -> tuple[types.CodeType, TestNames]:
    try:
        return compile(test, FILENAME, "exec", dont_inherit=True), TestNames(test)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        connection.end("bad_test", f"the test does not compile: {type(error).__name__}: {error}")


class _Run:
    """One run of a test program, and the result for each way that it can end.

    `missing`: names that have no supplier, and the result if the test fails for lack of one.
    """

    def __init__(self, connection: Connection, names: TestNames, missing: dict[str, str]) -> None:
        self.connection = connection
        self.names = names
        self.missing = missing

    def run_part(self, action: Callable[[], object], framework: FrameworkTests | None) -> None:
        """Run a part of the program. `sys.exit(0)`, which only the test itself can call, ends the part successfully.

        Args:
            action: runs the part.
            framework: the framework tests, if there are any.

        Raises:
            SystemExit: the part exits with another status.
        """
        try:
            action()
        except SystemExit as end:
            if framework is not None:
                self.check_framework(framework)
            if end.code not in (None, 0):
                raise

    def check_framework(self, framework: FrameworkTests) -> None:
        """End the run if a framework recorded a failure.

        Args:
            framework: the framework tests.
        """
        if framework.recorded:
            self.end_by(framework.recorded[0])
        if framework.refused:
            self.connection.end("bad_test", framework.refused)
        if not framework.succeeded():
            self.connection.end("failed", "a unittest test did not succeed")

    def never_called(self) -> NoReturn:
        """End the run of a test that finished without a call."""
        for name, result in self.missing.items():
            if result == "raised":
                self.connection.end(result, f"NameError: name {name!r} is not defined")
        self.connection.end("bad_test", "the test never called the candidate")

    def end_by(self, error: BaseException) -> NoReturn:
        """End the run with the result for an exception that left the program.

        Args:
            error: the exception.
        """
        connection = self.connection
        if reason := self._inconclusive(error):
            connection.end("bad_test", f"{reason}: {explain(error, self.names.test)}")
        if error is connection.replies.raised:
            connection.end("raised", connection.replies.raised_text)
        if is_skip(error) and not connection.replies.received_value:
            connection.end("bad_test", f"the test skips itself: {exception_text(error)}")
        if isinstance(error, NameError) and error.name in self.missing:
            connection.end(self.missing[error.name], f"NameError: {exception_text(error)}")
        if isinstance(error, ImportError):
            connection.end(self._import_result(error), explain(error, self.names.test))
        if isinstance(error, (TypeError, OSError)) and self._reads_source(error):
            connection.end("bad_test", f"the test reads the candidate's source: {explain(error, self.names.test)}")
        connection.end("failed", explain(error, self.names.test))

    def _inconclusive(self, error: BaseException) -> str | None:
        """Return why a failure says nothing about the submission, decided by the test's text alone; None if it does."""
        if not may_be_inconclusive(self.names.test):
            return None
        uses = self.names.uses
        if uses.changes_process:
            return "the test changes or watches its own process, not the submission's"
        if uses.uses_files:
            return "the test uses files, and the submission's box has others"
        if line_of(error) in uses.local_lines:
            return "the test inspects an object that exists only in the submission's box"
        return None

    def _import_result(self, error: ImportError) -> str:
        """Return the result for a failed import: the submission lacks a name, or the test needs a missing module."""
        if error.name == SOLUTION:
            return "raised"
        return "bad_test" if line_of(error) in self.names.uses.certain else "failed"

    def _reads_source(self, error: BaseException) -> bool:
        """Return True if the exception comes from `inspect.getsource` or the like, which the test's text calls."""
        if "getsource" not in self.names.test or self.names.uses.certain.isdisjoint(("inspect", "getsource")):
            return False
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        return trace is not None and trace.tb_frame.f_globals.get("__name__") == "inspect"


# --- names -----------------------------------------------------------------------------------------------------------


class _EntryPoint:
    """The expression for the candidate: a name, optionally followed by attributes and calls with literal arguments."""

    __slots__ = ("expression", "is_name", "root")

    def __init__(self, connection: Connection, expression: str | None) -> None:
        self.expression = expression
        self.is_name = expression is not None and expression.isidentifier()
        self.root = expression if expression is None or self.is_name else _root_name(connection, expression)


def _root_name(connection: Connection, expression: str) -> str:
    try:
        node: ast.AST = ast.parse(expression, mode="eval").body
        for part in ast.walk(node):
            if not isinstance(part, _ENTRY_NODES):
                raise ValueError(f"{type(part).__name__} is not allowed in an entry point")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        connection.end("bad_test", f"entry point {expression[:200]!r}: {error}")
    while not isinstance(node, ast.Name):
        if not isinstance(node, (ast.Attribute, ast.Call)):
            connection.end("bad_test", f"entry point {expression[:200]!r} does not begin with a name")
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id


_ENTRY_NODES = (
    ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Dict,
    ast.UnaryOp, ast.USub, ast.Load,
)  # fmt: skip


def _bind(
    connection: Connection, namespace: dict[str, Any], names: TestNames, entry: _EntryPoint, missing: dict[str, str]
) -> Any:
    """Bind the names that the test does not define itself.

    `missing` is filled with the names that stay unbound, and the result if the test reads them.

    Returns:
        The argument for `check`.
    """
    if "type" in names.read_builtins:
        namespace["type"] = type_name.made_for(connection.class_of)
    resolution = resolve(names, namespace, entry.root)
    connection.text.set_names(names, resolution)
    needs_entry = entry.expression is not None and names.check_uncalled
    found, handle = connection.look_up(
        sorted(resolution.submission | resolution.submission_classes), entry.expression if needs_entry else None
    )
    namespace.update(resolution.library)
    for name in resolution.submission | resolution.submission_classes:
        if not _bind_one(
            connection, namespace, name, found.get(name, _ABSENT), names, is_class=name in resolution.submission_classes
        ):
            missing[name] = "raised"
    missing.update((name, "bad_test" if name in names.uses.certain else "failed") for name in resolution.unresolved)
    if names.imports_solution:
        _add_solution_module(namespace, names.imported, missing)
    if entry.expression is not None or not names.check_uncalled:
        return handle
    if resolution.candidate is None:
        connection.end("bad_test", "check(candidate) needs an entry_point: the test names no candidate, or several")
    if resolution.candidate in missing:
        connection.end("raised", f"NameError: name {resolution.candidate!r} is not defined")
    return namespace[resolution.candidate]


def _bind_one(
    connection: Connection, namespace: dict[str, Any], name: str, value: Any, names: TestNames, *, is_class: bool
) -> bool:
    """Bind one name of the submission's; return False if the submission lacks a usable definition."""
    state = value.proctor_handle if type(value) is RemoteHandle else None
    if isinstance(value, type) and issubclass(value, Exception) and value not in proxy_classes.TOO_WIDE:
        namespace[name] = value  # `Missing = KeyError`
        return True
    if state is None:
        if is_class or value is _ABSENT or not names.uses.tests_data(name):
            return False
        # the test checks data that the submission computed while it was loaded
        connection.calls += 1
        connection.replies.received_value = True
        connection.data_names.add(name)
        namespace[name] = value
        return True
    if is_class and state.sort not in ("class", "error"):
        return False
    state.bound, state.helper = name, is_class
    namespace[name] = connection.class_of_errors(value) if state.sort == "error" else value
    return True


_ABSENT = object()


def _add_solution_module(namespace: dict[str, Any], imported: set[str], missing: dict[str, str]) -> None:
    """Let the test import the submission's names from a module."""
    module = types.ModuleType(SOLUTION)
    for name in imported:
        if name not in missing:
            setattr(module, name, namespace.pop(name))
    sys.modules[SOLUTION] = module
