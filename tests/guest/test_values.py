"""The codec preserves values and their exact types, and refuses malformed messages."""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import math
import os
import time
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import leetcode  # isort: skip
import codec  # isort: skip
import decoder as decoder_module  # isort: skip
import error_codec  # isort: skip
from channel import Channel, frame  # isort: skip
from codec import NotPlainError  # isort: skip
from decoder import Decoder  # isort: skip
from encoder import Encoder  # isort: skip
from shared_classes import SharedClasses  # isort: skip

NOTHING = SharedClasses({})


def there(value: Any, classes: SharedClasses = NOTHING) -> Any:
    """Return a value after one encoding and decoding."""
    encoder = Encoder(classes)
    decoder = Decoder(classes)
    return decoder.message(encoder.message(encoder.value(value)), decoder.value)


def read(text: str, kept: list[Any] | None = None, classes: SharedClasses = NOTHING) -> Any:
    """Return the decoder's result for a reply."""
    decoder = Decoder(classes, kept or [])
    return decoder.message(text, decoder.value)


def alike(one: Any, other: Any) -> bool:
    """Return True for values that are equal and of the same types at all levels; NaN equals NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, (list, tuple, collections.deque)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))
    if isinstance(one, (set, frozenset)):
        return bool(one == other) and sorted(map(repr, map(type, one))) == sorted(map(repr, map(type, other)))
    return bool(one == other)


hashable_atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**320), 10**320)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary(max_size=20)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.just(datetime.UTC))
    | st.times()
    | st.timedeltas()
    | st.complex_numbers(allow_nan=False)
    | st.builds(range, st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9))
)
hashables = st.recursive(
    hashable_atoms,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=8,
)
plain = st.recursive(
    hashables | st.floats() | st.binary(max_size=9).map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashables, inner, max_size=4)
        | st.dictionaries(hashables, inner, max_size=4).map(collections.OrderedDict)
        | st.dictionaries(hashables, st.integers(), max_size=4).map(collections.Counter)
        | st.dictionaries(hashables, inner, max_size=4).map(lambda d: collections.defaultdict(list, d))
        | st.lists(inner, max_size=4).map(lambda items: collections.deque(items, 9))
        | st.sets(hashables, max_size=4)
    ),
    max_leaves=25,
)


@given(plain)
def test_round_trip(value: Any) -> None:
    """Every plain value is preserved."""
    assert alike(there(value), value)


@given(st.lists(st.integers() | st.floats() | st.booleans() | st.none() | st.text(), max_size=50))
def test_lists_of_atoms(value: list[Any]) -> None:
    """The fast path encodes like the slow one."""
    assert alike(there(value), value)
    assert alike(there([value, tuple(value)]), [value, tuple(value)])


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_forged_text(text: str) -> None:
    """Any text is a value or `NotPlainError`, never another exception."""
    for forged in (text, f"[{text}]", f'[{{"{text}":[]}}]'):
        with contextlib.suppress(NotPlainError):
            read(forged)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(sorted(decoder_module._READERS)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(sorted(decoder_module._READERS)), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(st.lists(json_values, min_size=1, max_size=3), st.lists(st.lists(st.integers()), max_size=2))
def test_forged_messages(parts: Any, kept: list[Any]) -> None:
    """Known tags in wrong places decode to values or raise `NotPlainError`."""
    with contextlib.suppress(NotPlainError):
        read(codec.to_text(parts), kept)


def test_aliases_among_arguments() -> None:
    """A list that occurs twice, or in itself, is one list on the other side."""
    row: list[Any] = [1]
    rows = there([row, row, (row,)])
    assert rows[0] is rows[1] is rows[2][0]
    row.append(row)
    assert there(row)[1] is there(row)[1] or there(row)[1][1] is not None
    again = there(row)
    assert again[1] is again


def test_no_aliases_in_results() -> None:
    """Sharing in a result is written out; a cycle is refused."""
    row: list[Any] = [1]
    text = (encoder := Encoder(NOTHING, [])).message(encoder.value([row, row]))
    one, other = read(text)
    assert one == other == [1]
    assert one is not other
    row.append(row)
    with pytest.raises(NotPlainError):
        Encoder(NOTHING, []).value(row)
    with pytest.raises(NotPlainError):
        read('[[[1],{"@":0}]]')


def test_results_point_to_arguments() -> None:
    """`@` in a reply refers to an argument of its call, and changes are made in place."""
    numbers: list[Any] = [3, 1]
    lookup: dict[Any, Any] = {}
    assert read('[{"T":[{"@":0},{"@":1}]},[],[[0,[1,{"@":1}]],[1,{"D":[["a"],[{"@":0}]]}]]]', [numbers, lookup]) == (
        numbers,
        lookup,
    )
    assert numbers[1] is lookup
    assert lookup["a"] is numbers


class Lazy(int):
    """A subclass that claims to be equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Point(NamedTuple):
    """A named tuple, which only the candidate's side encodes."""

    x: int


