"""Progress of an evaluation: bars on a terminal, otherwise a line a minute."""

from __future__ import annotations

import time
from functools import cache
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 60.0


@cache
def console() -> Console:
    """Return the console for all output, so that bars and lines do not interleave."""
    return Console(stderr=True)


class Progress:
    """Counts samples and verdicts of a total."""

    def __init__(self, total: int, has_sampling: bool, has_grading: bool = True) -> None:
        self._console = console()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Bars(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        names = [name for name, is_there in (("sampled", has_sampling), ("graded", has_grading)) if is_there]
        self._tasks = {name: self._bars.add_task(name, total=total) for name in names}
        self._counts = dict.fromkeys(names, 0)
        self._total = total
        self._printed = time.monotonic()

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def sampled(self) -> None:
        """Count a sample."""
        self._count("sampled")

    def graded(self) -> None:
        """Count a verdict."""
        self._count("graded")

    def _count(self, name: str) -> None:
        self._counts[name] += 1
        self._bars.advance(self._tasks[name])
        if not self._console.is_terminal and time.monotonic() - self._printed > LINE_SECONDS:
            self._printed = time.monotonic()
            text = " · ".join(f"{count} {each}" for each, count in self._counts.items())
            self._console.print(f"{text} of {self._total}", markup=False, highlight=False)
