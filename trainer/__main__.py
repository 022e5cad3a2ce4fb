"""`python -m trainer CONFIG key=value …`, which is `proctor train`; also under torchrun and `deepspeed --module`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from trainer.errors import TrainerError

WRONG = 2
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Train; the exit status."""
    parser = argparse.ArgumentParser(prog="proctor train", description="Train a code model on rewards from executions.")
    parser.add_argument("config", type=Path, help="a TOML file, another run's config.json, or a shipped one's name")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="over what the file says")
    parser.add_argument("--local_rank", help=argparse.SUPPRESS)  # what DeepSpeed's launcher says besides
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as by Ctrl-C: what was started is ended as well
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # they draw over the run's own
    try:
        from trainer import train
        from trainer.config import load

        train.run(load(options.config, options.overrides))
    except TrainerError as error:
        print(f"proctor train: {error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
