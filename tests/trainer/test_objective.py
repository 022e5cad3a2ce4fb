"""Tests of the objective: independence of the split into micro-batches, tokens of weight 0, and reported metrics."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch

from trainer.config import algorithms, resolve
from trainer.config.sections import Correction, Kl, Loss
from trainer.episode import MicroBatch, Tally
from trainer.errors import ConfigError
from trainer.objective import Objective

EVERYTHING = ("ids", "positions", "where", "targets", "sequence")
NUMBERS = ("behaviour", "advantage", "weight", "old", "reference")


def of(algorithm: str) -> Objective:
    """What a run with this algorithm has, if it says nothing else."""
    return Objective.of(resolve({"algorithm": algorithm, "model": {"path": "x"}, "data": {"train": ["x"]}}))


def batch(seed: int = 0, rows: int = 6) -> tuple[MicroBatch, torch.Tensor, torch.Tensor]:
    """Whole rows, log-probabilities of the policy (a leaf), and its entropies; every token weighs 1/N."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, 40, (rows,), generator=generator)
    sequence = torch.arange(rows).repeat_interleave(lengths)
    size = len(sequence)

    def noise(scale: float) -> torch.Tensor:
        return scale * torch.randn(size, generator=generator, dtype=torch.float64)

    old = -torch.rand(size, generator=generator, dtype=torch.float64) * 3
    micro = MicroBatch(
        ids=torch.zeros(size, dtype=torch.int64),
        positions=torch.zeros(size, dtype=torch.int64),
        where=torch.arange(size),
        targets=torch.zeros(size, dtype=torch.int64),
        sequence=sequence,
        behaviour=old + noise(0.3),
        advantage=torch.randn(rows, generator=generator, dtype=torch.float64)[sequence],
        weight=torch.full((size,), 1 / size, dtype=torch.float64),
        old=old,
        reference=old + noise(0.5),
    )
    return micro, (old + noise(0.4)).requires_grad_(), torch.rand(size, generator=generator, dtype=torch.float64)


def part(micro: MicroBatch, chosen: torch.Tensor) -> MicroBatch:
    """Those of its tokens, its rows numbered from 0 again."""
    kept: dict[str, Any] = {name: getattr(micro, name)[chosen] for name in (*EVERYTHING, *NUMBERS)}
    kept["sequence"] = torch.unique(kept["sequence"], return_inverse=True)[1]
    return MicroBatch(**kept)


def prepared(objective: Objective, micro: MicroBatch, logp: torch.Tensor) -> dict[str, torch.Tensor]:
    if objective.prepare is None:
        return {}
    old = micro.old if objective.needs_old else micro.behaviour
    assert old is not None
    return dict(objective.prepare(logp.detach() - old, micro.advantage))


def outcome(
    objective: Objective, micro: MicroBatch, logp: torch.Tensor, entropy: torch.Tensor, splits: int = 1
) -> tuple[float, torch.Tensor, Tally]:
    """Value, gradient and tally of the rows in so many micro-batches."""
    known = prepared(objective, micro, logp)
    value, gradient, tally = 0.0, torch.zeros_like(logp), Tally()
    for n in range(splits):
        chosen = micro.sequence % splits == n
        scalar, seen = objective(part(micro, chosen), logp[chosen], entropy[chosen], known)
        value += scalar.item()
        gradient += torch.autograd.grad(scalar, logp)[0]
        tally.merge(seen)
    return value, gradient, tally


@pytest.mark.parametrize("splits", [2, 3])
@pytest.mark.parametrize("algorithm", algorithms())
def test_split_in_micro_batches_is_the_whole(algorithm: str, splits: int) -> None:
    objective, (micro, logp, entropy) = of(algorithm), batch()
    whole = outcome(objective, micro, logp, entropy)
    parts = outcome(objective, micro, logp, entropy, splits)
    assert parts[0] == pytest.approx(whole[0], rel=1e-12)
    torch.testing.assert_close(parts[1], whole[1])
    assert parts[2].metrics() == pytest.approx(whole[2].metrics(), rel=1e-12)


def test_m2po_that_is_not_prepared_depends_on_the_split() -> None:
    objective, (micro, logp, entropy) = of("m2po"), batch()
    whole, _ = objective(micro, logp, entropy)
    halves = [micro.sequence < 3, micro.sequence >= 3]
    parts = [objective(part(micro, half), logp[half], entropy[half])[0] for half in halves]
    assert sum(parts).item() != pytest.approx(whole.item(), rel=1e-6)  # type: ignore[union-attr]


