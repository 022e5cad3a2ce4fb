"""A worker that cannot reach Redis for a while, because the network drops its packets."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fleet.conftest import Under
from tests.fleet.fleet import Fleet, FleetWorker, ending, running_fleet_redis
from tests.fleet.load import IS_FOR_THE_RECORD, Load

DOWN_SECONDS = 10 if IS_FOR_THE_RECORD else 6
NAME = f"proctor{os.getpid() % 100_000}"
OURS, THEIRS = f"10.213.{os.getpid() % 250}.1", f"10.213.{os.getpid() % 250}.2"


def ip(*arguments: str) -> None:
    """Run iproute2's `ip`. Raises CalledProcessError."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@contextmanager
def elsewhere() -> Iterator[None]:
    """A network namespace called NAME, joined to ours by a cable; our end is called NAME too."""
    try:
        ip("netns", "add", NAME)
        try:
            ip("link", "add", NAME, "type", "veth", "peer", "name", "there", "netns", NAME)
            ip("address", "add", f"{OURS}/24", "dev", NAME)
            ip("link", "set", NAME, "up")
            ip("-n", NAME, "address", "add", f"{THEIRS}/24", "dev", "there")
            ip("-n", NAME, "link", "set", "there", "up")
            ip("-n", NAME, "link", "set", "lo", "up")
            made = True
        except subprocess.CalledProcessError:
            ip("netns", "delete", NAME)
            raise
    except (OSError, subprocess.CalledProcessError) as trouble:
        made = False
        reason = getattr(trouble, "stderr", "") or trouble
    if not made:
        pytest.skip(f"no network namespaces here: {reason}")
    try:
        yield
    finally:
        ip("netns", "delete", NAME)


def test_a_worker_that_is_cut_off_from_redis_changes_no_answer(under: Under) -> None:
    with elsewhere(), running_fleet_redis("--bind", "127.0.0.1", OURS, "--protected-mode", "no") as server:
        fleet = Fleet(server, apis=1, workers=2)
        enter = ["nsenter", f"--net=/run/netns/{NAME}"]
        fleet.workers[0] = FleetWorker(0, f"redis://{OURS}:{server.port}/0", enter)

        def disturb(_: Load) -> None:
            ip("link", "set", NAME, "down")
            time.sleep(DOWN_SECONDS)
            ip("link", "set", NAME, "up")

        with ending(fleet):
            fleet.start()
            figures = under(fleet, f"a worker of two cut off from Redis {DOWN_SECONDS} s", disturb)
            assert figures.counts["reaped"] == 1
            fleet.wait_ready()  # it has come back, under another name
