"""`proctor train`: hands over to the trainer, which needs what the service does not, and may not be installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

from sandbox_service.errors import ConfigurationError

NEEDED = ("torch", "transformers", "deepspeed", "vllm", "aiohttp")


def run(arguments: list[str]) -> int:
    """Run `python -m trainer` with these arguments; its exit status. Raises ConfigurationError if it cannot be run."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the trainer needs {', '.join(missing)}: pip install 'proctor[trainer]' on a machine with a GPU; "
            "`make train` in the repository shows it on one without"
        )
    # a folder `trainer` or `datasets` where we are is not to be taken for a package
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, "-m", "trainer", *arguments], env=environment, check=False).returncode
