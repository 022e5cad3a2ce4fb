"""Tests of the checkpoint scanner with folders that are being written or vanish."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Elements, opened
from trainer.checkpoint import locked
from trainer.errors import UnavailableError
from trainer.evaluation import page, scanner
from trainer.evaluation.checkpoints import CheckpointFinder, FoundCheckpoint, has_model, is_as_written
from trainer.evaluation.evaluation import SUMMARY
from trainer.evaluation.jsonl import atomic_write
from trainer.evaluation.scanner import ATTEMPTS, CURVES, FAILED, LOCK, Scanner

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def tensors(size: int = 1000) -> bytes:
    """A file of safetensors."""
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size)


def write_model(folder: Path, pause: Callable[[], None] = lambda: None) -> None:
    """File by file, and large ones in pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    index = {"weight_map": {f"w{number}": name for number, name in enumerate(SHARDS)}}
    for name, text in (("model.safetensors.index.json", json.dumps(index)), ("config.json", '{"model_type": "x"}')):
        (folder / name).write_text(text)
        pause()
    for name in SHARDS:
        body = tensors()
        for start in range(0, len(body), 300):
            with (folder / name).open("ab") as file:
                file.write(body[start : start + 300])
            pause()


def write_ours(run: Path, step: int, pause: Callable[[], None] = lambda: None) -> Path:
    """As a run does: under another name first, with a manifest at last."""
    path = run / "checkpoints" / f"step_{step:06}"
    unfinished = path.with_name(path.name + ".tmp")
    write_model(unfinished / "model", pause)
    files = {
        str(each.relative_to(unfinished)): {"bytes": each.stat().st_size}
        for each in unfinished.rglob("*")
        if each.is_file()
    }
    (unfinished / "manifest.json").write_text(json.dumps({"step": step, "files": files}))
    pause()
    unfinished.rename(path)
    return path


def write_theirs(run: Path, step: int, pause: Callable[[], None] = lambda: None) -> Path:
    """As others do: in place."""
    path = run / f"global_step_{step}"
    write_model(path / "hf_model", pause)
    return path


def told(found: FoundCheckpoint, value: float = 0.5) -> dict[str, Any]:
    """A summary."""
    figures = {
        "problems": 2,
        "samples": 4,
        "avg": {"value": value, "low": value / 2, "high": (1 + value) / 2, "error": 0.1, "n": 2},
        "pass": {"1": None, "4": {"value": value, "low": 0.0, "high": 1.0, "error": 0.1, "n": 2}},
        "cut": 0.0,
        "tokens": 10.0,
        "faults": 0,
        "missing": 0,
    }
    more = {"k": [1, 4], "n": 4, "by": {"source": {"a": figures}}, "without_verdict": {"problems": 0, "first": []}}
    return {"name": found.name, "step": found.step, **figures, **more, "rating": None}


class Watch:
    """A scanner whose evaluations are what `do` does, and then a summary."""

    def __init__(self, run: Path, settle: float = 0.0, **options: Any) -> None:
        self.run = run
        self.evaluated: list[str] = []
        self.notices: list[str] = []
        self.do: Callable[[FoundCheckpoint], Awaitable[None] | None] = lambda _: None
        self.scanner = Scanner(
            CheckpointFinder(run, settle), run / "evaluations", self.evaluate, self.notices.append, 0.01, **options
        )

    async def evaluate(self, found: FoundCheckpoint, folder: Path) -> None:
        self.evaluated.append(found.name)
        doing = self.do(found)
        if doing is not None:
            await doing
        with atomic_write(folder / SUMMARY) as file:  # as an evaluation does: another scanner may read it now
            file.write(json.dumps(told(found)))

    def once(self) -> list[str]:
        """The names of what was evaluated."""
        self.evaluated = []

        async def bounded() -> None:
            async with asyncio.timeout(30):
                await self.scanner.run(once=True)

        asyncio.run(bounded())
        return self.evaluated

    def folder(self, step: int) -> Path:
        return self.run / "evaluations" / f"step_{step:06}"


# --- which are whole


