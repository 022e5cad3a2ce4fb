"""Commands that are the trainer's: it needs what the service does not, and may not be installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from sandbox_service.errors import ConfigurationError


def hand_over(module: str, arguments: Sequence[str], needed: Sequence[str], advice: str) -> NoReturn:
    """Become `python -m MODULE` with these arguments: signals and the exit status are then its own.

    Raises ConfigurationError, with the advice, if one of the packages that it cannot begin without is missing.
    """
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f"the trainer needs {', '.join(missing)}: {advice}")
    sys.stdout.flush()
    # a folder `trainer` or `datasets` where we are is not to be taken for a package
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)  # noqa: S606 - no shell
