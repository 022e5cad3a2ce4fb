"""Finds the libraries of the checker `math` in this service's environment, without importing them.

They are pure Python, so a jail's interpreter, which need not be ours, can read them out of our folders. The zygote gets
descriptors of these folders when it starts, and closes them before it serves.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from sandbox_service.errors import SandboxError

PACKAGES = ("antlr4", "latex2sympy2_extended", "math_verify", "mpmath", "sympy")
INSTALL = "pip install 'proctor[math]'"


def missing() -> list[str]:
    """Return the names of the packages that are not installed."""
    return [name for name in PACKAGES if _folder(name) is None]


def opened() -> list[int]:
    """Return descriptors of the folders that hold the packages. Raises SandboxError if one is not installed."""
    if lacking := missing():
        raise SandboxError(f"answers in mathematics cannot be compared here: no {', '.join(lacking)}; {INSTALL}")
    folders = sorted({folder for name in PACKAGES if (folder := _folder(name)) is not None})
    return [os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for folder in folders]


def _folder(name: str) -> Path | None:
    """Return the folder that holds the package's own folder."""
    found = find_spec(name)
    return Path(found.origin).parent.parent if found is not None and found.origin else None
