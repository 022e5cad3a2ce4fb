"""`proctor evaluate`: replaces this process with the trainer's evaluation, which needs the client and rich."""

from __future__ import annotations

from typing import NoReturn

from sandbox_service.commands.exec_module import exec_module

NEEDED = ("aiohttp", "rich")  # `trainer.evaluation` checks for vLLM where it needs it
ADVICE = "pip install rich, or 'proctor[trainer]' to serve models as well"


def run(arguments: list[str]) -> NoReturn:
    """Run `python -m trainer.evaluation` with these arguments in place of this process.

    Raises:
        ConfigurationError: Packages are missing.
    """
    exec_module("trainer.evaluation", arguments, NEEDED, ADVICE)
