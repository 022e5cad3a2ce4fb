"""Remote handles: stand-ins in the test program for objects that stay in the candidate's box.

A submission chooses the type of the values it returns, so the candidate may answer an operator only where that choice
cannot make a wrong answer pass. The rules for the handle of an instance:

* A comparison with a plain value is decided here: not equal, and no order.
* A plain operand of an operator may be the expected answer. Such operators are therefore sent to the candidate only for
  objects that the test created by calling a class that it names, and for the results of such operators (`rank`). The
  result must be an object again, unless the test's text uses the name as a class. An operator on two objects is
  always sent: the candidate knows both, and nothing of the expected answer.
* An object whose class extends a plain one is its content beside a plain operand.
* `!=` is sent as `==`, so that the candidate does not see which result the test needs.
* Conversions (`len`, `str`, `hash`, an item, an attribute) send no expected answer, and give plain values of one type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handle_state import DERIVED, MADE, NOT_HERE, PLAIN_DUNDERS, RETURNED, HandleState
from identifiers import is_class_name, is_dunder

if TYPE_CHECKING:
    pass
if TYPE_CHECKING:

    class _Slot:
        proctor_handle: HandleState

else:

    class _Slot:
        __slots__ = ("proctor_handle",)


class RemoteHandle(_Slot):  # noqa: D101 (on an instance, `__doc__` is the candidate's)
    # Refers to a function, a class, a generator or an instance of the candidate's own classes. The class has no
    # annotations, as it has no docstring: read on an instance, both names mean those of the remote object.

    __slots__ = ()

    def __init__(self, state: HandleState, /) -> None:
        object.__setattr__(self, "proctor_handle", state)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the remote object."""
        state = self.proctor_handle
        if state.sort == "class":
            return _construct(state, args, kwargs)
        state.connection.calls += 1
        return state.connection.call(state.number, args, kwargs)

    # attributes

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        state = self.proctor_handle
        if state.base is not None:
            return state.base
        return state.connection.class_of(self) if state.connection.text.shows_classes else RemoteHandle

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return _special_attribute(self.proctor_handle, "__doc__")

    def __getattr__(self, name: str, /) -> Any:
        state = self.proctor_handle
        if name == "__name__":
            return state.name
        if is_dunder(name):
            return _special_attribute(state, name)
        if state.rank == MADE:
            state.connection.calls += 1
        value = state.connection.request(f"get {state.number} {name}")
        if type(value) is not RemoteHandle:
            state.connection.calls += 1
            state.connection.lent.add(state.number, name, None, value)
        elif state.sort == "class" and is_class_name(state.bound):
            _derive(value.proctor_handle)
        return value

    def __setattr__(self, name: str, value: Any, /) -> None:
        if is_dunder(name):
            raise AttributeError(name)
        state = self.proctor_handle
        state.connection.request_with(f"set {state.number} {name}", value)

    def __delattr__(self, name: str, /) -> None:
        if is_dunder(name):
            raise AttributeError(name)
        state = self.proctor_handle
        state.connection.request(f"unset {state.number} {name}")

    # equality

    def __eq__(self, other: object, /) -> bool:
        if type(other) is not RemoteHandle:
            state = self.proctor_handle
            return state.base is not None and bool(state.connection.content(state) == other)
        if not _comparable(self, other):
            return other.proctor_handle.number == self.proctor_handle.number
        return decide(self, "eq", other)

    def __hash__(self, /) -> int:
        state = self.proctor_handle
        if state.base is not None:
            return hash(state.connection.content(state))
        if state.sort == "instance" and state.connection.text.has_classes:
            return int(state.connection.request_typed(int, f"hash {state.number}"))
        return hash(("handle", state.number))

    # container methods

    def __contains__(self, item: Any, /) -> bool:
        state = self.proctor_handle
        if state.base is not None and type(item) is not RemoteHandle:
            return item in state.connection.content(state)
        known = state.rank and (type(item) is RemoteHandle or is_class_under_test(state))
        if not known and not (state.sort == "class" and type(item) is RemoteHandle):
            if state.sort not in ("iterator", "instance"):
                raise TypeError(f"the candidate does not decide membership in {self!r}")
            return any(each is item or each == item for each in self)  # its elements are compared here
        return decide(self, "contains", item)

    def __len__(self, /) -> int:
        state = self.proctor_handle
        return int(state.connection.request_typed(int, f"len {state.number}"))

    def __iter__(self, /) -> Iterator[Any]:
        state = self.proctor_handle
        if state.sort == "iterator":
            return self
        return state.connection.request_iterator(f"iter {state.number}")

    def __next__(self, /) -> Any:
        state = self.proctor_handle
        if state.sort != "iterator":
            raise TypeError(f"{self!r} is not an iterator")
        return state.connection.next_item(f"next {state.number}", StopIteration)

    def __reversed__(self, /) -> Iterator[Any]:
        state = self.proctor_handle
        if state.base is not None:
            return iter(reversed(state.connection.content(state)))
        return _ranked(self).connection.request_iterator(f"reversed {state.number}")

    def __aiter__(self, /) -> RemoteHandle:
        state = self.proctor_handle
        if state.sort == "async_iterator":
            return self
        value: RemoteHandle = state.connection.request(f"aiter {state.number}")
        return value

    async def __anext__(self, /) -> Any:
        state = self.proctor_handle
        if state.sort != "async_iterator":
            raise TypeError(f"{self!r} is not an asynchronous iterator")
        return state.connection.next_item(f"anext {state.number}", StopAsyncIteration)

    def __getitem__(self, key: Any, /) -> Any:
        state = self.proctor_handle
        if state.sort == "instance":
            state.connection.calls += 1
        value = state.connection.request_with(f"item {state.number}", key)
        state.connection.lent.add(state.number, None, key, value)
        return value

    def __setitem__(self, key: Any, value: Any, /) -> None:
        state = self.proctor_handle
        state.connection.calls += 1
        state.connection.request_with(f"setitem {state.number}", (key, value))

    def __delitem__(self, key: Any, /) -> None:
        state = self.proctor_handle
        state.connection.calls += 1
        state.connection.request_with(f"delitem {state.number}", key)

    # conversions

    def __bool__(self, /) -> bool:
        state = self.proctor_handle
        if state.sort != "instance":
            return True
        if state.tainted:
            raise TypeError(
                f"the candidate does not decide the truth value of {self!r}: it has received a plain operand"
            )
        return bool(state.connection.request_typed(bool, f"bool {state.number}"))

    def __str__(self, /) -> str:
        return self._text("str")

    def __repr__(self, /) -> str:
        return self._text("repr")

    def __format__(self, specification: str, /) -> str:
        state = self.proctor_handle
        if not specification or state.sort != "instance":
            return format(str(self), specification)
        return str(state.connection.request_typed(str, f"format {state.number}", specification))

    def _text(self, word: str) -> str:
        state = self.proctor_handle
        if state.sort == "instance":
            return str(state.connection.request_typed(str, f"{word} {state.number}"))
        return f"<candidate's {state.sort} {state.name}>"

    def __int__(self, /) -> int:
        return int(_convert(self, "int", int))

    def __index__(self, /) -> int:
        return int(_convert(self, "index", int))

    def __float__(self, /) -> float:
        return float(_convert(self, "float", float))

    def __complex__(self, /) -> complex:
        return complex(_convert(self, "complex", complex))

    # copies

    def __copy__(self, /) -> Any:
        return _copied(self, "copy")

    def __deepcopy__(self, _: Any, /) -> Any:
        return _copied(self, "deepcopy")

    def __dir__(self, /) -> list[str]:
        state = self.proctor_handle
        return [str(name) for name in state.connection.request_typed(list, f"dir {state.number}")]

    # context manager

    def __enter__(self, /) -> Any:
        state = self.proctor_handle
        return state.connection.request(f"enter {state.number}")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any, /) -> bool:
        state = self.proctor_handle
        return state.connection.exit_block("exit", state.number, error)

    async def __aenter__(self, /) -> Any:
        state = self.proctor_handle
        return state.connection.request(f"aenter {state.number}")

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any, /) -> bool:
        state = self.proctor_handle
        return state.connection.exit_block("aexit", state.number, error)

    # class checks

    def __instancecheck__(self, instance: Any, /) -> bool:
        state = self.proctor_handle
        if state.sort not in ("class", "error"):
            raise TypeError("isinstance() needs a class")
        if type(instance) is RemoteHandle:
            return decide(self, "isinstance", instance)
        return state.connection.value_classes.get(type(instance)) == state.number

    def __subclasscheck__(self, kind: Any, /) -> bool:
        if self.proctor_handle.sort not in ("class", "error"):
            raise TypeError("issubclass() needs a class")
        return type(kind) is RemoteHandle and decide(self, "issubclass", kind)

    def __mro_entries__(self, bases: tuple[Any, ...], /) -> tuple[type, ...]:
        self.proctor_handle.connection.derived_from(self)
        raise TypeError(f"{self!r} is not a class to derive from")

    __array__ = None


