"""`proctor validate`: a recipe's data through the grader; clean lines, quarantine, manifest and report in a folder.

What was finished is never done again: the same command goes on where it was ended, however it was ended.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from sandbox_service import preflight
from sandbox_service.commands import remote
from sandbox_service.errors import BadRequest, ConfigurationError
from sandbox_service.settings import PREFIX, Settings
from sandbox_service.validation import job, judge, recipe
from sandbox_service.validation.difficulty import TOO_EASY, TOO_HARD
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.model import Model
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.totals import Totals

LINE_SECONDS = 60.0
PER_SLOT = 3  # problems at once: enough that no slot is idle while another problem's last program runs
AT_A_SERVICE = 24


@dataclass(frozen=True)
class Order:
    """Which recipe, and what the command line says otherwise."""

    recipe: Path
    url: str | None = None
    jobs: int | None = None
    output: Path | None = None
    limit: int | None = None
    is_fresh: bool = False


def run(order: Order, settings: Settings) -> int:
    """Validate; 0 when it is done, whatever was found. Raises ProctorError if it cannot be done."""
    made = changed(recipe.read(order.recipe), order)
    if order.is_fresh:
        (made.folder / job.JOURNAL).unlink(missing_ok=True)
    manifest = asyncio.run(_validate(made, settings))
    _tell(made, manifest)
    return 0


def changed(made: Recipe, order: Order) -> Recipe:
    """The recipe as the command line wants it. Raises BadRequest for numbers below 1."""
    for name, value in (("--jobs", order.jobs), ("--limit", order.limit)):
        if value is not None and value < 1:
            raise BadRequest(f"{name}: at least 1")
    changes: dict[str, Any] = {}
    if order.url is not None or order.jobs is not None:
        if order.url is not None and order.jobs is not None:
            raise BadRequest("--jobs is for grading here; with --url the service decides")
        changes["judge"] = made.judge.model_copy(update={"url": order.url or "", "slots": order.jobs or 0})
    if order.output is not None:
        changes["output"] = str(order.output)
    if order.limit is not None:
        changes["sources"] = [each.model_copy(update={"limit": order.limit}) for each in made.sources]
    return made.model_copy(update=changes)


async def _validate(made: Recipe, settings: Settings) -> dict[str, Any]:
    opened, at_once = _judge(made, settings)
    with _Shown(_how_many(made)) as shown:
        async with opened as ready, _model(made, shown.say) as model:
            await _greet(ready)
            return await job.Job(made, ready, at_once, shown.take, model=model).run()


def _model(made: Recipe, say: Callable[[str], None]) -> AbstractAsyncContextManager[Model | None]:
    """Who is asked how hard the problems are, if the recipe wants that. Raises ConfigurationError."""
    wanted = made.difficulty
    if wanted is None or not wanted.url:
        return nullcontext()
    return Model(wanted, os.environ.get(wanted.key_variable, "").strip(), say)


def _judge(made: Recipe, settings: Settings) -> tuple[AbstractAsyncContextManager[Judge], int]:
    """Who grades, and how many problems at once. Raises ConfigurationError if this machine cannot."""
    if made.judge.url:
        at_once = made.judge.in_flight or AT_A_SERVICE
        return judge.there(remote.checked(made.judge.url)), at_once
    os.environ.setdefault(f"{PREFIX}LOG_LEVEL", "warning")  # slots say hello and good-bye to a service's log only
    preflight.require(settings)
    here = settings.model_copy(update={"slots": made.judge.slots})
    return judge.here(here), made.judge.in_flight or PER_SLOT * here.slot_count


async def _greet(ready: Judge) -> None:
    """One program that is right, so that what is wrong with the judge is not said of a problem."""
    shared = {"tests": [{"type": "stdin", "output": "1"}]}
    [grade] = await ready.grade(shared, [{"code": "print(1)"}])
    if grade.verdict != "AC":
        raise ConfigurationError(f"the judge calls print(1) {grade.verdict}: {grade.failure_reason or grade.message}")


def _how_many(made: Recipe) -> int | None:
    """Rows in all, if that can be known without reading them: lines of files."""
    total = 0
    for source in made.sources:
        path = Path(source.path)
        if path.suffix == ".jsonl" and path.is_file():
            with path.open("rb") as file:
                lines = sum(bool(line.strip()) for line in file)
            total += min(lines, source.limit or lines)
        elif source.limit:
            total += source.limit
        else:
            return None
    return total


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


def _hardness(said: dict[str, Any]) -> str:
    samples = said["samples"]
    graded, passed, cut, lost = (samples.get(name, 0) for name in ("graded", "passed", "cut", "not_judged"))
    parts = [f"{passed} of {graded} samples pass", f"{said[TOO_EASY]} problems too easy, {said[TOO_HARD]} too hard"]
    parts += [f"{said['unknown']} not known"] if said["unknown"] else []
    parts += [f"{cut} samples cut off"] if cut else []
    parts += [f"{lost} not judged: run it again"] if lost else []
    return "; ".join(parts)


class _Rate(ProgressColumn):
    """Problems a second, of late."""

    def render(self, task: Task) -> Text:
        """See ProgressColumn."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "")


class _Shown:
    """How far it is: a bar on a terminal, now and then a line where nobody looks on."""

    def __init__(self, total: int | None) -> None:
        self._console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[said]}"),
        )
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._bar.add_task("validating", total=total, said="")
        self._total = total
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> _Shown:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def take(self, totals: Totals) -> None:
        """One more."""
        said = f"{totals.clean} clean, {totals.quarantined} in quarantine"
        self._bar.update(self._task, completed=totals.read, said=said)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._said >= LINE_SECONDS:
            self._said = now
            print(f"{totals.read}{self._of(totals.read, now - self._begin)}: {said}", file=sys.stderr, flush=True)

    def say(self, words: str) -> None:
        """Something that whoever waits wants to know."""
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)

    def _of(self, read: int, seconds: float) -> str:
        """Of how many, how fast, and how long it will take."""
        rate = read / seconds
        if self._total is None:
            return f" problems, {rate:.1f}/s"
        return f" of {self._total} problems, {rate:.1f}/s, {(self._total - read) / rate / 60:.0f} min left"
