"""Shows the progress of a call: a bar on a terminal if rich is installed, else occasional lines on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Progress = bool | None | Callable[[int, int], object]  # a function gets the count done and the total

LINE_SECONDS = 10.0


@contextmanager
def shown(progress: Progress, total: int) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the count of graded submissions.

    Args:
        progress: True for a bar or lines; a function that gets the count and the total; falsy for nothing.
        total: The number of submissions.
    """
    if not progress:
        yield lambda _: None
    elif callable(progress):
        report = progress
        yield lambda done: report(done, total)
    elif sys.stderr.isatty() and (bar := _rich()) is not None:
        with bar(total) as tell:
            yield tell
    else:
        yield _Lines(total).tell


class _Lines:
    """Prints a line to stderr at most every ten seconds, and one at the end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._said = self._began = time.monotonic()

    def tell(self, done: int) -> None:
        """Print the number that are done if it is time."""
        now = time.monotonic()
        if now - self._said >= LINE_SECONDS or done == self._total:
            self._said = now
            print(f"{done} of {self._total} graded in {now - self._began:.0f} s", file=sys.stderr, flush=True)


def _rich() -> Callable[[int], AbstractContextManager[Callable[[int], object]]] | None:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError:
        return None

    @contextmanager
    def bar(total: int) -> Iterator[Callable[[int], object]]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as made:
            task = made.add_task("grading", total=total)
            yield lambda done: made.update(task, completed=done)

    return bar
