"""Encodes the result of a call as a line of JSON.

Plain values go straight to `json`. Other values are converted to their obvious JSON form: a set is tagged, numbers of
any library become numbers, iterables become lists. A value without one raises TypeError. The host does not trust the
line: it reads a value and compares it.
"""

import collections
import json
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import leetcode

SET_TAG = "__set__"
MOST_DIGITS = 4300  # longest integer that json writes

VIEWS = frozenset({"dict_keys", "dict_values", "dict_items", "odict_keys", "odict_values", "odict_items", "range"})
LISTS = frozenset({"SortedList", "SortedKeyList"})  # of sortedcontainers
NODES: dict[str, Callable[[Any], Any]] = {"ListNode": leetcode.list_values, "TreeNode": leetcode.tree_values}
KEYS = (str, int, float, bool, type(None))


def encoded(value: Any) -> bytes:
    """Return the value as a line of JSON.

    Args:
        value: the result of a call.

    Raises:
        TypeError: the value has no JSON form.
        ValueError: the value contains itself.
    """
    try:
        text = json.dumps(value)
    except TypeError:  # a value without a JSON form
        text = _converted_text(value)
    return text.encode() + b"\n"


def _converted_text(value: Any) -> str:
    iterated: dict[int, tuple[Any, list[Any]]] = {}

    def convert(value: Any) -> Any:
        if id(value) in iterated:
            return iterated[id(value)][1]
        found = _converted(value)
        if type(found) is list:  # an iterator yields its elements once, and encoding may start again
            iterated[id(value)] = value, found
        return found

    try:
        return json.dumps(value, default=convert)
    except TypeError:  # perhaps a key, for which json does not call `default`
        return json.dumps(_with_plain_keys(value, convert), default=convert)


def _converted(value: Any) -> Any:
    """Convert a value that JSON cannot represent to values that it can, or that are converted in turn."""
    kind = type(value)
    if kind in (set, frozenset) or kind.__name__ == "SortedSet":
        return {SET_TAG: list(value)}
    if kind.__name__ in NODES:
        return NODES[kind.__name__](value)
    if isinstance(value, Decimal | Fraction):
        return _number(value)
    if _is_listed(value, kind):
        return list(value)
    if isinstance(value, collections.UserDict | collections.ChainMap | types.MappingProxyType):
        return dict(value)
    if kind.__module__.partition(".")[0] == "numpy":
        return value.tolist()
    fields = getattr(kind, "__dataclass_fields__", None)
    if isinstance(fields, dict):
        return {name: getattr(value, name) for name in fields}
    raise TypeError(f"the submission returned a {kind.__name__}, which is not a plain value")


def _is_listed(value: Any, kind: type) -> bool:
    """Return True for a value that only yields elements: an iterator of Python's own, a view, a deque."""
    module = kind.__module__.partition(".")[0]
    if module == "itertools" or kind.__name__ in VIEWS or isinstance(value, types.GeneratorType):
        return True
    if isinstance(value, collections.deque | collections.UserList) or module == "array":
        return True
    if module == "sortedcontainers":
        return kind.__name__ in LISTS
    return module == "builtins" and hasattr(kind, "__next__")


def _number(value: Decimal | Fraction) -> int | float:
    """Return the number as an integer if it is one, else as the nearest float. Raise TypeError if there is none."""
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    if isinstance(value, Decimal) and value.adjusted() > MOST_DIGITS:
        raise TypeError("the submission returned a Decimal with too many digits")
    if value == int(value):
        return int(value)
    number = float(value)
    if number == 0 or number - number != 0:
        raise TypeError(f"the submission returned a {type(value).__name__} outside the range of float")
    return number


def _with_plain_keys(value: Any, convert: Any) -> Any:
    """Convert the keys of dicts for json. Raise TypeError for a key without a JSON form."""
    if isinstance(value, dict):
        found = {_key(key): _with_plain_keys(each, convert) for key, each in value.items()}
        if len(found) != len(value):  # the last one would decide
            raise TypeError("the submission returned a dict with two keys that JSON writes alike")
        return found
    if isinstance(value, list | tuple):
        return [_with_plain_keys(each, convert) for each in value]
    if isinstance(value, KEYS):
        return value
    return _with_plain_keys(convert(value), convert)


def _key(key: Any) -> Any:
    """Convert a key: a number of numpy's to a number, a tuple of plain values to Python's notation, `(1, 'a')`."""
    if isinstance(key, KEYS):
        return key
    if type(key).__module__.partition(".")[0] == "numpy":
        return _key(key.tolist())
    if isinstance(key, tuple) and _is_plain(key):
        return str(tuple(key))
    raise TypeError(f"the submission returned a dict with a {type(key).__name__} as a key, which is not a plain value")


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else type(value) in KEYS
