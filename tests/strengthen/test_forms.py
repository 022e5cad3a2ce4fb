"""Forms of inputs: what is found for usual inputs, and that what is made has the form and keeps the facts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.strengthen.bounds import bounds_in
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.form import Form, Length, Line, MisfitError, Repeat
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.inputs import Maker, UnmadeError
from sandbox_service.strengthen.plans import plan_of
from sandbox_service.strengthen.ranges import ranges_of
from sandbox_service.strengthen.token_changes import changed

LISTS = ["3\n1 2 3\n", "5\n4 4 1 9 2\n", "1\n7\n"]
CASES = ["2\n3\n5 1 2\n1\n4\n", "1\n4\n1 2 3 4\n", "3\n2\n1 9\n2\n8 8\n1\n5\n"]
TREES = ["4\n1 2\n2 3\n2 4\n", "3\n3 1\n2 1\n", "6\n1 2\n1 3\n3 4\n5 3\n6 2\n"]
GRIDS = ["2 3\n..#\n#..\n", "3 2\n..\n##\n.#\n", "1 4\n..#.\n"]
HEADED = ["3 1 2 3\n", "2 7 7\n", "4 1 1 1 1\n"]
GRAPHS = ["3 2\n1 2\n2 3\n", "4 3\n1 4\n4 2\n3 4\n", "5 1\n5 1\n"]
CONNECTED = ["4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n", "12 12\n" + "".join(f"{at} {at % 12 + 1}\n" for at in range(1, 13))]
WORDS = ["abc\n", "z\n", "hello\n"]
PERMUTATIONS = ["4\n2 1 4 3\n", "3\n3 1 2\n", "5\n5 4 3 2 1\n"]
SORTED = ["4\n1 5 7 9\n", "5\n2 3 4 8 10\n", "3\n1 6 9\n"]
ALL = [LISTS, CASES, TREES, GRIDS, HEADED, GRAPHS, CONNECTED, WORDS, PERMUTATIONS, SORTED]


def made(inputs: list[str], count: int = 40, *, judges: int = 1, statement: str = "") -> list[str]:
    form = form_of(inputs)
    assert form is not None
    facts = facts_of(form, inputs)
    maker = Maker(form, facts, ranges_of(form, facts, statement, is_wide=judges > 2), is_strict=True)
    found = []
    for number in range(count):
        try:
            found.append(maker.make(plan_of(number), random.Random(number)))
        except UnmadeError:
            continue
    assert len(found) > count / 3
    return found


@pytest.mark.parametrize("inputs", ALL)
def test_a_form_parses_every_input_and_prints_it_back(inputs: list[str]) -> None:
    form = form_of(inputs)
    assert form is not None
    for each in [*inputs, *made(inputs)]:
        assert form.fits(each)
        assert form.text(form.parse(each)) == each


def test_lengths_are_earlier_numbers() -> None:
    form = form_of(LISTS)
    assert form is not None
    assert form.fits("2\n10 20\n")
    assert not form.fits("2\n10 20 30\n")
    cases = form_of(CASES)
    assert cases is not None
    assert cases.fits("1\n2\n1 1\n")
    assert not cases.fits("2\n2\n1 1\n")
    tree = form_of(TREES)
    assert isinstance(tree, Form)
    assert isinstance(tree.items[1], Repeat)
    assert tree.items[1].length is not None
    assert tree.items[1].length.offset == -1


def test_what_has_no_common_form_has_none() -> None:
    assert form_of(["a  b\n", "c\n"]) is None  # two blanks are not printed back
    assert form_of([]) is None
    assert form_of(["\n"]) is None


def test_a_misfit_says_where() -> None:
    form = Form((Line((0, 1)),))
    with pytest.raises(MisfitError, match="line 1 has 3 tokens instead of 2"):
        form.parse("1 2 3")
    with pytest.raises(MisfitError, match="too short"):
        form.parse("1")


def test_trees_stay_trees_and_permutations_permutations() -> None:
    for text in made(TREES):
        rows = [tuple(map(int, line.split())) for line in text.splitlines()[1:]]
        reached = {1}
        for _ in rows:
            reached |= {node for row in rows for node in row if reached & set(row)}
        assert reached == set(range(1, int(text.split()[0]) + 1)) or not rows
    for text in made(PERMUTATIONS):
        count, *numbers = map(int, text.split())
        assert sorted(numbers) == list(range(1, count + 1))


def test_order_and_words_stay() -> None:
    for text in made(SORTED):
        numbers = [int(each) for each in text.split()[1:]]
        assert all(a < b for a, b in pairwise(numbers))
    for text in made(GRIDS):
        assert set("".join(text.split()[2:])) <= set(".#")


def test_two_references_keep_the_range_and_three_widen_it() -> None:
    def greatest(judges: int) -> int:
        return max(int(each) for text in made(LISTS, judges=judges) for each in text.split()[1:])

    assert greatest(2) <= 9
    assert greatest(3) > 9


def test_bounds_of_the_statement_hold() -> None:
    statement = "The first line has n (1 ≤ n ≤ 7), the second n numbers a_i (-3 ≤ a_i ≤ 50)."
    assert bounds_in(statement) == [("n", 1, 7), ("a_i", -3, 50)]
    found = [text.split() for text in made(LISTS, statement=statement)]
    assert max(int(each[0]) for each in found) == 7
    assert {int(number) for each in found for number in each[1:]} >= {-3, 50}


def test_inputs_follow_from_number_and_seed() -> None:
    assert made(GRAPHS) == made(GRAPHS)
    assert changed(LISTS, 3, random.Random(1)) == changed(LISTS, 3, random.Random(1))


@pytest.mark.parametrize("text", ["v1\n", "a1 b\n", "a\tb\n", "1\t2\n", "1 2\r\n", "\n", ""])
def test_tokens_of_any_kind_can_be_changed(text: str) -> None:
    """A word can become a number, and two words with a tab between are one token."""
    found = [changed([text, text.upper()], 0, random.Random(seed)) for seed in range(200)]
    assert len({each.count("\n") for each in found}) == 1


@given(st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=8), min_size=2, max_size=6))
def test_any_lists_with_their_length_have_a_form(lists: list[list[int]]) -> None:
    inputs = [f"{len(each)}\n{' '.join(map(str, each))}\n" for each in lists]
    form = form_of(inputs)
    assert form is not None
    assert all(map(form.fits, inputs))


def test_a_graph_begins_with_its_numbers_of_nodes_and_edges_and_stays_connected() -> None:
    form = form_of(CONNECTED)
    assert form is not None
    assert isinstance(form.items[0], Line)
    assert isinstance(form.items[1], Repeat)
    assert form.items[1].length == Length(form.items[0].slots[1])
    sizes = set()
    for text in made(CONNECTED):
        (nodes, edges), *pairs = [tuple(map(int, line.split())) for line in text.splitlines()]
        assert edges == len(pairs) == len({frozenset(pair) for pair in pairs})
        parts = {node: {node} for node in range(1, nodes + 1)}
        for one, other in pairs:
            joined = parts[one] | parts[other]
            parts.update(dict.fromkeys(joined, joined))
        assert len(parts[1]) == nodes == len(parts)
        sizes.add((nodes, edges))
    assert len(sizes) > 5


FORESTS = ["5\n-1\n1\n2\n1\n-1\n", "8\n3\n-1\n2\n2\n7\n3\n6\n1\n"]
MARKED_ROOTS = ["5\n3 1\n1 1\n-1 0\n2 1\n3 0\n", "8\n2 1\n-1 0\n1 0\n1 1\n2 1\n4 0\n5 1\n7 1\n"]
TREE_OF_OWN_COUNT = ["4 3\n1 2\n2 3\n3 4\n", "5 4\n4 2\n5 2\n1 2\n2 3\n"]


def test_a_column_that_names_parents_has_no_cycle() -> None:
    for text in made(FORESTS):
        parents = [int(each) for each in text.split()[1:]]
        for node in range(1, len(parents) + 1):
            way = {node}
            while (parent := parents[node - 1]) != -1:
                assert 1 <= parent <= len(parents)
                assert parent not in way
                way.add(node := parent)


def test_the_line_of_a_root_has_what_every_given_root_has() -> None:
    roots = [line for text in made(MARKED_ROOTS) for line in text.splitlines()[1:] if line.startswith("-1")]
    assert len(roots) > 5
    assert {line.split()[1] for line in roots} == {"0"}


def test_the_line_of_a_root_is_free_where_given_roots_differ() -> None:
    differing = [MARKED_ROOTS[0], MARKED_ROOTS[1].replace("-1 0", "-1 1")]
    assert {line for text in made(differing) for line in text.splitlines() if line.startswith("-1")} == {"-1 0", "-1 1"}


@pytest.mark.parametrize(
    "inputs",
    [["5\n-1\n1\n2\n1\n-1\n", "3\n-1\n1\n1\n"], ["4\n3 -1 2 2\n", "3\n2 2 -1\n"], ["2 -1\n", "3 1\n", "4 2\n"]],
)
def test_no_zero_is_made_where_minus_one_stands_for_no_number(inputs: list[str]) -> None:
    tokens = [token for text in made(inputs, judges=3) for token in text.split()]
    assert "-1" in tokens
    assert "0" not in tokens


def test_zeros_are_made_where_one_was_seen() -> None:
    assert "0" in [token for text in made(["4\n3 -1 2 2\n", "3\n2 0 -1\n"]) for token in text.split()]


def test_columns_of_negative_numbers_and_of_zeros_name_no_parents() -> None:
    for column in (["-5", "-2", "-3"], ["0", "0", "0"]):
        inputs = ["3\n" + "\n".join(column) + "\n", "1\n" + column[0] + "\n"]
        form = form_of(inputs)
        assert form is not None
        assert not any(each.parents or each.links for each in facts_of(form, inputs).slots.values())


def test_flags_name_no_parents() -> None:
    form = form_of(["5\n0 1\n1 0\n1 1\n0 0\n0 1\n", "3\n0 0\n1 1\n0 0\n"])
    assert form is not None
    assert not any(each.links for each in facts_of(form, ["5\n0 1\n1 0\n1 1\n0 0\n0 1\n"]).slots.values())


def test_a_tree_has_one_edge_less_than_its_own_number_of_nodes() -> None:
    for text in made(TREE_OF_OWN_COUNT):
        nodes, edges = map(int, text.split("\n")[0].split())
        assert edges == nodes - 1 == len(text.splitlines()) - 1


def test_a_part_that_is_repeated_no_times_may_end_an_input() -> None:
    form = form_of(["3 2\n1 2\n2 3\n", "50 0\n"])
    assert form is not None
    assert form.fits("4 1\n3 4\n")
    assert not form.fits("4 1\n")


def test_a_tree_of_one_node_has_no_edges() -> None:
    form = form_of([*TREES, "1\n"])
    assert form is not None
    assert form.fits("3\n1 2\n2 3\n")
    assert not form.fits("3\n1 2\n")


def test_no_number_is_below_its_least_one() -> None:
    inputs = ["5 2\n3 1 2 5 4\n", "3 1\n3 2 1\n"]
    for text in made([*inputs, "9 4\n1 2 3 4 5 6 7 9 8\n"], statement="(3 ≤ n ≤ 9, 1 ≤ k < n)"):
        n, k = map(int, text.split("\n")[0].split())
        assert 1 <= k < n


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("2 ≤ a_i ≤ 2^{25} - 1", ("a_i", 2, 2**25 - 1)),
        ("0 < k < 10", ("k", 1, 9)),
        ("1 ≤ n ≤ 3·10^5", ("n", 1, 300_000)),
        ("-10^9 ≤ x ≤ 10^9", ("x", -(10**9), 10**9)),
        ("2 ≤ n ≤ 100 000", ("n", 2, 100_000)),
        ("$1 \\leq N \\leq 100\\,000$", ("N", 1, 100_000)),
        ("$1$ \\le $N$ \\le $1{,}000$", ("N", 1, 1000)),
        ("$1 \\leqslant N \\leqslant 2\\cdot 10^{5}$", ("N", 1, 200_000)),
        ("1~\\lt~n~\\lt~3 \\times 10^4", ("n", 2, 29_999)),
        ("1 &lt;= n &lt;= 1,000", ("n", 1, 1000)),
        ("$1 \\leq x_1, \\dots, x_n \\leq 7$", ("x_1", 1, 7)),
    ],
)
def test_bounds_are_read_as_they_are_written(text: str, bound: tuple[str, int, int]) -> None:
    assert bounds_in(f"The first line has it ({text}).") == [bound]


@pytest.mark.parametrize(
    ("text", "high"),
    [
        ("1 ≤ n ≤ 105", 10**5),
        ("1 ≤ n ≤ 2·105.", 2 * 10**5),
        ("1 ≤ n < 1018", 10**18 - 1),
        ("-109 ≤ n ≤ 109", 10**9),
        ("1 ≤ n ≤ 10<sup>5</sup>", 10**5),
        ("1 ≤ n ≤ 100", 100),
        ("1 ≤ n ≤ 102", 102),
        ("1 ≤ n ≤ 1050", 1050),
        ("1 ≤ n ≤ 105, and numbers to 10^9", 105),
    ],
)
def test_lost_superscripts_are_read_where_a_statement_has_none(text: str, high: int) -> None:
    [(_, low, found)] = bounds_in(f"The first line has n ({text}).")
    assert (low, found) == (-(10**9) if text.startswith("-") else 1, high)


def test_of_given_inputs_that_break_the_bounds_only_what_is_allowed_is_made() -> None:
    statement = "The first line has n (1 ≤ n ≤ 9), the second n colours c_i (0 ≤ c_i ≤ 1)."
    found = made(["3\n-1 0 1\n", "4\n0 1 9 1\n"], statement=statement)
    assert {int(each) for text in found for each in text.split()[1:]} == {0, 1}
