"""Runs of a recipe from the command line: options, the judge, and progress, for `validate` and `strengthen`."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from sandbox_service.commands import remote_grading
from sandbox_service.commands.recipe_judge import local_judge, remote_judge
from sandbox_service.doctor import preflight
from sandbox_service.errors import BadRequestError, ConfigurationError
from sandbox_service.settings import PREFIX, Settings
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.model import Model
from sandbox_service.validation.recipe import Endpoint, Recipe

LINE_SECONDS = 60.0
PER_SLOT = 3  # problems at once per slot, so that no slot is idle at the end of a problem
PROBLEMS_AT_SERVICE = 24
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@contextmanager
def room_for(folder: Path) -> Iterator[None]:
    """Name the output folder if it has no room.

    Args:
        folder: The output folder.

    Raises:
        ConfigurationError: It has no room, or cannot be written to.
        OSError: Another error of the system.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise ConfigurationError(
            f"{folder}: {error.strerror}; make room and give the same command again, or name another folder by --output"
        ) from None


@contextmanager
def told_how_to_continue() -> Iterator[None]:
    """Let SIGTERM interrupt a run as Ctrl-C does, and print how an interrupted run is continued.

    Raises:
        KeyboardInterrupt: The run was interrupted.
    """
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    except KeyboardInterrupt:
        print("proctor: interrupted; finished work is kept, and the same command continues the run", file=sys.stderr)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True)
class RecipeOptions:
    """The arguments of a command that runs a recipe, which override the recipe."""

    recipe: Path
    url: str | None = None
    jobs: int | None = None
    output: Path | None = None
    limit: int | None = None
    is_fresh: bool = False


def changed(made: Recipe, options: RecipeOptions) -> Recipe:
    """Return the recipe with the command line's changes.

    Args:
        made: The recipe.
        options: The command's arguments.

    Raises:
        BadRequestError: A number is below 1.
    """
    for name, value in (("--jobs", options.jobs), ("--limit", options.limit)):
        if value is not None and value < 1:
            raise BadRequestError(f"{name}: must be at least 1")
    changes: dict[str, Any] = {}
    if options.url is not None or options.jobs is not None:
        if options.url is not None and options.jobs is not None:
            raise BadRequestError("--jobs applies to grading on this machine; remove it or --url")
        changes["judge"] = made.judge.model_copy(update={"url": options.url or "", "slots": options.jobs or 0})
    if options.output is not None:
        changes["output"] = str(options.output)
    if options.limit is not None:
        changes["sources"] = [each.model_copy(update={"limit": options.limit}) for each in made.sources]
    return made.model_copy(update=changes)


def opened_judge(made: Recipe, settings: Settings) -> tuple[AbstractAsyncContextManager[Judge], int]:
    """Return the judge and the number of problems to work on at once. Raise ConfigurationError."""
    if made.judge.url:
        at_once = made.judge.in_flight or PROBLEMS_AT_SERVICE
        return remote_judge(remote_grading.checked_url(made.judge.url)), at_once
    os.environ.setdefault(f"{PREFIX}LOG_LEVEL", "warning")  # slots log their start and end only in a service
    preflight.require(settings)
    here = settings.model_copy(update={"slots": made.judge.slots})
    return local_judge(here), made.judge.in_flight or PER_SLOT * here.slot_count


def opened_model(wanted: Endpoint | None, say: Callable[[str], None]) -> AbstractAsyncContextManager[Model | None]:
    """Return the model that a recipe names, if it names one.

    Args:
        wanted: The endpoint and the sampling.
        say: Called with a message when the endpoint becomes unavailable, and when it is back.

    Raises:
        ConfigurationError: The address is none.
    """
    if wanted is None or not wanted.url:
        return nullcontext()
    return Model(wanted, os.environ.get(wanted.key_variable, "").strip(), say)


async def check_judge(ready: Judge) -> None:
    """Check that the judge accepts a right program, so that its own failure is not blamed on a problem."""
    shared = {"tests": [{"type": "stdin", "output": "1"}]}
    [grade] = await ready.grade(shared, [{"code": "print(1)"}])
    if grade.verdict != "AC":
        raise ConfigurationError(
            f"the judge's verdict on print(1) is {grade.verdict}: {grade.failure_reason or grade.message}"
        )


def how_many(made: Recipe) -> int | None:
    """Return the number of rows if it is known without reading them, as for files of lines; otherwise None."""
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


def require_rows(read: int) -> None:
    """Check that the sources of a recipe had a row.

    Args:
        read: Rows that were read, malformed ones too.

    Raises:
        ConfigurationError: There was none.
    """
    if not read:
        raise ConfigurationError("the sources have no rows: see `path` of each source in the recipe, and --limit")


def in_words(per_second: float) -> str:
    """Return a rate in the unit in which it is at least about one.

    Args:
        per_second: Problems per second.
    """
    for unit, seconds in (("s", 1), ("min", 60)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:.1f}/{unit}"
    return f"{per_second * 3600:.1f}/h"


class _Rate(ProgressColumn):
    """A column with problems per second."""

    def render(self, task: Task) -> Text:
        """Implements ProgressColumn."""
        speed = task.finished_speed or task.speed
        return Text(in_words(speed) if speed else "")


class RecipeProgress:
    """Shows progress: a bar on a terminal, otherwise an occasional line."""

    def __init__(self, doing: str, total: int | None) -> None:
        """Show nothing yet.

        Args:
            doing: Words beside the bar.
            total: The number of rows, if it is known.
        """
        self._console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[summary]}"),
        )
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._bar.add_task(doing, total=total, summary="")
        self._total = total
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> RecipeProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def take(self, read: int, summary: str) -> None:
        """Show progress after another problem.

        Args:
            read: Rows that are done.
            summary: Words about them.
        """
        self._bar.update(self._task, completed=read, summary=summary)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._said >= LINE_SECONDS:
            self._said = now
            print(f"{read}{self._of(read, now - self._begin)}: {summary}", file=sys.stderr, flush=True)

    def say(self, words: str) -> None:
        """Print these words above the bar."""
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)

    def _of(self, read: int, seconds: float) -> str:
        """Return the total, the rate and the remaining time."""
        rate = read / seconds
        if self._total is None:
            return f" problems, {in_words(rate)}"
        return f" of {self._total} problems, {in_words(rate)}, {(self._total - read) / rate / 60:.0f} min left"
