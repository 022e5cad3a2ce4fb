"""How far many submissions are: a bar where somebody looks on and rich is installed, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Progress = bool | None | Callable[[int, int], object]  # who is told how many are done, of how many

LINE_SECONDS = 10.0


@contextmanager
def shown(progress: Progress, total: int) -> Iterator[Callable[[int], object]]:
    """Yields what is to be told how many are done."""
    if not progress:
        yield lambda _: None
    elif callable(progress):
        told = progress
        yield lambda done: told(done, total)
    elif sys.stderr.isatty() and (bar := _rich()) is not None:
        with bar(total) as tell:
            yield tell
    else:
        yield _Lines(total).tell


class _Lines:
    """On stderr, at most one in ten seconds, and one at the end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._said = self._began = time.monotonic()

    def tell(self, done: int) -> None:
        """See `shown`."""
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
