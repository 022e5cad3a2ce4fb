"""deploy/compose.yaml for real: images from the Dockerfiles, a burst, a worker killed, a worker added, none lost.

    sudo .venv/bin/python -m tests.container.compose        some ten minutes; the first time five more, for images

Needs: root, podman with runc, netavark and aardvark-dns, debootstrap, podman-compose on PATH, and
network: apt's own mirror and pip's own index, as they are configured on this machine. Nothing of the Dockerfiles or of
the compose file is changed, but the base image has another maker: debootstrap. Redis, HAProxy and Prometheus are
Debian's, under the names that the compose file has for theirs. Not shown: Docker itself, and Grafana.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tests.container import cases
from tests.http import Client

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DEPLOY = REPOSITORY / "deploy"
BASE = "docker.io/library/debian:bookworm-slim"
STAND_INS = {  # image: package, and what it starts with
    "docker.io/library/redis:7-alpine": ("redis-server", []),
    "docker.io/library/haproxy:3.0-alpine": ("haproxy", []),
    "docker.io/prom/prometheus:v3.1.0": (
        "prometheus",
        ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"],
    ),
}
# the limits are for machines that may not raise their own, where podman's defaults are refused
CONTAINERS = """\
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4000:4000"]
"""
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
    with tempfile.TemporaryDirectory() as folder:
        conf = Path(folder) / "containers.conf"
        conf.write_text(CONTAINERS)
        os.environ.update(CONTAINERS_CONF=str(conf), PROCTOR_PORT=str(PORT), PROCTOR_SLOTS="1")
        os.environ.update(PROCTOR_WORKER_MEMORY="4g", PROCTOR_WORKERS="2")
        build()
        with started(keep=given.keep):
            return 0 if all([ready(), burst(given.count), attacked(), replaced_in_time()]) else 1


def build() -> None:
    """Every image that the compose file names, but Grafana's."""
    if not _has(BASE):
        _debootstrap()
    for image, (package, command) in STAND_INS.items():
        if not _has(image):
            lines = [f"FROM {BASE}", f"RUN apt-get update && apt-get install -y --no-install-recommends {package}"]
            _build(["-t", image, "-f", "-", "."], "\n".join([*lines, f"CMD {json.dumps(command)}" if command else ""]))
    began = time.monotonic()
    _build(["-f", "docker/Dockerfile", "-t", "localhost/proctor:latest", "."])
    [size] = json.loads(_out("podman", "image", "inspect", "localhost/proctor:latest", "--format", "[{{.Size}}]"))
    say(f"image: built in {time.monotonic() - began:.0f} s, {size / 1e6:.0f} MB (base {_base_size() / 1e6:.0f} MB)")


def _base_size() -> float:
    return float(_out("podman", "image", "inspect", BASE, "--format", "{{.Size}}"))


def _has(image: str) -> bool:
    return subprocess.run(["podman", "image", "exists", image], check=False).returncode == 0


def _debootstrap() -> None:
    mirror = _out("apt-get", "indextargets", "--format", "$(REPO_URI)", "Codename: bookworm", "Created-By: Packages")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = f"{folder}/root"
        _run("debootstrap", "--variant=minbase", "bookworm", root, mirror.split()[0])
        shutil.rmtree(f"{root}/var/cache/apt/archives", ignore_errors=True)
        tar = subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE)
        subprocess.run(["podman", "import", "-", BASE], stdin=tar.stdout, check=True, capture_output=True)
        tar.wait()


def _build(arguments: Sequence[str], text: str | None = None) -> None:
    """With this machine's ways to apt's and pip's servers, which stay out of the image."""
    with tempfile.TemporaryDirectory() as folder:
        certificates = "/etc/ssl/certs/ca-certificates.crt"
        (Path(folder) / "pip.conf").write_text(f"{_pip_configuration()}\n[install]\ncert = /ca.pem\n")
        shared = {"/etc/apt": "/etc/apt", "/usr/share/keyrings": "/usr/share/keyrings", certificates: "/ca.pem"}
        shared |= {f"{folder}/pip.conf": "/etc/pip.conf"}
        volumes = [part for here, there in shared.items() for part in ("-v", f"{here}:{there}:ro")]
        command = ["podman", "build", "--network", "host", *volumes, *arguments]
        done = subprocess.run(command, cwd=REPOSITORY, input=text, text=True, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def _pip_configuration() -> str:
    """The indexes, without paths and certificates of this machine."""
    lines = subprocess.run(["pip", "config", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = ("global.index-url", "global.extra-index-url")
    found = [line.removeprefix("global.").replace("'", "") for line in lines if line.startswith(wanted)]
    return "\n".join(["[global]", *found])


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
        say(f"--- {name}\n{_out('podman', 'logs', '--tail', '20', name)}")
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
        _run("podman", "kill", victim)
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
    _run("podman", "stop", "--time", "60", name)
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
    names = _out("podman", "ps", *filters, "--format", "{{.Names}}").split()
    return sorted(name for name in names if f"_{service}" in name or f"-{service}" in name)


def _memory() -> dict[str, str]:
    lines = _out("podman", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").splitlines()
    return {name: used.partition("/")[0].strip() for name, _, used in (line.partition(" ") for line in lines)}


def _compose(*arguments: str) -> None:
    _run(str(REPOSITORY / "scripts/compose"), *arguments)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=DEPLOY)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def _out(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip()


def say(text: str) -> None:
    """A line of the report."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
