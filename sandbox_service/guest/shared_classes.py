"""Registry of the classes that both boxes have from the same prelude, whose instances are sent by value."""

from __future__ import annotations

from typing import Any

from codec import ATOMS
from identifiers import is_dunder


class SharedClass:
    """A class that both boxes know by name, and the attributes of its instances that may be sent."""

    __slots__ = ("attributes", "kind")

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.attributes = declared_attributes(kind)


class SharedClasses:
    """The prelude's classes: those sent by value, and its exception classes."""

    __slots__ = ("by_name", "errors", "names")

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.by_name: dict[str, SharedClass] = {}
        self.names: dict[type, str] = {}
        self.errors: dict[str, type[Exception]] = {}
        for name, value in namespace.items():
            if isinstance(value, type):
                self._adopt(name, value)

    def _adopt(self, name: str, kind: type) -> None:
        if kind.__module__ not in ("__main__", "leetcode") or kind.__name__ != name:
            return
        if issubclass(kind, Exception):
            self.errors[name] = kind
        elif all(base is object or base.__module__ == kind.__module__ for base in kind.__mro__):
            self.by_name[name] = SharedClass(kind)
            self.names[kind] = name

    def use_program_classes(self, namespace: dict[str, Any]) -> None:
        """Replace the prelude's classes by the program's own of the same name.

        LeetCode solutions often repeat the definition of `ListNode`.

        Args:
            namespace: the program's globals.
        """
        for name, shared in self.by_name.items():
            kind = namespace.get(name)
            if type(kind) is type and kind is not shared.kind:
                shared.kind = kind
                self.names[kind] = name


def declared_attributes(kind: type) -> frozenset[str]:
    """Return the attribute names that instances of a class may send.

    These are slots, annotations and names that the class's own methods use, without dunder names and without names that
    the class defines as anything but a plain value (methods, properties).

    Args:
        kind: the class.
    """
    names: set[str] = set()
    barred: set[str] = set()
    for base in kind.__mro__[:-1]:
        slots = base.__dict__.get("__slots__", ())
        names.update((slots,) if isinstance(slots, str) else slots)
        names.update(getattr(base, "__annotations__", ()))
        for name, value in base.__dict__.items():
            code = getattr(value, "__code__", None)
            if code is not None:
                names.update(code.co_names)
            if type(value) in ATOMS or type(value) is int:
                names.add(name)
            elif type(value).__name__ != "member_descriptor":
                barred.add(name)
    return frozenset(name for name in names - barred if not is_dunder(name))
