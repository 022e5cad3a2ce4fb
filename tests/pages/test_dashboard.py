"""The dashboard in a real browser: with a mouse, with a keyboard, on a phone, and with hostile submissions."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sandbox_service.api import static_file
from sandbox_service.api.events import SAMPLE_SECONDS, is_open_to_all
from sandbox_service.queues.base import Depth
from sandbox_service.schema import CallTest, StdinTest, TestResult, Verdict
from sandbox_service.settings import Settings
from tests.browser import CTRL, SHIFT, Browser, Elements, Page
from tests.conftest import Service
from tests.fakes import HOLD, always
from tests.fleet.fleet import running_fleet
from tests.pages.world import Stage, grade, job, stage
from tests.ports import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = REPOSITORY / "sandbox_service" / "api" / "pages"
KEY = "right-key"
TEST = {"type": "stdin", "input": "1", "output": "2"}
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def scene() -> Iterator[Stage]:
    """A service that answers at once and requires no key."""
    with stage() as running:
        yield running


HAS_HEARD = "document.querySelector('#state span').textContent !== 'Connecting'"


@pytest.fixture
def look(chromium: Browser) -> Iterator[OpenPage]:
    """Open pages; afterwards check that there were no complaints and no requests to other hosts."""
    pages: list[tuple[Page, str]] = []

    def open_page(url: str, path: str = "/", **window: Any) -> Page:
        page = chromium.page(**window)
        pages.append((page, url))
        page.open(url + path)
        # What it says above the rest of the service moves the rest down: nothing is clicked before that is there.
        page.until(f"{HAS_HEARD} || document.querySelector('dialog[open]')")
        return page

    yield open_page
    for page, url in pages:
        page.evaluate("1")  # what the browser has to say until now
        complaints = [each for each in page.complaints if not each.startswith("network:")]  # 401, or away
        assert complaints == []
        assert [each for each in page.requested if not each.startswith(url)] == []
        page.call("Page.navigate", url="about:blank")


def is_ready(page: Page) -> None:
    page.until("document.querySelector('#state span').textContent === 'Ready'")


def tile(name: str) -> str:
    return f"[...document.querySelectorAll('.tile')].find((each) => each.textContent.startsWith('{name}')).innerText"


# --- what is served


def get(url: str, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def test_every_file_is_served_and_sent_again_only_when_it_is_new(scene: Stage) -> None:
    names = {path.name for path in FILES.iterdir()}
    assert {"index.html", "app.js", "style.css"} <= names
    for name in names:
        path = "/" if name == "index.html" else f"/pages/{name}"
        status, headers, body = get(scene.url, path)
        assert (status, body) == (200, (FILES / name).read_bytes())
        assert headers["cache-control"] == "no-cache"
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert get(scene.url, path, **{"If-None-Match": headers["etag"]})[::2] == (304, b"")
        assert get(scene.url, path, "HEAD")[::2] == (200, b"")
    assert get(scene.url, "/pages/../app.py")[0] == get(scene.url, "/pages/none.js")[0] == 404


def test_every_file_is_packed_and_of_a_kind_that_is_served() -> None:
    [pattern] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"][
        "sandbox_service.api"
    ]
    for path in FILES.iterdir():
        assert fnmatch(f"pages/{path.name}", pattern)
        assert path.suffix[1:] in static_file.TYPES


def test_the_page_names_nothing_that_is_not_there() -> None:
    text = (FILES / "index.html").read_text()
    assert not [attrs for _, attrs in Elements(text).seen if "style" in attrs]
    for script in FILES.glob("*.js"):
        text += script.read_text()
    named = set(re.findall(r'"pages/([^"]+)"', text)) | set(re.findall(r'from "\./([^"]+)"', text))
    assert named == {path.name for path in FILES.iterdir()} - {"index.html"}
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), "an address elsewhere"
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_every_colour_has_its_dark_one() -> None:
    style = (FILES / "style.css").read_text()
    light, by_system, by_choice = (
        set(re.findall(r"(--\w+):", part)) for part in re.findall(r"\{\s*color-scheme[^}]*\}", style)
    )
    assert light == by_system == by_choice
    assert set(re.findall(r"var\((--\w+)\)", style)) <= light | {"--v"}


@pytest.mark.parametrize(
    ("settings", "is_open"),
    [
        ({}, False),
        ({"host": "localhost"}, False),
        ({"host": "::1"}, False),
        ({"host": "0.0.0.0"}, True),
        ({"host": "gpu-1"}, True),
        ({"host": "0.0.0.0", "api_keys": "a"}, False),
    ],
)
def test_who_listens_beyond_this_machine_without_a_key_is_open_to_all(settings: dict[str, str], is_open: bool) -> None:
    assert is_open_to_all(Settings.model_validate(settings)) is is_open


# --- the routes behind it


def test_without_a_key_there_is_nothing_but_the_page() -> None:
    with stage(api_keys=KEY) as guarded:
        guarded.answered((job(), grade()))
        for path in ("/v1/recent", "/v1/recent/x", "/v1/events"):
            assert get(guarded.url, path)[0] == 401
        assert get(guarded.url, "/")[0] == 200
        assert get(guarded.url, "/v1/recent", Authorization=f"Bearer {KEY}")[0] == 200


def test_recent_submissions_are_listed_and_found() -> None:
    with stage() as fresh:
        for number in range(3):
            labels = {"client": "anna" if number else "bert"}
            verdict = "WA" if number == 2 else "AC"
            fresh.answered((job(f"s/{number}", labels=labels), grade(f"s/{number}", verdict)))

        def listed(query: str = "") -> list[str]:
            return [each["id"] for each in fresh.client.get(f"/v1/recent{query}")[1]["submissions"]]

        assert listed() == ["s/2", "s/1", "s/0"]
        assert listed("?client=anna") == ["s/2", "s/1"]
        assert listed("?client=anna&verdict=AC") == ["s/1"]
        assert listed("?after=1&limit=1") == ["s/2"]
        assert listed("?q=/1") == ["s/1"]
        assert listed(f"?suite={job('any').suite.id}") == ["s/2", "s/1", "s/0"]
        assert listed("?suite=none") == listed("?label=step") == listed("?label=client=none") == []
        assert listed("?label=client=bert") == ["s/0"]
        assert listed("?label=client&min_reward=0.5") == ["s/1", "s/0"]
        assert listed("?max_reward=0.5") == ["s/2"]
        assert fresh.client.get("/v1/recent?lable=x")[0] == 422
        assert fresh.client.get("/v1/recent?limit=0")[0] == 422
        first = fresh.client.get("/v1/recent")[1]["submissions"][0]
        assert "program" not in first
        status, one = fresh.client.get(f"/v1/recent/{first['key']}")
        assert (status, one["id"], one["tests"][0]["expected"]) == (200, "s/2", ["out"])
        assert fresh.client.get("/v1/recent/none")[0] == 404


def test_problems_are_summarized() -> None:
    with stage() as fresh:
        for number, verdict in enumerate(["AC", "WA", "WA", "AC", "IE"]):
            labels = {"problem": "sum"} if number < 3 else {}
            kind = "sandbox" if verdict == "IE" else None
            fresh.answered((job(f"{number}", labels=labels), grade(f"{number}", verdict, 0.5, failure_kind=kind)))
        found = fresh.client.get("/v1/problems")[1]
        first, second = found["problems"]
        assert (found["count"], first["name"], first["verdicts"]) == (2, "sum", {"AC": 1, "WA": 2})
        assert (first["pass_rate"], first["mean_seconds"], first["flips"]) == (1 / 3, 0.5, 0)
        assert sum(submissions for submissions, _ in first["course"]) == 3
        assert sum(accepted for _, accepted in first["course"]) == 1
        assert (second["name"], second["pass_rate"]) == (job("any").suite.id, 1.0), "a fault is no failure"
        [only] = fresh.client.get("/v1/problems?label=problem=sum&limit=1")[1]["problems"]
        assert only == first | {"course": only["course"]}


def test_a_key_sees_and_cancels_its_own_and_an_admin_those_of_all() -> None:
    anna, bert = ({"Authorization": f"Bearer {name}"} for name in ("anna", "bert"))
    with stage(lambda one, _: HOLD if one.code == "hold" else "AC", api_keys="anna,bert", admin_keys="root") as guarded:
        for headers in (anna, bert):
            assert guarded.client.post("/v1/grade", {"code": "", "tests": [TEST]}, **headers)[0] == 200
            assert (
                guarded.client.post(
                    "/v1/submissions", {"id": f"of {headers}", "code": "hold", "tests": [TEST]}, **headers
                )[0]
                == 202
            )
        root = {"Authorization": "Bearer root"}
        seen = [get(guarded.url, "/v1/recent", **headers) for headers in (anna, bert, root)]
        keys = [[each["key"] for each in json.loads(body)["submissions"]] for _, _, body in seen]
        assert [len(each) for each in keys] == [1, 1, 2]
        assert get(guarded.url, f"/v1/recent/{keys[0][0]}", **anna)[0] == 200
        assert get(guarded.url, f"/v1/recent/{keys[0][0]}", **bert)[0] == 404
        assert get(guarded.url, f"/v1/recent/{keys[0][0]}", **root)[0] == 200
        problems = [json.loads(get(guarded.url, "/v1/problems", **headers)[2]) for headers in (bert, root)]
        assert [each["problems"][0]["submissions"] for each in problems] == [1, 2]
        held = quote(f"/v1/submissions/of {anna}")
        cancelled = [json.loads(get(guarded.url, held, "DELETE", **each)[2])["cancelled"] for each in (bert, anna)]
        assert cancelled == [0, 1]
        held = quote(f"/v1/submissions/of {bert}")
        assert json.loads(get(guarded.url, held, "DELETE", **root)[2]) == {"cancelled": 1}


GUARD_SECONDS = 30.0


def events(url: str, seconds: float, found: list[tuple[str, Any]]) -> None:
    """Return the events within this time."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)) as connection:
        connection.request("GET", "/v1/events")
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        end = time.monotonic() + seconds
        while time.monotonic() < end and (line := answer.readline()):
            if line.startswith(b"event: "):
                found.append((line[7:-1].decode(), json.loads(answer.readline().removeprefix(b"data: "))))


