"""Tests of GSPO: clipping by response, and the gradient of the token form."""

from __future__ import annotations

import pytest
import torch

from tests.trainer.tokens import drawn, inputs, slopes, weights
from trainer.loss.losses import LossOutputs, gspo


def test_clips_responses_not_tokens() -> None:
    """Rows of geometric mean 1 (tokens far off), 1.0005 and 0.9998: only the second is above 1 + 4e-4."""
    ratios = [4.0, 0.25, 1.0005, 1.0005, 0.9998, 0.9998]
    given = inputs(ratios, 1.0, sequence=torch.tensor([0, 0, 1, 1, 2, 2]))
    assert weights(gspo, given).tolist() == pytest.approx([1, 1, 0, 0, 0.9998, 0.9998])
    assert gspo(given).loss.tolist() == pytest.approx([-1, -1, -1.0004, -1.0004, -0.9998, -0.9998])


def test_token_form_has_the_gradient_of_the_paper() -> None:
    """Eq. 5: the mean over rows of the surrogate of exp(mean log r), written here with one ratio a row."""
    given = drawn(spread=0.001)
    lengths = torch.bincount(given.sequence)
    means = torch.zeros(len(lengths)).double().index_add(0, given.sequence, given.logp - given.old) / lengths
    ratio, first = means.exp(), lengths.cumsum(0) - lengths
    advantage = given.advantage[first]
    rows = -torch.minimum(ratio * advantage, ratio.clamp(1 - 3e-4, 1 + 4e-4) * advantage)
    (expected,) = torch.autograd.grad(rows.sum(), given.logp)
    by_row = LossOutputs(gspo(given).loss / lengths[given.sequence])
    assert by_row.loss.sum().item() == pytest.approx(rows.sum().item(), rel=1e-12)
    torch.testing.assert_close(slopes(by_row, given), expected)
    assert 0 < (expected == 0).double().mean() < 0.9  # some rows are clipped, some are not
