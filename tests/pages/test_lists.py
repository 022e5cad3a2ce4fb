"""The lists of submissions and problems: searched, ordered and extended beyond what is shown at first."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service import cli
from sandbox_service.schema import TestResult, Verdict
from tests.browser import Browser, Page
from tests.pages.test_dashboard import FILES, get
from tests.pages.world import Stage, grade, job, stage

MANY = 250
ROWS = "document.querySelectorAll('.rows tbody tr').length"
PASSED = TestResult(index=0, verdict=Verdict.AC)
CAUGHT = TestResult(index=3, verdict=Verdict.WA, message="line 1 differs")


@pytest.fixture(scope="module")
def scene() -> Iterator[Stage]:
    """A service with one problem that was tried once in vain, one with a suspect, and many solved ones."""
    with stage() as running:
        running.answered((job("vain", labels={"problem": "vain"}), grade("vain", "WA")))
        for number in range(MANY):
            labels = {"problem": f"solved-{number // 2}"}
            running.answered((job(f"one-{number}", labels=labels), grade(f"one-{number}")))
        found = grade("cheat", "AC", 0.01, PASSED, suspect=True, audit=[CAUGHT], reward=0.0)
        running.answered((job("cheat", labels={"problem": "cheated"}), found))
        yield running


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    opened = chromium.page()
    yield opened
    assert opened.complaints == []
    opened.call("Page.navigate", url="about:blank")


def first_problem(scene: Stage, order: str) -> str:
    status, found = scene.client.get(f"/v1/problems?limit=1&order={order}")
    assert status == 200
    return str(found["problems"][0]["name"])


def test_problems_are_ordered_before_the_first_are_taken(scene: Stage) -> None:
    assert first_problem(scene, "never") == "vain"
    assert first_problem(scene, "suspects") == "cheated"
    assert first_problem(scene, "most").startswith("solved-")
    assert first_problem(scene, "always") != "vain"
    assert scene.client.get("/v1/problems?order=best")[0] == 422


def test_the_page_says_which_problem_never_passes(scene: Stage, page: Page) -> None:
    page.open(f"{scene.url}/#problems?order=never+solved+first")
    page.until("document.querySelector('.problems tbody tr a')?.textContent === 'vain'")
    page.evaluate(
        "{ const order = document.querySelector('.filters select'); order.value = 'suspects first'; "
        "order.dispatchEvent(new Event('change')); }"
    )
    page.until("document.querySelector('.problems tbody tr a')?.textContent === 'cheated'")
    page.click(".problems .suspects a", "1")
    page.until("document.querySelector('.rows .suspect') !== null")
    assert page.evaluate(ROWS) == 1
    assert page.evaluate("document.querySelector('.filters select').value") == "suspect", page.evaluate("location.hash")


def test_older_submissions_follow_at_a_click(scene: Stage, page: Page) -> None:
    page.open(f"{scene.url}/#submissions")
    page.until(f"{ROWS} === 100")
    for rows in (200, MANY + 2):
        page.click(".list button", "Show older ones")
        page.until(f"{ROWS} === {rows}")
    assert page.evaluate("document.querySelector('.list button').hidden")
    names = page.evaluate("[...document.querySelectorAll('.rows tbody a')].map((each) => each.textContent)")
    assert names == ["cheat", *(f"one-{number}" for number in reversed(range(MANY))), "vain"]


def test_a_search_without_a_field_is_shown_and_removed(scene: Stage, page: Page) -> None:
    page.open(f"{scene.url}/#submissions?suite=none&q=vain")
    page.until("document.querySelector('.list p').textContent === 'No submission matches.'")
    page.click(".others button", "suite none")
    page.until(f"{ROWS} === 1")
    assert page.evaluate("location.hash") == "#submissions?q=vain"


def test_several_labels_are_searched_for(scene: Stage, page: Page) -> None:
    scene.answered((job("both", labels={"step": "9", "problem": "nine"}), grade("both", "WA")))
    scene.answered((job("other", labels={"step": "9", "problem": "ten"}), grade("other", "WA")))
    page.open(f"{scene.url}/#submissions?label=step%3D9&label=problem%3Dnine")
    page.until(f"{ROWS} === 1")
    page.fill(".filters .label input", "step=9")
    page.press("Enter")
    page.until(f"{ROWS} === 2")
    page.fill(".filters .label input", "step=9 & problem=ten")
    page.press("Enter")
    page.until(f"{ROWS} === 1")
    assert page.evaluate("document.querySelector('.rows tbody a').textContent") == "other"


def test_the_terminal_says_that_an_audit_test_fails(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tail", "--url", scene.url, "--suspect", "--why"]) == 0
    line, *why = capsys.readouterr().out.splitlines()
    assert "cheat  suspect" in line
    assert [each.strip() for each in why] == [
        "accepted, but an audit test fails:",
        "test 3: WA, line 1 differs",
    ]


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [("gzip, deflate, br", True), ("br;q=1.0, gzip;q=0.8", True), ("gzip;q=0", False), ("br", False), ("", False)],
)
def test_a_file_is_compressed_for_those_who_take_it(scene: Stage, accepted: str, is_packed: bool) -> None:
    status, headers, body = get(scene.url, "/pages/style.css", **{"Accept-Encoding": accepted})
    whole = Path(FILES / "style.css").read_bytes()
    assert (status, headers.get("content-encoding"), headers["vary"]) == (
        200,
        "gzip" if is_packed else None,
        "Accept-Encoding",
    )
    assert (gzip.decompress(body) if is_packed else body) == whole
    assert not is_packed or len(body) < len(whole) / 3
