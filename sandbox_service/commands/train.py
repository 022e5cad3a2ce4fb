"""`proctor train`: replaces this process with the trainer."""

from __future__ import annotations

from typing import NoReturn

from sandbox_service.commands.exec_module import exec_module

NEEDED = ("torch", "transformers", "deepspeed", "vllm", "aiohttp")
ADVICE = (
    "pip install 'proctor[trainer]' on a machine with a GPU; `make train` in the repository shows it on one without"
)


def run(arguments: list[str]) -> NoReturn:
    """Run `python -m trainer` with these arguments in place of this process.

    Raises:
        ConfigurationError: Packages are missing.
    """
    exec_module("trainer", arguments, NEEDED, ADVICE)
