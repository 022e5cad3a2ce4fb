"""Runs one evaluation: makes and grades missing samples, concurrently, then writes the figures.

Files in its folder: problems.jsonl, samples.jsonl, verdicts.jsonl and vllm.log; computed from these: results.jsonl,
summary.json and page.html.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from trainer.data import Problems
from trainer.errors import ConfigError, TooManyFaultsError
from trainer.evaluation import grading, page, samples, standings
from trainer.evaluation.concurrency import ClosableQueue, task_group
from trainer.evaluation.endpoint import describe_sampling
from trainer.evaluation.generation import SamplingRun, generate, read_compatible
from trainer.evaluation.grading import VERDICTS, Grading
from trainer.evaluation.jsonl import atomic_write
from trainer.evaluation.models import Model, served
from trainer.evaluation.options import Plan
from trainer.evaluation.progress import Progress
from trainer.evaluation.rating import Rating, rate
from trainer.evaluation.results import Result, Results, fault_share, summary
from trainer.evaluation.samples import SAMPLES, Sample
from trainer.evaluation.selection import ANSWERS, Selection

RESULTS, SUMMARY, PAGE = "results.jsonl", "summary.json", "page.html"

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of a model, or of given samples. `known`: further fields of the summary, such as the step."""

    plan: Plan
    problems: Problems
    folder: Path
    model: Model | None
    known: Mapping[str, Any]
    notice: Notice

    async def run(self) -> dict[str, Any] | None:
        """Run or continue the evaluation.

        Returns:
            The summary; None if only samples were requested.

        Raises:
            TrainerError: The evaluation failed. The same command continues it.
        """
        if self.plan.mode == "generate":
            with self._progress(graded=False) as progress:
                await self._generate(lambda _: progress.sampled())
            return None
        if self.model is None:
            await self._grade_only()
        else:
            await self._both()
        if self._selection:
            wanted = list(self._wanted(samples.read(self._samples)))
            await self._selection.grade(self.problems, wanted, self.plan.judge, self.notice)
        return await asyncio.to_thread(self._write_results)

    # --- samples and verdicts

    async def _both(self) -> None:
        """Sample and grade; each sample is graded as soon as it is finished."""
        feed = ClosableQueue[Sample]()
        with self._progress() as progress:
            judging = self._grading(progress)
            for sample in self._wanted(read_compatible(self._samples, self._draw)):
                feed.put_nowait(sample)

            def take(sample: Sample) -> None:
                progress.sampled()
                feed.put_nowait(sample)

            async with task_group() as group:
                group.create_task(judging.run(feed))
                await self._generate(take)
                feed.end()

    async def _grade_only(self) -> None:
        feed = ClosableQueue[Sample]()
        for sample in self._wanted(samples.read(self._samples)):
            feed.put_nowait(sample)
        feed.end()
        with self._progress() as progress:
            await self._grading(progress).run(feed)

    async def _generate(self, take: Callable[[Sample], None]) -> None:
        """Make missing samples. A server is started only if some are missing."""
        model, plan = self.model, self.plan
        assert model is not None
        there = sum(1 for _ in self._wanted(read_compatible(self._samples, self._draw)))
        if there == len(self.problems) * self._draw.n and not (self._selection and not self._has_answers()):
            return
        async with served(model, plan.sampling, self.folder, self.notice, plan.format == "plain") as endpoint:
            draw = replace(self._draw, model=self._draw.model or endpoint.model)
            await generate(self.problems, endpoint, draw, self._samples, take)
            if self._selection:
                questions, testing = self._selection.questions(self.problems), replace(draw, n=plan.testers)
                await generate(questions, endpoint, testing, self._selection.answers)

    def _has_answers(self) -> bool:
        """Return whether the testers have answered for all problems."""
        draw, ids = replace(self._draw, n=self.plan.testers), self._ids
        found = read_compatible(self.folder / ANSWERS, draw)
        keys = {each.key for each in found if each.problem in ids and each.sample < draw.n}
        return len(keys) == len(self.problems) * draw.n

    def _grading(self, progress: Progress) -> Grading:
        return Grading(self.problems, self.plan.judge, self.folder / VERDICTS, self.notice, lambda _: progress.graded())

    def _wanted(self, found: Iterator[Sample]) -> Iterator[Sample]:
        """Yield the requested samples, each once."""
        seen: set[tuple[str, int]] = set()
        for sample in found:
            if sample.sample < self._n and sample.problem in self._ids and sample.key not in seen:
                seen.add(sample.key)
                yield sample

    @cached_property
    def _draw(self) -> SamplingRun:
        plan, model = self.plan, self.model
        assert model is not None
        return SamplingRun(
            model=_name(model),
            weights=model.fingerprint,
            sampling=plan.sampling,
            description=describe_sampling(plan.sampling, plan.format == "plain", plan.system),
            system=plan.system,
            n=plan.n or 1,
            concurrency=plan.concurrency,
        )

    @cached_property
    def _selection(self) -> Selection | None:
        plan = self.plan
        return Selection(self.folder, plan.testers, plan.cases, plan.ask) if plan.testers else None

    @property
    def _samples(self) -> Path:
        return self.plan.samples or self.folder / SAMPLES

    @cached_property
    def _n(self) -> int:
        """The samples per problem: as requested, or for given samples as many as there are."""
        if self.plan.n:
            return self.plan.n
        return 1 + max((sample.sample for sample in samples.read(self._samples)), default=0)

    # --- figures

    def _write_results(self) -> dict[str, Any]:
        """Compute and write all results.

        Returns:
            The summary.

        Raises:
            TooManyFaultsError: Too many samples have no verdict. There is then no summary, and the other files remain.
            ConfigError: No sample belongs to these problems.
        """
        results = self._results()
        ks = sorted({k for k in self.plan.k or (1, results.n) if k <= results.n})
        if too_many := sorted(set(self.plan.k or ()) - set(ks)):
            self.notice(f"no pass@{too_many[0]}: there are {results.n} samples of a problem")
        if not any(each.n or each.faults for each in results.all):
            raise ConfigError(f"{self._samples}: no sample belongs to these problems")
        rating = self._rating(results.all)
        figures = {
            **self.known,
            **self._drawn(),
            **summary(results, ks),
            "rating": rating.plain() if rating else None,
            "selection": self._selection.figures(results.all) if self._selection else None,
        }
        lines = [each.plain(ks) for each in results.all]
        with atomic_write(self.folder / RESULTS) as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        with atomic_write(self.folder / PAGE) as file:
            file.write(page.render(str(figures.get("name", "evaluation")), figures, lines))
        if (share := fault_share(results)) > self.plan.judge.max_fault_share:
            raise TooManyFaultsError(
                f"the reward service returned no verdict for {share:.1%} of the samples, more than "
                f"{self.plan.judge.max_fault_share:.1%} (--max-fault-share): see {self.folder / VERDICTS}. "
                "The same command grades these again"
            )
        with atomic_write(self.folder / SUMMARY) as file:
            file.write(json.dumps(figures, indent=2) + "\n")
        return figures

    def _results(self) -> Results:
        verdicts = grading.read(self.folder / VERDICTS)
        results = Results((self.problems.by_id(spot.id) for spot in self.problems.spots), self._n)
        for sample in samples.read(self._samples):
            results.add(sample, verdicts.get(sample.key))
        return results

    def _drawn(self) -> dict[str, Any]:
        """Return the model and sampling settings recorded in the samples."""
        first = next(samples.read(self._samples), None)
        if first is None or not first.model:
            return {"model": str(self._samples)}
        return {"model": first.model, "weights": first.weights, "sampling": first.sampling}

    def _rating(self, results: list[Result]) -> Rating | None:
        plan = self.plan
        if plan.standings is None:
            return None
        tries: dict[int, dict[str, list[bool | None]]] = {}
        for each in results:
            if contest := each.meta.get("contest"):
                tries.setdefault(int(contest["id"]), {})[str(contest["index"])] = each.right
        if plan.fetch:
            return rate(tries, standings.fetch(plan.standings, tries, plan.api, self.notice))
        return rate(tries, standings.read(plan.standings))

    def _progress(self, graded: bool = True) -> Progress:
        return Progress(len(self.problems) * self._n, self.model is not None, graded)

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(spot.id for spot in self.problems.spots)


def _name(model: Model) -> str:
    """Return the model's name in samples. At a URL it is the served name, because servers move."""
    if model.is_url:
        return model.served_name
    return str(Path(model.name).resolve()) if Path(model.name).is_dir() else model.name
