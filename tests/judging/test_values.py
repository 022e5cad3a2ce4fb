"""Results of calls compared with expected values: types, order, tolerances, depth, and hostile values."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from itertools import permutations
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.judging.checkers import check_value
from sandbox_service.judging.values import READ_BYTES, check_result, too_many_elements
from sandbox_service.schema import Checker
from tests.markers import one_in

PLAIN = Checker()
NEAR = Checker(float_tolerance=1e-6)
ANY_ORDER = Checker(type="unordered_lines")


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (None, None),
        (True, True),
        (1, 1.0),
        (1.0, 1),
        (2**60, float(2**60)),
        (inf, inf),
        ("a", "a"),
        ("", ""),
        ((1, 2), [1, 2]),
        ([(1,), [2]], [[1], [2]]),
        ([], ()),
        ({}, {}),
        ({"a": (1,)}, {"a": [1]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a", 2.5: "b", None: "c", False: "d"}, {"1": "a", "2.5": "b", "null": "c", "false": "d"}),
        ({True: "a"}, {"true": "a"}),
        ({inf: 1, -inf: 2, nan: 3}, {"Infinity": 1, "-Infinity": 2, "NaN": 3}),
    ],
)
def test_right(got: object, expected: object) -> None:
    assert check_value(PLAIN, got, expected) is None


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ({3, 1, 2}, [1, 2, 3]),
        ({3, 1, 2}, [3, 2, 1]),
        (frozenset({"b", "a"}), ["b", "a"]),
        ({1, "a", None, 2.5}, ["a", None, 2.5, 1]),
        ({frozenset({1, 2}), frozenset({3})}, [[3], [2, 1]]),
        ({(1, 2), (2, 1)}, [[2, 1], [1, 2]]),
        ([{1, 2}, {3}], [[2, 1], [3]]),
        (set(), []),
    ],
)
def test_a_set_is_right_only_where_order_does_not_matter(got: object, expected: object) -> None:
    assert check_value(ANY_ORDER, got, expected) is None
    assert check_value(PLAIN, got, expected) is not None  # or whoever returns a set need not sort


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (True, 1),
        (1, True),
        (False, 0),
        (0, None),
        (None, False),
        ("", None),
        ("1", 1),
        (nan, nan),
        ([nan], [nan]),
        (inf, -inf),
        (inf, 1e308),
        (10**18 + 1, 1e18),
        (1e18, 10**18 + 1),
        (-100000001, -100000000),
        (0.1 + 0.2, 0.3),
        ([1, 2], [2, 1]),
        ((1, 2), [2, 1]),
        ([1], [1, 1]),
        ([], [1]),
        ([], None),
        ([], {}),
        ({1}, [1, 1]),
        ({1, 2}, [1, 3]),
        ({1, 2}, {"1": 1, "2": 2}),
        ({nan}, [nan]),
        ([{1, 2}, {3}], [[3], [1, 2]]),
        ({"a": 1}, {}),
        ({}, {"a": 1}),
        ({"a": 1}, {"b": 1}),
        ({1: "a", "1": "a"}, {"1": "a"}),
        ({(1, 2): "a"}, {"(1, 2)": "a"}),
        ({1.0: "a"}, {"1": "a"}),
        ({True: "a"}, {"1": "a"}),
        ("abc", ["a", "b", "c"]),
        (b"a", "a"),
        (1j, 1),
    ],
)
@pytest.mark.parametrize("checker", [PLAIN, Checker(type="exact"), Checker(type="json")])
def test_wrong(checker: Checker, got: object, expected: object) -> None:
    reason = check_value(checker, got, expected)
    assert isinstance(reason, str)
    assert 0 < len(reason) < 300


class Chameleon:
    """Claims to be equal to everything, as submissions have done."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(1)


class ChameleonInt(int, Chameleon):
    """The same, derived from a harmless class."""

    __hash__ = Chameleon.__hash__


@pytest.mark.parametrize("liar", [Chameleon(), ChameleonInt(7)])
@pytest.mark.parametrize("checker", [PLAIN, NEAR, ANY_ORDER])
def test_a_value_that_equals_everything_equals_nothing(liar: object, checker: Checker) -> None:
    for got, expected in [(liar, 1), ([liar], [1]), ({"a": liar}, {"a": 1}), ({liar}, [1]), (1, liar)]:
        assert check_value(checker, got, expected) is not None


