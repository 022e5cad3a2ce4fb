"""`proctor evaluate`: hands over to the trainer's evaluation. To grade, it needs the client and rich."""

from __future__ import annotations

from typing import NoReturn

from sandbox_service.commands.handover import hand_over

NEEDED = ("aiohttp", "rich")  # vLLM only where it serves the model: `trainer.evaluation` says so
ADVICE = "pip install rich, or 'proctor[trainer]' to serve models as well"


def run(arguments: list[str]) -> NoReturn:
    """Become `python -m trainer.evaluation` with these arguments. Raises ConfigurationError if it cannot be run."""
    hand_over("trainer.evaluation", arguments, NEEDED, ADVICE)
