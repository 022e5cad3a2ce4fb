"""The wheel on fresh root file systems: installed by pip beside a packaged firejail, started, and asked to grade.

    sudo .venv/bin/python -m tests.container.wheel [SUITE[=MIRROR[=KEYRING]]…]     default: bookworm (Debian 12)

Each root file system is a minimal one of debootstrap, such as `bookworm`, `trixie` or `noble` (Ubuntu 24.04), and runs
as a container of podman. MIRROR is where its packages are; default: the mirror of this machine's apt, which on Debian
has Debian's suites only. KEYRING has the keys that its release is signed with. A suite takes two to five minutes.

Needs: root, podman with runc, debootstrap, and network: the mirrors, and pip's own index as it is configured here.

Not shown: a machine's own kernel, AppArmor and systemd, because the container has those of this machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.container import images

BUILT_FROM = ("sandbox_service", "trainer", "pyproject.toml", "setup.py", "README.md", "LICENSE")
SCRIPTS = Path("/usr/share/debootstrap/scripts")
UBUNTU = "jammy"  # debootstrap has one script for all recent releases of Ubuntu
PORT = 8390
MINUTES = 20
PACKAGES = "firejail python3-venv"  # what README.md tells to install, and Debian's module for environments

INSIDE = f"""
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt-get update -qq
apt-get install -y -qq --no-install-recommends {PACKAGES} >/tmp/apt.log 2>&1 || {{ tail -20 /tmp/apt.log; exit 1; }}
python3 -m venv /opt/proctor
PATH=/opt/proctor/bin:$PATH
PIP_CERT=/ca.pem pip install --quiet "$(echo /check/*.whl)[service]"
cd /tmp && cp /check/*.json /check/*.py .
. /etc/os-release
echo "$PRETTY_NAME, $(python3 --version), $(firejail --version 2>/dev/null | sed -n 1p), $(proctor --version)"
proctor serve --port {PORT} >serve.log 2>&1 &
server=$!
python3 ready.py http://127.0.0.1:{PORT}/readyz || {{ tail -20 serve.log; exit 1; }}
proctor grade problem.json right.py wrong.py --json --url http://127.0.0.1:{PORT} >served.jsonl || test $? = 1
kill $server && wait $server
proctor grade problem.json right.py wrong.py --json >local.jsonl || test $? = 1
python3 verdicts.py served.jsonl local.jsonl
"""

FILES = {
    "problem.json": json.dumps({"tests": [{"type": "stdin", "input": "1 2\n", "output": "3\n"}]}),
    "right.py": "print(sum(map(int, input().split())))\n",
    "wrong.py": "print(4)\n",
    "ready.py": """
import sys, time, urllib.request
for _ in range(120):
    try:
        print("served:", urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
        break
    except OSError:
        time.sleep(0.5)
else:
    sys.exit("the service was not ready within a minute")
""",
    "verdicts.py": """
import json, sys
for path in sys.argv[1:]:
    found = {grade["id"]: grade["verdict"] for grade in map(json.loads, open(path))}
    print(path, found)
    assert found == {"right.py": "AC", "wrong.py": "WA"}, found
""",
}


def build_wheel(folder: Path) -> None:
    """Build the wheel of this tree into a folder."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        for part in BUILT_FROM:
            source = images.REPOSITORY / part
            if source.is_dir():
                shutil.copytree(source, tree / part, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.elf"))
            else:
                shutil.copy(source, tree)
        pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
        images.run(*pip, "--wheel-dir", str(folder), str(tree))


def make_image(suite: str, mirror: str, keyring: str) -> str:
    """Return the name of an image with the suite's minimal root file system; made if it is not there.

    Args:
        suite: The release's name.
        mirror: Address of its packages; empty: the mirror of this machine's apt.
        keyring: Path of the keys that its release is signed with; empty: debootstrap's own.
    """
    image = f"localhost/proctor-root-{suite}"
    if images.has(image):
        return image
    here = images.out("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
    script = suite if (SCRIPTS / suite).exists() else UBUNTU
    options = ["--variant=minbase", *([f"--keyring={keyring}"] if keyring else [])]
    if script == UBUNTU:
        options.append("--components=main,universe")  # firejail is in universe
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = f"{folder}/root"
        images.run("debootstrap", *options, suite, root, mirror or here.split()[0], str(SCRIPTS / script))
        images.import_root(root, image)
    return image


def check(image: str, folder: Path) -> int:
    """Install, serve and grade in a container.

    Args:
        image: The root file system.
        folder: Has the wheel and the programs.

    Returns:
        The exit status; 0 if everything is as it should be.
    """
    certificates = "/etc/ssl/certs/ca-certificates.crt"
    volumes = {str(folder): "/check", certificates: "/ca.pem", f"{folder}/pip.conf": "/etc/pip.conf"}
    shared = [part for here, there in volumes.items() for part in ("--volume", f"{here}:{there}:ro")]
    rights = ("--cap-add", "SYS_ADMIN,NET_ADMIN,MKNOD", "--security-opt", "apparmor=unconfined")
    command = ("podman", "run", "--rm", "--network", "host", *rights, *shared, image, "sh", "-c", INSIDE)
    return subprocess.run(command, check=False, timeout=MINUTES * 60).returncode


def main(*suites: str) -> int:
    """Check each suite; the exit status."""
    failed = []
    with tempfile.TemporaryDirectory(prefix="proctor-wheel-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        build_wheel(folder)
        for file, text in FILES.items():
            (folder / file).write_text(text)
        (folder / "pip.conf").write_text(images.pip_configuration())
        for given in suites or ("bookworm",):
            suite, mirror, keyring = [*given.split("="), "", ""][:3]
            if check(make_image(suite, mirror, keyring), folder):
                failed.append(suite)
            print(f"{suite}: {'FAILED' if suite in failed else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    with images.podman():
        sys.exit(main(*sys.argv[1:]))
