"""The `input` of a box reads and writes what CPython's does, in fewer calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "sandbox_service" / "guest"
BOTH_WAYS = """
import builtins, io, json, os, sys
usual = builtins.input
import _box


class Output(io.RawIOBase):
    def __init__(self, name):
        self.name = name

    def writable(self):
        return True

    def write(self, piece):
        pieces.append((self.name, bytes(piece).decode("latin-1")))
        return len(piece)


class Input(io.FileIO):
    asked = 0

    def fileno(self):
        Input.asked += 1
        return super().fileno()


def text(buffer, mode, **how):
    stream = io.TextIOWrapper(buffer, "utf-8", "surrogateescape", "\\n", **how)
    stream.mode = mode
    return stream


def run(code, function):
    global pieces
    pieces, error = [], ""
    given = os.memfd_create("given")
    os.pwrite(given, sys.argv[2].encode("utf-8", "surrogateescape"), 0)
    os.dup2(given, 0)
    sys.stdin = text(io.BufferedReader(Input(0, closefd=False)), "r")
    sys.stdout = text(io.BufferedWriter(Output("out")), "w")
    sys.stderr = text(io.BufferedWriter(Output("err")), "w", line_buffering=True)
    Input.asked = 0
    streams = sys.stdin, sys.stdout, sys.stderr
    _box.set_input(vars(sys), *streams)
    builtins.input = function
    try:
        exec(code, {"__name__": "__main__", "pieces": pieces})
    except BaseException as caught:
        error = repr(caught)
    asked = Input.asked
    for stream in streams:
        try:
            stream.flush()
        except ValueError:  # closed
            pass
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    return list(pieces), error, asked


_box.set_input(vars(sys), sys.stdin, sys.stdout, sys.stderr)
ours = builtins.input
first, second = run(sys.argv[1], usual), run(sys.argv[1], ours)
same = all(getattr(usual, name) == getattr(ours, name) for name in sys.argv[3].split())
builtins.input = usual
print(json.dumps([first, second, same, repr(usual) == repr(ours), type(usual) is type(ours)]))
"""
NAMES = "__name__ __qualname__ __module__ __self__ __doc__ __text_signature__"
LINES = "3 4\nfive\n\nsix \udce9 é\r\nlast"
PROGRAMS = {
    "lines": "print(int(sum(map(int, input().split()))))\nwhile True: print(repr(input()))",
    "a prompt": "print('a', end='')\nprint(repr(input('more? ')), repr(input(5)))",
    "wrong arguments": "print('a')\ninput(1, 2)",
    "named arguments": "input(prompt='x')",
    "flushes": """
import sys
for _ in range(3):
    print(1, end='')
    print('e', end='', file=sys.stderr)
    input()
""",
    "a prompt that fails": """
class Bad:
    def __str__(self): raise KeyError('no')
print('before')
try:
    input(Bad())
except KeyError:
    print('caught', input())
""",
    "a prompt that prints": """
class Loud:
    def __str__(self):
        print('inside')
        return 'loud'
print(input(Loud()))
""",
    "a prompt that replaces stdin": """
import io, sys
class Sly:
    def __str__(self):
        sys.stdin = io.StringIO('other')
        return 'sly'
print(input(Sly()), input())
""",
    "a refused prompt": "print(1)\ninput('\\ud800')",
    "another stdin": "import io, sys\nsys.stdin = io.StringIO('x\\ny')\nprint(input(), input())",
    "another readline": "import sys\nsys.stdin.readline = lambda: 'mine\\n'\nprint(input())",
    "another flush": "import sys\nsys.stdout.flush = lambda: pieces.append('flushed')\nprint(input())",
    "an attribute in place of the mode": """
import sys
del sys.stdin.mode
sys.stdin.readline = lambda: 'x'
print(input())
""",
    "mixed reading": "import sys\nprint(repr(sys.stdin.readline()), input(), repr(sys.stdin.read()), sep='|')\ninput()",
    "no stdin": "import sys\nsys.stdin = None\ninput()",
    "a lost stdout": "import sys\ndel sys.stdout\ninput()",
    "a lost stderr": "import sys\nsys.stderr = None\ninput()",
    "a closed stdin": "import sys\nsys.stdin.close()\nprint(1)\ninput()",
    "a closed stdout": "import sys\nsys.stdout.close()\nx = input()\nsys.stderr.write(x)",
    "a closed stderr": "import sys\nsys.stderr.close()\nprint(input())",
    "a detached stdin": "import sys\nb = sys.stdin.detach()\nprint(1)\ninput()",
    "an audit hook": """
import sys
sys.addaudithook(lambda name, args: pieces.append((name, args)) if 'input' in name else None)
print(input('a'), input())
""",
}


def _both_ways(program: str) -> list[object]:
    command = [sys.executable, "-c", BOTH_WAYS, program, LINES, NAMES]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(GUEST)}, capture_output=True, check=True)
    answer: list[object] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("name", PROGRAMS)
def test_reads_and_writes_the_same(name: str) -> None:
    usual, ours, *_ = _both_ways(PROGRAMS[name])
    assert usual[:2] == ours[:2]  # type: ignore[index]


def test_asks_for_no_descriptor() -> None:
    usual, ours, *_ = _both_ways("input(), input(), input()")
    assert (usual, ours) == ([[], "", 3], [[], "", 0])


def test_has_the_same_attributes() -> None:
    assert _both_ways("pass")[2:] == [True, True, True]
