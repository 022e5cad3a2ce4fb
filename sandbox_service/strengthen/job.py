"""Strengthens the problems of a recipe as a stream, in order, and resumes from a journal.

The journal has each batch of verdicts as it comes, and each problem when it is complete. All lines are written in the
order of the input, and files get their names when the run is complete.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.strengthen import manifest, report, work
from sandbox_service.strengthen.records import Record
from sandbox_service.strengthen.runs import Headers, NotJudgedError, Runner, no_headers
from sandbox_service.strengthen.totals import Totals
from sandbox_service.validation import manifest as manifests
from sandbox_service.validation import preparation, record, sampler
from sandbox_service.validation.job import Rows, rows_of
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.model import Completer
from sandbox_service.validation.output import Output, plain
from sandbox_service.validation.recipe import Recipe
from sandbox_service.validation.sampler import Sampler
from sandbox_service.validation.sources import Malformed

CLEAN, QUARANTINE = "clean.jsonl", "quarantine.jsonl"
JOURNAL, MANIFEST, REPORT = "journal.jsonl", "manifest.json", "report.html"
COMPLETIONS = "completions.jsonl"  # of the model that writes generators
FORM = 10  # of the journal's records and of the way in which inputs are made
WINDOW = 4  # problems that wait to be written, for each that is in work


def folder_of(recipe: Recipe) -> Path:
    """Return the output folder."""
    return Path(recipe.output or f"strengthened/{recipe.name}")


def fingerprint_of(recipe: Recipe) -> str:
    """Return a hash of the settings that affect the records of problems."""
    endpoint = {"url", "concurrency", "patience_seconds", "key_variable"}
    text = recipe.model_dump_json(
        include={"strengthen", "thresholds"}, exclude={"strengthen": {"generators": endpoint}}
    )
    return f"sha256:{hashlib.sha256(f'{FORM} {text}'.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Item:
    """A row in its place in the input; str: left out, and why."""

    row: Problem | Malformed | str
    task: asyncio.Task[Record | str] | None = None

    @property
    def is_ready(self) -> bool:
        return self.task is None or self.task.done()


class Job:
    """One run of a recipe.

    Args:
        recipe: What to strengthen.
        judge: Grades the programs.
        at_once: Problems that are in work at the same time.
        show: Called with the totals after every problem.
        rows: Reads a source.
        model: Completes prompts; needed if the recipe has generators.
        headers: Finds the headers that validators include.
    """

    def __init__(
        self,
        recipe: Recipe,
        judge: Judge,
        at_once: int,
        show: Callable[[Totals], None],
        rows: Rows = rows_of,
        model: Completer | None = None,
        headers: Headers = no_headers,
    ) -> None:
        self._recipe, self._judge, self._show, self._rows = recipe, judge, show, rows
        self._model, self._headers = model, headers
        self._sampler: Sampler | None = None
        self._in_work = asyncio.Semaphore(at_once)
        self._window = WINDOW * at_once
        self._waiting: deque[_Item] = deque()
        self._judged_now = 0
        self.totals = Totals()

    async def run(self) -> dict[str, Any]:
        """Strengthen all problems and write the output files.

        Returns:
            The manifest.

        Raises:
            ConfigurationError: The recipe or its data cannot be read.
            UnavailableError: The judge stayed away for too long.
        """
        begin, folder = time.monotonic(), folder_of(self._recipe)
        with ExitStack() as stack:
            journal = stack.enter_context(Journal(folder / JOURNAL, fingerprint_of(self._recipe)))
            if self._recipe.strengthen.generators is not None:
                assert self._model is not None, "a recipe with generators needs a model"
                asked = stack.enter_context(Journal(folder / COMPLETIONS, sampler.FORM))
                self._sampler = Sampler(self._recipe.strengthen.generators, self._model, asked)
            output = stack.enter_context(Output(folder, (CLEAN, QUARANTINE)))
            try:
                await self._stream(journal, output)
            finally:
                await self._stop()
        run = {"seconds": round(time.monotonic() - begin, 3), "judged_now": self._judged_now}
        if self._sampler is not None:
            run["asked_now"] = self._sampler.asked_now
        made = manifest.make(self._recipe, self.totals, output.paths, run)
        manifests.write(folder / MANIFEST, made)
        report.write(folder / REPORT, self._recipe, self.totals, made)
        return made

    async def _stream(self, journal: Journal, output: Output) -> None:
        for source in self._recipe.sources:
            for row in self._rows(source):
                self._waiting.append(self._item(row, journal))
                await asyncio.sleep(0)  # reading never waits: let the judge run
                while len(self._waiting) >= self._window or (self._waiting and self._waiting[0].is_ready):
                    await self._write(self._waiting.popleft(), output)
        while self._waiting:
            await self._write(self._waiting.popleft(), output)

    async def _stop(self) -> None:
        """Cancel all tasks and retrieve their exceptions, which nothing else awaits."""
        tasks = [each.task for each in self._waiting if each.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._sampler is not None:
            await self._sampler.stop()

    def _item(self, row: Problem | Malformed, journal: Journal) -> _Item:
        if isinstance(row, Malformed):
            return _Item(row)
        if (reason := preparation.left_out(row, self._recipe.filters)) is not None:
            return _Item(reason)
        problem, _ = preparation.prepared(row, self._recipe.filters)
        return _Item(problem, asyncio.create_task(self._record(problem, journal)))

    async def _record(self, problem: Problem, journal: Journal) -> Record | str:
        """The record of a problem, or why it is not judged."""
        key = f"problem {record.key_of(problem)}"
        async with self._in_work:
            known = journal.get(key)
            if known is not None:
                return known
            runner = Runner(problem, self._judge, journal, self._headers)
            try:
                made = await work.strengthen(runner, self._recipe, self._sampler)
            except NotJudgedError as error:
                return str(error)
            finally:
                self._judged_now += runner.judged_now
            journal.put(key, made)
            return made

    async def _write(self, item: _Item, output: Output) -> None:
        """Write a row to the file where it belongs."""
        row = item.row
        if isinstance(row, str):
            self.totals.take_left_out(row)
        elif isinstance(row, Malformed):
            self.totals.take_malformed()
            finding = {"name": "malformed", "reason": row.reason}
            output.put(QUARANTINE, {"id": row.place, "findings": [finding], "row": row.row})
        else:
            assert item.task is not None
            found = await item.task
            if isinstance(found, str):
                self.totals.take_not_judged(row.id, found)
                output.put(CLEAN, plain(row))
            else:
                self.totals.take(row.id, found)
                output.put(CLEAN, plain(work.with_tests(row, found)))
        self._show(self.totals)