def test_figures_are_taken_once_a_second_however_many_look_and_never_while_nobody_does() -> None:
    looks = []
    with stage() as watched:
        depth = watched.queue.depth

        def counted() -> Depth:
            looks.append(time.monotonic())
            return depth()

        watched.queue.depth = counted  # type: ignore[method-assign]
        found: list[list[tuple[str, Any]]] = [[], [], []]
        began = time.monotonic()
        threads = [threading.Thread(target=events, args=(watched.url, 2.5, each)) for each in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = time.monotonic() - began
        assert 3 <= len(looks) <= 2 * spent / SAMPLE_SECONDS + 2
        for said in found:
            assert [name for name, _ in said[:3]] == ["history", "now", "now"]
        end = time.monotonic() + GUARD_SECONDS
        while looks:  # until it is seen that they have gone
            assert time.monotonic() < end, "figures are still taken"
            looks.clear()
            time.sleep(2.5 * SAMPLE_SECONDS)


def test_who_looks_on_does_not_keep_the_service_from_ending() -> None:
    found: list[tuple[str, Any]] = []
    with stage() as closing_one:
        watcher = threading.Thread(target=events, args=(closing_one.url, 2 * GUARD_SECONDS, found))
        watcher.start()
        while len(found) < 2:
            time.sleep(0.01)
    watcher.join(GUARD_SECONDS)
    assert not watcher.is_alive()


# --- the overview


def test_figures_are_live(look: OpenPage) -> None:
    with stage(slots=2) as fresh:
        page = look(fresh.url)
        is_ready(page)
        assert "nothing in 15 min" in page.evaluate(tile("Throughput"))
        assert "Nothing has been graded yet" in page.text()
        for number in range(6):
            code = "wrong" if number < 2 else "right"
            assert fresh.client.post("/v1/grade", {"code": f"{code}{number}", "tests": [TEST]})[0] == 200
        page.until(f"{tile('Accepted')}.includes('66.7 %')")
        assert "4 of 6 judged" in page.evaluate(tile("Accepted"))
        assert "6 in 15 min" in page.evaluate(tile("Throughput"))
        assert "AC 4 66.7 %" in " ".join(page.text(".legend").split())
        said = page.evaluate("document.querySelector('.chart').getAttribute('aria-label')")
        assert said == "Verdicts. 6 in the last 15 minutes: 4 AC, 2 WA"
        assert page.evaluate("document.querySelector('.chart .v-WA').getAttribute('d')").startswith("M")
        assert "local" in page.text("table")
        page.until("document.querySelectorAll('progress').length > 1")
        page.evaluate("document.querySelector('.chart').focus()")
        for _ in range(3):  # it may be a moment since they were graded
            page.press("ArrowLeft")
        assert "per second" in page.text(".readout")


def test_what_waits_is_seen(look: OpenPage) -> None:
    with stage(always("hold")) as slow:
        for number in range(5):
            assert slow.client.post("/v1/submissions", {"code": f"{number}", "tests": [TEST]})[0] == 202
        page = look(slow.url)
        page.until(f"{tile('Waiting')}.includes('5 pending')")
        assert "2 / 2" in page.evaluate(tile("Slots"))
        assert "3" in page.evaluate(tile("Waiting"))
        assert page.text("#state").strip() == "Grading"


def test_a_fleet_shows_its_workers_and_whose_eyes_one_looks_through(look: OpenPage) -> None:
    with running_fleet(apis=2, workers=2) as fleet:
        url, other = fleet.urls()
        page = look(url, "/#playground")
        page.click("button.main", "Run")
        assert "AC reward 1 2 of 2 passed" in outcome(page)
        page.click("nav a", "Submissions")
        page.click(".rows a")
        page.until("document.querySelector('main').innerText.includes('2 run of 2')")
        page.click("summary")
        page.until("document.querySelectorAll('.panes pre').length === 3")
        link = page.evaluate("location.hash")
        elsewhere = look(other, f"/{link}")
        elsewhere.until("document.querySelector('main').innerText.includes('2 run of 2')")
        page.click("nav a", "Overview")
        page.until("document.querySelectorAll('.workers tbody tr').length === 2")
        page.until(f"{tile('Throughput')}.includes('1 in 15 min')")
        assert "One API process of a fleet" in page.text("#process")


def test_why_it_is_not_ready_is_said(look: OpenPage) -> None:
    with stage() as broken:
        page = look(broken.url)
        is_ready(page)
        assert "Reduced protection: no cgroups <b>here</b>" in " ".join(page.text("#banners").split())

        async def fail() -> None:
            for slot in broken.slots:
                slot.fail(1.0)

        broken.soon(fail())
        page.until("document.querySelector('#state span').textContent === 'Not ready'")
        assert "Nothing can be graded now: slot 0: no jail; slot 1: no jail" in " ".join(page.text("#banners").split())


def test_a_service_that_goes_away_is_missed_and_found_again(look: OpenPage) -> None:
    port = free_port()
    with stage(port=port) as first:
        page = look(first.url)
        is_ready(page)
    page.until("document.querySelector('#state span').textContent === 'Offline'")
    page.until("document.querySelector('#banners').innerText.includes('Retrying automatically')")
    assert "The data shown is from" in page.text("#banners")
    with stage(port=port):
        is_ready(page)
        assert "tried again" not in page.text("#banners")


def test_that_it_is_open_to_everybody_is_said(look: OpenPage) -> None:
    with stage(host="0.0.0.0") as open_one:  # what the settings say; it listens on loopback
        page = look(open_one.url)
        page.until("document.querySelector('#banners').innerText.includes('Open to everybody')")


# --- the key


def test_a_key_is_asked_for_once_and_forgotten_when_told(look: OpenPage) -> None:
    with stage(api_keys=KEY) as guarded:
        page = look(guarded.url)
        page.until("document.querySelector('dialog').open")
        page.write("wrong")
        page.press("Enter")
        page.until("document.querySelector('#ask-why').textContent.includes('key is wrong')")
        page.write("zł")
        page.press("Enter")
        page.until("document.querySelector('#banners').innerText.includes('API key is required')")
        page.click("#banners button")
        page.until("document.querySelector('dialog').open")
        page.press("Escape")
        page.until("!document.querySelector('dialog').open")
        page.click("#banners button")
        page.until("document.querySelector('dialog').open")
        page.write(KEY)
        page.click("dialog button.main")
        is_ready(page)
        page.evaluate("location.hash = '#submissions'")
        page.reload()
        is_ready(page)
        page.until("document.querySelector('main').innerText.includes('None yet')")
        page.click("#key")
        page.until("document.querySelector('dialog')?.open")
        assert page.evaluate("sessionStorage.length") == 0


def test_the_documentation_of_the_api_needs_no_other_host(scene: Stage, look: OpenPage, chromium: Browser) -> None:
    for path in ("/docs", "/docs/start.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"):
        status, headers, _ = get(scene.url, path)
        assert (status, headers["x-content-type-options"]) == (200, "nosniff")
    page = chromium.page()
    page.open(f"{scene.url}/docs")
    page.until("document.querySelector('.opblock-summary-path') !== null")
    assert "/v1/grade/batch" in page.text("#ui")
    page.until("document.querySelectorAll('.opblock').length > 10")
    assert [each for each in page.requested if not each.startswith((scene.url, "data:"))] == []
    assert page.complaints == []


# --- submissions


def test_a_submission_is_found_and_looked_into(look: OpenPage) -> None:
    with stage() as fresh:
        first = TestResult(index=0, verdict=Verdict.AC, stdout="1\n")
        second = TestResult(index=1, verdict=Verdict.WA, stdout="a\nX\nc\n", stderr="hm", message="line 2", exit_code=0)
        tests = [StdinTest(input="1", output="1"), StdinTest(input="2", output="a\nb\nc")]
        fresh.answered(
            (job("good"), grade("good")),
            (job("bad", tests, code="print('a')", labels={"client": "anna"}), grade("bad", "WA", 0.2, first, second)),
            (job("call", [CallTest(function="f", args=[1], output=2)]), grade("call", "WA")),
        )
        page = look(fresh.url, "/#submissions")
        page.until("document.querySelectorAll('.rows tbody tr').length === 3")
        page.evaluate("document.querySelector('.rows a').focus()")
        page.press("ArrowDown")
        assert page.focused() == "a bad"
        fresh.answered((job("late"), grade("late", "TLE")))
        page.until("document.querySelectorAll('.rows tbody tr').length === 4")
        assert page.focused() == "a bad", "what is new does not take the focus away"
        page.press("Enter")
        page.until("document.querySelector('.difference')")
        text = page.text("main")
        for part in ("1 of 2 passed", "print('a')", "line 2", "hm", "anna", "2 run of 2"):
            assert part in text
        marked = page.evaluate("[...document.querySelectorAll('.difference > div')].map((each) => each.textContent)")
        assert marked == [" a", "−expected: b", "+printed: X", " c"]
        assert page.evaluate("[...document.querySelectorAll('.test')].map((each) => each.open)") == [False, True]
        page.click("button", "Open in the playground")
        page.until("document.querySelector('#code')?.value === \"print('a')\"")
        assert page.evaluate("document.querySelectorAll('.pair').length") == 2
        page.evaluate("history.back()")
        page.until("document.querySelector('.back')")
        page.press("Escape")
        page.until("document.querySelectorAll('.rows tbody tr').length === 4")
        page.evaluate("document.querySelector('.filters select').focus()")
        page.write("")
        page.press("W")
        page.press("Enter")
        page.until("document.querySelectorAll('.rows tbody tr').length === 2")
        page.fill(".filters .client input", "anna")
        page.press("Enter")
        page.until("document.querySelectorAll('.rows tbody tr').length === 1")
        page.click(".filters button", "Pause")
        assert page.text(".filters button") == "Resume"
        page.evaluate("location.hash = '#submissions/gone-1'")
        page.until("document.querySelector('main').innerText.includes('no longer available')")


def test_why_a_rollout_was_paid_nothing_is_said(look: OpenPage) -> None:
    """The message, the program beside the completion, the test that decided, and links to what is like it."""
    with stage() as fresh:
        failed = TestResult(index=1, verdict=Verdict.WA, stdout="a  b\n", message="line 1 differs")
        tests = [StdinTest(input="1", output="1"), StdinTest(input="2", output="a b\n\nc")]
        text = "Here:\n```python\nprint('mine')\n```\n"
        labels = {"step": "40", "problem": "sum"}
        checker = {"type": "exact"}
        wrong = job("wrong", tests, code=None, completion=text, labels=labels, checker=checker)
        none = job("none", tests, code=None, completion="I cannot.", labels=labels)
        fresh.answered(
            (wrong, grade("wrong", "WA", 0.2, TestResult(index=0, verdict=Verdict.AC), failed)),
            (none, grade("none", "CE", 0.0, message="no code block", tests=[], total=2)),
        )
        page = look(fresh.url, "/#submissions?label=step%3D40&q=wro")
        page.until("document.querySelectorAll('.rows tbody tr').length === 1")
        page.click(".rows a")
        page.until("document.querySelector('.difference')")
        assert "Test 1 decided: WA, line 1 differs" in page.text(".why")
        [program, completion] = page.evaluate(
            "[...document.querySelectorAll('.program pre')].map((each) => each.textContent)"
        )
        assert (program, completion) == ("print('mine')", text)
        marked = page.evaluate("[...document.querySelectorAll('.difference > div')].map((each) => each.textContent)")
        assert marked == ["−expected: a·b", "+printed: a··b", "  ", "−expected: c"]
        page.click("dd a", "40")
        page.until("document.querySelectorAll('.rows tbody tr').length === 2")
        page.click(".rows a", "none")
        page.until("document.querySelector('.why')?.innerText.includes('no code block')")
        assert "There is no program." in page.text(".program")
        page.click("nav a", "Problems")
        page.until("document.querySelectorAll('.problems tbody tr').length === 1")
        assert page.text(".problems tbody").split()[:4] == ["sum", "0", "%", "2"]
        page.click(".problems a", "sum")
        page.until("document.querySelectorAll('.rows tbody tr').length === 2")


HOSTILE = (
    "</textarea></script><script>window.hit=1</script><img src=x onerror=window.hit=2><svg onload=window.hit=3>"
    "\u202egpj.exe\u2066\x00\x1b[31m\x07\ufeff{{7*7}}&lt;b&gt;\" onfocus=window.hit=4 autofocus x='"
)


def test_nothing_that_was_submitted_becomes_part_of_the_page(look: OpenPage) -> None:
    with stage() as fresh:
        said = TestResult(
            index=0, verdict=Verdict.WA, stdout=HOSTILE + "\nmore", stderr=HOSTILE, message=HOSTILE, peak_memory_bytes=1
        )
        given = job(
            HOSTILE[:250],
            [StdinTest(input=HOSTILE, output=[HOSTILE, "x"])],
            code=HOSTILE,
            labels={"client": HOSTILE, HOSTILE: HOSTILE},
        )
        found = grade(HOSTILE[:250], "WA", 0.01, said, message=HOSTILE)
        worker = {"language": HOSTILE, "host": HOSTILE, "version": HOSTILE}
        fault = grade("f", "IE", failure_kind=HOSTILE, failure_reason=HOSTILE, grader=worker)
        fresh.answered((given, found), (job("f"), fault))
        fresh.slots[0].language = HOSTILE
        page = look(fresh.url, "/?<script>window.hit=5</script>#<img src=x onerror=window.hit=6>")
        page.evaluate("addEventListener('securitypolicyviolation', (event) => (window.hit = event.violatedDirective))")
        page.until("document.querySelector('main').innerText.includes('{{7*7}}')")
        page.click("nav a", "Submissions")
        page.until("document.querySelectorAll('.rows tbody tr').length === 2")
        for row in (1, 2):
            page.click(f".rows tr:nth-child({row}) a")
            page.until("document.querySelector('.headline')")
            page.until("document.querySelector('main').innerText.includes('<img src=x onerror=window.hit=2>')")
            page.click(".back")
            page.until("document.querySelectorAll('.rows tbody tr').length === 2")
        page.click(".rows tr:nth-child(2) a")
        page.until("document.querySelector('.difference')")
        shown = page.text(".difference")
        assert "⟨U+202E⟩gpj.exe⟨U+2066⟩␀␛[31m␇⟨U+FEFF⟩" in shown
        assert not re.search("[\u202e\u2066\x00\x1b\x07]", page.text("main"))
        assert (
            page.evaluate("document.querySelectorAll('main script, main img, main [onerror], main [onload]').length")
            == 0
        )
        assert page.evaluate("window.hit ?? null") is None


def test_the_policy_would_stop_what_got_in_all_the_same(chromium: Browser, scene: Stage) -> None:
    page = chromium.page()
    page.open(scene.url)
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.createElement('img').setAttribute('onerror', 'window.hit = 1')",
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hit = 1'}))",
        "eval('window.hit = 1')",
    ):
        assert page.evaluate(f"(() => {{ try {{ {attempt}; return false }} catch {{ return true }} }})()"), attempt
    page.evaluate("fetch('http://127.0.0.2:1/').catch(() => null)")
    page.until("document.title")
    assert page.evaluate("window.hit ?? null") is None
    assert any("Content Security Policy" in each for each in page.complaints)
    page.call("Page.navigate", url="about:blank")


