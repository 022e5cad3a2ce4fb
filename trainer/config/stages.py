"""Stages of a run: settings that change at given steps.

    [[stages]]                       # iterative lengthening
    begin = 1000
    rollout.max_tokens = 16384

A stage lists the differences from the stage before it. Only settings that are read anew in every step can change:
numbers of prompts and samples, the choice of problems, lengths, the learning rate. The loss, the model and all settings
that vLLM or DeepSpeed are started with cannot; nor can the temperature, because a batch may have been started in the
stage before. `run` merges and validates each stage like a configuration of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from trainer.config.section import Section

MAY_CHANGE: Mapping[str, tuple[str, ...]] = {
    "data": ("difficulty", "mixture"),
    "rollout": ("prompts", "samples", "max_tokens"),
    "reward": ("overlong_filter", "overlong_buffer", "overlong_factor"),
    "optimiser": ("lr", "micro_tokens"),
}


class Stage(Section):
    """The settings that differ from step `begin` on, by section."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    begin: int = Field(ge=2)  # the rest of the file is the first stage

    @model_validator(mode="after")
    def _can_change(self) -> Stage:
        for section, settings in self.changes.items():
            names = [f"{section}.{key}" for key in settings] if isinstance(settings, Mapping) else [section]
            for name in names:
                if name not in known():
                    raise ValueError(f"{name} cannot change within a run; settings that can: {', '.join(known())}")
        return self

    @property
    def changes(self) -> Mapping[str, Any]:
        """The settings by section and key."""
        return self.model_extra or {}

    def over(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return this stage's settings over a base, of the stage before. A table (`data.mixture`) is replaced as a
        whole.
        """
        return {**base, **{section: {**base[section], **settings} for section, settings in self.changes.items()}}


def known() -> list[str]:
    """Return the names of all settings that can change."""
    return [f"{section}.{key}" for section, keys in MAY_CHANGE.items() for key in keys]
