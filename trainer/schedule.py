"""How a run changes while it goes on: stages, each with the step that it begins at and what is different from then on.

    [[stages]]                       # iterative lengthening
    begin = 1000
    rollout.max_tokens = 16384

A stage says only what differs from the one before it. What can differ is what is asked for anew in every step: how
many prompts and samples, of which problems, how long, how fast is learnt. The loss cannot, nor the model, nor anything
that vLLM or DeepSpeed was started with: the temperature is one of these, since a batch may have been begun a stage ago.

What a stage comes to is decided in `config`: each is checked like a configuration of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAY_CHANGE: Mapping[str, tuple[str, ...]] = {
    "data": ("difficulty", "mixture"),
    "rollout": ("prompts", "samples", "max_tokens"),
    "reward": ("overlong_filter", "overlong_buffer", "overlong_factor"),
    "optimiser": ("lr", "micro_tokens"),
}


class Stage(BaseModel):
    """What is different from step `begin` on, by section."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    begin: int = Field(ge=2)  # the first stage is what the rest of the file says

    @model_validator(mode="after")
    def _can_change(self) -> Stage:
        for section, settings in self.changes.items():
            names = [f"{section}.{key}" for key in settings] if isinstance(settings, Mapping) else [section]
            for name in names:
                if name not in known():
                    raise ValueError(f"{name} cannot change within a run; what can: {', '.join(known())}")
        return self

    @property
    def changes(self) -> Mapping[str, Any]:
        """Settings by section and key."""
        return self.model_extra or {}

    def over(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """What is said, and what is different. A table (`data.mixture`) is replaced, not mixed with the one before."""
        return {**said, **{section: {**said[section], **settings} for section, settings in self.changes.items()}}


def known() -> list[str]:
    """All that can change, as a file names it."""
    return [f"{section}.{key}" for section, keys in MAY_CHANGE.items() for key in keys]
