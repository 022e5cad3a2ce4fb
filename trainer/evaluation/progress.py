"""How far an evaluation is: bars on a terminal, now and then a line where nobody looks on."""

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
    """The one that all is told on: a bar and a line between do not get in each other's way."""
    return Console(stderr=True)


class Progress:
    """Of so many samples in all."""

    def __init__(self, total: int, has_sampling: bool, has_grading: bool = True) -> None:
        self._console = console()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Bars(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        names = [name for name, is_there in (("sampled", has_sampling), ("graded", has_grading)) if is_there]
        self._tasks = {name: self._bars.add_task(name, total=total) for name in names}
        self._counts = dict.fromkeys(names, 0)
        self._total = total
        self._said = time.monotonic()

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def sampled(self) -> None:
        """One more."""
        self._count("sampled")

    def graded(self) -> None:
        """One more."""
        self._count("graded")

    def _count(self, name: str) -> None:
        self._counts[name] += 1
        self._bars.advance(self._tasks[name])
        if not self._console.is_terminal and time.monotonic() - self._said > LINE_SECONDS:
            self._said = time.monotonic()
            said = " · ".join(f"{count} {each}" for each, count in self._counts.items())
            self._console.print(f"{said} of {self._total}", markup=False, highlight=False)
