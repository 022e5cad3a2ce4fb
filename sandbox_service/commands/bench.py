"""`proctor bench`: the benchmarks are part of the repository, not of the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sandbox_service.errors import ConfigurationError

REPOSITORY = Path(__file__).resolve().parents[2]


def run(arguments: list[str], repository: Path = REPOSITORY) -> int:
    """Run `python -m benchmarks` with these arguments, from where we are; its exit status."""
    if not (repository / "benchmarks" / "__main__.py").is_file() or not (repository / "pyproject.toml").is_file():
        raise ConfigurationError(
            "the benchmarks are not here: they are part of the repository, not of the installed package; "
            "clone it, pip install -e '.[dev]' there, and run proctor bench again"
        )
    # the repository may be elsewhere than where we are, and a folder of that name here is not to be taken for it
    path = os.pathsep.join(filter(None, (str(repository), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], env=environment, check=False).returncode
