"""`proctor train`: hands over to the trainer."""

from __future__ import annotations

from typing import NoReturn

from sandbox_service.commands.handover import hand_over

NEEDED = ("torch", "transformers", "deepspeed", "vllm", "aiohttp")
ADVICE = (
    "pip install 'proctor[trainer]' on a machine with a GPU; `make train` in the repository shows it on one without"
)


def run(arguments: list[str]) -> NoReturn:
    """Become `python -m trainer` with these arguments. Raises ConfigurationError if it cannot be run."""
    hand_over("trainer", arguments, NEEDED, ADVICE)
