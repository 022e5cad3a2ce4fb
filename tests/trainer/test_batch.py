"""Tests of mini-batches, packing and token weights."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch

from trainer.batch import Mean, collate, minibatches, pack, weights
from trainer.episode import Row

LENGTHS = [random.Random(1).randrange(2, 400) for _ in range(97)]


def row(tokens: int, response: int = 1, first: int = 0) -> Row:
    return Row(range(first, first + tokens), response, [-0.5] * response, 2.0)


def batch() -> list[Row]:
    return [row(tokens, first=1000 * number) for number, tokens in enumerate(LENGTHS)]


def tokens(rows: Sequence[Row]) -> int:
    return sum(len(each.ids) for each in rows)


def names(rows: Sequence[Row]) -> list[int]:
    return [each.ids[0] for each in rows]


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("budget", [50, 400, 1000, 10**6])
def test_every_row_goes_to_one_place(ranks: int, budget: int) -> None:
    packed = pack(batch(), budget, ranks)
    everywhere = [name for own in packed for rows in own for name in names(rows)]
    assert sorted(everywhere) == sorted(names(batch()))


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("budget", [50, 400, 1000, 10**6])
def test_ranks_have_as_many_micro_batches_within_the_budget(ranks: int, budget: int) -> None:
    packed = pack(batch(), budget, ranks)
    assert len(packed) == ranks
    assert len({len(own) for own in packed}) == 1
    assert all(tokens(rows) <= budget or len(rows) == 1 for own in packed for rows in own)


def test_there_are_not_many_more_micro_batches_than_must_be() -> None:
    packed = pack(batch(), 1000, 2)
    assert len(packed[0]) <= tokens(batch()) / 2000 + 2


def test_micro_batches_of_a_round_are_about_as_long_and_so_are_ranks() -> None:
    packed = pack(batch(), 1000, 3)
    for round_ in zip(*packed, strict=True):
        assert max(map(tokens, round_)) <= 1.1 * min(map(tokens, round_))
    totals = [sum(map(tokens, own)) for own in packed]
    assert max(totals) <= 1.05 * min(totals)


def test_all_ranks_deal_alike() -> None:
    assert [[names(rows) for rows in own] for own in pack(batch(), 700, 4)] == [
        [names(rows) for rows in own] for own in pack(batch(), 700, 4)
    ]
    same = [row(10, first=100 * number) for number in range(6)]  # ties go by place
    assert [[names(rows) for rows in own] for own in pack(same, 20, 1)] == [[[0, 300], [100, 400], [200, 500]]]


def test_fewer_rows_than_ranks_leave_some_without() -> None:
    packed = pack([row(5)], 100, 3)
    assert sorted(len(own[0]) for own in packed) == [0, 0, 1]
    assert pack([], 100, 2) == [[[]], [[]]]


@pytest.mark.parametrize("count", [1, 3, 7])
def test_minibatches_never_cut_a_group(count: int) -> None:
    groups = [[row(n + 2, first=1000 * n + m) for m in range(4)] for n in range(20)]
    made = minibatches(groups, count)
    assert len(made) == count
    found = [rows[start : start + 4] for rows in made for start in range(0, len(rows), 4)]
    assert sorted(map(names, found)) == sorted(map(names, groups))
    sizes = [tokens(rows) for rows in made]
    assert max(sizes) - min(sizes) <= 4 * 21


def test_there_are_not_more_minibatches_than_groups() -> None:
    assert list(map(names, minibatches([[row(2)], [row(3, first=7)]], 5))) == [[7], [0]]


@pytest.mark.parametrize(("groups", "expected"), [(64, [16] * 4), (32, [16, 16]), (40, [16, 16, 8]), (5, [5])])
def test_minibatches_by_size_take_groups_in_order(groups: int, expected: list[int]) -> None:
    made = minibatches([[row(5, first=10 * n), row(9, first=10 * n + 5)] for n in range(groups)], 1, prompts=16)
    assert [len(rows) // 2 for rows in made] == expected
    assert [names([each])[0] // 10 for rows in made for each in rows[::2]] == list(range(groups))


@pytest.mark.parametrize(("count", "prompts", "expected"), [(3, 0, 2), (1, 2, 2), (1, 1, 2)])
def test_no_step_is_without_rows(count: int, prompts: int, expected: int) -> None:
    """All samples of a group may be without a verdict. A step on nothing would still move weights by their momentum."""
    made = minibatches([[], [row(5)], [], [row(5, first=9)], [], []], count, prompts)
    assert sorted(map(names, made)) == [[0], [9]]
    assert len(made) == expected


@pytest.mark.parametrize("mean", ["token", "sequence", "constant"])
def test_the_rest_of_a_batch_counts_for_its_share(mean: Mean) -> None:
    whole, rest = weights(ROWS, mean, 20), weights(ROWS, mean, 20, full=12)
    assert rest == pytest.approx([each * 3 / 12 for each in whole])
    assert weights(ROWS, mean, 20, full=2) == whole


ROWS = [row(10, 4), row(10, 1), row(10, 5)]


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        ("token", [1 / 10, 1 / 10, 1 / 10]),
        ("sequence", [1 / 12, 1 / 3, 1 / 15]),
        ("constant", [1 / 60, 1 / 60, 1 / 60]),
    ],
)
def test_weights(mean: Mean, expected: list[float]) -> None:
    assert weights(ROWS, mean, max_tokens=20) == pytest.approx(expected)


@pytest.mark.parametrize("mean", ["token", "sequence"])
def test_a_mean_of_ones_is_one(mean: Mean) -> None:
    scale = weights(ROWS, mean, max_tokens=20)
    assert sum(weight * each.response for weight, each in zip(scale, ROWS, strict=True)) == pytest.approx(1)


def test_collate_puts_rows_end_to_end() -> None:
    rows = [Row([5, 6, 7, 8], 2, [-0.1, -0.2], 3.0), Row([9, 10], 1, [-0.3], -1.0)]
    micro = collate(rows, [0.25, 0.5])
    assert micro.ids.tolist() == [5, 6, 7, 8, 9, 10]
    assert micro.positions.tolist() == [0, 1, 2, 3, 0, 1]
    assert micro.where.tolist() == [1, 2, 4]
    assert micro.targets.tolist() == [7, 8, 10]
    assert micro.sequence.tolist() == [0, 0, 1]
    assert micro.behaviour.tolist() == pytest.approx([-0.1, -0.2, -0.3])
    assert micro.advantage.tolist() == [3, 3, -1]
    assert micro.weight.tolist() == [0.25, 0.25, 0.5]
    assert micro.old is None
    assert micro.reference is None


def test_no_rows_are_one_token_without_a_response() -> None:
    micro = collate([], [])
    assert micro.ids.numel() == 1
    assert micro.weight.tolist() == []
    assert micro.where.dtype == micro.targets.dtype == micro.sequence.dtype == torch.int64


@pytest.mark.parametrize(
    "wrong", [Row([1, 2], 2, [0.0, 0.0], 1.0), Row([1, 2, 3], 2, [0.0], 1.0), Row([1, 2], 0, [], 1.0)]
)
def test_a_row_without_a_prompt_a_response_or_a_number_for_each_token_is_refused(wrong: Row) -> None:
    with pytest.raises(ValueError, match="must be a prompt"):
        collate([wrong], [1.0])
