"""Measures what a delta of the weights saves, and checks every bit: 50 steps, two vLLM servers, one of them killed.

`tests/trainer/delta_world.py` does this in the trainer's environment, since the service's has no vLLM.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRAINER = ROOT / ".venv-trainer" / "bin" / "python"  # as `make train` makes it


def main(arguments: list[str]) -> int:
    """Run it; returns 0 if every bit was right after each sync, 2 without a trainer's environment."""
    parser = argparse.ArgumentParser(
        prog="benchmarks delta",
        description=(__doc__ or "").partition("\n")[0],
        epilog="other arguments (--steps, --transport, --hidden, --layers, --lr) are delta_world's",
    )
    parser.add_argument("--python", type=Path, default=TRAINER, help="of the trainer's environment")
    options, others = parser.parse_known_args(arguments)
    if not options.python.exists():
        print(f"no {options.python}: `make train` makes the trainer's environment")
        return 2
    command = [options.python, "-m", "tests.trainer.delta_world", *others]
    environment = {"OMP_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
