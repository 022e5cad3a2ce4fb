"""Ten questions of a user, each answered by the page in at most three clicks, on a desk and on a phone, light and dark.

Screenshots of the answers are kept in the folder that PROCTOR_SCREENSHOTS names, if it is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox_service.schema import StdinTest, TestResult, Verdict
from tests.browser import Browser, Page
from tests.markers import crosswise
from tests.pages.world import Stage, grade, job, stage

ROWS = "document.querySelectorAll('.rows tbody tr').length"


@dataclass(frozen=True)
class Question:
    """A question: clicks from the overview (selector and text), and what the answer shows."""

    words: str
    clicks: tuple[tuple[str, str], ...]
    answer: tuple[str, ...]
    fill: tuple[str, str] = ("", "")


QUESTIONS = (
    Question(
        "why was it paid 0?",
        (("nav a", "Submissions"), (".rows a", "late-wrong")),
        ("Test 1 decided: WA, line 2 differs", "b··c"),
    ),
    Question(
        "which program was run?",
        (("nav a", "Submissions"), (".rows a", "late-wrong")),
        ("print('wrong')", "Here is my answer"),
    ),
    Question("which problems never pass?", (("nav a", "Problems"),), ("hard 0 %",)),
    Question("which problems always pass?", (("nav a", "Problems"),), ("easy 100 %",)),
    Question(
        "what did step 40 look like?",
        (("nav a", "Submissions"), (".rows a", "late-wrong"), ("dd a", "40")),
        ("late-wrong", "late-right"),
    ),
    Question("is my fleet keeping up?", (("nav a", "Overview"),), ("Waiting", "Slots", "Wait for a slot")),
    Question("did a verdict flip?", (("nav a", "Overview"),), ("flips",)),
    Question("what failed in the service itself?", (("nav a", "Overview"),), ("sandbox",)),
    Question("which suite is slow?", (("nav a", "Overview"),), ("Slowest suites",)),
    Question("where is my rollout?", (("nav a", "Submissions"),), ("early-7",), fill=(".filters .q input", "early-7")),
)
WINDOWS = [(1440, 900), (390, 844)]


@pytest.fixture(scope="module")
def scene() -> Iterator[Stage]:
    """A service in the middle of a training run."""
    tests = [StdinTest(input="1\n", output="1\n"), StdinTest(input="2\n", output="first line\nb  c\n")]
    failed = TestResult(index=1, verdict=Verdict.WA, stdout="first line\nb c\n", message="line 2 differs", stderr="hm")
    wrong = "Here is my answer:\n```python\nprint('wrong')\n```\n"
    with stage() as running:
        for number in range(40):
            labels = {"step": "39", "problem": "easy", "client": "trainer"}
            running.answered((job(f"early-{number}", labels=labels), grade(f"early-{number}", "AC", 0.004)))
        labels = {"step": "40", "problem": "hard", "client": "trainer"}
        running.answered(
            (
                job("late-wrong", tests, code=None, completion=wrong, labels=labels),
                grade("late-wrong", "WA", 0.3, TestResult(index=0, verdict=Verdict.AC), failed),
            ),
            (job("late-right", labels=labels | {"problem": "easy"}), grade("late-right")),
            (job("lost", labels=labels), grade("lost", "IE", failure_kind="sandbox", failure_reason="the jail died")),
        )
        yield running


def keep(page: Page, name: str) -> None:
    folder = os.environ.get("PROCTOR_SCREENSHOTS", "")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.picture(Path(folder) / f"{name}.png")


@pytest.mark.parametrize(("window", "theme"), crosswise(WINDOWS, ("light", "dark")))
def test_each_question_is_answered_in_three_clicks(
    chromium: Browser, scene: Stage, window: tuple[int, int], theme: str
) -> None:
    width, height = window
    page = chromium.page(width=width, height=height, scheme=theme)
    page.open(scene.url)
    page.until("document.querySelector('#state span').textContent === 'Ready'")
    for number, question in enumerate(QUESTIONS):
        assert len(question.clicks) <= 3
        page.evaluate("location.hash = '#overview'")
        page.until("document.querySelector('main .tile') !== null")
        for selector, text in question.clicks:
            page.until(f"document.querySelector('{selector}') !== null")
            page.click(selector, text)
        if question.fill[0]:
            page.fill(*question.fill)
            page.press("Enter")
            page.until(f"{ROWS} === 1")
        for part in question.answer:
            words = part.replace("'", "\\'")
            page.until(f"document.querySelector('main').innerText.replace(/\\s+/g, ' ').includes('{words}')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        keep(page, f"{number}-{width}-{theme}")
    page.call("Page.navigate", url="about:blank")


def test_the_order_of_problems_is_part_of_the_address(chromium: Browser, scene: Stage) -> None:
    page = chromium.page()
    page.open(f"{scene.url}/#problems?order=never+solved+first")
    page.until("document.querySelector('.problems tbody tr a')?.textContent === 'hard'")
    page.evaluate(
        "{ const all = document.querySelectorAll('.filters select'); all[0].value = 'always solved first'; "
        "all[0].dispatchEvent(new Event('change')); }"
    )
    page.until("document.querySelector('.problems tbody tr a')?.textContent === 'easy'")
    assert page.evaluate("location.hash") == "#problems?by=problem&order=always+solved+first"
