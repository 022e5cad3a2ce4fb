"""The images of docker/ and of what deploy/compose.yaml names, built by podman on this machine.

    sudo .venv/bin/python -m tests.container.images [service] [full] [trainer]     all three by default; the time and
                                                                                   size of each. The others' are
                                                                                   compose.py's

Nothing of the Dockerfiles is changed, but the base image has another maker: debootstrap. Redis, HAProxy and Prometheus
are Debian's, under the names that the compose file has for theirs.

Needs: root, podman with runc, debootstrap, and network: apt's own mirror and pip's own index, as they are configured on
this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SERVICE = "localhost/proctor:latest"
FULL = "localhost/proctor:full"
TRAINER = "localhost/proctor-trainer:latest"
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
# it knows the names of containers; without this, podman goes on with another one that it used before
NETAVARK = Path("/usr/lib/podman/netavark")
NETWORK = '[network]\nnetwork_backend = "netavark"\n'


@contextmanager
def podman() -> Iterator[None]:
    """Podman as it works here, for all that is started meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        conf = Path(folder) / "containers.conf"
        conf.write_text(CONTAINERS + (NETWORK if NETAVARK.exists() else ""))
        os.environ["CONTAINERS_CONF"] = str(conf)
        yield


def build_stand_ins() -> None:
    """What the compose file takes from elsewhere, but Grafana."""
    _need_base()
    for image, (package, command) in STAND_INS.items():
        if not has(image):
            lines = [f"FROM {BASE}", f"RUN apt-get update && apt-get install -y --no-install-recommends {package}"]
            _build(["-t", image, "-f", "-", "."], "\n".join([*lines, f"CMD {json.dumps(command)}" if command else ""]))


def build_service() -> None:
    """The service's own."""
    _build_own("docker/Dockerfile", SERVICE)


def build_full() -> None:
    """The service's with the compilers of all languages, as docker/bake.hcl says."""
    target = (REPOSITORY / "docker/bake.hcl").read_text().partition('target "full" {')[2].partition("tags =")[0]
    arguments = re.findall(r'(\w+_PACKAGES) = "([^"]*)"', target)
    _build_own("docker/Dockerfile", FULL, *(f"{name}={packages}" for name, packages in arguments))


def build_trainer() -> None:
    """The trainer's, with all that it imports there: a quarter of an hour, and 30 GB of disk on the way."""
    _build_own("docker/trainer.Dockerfile", TRAINER)
    imported = "import deepspeed, torch, vllm; print(deepspeed.__version__, torch.__version__, vllm.__version__)"
    run("podman", "run", "--rm", TRAINER, "--help")
    said = out("podman", "run", "--rm", "--entrypoint", "python3", TRAINER, "-W", "ignore", "-c", imported)
    say(f"DeepSpeed, PyTorch, vLLM: {said.splitlines()[-1]}")


def _build_own(dockerfile: str, image: str, *arguments: str) -> None:
    _need_base()
    began = time.monotonic()
    given = [part for argument in arguments for part in ("--build-arg", argument)]
    _build(["-f", dockerfile, "-t", image, *given, "."])
    took, size, base = time.monotonic() - began, _size(image), _size(BASE)
    say(f"{image}: built in {took:.0f} s, {size / 1e6:.0f} MB (base {base / 1e6:.0f} MB)")


def _need_base() -> None:
    if not has(BASE):
        _debootstrap()


def _size(image: str) -> float:
    return float(out("podman", "image", "inspect", image, "--format", "{{.Size}}"))


def has(image: str) -> bool:
    """Whether the image is there."""
    return subprocess.run(["podman", "image", "exists", image], check=False).returncode == 0


def _debootstrap() -> None:
    mirror = out("apt-get", "indextargets", "--format", "$(REPO_URI)", "Codename: bookworm", "Created-By: Packages")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = f"{folder}/root"
        run("debootstrap", "--variant=minbase", "bookworm", root, mirror.split()[0])
        import_root(root, BASE)


def import_root(root: str, image: str) -> None:
    """Make an image of a root file system, without the packages that it was made of."""
    shutil.rmtree(f"{root}/var/cache/apt/archives", ignore_errors=True)
    tar = subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE)
    subprocess.run(["podman", "import", "-", image], stdin=tar.stdout, check=True, capture_output=True)
    tar.wait()


def _build(arguments: Sequence[str], text: str | None = None) -> None:
    """With this machine's ways to apt's and pip's servers, which stay out of the image."""
    with tempfile.TemporaryDirectory() as folder:
        certificates = "/etc/ssl/certs/ca-certificates.crt"
        (Path(folder) / "pip.conf").write_text(f"{pip_configuration()}\n[install]\ncert = /ca.pem\n")
        shared = {"/etc/apt": "/etc/apt", "/usr/share/keyrings": "/usr/share/keyrings", certificates: "/ca.pem"}
        shared |= {f"{folder}/pip.conf": "/etc/pip.conf"}
        volumes = [part for here, there in shared.items() for part in ("-v", f"{here}:{there}:ro")]
        command = ["podman", "build", "--network", "host", *volumes, *arguments]
        done = subprocess.run(command, cwd=REPOSITORY, input=text, text=True, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def pip_configuration() -> str:
    """The indexes, without folders and certificates of this machine."""
    lines = subprocess.run(["pip", "config", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = ["[global]"]
    for line in lines:
        name, _, value = line.removeprefix("global.").partition("=")
        addresses = [each for each in value.strip("'").split() if each.startswith("http")]
        if name in ("index-url", "extra-index-url") and addresses:
            found.append(f"{name} = {' '.join(addresses)}")
    return "\n".join(found)


def run(*command: str) -> None:
    """Do it, or end with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY / "deploy")
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def out(*command: str) -> str:
    """What it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip()


def say(text: str) -> None:
    """A line of the report."""
    print(text, flush=True)


BUILDERS = {"service": build_service, "full": build_full, "trainer": build_trainer}

if __name__ == "__main__":
    with podman():
        for name in sys.argv[1:] or BUILDERS:
            BUILDERS[name]()