class Fake:
    """An object that claims to be a list."""

    __class__ = list  # type: ignore[assignment]

    def __iter__(self) -> Any:
        raise RuntimeError("a hook was run")

    __len__ = __eq__ = __hash__ = __iter__  # type: ignore[assignment]


@pytest.mark.parametrize(
    "value",
    [
        Lazy(3), Fake(), object(), print, int.__add__, (x for x in [1]), iter([]), Exception(), type("T", (), {}), os,
        1 << codec.INT_BITS, decimal.Decimal("1E+10001"), type("L", (list,), {})(), NotImplemented, ...,
        Point(1),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_not_plain(value: Any) -> None:
    """Objects that are not data are refused at any depth, and none of their methods runs."""
    for nested in (value, [value], {"a": value}, (1, [value])):
        with pytest.raises(NotPlainError):
            Encoder(NOTHING).value(nested)


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_depth() -> None:
    """The greatest allowed depth arrives; both sides refuse a greater one."""
    assert there(_nested(codec.DEPTH)) == _nested(codec.DEPTH)
    with pytest.raises(NotPlainError):
        there(_nested(codec.DEPTH + 1))
    for forged in ("[" * 2_000 + "]" * 2_000, "[" * 100_000, '[["]]",' * 5_000 + "1" + "]]" * 5_000):
        with pytest.raises(NotPlainError):
            codec.from_text(forged)
    assert codec.from_text('["' + "[" * 10_000 + '"]') == ["[" * 10_000]
    assert codec.from_text('["\\"' + "[{" * 10_000 + '"]') == ['"' + "[{" * 10_000]


REFUSED = {
    "an unknown tag": '[{"eval":"1"}]',
    "no tag": "[{}]",
    "two tags": '[{"T":[],"S":[]}]',
    "an unknown class": '[{"P":0},[["A",[],[]]]]',
    "a table entry that nothing points to": "[1,[[\"A\",[],[]]]]",
    "a place beyond the table": '[{"P":1},[]]',
    "True as a place": '[{"@":true}]',
    "a negative place": '[{"@":-1}]',
    "an unhashable key": '[{"D":[[[]],[1]]}]',
    "more keys than values": '[{"D":[[1,2],[1]]}]',
    "an unhashable item": '[{"S":[[]]}]',
    "digits": "[" + "9" * 5_000 + "]",
    "hexadecimal digits": '[{"I":"' + "f" * 20_000_000 + '"}]',
    "a decimal exponent": '[{"M":"1E+99999999"}]',
    "a long decimal": '[{"M":"' + "1" * 30_000 + '"}]',
    "a decimal that is no text": '[{"M":[0,[1],99999999]}]',
    "a long range": '[{"R":[0,1000000000000,1]}]',
    "a range of step 0": '[{"R":[0,1,0]}]',
    "a range of floats": '[{"R":[0.5,1,1]}]',
    "a fraction of 0": '[{"Z":[1,0]}]',
    "a date": '[{"W":["date","2024-13-01",0]}]',
    "an unknown kind of date": '[{"W":["now","2024-12-01",0]}]',
    "an unknown type": '[{"Y":"eval"}]',
    "an array of objects": '[{"N":["|O",[1],[1]]}]',
    "an array of another shape": '[{"N":["<i8",[2],[1]]}]',
    "a huge array type": '[{"N":["<U99999",[400],' + str([1] * 400) + "]}]",
    "colliding keys": codec.to_text([{"S": [k * (2**61 - 1) for k in range(2_000)]}]),
    "colliding keys of a dictionary": codec.to_text([{"D": [[k * (2**61 - 1) for k in range(2_000)], [0] * 2_000]}]),
    "too many values": "[[" + "1," * codec.NODES + "1]]",
    "too many lists": "[[" + "[]," * (2 * codec.NODES) + "1]]",
    "four parts": "[1,[],[],[]]",
    "no list": '"x"',
    "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Forged messages raise `NotPlainError`."""
    with pytest.raises(NotPlainError):
        read(REFUSED[name])


def test_changes_keep_the_type() -> None:
    """An argument's new content has the argument's type."""
    for forged in ('[1,[],[[0,{"T":[]}]]]', '[1,[],[[0,{"D":[[],[]]}]]]', "[1,[],[[0,5]]]", "[1,[],[[1,[]]]]"):
        with pytest.raises(NotPlainError):
            read(forged, [[1]])


class Slotted:
    """A class with slots and a property."""

    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left: Any = 1

    @property
    def total(self) -> int:
        """Computed, so it does not travel."""
        return 3


def shared(*kinds: type) -> SharedClasses:
    """Return a registry of these classes, as if a prelude had made them."""
    for kind in kinds:
        kind.__module__ = "__main__"
    return SharedClasses({kind.__name__: kind for kind in kinds})


def test_order_of_ordered_dictionaries() -> None:
    """An OrderedDict has an order that `dict`'s own methods do not show."""
    value = collections.OrderedDict(a=1, b=2)
    value.move_to_end("a")
    assert list(there(value).items()) == [("b", 2), ("a", 1)]
    counts = collections.Counter("aab")
    read('[1,[],[[0,{"K":[["a"],[5]]}]]]', [counts])
    assert counts == {"a": 5}


def test_shared_classes() -> None:
    """Instances are sent by value, with declared attributes, sharing and cycles; slots may be empty."""
    classes = shared(Slotted)
    one = Slotted()
    one.left = [one, one]
    again = there(one, classes)
    assert type(again) is Slotted
    assert again.left[0] is again.left[1] is again
    assert not hasattr(again, "right")
    for name in ("total", "__class__", "other"):
        with pytest.raises(NotPlainError):
            read(f'[{{"P":0}},[["Slotted",["{name}"],[1]]]]', classes=classes)


def test_lists_and_trees() -> None:
    """LeetCode's classes, their encodings, and lists far longer than the stack is deep."""
    classes = SharedClasses({kind.__name__: kind for kind in leetcode.SHARED})
    numbers = list(range(50_000))
    assert leetcode.list_values(there(leetcode.list_node(numbers), classes)) == numbers
    levels = [1, None, 2, 3, None, None, 4]
    tree = leetcode.tree_node(levels)
    assert leetcode.tree_values(tree) == levels
    assert leetcode.is_same_tree(there(tree, classes), tree)
    assert not leetcode.is_same_tree(tree, leetcode.tree_node(levels[:-1]))
    assert leetcode.is_same_list(leetcode.list_node([]), None)
    assert not leetcode.is_same_list(leetcode.list_node([1, 2]), leetcode.list_node([1]))
    assert (leetcode.tree_node([]), leetcode.tree_values(None), leetcode.list_values(None)) == (None, [], [])
    loop = leetcode.list_node([1])
    assert loop is not None
    loop.next = loop
    with pytest.raises(ValueError, match="cycle"):
        leetcode.list_values(loop)


def test_leetcode_names() -> None:
    """The names that solutions use without an import exist, and each box has a table of its own."""
    names = leetcode.namespace()
    expected = (
        "List Optional deque Counter lru_cache cache heappush bisect_left accumulate gcd inf math datetime ListNode"
    )
    assert set(expected.split()) <= names.keys()
    assert names["pow"] is math.pow
    assert names is not leetcode.namespace()


def test_numpy() -> None:
    """Numbers and arrays of numbers keep their types; arrays of objects are refused."""
    numpy = pytest.importorskip("numpy")
    array = there(numpy.array([[1.5, 2.0], [3.0, math.inf]], dtype="float32"))
    assert (array.dtype, array.shape, array.tolist()) == (numpy.float32, (2, 2), [[1.5, 2.0], [3.0, math.inf]])
    assert type(there(numpy.int8(3))) is numpy.int8
    with pytest.raises(NotPlainError):
        there(numpy.array([None]))


def test_errors() -> None:
    """Exceptions arrive as the nearest known class, never as one that would end a loop or the process."""
    cases: list[tuple[BaseException, type]] = [
        (KeyError("a"), KeyError),
        (type("Mine", (OverflowError,), {})("x"), OverflowError),
        (StopIteration(3), RuntimeError),
        (StopAsyncIteration(), RuntimeError),
        (SystemExit(0), Exception),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), UnicodeDecodeError),
        (ExceptionGroup("x", [ValueError()]), Exception),
    ]
    for error, kind in cases:
        described = error_codec.read_error(codec.from_text(codec.to_text(error_codec.describe_error(error))))
        assert type(error_codec.make_error(described, NOTHING)) is kind
    assert error_codec.make_error(error_codec.Described(["KeyError"], ["a"]), NOTHING).args == ("a",)


@pytest.mark.parametrize(
    "key", ["unittest.case:SkipTest", "tests.guest.boxes:Report", "os:system", "json:loads", ":x", "json:"]
)
def test_only_exceptions_of_libraries_are_found_by_name(key: str) -> None:
    """A submission can name any class: a framework's own would tell it that a test was skipped."""
    import unittest  # noqa: F401 (it must be loaded)

    error = error_codec.make_error(error_codec.Described([key, "ValueError", "Exception"], ["a"]), NOTHING)
    assert type(error) is ValueError


# --- frames ----------------------------------------------------------------------------------------------------------


def channel_with(data: bytes) -> Channel:
    """Return a channel that contains these bytes and is then closed."""
    read_fd, write_fd = os.pipe()
    os.write(write_fd, data)
    os.close(write_fd)
    return Channel(read_fd, write_fd)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EOFError),
        (b"\x01\0", EOFError),
        (b"\x09\0\0\0short", EOFError),
        (b"\xff\xff\xff\xff", NotPlainError),
        ((codec.FRAME_BYTES + 1).to_bytes(4, "little"), NotPlainError),
        (b"\x02\0\0\0\xff\xfe", NotPlainError),
    ],
)
def test_bad_frames(data: bytes, error: type[Exception]) -> None:
    """A frame's length is checked before its body is read."""
    with pytest.raises(error):
        channel_with(data).receive()


def test_frames() -> None:
    """Several frames in one read, with lone surrogates."""
    channel = channel_with(frame("call 1", "[1]") + frame("ok", '["\ud800\udc00"]') + frame("end", ""))
    assert [channel.receive() for _ in range(3)] == [("call 1", "[1]"), ("ok", '["\ud800\udc00"]'), ("end", "")]
    with pytest.raises(NotPlainError):
        frame("x" * codec.FRAME_BYTES, "")


def test_refusals_are_cheap() -> None:
    """A large forged message is refused for its depth within about a second, without using the parser's stack."""
    deep = '[["]]",' * 300_000 + "1" + "]]" * 300_000
    start = time.process_time()
    with pytest.raises(NotPlainError):
        codec.from_text(deep)
    assert time.process_time() - start < 4
