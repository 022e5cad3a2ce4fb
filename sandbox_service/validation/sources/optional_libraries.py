"""Imports the libraries that only some containers need, when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from sandbox_service.errors import ConfigurationError

INSTALL = "pip install 'proctor[data]'"


def need(module: str, purpose: str, attribute: str) -> Any:
    """Return a module.

    Args:
        module: Its name.
        purpose: What it is needed for; used in the message.
        attribute: An attribute of the real module. Without the library, Python imports a folder of the same name in the
            working directory as a namespace package, which lacks it.

    Raises:
        ConfigurationError: The library is not installed; the message says what to install.
    """
    try:
        found = importlib.import_module(module)
    except ImportError:
        raise ConfigurationError(f"{purpose} needs the library {module.partition('.')[0]}: {INSTALL}") from None
    if not hasattr(found, attribute):
        raise ConfigurationError(
            f"{purpose} needs the library {module}, but its name is that of a folder in the working "
            f"directory: {INSTALL}"
        )
    return found
