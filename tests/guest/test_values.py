"""The codec: what goes in comes out, by exact type, and what was never written so is refused."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guest import boxes  # noqa: F401 (puts the guest on the path)

import leetcode  # isort: skip
import values  # isort: skip
from values import Channel, Decoder, Encoder, NotPlain, World  # isort: skip

NOTHING = World({})


def there(value: Any, world: World = NOTHING) -> Any:
    """A value after one trip."""
    encoder = Encoder(world)
    decoder = Decoder(world)
    return decoder.message(encoder.message(encoder.value(value)), decoder.value)


def read(text: str, kept: list[Any] | None = None, world: World = NOTHING) -> Any:
    """What the tester's decoder makes of a reply."""
    decoder = Decoder(world, kept or [])
    return decoder.message(text, decoder.value)


def alike(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down; NaN is like NaN."""
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


@settings(max_examples=300, deadline=None)
@given(plain)
def test_round_trip(value: Any) -> None:
    """Everything plain arrives as it was."""
    assert alike(there(value), value)


@settings(deadline=None)
@given(st.lists(st.integers() | st.floats() | st.booleans() | st.none() | st.text(), max_size=50))
def test_lists_of_atoms(value: list[Any]) -> None:
    """The fast path writes what the slow one would."""
    assert alike(there(value), value)
    assert alike(there([value, tuple(value)]), [value, tuple(value)])


@settings(deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_forged_text(text: str) -> None:
    """Any text is a value or `NotPlain`, never another exception."""
    for forged in (text, f"[{text}]", f'[{{"{text}":[]}}]'):
        with contextlib.suppress(NotPlain):
            read(forged)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(sorted(values._READERS)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(values._READERS)), inner, max_size=2)
    ),
    max_leaves=12,
)


@settings(max_examples=500, deadline=None)
@given(st.lists(json_values, min_size=1, max_size=3), st.lists(st.lists(st.integers()), max_size=2))
def test_forged_messages(parts: Any, kept: list[Any]) -> None:
    """Messages of real tags in senseless places are values or `NotPlain`."""
    with contextlib.suppress(NotPlain):
        read(values.to_text(parts), kept)


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
    with pytest.raises(NotPlain):
        Encoder(NOTHING, []).value(row)
    with pytest.raises(NotPlain):
        read('[[[1],{"@":0}]]')


def test_results_point_to_arguments() -> None:
    """`@` in a reply is an argument of its call, and changes are made in place."""
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
    """A tuple with a name: only the candidate's side reduces it to a tuple."""

    x: int


class Fake:
    """An object that calls itself a list."""

    __class__ = list  # type: ignore[assignment]

    def __iter__(self) -> Any:
        raise RuntimeError("a hook was run")

    __len__ = __eq__ = __hash__ = __iter__  # type: ignore[assignment]


@pytest.mark.parametrize(
    "value",
    [
        Lazy(3), Fake(), object(), print, int.__add__, (x for x in [1]), iter([]), Exception(), type("T", (), {}), os,
        1 << values.INT_BITS, decimal.Decimal("1E+10001"), type("L", (list,), {})(), NotImplemented, ...,
        Point(1), slice(1),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_not_plain(value: Any) -> None:
    """What is no data is refused, at any depth, without running its hooks."""
    for nested in (value, [value], {"a": value}, (1, [value])):
        with pytest.raises(NotPlain):
            Encoder(NOTHING).value(nested)


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_depth() -> None:
    """As deep as allowed arrives; deeper is refused by both sides."""
    assert there(_nested(values.DEPTH)) == _nested(values.DEPTH)
    with pytest.raises(NotPlain):
        there(_nested(values.DEPTH + 1))
    for forged in ("[" * 2_000 + "]" * 2_000, "[" * 100_000, '[["]]",' * 5_000 + "1" + "]]" * 5_000):
        with pytest.raises(NotPlain):
            values.from_text(forged)
    assert values.from_text('["' + "[" * 10_000 + '"]') == ["[" * 10_000]
    assert values.from_text('["\\"' + "[{" * 10_000 + '"]') == ['"' + "[{" * 10_000]


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
    "hexadecimal digits": '[{"I":"' + "f" * 20_000 + '"}]',
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
    "colliding keys": values.to_text([{"S": [k * (2**61 - 1) for k in range(2_000)]}]),
    "colliding keys of a dictionary": values.to_text([{"D": [[k * (2**61 - 1) for k in range(2_000)], [0] * 2_000]}]),
    "too many values": "[[" + "1," * values.NODES + "1]]",
    "too many lists": "[[" + "[]," * (2 * values.NODES) + "1]]",
    "four parts": "[1,[],[],[]]",
    "no list": '"x"',
    "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Forged messages end in the one exception."""
    with pytest.raises(NotPlain):
        read(REFUSED[name])


def test_changes_keep_the_type() -> None:
    """An argument's new content is of the argument's type."""
    for forged in ('[1,[],[[0,{"T":[]}]]]', '[1,[],[[0,{"D":[[],[]]}]]]', "[1,[],[[0,5]]]", "[1,[],[[1,[]]]]"):
        with pytest.raises(NotPlain):
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


def shared(*kinds: type) -> World:
    """A world of classes, as if a prelude had made them."""
    for kind in kinds:
        kind.__module__ = "__main__"
    return World({kind.__name__: kind for kind in kinds})


def test_order_of_ordered_dictionaries() -> None:
    """An OrderedDict knows an order that `dict`'s own methods do not see."""
    value = collections.OrderedDict(a=1, b=2)
    value.move_to_end("a")
    assert list(there(value).items()) == [("b", 2), ("a", 1)]
    counts = collections.Counter("aab")
    read('[1,[],[[0,{"K":[["a"],[5]]}]]]', [counts])
    assert counts == {"a": 5}


def test_shared_classes() -> None:
    """Instances travel by value, with their declared attributes, sharing and cycles; slots may be empty."""
    world = shared(Slotted)
    one = Slotted()
    one.left = [one, one]
    again = there(one, world)
    assert type(again) is Slotted
    assert again.left[0] is again.left[1] is again
    assert not hasattr(again, "right")
    for name in ("total", "__class__", "other"):
        with pytest.raises(NotPlain):
            read(f'[{{"P":0}},[["Slotted",["{name}"],[1]]]]', world=world)


def test_lists_and_trees() -> None:
    """LeetCode's classes, their encodings, and lists far longer than the stack is deep."""
    world = World({kind.__name__: kind for kind in leetcode.SHARED})
    numbers = list(range(50_000))
    assert leetcode.list_values(there(leetcode.list_node(numbers), world)) == numbers
    levels = [1, None, 2, 3, None, None, 4]
    tree = leetcode.tree_node(levels)
    assert leetcode.tree_values(tree) == levels
    assert leetcode.is_same_tree(there(tree, world), tree)
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
    """What solutions take for granted is there, and each box has a table of its own."""
    names = leetcode.namespace()
    expected = (
        "List Optional deque Counter lru_cache cache heappush bisect_left accumulate gcd inf math datetime ListNode"
    )
    assert set(expected.split()) <= names.keys()
    assert names["pow"] is math.pow
    assert names is not leetcode.namespace()


def test_numpy() -> None:
    """Numbers and arrays of numbers keep their types; arrays of objects do not travel."""
    numpy = pytest.importorskip("numpy")
    array = there(numpy.array([[1.5, 2.0], [3.0, math.inf]], dtype="float32"))
    assert (array.dtype, array.shape, array.tolist()) == (numpy.float32, (2, 2), [[1.5, 2.0], [3.0, math.inf]])
    assert type(there(numpy.int8(3))) is numpy.int8
    with pytest.raises(NotPlain):
        there(numpy.array([None]))


def test_errors() -> None:
    """Exceptions arrive as the nearest known class, never as one that would end a loop or the process."""
    cases: list[tuple[BaseException, type]] = [
        (KeyError("a"), KeyError),
        (type("Mine", (OverflowError,), {})("x"), OverflowError),
        (StopIteration(3), RuntimeError),
        (StopAsyncIteration(), RuntimeError),
        (SystemExit(0), Exception),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), Exception),
        (ExceptionGroup("x", [ValueError()]), Exception),
    ]
    for error, kind in cases:
        names, arguments = values.read_error(values.from_text(values.to_text(values.describe_error(error))))
        assert type(values.make_error(names, arguments, NOTHING)) is kind
    assert values.make_error(["KeyError"], ["a"], NOTHING).args == ("a",)


# --- frames ----------------------------------------------------------------------------------------------------------


def channel_with(data: bytes) -> Channel:
    """A channel in which some bytes lie, and no more will come."""
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
        (b"\xff\xff\xff\xff", NotPlain),
        ((values.FRAME_BYTES + 1).to_bytes(4, "little"), NotPlain),
        (b"\x02\0\0\0\xff\xfe", NotPlain),
    ],
)
def test_bad_frames(data: bytes, error: type[Exception]) -> None:
    """A frame's length is judged before its body is awaited."""
    with pytest.raises(error):
        channel_with(data).receive()


def test_frames() -> None:
    """Several frames in one read, lone surrogates and all."""
    channel = channel_with(
        values.frame("call 1", "[1]") + values.frame("ok", '["\ud800\udc00"]') + values.frame("end", "")
    )
    assert [channel.receive() for _ in range(3)] == [("call 1", "[1]"), ("ok", '["\ud800\udc00"]'), ("end", "")]
    with pytest.raises(NotPlain):
        values.frame("x" * values.FRAME_BYTES, "")


def test_refusals_are_cheap() -> None:
    """The depth of a large forged message is found in a second or so, not by the parser's stack."""
    deep = '[["]]",' * 300_000 + "1" + "]]" * 300_000
    start = time.process_time()
    with pytest.raises(NotPlain):
        values.from_text(deep)
    assert time.process_time() - start < 4
