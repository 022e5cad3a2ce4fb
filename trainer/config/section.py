"""What all tables of settings have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen table of settings that rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
