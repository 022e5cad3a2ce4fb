"""Policy losses by name (`loss.name`), and the check of their constants.

A loss takes LossInputs and its constants (keyword arguments with the published defaults) and returns one number a
token. To add one, write a function in losses.py and add it to LOSSES. The correction for vLLM's numerics and the KL
penalty are in terms.py, and objective.py adds everything up.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import torch

from trainer.loss import losses
from trainer.loss.base import Loss, LossInputs, LossOutputs

__all__ = ["LOSSES", "PREPARE", "LossInputs", "LossOutputs", "check_constants"]

LOSSES: Mapping[str, Loss] = {
    each.__name__: each for each in (losses.grpo, losses.archer, losses.aspo, losses.m2po, losses.gspo, losses.cispo)
}
# further keyword arguments from the whole mini-batch: functions of log_ratio [M] and advantage [M] of its tokens on all
# ranks, and of the constants
PREPARE: Mapping[str, Callable[..., Mapping[str, torch.Tensor]]] = {"m2po": losses.prepare_m2po}


def check_constants(name: str, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants of a loss (its name), with integers converted to floats where it takes floats.

    Raises:
        ValueError: The loss or a constant is unknown, or a value has the wrong type or is out of range.
    """
    if name not in LOSSES:
        raise ValueError(f"there is no loss {name!r}; there are {', '.join(LOSSES)}")
    known = _constants(LOSSES[name])
    unknown = [key for key in constants if key not in known]
    if unknown:
        raise ValueError(f"{name} has no {', '.join(unknown)}; it has {', '.join(known)}")
    return {key: _checked(f"{name}: {key}", value, known[key]) for key, value in constants.items()}


def _constants(loss: Loss) -> dict[str, tuple[type, ...]]:
    """Return the allowed types of a loss's constants. Keyword arguments from the whole mini-batch are excluded."""
    hints = get_type_hints(loss)
    types = {name: get_args(hints[name]) or (hints[name],) for name in inspect.getfullargspec(loss).kwonlyargs}
    return {name: each for name, each in types.items() if torch.Tensor not in each}


def _checked(what: str, value: Any, types: tuple[type, ...]) -> Any:
    if float in types and type(value) is int:
        value = float(value)
    if type(value) not in types:
        names = " or ".join("null" if each is type(None) else each.__name__ for each in types)
        raise ValueError(f"{what} must be {names}, not {value!r}")
    if isinstance(value, float):
        _check_range(what, value)
    return value


def _check_range(what: str, value: float) -> None:
    """Check that a constant has the effect that its name promises."""
    loss, _, key = what.partition(": ")
    if math.isnan(value) or value < 0:
        raise ValueError(f"{what} must be a number from 0, not {value!r}")
    if key.endswith("dual_clip") and value <= 1:
        raise ValueError(
            f"{what} must be above 1, not {value!r}: it bounds the ratio, which is 1 before the first step; leave it "
            "out for the published value"
        )
    if key.endswith("clip_low") and value >= 1 and loss != "cispo":  # CISPO's 1 means that there is no lower bound
        raise ValueError(f"{what} must be below 1, not {value!r}: the trust region begins at 1 - {key}, above 0")
    if key == "quantile" and value > 1:
        raise ValueError(f"{what} must be between 0 and 1, not {value!r}: 0.8 stands for 80 %")
    if key == "threshold" and value == 0:
        raise ValueError(f"{what} must be above 0: at 0 no token that moves further would train; the paper has 0.04")
