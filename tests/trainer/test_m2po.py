"""Tests of M2PO's cutoff against the paper's algorithm, which drops tokens one at a time."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.trainer.tokens import drawn, inputs, weights
from trainer.loss.losses import m2po, m2po_cutoff


def kept_by_dropping(log_ratio: torch.Tensor, advantage: torch.Tensor, threshold: float) -> list[bool]:
    """Which tokens are left when the greatest of the trust region go one by one until the mean is small enough."""
    pairs = zip(log_ratio.tolist(), advantage.tolist(), strict=True)
    kept = [True] * len(log_ratio)
    region = {n: r * r for n, (r, a) in enumerate(pairs) if (a > 0 and r > 0) or (a < 0 and r < 0)}
    while region and sum(region.values()) / len(region) > threshold:
        worst = max(region, key=lambda n: region[n])
        kept[worst] = False
        del region[worst]
    return kept


@pytest.mark.parametrize("spread", [0.05, 0.25, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(8))
def test_against_dropping_one_by_one(seed: int, spread: float) -> None:
    given = drawn(seed, rows=6, spread=spread)
    given = dataclasses.replace(given, advantage=torch.where(given.advantage == 0, 1.0, given.advantage))
    log_ratio = given.log_ratio.detach()
    kept = kept_by_dropping(log_ratio, given.advantage, 0.04)
    assert (weights(m2po, given) != 0).tolist() == kept
    assert all(kept) == (spread == 0.05)


def test_by_hand() -> None:
    """(log r)² of the region: 0.01, 0.04, 0.09, 0.25. Means: 0.0975, then 0.14/3 = 0.0467, then 0.025."""
    up, down = (
        torch.tensor([0.1, 0.2, 0.3, 0.5, -9.0], dtype=torch.float64),
        torch.tensor([-0.2, 9.0], dtype=torch.float64),
    )
    assert m2po_cutoff(up, torch.ones(5), 0.04).item() == 0.2
    assert m2po_cutoff(up, torch.ones(5), 0.047).item() == 0.3
    assert m2po_cutoff(up, torch.ones(5), 0.0975).item() == float("inf")
    assert m2po_cutoff(down, -torch.ones(2), 0.03).item() == 0.0
    assert m2po_cutoff(down, -torch.ones(2), 0.05).item() == float("inf")


def test_equal_ones_go_together() -> None:
    """Of 0.1, 0.3, 0.3 two could stay by the mean; but no cutoff can tell the equal ones apart."""
    log_ratio = torch.tensor([0.1, 0.3, 0.3], dtype=torch.float64)
    assert m2po_cutoff(log_ratio, torch.ones(3), 0.05).item() == 0.1


def test_nothing_to_cut() -> None:
    assert m2po_cutoff(torch.zeros(0), torch.zeros(0), 0.04).item() == float("inf")
    assert m2po_cutoff(torch.tensor([-5.0, 5.0]), torch.tensor([1.0, -1.0]), 0.04).item() == float("inf")


def test_cutoff_is_the_callers() -> None:
    given = inputs([1.5, 1.1, 0.5], 1.0)
    assert weights(m2po, given, cutoff=torch.tensor(0.2, dtype=torch.float64)).tolist() == pytest.approx([0, 1.1, 0.5])
    assert weights(m2po, given, cutoff=torch.tensor(float("inf"))).tolist() == pytest.approx([1.5, 1.1, 0.5])