# --- the playground


def outcome(page: Page) -> str:
    page.until("document.querySelector('.outcome .headline, .outcome .wrong')")
    return " ".join(page.text(".outcome").split())


def test_the_playground_grades_for_real(service: Service, look: OpenPage) -> None:
    page = look(service.client.url, "/#playground")
    for name, wanted in {
        "Right": "AC reward 1 2 of 2 passed",
        "Wrong": "line 1: got '0', expected '1'",
        "Slow": "TLE",
        "Leaves early": "WA",
        "Fails": "ZeroDivisionError",
        "A judge": "AC reward 1 2 of 2 passed",
        "A function": "AC reward 1 1 of 1 passed",
    }.items():
        page.click(".examples button", name)
        page.click("button.main", "Run")
        page.until("!document.querySelector('button.main').disabled")
        assert wanted in outcome(page), name
    tests = '[{"type": "call", "function": "f", "args": [12345678901234567891], "output": 12345678901234567893}]'
    page.fill("#code", "def f(x): return x + 1")
    page.fill("textarea[aria-label='Tests as JSON']", tests)
    page.press("Enter", CTRL)
    page.until("document.querySelector('.message')?.innerText.includes('12345678901234567892')")
    assert "f(12345678901234567891)" in page.text(".panes")
    page.click(".examples button", "Wrong")
    page.click("button.main", "Run")
    page.until("document.querySelectorAll('.difference .missing').length === 1")
    assert page.evaluate("document.querySelector('.difference').textContent").startswith("+printed: 0 1")


