"""Tests of the KL estimators on a small categorical distribution with exact expectations."""

from __future__ import annotations

import math

import pytest
import torch

from trainer.config.sections import Kl
from trainer.loss.terms import estimate, kl_coefficients

REFERENCE = torch.tensor([0.5, 0.2, 0.15, 0.1, 0.05], dtype=torch.float64).log()
LOGITS = torch.tensor([0.3, -0.4, 0.9, 0.1, -0.2], dtype=torch.float64)
NAMES = ("k2", "k3")


def expected_estimate(name: str) -> float:
    logp = LOGITS.log_softmax(0)
    return float((logp.exp() * estimate(name, logp, REFERENCE)).sum())


def expected_gradient(name: str) -> torch.Tensor:
    """Over samples of the policy, of the estimate's gradient by the logits: what a loss would follow on average."""
    logits = LOGITS.clone().requires_grad_()
    logp = logits.log_softmax(0)
    (gradient,) = torch.autograd.grad((logp.exp().detach() * estimate(name, logp, REFERENCE)).sum(), logits)
    return gradient


def kl_gradient(*, forward: bool) -> torch.Tensor:
    """Of KL(reference ‖ policy) or KL(policy ‖ reference), exactly."""
    logits = LOGITS.clone().requires_grad_()
    logp = logits.log_softmax(0)
    kl = REFERENCE.exp() * (REFERENCE - logp) if forward else logp.exp() * (logp - REFERENCE)
    (gradient,) = torch.autograd.grad(kl.sum(), logits)
    return gradient


def test_k3_is_unbiased_and_k2_is_not() -> None:
    logp = LOGITS.log_softmax(0)
    exact = float((logp.exp() * (logp - REFERENCE)).sum())
    assert expected_estimate("k3") == pytest.approx(exact, rel=1e-12)
    assert expected_estimate("k2") != pytest.approx(exact, rel=1e-2)


def test_as_a_loss_k2_has_the_right_gradient() -> None:
    torch.testing.assert_close(expected_gradient("k2"), kl_gradient(forward=False))


def test_as_a_loss_k3_has_the_gradient_of_the_other_kl() -> None:
    torch.testing.assert_close(expected_gradient("k3"), kl_gradient(forward=True))
    assert not torch.allclose(expected_gradient("k3"), kl_gradient(forward=False), rtol=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_values_by_hand(name: str) -> None:
    """At d = reference − logp = 1."""
    found = estimate(name, torch.tensor([-2.0], dtype=torch.float64), torch.tensor([-1.0], dtype=torch.float64)).item()
    assert found == pytest.approx({"k2": 0.5, "k3": math.e - 2}[name])


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_finite_differences(name: str) -> None:
    logp = (-torch.rand(50, generator=torch.Generator().manual_seed(0)).double() * 4).requires_grad_()
    reference = logp.detach() + 0.5 * torch.randn(50, generator=torch.Generator().manual_seed(1)).double()
    assert torch.autograd.gradcheck(lambda given: estimate(name, given, reference), logp)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_the_reference(name: str) -> None:
    assert estimate(name, REFERENCE, REFERENCE).tolist() == [0.0] * 5


def test_k3_clamps_stop_the_gradient_where_the_docstring_says() -> None:
    d = torch.tensor([2.60, 2.62, -10.99, -11.01, 25.0, -500.0], dtype=torch.float64)
    logp = torch.full((6,), -30.0).double().requires_grad_()
    found = estimate("k3", logp, logp.detach() + d)
    (gradient,) = torch.autograd.grad(found.sum(), logp)
    assert (gradient != 0).tolist() == [True, False, True, False, False, False]
    assert found.max().item() == 10.0


def test_k3_is_exact_near_the_reference_in_float32() -> None:
    """exp(d) − d − 1, written so, would be 0 or rounding: at d = 3 · 2⁻¹³ it is below what 1 can be told from."""
    found = estimate("k3", torch.tensor([-1.0]), torch.tensor([-1.0 + 3 * 2**-13]))
    assert found.item() == pytest.approx(9 * 2**-27, rel=1e-3)


def test_one_coefficient_for_all() -> None:
    entropy = torch.rand(4)
    found = kl_coefficients(Kl(coefficient=0.001), entropy, torch.zeros(4).long())
    assert found.tolist() == pytest.approx([0.001] * 4)


def test_coefficients_by_class_make_the_sum_of_archers_two_means() -> None:
    entropy = torch.rand(100, generator=torch.Generator().manual_seed(0)).double()
    sequence = torch.arange(10).repeat_interleave(10)
    value = torch.rand(100, generator=torch.Generator().manual_seed(1)).double()
    settings = Kl(coefficient=0.3, high_entropy_coefficient=0.07, quantile=0.8)
    each = kl_coefficients(settings, entropy, sequence)
    high = torch.cat([row > torch.quantile(row, 0.8) for row in entropy.view(10, 10)])
    archers = 0.3 * value[~high].mean() + 0.07 * value[high].mean()
    assert (each * value).mean().item() == pytest.approx(archers.item(), rel=1e-9)
