"""Tests of the losses against tables made by hand, second implementations, and each other."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.trainer.tokens import RATIOS, drawn, inputs, slopes, weights
from trainer.loss import LOSSES, LossInputs
from trainer.loss.losses import LossOutputs, archer, aspo, cispo, grpo, m2po

GRPO: dict[str, Any] = {"clip_low": 0.2, "clip_high": 0.2}
GRPO_PLUS: dict[str, Any] = {"clip_low": 0.2, "clip_high": 0.28}
DAPO: dict[str, Any] = GRPO_PLUS | {"dual_clip": 3.0}  # lower than the recipe's 10, so that the table reaches it

# by the sign of A, for the ratios 0.1, 0.3, 0.5, 1.0, 1.1, 1.3, 1.5, 4.0
GRPO_LOSSES = {
    ("grpo", 1): [-0.1, -0.3, -0.5, -1.0, -1.1, -1.2, -1.2, -1.2],
    ("grpo", -1): [0.8, 0.8, 0.8, 1.0, 1.1, 1.3, 1.5, 4.0],
    ("grpo_plus", 1): [-0.1, -0.3, -0.5, -1.0, -1.1, -1.28, -1.28, -1.28],
    ("grpo_plus", -1): [0.8, 0.8, 0.8, 1.0, 1.1, 1.3, 1.5, 4.0],
    ("dapo", 1): [-0.1, -0.3, -0.5, -1.0, -1.1, -1.28, -1.28, -1.28],
    ("dapo", -1): [0.8, 0.8, 0.8, 1.0, 1.1, 1.3, 1.5, 3.0],
}
CONSTANTS = {"grpo": GRPO, "grpo_plus": GRPO_PLUS, "dapo": DAPO}

ASPO_WEIGHTS = {  # algorithms by class and the sign of A: eps 0.2 and 0.4, both dual clips 3
    ("low", 1): [3, 3, 2, 1, 1 / 1.1, 0, 0, 0],
    ("high", 1): [3, 3, 2, 1, 1 / 1.1, 1 / 1.3, 0, 0],
    ("low", -1): [0, 0, 0, 1, 1.1, 1.3, 1.5, 3],
    ("high", -1): [0, 0, 0, 1, 1.1, 1.3, 1.5, 3],
}

# who pushes how hard where: one token with A = 1 or A = −1, at a ratio
WHO = ("grpo", "dapo", "archer", "aspo", "m2po", "gspo", "cispo")
DIFFER = {
    (1, 1.0): (1, 1, 1, 1, 1, 1, 1),
    (-1, 1.0): (1, 1, 1, 1, 1, 1, 1),
    (1, 1.1): (1.1, 1.1, 1.1, 1 / 1.1, 1.1, 0, 1.1),
    (1, 1.22): (0, 1.22, 0, 0, 1.22, 0, 1.22),
    (1, 1.25): (0, 1.25, 0, 0, 0, 0, 1.25),
    (1, 0.5): (0.5, 0.5, 0.5, 2, 0.5, 0.5, 0.5),
    (1, 6.0): (0, 0, 0, 0, 0, 0, 5),
    (-1, 0.9): (0.9, 0.9, 0.9, 0.9, 0.9, 0, 0.9),
    (-1, 0.5): (0, 0, 0, 0, 0, 0, 0.5),
    (-1, 4.0): (4, 0, 4, 3, 4, 4, 4),
}


def two_classes(advantage: float) -> LossInputs:
    """Return one row with two classes of entropy: 24 tokens of entropy 0 and ratio 1, then the ratios in each class.

    The quantile 0.8 of these 40 lies between 0 and 1, so the last eight, and only they, are above.
    """
    entropy = torch.cat([torch.zeros(32), torch.ones(8)]).double()
    return inputs([1.0] * 24 + [*RATIOS, *RATIOS], advantage, entropy)


def per_class(found: torch.Tensor) -> dict[str, list[float]]:
    return {"low": found[24:32].tolist(), "high": found[32:].tolist()}


@pytest.mark.parametrize(("name", "sign"), GRPO_LOSSES)
def test_grpo_dapo_grpo_plus_values(name: str, sign: int) -> None:
    found = grpo(inputs(RATIOS, float(sign)), **CONSTANTS[name])
    assert found.loss.tolist() == pytest.approx(GRPO_LOSSES[name, sign])


@pytest.mark.parametrize(("name", "sign"), GRPO_LOSSES)
def test_grpo_dapo_grpo_plus_have_no_gradient_where_their_value_is_flat(name: str, sign: int) -> None:
    table = GRPO_LOSSES[name, sign]
    expected = [ratio if abs(value) == ratio else 0.0 for ratio, value in zip(RATIOS, table, strict=True)]
    assert weights(grpo, inputs(RATIOS, float(sign)), **CONSTANTS[name]).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("entropy", ["low", "high"])
def test_aspo_weights(entropy: str, sign: int) -> None:
    found = per_class(weights(aspo, two_classes(2.5 * sign)))
    assert found[entropy] == pytest.approx(ASPO_WEIGHTS[entropy, sign])


def test_aspo_high_entropy_is_wider_below_too() -> None:
    entropy = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    assert weights(aspo, inputs([1.0, 1.0, 0.7, 0.7], -1.0, entropy)).tolist() == pytest.approx([1, 1, 0, 0.7])


@pytest.mark.parametrize("quantile", [None, 1.0])
def test_aspo_of_the_paper_has_one_clip(quantile: float | None) -> None:
    found = per_class(weights(aspo, two_classes(1.0), quantile=quantile))
    assert found["high"] == found["low"] == pytest.approx(ASPO_WEIGHTS["low", 1])


def test_archer_by_class() -> None:
    up = per_class(archer(two_classes(1.0)).loss)
    assert up["low"] == pytest.approx([-0.1, -0.3, -0.5, -1.0, -1.1, -1.2, -1.2, -1.2])
    assert up["high"] == pytest.approx([-0.1, -0.3, -0.5, -1.0, -1.1, -1.3, -1.5, -1.5])
    down = per_class(archer(two_classes(-1.0), dual_clip=3.0).loss)
    assert down["low"] == pytest.approx([0.8, 0.8, 0.8, 1.0, 1.1, 1.3, 1.5, 3.0])
    assert down["high"] == pytest.approx([0.5, 0.5, 0.5, 1.0, 1.1, 1.3, 1.5, 3.0])


def test_archer_dual_clip_is_at_10() -> None:
    assert weights(archer, inputs([9.9, 10.1], -1.0)).tolist() == pytest.approx([9.9, 0])


def test_cispo_weights() -> None:
    assert weights(cispo, inputs([0.01, 0.9, 4.9, 5.1], -2.0)).tolist() == pytest.approx([0.01, 0.9, 4.9, 5.0])
    assert weights(cispo, inputs([0.1, 1.5], 2.0), clip_low=0.2, clip_high=0.2).tolist() == pytest.approx([0.8, 1.2])


# the rules once more, for one token, in plain Python: the weight on A · ∇logp


def ppo(r: float, a: float, low: float, high: float, dual: float = math.inf) -> float:
    if a > 0:
        return r if r <= 1 + high else 0.0
    return r if 1 - low <= r <= dual else 0.0


def flipped(r: float, a: float, eps: float) -> float:
    if a > 0:
        return 0.0 if r > 1 + eps else min(1 / r, 3.0)
    return 0.0 if r < 1 - eps else min(r, 3.0)


Rule = Callable[[float, float, bool], float]  # of r, A, and whether the token is of high entropy


def ppo_rule(low: float, high: float, dual: float = math.inf) -> Rule:
    return lambda r, a, _: ppo(r, a, low, high, dual)


def archer_rule(r: float, a: float, high: bool) -> float:
    return ppo(r, a, 0.5, 0.5, 10) if high else ppo(r, a, 0.2, 0.2, 10)


def aspo_rule(r: float, a: float, high: bool) -> float:
    return flipped(r, a, 0.4 if high else 0.2)


def cispo_rule(r: float, _a: float, _high: bool) -> float:
    return min(r, 5.0)


def m2po_rule(r: float, a: float, _high: bool) -> float:
    return 0.0 if math.log(r) * math.copysign(1, a) > 0.3 else r


RULES: dict[str, tuple[Callable[..., LossOutputs], dict[str, Any], Rule]] = {
    "grpo": (grpo, GRPO, ppo_rule(0.2, 0.2)),
    "dapo": (grpo, DAPO, ppo_rule(0.2, 0.28, 3.0)),
    "grpo_plus": (grpo, GRPO_PLUS, ppo_rule(0.2, 0.28)),
    "archer": (archer, {}, archer_rule),
    "aspo": (aspo, {}, aspo_rule),
    "cispo": (cispo, {}, cispo_rule),
    "m2po": (m2po, {"cutoff": torch.tensor(0.3)}, m2po_rule),
}


@pytest.mark.parametrize("name", RULES)
def test_gradients_are_those_of_the_rule(name: str) -> None:
    loss, constants, rule = RULES[name]
    given = drawn(seed=1, spread=1.0)
    expected = torch.zeros_like(given.logp)
    for row in range(12):
        tokens = (given.sequence == row).nonzero().flatten().tolist()
        level = torch.quantile(given.entropy[tokens], 0.8).item()
        for n in tokens:
            a, r = given.advantage[n].item(), (given.logp - given.old)[n].exp().item()
            expected[n] = -a * rule(r, a, given.entropy[n].item() > level)
    torch.testing.assert_close(slopes(loss(given, **constants), given), expected)


@pytest.mark.parametrize("name", ["grpo", "dapo", "grpo_plus", "archer", "m2po"])
def test_gradients_are_finite_differences(name: str) -> None:
    loss, constants, _ = RULES[name]
    given = drawn(seed=2, rows=4, spread=1.0)

    def value(logp: torch.Tensor) -> torch.Tensor:
        return loss(dataclasses.replace(given, logp=logp), **constants).loss

    assert torch.autograd.gradcheck(value, given.logp)


@pytest.mark.parametrize("name", LOSSES)
def test_all_agree_at_ratio_1(name: str) -> None:
    given = drawn(seed=3, spread=0.0)
    torch.testing.assert_close(slopes(LOSSES[name](given), given), -given.advantage)


@pytest.mark.parametrize(("sign", "ratio"), DIFFER)
def test_where_they_differ(sign: int, ratio: float) -> None:
    given = inputs([ratio], float(sign))
    constants = {"dapo": {**DAPO}, "grpo": GRPO}
    functions = {"dapo": grpo} | dict(LOSSES)
    found = [weights(functions[name], given, **constants.get(name, {})).item() for name in WHO]
    assert found == pytest.approx(DIFFER[sign, ratio])


def test_all_differ_from_each_other_somewhere() -> None:
    columns = list(zip(*DIFFER.values(), strict=True))
    same = {(WHO[i], WHO[j]) for i in range(7) for j in range(i) if columns[i] == columns[j]}
    assert same == {("archer", "grpo")}  # in a response of one token no token is of high entropy


@pytest.mark.parametrize("name", LOSSES)
def test_no_advantage_no_gradient(name: str) -> None:
    given = inputs([0.1, 1.0, 30.0], 0.0)
    assert slopes(LOSSES[name](given), given).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", LOSSES)
def test_a_ratio_beyond_all_bounds_stays_finite(name: str) -> None:
    given = inputs(torch.tensor([1.0, -1.0], dtype=torch.float64).mul(500).exp(), -1.0)
    given = dataclasses.replace(
        given, logp=torch.tensor([0.0, -500.0], dtype=torch.float64).requires_grad_(), old=-given.old * 0
    )
    found = LOSSES[name](given)
    assert found.loss.isfinite().all()
    assert slopes(found, given).isfinite().all()


def test_shares_have_one_meaning_everywhere() -> None:
    given = inputs([0.1, 10.5, 0.1, 10.5], torch.tensor([-1.0, -1.0, 1.0, 1.0], dtype=torch.float64))
    expected = {
        "clip_low": [True, False, False, False],
        "dual_high": [False, True, False, False],
        "dual_low": [False, False, True, False],
        "clip_high": [False, False, False, True],
        "high_entropy": [False] * 4,
    }
    for name in ("grpo", "archer", "aspo", "m2po"):
        constants = {"dual_clip": 10.0} if name == "grpo" else {}
        for share, mask in LOSSES[name](given, **constants).shares.items():
            assert mask.tolist() == expected[share], (name, share)
