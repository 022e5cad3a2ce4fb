"""`proctor top` and `proctor tail`: a service seen from the terminal."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from sandbox_service import cli
from sandbox_service.commands import tail
from sandbox_service.commands.service_queries import ServiceQueries
from sandbox_service.schema import TestResult, Verdict
from tests.pages.world import Stage, grade, job, stage
from tests.ports import free_port

HOSTILE = "\x1b[31mred\x07"


@pytest.fixture(scope="module")
def scene() -> Iterator[Stage]:
    with stage() as running:
        failed = TestResult(index=1, verdict=Verdict.WA, message="line 1 differs")
        labels = {"step": "40"}
        passed = TestResult(index=0, verdict=Verdict.AC)
        bad = grade("bad", "WA", 0.2, passed, failed, message="line 1 differs")
        running.answered(
            (job("good", labels=labels), grade("good")),
            (job("bad", labels=labels), bad),
            (job("fault"), grade("fault", "IE", failure_kind="sandbox", failure_reason="the jail died")),
            (job(f"none{HOSTILE}"), grade(f"none{HOSTILE}", "CE", message="no code block", tests=[], total=1)),
        )
        yield running


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert cli.main(list(arguments)) == 0
    return capsys.readouterr().out.splitlines()


def test_tail_lists_the_last_ones_and_filters(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "tail", "--url", scene.url)
    assert [line.split()[1] for line in lines] == ["AC", "WA", "IE", "CE"]
    assert lines[1].split()[2:4] == ["0", "1/2"]
    assert "step=40" in lines[1]
    assert "masked" in lines[2]
    assert "\x1b" not in "".join(lines), "nothing that a program wrote reaches the terminal as a control sequence"
    for arguments, count in {
        ("--verdict", "WA"): 1,
        ("--label", "step=40"): 2,
        ("--label", "step=41"): 0,
        ("--label", "step", "--max-reward", "0"): 1,
        ("--q", "oo"): 1,
        ("-n", "3"): 3,
    }.items():
        assert len(printed(capsys, "tail", "--url", scene.url, *arguments)) == count


def test_the_service_may_be_named_by_a_variable(
    scene: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_URL", scene.url)
    assert len(printed(capsys, "tail")) == 4
    assert scene.url in "\n".join(printed(capsys, "top", "--once"))


def test_tail_says_that_nothing_matches(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tail", "--url", scene.url, "--q", "nowhere"]) == 0
    assert capsys.readouterr() == ("", "proctor: no submission matches\n")


def test_tail_says_why(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(printed(capsys, "tail", "--url", scene.url, "--why"))
    for reason in ("test 1: WA, line 1 differs", "sandbox: the jail died", "no code block"):
        assert reason in text
    assert text.count("line 1 differs") == 1
    [line] = printed(capsys, "tail", "--url", scene.url, "--why", "--json", "--verdict", "WA")
    assert json.loads(line)["decided_by"] == 1


def test_tail_follows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with stage() as fresh:
        fresh.answered((job("first"), grade("first")))
        looked = iter(range(3))

        def pause(_: float) -> None:
            number = next(looked, None)
            if number is None:
                raise KeyboardInterrupt
            fresh.answered((job(f"later {number}"), grade(f"later {number}")))

        monkeypatch.setattr(tail, "sleep", pause)
        assert cli.main(["tail", "--url", fresh.url, "--follow"]) == cli.INTERRUPTED
        lines = capsys.readouterr().out.splitlines()
        assert [line.partition(" s  ")[2] for line in lines] == ["first", "later 0", "later 1", "later 2"]


class TwoProcesses:
    """Two API processes behind a proxy, which answer in turn and count the same submissions by numbers of their own."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._turn = 0

    def get(self, _: str, query: list[tuple[str, str]]) -> dict[str, Any]:
        self._turn = 1 - self._turn
        first = 1 + 100 * self._turn
        after = int(dict(query)["after"] or 0)
        rows = [{"key": key} for number, key in enumerate(self.keys, first) if number > after]
        return {"process": str(self._turn), "last": first + len(self.keys) - 1, "submissions": rows[::-1]}


def test_tail_follows_several_processes_behind_a_proxy() -> None:
    service = TwoProcesses()
    news = tail._News(cast(ServiceQueries, service), [])
    for _ in range(6):
        service.keys += [f"k{len(service.keys)}", f"k{len(service.keys) + 1}"]
        assert [row["key"] for row in reversed(news.look())] == service.keys[-2:]
    assert not news.look()


def test_top_shows_a_service(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(printed(capsys, "top", "--url", scene.url, "--once"))
    for part in ("one machine", "ready", "0 of 2 busy", "1 AC", "1 WA", "1 sandbox", "0 of 0 rechecks", "local"):
        assert part in text, part


def test_one_sample_ends_with_its_line(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["top", "--url", scene.url, "--once"]) == 0
    assert capsys.readouterr().out.endswith("\n")


def test_top_ends_with_the_service(capsys: pytest.CaptureFixture[str]) -> None:
    with stage() as fresh:
        closing = threading.Timer(1.5, lambda: fresh.soon(fresh.queue.drain(0.0)))
        closing.start()
        assert cli.main(["top", "--url", fresh.url]) == cli.USAGE_ERROR
    assert f"{fresh.url} is closing" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["top", "--once"], ["tail"]])
def test_what_does_not_answer_is_said(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert cli.main([*command, "--url", url]) == cli.USAGE_ERROR
    assert "is the service running? (proctor serve)" in capsys.readouterr().err
    assert cli.main([*command, "--url", "localhost"]) == cli.USAGE_ERROR
    assert "not an address like http://127.0.0.1:8080" in capsys.readouterr().err
    with stage(api_keys="right") as guarded:
        assert cli.main([*command, "--url", guarded.url]) == cli.USAGE_ERROR
        assert "put the key in PROCTOR_API_KEY" in capsys.readouterr().err


def test_a_wrong_search_is_refused_in_words(scene: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tail", "--url", scene.url, "--min-reward", "much"]) == cli.USAGE_ERROR
    assert "min_reward" in capsys.readouterr().err
