"""Tests of the correction for differences between the sampling engine and the trainer."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trainer.config.sections import Correction
from trainer.loss.terms import correct

RATIOS = torch.tensor([0.1, 0.5, 0.9, 1.0, 1.9, 2.0, 2.1, 50.0], dtype=torch.float64)
FACTORS: dict[Any, list[float]] = {
    "none": [1, 1, 1, 1, 1, 1, 1, 1],
    "tis": [0.1, 0.5, 0.9, 1, 1.9, 2, 2, 2],
    "icepop": [0, 0.5, 0.9, 1, 1.9, 2, 0, 0],
    "sequence": [0, 1, 1, 1, 1, 1, 0, 0],  # each token is a row of its own here
}


@pytest.mark.parametrize("name", FACTORS)
def test_factors(name: Any) -> None:
    old = RATIOS.log().sub(3).requires_grad_()
    behaviour = torch.full((8,), -3.0).double()
    bounds = {"low": 0.5 - 1e-9, "high": 2.0 + 1e-9}
    factor, cut = correct(Correction(name=name, **bounds), old, behaviour, torch.arange(8))
    assert factor.tolist() == pytest.approx(FACTORS[name])
    assert not factor.requires_grad
    changed = torch.tensor([name != "none" and ratio > 2.01 for ratio in RATIOS])
    changed[0] = name in ("icepop", "sequence")
    assert cut.tolist() == changed.tolist()


def test_sequence_takes_the_geometric_mean_over_tokens() -> None:
    ratio = torch.tensor([8.0, 0.125, 2.5, 2.5, 2.5, 1.0], dtype=torch.float64)
    sequence = torch.tensor([0, 0, 1, 1, 2, 2])
    factor, cut = correct(Correction(name="sequence"), ratio.log(), torch.zeros(6).double(), sequence)
    assert factor.tolist() == [1, 1, 0, 0, 1, 1]
    assert cut.tolist() == [False, False, True, True, False, False]


def test_no_factor_is_infinite() -> None:
    factor, _ = correct(Correction(name="icepop"), torch.zeros(1), torch.full((1,), -1e9), torch.zeros(1).long())
    assert factor.tolist() == [0.0]


def test_nothing_at_all() -> None:
    nothing = torch.zeros(0)
    for name in FACTORS:
        factor, cut = correct(Correction(name=name), nothing, nothing, nothing.long())
        assert factor.tolist() == cut.tolist() == []
