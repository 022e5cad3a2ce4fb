"""Policy losses by name (`loss.name`), and the check of their constants.

A loss takes LossInputs and its constants (keyword arguments with the published defaults) and returns one number a
token. To add one, write a function in losses.py and add it to LOSSES.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import torch
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sandbox_service.errors.fields import describe
from trainer.loss import losses
from trainer.loss.losses import Loss, LossInputs, LossOutputs

__all__ = ["LOSSES", "PREPARE", "LossInputs", "LossOutputs", "check_constants"]

LOSSES: Mapping[str, Loss] = {
    each.__name__: each for each in (losses.grpo, losses.archer, losses.aspo, losses.m2po, losses.gspo, losses.cispo)
}
# further keyword arguments from the whole mini-batch: functions of log_ratio [M] and advantage [M] of its tokens on all
# ranks, and of the constants
PREPARE: Mapping[str, Callable[..., Mapping[str, torch.Tensor]]] = {"m2po": losses.prepare_m2po}


def check_constants(name: str, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants of a loss (its name), with integers as floats where it takes floats. Raise ValueError."""
    if name not in LOSSES:
        raise ValueError(f"there is no loss {name!r}; there are {', '.join(LOSSES)}")
    fields = _fields(LOSSES[name])
    try:
        model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)
        return model(**constants).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise ValueError(f"{name} has the constants {', '.join(fields)}; {describe(error)}") from None


def _fields(loss: Loss) -> dict[str, Any]:
    """Return pydantic's fields of a loss's constants. Keyword arguments from the whole mini-batch are excluded."""
    hints = get_type_hints(loss, include_extras=True)
    names = inspect.getfullargspec(loss).kwonlyargs
    return {name: (hints[name], None) for name in names if torch.Tensor not in get_args(hints[name])}
