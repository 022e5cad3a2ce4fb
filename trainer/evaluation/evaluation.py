"""One evaluation, from problems to figures: what is missing is sampled and graded at the same time, then all is told.

In its folder: problems.jsonl, samples.jsonl, verdicts.jsonl, vllm.log; and of what they come to results.jsonl,
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
from trainer.errors import ConfigError, TooManyFaults
from trainer.evaluation import grading, page, samples, standings
from trainer.evaluation.endpoint import described
from trainer.evaluation.generation import Draw, checked, generate
from trainer.evaluation.grading import VERDICTS, Grading
from trainer.evaluation.journal import replaced
from trainer.evaluation.models import Model, served
from trainer.evaluation.options import Plan
from trainer.evaluation.progress import Progress
from trainer.evaluation.rating import Rating, rate
from trainer.evaluation.results import Result, Results, fault_share, summary
from trainer.evaluation.samples import SAMPLES, Sample
from trainer.evaluation.together import Feed, tasks

RESULTS, SUMMARY, PAGE = "results.jsonl", "summary.json", "page.html"

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Evaluation:
    """Of one model, or of samples that somebody has drawn. `known`: what its summary says besides, such as its step."""

    plan: Plan
    problems: Problems
    folder: Path
    model: Model | None
    known: Mapping[str, Any]
    notice: Notice

    async def run(self) -> dict[str, Any] | None:
        """The summary; None if there was only to be sampled. Raises TrainerError: to be begun again as it is."""
        if self.plan.mode == "generate":
            with self._progress(graded=False) as progress:
                await self._generate(lambda _: progress.sampled())
            return None
        if self.model is None:
            await self._grade_only()
        else:
            await self._both()
        return await asyncio.to_thread(self._tell)

    # --- samples and verdicts

    async def _both(self) -> None:
        """Each sample is graded as soon as it is there."""
        feed = Feed[Sample]()
        with self._progress() as progress:
            judging = self._grading(progress)
            for sample in self._wanted(checked(self._samples, self._draw)):
                feed.put_nowait(sample)

            def take(sample: Sample) -> None:
                progress.sampled()
                feed.put_nowait(sample)

            async with tasks() as group:
                group.create_task(judging.run(feed))
                await self._generate(take)
                feed.end()

    async def _grade_only(self) -> None:
        feed = Feed[Sample]()
        for sample in self._wanted(samples.read(self._samples)):
            feed.put_nowait(sample)
        feed.end()
        with self._progress() as progress:
            await self._grading(progress).run(feed)

    async def _generate(self, take: Callable[[Sample], None]) -> None:
        """A server is only started if there is something to ask."""
        model, plan = self.model, self.plan
        assert model is not None
        there = sum(1 for _ in self._wanted(checked(self._samples, self._draw)))
        if there == len(self.problems) * self._draw.n:
            return
        async with served(model, plan.sampling, self.folder, self.notice, plan.format == "plain") as endpoint:
            draw = replace(self._draw, model=self._draw.model or endpoint.model)
            await generate(self.problems, endpoint, draw, self._samples, take)

    def _grading(self, progress: Progress) -> Grading:
        return Grading(self.problems, self.plan.judge, self.folder / VERDICTS, self.notice, lambda _: progress.graded())

    def _wanted(self, found: Iterator[Sample]) -> Iterator[Sample]:
        """Those that are asked for, each once."""
        seen: set[tuple[str, int]] = set()
        for sample in found:
            if sample.sample < self._n and sample.problem in self._ids and sample.key not in seen:
                seen.add(sample.key)
                yield sample

    @cached_property
    def _draw(self) -> Draw:
        plan, model = self.plan, self.model
        assert model is not None
        return Draw(
            model=_name(model),
            weights=model.fingerprint,
            sampling=plan.sampling,
            described=described(plan.sampling, plan.format == "plain", plan.system),
            system=plan.system,
            n=plan.n or 1,
            concurrency=plan.concurrency,
        )

    @property
    def _samples(self) -> Path:
        return self.plan.samples or self.folder / SAMPLES

    @cached_property
    def _n(self) -> int:
        """As many as were asked for; of samples from elsewhere, as many as there are."""
        if self.plan.n:
            return self.plan.n
        return 1 + max((sample.sample for sample in samples.read(self._samples)), default=0)

    # --- figures

    def _tell(self) -> dict[str, Any]:
        """Write down what it all comes to. Raises TooManyFaults: then there is no summary, and the rest is kept."""
        results = self._results()
        ks = sorted({k for k in self.plan.k or (1, results.n) if k <= results.n})
        if too_many := sorted(set(self.plan.k or ()) - set(ks)):
            self.notice(f"no pass@{too_many[0]}: there are {results.n} samples of a problem")
        if not any(each.n or each.faults for each in results.all):
            raise ConfigError(f"{self._samples}: no sample is of these problems")
        rating = self._rating(results.all)
        told = {**self.known, **self._drawn(), **summary(results, ks), "rating": rating.plain() if rating else None}
        lines = [each.plain(ks) for each in results.all]
        with replaced(self.folder / RESULTS) as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        with replaced(self.folder / PAGE) as file:
            file.write(page.render(str(told.get("name", "evaluation")), told, lines))
        if (share := fault_share(results)) > self.plan.judge.max_fault_share:
            raise TooManyFaults(
                f"the reward service could not tell whether {share:.1%} of the samples pass, more than "
                f"{self.plan.judge.max_fault_share:.1%} (--max-fault-share): {self.folder / VERDICTS} says why. "
                "The same command asks about these again"
            )
        with replaced(self.folder / SUMMARY) as file:
            file.write(json.dumps(told, indent=2) + "\n")
        return told

    def _results(self) -> Results:
        verdicts = grading.read(self.folder / VERDICTS)
        results = Results((self.problems.by_id(spot.id) for spot in self.problems.spots), self._n)
        for sample in samples.read(self._samples):
            results.add(sample, verdicts.get(sample.key))
        return results

    def _drawn(self) -> dict[str, Any]:
        """Of which model the samples are, and how they were drawn, if they say so."""
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
    """What its samples are known by; of one at a URL only he who serves it knows: servers move."""
    if model.is_url:
        return model.served_name
    return str(Path(model.name).resolve()) if Path(model.name).is_dir() else model.name
