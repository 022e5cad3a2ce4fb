"""Reads test programs that only assert the results of calls of one function, such as those of HumanEval and MBPP.

Such a test needs no process of its own: its calls are written down as the requests that the candidate's box serves
(guest/dispatcher.py), and replies.py compares what comes back. Nothing of the test is executed here. A program with
anything else in it has no `PlainTest`, and runs in a box (guest/tester.py).

Covered: `assert f(1, [2]) == (3,)`, the operands in either order, `is None`, `is True`, `is False`, `assert f(1)`,
`assert not f(1)`, distances (distances.py) and loops over calls in a text (call_loops.py); arguments and results are
literals. They stand at the top of the program, in `check(candidate)`, or in functions for pytest without parameters,
perhaps behind `from solution import f`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox_service.judging import distances
from sandbox_service.judging.call_loops import Loop, looped
from sandbox_service.judging.syntax_trees import parsed

MOST_CHARACTERS = 1 << 16
SHORT = 1 << 12  # characters of most test programs, of which many are kept
KEPT, KEPT_LONG = 512, 64  # such programs take about ten times the memory of their text
SMALL_INTEGER = 10**300  # a larger one has another form in requests
SHOWN_CHARACTERS = 200
CHECK = "check"
FRAMEWORKS = ("unittest", "pytest", "class Test")
ENTRY_POINT = re.compile(r"[^\W\d]\w*(\(\))?(\.[^\W\d]\w*)*")  # the usual ones: `f`, `Solution().f`

Json = Any


@dataclass(frozen=True)
class PlainAssert:
    """An assertion about the result of one call.

    Attributes:
        holds: returns whether it holds, of the result; see `distances.relation` for what it raises.
        first_list: the first argument that is a list, which the result may be; None if another mutable one comes first.
        failure: what the test says if it does not hold.
        place: its line, as the test says it.
    """

    holds: Callable[[Any], bool]
    first_list: list[Any] | None
    failure: str
    place: str


@dataclass(frozen=True)
class PlainTest:
    """A test program of plain assertions.

    Attributes:
        name: the function that it calls; None if that is the entry point's value.
        has_prelude: a prelude runs before the submission, and may fail in its stead.
        look: the request for the function.
        calls: a call for each assertion.
        asserts: the assertions, in the order of the calls.
    """

    name: str | None
    has_prelude: bool
    look: bytes
    calls: bytes
    asserts: tuple[PlainAssert, ...]

    @property
    def requests(self) -> bytes:
        """All that the candidate is asked."""
        return self.look + self.calls


class _OtherFormError(Exception):
    """The program has something else in it."""


def plain_test(code: str, entry_point: str | None, prelude: str = "") -> PlainTest | None:
    """Read a test program.

    Args:
        code: its text.
        entry_point: the expression for the candidate, or None.
        prelude: runs before it. Names that the program reads may be the prelude's.

    Returns:
        The test; None if the program is not made of plain assertions.
    """
    return (_short if len(code) + len(prelude) <= SHORT else _long)(code, entry_point, prelude)


def _plain_test(code: str, entry_point: str | None, prelude: str) -> PlainTest | None:
    if len(code) > MOST_CHARACTERS or any(sign in code for sign in FRAMEWORKS):
        return None
    if entry_point is not None and not ENTRY_POINT.fullmatch(entry_point):
        return None
    try:
        return _read(parsed(code).body, code, entry_point, _Prelude(prelude))
    except (_OtherFormError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None  # of these, `{[1]: 2}` is a TypeError: an item that cannot be hashed


_short = functools.lru_cache(maxsize=KEPT)(_plain_test)
_long = functools.lru_cache(maxsize=KEPT_LONG)(_plain_test)


class _Prelude:
    """The names that a prelude gives: those of imports and functions, or any, if it does anything else."""

    def __init__(self, text: str) -> None:
        self.is_there = bool(text.strip())
        self._names = set(_names_of_prelude(text))

    def may_give(self, name: str | None) -> bool:
        """Return whether it may define a name."""
        return "*" in self._names or name in self._names


def _names_of_prelude(text: str) -> Iterator[str]:
    if not text or text.isspace():
        return
    try:
        body = parsed(text[: MOST_CHARACTERS + 1]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield "*"  # such as that of LeetCode, which is a name for a text
        return
    if len(text) > MOST_CHARACTERS:
        yield "*"
    for statement in body:
        yield from _given_names(statement)


def _given_names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Import(aliases):
            yield from (each.asname or each.name.partition(".")[0] for each in aliases)
        case ast.ImportFrom(_, aliases):
            yield from (each.asname or each.name for each in aliases)
        case ast.FunctionDef(name, decorator_list=[]):
            yield name
        case ast.Expr(ast.Constant()):
            return
        case _:
            yield "*"


def _read(body: list[ast.stmt], code: str, entry_point: str | None, prelude: _Prelude) -> PlainTest | None:
    look: Json
    checks = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == CHECK]
    loop = looped(checks[0].body if checks else body)
    if checks:
        name, asserts = _checked(body, checks, entry_point, prelude, has_loop=loop is not None)
        target, look = None, [[], entry_point]
    elif loop is not None:
        asserts, target = [], _owned_name({loop.called}, entry_point, prelude)
        name, look = loop.called, [[loop.called], None]
    else:
        imported, asserts = _uncalled([each for each in body if not _says_nothing(each)])
        target = name = _name_called(asserts, imported or entry_point, prelude)
        look = [[name], None]
    owned = {name, _root(entry_point or "")}
    if any(each in code and (each in owned or prelude.may_give(each)) for each in distances.HELPERS):
        raise _OtherFormError
    lines = code.splitlines()
    made = [_plain(each, name, lines) for each in asserts if not _always_holds(each.test)]
    if loop is not None:
        made = list(_of_rows(loop, name, lines))
    if not made:
        return None
    calls = b"".join(_frame("call 0", [call]) for call, _ in made)
    return PlainTest(target, prelude.is_there, _frame("look", look), calls, tuple(each for _, each in made))


def _checked(
    body: list[ast.stmt], checks: list[ast.FunctionDef], entry_point: str | None, prelude: _Prelude, *, has_loop: bool
) -> tuple[str, list[ast.Assert]]:
    """Return the parameter of `check`, and its assertions unless it is a loop. The program may call it last."""
    check, *others = checks
    if others or check.decorator_list or entry_point is None:
        raise _OtherFormError
    parameter = _parameter(check.args)
    rest = [each for each in body if each is not check and not _says_nothing(each)]
    is_given = prelude.may_give(entry_point)  # `check` is the program's own
    calls = [each for each in rest if not is_given and each is body[-1] and _calls_check(each, entry_point)]
    if rest != calls:
        raise _OtherFormError
    return parameter, [] if has_loop else list(_asserts(check.body))


def _parameter(arguments: ast.arguments) -> str:
    """Return the name of the only parameter, which no statement of the body can assign."""
    match arguments:
        case ast.arguments([], [ast.arg(name)], None, [], [], None, []) if not name.isupper():
            return name
    raise _OtherFormError


def _calls_check(statement: ast.stmt, entry_point: str) -> bool:
    """Return whether a statement is `check(f)`, with the name that is the entry point."""
    match statement:
        case ast.Expr(ast.Call(ast.Name(name), [ast.Name(given)], [])):
            return name == CHECK and given == entry_point and not hasattr(builtins, given)
    return False


def _uncalled(body: list[ast.stmt]) -> tuple[str | None, list[ast.Assert]]:
    """Return the name that a program imports from the submission, and its assertions in the order in which they run."""
    imported = None
    match body:
        case [ast.ImportFrom("solution", [ast.alias(name, None)], 0), *rest]:
            imported, body = name, rest
    functions = [each for each in body if isinstance(each, ast.FunctionDef)]
    if not functions:
        return imported, list(_asserts(body))
    if len(functions) != len(body) or len({each.name for each in functions}) != len(functions):
        raise _OtherFormError
    return imported, [each for function in functions for each in _asserts(_body_for_pytest(function))]


def _body_for_pytest(function: ast.FunctionDef) -> list[ast.stmt]:
    match function:
        case ast.FunctionDef(name, ast.arguments([], [], None, [], [], None, []), body, []) if name.startswith("test"):
            return body
    raise _OtherFormError


def _asserts(body: list[ast.stmt]) -> Iterator[ast.Assert]:
    for statement in body:
        if isinstance(statement, ast.Assert):
            yield statement
        elif not _says_nothing(statement):
            raise _OtherFormError


def _says_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement is a literal, `pass`, or gives a literal to a name in capitals, such as METADATA."""
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(ast.Constant()):
            return True
        case ast.Assign([ast.Name(name)], value):
            ast.literal_eval(value)
            return name.isupper()
    return False