def test_a_judge_can_be_tried_in_the_playground(service: Service, look: OpenPage) -> None:
    page = look(service.client.url, "/#playground")
    is_shown = "getComputedStyle(document.querySelector('.judge')).display !== 'none'"
    assert not page.evaluate(is_shown)
    page.click(".examples button", "A judge")
    assert page.evaluate(is_shown)
    page.fill(
        "textarea[aria-label='Judge program']", "def check(input, output, answer):\n    return False, 'not like this'"
    )
    page.press("Enter", CTRL)
    page.until("document.querySelector('.outcome .headline')?.innerText.includes('0 of 2')")
    assert "not like this" in outcome(page)
    page.click("nav a", "Overview")
    page.until("document.querySelector('.tiles')")
    page.click("nav a", "Playground")
    page.until("document.querySelector('.judge textarea')?.value.includes('not like this')")
    judge = "def interact(read, write, input, answer):\n    write(input)\n    return read().strip() == '42'"
    page.fill("textarea[aria-label='Judge program']", judge)
    page.fill("#code", "print(2 * int(input()))")
    page.click(".spread label", "as JSON")
    page.fill("textarea[aria-label='Tests as JSON']", '[{"type": "interactive", "input": "21"}]')
    page.press("Enter", CTRL)
    page.until("document.querySelector('.outcome .headline')?.innerText.includes('1 of 1')")
    assert "AC" in outcome(page)


