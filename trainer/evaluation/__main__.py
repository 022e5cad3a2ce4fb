"""The command `python -m trainer.evaluation …`, also available as `proctor evaluate`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from trainer.data import Problems
from trainer.errors import TrainerError
from trainer.evaluation import options, progress, table
from trainer.evaluation.checkpoints import CheckpointFinder, FoundCheckpoint
from trainer.evaluation.evaluation import PAGE, SUMMARY, Evaluation
from trainer.evaluation.models import Model
from trainer.evaluation.options import Plan
from trainer.evaluation.problems import select_problems
from trainer.evaluation.samples import SAMPLES
from trainer.evaluation.scanner import Scanner

WRONG = 2
INTERRUPTED = 130
FILE_WIDTH = 200  # columns of a table that is not written to a terminal


def main(arguments: list[str] | None = None) -> int:
    """Run an evaluation.

    Args:
        arguments: The command line; by default the process's.

    Returns:
        The exit status.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until the event loop handles it
    try:
        return asyncio.run(_until_told(_evaluate(options.parse(arguments))))
    except TrainerError as error:
        print(f"proctor evaluate: {error}", file=sys.stderr)
        return WRONG
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED


async def _until_told(work: Coroutine[Any, Any, int]) -> int:
    """Run the work until it ends or SIGTERM or SIGINT cancels it."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


async def _evaluate(plan: Plan) -> int:
    chosen = await asyncio.to_thread(select_problems, plan.asked, plan.out)
    notice(f"{len(chosen.problems)} problems{_left_out(chosen.outside, chosen.refused)}")
    if plan.mode == "watch":
        await _watch(plan, chosen.problems)
        return 0
    await _one(plan, chosen.problems, plan.out, plan.model, {"name": plan.out.name})
    return 0


async def _one(plan: Plan, problems: Problems, folder: Path, model: Model | None, known: Mapping[str, Any]) -> None:
    summary = await Evaluation(plan, problems, folder, model, known, notice).run()
    if summary is None:
        notice(f"samples: {folder / SAMPLES}")
        return
    table.show(summary, Console() if sys.stdout.isatty() else Console(width=FILE_WIDTH))
    notice(f"{folder / SUMMARY}, {folder / PAGE}")


async def _watch(plan: Plan, problems: Problems) -> None:
    """Evaluate checkpoints one after the other, each with its own vLLM."""
    assert plan.run is not None
    assert plan.model is not None
    model = plan.model

    async def evaluate(found: FoundCheckpoint, folder: Path) -> None:
        known = {"name": found.name, "step": found.step}
        await _one(plan, problems, folder, replace(model, name=str(found.model)), known)

    checkpoints = CheckpointFinder(plan.run, plan.settle_seconds)
    scanner = Scanner(checkpoints, plan.out, evaluate, notice, plan.every_seconds, plan.newest_first)
    notice(f"watching {plan.run}; results are written to {plan.out}")
    await scanner.run(plan.once)


def notice(text: str) -> None:
    """Print a line to the user.

    Args:
        text: The line.
    """
    progress.console().print(text, markup=False, highlight=False, soft_wrap=True)


def _left_out(outside: int, refused: int) -> str:
    counts = [(outside, "outside the window"), (refused, "cannot be graded here")]
    text = ", ".join(f"{count} {why}" for count, why in counts if count)
    return f" ({text})" if text else ""


if __name__ == "__main__":
    sys.exit(main())
