"""Replaces the process with a Python module of the trainer, whose dependencies the service does not need."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from sandbox_service.errors import ConfigurationError


def exec_module(module: str, arguments: Sequence[str], needed: Sequence[str], advice: str) -> NoReturn:
    """Run `python -m MODULE` in place of this process, which passes on signals and the exit status.

    Args:
        module: The module.
        arguments: Its arguments.
        needed: Packages that it cannot start without.
        advice: How to install them.

    Raises:
        ConfigurationError: A package is missing.
    """
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f"the trainer needs {', '.join(missing)}: {advice}")
    sys.stdout.flush()
    # a folder `trainer` or `datasets` in the current directory is not a package
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)  # noqa: S606 - no shell
