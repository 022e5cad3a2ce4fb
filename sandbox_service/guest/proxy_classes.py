"""Proxy classes that the tester creates for the candidate's: exceptions, named tuples and members of enumerations.

They are made from names and plain content only. Equality and order are those of the underlying plain class, and no
attribute name can replace them: field and attribute names are never dunder names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from codec import BROKEN, ERRORS, NotPlainError
from error_codec import known_class
from identifiers import is_dunder
from remote_handle import RemoteHandle
from shared_classes import SharedClasses

FIELDS = 255
CLASSES = 1_000

# an `except` clause for one of the candidate's exceptions must never catch the test's failed assertion
TOO_WIDE = (Exception, BaseException, AssertionError)


class NamedTupleProxy(tuple[Any, ...]):
    """Base of the classes for the candidate's named tuples: a tuple whose items have names."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    proctor_ask: Any = None

    def __getattr__(self, name: str) -> Any:
        """Ask for a method or a property that the candidate's class adds."""
        if name.startswith("_"):
            raise AttributeError(name)
        ask: Callable[[Any, str], Any] = type(self).proctor_ask
        return ask(self, name)

    def __repr__(self) -> str:
        items = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({items})"

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changes: Any) -> NamedTupleProxy:
        kept = self._asdict()
        if not changes.keys() <= kept.keys():
            raise ValueError(f"no such fields: {sorted(changes.keys() - kept.keys())}")
        return tuple.__new__(type(self), (kept | changes).values())


def named_tuple_class(name: str, fields: list[str], ask: Callable[[Any, str], Any]) -> type[NamedTupleProxy]:
    """Return a class of named tuples.

    Args:
        name: the class's name.
        fields: the names of the fields.
        ask: returns another attribute of a tuple, by its name.

    Raises:
        NotPlainError: a name is not an identifier, or there are too many fields.
    """
    if not _is_name(name) or len(fields) > FIELDS or not all(_is_name(field) for field in fields):
        raise NotPlainError("a named tuple with invalid names")
    attributes: dict[str, Any] = {field: property(operator.itemgetter(place)) for place, field in enumerate(fields)}
    attributes |= {"__slots__": (), "_fields": tuple(fields), "proctor_ask": staticmethod(ask)}
    return type(name, (NamedTupleProxy,), attributes)


def _is_name(name: object) -> bool:
    return type(name) is str and name.isidentifier() and not name.startswith("_")


_MEMBER_BASES: dict[type, Any] = {int: int, str: str, float: float, bytes: bytes}


def member_class(name: str, base: type) -> Any:
    """Return a class for the members of an enumeration whose values are plain.

    Args:
        name: the class's name.
        base: the type of the values.

    Raises:
        NotPlainError: the name is not an identifier, or the type is not plain.
    """
    if not _is_name(name) or base not in _MEMBER_BASES:
        raise NotPlainError("a member of an enumeration without a plain value")
    return type(
        name,
        (_MEMBER_BASES[base],),
        {
            "__repr__": lambda self: f"<{name}.{self.name}: {self.value!r}>",
            "__str__": lambda self: str(self.value),
        },
    )


