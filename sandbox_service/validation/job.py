"""Runs a recipe: judges the problems of a data set as a stream, in order, and resumes from a journal.

A few problems are in flight at a time, and the journal keeps each record at once. Duplicates are decided in the order
of the input, whichever problem is finished first, so the result depends only on the data. Lines are written in the same
order. Output files get their names when the run is complete.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.formats.problem import Problem
from sandbox_service.validation import (
    checker_writer,
    difficulty,
    evidence,
    manifest,
    preparation,
    record,
    report,
    sampler,
    sources,
)
from sandbox_service.validation.checker_writer import CheckerWriter
from sandbox_service.validation.difficulty import Results, Samples, Tally
from sandbox_service.validation.duplicates import Index
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding, quarantine_causes, read, reported
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.known_checkers import KnownCheckers
from sandbox_service.validation.model import Completer
from sandbox_service.validation.output import Output, plain
from sandbox_service.validation.recipe import Recipe, Source
from sandbox_service.validation.record import Record
from sandbox_service.validation.sampler import Sampler
from sandbox_service.validation.sources import Malformed
from sandbox_service.validation.totals import Totals

CLEAN, QUARANTINE, DIFFICULTY = "clean.jsonl", "quarantine.jsonl", "difficulty.jsonl"
JOURNAL, SAMPLES, CHECKERS = "journal.jsonl", "samples.jsonl", "checkers.jsonl"
MANIFEST, REPORT = "manifest.json", "report.html"
WINDOW = 4  # problems that wait to be written, for each that is being judged

Rows = Callable[[Source], Iterator[Problem | Malformed]]


@dataclass(frozen=True, slots=True)
class _Item:
    """A row that is being judged, in its place in the input."""

    row: Problem | Malformed | str  # str: left out, and why
    findings: tuple[Finding, ...] = ()
    judging: asyncio.Task[Record] | None = None

    @property
    def is_ready(self) -> bool:
        """True if it can be decided without waiting."""
        return self.judging is None or self.judging.done()


@dataclass(frozen=True, slots=True)
class _Decided:
    """A row with its findings; the difficulty of a clean problem may still be pending."""

    row: Problem | Malformed | str
    known: Record | None = None
    findings: Sequence[Finding] = ()
    causes: Sequence[Finding] = ()
    asking: asyncio.Task[Tally] | None = None

    @property
    def is_ready(self) -> bool:
        """True if it can be written without waiting."""
        return self.asking is None or self.asking.done()


def rows_of(source: Source) -> Iterator[Problem | Malformed]:
    """Yield the problems of a source, with the source's licence where a problem has none.

    Raises:
        ConfigurationError: The source cannot be read.
    """
    found = sources.read(
        source.path, source.reader, split=source.split, revision=source.revision, options=source.options
    )
    for count, row in enumerate(found, 1):
        if isinstance(row, Problem) and source.licence and not row.licence:
            yield row.model_copy(update={"licence": source.licence})
        else:
            yield row
        if count == source.limit:
            return


class Job:
    """One run of a recipe.

    Args:
        recipe: What to validate.
        judge: Grades the programs.
        at_once: Problems that are judged concurrently.
        show: Called with the totals after every problem.
        rows: Reads a source.
        model: Completes prompts; needed if the recipe measures difficulty with a model.
        checker_model: Writes checkers; needed if the recipe names such a model.

    Raises:
        ConfigurationError: the recipe's checker programs cannot be read.
    """

    def __init__(
        self,
        recipe: Recipe,
        judge: Judge,
        at_once: int,
        show: Callable[[Totals], None],
        rows: Rows = rows_of,
        model: Completer | None = None,
        checker_model: Completer | None = None,
    ) -> None:
        self._recipe = recipe
        self._judge = judge
        self._model = model
        self._checker_model = checker_model
        self._writer: CheckerWriter | None = None
        self._judging_limit = asyncio.Semaphore(at_once)
        self._window = WINDOW * at_once
        self._most_decided = max(self._window, _samples_in_flight(recipe))
        self._show = show
        self._rows = rows
        self._waiting: deque[_Item] = deque()
        self._decided: deque[_Decided] = deque()
        self._pending: dict[str, asyncio.Task[Record]] = {}
        self._seen = Index(recipe.thresholds.similarity, recipe.thresholds.shingle_words)
        self._evaluation = Index(recipe.thresholds.evaluation_similarity, recipe.thresholds.shingle_words, signs=False)
        self._checkers = KnownCheckers.read(recipe.checker.programs)
        self._ids: set[str] = set()
        self._results: Results | None = None
        self._samples: Samples | None = None
        self._judged_now = 0
        self.totals = Totals()

    async def run(self) -> dict[str, Any]:
        """Validate all problems and write the output files.

        Returns:
            The manifest.

        Raises:
            ConfigurationError: The recipe or its data cannot be read.
            UnavailableError: The judge or the model stayed away for too long.
        """
        begin = time.monotonic()
        folder, wanted = self._recipe.folder, self._recipe.difficulty
        if wanted is not None and wanted.results:
            self._results = Results(Path(wanted.results))
        self._index_evaluation()
        with ExitStack() as stack:
            journal = stack.enter_context(Journal(folder / JOURNAL, self._recipe.fingerprint))
            if wanted is not None and wanted.url:
                assert self._model is not None, "a recipe with difficulty.url needs a model"
                asked = stack.enter_context(Journal(folder / SAMPLES, sampler.FORM))
                self._samples = Samples(wanted, Sampler(wanted, self._model, asked), self._judge, journal)
            if (writer := self._recipe.checker.writer) is not None:
                assert self._checker_model is not None, "a recipe with checker.writer needs a model"
                written = stack.enter_context(Journal(folder / CHECKERS, sampler.FORM))
                asking = Sampler(writer, self._checker_model, written)
                self._writer = CheckerWriter(writer, asking, self._judge, self._recipe)
            output = stack.enter_context(Output(folder, (CLEAN, QUARANTINE, *([DIFFICULTY] if self._samples else []))))
            try:
                await self._stream(journal, output)
            finally:
                await self._stop()
        made = manifest.make(self._recipe, self.totals, output.paths, self._run(time.monotonic() - begin))
        manifest.write(folder / MANIFEST, made)
        report.write(folder / REPORT, self._recipe, self.totals, made)
        return made

    async def _stream(self, journal: Journal, output: Output) -> None:
        other: dict[str, Problem] = {}  # by language: the last problem that has a solution
        for source in self._recipe.sources:
            for row in self._rows(source):
                self._waiting.append(self._item(row, journal, other))
                await asyncio.sleep(0)  # reading never waits: let the judge run
                while len(self._waiting) >= self._window or _is_ready(self._waiting):
                    await self._step(output)
        while self._waiting:
            await self._step(output)
        while self._decided:
            await self._write(self._decided.popleft(), output)

    async def _step(self, output: Output) -> None:
        """Decide the next row, and write the rows that are complete."""
        self._decided.append(await self._decide(self._waiting.popleft()))
        while len(self._decided) >= self._most_decided or _is_ready(self._decided):
            await self._write(self._decided.popleft(), output)

    async def _stop(self) -> None:
        """Cancel all tasks and retrieve their exceptions, which nothing else awaits."""
        tasks: list[asyncio.Task[Any]] = [each.judging for each in self._waiting if each.judging]
        tasks += [each.asking for each in self._decided if each.asking]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._samples is not None:
            await self._samples.stop()

    # --- in

    def _item(self, row: Problem | Malformed, journal: Journal, other: dict[str, Problem]) -> _Item:
        if isinstance(row, Malformed):
            return _Item(row)
        problem = self._checkers.applied(self._with_result(row))
        if (reason := preparation.left_out(problem, self._recipe.filters)) is not None:
            return _Item(reason)
        problem, findings = preparation.prepared(problem, self._recipe.filters)
        task = self._task(problem, journal, other.get(problem.language))
        if problem.references:
            other[problem.language] = problem
        return _Item(problem, tuple(findings), task)

    def _with_result(self, problem: Problem) -> Problem:
        """Set the difficulty from the results file, since the recipe's filters may use it."""
        known = self._results.of(problem.id).difficulty if self._results else None
        return problem if known is None else problem.model_copy(update={"difficulty": known})

    def _task(self, problem: Problem, journal: Journal, other: Problem | None) -> asyncio.Task[Record]:
        """The task that judges this content; equal problems share one."""
        key = record.key_of(problem)
        if key not in self._pending:
            task = asyncio.create_task(self._judge_once(key, problem, journal, other))
            task.add_done_callback(lambda _: self._pending.pop(key, None))
            self._pending[key] = task
        return self._pending[key]

    async def _judge_once(self, key: str, problem: Problem, journal: Journal, other: Problem | None) -> Record:
        known = journal.get(key)
        if known is not None:
            return known
        async with self._judging_limit:
            made = await self._judged(problem, other)
        self._judged_now += 1
        if record.is_final(made):
            journal.put(key, made)
        return made

    async def _judged(self, problem: Problem, other: Problem | None) -> Record:
        """The record of a problem; with a checker that a model writes, if it needs one and one is confirmed."""
        found = await self._evidence(problem, other)
        made = record.make(problem, found, self._recipe)
        writer = self._recipe.checker.writer
        if self._writer is None or writer is None:
            return made
        if not checker_writer.is_wanted(problem, found, read(made["findings"]), self._recipe):
            return made
        written = await self._writer.write(problem, other, found)
        return made if written is None else record.make(*written, self._recipe, writer.model)

    async def _evidence(self, problem: Problem, other: Problem | None) -> Evidence:
        if problem.tests is None:
            return Evidence(refusal="it names a suite: validation needs the tests themselves")
        return await evidence.gather(problem, other, self._judge, self._recipe.thresholds)

    # --- among the others

    async def _decide(self, item: _Item) -> _Decided:
        """Decide whether a problem is clean, in its turn, and start to measure the difficulty of a clean one."""
        if not isinstance(item.row, Problem):
            return _Decided(item.row)
        assert item.judging is not None
        problem, known = item.row, await item.judging
        found = [*item.findings, *read(known["findings"]), *self._compared(problem)]
        if known["other"] not in self._ids:
            found = [each for each in found if each.name != "twin"]
        findings, causes = reported(found, self._recipe.severity), quarantine_causes(found, self._recipe.severity)
        if causes:
            return _Decided(problem, known, findings, causes)
        self._ids.add(problem.id)
        self._seen.add(problem)
        sampling = self._start_sampling(record.with_measured_limits(problem, known))
        return _Decided(problem, known, findings, asking=sampling)

    def _start_sampling(self, problem: Problem) -> asyncio.Task[Tally] | None:
        """Start to measure the difficulty of a clean problem, if the recipe wants that."""
        source = self._samples or self._results
        return asyncio.create_task(source.tally(problem)) if source else None

    def _compared(self, problem: Problem) -> Iterator[Finding]:
        if problem.id in self._ids:
            yield Finding("same_id", f"the id {problem.id} is that of an earlier problem")
        if (likeness := self._evaluation.find(problem)) is not None:
            yield Finding("contaminated", likeness.reason())
        if (likeness := self._seen.find(problem)) is not None:
            yield Finding("duplicate", likeness.reason())

    def _index_evaluation(self) -> None:
        for source in self._recipe.evaluation:
            for row in self._rows(source):
                if isinstance(row, Problem):
                    self._evaluation.add(row)

    # --- out

    async def _write(self, decided: _Decided, output: Output) -> None:
        """Write a row to the file where it belongs."""
        row = decided.row
        if isinstance(row, str):
            self.totals.take_left_out(row)
        elif isinstance(row, Malformed):
            finding = Finding("malformed", row.reason)
            self.totals.take_malformed(row.place, row.reason, [finding])
            output.put(QUARANTINE, {"id": row.place, "findings": [finding.line()], "row": row.row})
        elif decided.causes:
            assert decided.known is not None
            self.totals.take(row, decided.known, decided.findings, decided.causes)
            found = [each.line() for each in decided.findings]
            output.put(QUARANTINE, {"id": row.id, "findings": found, "problem": plain(row)})
        else:
            await self._write_clean(row, decided, output)
        self._show(self.totals)

    async def _write_clean(self, problem: Problem, decided: _Decided, output: Output) -> None:
        """Write a clean problem unless its difficulty is outside the recipe's bounds."""
        assert decided.known is not None
        reason = None
        if decided.asking is not None:
            problem, reason = self._measured(problem, await decided.asking, output)
        if reason is not None:
            self.totals.take_unwanted(problem, decided.known, reason)
            return
        self.totals.take(problem, decided.known, decided.findings, ())
        output.put(CLEAN, plain(record.with_measured_limits(problem, decided.known)))

    def _measured(self, problem: Problem, tally: Tally, output: Output) -> tuple[Problem, str | None]:
        """The problem with its difficulty, and the reason if it is left out."""
        assert self._recipe.difficulty is not None
        reason = difficulty.unwanted(tally, self._recipe.difficulty)
        self.totals.take_tally(problem.id, tally, is_kept=reason is None)
        if tally.difficulty is None:
            return problem, None
        if self._samples is not None:
            output.put(DIFFICULTY, tally.line(problem.id))
        return problem.model_copy(update={"difficulty": tally.difficulty}), reason

    def _run(self, seconds: float) -> dict[str, Any]:
        rate = self._judged_now / seconds if seconds else 0.0
        said = {"seconds": round(seconds, 3), "judged_now": self._judged_now, "problems_per_second": round(rate, 3)}
        if self._samples is not None:
            said |= {"asked_now": self._samples.asked_now, "graded_now": self._samples.graded_now}
        return said


def _is_ready(queue: deque[_Item] | deque[_Decided]) -> bool:
    """Return True if the first of the queue is complete."""
    return bool(queue) and queue[0].is_ready


def _samples_in_flight(recipe: Recipe) -> int:
    """Problems in flight that keep the recipe's number of completion requests busy, though some take longer."""
    wanted = recipe.difficulty
    return 2 * (wanted.concurrency // wanted.samples + 1) if wanted and wanted.url else 0
