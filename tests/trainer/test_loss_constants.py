"""Tests of the registry of losses and the validation of their constants."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trainer.algorithms import ALGORITHMS
from trainer.loss import check_constants


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_algorithm_names_a_loss_and_its_constants(name: str) -> None:
    said = dict(ALGORITHMS[name]["loss"])
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
        ("grpo", {"clip": 0.2, "eps": 1}, "grpo has no clip, eps; it has clip_low, clip_high, dual_clip"),
        ("grpo", {"clip_low": True}, "clip_low must be float, not True"),
        ("grpo", {"clip_low": None}, "clip_low must be float, not None"),
        ("grpo", {"dual_clip": "3"}, "dual_clip must be float or null, not '3'"),
        ("grpo", {"clip_high": -0.2}, "clip_high must be a number from 0, not -0.2"),
        ("grpo", {"clip_high": math.nan}, "clip_high must be a number from 0, not nan"),
        ("grpo", {"dual_clip": 1}, "dual_clip must be above 1, not 1.0: it bounds the ratio"),
        ("aspo", {"positive_dual_clip": 0.5}, "positive_dual_clip must be above 1, not 0.5"),
        ("grpo", {"clip_low": 1}, "clip_low must be below 1, not 1.0: the trust region begins at 1 - clip_low"),
        ("archer", {"high_entropy_clip_low": 1.5}, "high_entropy_clip_low must be below 1, not 1.5"),
        ("archer", {"quantile": 80}, "quantile must be between 0 and 1, not 80.0: 0.8 stands for 80 %"),
        ("m2po", {"threshold": 0}, "threshold must be above 0"),
        ("m2po", {"cutoff": 0.3}, "m2po has no cutoff; it has threshold"),
    ],
)
def test_wrong_constants_are_named(loss: str, constants: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError) as trouble:
        check_constants(loss, constants)
    assert complaint in str(trouble.value)
