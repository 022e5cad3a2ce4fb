"""`proctor bench`: runs the benchmarks, which are part of the repository and not of the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sandbox_service.errors import ConfigurationError

REPOSITORY = Path(__file__).resolve().parents[2]


def run(arguments: list[str], repository: Path = REPOSITORY) -> int:
    """Run `python -m benchmarks` in the current directory.

    Args:
        arguments: Arguments of the benchmarks.
        repository: The root of the repository.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: The repository is not there.
    """
    if not (repository / "benchmarks" / "__main__.py").is_file() or not (repository / "pyproject.toml").is_file():
        raise ConfigurationError(
            "the benchmarks are part of the repository, not of the installed package: "
            "clone it, pip install -e '.[service]' there, and run proctor bench again"
        )
    # the current directory may be another one, and may contain a folder `benchmarks`
    path = os.pathsep.join(filter(None, (str(repository), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], env=environment, check=False).returncode