def test_ours_are_whole_by_their_manifest(tmp_path: Path) -> None:
    path = write_ours(tmp_path, 5)
    assert is_as_written(path)
    (found,) = CheckpointFinder(tmp_path, 99).whole()
    assert (found.step, found.name, found.model) == (5, "step_000005", path / "model")


@pytest.mark.parametrize(
    "flaw", ["shorter", "longer", "gone", "no manifest", "half a manifest", "another name", "no model"]
)
def test_ours_with_a_flaw_are_not_taken(flaw: str, tmp_path: Path) -> None:
    path = write_ours(tmp_path, 5)
    shard, manifest = path / "model" / SHARDS[1], path / "manifest.json"
    match flaw:
        case "shorter":
            shard.write_bytes(shard.read_bytes()[:-1])
        case "longer":
            shard.write_bytes(shard.read_bytes() + b" ")
        case "gone":
            shard.unlink()
        case "no manifest":
            manifest.unlink()
        case "half a manifest":
            manifest.write_text(manifest.read_text()[:40])
        case "another name":
            path.rename(path.with_name("step_000005.tmp"))
        case "no model":
            shutil.rmtree(path / "model")
            manifest.write_text('{"step": 5, "files": {}}')
    assert CheckpointFinder(tmp_path, 0).whole() == []


def test_theirs_are_whole_when_nothing_changes_any_more(tmp_path: Path) -> None:
    now = 100.0
    checkpoints = CheckpointFinder(tmp_path, 60, lambda: now)
    path = write_theirs(tmp_path, 7)
    assert (checkpoints.whole(), checkpoints.settling) == ([], 1)
    now += 59
    (path / "hf_model" / "tokenizer.json").write_text("{}")
    assert checkpoints.whole() == []
    now += 59
    assert checkpoints.whole() == [], "it has changed in between"
    now += 1
    assert [each.step for each in checkpoints.whole()] == [7]


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors.index.json", *SHARDS])
def test_theirs_without_one_of_their_files_are_none(missing: str, tmp_path: Path) -> None:
    path = write_theirs(tmp_path, 7)
    (path / "hf_model" / missing).unlink()
    assert CheckpointFinder(tmp_path, 0).whole() == []


