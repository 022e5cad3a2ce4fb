"""The report of a validation: complete, self-contained, and rendered by a real browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.reports import pages
from sandbox_service.validation import job
from sandbox_service.validation.recipe import Source
from sandbox_service.validation.sources import Malformed
from tests.browser import Elements, opened
from tests.validation.world import FakeJudge, letters, recipe, sums, words


def report(folder: Path, *rows: Problem | Malformed) -> str:
    """The report of a validation of these rows."""

    def read(_: Source) -> Iterator[Problem | Malformed]:
        yield from rows

    made = recipe(folder, about="bread & <butter>")
    asyncio.run(job.Job(made, FakeJudge(), 2, lambda _: None, read).run())
    return (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of good problems, bad problems, and a malformed row."""
    bad = words(id="<b>bold</b>", prompt="This is an interactive problem, ![here](it.png). " * 5, source="elsewhere")
    hard = letters(id="hard", difficulty=0.75, prompt="Other letters are asked for here, as it happens. " * 5)
    few = hard.model_copy(update={"id": "few", "tests": (hard.tests or [])[:2]})
    return report(
        tmp_path_factory.mktemp("report"), sums(), words(), letters(), hard, few, bad, Malformed("f:9", "broken", "{")
    )


def test_a_report_is_whole_and_needs_nothing_from_elsewhere(text: str) -> None:
    elements = Elements(text).seen
    assert not [tag for tag, _ in elements if tag in ("script", "img", "iframe", "object", "embed")]
    links = [attrs["href"] or "" for _, attrs in elements if "href" in attrs]
    assert links[0] == "data:,", "the icon: none"
    assert {each.removeprefix("#") for each in links[1:]} <= {attrs.get("id") for _, attrs in elements}
    assert not [attrs for _, attrs in elements if "src" in attrs or any(name.startswith("on") for name in attrs)]
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"\b(nan|inf|None)\b", text.partition("<details>")[0])


def test_a_report_says_what_was_refused_and_why(text: str) -> None:
    titles = re.findall(r'<article class="card"><h2>(.*?)</h2>', text)
    assert titles[0] == "Why problems are in quarantine"
    assert {
        "Verdicts of the programs that were run",
        "CPU time of the slowest reference, and the limit",
        "Tests of a problem",
        "Different answers, of all tests",
        "Difficulty, as the data say",
        "By source",
    } <= set(titles)
    for name in ("image", "interactive", "too few tests", "malformed"):
        assert f"<summary>{name} · 1" in text
    assert "<dt>&lt;b&gt;bold&lt;/<wbr>b&gt;</dt>" in text
    assert "<b>bold" not in text
    assert "bread &amp; &lt;butter&gt;" in text


def test_light_dark_and_small_screens_are_thought_of(text: str) -> None:
    assert 'name="viewport"' in text
    style = (pages.TEMPLATES / "style.css").read_text()
    light, dark = (set(re.findall(r"(--\w+):", part)) for part in style.split("@media (prefers")[:2])
    assert dark >= light, "every colour has its dark one"
    used = set(re.findall(r"var\((--\w+)\)", text))
    assert used <= light


def test_a_report_begins_with_what_it_comes_to(text: str) -> None:
    assert '<p class="lead">3 of 7 problems can be trained on. 4 are in quarantine.</p>' in text


def test_what_is_behind_most_of_the_quarantine_is_said_first(tmp_path: Path) -> None:
    few = [each.model_copy(update={"tests": (each.tests or [])[:2]}) for each in (sums(), words())]
    bad = letters(prompt="This is an interactive problem. " * 9)
    text = report(tmp_path, *few, bad)
    assert "3 are in quarantine, 2 of them because of this: too few distinct tests" in text


def test_nothing_at_all_is_a_report_as_well(tmp_path: Path) -> None:
    Elements(report(tmp_path))


def test_a_browser_has_no_complaint(tmp_path: Path, text: str) -> None:
    dom, complaints = opened(tmp_path, text)
    assert complaints == []
    assert dom.count("<article") == text.count("<article")


def test_a_browser_would_complain(tmp_path: Path, text: str) -> None:
    _, complaints = opened(tmp_path, text.replace(' cx="', ' cx="x', 1))
    assert "attribute cx" in complaints[0]


def test_nothing_is_wider_than_a_phone(tmp_path: Path, text: str) -> None:
    """Measured by the page itself, in a frame of a phone's width: a script is added for this."""
    measure = "document.title = document.documentElement.scrollWidth"
    frame = tmp_path / "inner.html"
    frame.write_text(
        text.replace("</body>", f"<script>{measure}; parent.postMessage(document.title, '*')</script></body>")
    )
    outer = (
        "<!DOCTYPE html><title>?</title><script>onmessage = said => document.title = said.data</script>"
        f'<iframe width="360" height="800" src="{frame.as_uri()}"></iframe>'
    )
    dom, _ = opened(tmp_path, outer, "--virtual-time-budget=2000")
    assert "<title>360</title>" in dom
