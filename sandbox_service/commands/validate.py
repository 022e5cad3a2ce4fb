"""`proctor validate`: grades a recipe's data and writes clean lines, quarantine, manifest and report to a folder.

Finished work is kept: the same command continues an interrupted run.
"""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_service.commands.recipe_run import (
    RecipeOptions,
    RecipeProgress,
    changed,
    check_judge,
    how_many,
    opened_judge,
    opened_model,
    require_rows,
    room_for,
    told_how_to_continue,
)
from sandbox_service.settings import Settings
from sandbox_service.validation import job, recipe
from sandbox_service.validation.difficulty import TOO_EASY, TOO_HARD
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.totals import Totals


def run(options: RecipeOptions, settings: Settings) -> int:
    """Validate a data set.

    Args:
        options: The command's arguments.
        settings: The settings.

    Returns:
        0 when it is done, whatever was found.

    Raises:
        ProctorError: The recipe or the machine is not usable, or the sources have no rows.
    """
    made = changed(recipe.read(options.recipe), options)
    if options.is_fresh:
        (made.folder / job.JOURNAL).unlink(missing_ok=True)
    with room_for(made.folder), told_how_to_continue():
        manifest = asyncio.run(_validate(made, settings))
    require_rows(manifest["problems"]["read"])
    _tell(made, manifest)
    return 0


async def _validate(made: Recipe, settings: Settings) -> dict[str, Any]:
    opened, at_once = opened_judge(made, settings)
    with RecipeProgress("validating", how_many(made)) as shown:

        def show(totals: Totals) -> None:
            shown.take(totals.read, f"{totals.clean} clean, {totals.quarantined} in quarantine")

        model, writer = opened_model(made.difficulty, shown.say), opened_model(made.checker.writer, shown.say)
        async with opened as ready, model as asked, writer as asked_for_checkers:
            await check_judge(ready)
            work = job.Job(made, ready, at_once, show, model=asked, checker_model=asked_for_checkers)
            return await work.run()


def _tell(made: Recipe, manifest: dict[str, Any]) -> None:
    counts, took = manifest["problems"], manifest["run"]
    print(
        f"{counts['clean']} clean, {counts['quarantined']} in quarantine, {sum(counts['left_out'].values())} left out "
        f"of {counts['read']}; {took['judged_now']} judged now in {took['seconds']:.0f} s"
    )
    for name, count in manifest["causes"].items():
        print(f"{count:8} {name}")
    if made.difficulty is not None:
        print(_hardness(manifest["difficulty"]))
    print(made.folder / job.REPORT)


def _hardness(difficulty: dict[str, Any]) -> str:
    samples = difficulty["samples"]
    graded, passed, cut, lost = (samples.get(name, 0) for name in ("graded", "passed", "cut", "not_judged"))
    parts = [
        f"{passed} of {graded} samples pass",
        f"{difficulty[TOO_EASY]} problems too easy, {difficulty[TOO_HARD]} too hard",
    ]
    parts += [f"{difficulty['unknown']} not known"] if difficulty["unknown"] else []
    parts += [f"{cut} samples cut off"] if cut else []
    parts += [f"{lost} not judged: run it again"] if lost else []
    return "; ".join(parts)
