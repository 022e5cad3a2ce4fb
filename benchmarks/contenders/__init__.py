"""The contenders by name, imported on demand: a driver should use no more memory than its own contender."""

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
    "prime_code": ("prime_code", "PrimeCode"),
    "isolate": ("isolate", "IsolatePerTest"),
    "fork_limit": ("fork_limit", "ForkLimit"),
    "proctor_direct": ("proctor", "DirectGrader"),
    "proctor_fresh": ("proctor", "FreshBoxes"),
    "proctor_shared": ("proctor", "SharedBox"),
    "proctor_http": ("proctor", "HttpBatch"),
}


def make(name: str) -> Contender[Any]:
    """Return the contender of this name, not yet started."""
    module, kind = CONTENDERS[name]
    made: Contender[Any] = getattr(importlib.import_module(f"{__name__}.{module}"), kind)()
    return made
