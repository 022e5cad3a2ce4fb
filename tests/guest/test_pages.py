"""The move of a process's memory to huge pages: nothing is lost, and the kernel has large pages afterwards."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "sandbox_service" / "guest"
PAGE_FLAGS = Path("/proc/kpageflags")
MOVED = """
import json, os, struct, sys
import _box

LARGE = 1 << 22  # of /proc/kpageflags


def is_large(address):
    page = address // os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/pagemap", "rb") as pages, open("/proc/kpageflags", "rb") as flags:
        pages.seek(8 * page)
        (entry,) = struct.unpack("Q", pages.read(8))
        flags.seek(8 * (entry & ((1 << 55) - 1)))
        return bool(struct.unpack("Q", flags.read(8))[0] & LARGE)


def digest():
    return hash((tuple(words), tuple(map(id, words)), tuple(map(tuple, lists))))


words = [f"word {number}" for number in range(50_000)]
lists = [[number, str(number)] for number in range(20_000)]
before = digest()
moved = _box.huge_data(os.open("/proc", os.O_RDONLY))
report = {"moved": moved, "is_same": digest() == before}
if sys.argv[1] == "look":
    report["large"] = sum(is_large(id(word)) for word in words)
if not (child := os.fork()):
    words[:] = [word.upper() for word in words]
    lists.clear()
    os._exit(not all(word.startswith("WORD") for word in words))
report["status"] = os.waitpid(child, 0)[1]
report["is_same_after_fork"] = digest() == before
words += map(str, range(100_000))  # the heap grows
report["grows"] = words[-1]
print(json.dumps(report))
"""


def _moved(*, look: bool) -> dict[str, object]:
    command = [sys.executable, "-c", MOVED, "look" if look else ""]
    environment = os.environ | {"PYTHONPATH": str(GUEST)}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    report: dict[str, object] = json.loads(done.stdout)
    return report


def test_moved_memory_is_as_before() -> None:
    report = _moved(look=False)
    assert report.pop("moved", 0) > 5 << 20  # type: ignore[operator]
    assert report == {"is_same": True, "status": 0, "is_same_after_fork": True, "grows": "99999"}


@pytest.mark.skipif(tuple(map(int, platform.release().split(".")[:2])) < (6, 1), reason="Linux before 6.1 makes none")
@pytest.mark.skipif(not os.access(PAGE_FLAGS, os.R_OK), reason="only root sees the kinds of pages")
def test_moved_memory_is_in_huge_pages() -> None:
    assert _moved(look=True)["large"] > 45_000  # type: ignore[operator]
