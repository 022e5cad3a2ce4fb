"""`proctor train` and `proctor evaluate`: replace this process with the trainer, which has dependencies of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from sandbox_service.errors import ConfigurationError


def train(arguments: Sequence[str]) -> NoReturn:
    """Run `python -m trainer` with these arguments in place of this process. Raises ConfigurationError."""
    _require(
        ("torch", "transformers", "deepspeed", "vllm", "aiohttp"),
        "pip install 'proctor[trainer]' on a machine with a GPU; "
        "`make train` in the repository shows it on one without",
    )
    _become("trainer", arguments)


def evaluate(arguments: Sequence[str]) -> NoReturn:
    """Run `python -m trainer.evaluation` with these arguments in place of this process. Raises ConfigurationError."""
    # without vLLM, which the evaluation checks for where it serves a model
    _require(("aiohttp", "rich"), "pip install rich, or 'proctor[trainer]' to serve models as well")
    _become("trainer.evaluation", arguments)


def _require(packages: Sequence[str], advice: str) -> None:
    """Raise ConfigurationError, with the advice, if a package is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f"the trainer needs {', '.join(missing)}: {advice}")


def _become(module: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process with `python -m MODULE`, which gets its signals and has its exit status."""
    sys.stdout.flush()
    # a folder `trainer` or `datasets` in the current directory is not a package
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)  # noqa: S606 - no shell
