"""The isolation tools, by the value of SANDBOX_ISOLATION that selects them. A new one has its row here."""

from __future__ import annotations

from collections.abc import Callable

from sandbox_service.errors import ConfigurationError
from sandbox_service.sandbox.base import IsolationTool
from sandbox_service.sandbox.bubblewrap import Bubblewrap
from sandbox_service.sandbox.firejail import Firejail

TOOLS: dict[str, Callable[..., IsolationTool]] = {"firejail": Firejail, "bubblewrap": Bubblewrap}


def make(name: str, program: str) -> IsolationTool:
    """Return an isolation tool.

    Args:
        name: a key of TOOLS.
        program: its path; empty for where its package puts it.

    Raises:
        ConfigurationError: there is no tool of that name.
    """
    if name not in TOOLS:
        raise ConfigurationError(f"SANDBOX_ISOLATION: no isolation tool {name!r}; there is: {', '.join(TOOLS)}")
    return TOOLS[name](program) if program else TOOLS[name]()