def test_a_file_of_weights_that_is_shorter_than_it_says_is_never_taken(tmp_path: Path) -> None:
    """However long nothing happens: a writer may hang."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    body = tensors()
    for size in (0, 5, 8, 40, len(body) - 1):
        (folder / "model.safetensors").write_bytes(body[:size])
        assert not has_model(folder)
    (folder / "model.safetensors").write_bytes(body)
    assert has_model(folder)


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    for name in ("step_5", "model", "evaluations", "global_step_x", "global_step_5.tmp", "checkpoint-5-old"):
        write_model(tmp_path / name)
        write_model(tmp_path / "checkpoints" / name)
    assert CheckpointFinder(tmp_path, 0).whole() == []
    assert CheckpointFinder(tmp_path / "nowhere", 0).whole() == []
    write_model(tmp_path / "checkpoint-12")
    assert [each.step for each in CheckpointFinder(tmp_path, 0).whole()] == [12]


# --- once, in order


def test_each_once_in_the_order_of_steps(tmp_path: Path) -> None:
    for step in (30, 10, 20):
        write_ours(tmp_path, step)
    assert Watch(tmp_path).once() == ["step_000010", "step_000020", "step_000030"]
    write_ours(tmp_path, 40)
    assert Watch(tmp_path).once() == ["step_000040"], "also by another scanner"
    assert Watch(tmp_path).once() == []


def test_the_newest_first_if_that_is_wanted(tmp_path: Path) -> None:
    for step in (10, 20, 100):
        write_ours(tmp_path, step)
    assert Watch(tmp_path, newest_first=True).once() == ["step_000100", "step_000020", "step_000010"]


def test_a_directory_that_is_being_written_is_never_taken_half(tmp_path: Path) -> None:
    """A writer of both kinds, in small pieces; each evaluation looks at what it was given."""
    chance = random.Random(0)
    is_writing = True

    def pause() -> None:
        time.sleep(chance.uniform(0, 0.01))

    def write() -> None:
        nonlocal is_writing
        for step in range(1, 9):
            (write_ours if step % 2 else write_theirs)(tmp_path, step, pause)
        is_writing = False

    def look(found: FoundCheckpoint) -> None:
        sizes = [(found.model / name).stat().st_size for name in SHARDS]
        assert sizes == [len(tensors())] * 2, "half of it"
        assert (found.model / "config.json").exists()

    watch = Watch(tmp_path, settle=0.15)
    watch.do = look
    writer = threading.Thread(target=write)
    writer.start()
    looks = 0

    async def work() -> None:
        nonlocal looks
        scanning = asyncio.create_task(watch.scanner.run())
        async with asyncio.timeout(30):
            while len(watch.evaluated) < 8:
                looks += is_writing
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        scanning.cancel()
        await asyncio.gather(scanning, return_exceptions=True)

    asyncio.run(work())
    writer.join()
    assert looks > 10, "it was looked at while it was written"
    assert sorted(watch.evaluated) == sorted(
        [f"step_{step:06}" for step in (1, 3, 5, 7)] + [f"global_step_{step}" for step in (2, 4, 6, 8)]
    )


def _evaluate_slowly(run: Path, number: int) -> None:
    watch = Watch(run)
    watch.do = lambda _: asyncio.sleep(0.02)
    (run / f"by_{number}").write_text(json.dumps(watch.once()))


def test_two_scanners_share_the_work(tmp_path: Path) -> None:
    for step in range(1, 13):
        write_ours(tmp_path, step)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_evaluate_slowly, args=(tmp_path, number)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    one, other = (json.loads((tmp_path / f"by_{number}").read_text()) for number in range(2))
    assert sorted([*one, *other]) == [f"step_{step:06}" for step in range(1, 13)]
    assert one
    assert other


def test_what_is_in_anothers_hands_is_left_to_him(tmp_path: Path) -> None:
    write_ours(tmp_path, 1)
    write_ours(tmp_path, 2)
    watch = Watch(tmp_path)
    with locked(watch.folder(1) / LOCK) as is_ours:
        assert is_ours
        assert watch.once() == ["step_000002"]
    assert watch.once() == ["step_000001"], "he died: the kernel has taken his lock"


# --- failures


def test_three_attempts_with_growing_pauses_then_it_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    write_ours(tmp_path, 1)
    watch = Watch(tmp_path)

    def fail(_: FoundCheckpoint) -> None:
        raise UnavailableError("vLLM ended")

    watch.do = fail
    waits = []
    for _ in range(3):
        due = watch.scanner.due()
        assert due is not None
        asyncio.run(watch.scanner.attempt(due))
        began = now
        while watch.scanner.due() is None and watch.scanner.has_more():
            now += 1
        waits.append(now - began)
    assert waits == [60, 120, 0]
    failed = json.loads((watch.folder(1) / FAILED).read_text())
    assert failed["troubles"] == ["UnavailableError: vLLM ended"] * 3
    assert "attempt 1 failed, again in 60 s: vLLM ended" in watch.notices[1]
    assert "failed 3 times and is skipped" in watch.notices[-1]
    assert watch.once() == []
    (watch.folder(1) / FAILED).unlink()
    watch.do = lambda _: None
    assert watch.once() == ["step_000001"], "whoever wants it tried again removes the file"


def test_a_failure_holds_nobody_up_and_is_forgotten_when_it_works(tmp_path: Path) -> None:
    write_ours(tmp_path, 1)
    write_ours(tmp_path, 2)
    watch = Watch(tmp_path, pause_seconds=0.3)
    tries: list[str] = []

    def fail_at_first(found: FoundCheckpoint) -> None:
        tries.append(found.name)
        if tries.count("step_000001") == 1 and found.step == 1:
            raise OSError("disk full")

    watch.do = fail_at_first
    assert watch.once() == ["step_000001", "step_000002", "step_000001"]
    assert not (watch.folder(1) / ATTEMPTS).exists()
    assert (watch.folder(1) / SUMMARY).exists()


def test_attempts_are_remembered_by_another_scanner(tmp_path: Path) -> None:
    write_ours(tmp_path, 1)

    def fail(_: FoundCheckpoint) -> None:
        raise UnavailableError("gone")

    for _ in range(2):
        watch = Watch(tmp_path, pause_seconds=0.0)
        watch.do = fail
        due = watch.scanner.due()
        assert due is not None
        asyncio.run(watch.scanner.attempt(due))
    watch = Watch(tmp_path, pause_seconds=0.0)
    watch.do = fail
    assert watch.once() == ["step_000001"]
    assert (watch.folder(1) / FAILED).exists()


def test_a_checkpoint_that_vanishes_is_nobodys_failure(tmp_path: Path) -> None:
    for step in (1, 2):
        write_ours(tmp_path, step)
    watch = Watch(tmp_path)

    def vanish(found: FoundCheckpoint) -> None:
        if found.step == 1:
            shutil.rmtree(found.path)
            raise UnavailableError("vLLM ended: no such file")

    watch.do = vanish
    assert watch.once() == ["step_000001", "step_000002"]
    assert not (watch.folder(1) / ATTEMPTS).exists()
    assert "step_000001 was deleted and is skipped" in watch.notices


def test_one_that_vanishes_when_it_is_loaded_is_evaluated_to_the_end(tmp_path: Path) -> None:
    write_ours(tmp_path, 1)
    watch = Watch(tmp_path)
    watch.do = lambda found: shutil.rmtree(found.path)
    assert watch.once() == ["step_000001"]
    assert (watch.folder(1) / SUMMARY).exists()


def test_ended_in_the_middle_it_is_no_attempt_and_is_done_next_time(tmp_path: Path) -> None:
    write_ours(tmp_path, 1)
    watch = Watch(tmp_path)
    watch.do = lambda _: asyncio.sleep(60)

    async def work() -> None:
        scanning = asyncio.create_task(watch.scanner.run())
        while not watch.evaluated:
            await asyncio.sleep(0.01)
        scanning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scanning

    asyncio.run(work())
    assert [each.name for each in watch.folder(1).iterdir()] == ["lock"]
    assert Watch(tmp_path).once() == ["step_000001"]


# --- what is told


def test_curves_have_each_checkpoint_once_by_step(tmp_path: Path) -> None:
    for step in (200, 100):
        write_ours(tmp_path, step)
    Watch(tmp_path, newest_first=True).once()
    scanner.write_curves(tmp_path / "evaluations")
    lines = [json.loads(line) for line in (tmp_path / "evaluations" / CURVES).read_text().splitlines()]
    assert [line["step"] for line in lines] == [100, 200]
    assert "2 checkpoints" in (tmp_path / "evaluations" / "page.html").read_text()


def test_the_page_of_a_run_is_whole_and_a_browser_has_no_complaint(tmp_path: Path) -> None:
    found = [FoundCheckpoint(step, Path(f"step_{step:06}"), Path()) for step in (100, 200, 400)]
    text = page.render_curves("<run>", [told(each, 0.2 + each.step / 1000) for each in found])
    Elements(text.replace("circle ", "line "))
    assert "&lt;run&gt;" in text
    assert text.count('<path class="curve"') == 3, "avg, pass@4, and one of a group"
    _, complaints = opened(tmp_path, text)
    assert complaints == []


def test_the_page_of_an_evaluation_is_whole_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    line = {"problem": "<p>", "correct": 1, "n": 3, "right": [True, False, None], "verdicts": {"AC": 1}, "tokens": None}
    text = page.render("x", told(FoundCheckpoint(1, Path("a"), Path())), [line])
    seen = Elements(text).seen
    assert not [tag for tag, _ in seen if tag in ("script", "img", "iframe")]
    assert "●○·" in text
    assert "&lt;p&gt;" in text
    _, complaints = opened(tmp_path, text)
    assert complaints == []
