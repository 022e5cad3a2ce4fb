"""`proctor strengthen`: measures how strong the tests of a recipe's problems are, and adds better ones.

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
from sandbox_service.languages.judge_libraries import JudgeLibraries
from sandbox_service.settings import Settings
from sandbox_service.strengthen import job
from sandbox_service.strengthen.totals import Totals
from sandbox_service.validation import recipe
from sandbox_service.validation.recipe import Recipe


def run(options: RecipeOptions, settings: Settings) -> int:
    """Strengthen a data set.

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
        (job.folder_of(made) / job.JOURNAL).unlink(missing_ok=True)
    with room_for(job.folder_of(made)), told_how_to_continue():
        manifest = asyncio.run(_strengthen(made, settings))
    require_rows(manifest["problems"]["read"])
    _tell(made, manifest)
    return 0


async def _strengthen(made: Recipe, settings: Settings) -> dict[str, Any]:
    opened, at_once = opened_judge(made, settings)
    with RecipeProgress("strengthening", how_many(made)) as shown:

        def show(totals: Totals) -> None:
            shown.take(totals.read, f"{totals.strengthened} strengthened, {totals.added} tests added")

        async with opened as ready, opened_model(made.strengthen.generators, shown.say) as model:
            await check_judge(ready)
            headers = JudgeLibraries(settings.judge_libraries).missing_from
            return await job.Job(made, ready, at_once, show, model=model, headers=headers).run()


def _tell(made: Recipe, manifest: dict[str, Any]) -> None:
    counts, took, strength = manifest["problems"], manifest["run"], manifest["strength"]
    unchanged, left_out = sum(counts["unchanged"].values()), sum(counts["left_out"].values())
    print(
        f"{counts['strengthened']} strengthened with {manifest['tests']['added']} tests, {unchanged} unchanged, "
        f"{counts['not_judged']} not judged, {counts['malformed']} malformed, {left_out} left out of {counts['read']}; "
        f"{took['judged_now']} programs judged now in {took['seconds']:.0f} s"
    )
    for name, words in (
        ("before", "before"),
        ("after", "after"),
        ("held_out", "after, if they have no part in the choice of the tests"),
    ):
        each = strength[name]
        if each["programs"]:
            share = f"{100 * each['share']:.1f} % ({100 * each['low']:.1f} to {100 * each['high']:.1f})"
            print(f"{share} of {each['programs']} wrong programs are refused {words}")
    for reason, count in counts["unchanged"].items():
        print(f"{count:8} unchanged: {reason}")
    print(job.folder_of(made) / job.REPORT)