@pytest.mark.parametrize(
    ("got", "expected", "verdict"),
    [
        (1.0000001, 1, True),
        (1, 1.0000001, True),
        (1.1, 1.0, False),
        ([[0.3333333]], [[0.33333333]], True),
        (1000000001, 1000000000, False),
        (1000000001.0, 1000000000, True),
        (inf, inf, True),
        (inf, 1e308, False),
        (1e308, inf, False),
        (nan, nan, False),
        (nan, 1.0, False),
        (10**400, 1e308, False),
        (1e308, 10**400, False),
        ("1.0000001", "1.0", False),
        (True, 1.0, False),
        ([0.1 + 0.2], [0.3], True),
        ({0.1 + 0.2}, [0.3], False),
    ],
)
def test_with_a_tolerance(got: object, expected: object, verdict: bool) -> None:
    assert (check_value(NEAR, got, expected) is None) is verdict


def test_a_tolerance_is_compared_with_numbers_as_they_are_written() -> None:
    assert check_value(Checker(absolute_tolerance=0.1), 1.1, 1.0) is None
    assert check_value(Checker(absolute_tolerance=0.1), 1.2, 1.0) is not None


def test_any_order_is_for_the_outermost_list_only() -> None:
    assert check_value(ANY_ORDER, [[1, 2], [3, 4]], [[3, 4], [1, 2]]) is None
    assert check_value(ANY_ORDER, [[2, 1], [3, 4]], [[3, 4], [1, 2]]) is not None
    assert check_value(ANY_ORDER, [1, 1, 2], [1, 2, 2]) is not None
    assert check_value(ANY_ORDER, [1, True], [True, 1]) is None
    assert check_value(ANY_ORDER, [1, 1], [True, 1]) is not None
    assert check_value(ANY_ORDER, {"a": [1, 2]}, {"a": [2, 1]}) is not None
    assert check_value(ANY_ORDER, [{"a": 1, "b": 2}, None], [None, {"b": 2, "a": 1}]) is None


def test_case_of_text_is_ignored_if_asked() -> None:
    loud = Checker(ignore_case=True)
    assert check_value(loud, ["Yes", {"a": "É"}], ["YES", {"a": "é"}]) is None
    assert check_value(loud, {"A": 1}, {"a": 1}) is not None
    assert check_value(loud, "Masse", "Maße") is not None  # another word
    assert check_value(Checker(type="unordered_lines", ignore_case=True), ["a", "B"], ["b", "A"]) is None
    assert check_value(PLAIN, "Yes", "YES") is not None


@pytest.mark.parametrize(
    ("got", "expected", "reason"),
    [
        (4, 5, "got 4, expected 5"),
        ([0, 0, 0, {"x": 4}], [0, 0, 0, {"x": 5}], "at [3].x: got 4, expected 5"),
        ({"a b": [4]}, {"a b": [5]}, "at ['a b'][0]: got 4, expected 5"),
        ([[1, 2]], [[1]], "at [0]: got 2 elements, expected 1"),
        ({"a": 1}, {"b": 1}, "the key 'b' is missing"),
        ({"a": 1, "b": 1}, {"b": 1}, "the key 'a' is not expected"),
        ((1,), {"a": 1}, "got a tuple of 1, expected a dict of 1"),
        ("x" * 99, 1, f"got '{'x' * 40}'…, expected 1"),
        (
            {1, 2},
            [1, 2],
            "got a set of 2, expected a list of 2: a set has no order (the checker unordered_lines ignores it)",
        ),
        (Chameleon(), 1, "got a value of type 'Chameleon', expected 1"),
    ],
)
def test_the_reason_says_where_and_what(got: object, expected: object, reason: str) -> None:
    assert check_value(PLAIN, got, expected) == reason


def test_integers_too_long_to_write_are_values_like_others() -> None:
    huge = 10**5000
    assert check_value(PLAIN, [huge], [huge]) is None
    assert check_value(PLAIN, huge, 1) == "got an integer of 16610 bits, expected 1"
    assert check_value(NEAR, huge + 1, huge) is not None
    assert check_value(ANY_ORDER, [huge + 1, huge], [huge, huge + 1]) is None
    assert check_value(PLAIN, {huge: "a"}, {"1": "a"}) is not None


def test_a_reason_can_be_written_as_utf8() -> None:
    reason = check_value(PLAIN, {"\ud800": "\ud800"}, {"\ud800": "x"})
    assert reason is not None
    assert reason.encode()
    assert check_value(PLAIN, {"\ud800": 1}, {}) is not None


