"""The `print` of a box writes what CPython's does, in fewer steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "sandbox_service" / "guest"
BOTH_WAYS = """
import builtins, io, json, sys
usual = builtins.print
import _box


class Recorder(io.BytesIO):
    def __init__(self):
        super().__init__()
        self.pieces = []

    def write(self, piece):
        self.pieces.append(bytes(piece))
        return super().write(piece)


def run(code, function):
    recorder, error = Recorder(), ""
    sys.stdout = stream = io.TextIOWrapper(recorder, "utf-8", "surrogateescape", "\\n", write_through=True)
    _box.set_print(vars(sys), stream)
    builtins.print = function
    try:
        exec(code, {"__name__": "__main__"})
    except BaseException as caught:
        error = repr(caught)
    try:
        stream.flush()
    except ValueError:  # closed
        pass
    sys.stdout = sys.__stdout__
    return b"".join(recorder.pieces).decode("latin-1"), error, len(recorder.pieces)


_box.set_print(vars(sys), sys.stdout)
ours = builtins.print
first, second = run(sys.argv[1], usual), run(sys.argv[1], ours)
same = all(getattr(usual, name) == getattr(ours, name) for name in sys.argv[2].split())
builtins.print = usual
print(json.dumps([first, second, same, repr(usual) == repr(ours), type(usual) is type(ours)]))
"""
NAMES = "__name__ __qualname__ __module__ __self__ __doc__ __text_signature__"
PROGRAMS = {
    "nothing": "print()",
    "numbers": "print(*range(-3000, 3000))\nprint(*range(5), sep='\\n')",
    "large numbers": "print(-(1 << 63), (1 << 63) - 1, 1 << 63, 10**30)",
    "strings": "print('a', 'b' * 31, 'c' * 32, 'd' * 33, 'e' * 5000, '', sep=', ', end='.')",
    "many strings": "print(*('word%d' % i for i in range(3000)))",
    "other characters": "print('é', 'a', '\\udc80', 1, 'x\\U0001f600')",
    "a refused character": "print('before', 1, '\\ud800', 'after')",
    "named arguments": "print(1, 2, sep=None, end=None)\nprint(1, 2, sep='é', end='')\nprint(sep='x', *[1, 2])",
    "flush and file": "import sys\nprint(1, 2, flush=True)\nprint(1, file=sys.stdout)\nprint(2, file=None, end='!')",
    "wrong names": "print(1)\nprint(2, seperator='')",
    "a wrong separator": "print(1)\nprint(2, 3, sep=4)",
    "a wrong end": "print(1)\nprint(2, 3, end=b'x')",
    "other values": "print(None, True, 1.5, [1, 'a'], (2,), {3: 4}, b'x', 1j, print, int)",
    "subclasses": """
class Word(str):
    def __str__(self): return 'word'
class Number(int):
    def __str__(self): return 'number'
    __repr__ = __str__
class Plain(str): pass
print(1, Word('x'), 2, Number(3), Plain('y'), 4)
""",
    "an object that prints": """
class Loud:
    def __str__(self):
        print('inside', end=' ')
        return 'loud'
print(1, 'a', Loud(), 2, Loud(), end='.')
""",
    "an object that fails": """
class Bad:
    def __str__(self): raise KeyError('no')
print(1, 'a', Bad(), 2)
""",
    "too many digits": "print(1, 'a', 10**5000, 2)",
    "another write": """
import sys
real, pieces = sys.stdout.write, []
sys.stdout.write = lambda text: pieces.append(text) or real('<' + text + '>')
print(1, 'a', sep='-')
del sys.stdout.write
print(pieces)
""",
    "an object that replaces write": """
import sys
class Sly:
    def __str__(self):
        real = sys.stdout.write
        sys.stdout.write = lambda text: real('<' + text + '>')
        return 'sly'
print(1, 2, Sly(), 3, 4)
""",
    "an object that replaces stdout": """
import io, sys
class Sly:
    def __str__(self):
        global kept
        kept, sys.stdout = sys.stdout, io.StringIO()
        return 'sly'
print(1, 2, Sly(), 3, 4)
print('hidden')
sys.stdout = kept
print('shown')
""",
    "another stream": """
import io, sys
sys.stdout = io.StringIO()
print(1, 2)
assert sys.stdout.getvalue() == '1 2\\n'
""",
    "no stream": "import sys\nsys.stdout = None\nprint(1)",
    "a lost stream": "import sys\ndel sys.stdout\nprint(1)",
    "a closed stream": "import sys\nprint(1)\nsys.stdout.close()\nprint(2)",
    "a reconfigured stream": "import sys\nsys.stdout.reconfigure(encoding='ascii', errors='strict')\nprint(1, 'é', 2)",
    "another newline": "import sys\nsys.stdout.reconfigure(newline='\\r\\n')\nprint(1, 'a\\nb')",
}


def _both_ways(program: str) -> list[object]:
    command = [sys.executable, "-c", BOTH_WAYS, program, NAMES]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(GUEST)}, capture_output=True, check=True)
    answer: list[object] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_the_same(name: str) -> None:
    usual, ours, *_ = _both_ways(PROGRAMS[name])
    assert usual[:2] == ours[:2]  # type: ignore[index]


def test_numbers_and_short_strings_are_written_together() -> None:
    usual, ours, *_ = _both_ways("print(1, 2, 'a')")
    assert (usual, ours) == (["1 2 a\n", "", 6], ["1 2 a\n", "", 1])


def test_has_the_same_attributes() -> None:
    assert _both_ways("pass")[2:] == [True, True, True]