def test_what_a_program_prints_is_text_and_nothing_else(service: Service, look: OpenPage) -> None:
    page = look(service.client.url, "/#playground")
    page.fill("#code", f"import sys\nprint({HOSTILE!r})\nsys.stderr.write({HOSTILE!r})\nraise ValueError({HOSTILE!r})")
    page.fill(".pair textarea", HOSTILE)
    page.click("button.main", "Run")
    assert "<img src=x onerror=window.hit=2>" in outcome(page)
    assert page.evaluate("window.hit ?? null") is None
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0


def test_everything_in_the_playground_can_be_done_with_the_keyboard(scene: Stage, look: OpenPage) -> None:
    page = look(scene.url)
    is_ready(page)
    page.press("Tab")
    assert page.focused() == "a Skip to the content"
    while page.focused() != "a Playground":
        page.press("Tab")
    page.press("Enter")
    page.until("document.querySelector('#code')")
    while page.evaluate("document.activeElement.id") != "code":
        page.press("Tab")
    page.evaluate("document.activeElement.select()")
    page.write("if 1:")
    page.press("Enter")
    page.press("Tab")
    page.write("wrong")
    assert page.evaluate("document.activeElement.value") == "if 1:\n    wrong"
    page.press("Tab", SHIFT)
    assert page.evaluate("document.activeElement.value") == "if 1:\nwrong"
    page.press("Enter", CTRL)
    assert "WA" in outcome(page)
    page.press("Escape")
    page.press("Tab")
    assert page.evaluate("document.activeElement.localName") == "input", "one can leave the program"
    while page.focused() != "button Add a test":
        page.press("Tab")
    page.press("Enter")
    assert page.evaluate("document.querySelectorAll('.pair').length") == 3
    page.write("new")
    assert page.evaluate("document.activeElement.value") == "new"
    page.press("Enter", CTRL)
    page.until("document.querySelector('.outcome .headline')?.innerText.includes('0 of 3')")