def _construct(state: HandleState, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a class. Bare construction does not count as a call of the candidate."""
    connection = state.connection
    before, connection.calls = connection.calls, connection.calls + 1
    known = len(connection.handles)
    value = connection.call(state.number, args, kwargs)
    if type(value) is RemoteHandle:
        if len(connection.handles) > known:  # else it is an object that the test has: a singleton
            connection.calls = max(before, connection.calls - 1)
        made = value.proctor_handle
        if state.bound and made.sort == "instance" and made.rank != MADE:
            made.rank, made.origin = (MADE, state.bound) if is_class_name(state.bound) else (made.rank, "")
    elif state.helper and connection.value_classes.get(type(value)) != state.number:
        connection.end("not_plain", f"{state.bound}() returned a plain value, but the test uses it as a class")
    return value


def _derive(state: HandleState) -> None:
    """Give the DERIVED rank to an object that the test read from a class that it names (`Color.RED`)."""
    if state.sort == "instance" and state.rank == RETURNED:
        state.rank = DERIVED


def _special_attribute(state: HandleState, name: str) -> Any:
    if name in NOT_HERE and state.connection.text.reads(state.bound, name):
        state.connection.end(
            "bad_test", f"the test reads {state.bound}.{name}, which is not available outside the candidate's box"
        )
    if name not in PLAIN_DUNDERS:
        raise AttributeError(name)
    value = state.connection.request(f"get {state.number} {name}")
    if name == "__dict__":
        state.connection.calls += 1
    return state.connection.signature(value) if name == "__signature__" else value


def _copied(handle: RemoteHandle, word: str) -> RemoteHandle:
    """Copy a remote object. A copy of an object that the test made counts as made by the test."""
    state = handle.proctor_handle
    if state.sort != "instance":
        return handle
    value = state.connection.request(f"{word} {state.number}")
    if type(value) is not RemoteHandle:
        state.connection.end("not_plain", f"a copy of {state.name} is not an object")
    made = value.proctor_handle
    made.rank, made.origin, made.tainted = state.rank, state.origin, state.tainted
    return value


def _ranked(handle: RemoteHandle) -> HandleState:
    state = handle.proctor_handle
    if not state.rank or state.tainted:
        raise TypeError(f"unsupported operation on {handle!r}")
    return state


def is_class_under_test(state: HandleState) -> bool:
    """Return True if the test created the object from a name that the test's text uses as a class.

    Args:
        state: the object's state.
    """
    return state.rank == MADE and state.origin in state.connection.text.names_used_as_classes()


def _comparable(one: RemoteHandle, other: RemoteHandle) -> bool:
    first, second = one.proctor_handle, other.proctor_handle
    return first.sort == second.sort == "instance"


def decide(handle: RemoteHandle, operation: str, operand: Any) -> bool:
    """Ask the candidate a yes-or-no question.

    Args:
        handle: the object.
        operation: the operator's name.
        operand: the operand.

    Returns:
        The candidate's answer.
    """
    state = handle.proctor_handle
    return bool(state.connection.request_typed(bool, f"op {operation} {state.number}", operand))


def _convert(handle: RemoteHandle, word: str, kind: type) -> Any:
    state = handle.proctor_handle
    if state.base is not None:
        return kind(state.connection.content(state))
    return _ranked(handle).connection.request_typed(kind, f"{word} {state.number}")