@pytest.mark.parametrize("correction", ["none", "tis", "icepop", "sequence"])
@pytest.mark.parametrize("algorithm", algorithms())
def test_no_token_can_go_backward(algorithm: str, correction: str) -> None:
    """A graph, a gradient of 0, and nothing to report."""
    micro, logp, entropy = batch()
    none = torch.zeros(len(logp), dtype=torch.bool)
    objective = dataclasses.replace(of(algorithm), correction=Correction(name=correction))  # type: ignore[arg-type]
    parameter = torch.ones(3, dtype=torch.float64, requires_grad=True)
    scalar, tally = objective(part(micro, none), parameter.sum() * logp.detach()[none], entropy[none])
    scalar.backward()  # type: ignore[no-untyped-call]
    assert scalar.item() == 0
    assert parameter.grad is not None
    assert parameter.grad.tolist() == [0, 0, 0]
    assert tally.metrics() == {}


@pytest.mark.parametrize("algorithm", algorithms())
def test_no_token_is_nothing_to_prepare(algorithm: str) -> None:
    prepare = of(algorithm).prepare
    assert (prepare is None) == (algorithm != "m2po")
    if prepare is not None:
        assert prepare(torch.zeros(0), torch.zeros(0))["cutoff"].item() == math.inf


def test_by_hand() -> None:
    """Two tokens, weights 0.5 and 0.25, A = 1. Ratios 1.1 and 0.8; to the engine 1 and e; d = −0.1 and 0.3."""
    micro = MicroBatch(
        ids=torch.zeros(3).long(),
        positions=torch.arange(3),
        where=torch.tensor([0, 1]),
        targets=torch.zeros(2).long(),
        sequence=torch.zeros(2).long(),
        behaviour=torch.tensor([-1.0, -2.0]),
        advantage=torch.ones(2),
        weight=torch.tensor([0.5, 0.25]),
        old=torch.tensor([-1.0, -1.0]),
        reference=torch.tensor([math.log(1.1) - 1.1, math.log(0.8) - 0.7]),
    )
    logp = torch.tensor([math.log(1.1) - 1, math.log(0.8) - 1], requires_grad=True)
    objective = Objective(Loss(), Correction(name="tis", high=2.0), Kl(coefficient=0.1, estimator="k2"))
    scalar, tally = objective(micro, logp, torch.tensor([1.0, 3.0]))
    assert scalar.item() == pytest.approx(0.5 * (-1.1 + 0.1 * 0.005) + 0.25 * (-2 * 0.8 + 0.1 * 0.045), rel=1e-6)
    gradient = torch.autograd.grad(scalar, logp)[0]
    assert gradient.tolist() == pytest.approx([0.5 * (-1.1 + 0.1 * 0.1), 0.25 * (-1.6 - 0.1 * 0.3)], rel=1e-5)
    assert tally.metrics() == pytest.approx(
        {
            "entropy": 2.0,
            "ratio": 0.95,
            "ratio_max": 1.1,
            "approx_kl": (0.1 - math.log(1.1) + -0.2 - math.log(0.8)) / 2,
            "clip_low": 0.0,
            "clip_high": 0.0,
            "correction": 1.5,
            "correction_cut": 0.5,
            "kl": 0.025,
            "logprob_gap": 0.5,
            "logprob_gap_max": 1.0,
        },
        rel=1e-5,
    )


def test_old_is_whose_the_loss_says() -> None:
    """The same numbers as old or as behaviour make the same objective, with nothing to correct."""
    micro, logp, entropy = batch()
    own = Objective(Loss(old="recomputed"), Correction(name="none"), Kl())
    engine = Objective(Loss(old="behaviour"), Correction(name="icepop", low=0.999, high=1.001), Kl())
    assert micro.old is not None
    swapped = dataclasses.replace(micro, old=None, behaviour=micro.old)
    assert own(micro, logp, entropy)[0].item() == engine(swapped, logp, entropy)[0].item()
    assert engine(micro, logp, entropy)[0].item() != own(micro, logp, entropy)[0].item()
    assert engine(micro, logp, entropy)[1].metrics()["correction_cut"] == 0.0
    assert (own.needs_old, engine.needs_old) == (True, False)