def test_bad_input_is_answered_with_what_to_do(scene: Stage, look: OpenPage) -> None:
    page = look(scene.url, "/#playground")
    page.click(".spread label", "as JSON")
    for text, wanted in {
        "[": "The tests are not JSON",
        "{}": "The tests must be a list",
        "[]": "tests should have 1 or more entries",
        '[{"output": 1}]': "tests[0]",
    }.items():
        page.fill("textarea[aria-label='Tests as JSON']", text)
        page.press("Enter", CTRL)
        page.until(f"document.querySelector('.outcome').innerText.includes({json.dumps(wanted)})")
    page.fill("textarea[aria-label='Tests as JSON']", '[{"type": "call", "function": "f", "output": 1}]')
    page.click(".spread label", "as JSON")
    page.until("document.querySelector('.outcome').innerText.includes('can be shown as rows')")
    assert page.evaluate("document.querySelector('.spread input[type=checkbox]').checked")


def test_what_was_being_tried_is_still_there_after_a_look_elsewhere(scene: Stage, look: OpenPage) -> None:
    page = look(scene.url, "/#playground")
    page.fill("#code", "mine")
    page.fill(".pair textarea", "my input")
    page.click("nav a", "Overview")
    page.until("document.querySelector('.tiles')")
    page.click("nav a", "Playground")
    page.until("document.querySelector('#code')")
    assert page.evaluate("document.querySelector('#code').value") == "mine"
    assert page.evaluate("document.querySelector('.pair textarea').value") == "my input"


