"""Where the shell commands of the documents run: a folder like a user's checkout, and servers at other addresses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, NamedTuple

from tests.guards import HANG_GUARD_SECONDS
from tests.shell_blocks import REPOSITORY, Shown, blocks
from tests.shell_ways import Way

USERS_FILES = REPOSITORY / "tests" / "shown"
STAND_INS = REPOSITORY / "tests" / "stand_ins"
TOML_OF_DOCUMENTS = {"my.toml": "docs/validation.md", "run.toml": "docs/training.md"}  # the first block of each
HIDDEN = (".git", ".pytest_cache", ".venv", ".venv-trainer", "build", "runs")
ANSWER = """The function, and a program that calls it:
```python
import sys

def add(a, b):
    return a + b

print(add(*map(int, sys.stdin.read().split())) if __name__ == "__main__" else "")
```
"""


# The folder


def lay(source: Path, over: Path, target: Path) -> None:
    """Make a folder of links to the entries of `source`, with those of `over` beside or inside them."""
    target.mkdir()
    for entry in source.iterdir() if source.is_dir() else ():
        if entry.name not in HIDDEN and not (over / entry.name).exists():
            (target / entry.name).symlink_to(entry)
    for entry in over.iterdir():
        if entry.is_dir():
            lay(source / entry.name, entry, target / entry.name)
        else:
            shutil.copy(entry, target)


def make_checkout(folder: Path) -> Path:
    """Make a checkout with the environments and the files that the documents name."""
    lay(REPOSITORY, USERS_FILES, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    if (REPOSITORY / ".venv-trainer").exists():
        (folder / ".venv-trainer").symlink_to(REPOSITORY / ".venv-trainer")
    for name, document in TOML_OF_DOCUMENTS.items():
        [content, *_] = [content for language, content in blocks(document) if language == "toml"]
        (folder / name).write_text(content)
    return folder


# The servers


class _Model(BaseHTTPRequestHandler):
    """A server of OpenAI's chat completions with one model, which always says ANSWER."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say({"data": [{"id": "always-the-same", "owned_by": "tests"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"message": {"content": ANSWER}, "finish_reason": "stop"}
        self._say({"choices": [choice], "usage": {"completion_tokens": 30}})

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _say(self, said: object) -> None:
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_model(port: int) -> Iterator[int]:
    """Serve a model that gives one right answer to the problems of tests/shown, and yield the port."""
    with ThreadingHTTPServer(("127.0.0.1", port), _Model) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield port
        finally:
            server.shutdown()
            thread.join()


# A command


class Place(NamedTuple):
    """A folder, the ports of the servers, one that is free, and the isolation tool."""

    folder: Path
    service_port: int
    redis_port: int
    model_port: int
    port: int
    isolation: str = "firejail"

    def script(self, shown: Shown, way: Way) -> str:
        """Return the shell text of a command, with addresses and names that exist here."""
        service, model = (f"127.0.0.1:{port}" for port in (self.service_port, self.model_port))
        more = way.more.format(service=service, port=self.port, prefix=".venv")
        text = "\n".join([way.before, *shown.exports, f"{shown.text} {more}".strip()])
        for there, here in {
            "localhost:8080": service,
            "127.0.0.1:8080": service,
            "10.0.0.1:6379": f"127.0.0.1:{self.redis_port}",
            "10.0.0.2:8000": model,
            "--bind 10.0.0.1": "--bind 127.0.0.1",
            "/etc/proctor/keys": "keys",
            "/shared/deepcoder.toml": "deepcoder_14b",  # a copy of a shipped configuration, as docs/sizing.md says
            "evaluate MODEL": f"evaluate http://{model}",
            "evaluate Qwen/Qwen3-1.7B": f"evaluate http://{model}",
            "ZYGOTE_PID": str(os.getpid()),
            "sleep 10": "sleep 0.1",
        }.items():
            text = text.replace(there, here)
        return text

    def environment(self, way: Way) -> Mapping[str, str]:
        """Return the variables of a command: none of the service's and of pytest's own."""
        ours = ("SANDBOX_", "PROCTOR_", "PYTEST_")
        own = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        settings = {"SANDBOX_PORT": str(self.port), "SANDBOX_SLOTS": "1", "SANDBOX_ISOLATION": self.isolation}
        folders = [*([str(STAND_INS)] if way.stand_ins else []), str(Path(sys.executable).parent), os.environ["PATH"]]
        return own | settings | {"PATH": os.pathsep.join(folders)}


def until(output: IO[str], pattern: str) -> str:
    """Read lines up to one that matches, and return them."""
    lines: list[str] = []
    for line in output:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    raise AssertionError(f"it ended before it printed {pattern}: {''.join(lines)}")


@contextmanager
def running(script: str, place: Place, way: Way) -> Iterator[subprocess.Popen[str]]:
    """Run a script in a process group of its own, which is killed at exit, or when nothing else ends it."""
    process = subprocess.Popen(
        ["bash", "-euc", script],
        cwd=place.folder,
        env=place.environment(way),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(HANG_GUARD_SECONDS, os.killpg, [process.pid, signal.SIGKILL])
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        guard.join()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
