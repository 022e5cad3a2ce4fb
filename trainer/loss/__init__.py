"""What the policy is told to do about its samples: one function for each algorithm, chosen by name.

A loss takes LossInputs and its constants, by keyword and with the published defaults, and gives a number for each
token. To add one: a function in a module of its own, and a line in LOSSES. Means, the correction for the engine and
the KL term are no part of it: see objective.py, correction.py and kl.py.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import torch

from trainer.loss.archer import archer
from trainer.loss.aspo import aspo
from trainer.loss.base import Loss, LossInputs, LossOutputs
from trainer.loss.cispo import cispo
from trainer.loss.grpo import grpo
from trainer.loss.gspo import gspo
from trainer.loss.m2po import m2po
from trainer.loss.m2po import prepare as m2po_prepare

__all__ = ["LOSSES", "LossInputs", "LossOutputs", "LossSpec", "check_constants"]


@dataclass(frozen=True)
class LossSpec:
    """A loss, and what must be known of the whole mini-batch before any part of it: more keywords for the loss.

    `prepare(log_ratio [M], advantage [M], **constants)`, of all tokens that train, on all ranks.
    """

    function: Loss
    prepare: Callable[..., Mapping[str, torch.Tensor]] | None = None

    @property
    def constants(self) -> dict[str, tuple[type, ...]]:
        """The types that each constant may have, by name. What is prepared is no constant."""
        keywords = inspect.getfullargspec(self.function).kwonlyargs
        hints = get_type_hints(self.function)
        types = {name: get_args(hints[name]) or (hints[name],) for name in keywords}
        return {name: each for name, each in types.items() if torch.Tensor not in each}


LOSSES: Mapping[str, LossSpec] = {
    "grpo": LossSpec(grpo),
    "archer": LossSpec(archer),
    "aspo": LossSpec(aspo),
    "m2po": LossSpec(m2po, m2po_prepare),
    "gspo": LossSpec(gspo),
    "cispo": LossSpec(cispo),
}


def check_constants(name: str, constants: Mapping[str, Any]) -> dict[str, Any]:
    """The constants as the loss takes them. ValueError, which names what is wrong and what is known.

    An int is as good as a float, a bool is not; none is negative or nan.
    """
    if name not in LOSSES:
        raise ValueError(f"there is no loss {name!r}; there are {', '.join(LOSSES)}")
    known = LOSSES[name].constants
    unknown = [key for key in constants if key not in known]
    if unknown:
        raise ValueError(f"{name} has no {', '.join(unknown)}; it has {', '.join(known)}")
    return {key: _checked(f"{name}: {key}", value, known[key]) for key, value in constants.items()}


def _checked(what: str, value: Any, types: tuple[type, ...]) -> Any:
    if float in types and type(value) is int:
        value = float(value)
    if type(value) not in types:
        names = " or ".join("null" if each is type(None) else each.__name__ for each in types)
        raise ValueError(f"{what} must be {names}, not {value!r}")
    if isinstance(value, float) and (math.isnan(value) or value < 0):
        raise ValueError(f"{what} must be a number from 0, not {value!r}")
    return value
