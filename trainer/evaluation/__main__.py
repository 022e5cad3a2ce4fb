"""`python -m trainer.evaluation …`, which is `proctor evaluate`."""

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
from trainer.evaluation.checkpoints import Checkpoints, Found
from trainer.evaluation.evaluation import PAGE, SUMMARY, Evaluation
from trainer.evaluation.models import Model
from trainer.evaluation.options import Plan
from trainer.evaluation.problems import choose
from trainer.evaluation.samples import SAMPLES
from trainer.evaluation.scanner import Scanner

WRONG = 2
INTERRUPTED = 130
FILE_WIDTH = 200  # of a table that goes into a file


def main(arguments: list[str] | None = None) -> int:
    """Evaluate; the exit status."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until there is an event loop
    try:
        return asyncio.run(_until_told(_evaluate(options.parse(arguments))))
    except TrainerError as error:
        print(f"proctor evaluate: {error}", file=sys.stderr)
        return WRONG
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED


async def _until_told(work: Coroutine[Any, Any, int]) -> int:
    """Asked to end, it ends what it has started, and then itself."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


async def _evaluate(plan: Plan) -> int:
    chosen = await asyncio.to_thread(choose, plan.asked, plan.out)
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
    """A vLLM for each checkpoint, one after the other."""
    assert plan.run is not None
    assert plan.model is not None
    model = plan.model

    async def evaluate(found: Found, folder: Path) -> None:
        known = {"name": found.name, "step": found.step}
        await _one(plan, problems, folder, replace(model, name=str(found.model)), known)

    checkpoints = Checkpoints(plan.run, plan.settle_seconds)
    scanner = Scanner(checkpoints, plan.out, evaluate, notice, plan.every_seconds, plan.newest_first)
    notice(f"watching {plan.run}: results in {plan.out}")
    await scanner.run(plan.once)


def notice(text: str) -> None:
    """Tell whoever looks on."""
    progress.console().print(text, markup=False, highlight=False, soft_wrap=True)


def _left_out(outside: int, refused: int) -> str:
    said = [(outside, "outside the window"), (refused, "cannot be graded here")]
    told = ", ".join(f"{count} {why}" for count, why in said if count)
    return f" ({told})" if told else ""


if __name__ == "__main__":
    sys.exit(main())