class ProxyClasses:
    """Registry of the proxy classes, by the number of the class in the candidate's box."""

    def __init__(self, ask: Callable[[Any, str], Any]) -> None:
        """Args:
        ask: returns an attribute of a named tuple's class, by the tuple and the attribute's name.
        """
        self._ask = ask
        self.numbers: dict[type, int] = {}
        self._classes: dict[tuple[int, str, Any], Any] = {}
        self._members: dict[int, Any] = {}

    def named_tuple(self, number: Any, name: Any, fields: Any, items: list[Any]) -> NamedTupleProxy:
        """Return a received named tuple.

        Args:
            number: number of the class.
            name: name of the class.
            fields: names of the fields.
            items: the items, decoded.

        Raises:
            NotPlainError: the message is malformed.
        """
        if type(number) is not int or type(fields) is not list or len(fields) != len(items):
            raise NotPlainError("malformed message")
        kind = self._classes.get((number, name, tuple(fields)))
        if kind is None:
            kind = self._add((number, name, tuple(fields)), named_tuple_class(name, fields, self._ask))
        made: NamedTupleProxy = tuple.__new__(kind, items)
        return made

    def member(self, number: Any, place: Any, name: Any, member: Any, value: Any) -> Any:
        """Return a received member of an enumeration; the same object each time.

        Args:
            number: number of the class.
            place: number of the member.
            name: name of the class.
            member: name of the member.
            value: value of the member.

        Raises:
            NotPlainError: the message is malformed.
        """
        if type(number) is not int or type(place) is not int or type(member) is not str:
            raise NotPlainError("malformed message")
        known = self._members.get(place)
        if known is not None:
            return known
        kind = self._classes.get((number, name, type(value)))
        if kind is None:
            kind = self._add((number, name, type(value)), member_class(name, type(value)))
        made = self._members[place] = kind(value)
        made.name, made.value, made.proctor_number = member, value, place
        return made

    def _add(self, key: tuple[int, str, Any], kind: Any) -> Any:
        if len(self._classes) >= CLASSES:
            raise NotPlainError("too many classes")
        self._classes[key] = kind
        self.numbers[kind] = key[0]
        return kind


# --- exceptions ------------------------------------------------------------------------------------------------------


class CandidateErrorMixin:
    """Adds the candidate's text and attributes to the proxy class of one of its exceptions."""

    proctor_handle: RemoteHandle | None = None
    proctor_text: str | None = None

    def __str__(self) -> str:
        return super().__str__() if self.proctor_text is None else self.proctor_text

    def __getattr__(self, name: str) -> Any:
        if self.proctor_handle is None or is_dunder(name):
            raise AttributeError(name)
        return getattr(self.proctor_handle, name)


def error_class(classes: SharedClasses, handle: RemoteHandle) -> Any:
    """Return the class that stands for one of the candidate's exception classes in `except` and `isinstance`.

    A class that the program did not define is the builtin or prelude class of that name, unless that would catch a
    failed assertion. Otherwise, and where no class can be made, the result is a class that nothing raises.

    Args:
        classes: the prelude's classes.
        handle: handle of the exception class.
    """
    state = handle.proctor_handle
    found: Any = None
    for name, bases in state.bases:
        found = classes.errors.get(name)
        if found is not None:
            continue
        known = [known_class(base, classes) for base in bases]
        kinds = tuple(kind for kind in known if kind is not None) or (Exception,)
        found = classes.errors[name] = _derive(name, kinds)
    if found is None:
        known_here = ERRORS.get(state.name)
        found = known_here if known_here not in (None, *TOO_WIDE) else _derive(state.name, (Exception,))
    return found


def _derive(name: str, bases: tuple[Any, ...]) -> Any:
    own = tuple(base for base in bases if issubclass(base, CandidateErrorMixin))
    try:
        return type(name, bases if own else (CandidateErrorMixin, *bases), {"__module__": "__main__"})
    except TypeError:  # layouts or orders that do not go together here
        return type(name, (CandidateErrorMixin, bases[0]), {"__module__": "__main__"})


def signature(parts: Any) -> Any:
    """Return the result of `inspect.signature` for a candidate's function.

    Args:
        parts: the signature as the candidate describes it.

    Raises:
        NotPlainError: the description is malformed.
    """
    import inspect

    empty = inspect.Parameter.empty
    try:
        parameters, has_return, returned = parts
        made = [
            inspect.Parameter(
                name,
                inspect._ParameterKind(kind),
                default=default if has_default else empty,
                annotation=annotation if has_annotation else empty,
            )
            for name, kind, has_default, default, has_annotation, annotation in parameters
        ]
        return inspect.Signature(made, return_annotation=returned if has_return else empty)
    except BROKEN as error:
        raise NotPlainError("malformed signature") from error
