"""Tests of the registry of losses and the validation of their constants."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trainer.config import algorithms
from trainer.loss import check_constants


@pytest.mark.parametrize("name", algorithms())
def test_each_algorithm_names_a_loss_and_its_constants(name: str) -> None:
    said = dict(algorithms()[name]["loss"])
    for key in ("mean", "old"):
        said.pop(key, None)
    loss = said.pop("name")
    assert check_constants(loss, said) == said


def test_constants_are_checked() -> None:
    assert check_constants("grpo", {"clip_high": 1, "dual_clip": None}) == {"clip_high": 1.0, "dual_clip": None}
    assert type(check_constants("cispo", {"clip_low": 1})["clip_low"]) is float
    assert check_constants("aspo", {"quantile": None}) == {"quantile": None}
    assert check_constants("archer", {"dual_clip": math.inf}) == {"dual_clip": math.inf}


@pytest.mark.parametrize(
    ("loss", "constants", "complaint"),
    [
        ("ppo", {}, "no loss 'ppo'; there are grpo, archer, aspo, m2po, gspo, cispo"),
        (
            "grpo",
            {"clip": 0.2, "eps": 1},
            "grpo has the constants clip_low, clip_high, dual_clip; clip is not known; eps is",
        ),
        ("grpo", {"clip_low": True}, "clip_low should be a number"),
        ("grpo", {"clip_low": None}, "clip_low should be a number"),
        ("grpo", {"dual_clip": "3"}, "dual_clip should be a number"),
        ("grpo", {"clip_high": -0.2}, "clip_high should be greater than or equal to 0"),
        ("grpo", {"clip_high": math.nan}, "clip_high should be greater than or equal to 0"),
        ("grpo", {"dual_clip": 1}, "dual_clip should be greater than 1"),
        ("aspo", {"positive_dual_clip": 0.5}, "positive_dual_clip should be greater than 1"),
        ("grpo", {"clip_low": 1}, "clip_low should be less than 1"),
        ("archer", {"high_entropy_clip_low": 1.5}, "high_entropy_clip_low should be less than 1"),
        ("archer", {"quantile": 80}, "quantile should be less than or equal to 1"),
        ("m2po", {"threshold": 0}, "threshold should be greater than 0"),
        ("m2po", {"cutoff": 0.3}, "m2po has the constants threshold; cutoff is not known"),
    ],
)
def test_wrong_constants_are_named(loss: str, constants: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError) as trouble:
        check_constants(loss, constants)
    assert complaint in str(trouble.value)
