"""Libraries that only some containers need: imported when they are, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from sandbox_service.errors import ConfigurationError

INSTALL = "pip install 'proctor[data]'"


def need(module: str, purpose: str, attribute: str) -> Any:
    """The module, if it is the real one: it has the attribute. Raises ConfigurationError that says what to install.

    A folder of the module's name in the working directory is imported without complaint where the library is not
    installed. It has no such attribute.
    """
    try:
        found = importlib.import_module(module)
    except ImportError:
        raise ConfigurationError(f"{purpose} needs the library {module.partition('.')[0]}: {INSTALL}") from None
    if not hasattr(found, attribute):
        raise ConfigurationError(
            f"{purpose} needs the library {module}, and what is imported by that name is a folder of the working "
            f"directory: {INSTALL}"
        )
    return found
