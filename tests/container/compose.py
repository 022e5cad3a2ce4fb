"""deploy/compose.yaml for real: images from the Dockerfiles, a burst, a worker killed, a worker added, none lost.

    sudo .venv/bin/python -m tests.container.compose        some ten minutes; the first time five more, for images

Needs, beside what images.py does: netavark, aardvark-dns, and podman-compose on PATH. Nothing of the compose file is
changed. Not shown: Docker itself, and Grafana.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any

from tests.container import cases
from tests.container.images import REPOSITORY, build_service, build_stand_ins, out, podman, run, say
from tests.http import Client

DEPLOY = REPOSITORY / "deploy"
SERVICES = ("proxy", "api", "worker", "redis", "prometheus")
PORT = 8380
READY_SECONDS = 120.0
RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = "a, b = map(int, input().split())\nprint(a - b)\n"


def main() -> int:
    """Build, start, and try. 0 if all was as it should be."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=2000, help="submissions of the burst")
    options.add_argument("--keep", action="store_true", help="leave it running")
    given = options.parse_args()
    with podman():
        os.environ.update(PROCTOR_PORT=str(PORT), PROCTOR_SLOTS="1", PROCTOR_WORKER_MEMORY="4g", PROCTOR_WORKERS="2")
        build_stand_ins()
        build_service()
        with started(keep=given.keep):
            return 0 if all([ready(), burst(given.count), attacked(), replaced_in_time()]) else 1


@contextmanager
def started(*, keep: bool) -> Iterator[None]:
    """The fleet, two workers and two API processes."""
    began = time.monotonic()
    _compose("up", "--detach", "--no-build", *SERVICES)
    say(f"up: {time.monotonic() - began:.1f} s for {len(_containers())} containers")
    try:
        yield
    finally:
        if not keep:
            _compose("down", "--volumes")


def ready() -> bool:
    """Wait for two workers that can grade."""
    began = time.monotonic()
    while time.monotonic() - began < READY_SECONDS:
        status = _status()
        if len(status.get("workers", [])) == 2 and all(worker["ready"] for worker in status["workers"]):
            say(f"ready: {time.monotonic() - began:.1f} s after up")
            for name, used in _memory().items():
                say(f"  memory of {name}: {used}")
            return True
        time.sleep(0.5)
    say(f"NOT READY after {READY_SECONDS:g} s: {_status()}")
    for name in _containers():
        say(f"--- {name}\n{out('podman', 'logs', '--tail', '20', name)}")
    return False


def burst(count: int) -> bool:
    """All are answered right, though a worker is killed in the middle and another is added."""
    codes = [RIGHT if number % 3 else WRONG for number in range(count)]
    tests = [{"type": "stdin", "input": f"{n} {n + 1}\n", "output": f"{2 * n + 1}\n"} for n in range(5)]
    submissions = [{"id": f"burst-{n}", "code": code + f"# {n}\n"} for n, code in enumerate(codes)]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answered = pool.submit(_client().batch, submissions, tests=tests)
        time.sleep(2.0)
        [victim, *_] = _containers("worker")
        run("podman", "kill", victim)
        say(f"killed {victim} after 2 s")
        time.sleep(1.0)
        os.environ["PROCTOR_WORKERS"] = "3"
        _compose("up", "--detach", "--no-build", "--no-recreate", "worker")
        say(f"added one: workers now {len(_containers('worker'))}")
        grades = answered.result()
    took = time.monotonic() - began
    wrong = [n for n, code in enumerate(codes) if grades[f"burst-{n}"]["verdict"] != ("AC" if code == RIGHT else "WA")]
    verdicts = Counter(grade["verdict"] for grade in grades.values())
    twice = sum(grade["grader"]["attempts"] > 1 for grade in grades.values())
    hosts = len({grade["grader"]["host"] for grade in grades.values()})
    say(f"burst: {len(grades)} of {count} answered in {took:.1f} s by {hosts} hosts: {dict(verdicts)}, {twice} twice")
    return len(grades) == count and not wrong


def attacked() -> bool:
    """None of the attacks pays, through the proxy and in the workers' containers."""
    paid, tried = cases.attack(_client())
    say(f"attacks: {tried} tried, paid or out: {', '.join(paid) or 'none'}")
    return not paid


def replaced_in_time() -> bool:
    """A worker that is told to stop gives back what it has, and ends by itself."""
    [name, *_] = _containers("worker")
    began = time.monotonic()
    run("podman", "stop", "--time", "60", name)
    took = time.monotonic() - began
    say(f"stop: {name} ended in {took:.1f} s")
    return took < 30


# --- what there is


class _Keyed(Client):
    """Brings the key that scripts/compose made."""

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        key = (DEPLOY / "secrets/api_keys").read_text().strip()
        return super().request(method, path, body, {"Authorization": f"Bearer {key}", **(headers or {})})


def _client() -> Client:
    return _Keyed(f"http://127.0.0.1:{PORT}")


def _status() -> dict[str, Any]:
    try:
        status, found = _client().get("/v1/status")
    except (OSError, HTTPException, ValueError) as trouble:
        return {"trouble": str(trouble)}
    return found if status == 200 else {"trouble": found}


def _containers(service: str = "") -> list[str]:
    filters = ["--filter", "label=io.podman.compose.project=proctor"]
    names = out("podman", "ps", *filters, "--format", "{{.Names}}").split()
    return sorted(name for name in names if f"_{service}" in name or f"-{service}" in name)


def _memory() -> dict[str, str]:
    lines = out("podman", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").splitlines()
    return {name: used.partition("/")[0].strip() for name, _, used in (line.partition(" ") for line in lines)}


def _compose(*arguments: str) -> None:
    run(str(REPOSITORY / "scripts/compose"), *arguments)


if __name__ == "__main__":
    sys.exit(main())
