"""The validation of a data set: problem after problem through the judge, in order out again, and nothing done twice.

Problems stream: a few are in flight, each is judged on its own, and what was found out goes into the journal at once.
The lines are written in the order of the input, whichever problem is finished first; whether one is the duplicate of
another is decided there, so it depends on nothing but the data. Clean lines and quarantine are there when all is done;
until then they have other names.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox_service.errors import ConfigurationError
from sandbox_service.problem import Problem
from sandbox_service.schema import TestCase
from sandbox_service.validation import evidence, manifest, preparation, record, report, sources
from sandbox_service.validation.duplicates import Index
from sandbox_service.validation.evidence import Evidence
from sandbox_service.validation.finding import Finding, condemning, read, told
from sandbox_service.validation.journal import Journal
from sandbox_service.validation.judge import Judge
from sandbox_service.validation.recipe import Recipe, Source
from sandbox_service.validation.record import Record
from sandbox_service.validation.sources import Malformed
from sandbox_service.validation.totals import Totals

CLEAN, QUARANTINE, JOURNAL, MANIFEST, REPORT = (
    "clean.jsonl",
    "quarantine.jsonl",
    "journal.jsonl",
    "manifest.json",
    "report.html",
)
WINDOW = 4  # problems that wait to be written, for each that is being judged

Rows = Callable[[Source], Iterator[Problem | Malformed]]


@dataclass(frozen=True, slots=True)
class _Item:
    """A row on its way, in its place."""

    row: Problem | Malformed | str  # str: left out, and why
    findings: tuple[Finding, ...] = ()
    judging: asyncio.Task[Record] | None = None


def rows_of(source: Source) -> Iterator[Problem | Malformed]:
    """The problems of a source, with its licence. Raises ConfigurationError if it cannot be read."""
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
    """One run of a recipe. `show` is told of every problem that is done."""

    def __init__(
        self, recipe: Recipe, judge: Judge, at_once: int, show: Callable[[Totals], None], rows: Rows = rows_of
    ) -> None:
        self._recipe = recipe
        self._judge = judge
        self._room = asyncio.Semaphore(at_once)
        self._window = WINDOW * at_once
        self._show = show
        self._rows = rows
        self._waiting: deque[_Item] = deque()
        self._pending: dict[str, asyncio.Task[Record]] = {}
        self._seen = Index(recipe.thresholds.similarity, recipe.thresholds.shingle_words)
        self._evaluation = Index(recipe.thresholds.evaluation_similarity, recipe.thresholds.shingle_words, signs=False)
        self._ids: set[str] = set()
        self._difficulties: dict[str, float] = {}
        self._judged_now = 0
        self.totals = Totals()

    async def run(self) -> dict[str, Any]:
        """Validate all; the manifest. Raises ConfigurationError, Unavailable."""
        begin = time.monotonic()
        folder = self._recipe.folder
        self._difficulties = difficulties(self._recipe)
        self._learn_evaluation()
        with ExitStack() as stack:
            journal = stack.enter_context(Journal(folder / JOURNAL, self._recipe.fingerprint))
            output = stack.enter_context(_Output(folder))
            try:
                await self._stream(journal, output)
            finally:
                await self._stop()
        made = manifest.make(self._recipe, self.totals, output.paths, self._run(time.monotonic() - begin))
        manifest.write(folder / MANIFEST, made)
        report.write(folder / REPORT, self._recipe, self.totals, made)
        return made

    async def _stream(self, journal: Journal, output: _Output) -> None:
        other: dict[str, Problem] = {}  # by language: the last problem that has a solution
        for source in self._recipe.sources:
            for row in self._rows(source):
                self._waiting.append(self._item(row, journal, other))
                await asyncio.sleep(0)  # reading never waits, and the judge is to have its turn
                while len(self._waiting) >= self._window or self._is_done():
                    await self._finish(self._waiting.popleft(), output)
        while self._waiting:
            await self._finish(self._waiting.popleft(), output)

    def _is_done(self) -> bool:
        """Whether the next in order can be written."""
        return bool(self._waiting) and (self._waiting[0].judging is None or self._waiting[0].judging.done())

    async def _stop(self) -> None:
        for task in self._pending.values():
            task.cancel()
        await asyncio.gather(*self._pending.values(), return_exceptions=True)

    # --- in

    def _item(self, row: Problem | Malformed, journal: Journal, other: dict[str, Problem]) -> _Item:
        if isinstance(row, Malformed):
            return _Item(row)
        problem = row.model_copy(update={"difficulty": self._difficulties.get(row.id, row.difficulty)})
        if (reason := preparation.left_out(problem, self._recipe.filters)) is not None:
            return _Item(reason)
        problem, findings = preparation.prepared(problem, self._recipe.filters)
        task = self._task(problem, journal, other.get(problem.language))
        if problem.references:
            other[problem.language] = problem
        return _Item(problem, tuple(findings), task)

    def _task(self, problem: Problem, journal: Journal, other: Problem | None) -> asyncio.Task[Record]:
        """The judging of this content, which may have begun already."""
        key = record.key_of(problem)
        if key not in self._pending:
            task = asyncio.create_task(self._judged(key, problem, journal, other))
            task.add_done_callback(lambda _: self._pending.pop(key, None))
            self._pending[key] = task
        return self._pending[key]

    async def _judged(self, key: str, problem: Problem, journal: Journal, other: Problem | None) -> Record:
        known = journal.get(key)
        if known is not None:
            return known
        async with self._room:
            found = await self._evidence(problem, other)
        made = record.make(problem, found, self._recipe)
        self._judged_now += 1
        if record.is_final(made):
            journal.put(key, made)
        return made

    async def _evidence(self, problem: Problem, other: Problem | None) -> Evidence:
        if problem.tests is None:
            return Evidence(refusal="it names a suite: validation needs the tests themselves")
        return await evidence.gather(problem, other, self._judge, self._recipe.thresholds)

    # --- out

    async def _finish(self, item: _Item, output: _Output) -> None:
        """Write one, in its turn."""
        if isinstance(item.row, str):
            self.totals.take_left_out(item.row)
        elif isinstance(item.row, Malformed):
            finding = Finding("malformed", item.row.reason)
            self.totals.take_malformed(item.row.place, item.row.reason, [finding])
            output.quarantine({"id": item.row.place, "findings": [finding.line()], "row": item.row.row})
        else:
            assert item.judging is not None
            self._judge_among_others(item.row, await item.judging, item.findings, output)
        self._show(self.totals)

    def _judge_among_others(
        self, problem: Problem, known: Record, prepared: tuple[Finding, ...], output: _Output
    ) -> None:
        overrides = self._recipe.severity
        found = [*prepared, *read(known["findings"]), *self._compared(problem)]
        if known["other"] not in self._ids:
            found = [each for each in found if each.name != "twin"]
        findings, causes = told(found, overrides), condemning(found, overrides)
        mended = record.mended(problem, known)
        self.totals.take(problem, known, findings, causes)
        if causes:
            output.quarantine(
                {"id": problem.id, "findings": [each.line() for each in findings], "problem": plain(problem)}
            )
            return
        self._ids.add(problem.id)
        self._seen.add(problem)
        output.clean(plain(mended))

    def _compared(self, problem: Problem) -> Iterator[Finding]:
        if problem.id in self._ids:
            yield Finding("same_id", f"the id {problem.id} is that of an earlier problem")
        if (likeness := self._evaluation.find(problem)) is not None:
            yield Finding("contaminated", likeness.reason())
        if (likeness := self._seen.find(problem)) is not None:
            yield Finding("duplicate", likeness.reason())

    def _learn_evaluation(self) -> None:
        for source in self._recipe.evaluation:
            for row in self._rows(source):
                if isinstance(row, Problem):
                    self._evaluation.add(row)

    def _run(self, seconds: float) -> dict[str, Any]:
        rate = self._judged_now / seconds if seconds else 0.0
        return {"seconds": round(seconds, 3), "judged_now": self._judged_now, "problems_per_second": round(rate, 3)}


class _Output:
    """The two files of lines. They have their names when all is in them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.paths = [folder / CLEAN, folder / QUARANTINE]
        self._unfinished = [path.with_name(f".{path.name}.part") for path in self.paths]

    def __enter__(self) -> Self:
        self._files = [path.open("w", encoding="utf-8", errors="backslashreplace") for path in self._unfinished]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            file.close()
        for unfinished, path in zip(self._unfinished, self.paths, strict=True):
            if kind is None:
                unfinished.replace(path)
            else:
                unfinished.unlink()

    def clean(self, line: dict[str, Any]) -> None:
        """A problem that can be used."""
        self._files[0].write(json.dumps(line, ensure_ascii=False) + "\n")

    def quarantine(self, line: dict[str, Any]) -> None:
        """One that should not be, and why."""
        self._files[1].write(json.dumps(line, ensure_ascii=False) + "\n")


def plain(problem: Problem) -> dict[str, Any]:
    """A line of JSON, without what would say nothing. An answer may be null, and every test says its kind."""
    said = problem.model_dump(mode="json")
    for name in ("checker", "limits", "provenance"):
        said[name] = {field: value for field, value in (said[name] or {}).items() if value not in (None, "")}
    said["tests"] = [_plain_test(each) for each in problem.tests or ()]
    return {name: value for name, value in said.items() if value not in (None, "", [], {})}


def _plain_test(test: TestCase) -> dict[str, Any]:
    said = test.model_dump(mode="json")
    defaults = {name: field.get_default(call_default_factory=True) for name, field in type(test).model_fields.items()}
    return {
        name: value for name, value in said.items() if name in ("type", "output", "input") or value != defaults[name]
    }


def difficulties(recipe: Recipe) -> dict[str, float]:
    """By problem: the share of a model's samples that fail. Raises ConfigurationError."""
    if recipe.difficulty is None:
        return {}
    path = Path(recipe.difficulty.results)
    found = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                said = json.loads(line)
                found[str(said["problem"])] = 1.0 - float(said["correct"]) / float(said["n"])
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise ConfigurationError(f"{path}: lines with problem, n and correct are expected: {error!r}") from None
    return found
