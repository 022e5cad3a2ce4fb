"""Where this service's Python has the libraries that mathematics needs. They are looked for, and never imported here.

They are pure Python, so that a jail's interpreter, which need not be ours, can read them out of our folders: it is
given descriptors of these when it starts, and closes them before there is any box.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from sandbox_service.errors import SandboxFault

PACKAGES = ("antlr4", "latex2sympy2_extended", "math_verify", "mpmath", "sympy")
INSTALL = "pip install 'proctor[math]'"


def missing() -> list[str]:
    """Those that are not installed."""
    return [name for name in PACKAGES if _folder(name) is None]


def opened() -> list[int]:
    """Descriptors of the folders that have them. Raises SandboxFault if one is not installed."""
    if lacking := missing():
        raise SandboxFault(f"answers in mathematics cannot be compared here: no {', '.join(lacking)}; {INSTALL}")
    folders = sorted({folder for name in PACKAGES if (folder := _folder(name)) is not None})
    return [os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for folder in folders]


def _folder(name: str) -> Path | None:
    """The folder that a package is in."""
    found = find_spec(name)
    return Path(found.origin).parent.parent if found is not None and found.origin else None