def test_a_run_can_be_stopped(look: OpenPage) -> None:
    with stage(always("hold")) as slow:
        page = look(slow.url, "/#playground")
        page.click("button.main", "Run")
        page.click("button", "Stop")
        assert outcome(page) == "Stopped."
        page.click("nav a", "Overview")
        page.until(f"{tile('Waiting')}.includes('nothing pending') || {tile('Slots')}.includes('1 / 2')")


# --- screens


def test_nothing_is_wider_than_a_phone(look: OpenPage) -> None:
    with stage() as fresh:
        long = "x" * 3000
        result = TestResult(index=0, verdict=Verdict.WA, stdout=long, message=long)
        fresh.answered((job("long-" + long[:200], code=long), grade("long", "WA", 0.1, result)))
        page = look(fresh.url, width=360, height=800)
        page.until("document.querySelector('.legend li')")
        key = fresh.client.get("/v1/recent")[1]["submissions"][0]["key"]
        for path in ("overview", "submissions", f"submissions/{key}", "problems", "playground"):
            page.evaluate(f"location.hash = '#{path}'")
            page.until("document.querySelector('.tiles, .rows a, .test, .pair')")
            assert page.evaluate("document.documentElement.scrollWidth") == 360, path


def test_light_and_dark_are_the_machines_unless_one_is_chosen(scene: Stage, look: OpenPage) -> None:
    def ground(page: Page) -> int:
        return int(page.evaluate("getComputedStyle(document.body).backgroundColor").partition("(")[2].partition(",")[0])

    page = look(scene.url, scheme="dark")
    assert ground(page) < 50
    page.click("#theme")
    assert page.focused() == "button Colours: light"
    assert ground(page) > 200
    page.reload()
    assert ground(page) > 200
    page.click("#theme")
    assert ground(page) < 50
    assert ground(look(scene.url, scheme="light")) > 200