def _name_called(asserts: list[ast.Assert], given: str | None, prelude: _Prelude) -> str:
    """Return the one function that is called: the submission's, whatever libraries have under that name."""
    calls = [call.func.id for each in asserts for call in _calls(each.test) if isinstance(call.func, ast.Name)]
    return _owned_name(set(calls) - distances.HELPERS, given, prelude)


def _owned_name(names: set[str], given: str | None, prelude: _Prelude) -> str:
    """Return the only name, if it is the submission's."""
    if len(names) != 1:
        raise _OtherFormError
    (name,) = names
    if prelude.may_give(name) or hasattr(builtins, name) or name.isupper() or given not in (None, name):
        raise _OtherFormError
    return name


def _of_rows(loop: Loop, name: str, lines: list[str]) -> Iterator[tuple[list[Json], PlainAssert]]:
    """Yield the calls of a loop as requests, and the assertions about them."""
    failure, place = _failure(loop.statement, lines)
    for row in loop.rows:
        match row:
            case [list(args), expected] if loop.called == name:
                yield [_encoded(args), [], []], PlainAssert(_equals(expected), _first_list(args), failure, place)
            case _:
                raise _OtherFormError


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def _root(expression: str) -> str:
    """Return the first name of an entry point such as `Solution().f`."""
    return re.split(r"\W", expression, maxsplit=1)[0]


