"""Programs whose text names no file have a box without /tmp and /proc of its own, and cannot tell but by looking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandbox_service
from sandbox_service.sandbox.file_uses import PYTHON_WORDS, native_uses_files, python_uses_files
from sandbox_service.sandbox.files import Program
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.schema import Limits
from sandbox_service.settings import Settings
from tests.conftest import need_firejail
from tests.sandbox.pools import opened

LOOKING = """
import os
def tried(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
    except OSError as error:
        return error.strerror
    return "made"
places = [folder for folder, _, _ in os.walk("/") if not folder.startswith(("/usr", "/etc"))]
print(os.getcwd(), os.listdir("/proc"), os.listdir("/tmp"), sorted({tried(f"{place}/x") for place in places}), places)
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[JailPool]:
    need_firejail()
    with opened(Settings()) as jails:
        yield jails


@pytest.mark.parametrize(
    "text",
    [
        "print(sum(map(int, input().split())))",
        "import sys; input = sys.stdin.readline  # an important import\nfrom collections import (deque,\n  Counter)",
        "import collections.abc as c, math\nfrom __future__ import annotations",
        "import os, sys\ndata = os.read(0, os.fstat(0).st_size)",
        "import io, os; input = io.BytesIO(os.read(0, 1 << 20)).readline",
        "os = io = 1\nprint(os, io)",
        "print(open(0).read())",
        "def reopened(opening): global x",
        "class Solution:\n    def walk(self): return 'solution'",
    ],
)
def test_text_without_files(text: str) -> None:
    assert not python_uses_files(text)


@pytest.mark.parametrize(
    "text",
    [
        "f = open('x', 'w')",
        "read = open",
        "import io\nio.open('x')",
        "import os\nos.listdir('/')",
        "import os as o\no.mkdir('x')",
        "from os import mkdir",
        "from os.path import exists",
        "import os.path as p",
        "import sys, pathlib",
        "import \\\n  tempfile",
        "if 1: import shutil",
        "exec(text)",
        "run = exec",
        "x = eval ('1')",
        "import os\no = os\no.mkdir('x')",
        "import os, sys\ngetattr(os, 'listdir')('.')",
        "import os\nos .mkdir('x')",
        "import os; f(os)",
        "import io\nf = getattr(io, 'FileIO'[:4])",
        "import io\nio.open_code('x')",
        "import sys\nsys.modules['posix'].mkdir('x')",
        "import random\nrandom._os.mkdir('x')",
        "from random import _os as o",
        "__import__('tempfile')",
        "print(__loader__)",
        "print(eval('1'))",
        "import numpy as np\nnp.save('x', [])",
        "import traceback",
        "with FileIO('x') as f: pass",
        "x = '/proc/self/status'",
    ],
)
def test_text_with_files(text: str) -> None:
    assert python_uses_files(text)


@pytest.mark.parametrize(
    ("uses", "text"),
    [
        (False, "#include <bits/stdc++.h>\nbool comp(int a, int b);\nint main() { int tmp; std::cin >> tmp; }"),
        (False, "#include <unistd.h>\nint main() { char buffer[9]; return read(0, buffer, 9); }"),
        (False, 'package main\nimport ("bufio"; "os")\nfunc main() { bufio.NewReader(os.Stdin) }'),
        (False, "use std::io::{self, Read};\nfn main() { io::stdin(); }"),
        (True, 'int main() { freopen("input.txt", "r", stdin); }'),
        (True, '#include <fstream>\nint main() { std::ofstream out("x"); }'),
        (True, "#include <thread>\nint main() { std::thread::hardware_concurrency(); }"),
        (True, 'func main() { os.WriteFile("x", nil, 0600) }'),
        (True, 'func main() { os.Create("x") }'),
        (True, 'fn main() { std::fs::write("x", ""); }'),
        (True, 'int main() { int p = syscall(SYS_openat, 0, "x"); }'),
        (True, 'int main() { access("/tmp/x", 0); }'),
    ],
)
def test_native_texts(uses: bool, text: str) -> None:
    assert native_uses_files(["int unused;", text]) is uses


def test_what_shows_the_source_has_a_folder_or_is_not_looked_at() -> None:
    """The words of guest/program.py: each is refused, or needs a module or an attribute that is."""
    seen = {"argv": "import sys\nopen(sys.argv[0])", "glob": "import glob", "walk": "import os\nos.walk('.')"}
    seen |= {
        "__file__": "import os\nos.path.exists(__file__)",
        "warn": "import warnings",
    }
    seen |= {"iterdir": "import pathlib", "listdir": "import os\nos.listdir()", "scandir": "import os\nos.scandir()"}
    seen |= {name: f"import {name}" for name in ("inspect", "linecache", "pdb", "traceback")}
    source = (Path(sandbox_service.__file__).parent / "guest" / "program.py").read_text()
    [words] = re.findall(r'FILE_WORDS = f"""\n([^{]*)', source)
    for word in words.split():
        assert word in PYTHON_WORDS or python_uses_files(seen[word]), word


def test_a_box_without_mounts_finds_and_writes_nothing(pool: JailPool) -> None:
    jail = pool.jail("std")
    for _ in range(2):  # the second finds nothing of the first
        with Program(LOOKING, mounts=False) as looking:
            outcome = jail.run_stdin(looking, b"", Limits())
        cwd, rest = outcome.stdout.decode().split(" ", 1)
        assert (cwd, outcome.exit_code) == ("/tmp", 0), outcome.stderr
        assert rest.startswith("[] [] ['Read-only file system'] ['/', ")


def test_a_source_that_is_not_shown_runs_all_the_same(pool: JailPool) -> None:
    """The text has a word by which the guest would show the source in /tmp, and uses no file."""
    with Program("def solution(x):\n    return x + 1\nprint(solution(1))", mounts=False) as program_of_box:
        outcome = pool.jail("std").run_stdin(program_of_box, b"", Limits())
    assert (outcome.stdout, outcome.exit_code) == (b"2\n", 0), outcome.stderr