def nested(depth: int, core: object) -> object:
    for _ in range(depth):
        core = [core]
    return core


@pytest.mark.parametrize("checker", one_in(2, [PLAIN, ANY_ORDER]))
def test_depth_gives_an_answer_and_no_recursion_error(checker: Checker) -> None:
    assert check_value(checker, nested(5_000, 1), nested(5_000, 1)) is None
    assert check_value(checker, nested(5_000, 1), nested(5_000, 2)) is not None
    assert check_value(checker, nested(200_000, 1), nested(200_000, 1)) is not None
    assert check_value(checker, nested(200_000, 1), 1) is not None


def test_deep_sets_give_an_answer() -> None:
    core: object = 1
    for _ in range(5_000):
        core = (core,)
    assert check_value(ANY_ORDER, {core}, nested(5_001, 1)) is None
    assert check_value(ANY_ORDER, {core}, nested(5_001, 2)) is not None


def test_large_values_in_any_order() -> None:
    """Comparing each element with each would take hours."""
    many = list(range(200_000))
    assert check_value(ANY_ORDER, many[::-1], many) is None
    assert check_value(ANY_ORDER, set(many), many[::-1]) is None
    assert check_value(ANY_ORDER, [*many[1:], -1], many) is not None


def test_many_sets_in_a_list_and_many_sets_in_a_set() -> None:
    sets = [frozenset({i, 1000 + i, -i - 1}) for i in range(100)]
    lists = [[1000 + i, -i - 1, i] for i in reversed(range(100))]
    assert check_value(ANY_ORDER, set(sets), lists) is None
    assert check_value(ANY_ORDER, sets, lists) is None
    assert check_value(ANY_ORDER, sets, [[1000, -1, 1], *lists[:-1]]) is not None


def test_many_words_in_any_order_whatever_their_case() -> None:
    words = [f"{letter}{number}" for number in range(10) for letter in "abCD"]
    checker = Checker(type="unordered_lines", ignore_case=True)
    assert check_value(checker, [word.swapcase() for word in words[::-1]], words) is None


def test_many_equal_and_nested_elements_in_any_order() -> None:
    tree: object = 1
    for _ in range(14):
        tree = [tree, tree]
    assert check_value(ANY_ORDER, [tree, tree], [tree, tree]) is None


PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers() | st.booleans() | st.none(), inner, max_size=4)
    ),
    max_leaves=12,
)


def has_colliding_keys(value: object) -> bool:
    if isinstance(value, dict):
        names = {key if isinstance(key, str) else json.dumps(key) for key in value}
        return len(names) < len(value) or any(map(has_colliding_keys, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_colliding_keys, value))


@given(value=PLAIN_VALUES.filter(lambda value: not has_colliding_keys(value)))
def test_a_value_equals_what_json_makes_of_it(value: object) -> None:
    through_json = json.loads(json.dumps(value))
    for checker in (PLAIN, NEAR, ANY_ORDER):
        assert check_value(checker, value, through_json) is None
        assert check_value(checker, [value], [through_json, 1]) is not None


