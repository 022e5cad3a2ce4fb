"""The command `python -m trainer CONFIG key=value …`, also as `proctor train`, under torchrun or DeepSpeed."""

import argparse
import os
import signal
import sys
from pathlib import Path

from trainer.errors import TrainerError, WriteError

WRONG = 2
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Train a model by a command line, by default the process's arguments, and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, so that started processes are stopped
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # they would overwrite the run's own
    try:  # modules are imported where they are needed: torch and transformers take seconds
        if any(each.partition("=")[0] == "--show" for each in arguments):
            from trainer.inspection import samples

            samples.main(arguments)
            return 0
        options = _parser().parse_args(arguments)
        from trainer.config import load

        config = load(options.config, options.overrides)
        if options.dry_run:
            from trainer.inspection import plan

            text, fits = plan.report(config, plan.machine_of(str(options.config), options.ranks, options.gpu_gb))
            print(text)
            return 0 if fits else 1
        from trainer import train

        train.run(config)
    except (TrainerError, WriteError) as error:
        print(f"proctor train: {error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proctor train",
        description="Train a code model on rewards from executions.",
        epilog="proctor train --show RUN prints the samples that a run has kept; --show RUN --help lists its filters.",
    )
    parser.add_argument("config", type=Path, help="a TOML file, a run's config.json, or a shipped configuration")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="override a setting of the file")
    parser.add_argument("--dry-run", action="store_true", help="print what would be loaded where and whether it fits")
    parser.add_argument("--ranks", type=int, default=0, help="with --dry-run: the number of ranks")
    parser.add_argument("--gpu-gb", type=float, default=80.0, help="with --dry-run: the memory of a GPU")
    parser.add_argument("--local_rank", help=argparse.SUPPRESS)  # passed by DeepSpeed's launcher
    return parser


if __name__ == "__main__":
    sys.exit(main())
