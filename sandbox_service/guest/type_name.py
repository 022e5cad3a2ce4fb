"""A replacement for `type` in a test program: with one argument, it returns the class of a candidate's object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remote_handle import RemoteHandle


def made_for(class_of: Callable[[Any], Any]) -> Any:
    """Return a replacement for `type`.

    It is a class, so that a test may derive from it and evaluate `isinstance(value, type)`.

    Args:
        class_of: returns the class of a value.
    """

    class Meta(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not stand_in:
                return super().__call__(*args, **kwargs)
            return class_of(args[0]) if len(args) == 1 and not kwargs else type(*args, **kwargs)

        def __instancecheck__(cls, value: Any) -> bool:
            if cls is not stand_in:
                return super().__instancecheck__(value)
            return isinstance(value, type) or (type(value) is RemoteHandle and value.proctor_handle.sort == "class")

        def __eq__(cls, other: Any) -> bool:
            return other is cls or (cls is stand_in and other is type)

        def __hash__(cls) -> int:
            return hash(type) if cls is stand_in else super().__hash__()

    stand_in = Meta("type", (type,), {})
    return stand_in
