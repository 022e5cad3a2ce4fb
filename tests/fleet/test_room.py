"""A Redis whose disk or memory is full: new submissions are refused for now, and none is lost."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fleet.conftest import Under
from tests.fleet.fleet import AOF, GUARD_SECONDS, Api, FleetWorker, running_fleet, running_fleet_redis, until
from tests.fleet.load import Load, submission
from tests.markers import one_in

FULL_SECONDS = 3.0
MIB = 1 << 20


@contextmanager
def small_disk(size: int) -> Iterator[Path]:
    """A file system of its own, in memory."""
    with tempfile.TemporaryDirectory(prefix="proctor-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "proctor-disk", folder]
        tried = subprocess.run(mount, capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path: Path) -> None:
    """Until nothing more can be written."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(64 << 10)):
            pass


def test_a_full_disk_changes_no_answer(under: Under) -> None:
    with small_disk(32 * MIB) as folder, running_fleet(*AOF, folder=str(folder)) as fleet:
        server = fleet.redis.client()

        def disturb(_: Load) -> None:
            fill(folder / "other")
            until(lambda: server.info("persistence")["aof_last_write_status"] == "err", "Redis cannot write")
            time.sleep(FULL_SECONDS)
            (folder / "other").unlink()

        under(fleet, "Redis' disk full for some seconds, AOF", disturb)


def test_full_memory_refuses_what_is_new_and_loses_nothing(under: Under) -> None:
    with running_fleet() as fleet:
        server = fleet.redis.client()

        def disturb(_: Load) -> None:
            server.set("other", bytes(32 * MIB))
            server.config_set("maxmemory", 16 * MIB)
            # one that is new: of the load, all may have been taken already
            status, answer = fleet.apis[0].client.post("/v1/grade", submission("stdin", "AC", 1_000_000))
            server.delete("other")
            assert status in (429, 503), answer

        figures = under(fleet, "Redis' memory full until something was refused", disturb)
        assert figures.counts.get("reaped", 0) == 0


def test_what_was_taken_is_graded_while_memory_is_full() -> None:
    """Only what is new takes memory: it would be a trap if grading did."""
    submissions = {f"AC-{number}": submission("stdin", "AC", number) for number in range(60)}
    with running_fleet() as fleet:
        server = fleet.redis.client()
        for worker in fleet.workers:
            worker.freeze()  # so that all of it waits
        load = Load(fleet.urls(), submissions)
        until(lambda: fleet.apis[0].status()["pending"]["submissions"] == len(submissions), "all was taken")
        server.set("other", bytes(32 * MIB))
        server.config_set("maxmemory", 16 * MIB)
        for worker in fleet.workers:
            worker.thaw()
        told = load.join()
        assert server.info("memory")["used_memory"] > 16 * MIB
        assert [grade["verdict"] for grade in told.grades.values()] == ["AC"] * len(submissions)
        print(f"\n60 that waited when memory was full: gap {load.longest_gap():.1f} s, {load.seconds:.1f} s in all")
        server.delete("other")


@pytest.mark.parametrize("policy", one_in(2, ["allkeys-lru", "volatile-ttl"]))
def test_a_redis_that_throws_things_away_is_refused_by_name(policy: str, tmp_path: Path) -> None:
    with running_fleet_redis("--maxmemory", "64mb", "--maxmemory-policy", policy) as server:
        for member in (FleetWorker(0, server.url), Api(server.url)):
            log = tmp_path / "log"
            member.start(log)
            assert member.process.wait(GUARD_SECONDS) == 2
            assert "maxmemory-policy" in log.read_text()
            assert "noeviction" in log.read_text()