def same_json(left: object, right: object) -> bool:
    """A simple recursive comparison, as an oracle."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return not isinstance(left, (list, dict)) and not isinstance(right, (list, dict)) and left == right


SMALL_JSON = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, "", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


@given(left=SMALL_JSON, right=SMALL_JSON)
def test_two_values_are_equal_if_a_second_opinion_says_so(left: object, right: object) -> None:
    assert (check_value(PLAIN, left, right) is None) == same_json(left, right)


@given(left=st.lists(SMALL_JSON, max_size=4), right=st.lists(SMALL_JSON, max_size=4), data=st.data())
def test_any_order_means_some_permutation(left: list[object], right: list[object], data: st.DataObject) -> None:
    assert check_value(ANY_ORDER, data.draw(st.permutations(left)), left) is None
    some = any(same_json(list(order), right) for order in permutations(left))
    assert (check_value(ANY_ORDER, left, right) is None) == some


def test_any_order_with_a_tolerance_is_not_misled_by_the_first_fit() -> None:
    """The first point fits both expected ones; the second only the one that a greedy pairing gives to the first."""
    close = Checker(type="unordered_lines", absolute_tolerance=0.5)
    assert check_value(close, [[0.9, 0.9], [1.0, 0.6]], [[1.0, 1.0], [1.4, 1.4]]) is None
    assert check_value(close, [[0.9, 0.9], [1.0, 0.6]], [[1.4, 1.4], [1.5, 1.4]]) is not None


TENTHS = st.integers(0, 12).map(lambda tenth: tenth / 10)
POINTS = st.lists(st.tuples(TENTHS, TENTHS).map(list), max_size=4)


@given(left=POINTS, right=POINTS)
def test_any_order_with_a_tolerance_finds_a_pairing_if_there_is_one(
    left: list[list[float]], right: list[list[float]]
) -> None:
    """Points half a unit apart, of which many fit several others."""
    close = Checker(type="unordered_lines", absolute_tolerance=0.5)
    ordered = Checker(absolute_tolerance=0.5)
    some = any(check_value(ordered, list(order), right) is None for order in permutations(left))
    assert (check_value(close, left, right) is None) == some


def test_a_tagged_set_is_a_set_however_its_elements_hash() -> None:
    same_hash = [number * ((1 << 61) - 1) for number in range(50)]
    line = json.dumps({"__set__": same_hash[::-1]}).encode()
    assert check_result(ANY_ORDER, line, same_hash) is None
    assert check_result(PLAIN, line, same_hash) is not None
    assert check_result(ANY_ORDER, line, [*same_hash[1:], 1]) is not None
    assert check_result(ANY_ORDER, b'{"__set__": [{"__set__": [1, 2]}, [3]]}', [[3], [2, 1]]) is None
    assert check_result(ANY_ORDER, b'{"__set__": [[1], {"a": 1}]}', [{"a": 1}, [1]]) is None


def test_a_dict_that_looks_like_a_tag_is_a_dict_where_one_is_expected() -> None:
    assert check_result(PLAIN, b'{"__set__": [1, 2]}', {"__set__": [1, 2]}) is None
    assert check_result(PLAIN, b'{"__set__": [1, 2]}', {"__set__": [2, 1]}) is not None
    assert check_result(PLAIN, b'{"__set__": 1}', {"__set__": 1}) is None


@pytest.mark.parametrize("line", [b'{"1": 3, "1": 2}', b'{"1": 2, "1": 2}', b'{"__set__": [1], "__set__": [2]}'])
def test_an_object_with_one_key_twice_is_no_value(line: bytes) -> None:
    """Else it would be the last one: `{1: 3, "1": 2}` gives two answers."""
    assert "twice" in str(check_result(ANY_ORDER, line, {"1": 2}))


@pytest.mark.parametrize(
    ("got", "expected", "is_right"),
    [
        ([1.0, 2], [1, 2], True),
        ([True, 2], [1, 2], False),
        ([nan], [nan], False),
        ([0.1 + 0.2, 1.0], [0.3, 1.0], True),
        ([0.3001, 1.0], [0.3, 1.0], False),
        ([1e308, 1.0], [1e308, 1.0], True),
        ([2, 0.3], [3, 0.3], False),
        ([-(10**400), 1.0], [-(10**400), 1], True),
        ([], [], True),
        ([0.5, 1.0], [nan, 1.0], False),
        ([0.500001, 1e6 + 1], [0.5, 1e6], True),  # exactly at the edge
        ([0.5000011, 1.0], [0.5, 1.0], False),
        ([0.1234567890123456, 1.0], [0.1234557890123456, 1.0], True),
        ([0.1234567890123457, 1.0], [0.1234557890123456, 1.0], False),
        ([inf, 1.0], [inf, 1.000001], True),
        ([inf, -inf], [inf, -inf], True),
        ([inf, 1.0], [-inf, 1.0], False),
        ([[1.0, 2]] * 3, [[1, 2]] * 3, True),
        ([[1.0], [2]], [[1, 2], []], False),
        ([[True], [2]], [[1], [2]], False),
        ([True, 1.0, None, "a"], [True, 1, None, "a"], True),
        ([{"a": 1, "b": 2}] * 2, [{"b": 2, "a": 1}] * 2, True),
        ([{"a": 1}, {"b": 2}], [{"b": 1}, {"a": 2}], False),
        ([{1: 2}] * 2, [{True: 2}] * 2, False),
        ([{1: 2}] * 2, [{"1": 2}] * 2, True),
        ([Decimal("1e400")], [Decimal("1e400")], True),
    ],
)
def test_lists_of_numbers(got: object, expected: object, is_right: bool) -> None:
    """Many numbers are compared in a few calls."""
    assert (check_value(Checker(float_tolerance=1e-6), got, expected) is None) is is_right


@pytest.mark.parametrize("element", [1, 0.5, "a", [1.0, 2], {"a": 1}, [[True]]])
def test_the_place_of_a_difference_in_a_long_list(element: object) -> None:
    """Long lists are compared in groups."""
    expected = [element] * 2500
    assert check_value(PLAIN, list(expected), expected) is None
    for place in (0, 1023, 1024, 2499):
        reason = check_value(PLAIN, [*expected[:place], None, *expected[place + 1 :]], expected)
        assert str(reason).startswith(f"at [{place}]: got None")


LONG = [json.loads(text) for text in ('[1, {"a": "[{,\\"\\u00e9"}]', '{"k,[": [[], {}, null]}', '"x[,{"', "1e300")]


@pytest.mark.parametrize("value", LONG)
def test_a_long_result_is_read_if_it_can_be_right(value: object) -> None:
    expected = [value] * (READ_BYTES // len(json.dumps(value)) + 2)
    line = json.dumps(expected).encode()
    assert len(line) > READ_BYTES
    assert check_result(PLAIN, line, expected) is None
    assert check_result(ANY_ORDER, json.dumps({"__set__": expected}).encode(), expected) is None
    assert check_result(PLAIN, line.replace(b"1e+300", str(int(1e300)).encode()), expected) is None
    for wrong in (line[:-1] + b", 1]", b"[" + line + b"]", line[:-1], line[:-1] + b"x" * 65 * len(line) + b"]"):
        assert check_result(PLAIN, wrong, expected) is not None


@given(value=PLAIN_VALUES, other=PLAIN_VALUES)
def test_no_value_is_refused_for_its_signs(value: object, other: object) -> None:
    """The early check never refuses a text for the same value, in any notation."""
    right = json.dumps(value).encode()
    for text in (
        right,
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"),
        json.dumps(value, indent=9).encode(),
    ):
        assert too_many_elements(text, right) is None
    if too_many_elements(json.dumps(other).encode(), right) is not None:
        assert check_value(PLAIN, json.loads(json.dumps(other)), json.loads(right)) is not None


def test_elements_that_need_pairing_up_are_paired_only_where_that_is_cheap() -> None:
    close = Checker(type="unordered_lines", absolute_tolerance=0.5)
    few, many = [[0.0] * 3, [0.4, 0.0, 9.0]], [[0.0] * 200_000, [0.4] + [0.0] * 199_999]
    assert check_value(close, few[::-1], few) is None
    assert check_value(close, many, many) is None
    assert check_value(close, [[9.0], *many[1:]], many) is not None


# numbers, texts and containers, each with spellings or neighbours that are the same, nearly the same, or wrong
ALIKE: list[list[object]] = [
    [1, 1.0, 1.000001, 1.0000010001, True, Decimal(1)],
    [0.0, -0.0, 0, Decimal("1e-400"), 1e-6, False, None],
    [2**53 + 1, float(2**53), 2**53 + 1.5],
    [0.1234567890123456, 0.1234577890123456, 0.1234577890123457],
    [inf, Decimal("1e400"), 10**400, nan],
    ["a", "A", "ß", "b"],
    [{"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, {"a": 1, "b": [1]}, {"a": 1}],
    [[1, [2.5]], [1, [2.500001]], [1, 2.5], [1, [2.5], 3]],
]


@pytest.mark.parametrize("ignore_case", [False, True])
def test_many_values_are_compared_as_each_is(ignore_case: bool) -> None:
    chosen = random.Random(0)
    checker = Checker(type="json", float_tolerance=1e-6, ignore_case=ignore_case)
    alone = {}
    accepted = 0
    for _ in range(3000):
        kinds = [chosen.randrange(len(ALIKE)) for _ in range(chosen.randint(1, 3))]
        pairs = [(chosen.choice(ALIKE[kind]), chosen.choice(ALIKE[kind])) for kind in kinds] * chosen.randint(1, 3)
        for got, wanted in pairs:
            alone[repr((got, wanted))] = check_value(checker, got, wanted) is None
        together = check_value(checker, [got for got, _ in pairs], [wanted for _, wanted in pairs]) is None
        assert together == all(alone[repr(pair)] for pair in pairs), pairs
        accepted += together
    assert 300 < accepted < 2700