def test_gap_is_only_known_with_old() -> None:
    micro, logp, entropy = batch()
    engine = Objective(Loss(old="behaviour"), Correction(), Kl())
    assert micro.old is not None
    gaps = (micro.old - micro.behaviour).abs()
    seen = engine(micro, logp, entropy)[1].metrics()
    assert seen["logprob_gap"] == pytest.approx(gaps.mean().item())
    assert seen["logprob_gap_max"] == pytest.approx(gaps.max().item())
    unknown = dataclasses.replace(micro, old=None)
    assert "logprob_gap" not in engine(unknown, logp, entropy)[1].metrics()
    before = engine(unknown, logp, entropy, is_first=True)[1].metrics()
    assert before["logprob_gap"] == pytest.approx((logp.detach() - micro.behaviour).abs().mean().item())


@pytest.mark.parametrize("name", ["grpo", "archer", "aspo", "gspo", "cispo"])
def test_before_the_first_step_the_pass_gives_the_old_log_probabilities(name: str) -> None:
    """Value, gradient and figures are those with a pass of its own, to the bit."""
    micro, logp, entropy = batch()
    scored = dataclasses.replace(micro, old=logp.detach())
    expected = outcome_of(of(name), scored, logp, entropy)
    found = outcome_of(of(name), dataclasses.replace(micro, old=None), logp, entropy, is_first=True)
    assert expected[0] == found[0]
    assert torch.equal(expected[1], found[1])
    assert expected[2] == found[2]


def test_the_entropy_is_rewarded_by_its_coefficient() -> None:
    micro, logp, entropy = batch()
    entropy.requires_grad_()
    plain = Objective(Loss(), Correction(), Kl())(micro, logp, entropy)[0]
    scalar, _ = Objective(Loss(entropy_bonus=0.25), Correction(), Kl())(micro, logp, entropy)
    bonus = 0.25 * (micro.weight * entropy).sum()
    torch.testing.assert_close(scalar, plain - bonus, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(torch.autograd.grad(scalar, entropy)[0], -0.25 * micro.weight)


def outcome_of(
    objective: Objective, micro: MicroBatch, logp: torch.Tensor, entropy: torch.Tensor, is_first: bool = False
) -> Any:
    scalar, tally = objective(micro, logp, entropy, is_first=is_first)
    return scalar.item(), torch.autograd.grad(scalar, logp)[0], tally


def test_what_is_missing_is_named() -> None:
    micro, logp, entropy = batch()
    plain, pulled = of("dapo"), of("grpo")
    assert (plain.needs_reference, pulled.needs_reference) == (False, True)
    with pytest.raises(AssertionError, match="old log-probabilities"):
        plain(dataclasses.replace(micro, old=None), logp, entropy)
    with pytest.raises(AssertionError, match="no reference"):
        pulled(dataclasses.replace(micro, reference=None), logp, entropy)
    plain(dataclasses.replace(micro, reference=None), logp, entropy)


def test_wrong_loss_or_constant_is_the_configurations_fault() -> None:
    for loss, complaint in (
        ({"name": "ppo"}, "no loss 'ppo'"),
        ({"clip_lo": 0.2}, "clip_lo is not known"),
        ({"dual_clip": 0.9}, "dual_clip should be greater than 1"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            resolve({"model": {"path": "m"}, "data": {"train": ["d"]}, "loss": loss})


def test_no_gradient_to_the_entropy() -> None:
    micro, logp, entropy = batch()
    entropy.requires_grad_()
    scalar, _ = of("aspo")(micro, logp, entropy)
    assert torch.autograd.grad(scalar, entropy, allow_unused=True)[0] is None


def test_archer_pulls_only_the_low_class() -> None:
    """The gradient of objective with KL and without differ by weight · 0.001/0.8 · (1 − exp(d)), on 80 % of tokens."""
    objective, (micro, logp, entropy) = of("archer"), batch(rows=3)
    without = dataclasses.replace(objective, kl=Kl())
    pull = outcome(objective, micro, logp, entropy)[1] - outcome(without, micro, logp, entropy)[1]
    assert micro.reference is not None
    expected = micro.weight * 0.001 / 0.8 * (1 - (micro.reference - logp.detach()).exp())
    for row in range(3):
        own = micro.sequence == row
        low = entropy[own] <= torch.quantile(entropy[own], 0.8)
        torch.testing.assert_close(pull[own], torch.where(low, expected[own], 0.0), atol=1e-12, rtol=1e-6)
