"""Assert tests in two forked processes with two pipes and one report, without a sandbox.

Not tested here: the sandbox (the host's wait status, limits, descriptors that must not be inherited).
"""

# ruff: noqa: E501 (rows of programs)

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guest import boxes  # first: it puts the guest on the path
from tests.guest.boxes import DATA, fork, helpers_of, judge, rows
from tests.markers import crosswise

import tester  # isort: skip

ADD = "def add(a, b):\n    return a + b\n"
ADD_TEST = "def check(candidate):\n    assert candidate(1, 2) == 3\n"


# --- what is right ---------------------------------------------------------------------------------------------------

NODE = (
    "class Node:\n    def __init__(self, value, next=None):\n        self.value = value\n        self.next = next\n"
    "class Odd(ValueError):\n    pass\n"
)
STACK = "class Stack:\n    def __init__(self): self._all = []\n    def push(self, x): self._all.append(x)\n"
STACK += "    def top(self): return self._all[-1]\n    def __len__(self): return len(self._all)\n"
STACK += "    def __iter__(self): return iter(self._all)\n    def __str__(self): return str(self._all)\n"

RIGHT: dict[str, tuple[str, str, str | None, str | None]] = {
    "check is called": (ADD, ADD_TEST, "add", None),
    "check calls itself": (ADD, ADD_TEST + "check(add)\n", "add", None),
    "no entry point": (ADD, ADD_TEST + "check(add)\n", None, None),
    "no entry point, plain assert": (ADD, "assert add(1, b=2) == 3", None, None),
    "check's argument is named like the entry": (ADD, "def check(add):\n    assert add(1, 2) == 3\ncheck(add)", "add", None),
    "keyword named self": ("def f(self, s): return self + s", "assert f(self=1, s=2) == 3", "f", None),
    "a method": (
        "class Solution:\n    def add(self, a, b): return a + b\n",
        ADD_TEST + "check(Solution().add)\n", "Solution().add", None,
    ),
    "a method, check not called": ("class Solution:\n    def add(self, a, b): return a + b\n", ADD_TEST, "Solution().add", None),
    "a class": (STACK, "s = Stack()\ns.push(4)\ns.push(5)\nassert s.top() == 5 and len(s) == 2 and list(s) == [4, 5]\n"
                "assert str(s) == '[4, 5]' and s and s == s and s != Stack()", "Stack", None),
    "a builtin's name": ("def sum(a, b): return a * b", "assert sum(3, 5) == 15", None, None),
    "a builtin's name as entry": ("def sum(a, b): return a * b", "assert abs(sum(3, 5)) == 15", "sum", None),
    "the submission's import": ("import sys\ndef f(x): return sys.getsizeof(x)", "assert f(1) == sys.getsizeof(1)", None, None),
    "a class that only the submission has": (
        "class Pair:\n    def __init__(self, a): self.a = a\ndef f(pairs): return sum(p.a for p in pairs)",
        "p = Pair(1)\np.a = 5\nassert f([p, Pair(2)]) == 7 and p.a == 5", "f", None,
    ),
    "a helper of the prelude": (
        "def poly(x): return 0\ndef root(): return 3", "assert poly(root()) == 9", "root", "def poly(x): return x * x",
    ),
    "changed arguments": (
        "def f(a, d, s):\n    a.append(d)\n    d[1] = a\n    s.clear()\n    return a",
        "a, d, s = [0], {}, {1}\nr = f(a, d, s)\nassert r is a and a[1] is d and d[1] is a and s == set()", "f", None,
    ),
    "a list inside its own argument": (
        "def f(rows):\n    rows[0].append(1)\n    return rows[1]",
        "row = []\nassert f([row, row]) is row and row == [1]", "f", None,
    ),
    "changed arguments of a call that raises": (
        "def f(a):\n    a.append(1)\n    raise KeyError('k')",
        "a = []\ntry:\n    f(a)\nexcept KeyError as e:\n    assert e.args == ('k',) and a == [1]\nelse:\n    assert 0", "f", None,
    ),
    "an exception of its own": (
        "class Mine(ZeroDivisionError): pass\ndef f(): raise Mine('m')",
        "try:\n    f()\nexcept ArithmeticError as e:\n    assert type(e) is ZeroDivisionError and str(e) == 'm'\nelse:\n    assert 0",
        "f", None,
    ),
    "an exception of the prelude": (
        "def f(): raise Odd('m')", "try:\n    f()\nexcept Odd:\n    pass\nelse:\n    assert 0", "f", NODE,
    ),
    "instances of the prelude": (
        "def f(node):\n    node.value = 7\n    return Node(1, node)",
        "n = Node(2)\nr = f(n)\nassert type(r) is Node and r.value == 1 and r.next is n and n.value == 7", "f", NODE,
    ),
    "a long list of nodes": (
        "def f(node):\n    back = None\n    while node: node.next, node, back = back, node.next, node\n    return back",
        "n = None\nfor i in range(20000): n = Node(i, n)\nr = f(n)\nfor i in range(20000):\n"
        "    assert r.value == i\n    r = r.next\nassert r is None", "f", NODE,
    ),
    "a generator": (
        "def f(n):\n    yield from range(n)",
        "assert list(f(3)) == [0, 1, 2]\ng = f(1)\nassert next(g) == 0\nassert next(g, None) is None", "f", None,
    ),
    "a callback": (
        "def f(g, xs): return [g(x) for x in xs]",
        "assert f(lambda x: x * 2, [1, 2]) == [2, 4] and f(str, [1]) == ['1'] and f(max, [[1, 2]]) == [2]", "f", None,
    ),
    "a callback that raises": (
        "def f(g):\n    try: return g()\n    except KeyError as e: return e.args[0]",
        "def g(): raise KeyError(4)\nassert f(g) == 4", "f", None,
    ),
    "a callback that calls the candidate": (
        "def f(g, n): return g(f, n - 1) + 1 if n else 0", "assert f(lambda f, n: f(lambda f, n: 5, n), 3) == 7", "f", None,
    ),
    "an iterator as argument": ("def f(xs): return next(xs) + sum(xs)", "assert f(iter([1, 2, 3])) == 6", "f", None),
    "a match": ("import re\ndef f(s): return re.match('a', s)", "assert f('ab')\nassert not f('b')", "f", None),
    "a named tuple": (
        "import collections\nP = collections.namedtuple('P', 'a b')\ndef f(): return P(1, [2])", "assert f() == (1, [2])", "f", None,
    ),
    "stdlib containers": (
        "from collections import *\nfrom fractions import Fraction\nfrom decimal import Decimal\nimport datetime\n"
        "def f(): return [Counter('ab'), OrderedDict(a=1), defaultdict(list, a=[1]), deque([1], 3), Fraction(1, 3),\n"
        "    Decimal('1.10'), datetime.date(2024, 2, 29), range(3), {1: 2}.keys(), 10**400, 1j, b'\\xff', float('inf')]",
        "from collections import *\nr = f()\nassert r[0] == Counter('ab') and r[2]['zz'] == [] and r[3].maxlen == 3\n"
        "assert r[8] == {1} and r[9] == 10**400 and [type(x).__name__ for x in r] == ['Counter', 'OrderedDict', 'defaultdict',"
        " 'deque', 'Fraction', 'Decimal', 'date', 'range', 'dict_keys', 'int', 'complex', 'bytes', 'float']", "f", None,
    ),
    "an exact type": ("def f(): return True", "assert f() is True and type(f()) is bool", "f", None),
    "leetcode": (
        "class Solution:\n    def f(self, head: Optional[ListNode]): return head.next",
        "def check(candidate):\n    assert is_same_list(candidate(list_node([1, 2, 3])), list_node([2, 3]))\n"
        "    assert list_values(candidate(head=list_node([1, inf]))) == [inf]", "Solution().f", "@leetcode",
    ),
    "leetcode, node defined again": (
        "class TreeNode:\n    def __init__(self, val=0, left=None, right=None):\n"
        "        self.val, self.left, self.right = val, left, right\n"
        "class Solution:\n    def f(self, n):\n        n.seen = {}\n        return TreeNode(1, None, n)",
        "assert tree_values(Solution().f(tree_node([2, None, 3]))) == [1, None, 2, None, 3]", "Solution().f", "@leetcode",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    """A right submission passes, and both processes exit normally."""
    report = judge(*RIGHT[name])
    assert (report.result, report.message, report.statuses) == ("passed", "", (0, 0))
    assert report.calls > 0


WRONG: dict[str, tuple[str, str, str, str | None, str | None]] = {
    "wrong answer": ("failed", "def add(a, b): return 4", ADD_TEST, "add", None),
    "raises": ("raised", "def add(a, b): return a / 0", ADD_TEST, "add", None),
    "raises, and the test catches another": (
        "raised", "def add(a, b): return a / 0", "try:\n    add(1, 2)\nexcept KeyError:\n    pass", "add", None,
    ),
    "the test itself raises": ("failed", ADD, "add(1, 2)\n{}['x']", "add", None),
    "the test leaves with a status": ("failed", ADD, "add(1, 2)\nimport sys\nsys.exit(1)", "add", None),
    "the test leaves with a text": ("failed", ADD, "add(1, 2)\nraise SystemExit('no')", "add", None),
    "the test leaves without a call": ("bad_test", ADD, "import sys\nsys.exit(0)", "add", None),
    "entry point missing": ("raised", "def plus(a, b): return 3", ADD_TEST, "add", None),
    "entry point missing, test names it": ("raised", "def plus(a, b): return 3", "assert add(1, 2) == 3", "add", None),
    "entry point missing, none given": ("raised", "def plus(a, b): return 3", "assert add(1, 2) == 3", None, None),
    "entry point is data": ("raised", "add = 3", "assert add(1, 2) == 3", "add", None),
    "a builtin named as entry, not defined": ("raised", "x = 1", "def check(c):\n    assert c([2, 1]) == [1, 2]", "sorted", None),
    "class missing": ("raised", "x = 1", ADD_TEST + "check(Solution().add)", "Solution().add", None),
    "method missing": ("raised", "class Solution: pass", ADD_TEST, "Solution().add", None),
    "fails to load": ("load_failed", ADD + "raise ValueError('no')", ADD_TEST, "add", None),
    "leaves while loading": ("load_failed", ADD + "import sys\nsys.exit(1)", ADD_TEST, "add", None),
    "a module is no value": ("not_plain", "import os\ndef add(a, b): return os", ADD_TEST, "add", None),
    "too large an integer": ("not_plain", "def add(a, b): return 1 << (1 << 26)", ADD_TEST, "add", None),
    "a cycle": ("not_plain", "def add(a, b):\n    x = []\n    x.append(x)\n    return x", ADD_TEST, "add", None),
    "test does not compile": ("bad_test", ADD, "assert (", "add", None),
    "test with a null byte": ("bad_test", ADD, "assert '\0'", "add", None),
    "prelude does not compile": ("bad_test", ADD, ADD_TEST, "add", "def"),
    "prelude fails": ("bad_test", ADD, ADD_TEST, "add", "1 / 0"),
    "entry point is no expression": ("bad_test", ADD, ADD_TEST, "add(", None),
    "entry point does too much": ("bad_test", ADD, ADD_TEST, "[add for add in (1,)][0]", None),
    "no call": ("bad_test", ADD, "assert 1 == 1", "add", None),
    "only a construction": ("bad_test", "class A: pass", "A()", "A", None),
    "unknown name": ("bad_test", ADD, "assert add(1, 2) == three", "add", None),
    "check without a candidate": ("bad_test", ADD, ADD_TEST, None, None),
    "an argument that cannot be sent": ("bad_test", ADD, "class A(list): pass\nadd(A(), 1)", "add", None),
    "an endless argument": ("bad_test", ADD, "import itertools\nadd(itertools.count(), 1)", "add", None),
    "an assertion in a callback": (
        "failed", "def f(g):\n    try: g(1)\n    except AssertionError: return 2",
        "def g(x): assert x == 2\nassert f(g) == 2", "f", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    """Each kind of failure has its own result."""
    expected, program, test, entry_point, prelude = WRONG[name]
    report = judge(program, test, entry_point, prelude)
    assert report.result == expected, report
    assert report.message


def test_messages() -> None:
    """The report gives the line of the test, the candidate's exception and the name at fault."""
    assert judge("def add(a, b): return 4", ADD_TEST, "add").message == (
        "AssertionError (line 2: assert candidate(1, 2) == 3)"
    )
    assert judge("def add(a, b): return {}['k']", ADD_TEST, "add").message == "KeyError: k"
    assert "'three'" in judge(ADD, "assert add(1, 2) == three", "add").message
    assert judge("x = 1", ADD_TEST, "add").message == "NameError: name 'add' is not defined"
    assert judge("1 / 0", ADD_TEST, "add").message == "ZeroDivisionError: division by zero"


def test_helpers_of_the_submission_are_refused() -> None:
    """A function that only the submission defines, and that is not the entry point, would decide the comparison."""
    report = judge("def poly(x): return 0\ndef root(): return 3", "assert poly(root()) == 0", "root")
    assert (report.result, "'poly'" in report.message) == ("bad_test", True)


def test_warm_leaves_nothing() -> None:
    """The rehearsal leaves no open file, prints nothing, and restores `__main__`."""
    before, main = set(Path("/proc/self/fd").iterdir()), sys.modules["__main__"]
    tester.warm()
    assert (set(Path("/proc/self/fd").iterdir()), sys.modules["__main__"]) == (before, main)


# --- hostile submissions ---------------------------------------------------------------------------------------------

FORGE = """
import os, sys, inspect
def fds():
    import gc, channel
    return [o for o in gc.get_objects() if type(o) is channel.Channel]
def say(head, body=''):
    from channel import frame
    for channel in fds():
        os.write(channel._write_fd, frame(head, body))
def raw(data):
    for channel in fds():
        os.write(channel._write_fd, data)
"""

LYING = """
class Liar:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __add__(self, other): return self
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __neg__ = __round__ = __add__
    def __abs__(self): return 0
    def __hash__(self): return 3
    def __bool__(self): return True
    def __float__(self): return 3.0
    def __int__(self): return 3
    __index__ = __int__
    def __call__(self, *a, **k): return self
    def __getattr__(self, name): return self
    def __instancecheck__(self, other): return True
    def __array__(self, *a): return 3
    __class__ = int
"""

HOSTILE: dict[str, str] = {
    "exit 0 at load": "import os\nos._exit(0)",
    "exit 0 in the call": "import os\ndef add(a, b): os._exit(0)",
    "sys.exit in the call": "import sys\ndef add(a, b): sys.exit(0)",
    "SystemExit at load": "raise SystemExit(0)",
    "a BaseException": "class B(BaseException): pass\ndef add(a, b): raise B()",
    "KeyboardInterrupt": "def add(a, b): raise KeyboardInterrupt",
    "GeneratorExit": "def add(a, b): raise GeneratorExit",
    "StopIteration": "def add(a, b): raise StopIteration",
    "StopAsyncIteration": "def add(a, b): raise StopAsyncIteration",
    "a StopIteration of its own": "class S(StopIteration): pass\ndef add(a, b): raise S",
    "AssertionError": "def add(a, b): raise AssertionError",
    "an exception named like a builtin": "class SystemExit(Exception): pass\ndef add(a, b): raise SystemExit(0)",
    "a group of exceptions": "def add(a, b): raise ExceptionGroup('x', [ValueError()])",
    "an object equal to all": LYING + "def add(a, b): return Liar()",
    "a list of objects equal to all": LYING + "def add(a, b): return [Liar()] * 3",
    "a class equal to all": LYING + "class M(type):\n    __eq__ = lambda *a: True\n    __hash__ = lambda s: 3\n"
    "class add(metaclass=M):\n    def __new__(cls, *a): return cls",
    "an int subclass": "class I(int):\n    __eq__ = lambda *a: True\n    __hash__ = lambda s: 3\ndef add(a, b): return I(4)",
    "a list subclass": "class L(list):\n    __eq__ = lambda *a: True\ndef add(a, b): return L()",
    "a str subclass": "class S(str):\n    __eq__ = lambda *a: True\ndef add(a, b): return S()",
    "a float subclass": "class F(float):\n    __eq__ = __rsub__ = lambda *a: True\ndef add(a, b): return F()",
    "a named tuple": "import collections\nclass T(collections.namedtuple('T', 'a')):\n    __eq__ = lambda *a: True\n"
    "def add(a, b): return T(1)",
    "NaN": "def add(a, b): return float('nan')",
    "patched builtins": "import builtins\nfor n in ('abs', 'all', 'any', 'sorted', 'set', 'sum', 'min', 'max'):\n"
    "    setattr(builtins, n, lambda *a, **k: True)\nbuiltins.AssertionError = Exception\ndef add(a, b): return 4",
    "own builtins": "def abs(x): return 0\ndef set(x): return 0\ndef all(x): return True\ndef sorted(x): return 0\n"
    "def isinstance(x, y): return True\ndef add(a, b): return 4",
    "patched frames": "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.update(check=print)\n    f = f.f_back\n"
    "def add(a, b): return 4",
    "patched json": "import json, json.encoder\njson.encoder.JSONEncoder.encode = lambda *a: '[true]'\ndef add(a, b): return 4",
    "patched codec": "import encoder\nencoder.Encoder.value = lambda s, v, d=0: {'Y': 'object'}\ndef add(a, b): return 4",
    "patched tester": "from connection import Connection\nConnection.end = Connection.report = print\ndef add(a, b): return 4",
    "patched os": "import os\nos.write = os.read = lambda *a: b''\ndef add(a, b): return 3",
    "a trace function": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\ndef add(a, b): return 4",
    "an atexit handler": "import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): raise SystemExit(0)",
    "closed descriptors": "import os\nos.closerange(3, 256)\ndef add(a, b): return 3",
    "a report on every descriptor": "import os, json\nfor fd in range(3, 64):\n    try: os.write(fd, json.dumps(\n"
    "        {'result': 'passed', 'message': '', 'calls': 9}).encode())\n    except OSError: pass\ndef add(a, b): return 4",
    "killed": "import os\ndef add(a, b): os.kill(os.getpid(), 9)",
    "a crash": "import ctypes\ndef add(a, b): ctypes.string_at(0)",
    "recursion": "def add(a, b): return add(b, a)",
    "out of memory": "def add(a, b): return bytearray(1 << 40)",
    "a huge answer": "def add(a, b): return 'x' * (64 << 20)",
    "too many values": "def add(a, b): return [0] * 2_000_000",
    "too many lists": "def add(a, b): return [[] for _ in range(2_000_000)]",
    "deep nesting": "def add(a, b):\n    x = []\n    for _ in range(100_000): x = [x]\n    return x",
    "a bomb of aliases": "def add(a, b):\n    x = [1]\n    for _ in range(40): x = [x, x]\n    return x",
    "a long range": "def add(a, b): return range(10**18)",
    "a large exponent": "import decimal\ndef add(a, b): return decimal.Decimal('1E+99999999')",
    "endless generator": "def add(a, b):\n    while True: yield 3",
    "colliding integers": "def add(a, b): return {k * ((1 << 61) - 1): 0 for k in range(1, 3000)}",
    "a handle for a plain value": FORGE + "def add(a, b):\n    say('ok', '[{\"H\":[0,\"instance\",\"x\"]}]')\n    return 3",
    "frames in advance": FORGE + "for _ in range(9): say('ok', '[true]')\ndef add(a, b): return 4",
    "a frame that changes what was not sent": FORGE + "def add(a, b):\n    say('ok', '[3,[],[[5,[1]]]]')\n    return 3",
    "a changed argument of another type": FORGE + "def add(a, b):\n    say('ok', '[3,[],[[0,{\"D\":[[],[]]}]]]')",
    "a frame of a length that lies": FORGE + "def add(a, b): raw(b'\\xff\\xff\\xff\\xff' + b'x' * 99)",
    "half a frame": FORGE + "def add(a, b):\n    raw(b'\\x20\\0\\0\\0ok\\n[tr')\n    os._exit(0)",
    "not utf-8": FORGE + "def add(a, b): raw(b'\\4\\0\\0\\0\\xff\\xff\\xff\\xff')",
    "not json": FORGE + "def add(a, b): say('ok', 'true]')",
    "no list": FORGE + "def add(a, b): say('ok', '{}')",
    "an unknown tag": FORGE + "def add(a, b): say('ok', '[{\"os.system\":\"id\"}]')",
    "two tags": FORGE + "def add(a, b): say('ok', '[{\"T\":[],\"S\":[]}]')",
    "a class unknown here": FORGE + "def add(a, b): say('ok', '[{\"P\":0},[[\"Popen\",[],[]]]]')",
    "an instance that is not there": FORGE + "def add(a, b): say('ok', '[{\"P\":5},[]]')",
    "a negative place": FORGE + "def add(a, b): say('ok', '[{\"P\":-1},[[\"object\",[],[]]]]')",
    "a builtin function by name": FORGE + "def add(a, b): say('ok', '[{\"b\":\"eval\"}]')",
    "a callback that was not given": FORGE + "def add(a, b): say('back 0', '[[[],[],[]]]')",
    "a callback from the end": FORGE + "def add(a, b): say('back -1', '[[[],[],[]]]')",
    "an unhashable key": FORGE + "def add(a, b): say('ok', '[{\"D\":[[[1]],[1]]}]')",
    "a decimal integer of many digits": FORGE + "def add(a, b): say('ok', '[' + '9' * 5000 + ']')",
    "a hexadecimal integer of many digits": FORGE + "def add(a, b): say('ok', '[{\"I\":\"' + 'f' * 1000000 + '\"}]')",
    "an array of a huge type": FORGE + "def add(a, b): say('ok', '[{\"N\":[\"<U99999\",[1000],' + str([1] * 1000) + ']}]')",
    "an array of objects": FORGE + "def add(a, b): say('ok', '[{\"N\":[\"|O8\",[1],[1]]}]')",
    "forged depth": FORGE + "def add(a, b): say('ok', '[' * 3_000_000 + ']' * 3_000_000)",
    "forged depth behind strings": FORGE + "def add(a, b): say('ok', '[[\"]]\",' * 300_000 + '1' + ']]' * 300_000)",
    "forged StopIteration": FORGE + "def add(a, b): say('raise', '[[[\"StopIteration\",\"Exception\"],[]]]')",
    "forged SystemExit": FORGE + "def add(a, b): say('raise', '[[[\"SystemExit\",\"Exception\"],[0]]]')",
    "an exception without a name": FORGE + "def add(a, b): say('raise', '[[[],[]]]')",
    "an exception with odd arguments": FORGE + "def add(a, b): say('raise', '[[[\"ValueError\",\"Exception\"],[[]]]]')",
    "load reported twice": FORGE + "say('load', '[[[\"ValueError\"],[]]]')\ndef add(a, b): return 3",
}  # fmt: skip

STRICT = (
    "import math\n"
    "def check(candidate):\n"
    "    def tries(*a):\n"
    "        try: return candidate(*a)\n"
    "        except Exception: return 'caught'\n"
    "    for _ in map(candidate, [1], [2]): pass\n"
    "    assert all(x == 3 for x in map(candidate, [1, 1, 1], [2, 2, 2]))\n"
    "    assert len(list(map(candidate, [1, 1], [2, 2]))) == 2\n"
    "    r = tries(1, 2)\n"
    "    assert abs(r - 3) < 1e-6 and r in [3] and set([r]) == {3}\n"
    "    assert isinstance(r, int) and math.isclose(r, 3) and sorted([r]) == [3] and 3 == r\n"
)
MILD = "assert add(1, 2) == 3"
LISTS = "xs = [1]\nassert add(xs, [2]) == 3 and xs == [1]"
FORMS = {"strict": STRICT + "check(add)\n", "mild": MILD, "lists": LISTS}

PLAIN_ANSWER = {"patched os", "closed descriptors", "load reported twice"}
"""Submissions that would be right if they did not break the pipe."""


@pytest.mark.parametrize(("name", "form"), crosswise(HOSTILE, FORMS))
def test_hostile(name: str, form: str) -> None:
    """No attack is paid by any form of the test, with and without an entry point.

    A candidate that stops replying leaves the tester waiting without a report; the host's time limit ends it.
    """
    for entry_point in (None, "add"):
        report = judge(HOSTILE[name], FORMS[form], entry_point, seconds=2)
        assert report.result not in ("passed", "bad_test"), report


def test_hostile_is_not_vacuous() -> None:
    """The three tests above accept a right submission."""
    right = "def add(a, b): return 3"
    for test in FORMS.values():
        for entry_point in (None, "add"):
            assert judge(right, test, entry_point).result == "passed"


WINNING_NAMES = {
    "class np decides": ("class np:\n    allclose = staticmethod(lambda *a: True)\ndef f(): return 4", "assert np.allclose(f(), 3)"),
    "class sys decides": ("class sys:\n    getsizeof = staticmethod(lambda x: 0)\ndef f(x): return 0", "assert f(1) == sys.getsizeof(1)"),
    "function sys decides": ("def sys(): pass\nsys.getsizeof = lambda x: 0\ndef f(x): return 0", "assert f(1) == sys.getsizeof(1)"),
    "set decides": ("def set(x): return 0\ndef f(x): return 0", "assert set(f(1)) == set([2])"),
    "only set decides": ("def set(x): return 0", "assert set(f(1)) == set([2])"),
    "a constant decides": ("eps = float('inf')\ndef f(): return 4", "assert abs(f() - 3) < eps"),
    "a helper decides": ("def close(a, b): return True\ndef f(): return 4", "assert close(f(), 3)"),
}  # fmt: skip


@pytest.mark.parametrize("entry_point", [None, "f"])
@pytest.mark.parametrize("name", WINNING_NAMES)
def test_names_that_would_decide(name: str, entry_point: str | None) -> None:
    """A submission cannot define the value that its answer is compared with.

    Without an entry point a test that reads several functions of the submission gets all of them; they look alike.
    """
    if entry_point is None and name == "a helper decides":
        pytest.skip("known: give an entry_point")
    assert judge(*WINNING_NAMES[name], entry_point).result != "passed"


def test_handles_decide_nothing() -> None:
    """Arithmetic, order, membership and conversion of a handle raise TypeError; equality is identity."""
    test = (
        "h = f()\n"
        "for attempt in (lambda: h + 1, lambda: 1 - h, lambda: abs(h), lambda: h < 3, lambda: 3 >= h, lambda: 3 in h,\n"
        "                lambda: float(h), lambda: int(h), lambda: round(h), lambda: [1][h], lambda: reversed(h),\n"
        "                lambda: isinstance(3, h), lambda: -h, lambda: h @ h, lambda: divmod(h, 1), lambda: h.__enter__()):\n"
        "    try: attempt()\n"
        "    except (TypeError, AttributeError): pass\n"
        "    else: raise RuntimeError('decided')\n"
        "assert not h == 3 and h != 3 and not 3 == h and not h == f and h == h and type(h) is not int\n"
        "assert hash(h) != 3 and h not in [3] and h.__class__ is not int\n"
        "try: h.__class__ = int\n"
        "except AttributeError: pass\n"
        "else: raise RuntimeError('decided')\n"
    )
    assert judge(LYING + "def f(): return Liar()", test, "f").result == "passed"


def test_undeclared_attributes_do_not_arrive() -> None:
    """A prelude's instance cannot be given attributes that its class does not declare, nor methods, nor dunders."""
    for name in ("extra", "__class__", "__dict__", "method", "__eq__"):
        forged = FORGE + f'def f(): say(\'ok\', \'[{{"P":0}},[["A",["{name}"],[1]]]]\')'
        prelude = "class A:\n    def __init__(self): self.x = 1\n    def method(self): return self.x\n"
        report = judge(forged, "assert f() is not None", "f", prelude)
        assert (report.result, "declare" in report.message) == ("not_plain", True), report


def test_dead_candidate_cannot_be_swallowed() -> None:
    """A test that catches all exceptions does not catch the candidate's death."""
    test = "try:\n    add(1, 2)\nexcept BaseException:\n    pass\nfinally:\n    pass\n"
    assert judge("import os\ndef add(a, b): os._exit(0)", test, "add").result == "gone"
    assert judge("import os\ndef add(a, b): return os", test, "add").result == "not_plain"
    assert judge("def add(a, b): raise SystemExit", test, "add").result == "raised"


def test_threads_of_the_candidate() -> None:
    """A thread that writes at any time can break the stream but not win."""
    program = FORGE + (
        "import threading\ndef spam():\n    while True: say('ok', '[3]')\n"
        "def add(a, b):\n    threading.Thread(target=spam, daemon=True).start()\n    return 4\n"
    )
    test = "assert add(1, 2) == 3 and add(2, 2) == 4 and add(1, 1) == 2"
    assert judge(program, test, "add", seconds=3).result != "passed"


# --- real data -------------------------------------------------------------------------------------------------------

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real problems in {DATA.name}/ beside the repository")


def passes_alone(program: str, test: str) -> bool:
    """Return True if program and test pass in one process, as the data sets intend."""

    def alone() -> int:
        exec(compile(program + "\n" + test, "alone.py", "exec"), sys.modules["__main__"].__dict__)
        return 0

    return os.wait4(fork(alone, set(), 20), 0)[1] == 0


@pytest.mark.full  # tests/service/test_data.py grades the same in jails
@needs_data
def test_humaneval() -> None:
    """164 of 164 solutions pass."""
    count = 0
    for row in rows("humaneval"):
        program, test, prelude = row["solutions"][0]["code"], row["tests"][0]["assert"], helpers_of(row["statement"])
        report = judge(program, test, row["fn_name"], prelude)
        assert report.result == "passed", (row["id"], report)
        count += 1
    assert count == 164


@needs_data
def test_humanevalpack() -> None:
    """60 right submissions pass, 60 buggy ones do not."""
    seen = {True: 0, False: 0}
    for row in rows("humanevalpack_python_0_59"):
        for solution in row["solutions"]:
            right = solution["expected_verdict"] == ["AC"]
            test, prelude = row["tests"][0]["assert"], helpers_of(row["statement"])
            report = judge(solution["code"], test, row["fn_name"], prelude, seconds=2)
            assert (report.result == "passed") == right, (row["id"], report)
            assert report.result != "bad_test"
            seen[right] += 1
    assert seen == {True: 60, False: 60}


def run_file(python: str, name: str) -> dict[str, int]:
    """Return the count of each result over a file, in a small new process, since it forks thousands of times."""
    done = subprocess.run([python, boxes.__file__, name], capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout, done.stderr
    print(done.stderr)
    results: dict[str, int] = json.loads(done.stdout)
    return results


@pytest.mark.full  # tests/service/test_data.py grades the same in jails
@needs_data
def test_mbpp() -> None:
    """974 of 974 solutions pass: each of their 2,938 asserts on its own, without an entry point."""
    assert run_file(sys.executable, "mbpp") == {"passed": 2938}


@pytest.mark.full  # tests/service/test_data.py grades the same in jails
@needs_data
def test_leetcode() -> None:
    """120 of 120 solutions pass where they pass in one process (one depends on the hash seed)."""
    count = 0
    for row in rows("leetcode_train_120"):
        program, test = row["solutions"][0]["code"], row["tests"][0]["assert"]
        report = judge(program, test, row["fn_name"], "@leetcode")
        assert report.result == "passed" or not passes_alone(program, test), (row["id"], report)
        count += 1
    assert count == 120


SYSTEM_PYTHON = "/usr/bin/python3"


def _python_with_numpy() -> str | None:
    for python in (sys.executable, SYSTEM_PYTHON):
        if Path(python).exists() and not subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
            return python
    return None


@pytest.mark.full  # tests/service/test_data.py grades the same in jails
@needs_data
def test_mbppplus() -> None:
    """60 of 60 solutions pass, in an interpreter with numpy that runs this file as a script."""
    python = _python_with_numpy()
    if python is None:
        pytest.skip("no interpreter with numpy")
    assert run_file(python, "mbppplus_60") == {"passed": 60}
