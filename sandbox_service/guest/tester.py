"""The tester's half of an assert test: runs the data set's program, which reaches the submission by messages only.

The test sees the submission as `Handle`s: calling one sends plain values and gets plain values. This process alone
decides; its report is one JSON object written as the very last thing, and whatever goes wrong on the other side
(death, a forged or oversized frame) ends the run at once, in a way that the test's own `except` cannot swallow.

Covered: no object, code, type or exception of the submission's making exists here; handles compare by identity and
refuse arithmetic, order and membership, so that the candidate has no say in a comparison; StopIteration never reaches
the test except from `next` on a generator's handle; a name that the test reads is only ever the submission's where the
rules of `_bind` say so.
NOT covered: tests that are weak in themselves, hard-coded answers, answers that adapt to the calls made so far, tests
that call from several threads at once. The time limit is the host's: a test that is made to work for ever is killed.
"""

from __future__ import annotations

# what `symtable` is made of: that module's own classes cost four times the parse
import _symtable  # type: ignore[import-not-found]
import ast
import builtins
import contextlib
import functools
import importlib
import itertools
import json as json_module
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import candidate
import values
from candidate import run_prelude
from values import Channel, Decoder, Encoder, Json, NotPlain, World

FILENAME = "test.py"
MESSAGE_CHARACTERS = 2_000

RECEIVED_BYTES = 256 << 20
ITERATOR_ITEMS = 1_000_000
CALLBACKS = 100_000
CALLBACK_DEPTH = 20

SORTS = ("class", "function", "iterator", "instance")
"""What a handle may stand for."""

_BUILTIN_FUNCTIONS: dict[Any, str] = {
    getattr(builtins, name): name
    for name in (
        "abs", "all", "any", "bin", "chr", "divmod", "enumerate", "filter", "hash", "hex", "len", "map", "max", "min",
        "oct", "ord", "pow", "print", "repr", "reversed", "round", "sorted", "sum", "zip",
    )
}  # fmt: skip
"""Builtins that a test may pass as an argument: the candidate gets its own."""

_CALLABLES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