def _always_holds(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _plain(statement: ast.Assert, name: str, lines: list[str]) -> tuple[list[Json], PlainAssert]:
    """Return the call of an assertion as a request, and the assertion."""
    call, holds = _relation(statement.test)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != name:
        raise _OtherFormError
    arguments = [ast.literal_eval(each) for each in call.args]
    keywords = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    if None in keywords or len(keywords) != len(call.keywords):
        raise _OtherFormError
    values = [*arguments, *keywords.values()]
    request = [_encoded(arguments), list(keywords), _encoded(list(keywords.values()))]
    return request, PlainAssert(holds, _first_list(values), *_failure(statement, lines))


def _equals(expected: Any) -> Callable[[Any], bool]:
    return lambda found: bool(found == expected)


def _relation(test: ast.expr) -> tuple[ast.expr, Callable[[Any], bool]]:
    """Return the operand that is not a literal, and whether the assertion holds for its value."""
    if (near := distances.relation(test)) is not None:
        return near
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            return operand, lambda found: not found
        case ast.Compare(left, [ast.Is()], [ast.Constant(None | True | False as wanted)]):
            return left, lambda found: found is wanted
        case ast.Compare(ast.Call() as left, [ast.Eq()], [right]):
            return left, _equals(ast.literal_eval(right))
        case ast.Compare(left, [ast.Eq()], [right]):
            expected = ast.literal_eval(left)
            return right, lambda found: bool(expected == found)
        case ast.Call():
            return test, bool
    raise _OtherFormError


def _first_list(values: list[Any]) -> list[Any] | None:
    mutable = next(_mutable(values), None)
    return mutable if isinstance(mutable, list) else None


def _mutable(values: Any) -> Iterator[Any]:
    """Yield the mutable values in the order in which the candidate numbers them."""
    for value in values:
        if isinstance(value, (list, set, dict)):
            yield value
        elif isinstance(value, tuple):
            yield from _mutable(value)


def _failure(statement: ast.Assert, lines: list[str]) -> tuple[str, str]:
    """Return the message of guest/explanations.py for an assertion that fails, and the part of it on the line."""
    text = ""
    if statement.msg is not None:
        if not isinstance(statement.msg, ast.Constant) or not isinstance(statement.msg.value, str):
            raise _OtherFormError
        text = statement.msg.value
    source = lines[statement.lineno - 1].strip()[:SHOWN_CHARACTERS]
    place = f"(line {statement.lineno}: {source})"
    return f"AssertionError{': ' * bool(text)}{text} {place}", place


# --- requests, in the form of guest/codec.py -------------------------------------------------------------------------


_WRITER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_AS_THEMSELVES = frozenset({type(None), bool, float, str})


def _frame(head: str, message: Json) -> bytes:
    body = _WRITER.encode(message)
    payload = f"{head}\n{body}".encode("utf-8", "surrogatepass")
    return len(payload).to_bytes(4, "little") + payload


def _encoded(value: Any) -> Json:
    if type(value) in _AS_THEMSELVES:
        return value
    match value:
        case int():
            return value if -SMALL_INTEGER < value < SMALL_INTEGER else {"I": hex(value)}
        case list():
            return [_encoded(each) for each in value]
        case tuple():
            return {"T": [_encoded(each) for each in value]}
        case set():
            return {"S": [_encoded(each) for each in value]}
        case dict():
            return {"D": [[_encoded(each) for each in value], [_encoded(each) for each in value.values()]]}
        case bytes():
            return {"B": value.decode("latin-1")}
    raise _OtherFormError
