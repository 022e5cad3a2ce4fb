"""Measures in a real browser when the pages of a service with a long history are drawn, and how much is loaded.

    python -m tests.pages.paint
    python -m tests.pages.paint --submissions 1000 --rounds 1

Each page is opened in a browser context of its own, so nothing is cached. `first paint` is the browser's own figure
(first contentful paint); `filled` is when the page's data are in it: the legend of the overview, the first row of a
list. Times are milliseconds from the navigation, the least and the median of all rounds; sizes are those on the wire.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.grading import suites
from sandbox_service.queues.base import Job, job_of
from sandbox_service.schema import Grade, StdinTest, Submission
from tests.browser import Browser, browser
from tests.pages.world import Stage, grade, stage

SUBMISSIONS, ROUNDS, PROBLEMS, GROUP = 100_000, 5, 2000, 16
AT_ONCE = 1000  # answers that are recorded in one turn of the event loop
SEED = 21
VERDICTS = ("AC", "WA", "TLE", "RTE", "CE", "IE")
WEIGHTS = (45, 40, 6, 6, 2, 1)
PAGES = {
    "#overview": ".legend li",
    "#submissions": ".rows tbody tr",
    "#submissions?verdict=IE": ".rows tbody tr",
    "#submissions?q=nothing-has-this": ".list p",
    "#problems": ".problems tbody tr",
    "#playground": ".examples button",
}
"""The pages, and what is there when they are filled."""

NOTE = """
new MutationObserver((_, observer) => {
  const text = document.querySelector(%r)?.textContent;
  if (!text || text.startsWith('Searching')) return;
  window.filled = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true, characterData: true });
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
SIZES = """(() => {
  const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return [all.length, all.reduce((sum, each) => sum + each.transferSize, 0)];
})()"""


@dataclass(frozen=True)
class Look:
    """One opening of a page: milliseconds until it is painted and filled, requests, bytes."""

    painted: float
    filled: float
    requests: int
    bytes: int


def history(count: int) -> Iterator[tuple[Job, Grade]]:
    """Yield answered submissions of a training run: groups of answers to problems that come again."""
    draw = random.Random(SEED)
    known = [suites.of_tests([StdinTest(input=f"{number}", output="out")]) for number in range(PROBLEMS)]
    for number in range(count):
        place = number // GROUP % PROBLEMS
        labels = {"client": "trainer", "step": f"{number // 1024}", "problem": f"problem-{place}"}
        name, suite = f"step-{number // 1024}-{number}", known[place]
        given = Submission(id=name, code=f"print({number})", suite=suite.id, labels=labels)
        [verdict] = draw.choices(VERDICTS, WEIGHTS)
        more: dict[str, Any] = {"failure_kind": "sandbox"} if verdict == "IE" else {}
        yield job_of(given, suite, "key"), grade(name, verdict, draw.random(), **more)


def fill(scene: Stage, count: int) -> None:
    """Record this many answers."""
    waiting: list[tuple[Job, Grade]] = []
    for each in history(count):
        waiting.append(each)
        if len(waiting) == AT_ONCE:
            scene.answered(*waiting)
            waiting.clear()
    scene.answered(*waiting)


def look(chromium: Browser, url: str, path: str) -> Look:
    """Open a page, and wait until it is filled."""
    page = chromium.page()
    page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE % PAGES[path])
    page.open(f"{url}/{path}")
    filled = float(page.until("window.filled"))
    painted = float(page.until(PAINTED))
    requests, size = page.evaluate(SIZES)
    page.call("Page.navigate", url="about:blank")
    return Look(painted, filled, requests, size)


def spread(values: list[float]) -> str:
    """Return the least and the median of some values."""
    return f"{min(values):.0f} {statistics.median(values):.0f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS, help=f"default {SUBMISSIONS}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    options = parser.parse_args()
    with (
        stage(history_submissions=options.submissions) as scene,
        tempfile.TemporaryDirectory() as folder,
        browser(Path(folder)) as chromium,
    ):
        fill(scene, options.submissions)
        found = {path: [look(chromium, scene.url, path) for _ in range(options.rounds)] for path in PAGES}
    print(f"{options.submissions} submissions in the history\n")
    print("| page | first paint, ms | filled, ms | requests | kB |\n|---|---|---|---|---|")
    for path, looks in found.items():
        painted, filled = (spread([getattr(each, name) for each in looks]) for name in ("painted", "filled"))
        print(f"| {path} | {painted} | {filled} | {looks[0].requests} | {looks[0].bytes / 1000:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