def run(read_fd: int, write_fd: int, report_fd: int, test: str, prelude: str | None, entry_point: str | None) -> int:
    """Run a test program against the candidate at the other end of the pipes; write the report; the exit status."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    desk = _Desk(Channel(read_fd, write_fd), report_fd)
    _judge(desk, main.__dict__, test, prelude, entry_point)
    return 0


def warm() -> None:
    """Once, in the zygote: play both halves of a small pair in this process, each against what the other would say.

    Code that has run a few times is specialised in place; a fork that finds it so copies fewer pages (a tenth of a
    pair's CPU). Everything made here is closed and dropped again.
    """
    main = sys.modules["__main__"]
    program = compile(_REHEARSAL_PROGRAM, FILENAME, "exec")

    def test_half(read_fd: int, write_fd: int, report_fd: int) -> int:
        return run(read_fd, write_fd, report_fd, _REHEARSAL_TEST, "", "f")

    def candidate_half(read_fd: int, write_fd: int, _: int) -> int:
        sys.modules["__main__"] = types.ModuleType("__main__")
        return candidate.serve(read_fd, write_fd, program, "")

    for _ in range(2):
        _rehearse(_rehearse(_REHEARSAL_REPLIES, test_half), candidate_half)
    sys.modules["__main__"] = main


def _rehearse(heard: bytes, half: Callable[[int, int, int], int]) -> bytes:
    """Let one half hear what is given; what it says."""
    pipes = os.pipe(), os.pipe(), os.pipe()
    os.write(pipes[0][1], heard)
    os.close(pipes[0][1])
    half(pipes[0][0], pipes[1][1], pipes[2][1])
    said = os.read(pipes[1][0], _PIPE_BYTES)
    for fd in (pipes[0][0], *pipes[1], *pipes[2]):
        os.close(fd)
    return said


_PIPE_BYTES = 1 << 16
_REHEARSAL_PROGRAM = "def f(x):\n    x.append(1)\n    return x, {'a': 1.5}\n"
_REHEARSAL_TEST = """
def check(candidate):
    for _ in range(16):
        numbers = [0]
        assert candidate(numbers) == ([0, 1], {"a": 1.5}) and numbers == [0, 1]
check(f)
"""
_REHEARSAL_REPLIES = values.frame("ok", '[[[["f",{"H":[0,"function","f"]}]],null]]') + 16 * values.frame(
    "ok", '[{"T":[{"@":0},{"D":[["a"],[1.5]]}]},[],[[0,[0,1]]]]'
)


# --- the order of things ---------------------------------------------------------------------------------------------


def _judge(desk: _Desk, namespace: dict[str, Any], test: str, prelude: str | None, entry_point: str | None) -> None:
    code, names = _read_test(desk, test)
    entry = _Entry(desk, entry_point)
    try:
        desk.world = run_prelude(prelude, namespace)
    except BaseException as error:
        desk.end("bad_test", f"the prelude failed: {_explain(error, test)}")
    missing: dict[str, str] = {}
    try:
        handle = _bind(desk, namespace, names, entry, missing, test)
        exec(code, namespace)
        if names.check_uncalled:
            namespace["check"](handle)
    except BaseException as error:
        _end_with(desk, error, missing, test)
    if not desk.calls:
        desk.end("bad_test", "the test never called the candidate")
    desk.report("passed", "")


def _read_test(desk: _Desk, test: str) -> tuple[types.CodeType, _Names]:
    try:
        return compile(test, FILENAME, "exec", dont_inherit=True), _Names(test)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        desk.end("bad_test", f"the test does not compile: {type(error).__name__}: {error}")


def _end_with(desk: _Desk, error: BaseException, missing: dict[str, str], test: str) -> NoReturn:
    if error is desk.thrown:
        desk.end("raised", desk.thrown_text)
    if isinstance(error, NameError) and error.name in missing:
        desk.end(missing[error.name], f"NameError: {error}")
    desk.end("failed", _explain(error, test))


def _explain(error: BaseException, test: str) -> str:
    """The exception and the line of the test that it left from."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = str(error)
    except Exception as again:
        text = f"({type(again).__name__} in its text)"
    what = f"{type(error).__name__}: {text[:MESSAGE_CHARACTERS]}" if text else type(error).__name__
    if not line:
        return what
    lines = test.splitlines()
    source = lines[line - 1].strip()[:200] if line <= len(lines) else ""
    return f"{what} (line {line}: {source})"


# --- names -----------------------------------------------------------------------------------------------------------


class _Names:
    """The global names that a test program reads, and those it binds itself."""

    __slots__ = ("bound", "check_uncalled", "read")

    def __init__(self, test: str) -> None:
        top = _symtable.symtable(test, FILENAME, "exec")
        self.read = {name for name, flags in top.symbols.items() if flags & _symtable.USE}
        self.bound = {name for name, flags in top.symbols.items() if flags & _BINDS}
        self.check_uncalled = "check" in self.bound and "check" not in self.read
        self._descend(top)
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


_BINDS = _symtable.DEF_LOCAL | _symtable.DEF_IMPORT
_GLOBAL = (_symtable.GLOBAL_IMPLICIT, _symtable.GLOBAL_EXPLICIT)


class _Uses:
    """How a test uses names: those it calls, and those that it only ever takes attributes of (`np.allclose`)."""

    __slots__ = ("called", "only_attributes")

    def __init__(self, test: str) -> None:
        nodes = list(ast.walk(ast.parse(test)))
        reads = [node.id for node in nodes if isinstance(node, ast.Name)]
        owners = [node.value for node in nodes if isinstance(node, ast.Attribute)]
        bases = [owner.id for owner in owners if isinstance(owner, ast.Name)]
        self.called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        self.only_attributes = {name for name in bases if bases.count(name) == reads.count(name)}


class _Entry:
    """The expression for the candidate: a name, or attributes and calls with literal arguments, from a name on."""

    __slots__ = ("expression", "is_name", "root")

    def __init__(self, desk: _Desk, expression: str | None) -> None:
        self.expression = expression
        self.is_name = expression is not None and expression.isidentifier()
        self.root = expression if expression is None or self.is_name else _root(desk, expression)


def _root(desk: _Desk, expression: str) -> str:
    try:
        node: ast.AST = ast.parse(expression, mode="eval").body
        for part in ast.walk(node):
            if not isinstance(part, _ENTRY_NODES):
                raise ValueError(f"{type(part).__name__} is not allowed there")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        desk.end("bad_test", f"entry point {expression[:200]!r}: {error}")
    while not isinstance(node, ast.Name):
        if not isinstance(node, (ast.Attribute, ast.Call)):
            desk.end("bad_test", f"entry point {expression[:200]!r} does not begin with a name")
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id


_ENTRY_NODES = (
    ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Dict,
    ast.UnaryOp, ast.USub, ast.Load,
)  # fmt: skip


def _bind(
    desk: _Desk, namespace: dict[str, Any], names: _Names, entry: _Entry, missing: dict[str, str], test: str
) -> Any:
    """Give the test the names that are the submission's; returns what `check` is to be called with.

    In this order: what the test binds itself; the entry point; the prelude; builtins; of what is left, what the
    submission defines (see `_takes`); modules of the standard library. `missing` is filled with the names that stay
    unbound, and whose fault it is if the test reads them.
    """
    wanted = {name for name in names.read if name not in namespace and not hasattr(builtins, name)}
    if entry.root in names.read:
        wanted.add(entry.root)
    shadow = None
    if not wanted and entry.expression is None:
        shadow = _only_builtin_called(names, test)
    needs_entry = entry.expression is not None and names.check_uncalled
    asked = sorted(wanted) if shadow is None else [shadow]
    found, handle = desk.look(asked, entry.expression if needs_entry else None)
    mine = _takes(found, entry, asked, test)
    namespace.update(mine)
    _bind_rest(namespace, wanted - mine.keys(), entry, missing, fault="bad_test" if entry.root or mine else "raised")
    if entry.expression is None and names.check_uncalled:
        return _only_one(desk, mine)
    return handle


def _takes(found: dict[str, Handle], entry: _Entry, asked: list[str], test: str) -> dict[str, Handle]:
    """Those of the submission's names that the test gets.

    With an entry point only classes: a helper function that only the submission defines could be made to say anything.
    And no name that the test merely takes attributes of (`np.allclose`, `sys.getsizeof`), unless it is all that the
    test reads: there a library was meant, and a submission that defines a class `np` would decide the comparison.
    """
    if len(asked) > 1:
        libraries = _Uses(test).only_attributes
        found = {name: value for name, value in found.items() if name == entry.root or name not in libraries}
    if entry.expression is None:
        return found
    return {name: value for name, value in found.items() if name == entry.root or value.proctor_handle.sort == "class"}


def _bind_rest(namespace: dict[str, Any], rest: set[str], entry: _Entry, missing: dict[str, str], fault: str) -> None:
    """Names that the submission does not define. A test may lean on its `import sys`, whether it is there or not."""
    for name in rest:
        if name == entry.root:
            missing[name] = "raised"
        elif name in sys.stdlib_module_names:
            namespace[name] = importlib.import_module(name)
        elif name not in namespace:
            missing[name] = fault


def _only_one(desk: _Desk, found: dict[str, Handle]) -> Handle:
    if len(found) != 1:
        desk.end("bad_test", "check(candidate) needs an entry_point: the test names no candidate, or several")
    return next(iter(found.values()))


def _only_builtin_called(names: _Names, test: str) -> str | None:
    """The one builtin that a test calls, if it calls no other name.

    A submission may define a function of that name (MBPP/126: `sum`). If the test called several, a submission could
    choose which of them to replace, so that one must be named as the entry point.
    """
    called = _Uses(test).called
    return next(iter(called)) if len(called) == 1 and called <= names.read else None


# --- handles ---------------------------------------------------------------------------------------------------------


class _Held:
    """What a handle stands for."""

    __slots__ = ("desk", "name", "number", "sort")

    def __init__(self, desk: _Desk, number: int, sort: str, name: str) -> None:
        self.desk = desk
        self.number = number
        self.sort = sort
        self.name = name


class Handle:
    """An object that stays with the candidate: a function, a class, a generator, an instance of its own classes.

    Equality and hash are identity, decided here. There is no arithmetic, order, membership or conversion, and no
    special method is forwarded but those written out below, whose answers must be plain values of the right type.
    """

    __slots__ = ("proctor_handle",)
    proctor_handle: _Held

    def __init__(self, held: _Held, /) -> None:
        object.__setattr__(self, "proctor_handle", held)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call what it stands for, over there."""
        held = self.proctor_handle
        if held.sort != "class":
            held.desk.calls += 1
        return held.desk.call(held.number, args, kwargs)

    def __getattr__(self, name: str, /) -> Any:
        held = self.proctor_handle
        if name == "__name__":
            return held.name
        if values.is_dunder(name):
            raise AttributeError(name)
        value = held.desk.ask(f"get {held.number} {name}")
        if type(value) is not Handle:
            held.desk.calls += 1
        return value

    def __setattr__(self, name: str, value: Any, /) -> None:
        if values.is_dunder(name):
            raise AttributeError(name)
        held = self.proctor_handle
        held.desk.send_value(f"set {held.number} {name}", value)

    def __eq__(self, other: object, /) -> bool:
        return type(other) is Handle and other.proctor_handle.number == self.proctor_handle.number

    def __hash__(self, /) -> int:
        return hash(("handle", self.proctor_handle.number))

    __contains__ = None
    __reversed__ = None
    __array__ = None

    def __bool__(self, /) -> bool:
        held = self.proctor_handle
        return held.sort != "instance" or bool(held.desk.ask_for(bool, f"bool {held.number}"))

    def __len__(self, /) -> int:
        held = self.proctor_handle
        return int(held.desk.ask_for(int, f"len {held.number}"))

    def __str__(self, /) -> str:
        held = self.proctor_handle
        return str(held.desk.ask_for(str, f"str {held.number}")) if held.sort == "instance" else repr(self)

    def __repr__(self, /) -> str:
        return f"<candidate's {self.proctor_handle.sort} {self.proctor_handle.name}>"

    def __iter__(self, /) -> Iterator[Any]:
        held = self.proctor_handle
        if held.sort == "iterator":
            return self
        return held.desk.ask_iterator(held.number)

    def __next__(self, /) -> Any:
        held = self.proctor_handle
        if held.sort != "iterator":
            raise TypeError(f"{self!r} is not an iterator")
        return held.desk.next_item(held.number)

    def __getitem__(self, key: Any, /) -> Any:
        held = self.proctor_handle
        return held.desk.send_value(f"item {held.number}", key)


# --- messages --------------------------------------------------------------------------------------------------------


class _Desk:
    """Asks the candidate, and ends the run when it does not answer as it must."""

    def __init__(self, channel: Channel, report_fd: int) -> None:
        self.channel = channel
        self.report_fd = report_fd
        self.world = World({})
        self.calls = 0
        self.thrown: BaseException | None = None
        self.thrown_text = ""
        self.callbacks: list[Any] = []
        self._iterator_items = 0
        self._callback_count = 0
        self._callback_depth = 0

    # the end

    def report(self, result: str, message: str) -> None:
        """Write the report: the last thing that this process does."""
        text = json_module.dumps({"result": result, "message": message[:MESSAGE_CHARACTERS], "calls": self.calls})
        data = text.encode()
        while data:
            data = data[os.write(self.report_fd, data) :]

    def end(self, result: str, message: str) -> NoReturn:
        """Report and stop, past all handlers of the test."""
        self.report(result, message)
        os._exit(0)

    # questions

    def look(self, names: list[str], expression: str | None) -> tuple[dict[str, Handle], Any]:
        """Those of the names that the submission defines as more than data, and the value of an expression.

        The first question: it is asked while the submission is still being loaded.
        """
        found: dict[str, Handle] = {}

        def read(decoder: Decoder, json: Json) -> Any:
            for name, described in json[0]:
                value = decoder.value(described)
                if name in names and type(value) is Handle:
                    found[name] = value
            return decoder.value(json[1])

        with contextlib.suppress(OSError):  # it may have failed to load and gone; what it said is still to be read
            self.channel.send("look", values.to_text([names, expression]))
        return found, self._answer([], read)

    def call(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call what a handle stands for."""
        encoder = _Encoder(self)
        try:
            body = encoder.message([encoder.items(args), list(kwargs), encoder.items(list(kwargs.values()))])
        except NotPlain as error:
            self._cannot_send("an argument cannot be sent", error)
        self._send(f"call {number}", body)
        return self._answer(encoder.kept)

    def ask(self, head: str) -> Any:
        """A question without a value."""
        self._send(head, "")
        return self._answer([])

    def send_value(self, head: str, value: Any) -> Any:
        """A question with one value."""
        encoder = _Encoder(self)
        try:
            body = encoder.message(encoder.value(value))
        except NotPlain as error:
            self._cannot_send("a value cannot be sent", error)
        self._send(head, body)
        return self._answer(encoder.kept)

    def ask_for(self, kind: type, head: str) -> Any:
        """A question whose answer has a type."""
        value = self.ask(head)
        if type(value) is not kind:
            self.end("not_plain", f"{head.partition(' ')[0]} gave no {kind.__name__}")
        return value

    def ask_iterator(self, number: int) -> Handle:
        """What `iter` gives: again a handle."""
        value = self.ask(f"iter {number}")
        if type(value) is not Handle or value.proctor_handle.sort != "iterator":
            raise TypeError("the candidate's object cannot be iterated over")
        return value

    def next_item(self, number: int) -> Any:
        """The next item of a generator: the only question that may be answered by StopIteration."""
        self._iterator_items += 1
        if self._iterator_items > ITERATOR_ITEMS:
            self.end("not_plain", "an iterator with too many items")
        self.calls += 1
        self._send(f"next {number}", "")
        return self._answer([], may_stop=True)

    def _cannot_send(self, what: str, error: NotPlain) -> NoReturn:
        """The test's fault, unless the candidate's own values may have made it too big: that is no way out for it."""
        made_of_answers = isinstance(error, values.TooBig) and self.calls > 1
        self.end("not_plain" if made_of_answers else "bad_test", f"{what}: {error}")

    # answers

    def _send(self, head: str, body: str) -> None:
        try:
            self.channel.send(head, body)
        except OSError:
            self.end("gone", "the candidate closed its pipe")
        except NotPlain as error:
            self._cannot_send("a value cannot be sent", error)

    def _receive(self) -> tuple[str, str]:
        try:
            frame = self.channel.receive()
        except (EOFError, OSError):
            self.end("gone", "the candidate ended or closed its pipe")
        except (NotPlain, MemoryError) as error:
            self.end("not_plain", str(error) or "too big")
        if self.channel.received > RECEIVED_BYTES:
            self.end("not_plain", "too much data in all")
        return frame

    def _answer(self, kept: list[Any], read: Any = None, may_stop: bool = False) -> Any:
        while True:
            head, body = self._receive()
            if head.startswith("back "):
                self._call_back(head, body)
                continue
            try:
                if head == "ok":
                    decoder = _Decoder(self, kept)
                    return decoder.message(body, functools.partial(read, decoder) if read else decoder.value)
                if head == "raise":
                    error = self._error(body, kept, may_stop)
                    break
                if head == "load":
                    self.end("load_failed", _told(*_Decoder(self, []).message(body, values.read_error)))
                self.end("not_plain", f"it cannot be sent: {self._reason(head, body)}")
            except NotPlain as problem:
                self.end("not_plain", str(problem))
        raise error

    def _reason(self, head: str, body: str) -> str:
        reason = values.from_text(body)[0] if head == "no" else None
        return reason if type(reason) is str else "a frame that is no answer"

    def _error(self, body: str, kept: list[Any], may_stop: bool) -> BaseException:
        """The exception to raise in the test for one of the candidate's."""
        names, arguments = _Decoder(self, kept).message(body, values.read_error)
        if "Exception" not in names:
            self.end("raised", _told(names, arguments))
        if may_stop and names[0] == "StopIteration":
            return StopIteration()
        self.thrown = values.make_error(names, arguments, self.world)
        self.thrown_text = _told(names, arguments)
        return self.thrown

    # the test's own functions, called by the candidate

    def _call_back(self, head: str, body: str) -> None:
        self._callback_count += 1
        self._callback_depth += 1
        if self._callback_count > CALLBACKS or self._callback_depth > CALLBACK_DEPTH:
            self.end("not_plain", "too many callbacks")
        function, args, kwargs = self._callback_arguments(head, body)
        encoder = _Encoder(self)
        try:
            head, body = "return", encoder.message(encoder.value(function(*args, **kwargs)))
        except NotPlain as error:
            self._cannot_send("a callback's result cannot be sent", error)
        except AssertionError as error:  # the candidate might swallow it
            self.end("failed", f"in a callback: AssertionError: {error}")
        except Exception as error:
            head, body = "throw", values.to_text([values.describe_error(error)])
        self._send(head, body)
        self._callback_depth -= 1

    def _callback_arguments(self, head: str, body: str) -> tuple[Any, list[Any], dict[str, Any]]:
        decoder = _Decoder(self, [])

        def read(json: Json) -> tuple[Any, list[Any], dict[str, Any]]:
            positional, names, given = json
            if not all(type(name) is str for name in names):
                raise NotPlain("a message out of order")
            function = self.callbacks[int(head.removeprefix("back "))]
            return function, decoder.items(positional), dict(zip(names, decoder.items(given), strict=True))

        try:
            result: tuple[Any, list[Any], dict[str, Any]] = decoder.message(body, read)
        except NotPlain as problem:
            self.end("not_plain", str(problem))
        return result


def _told(names: list[str], arguments: list[Any]) -> str:
    """A candidate's exception in words, as Python would print it."""
    text = ", ".join(map(str, arguments))
    return f"{names[0]}: {text}" if text else names[0]


class _Encoder(Encoder):
    """Handles go home; the test's functions and iterators go as callbacks and items."""

    __slots__ = ("_desk",)

    def __init__(self, desk: _Desk) -> None:
        super().__init__(desk.world)
        self._desk = desk

    def other(self, value: Any, depth: int) -> Json:
        """What a test may pass besides data."""
        if type(value) is Handle:
            return {"H": value.proctor_handle.number}
        if isinstance(value, (types.BuiltinFunctionType, type)) and value in _BUILTIN_FUNCTIONS:
            return {"b": _BUILTIN_FUNCTIONS[value]}
        if isinstance(value, _CALLABLES):
            self._desk.callbacks.append(value)
            return {"X": [len(self._desk.callbacks) - 1, getattr(value, "__name__", "callback")]}
        if isinstance(value, Iterator):
            items = list(itertools.islice(value, values.NODES + 1))
            return {"J": self.items(items, depth)}
        return super().other(value, depth)


class _Decoder(Decoder):
    """Handles arrive."""

    __slots__ = ("_desk",)

    def __init__(self, desk: _Desk, kept: list[Any]) -> None:
        super().__init__(desk.world, kept)
        self._desk = desk

    def other(self, tag: str, content: Json) -> Any:
        """The one tag that only the candidate may send."""
        if tag != "H":
            return super().other(tag, content)
        number, sort, name = content
        if type(number) is not int or sort not in SORTS or type(name) is not str:
            raise NotPlain("a message out of order")
        return Handle(_Held(self._desk, number, sort, name[:200]))
