"""The contenders by name. Nothing is imported before it is asked for: a driver should weigh no more than its own."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.contenders.base import Contender

CONTENDERS = {
    "coder1": ("firejail", "CodeR1"),
    "coder1_asserts": ("firejail", "CodeR1Asserts"),
    "firejail_lean": ("firejail", "LeanFirejail"),
    "python": ("processes", "BarePython"),
    "inprocess": ("inprocess", "LiveCodeBench"),
    "fork_limit": ("fork_limit", "ForkLimit"),
    "proctor_direct": ("proctor", "DirectGrader"),
    "proctor_http": ("proctor", "HttpBatch"),
}


def make(name: str) -> Contender[Any]:
    """The contender of this name, not yet started."""
    module, kind = CONTENDERS[name]
    made: Contender[Any] = getattr(importlib.import_module(f"{__name__}.{module}"), kind)()
    return made
