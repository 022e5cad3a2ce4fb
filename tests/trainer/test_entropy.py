"""Tests of entropy classes against torch.quantile, row by row."""

from __future__ import annotations

import pytest
import torch

from trainer.loss.losses import high_entropy


def test_by_hand() -> None:
    """The 0.8 quantile of 0 … 5 is 4 exactly; of 0 … 9 it is 7.2; of 1 it is itself."""
    entropy = torch.cat([torch.arange(6.0), torch.arange(10.0).flip(0), torch.tensor([1.0])])
    sequence = torch.tensor([0] * 6 + [1] * 10 + [2])
    found = high_entropy(entropy, sequence, 0.8)
    assert found.tolist() == [False] * 5 + [True] + [True, True] + [False] * 8 + [False]


@pytest.mark.parametrize("quantile", [0.0, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_against_torch_row_by_row(seed: int, quantile: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 30, (40,), generator=generator)
    sequence = torch.arange(40).repeat_interleave(lengths)
    entropy = torch.rand(len(sequence), generator=generator).mul(20).round()  # with many equal ones
    expected = torch.zeros(len(sequence), dtype=torch.bool)
    for row in set(sequence.tolist()):
        own = sequence == row
        expected[own] = entropy[own].double() > torch.quantile(entropy[own].double(), quantile)
    assert torch.equal(high_entropy(entropy, sequence, quantile), expected)


def test_a_response_is_split_by_itself() -> None:
    """One sure of itself, one not: a fifth of each is high, though all of the second are above all of the first."""
    entropy = torch.cat([torch.linspace(0, 0.1, 100), torch.linspace(5, 6, 100)])
    sequence = torch.arange(2).repeat_interleave(100)
    found = high_entropy(entropy, sequence, 0.8)
    assert [int(found[:100].sum()), int(found[100:].sum())] == [20, 20]


def test_nothing_at_all() -> None:
    nothing = torch.zeros(0)
    assert high_entropy(nothing, nothing.long(), 0.8).tolist() == []
