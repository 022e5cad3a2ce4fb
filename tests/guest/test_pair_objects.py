"""Assert tests over a submission's classes, exceptions, coroutines and output, in two processes without a sandbox.

Each right program passes, and the same test fails a program whose objects agree to everything.
"""

# ruff: noqa: E501 (rows of programs)

from __future__ import annotations

import pytest

from tests.guest.boxes import judge
from tests.markers import one_in

PROGRAM = """
from dataclasses import dataclass
import collections, enum, contextlib
class Point:
    'A point.'
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return isinstance(o, Point) and (self.x, self.y) == (o.x, o.y)
    def __lt__(self, o): return (self.x, self.y) < (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __add__(self, o): return Point(self.x + o.x, self.y + o.y)
    def __mul__(self, k): return Point(self.x * k, self.y * k) if isinstance(k, int) else self.x * k.x + self.y * k.y
    __rmul__ = __mul__
    def __neg__(self): return Point(-self.x, -self.y)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** .5
    def __repr__(self): return f"Point({self.x}, {self.y})"
    def __contains__(self, v): return v in (self.x, self.y)
    def __bool__(self): return bool(self.x or self.y)
    def __getitem__(self, i): return (self.x, self.y)[i]
    @property
    def norm(self): return abs(self)
    @classmethod
    def origin(cls): return cls(0, 0)
    @staticmethod
    def dim(): return 2
    def moved(self, dx, dy): return Point(self.x + dx, self.y + dy)
class Pt3(Point): pass
class BankError(Exception): pass
class Insufficient(BankError, ValueError):
    def __init__(self, need): super().__init__("need %d" % need); self.need = need
class Account:
    def __init__(self, b=0):
        if b < 0: raise BankError("negative")
        self.balance = b
    def withdraw(self, n):
        if n > self.balance: raise Insufficient(n)
        self.balance -= n
P2 = collections.namedtuple("P2", "x y")
def f(): return P2(1, 2)
@dataclass
class D:
    a: int
    b: int = 3
def mk(): return D(1)
class Color(enum.Enum): RED = 1; BLUE = 2
class Lv(enum.IntEnum): LO = 1; HI = 2
class S(str): pass
class MyDict(dict): pass
class Stack(list):
    def push(self, x): self.append(x)
def color(): return Color.RED
def level(): return Lv.HI
def s(): return S("ab")
def md(): return MyDict(a=1)
async def co(x): return x + 1
async def agen(n):
    for i in range(n): yield i
def show(x): print("hello", x)
@contextlib.contextmanager
def cm():
    yield 5
class Swallow:
    def __enter__(self): return self
    def __exit__(self, *a): return True
class Box:
    def __init__(self): self.d = {}
    def __setitem__(self, k, v): self.d[k] = v
    def __getitem__(self, k): return self.d[k]
    def __delitem__(self, k): del self.d[k]
    def __contains__(self, k): return k in self.d
    def __len__(self): return len(self.d)
    def __iadd__(self, kv): self.d[kv[0]] = kv[1]; return self
    def __eq__(self, o): return self.d == o.d
    def add(self, k): self.d[k] = 1
def deco(fn):
    def w(*a): return fn(*a) * 2
    return w
def sig(a: int, b: str = "x", *args, c=3, **k) -> bool:
    'Doc.'
    return True
"""

RIGHT: dict[str, str] = {
"eq": "assert Point(1,2) == Point(1,2) and Point(1,2) != Point(2,1)",
"eq var": "p = Point(1,2)\nq = p.moved(1,1)\nassert q == Point(2,3)\nassert Point(2,3) == q",
"lt": "assert Point(1,2) < Point(1,3)\nassert sorted([Point(2,1), Point(1,1)])[0].x == 1\nassert max(Point(1,2), Point(3,4)).x == 3",
"add": "assert Point(1,2) + Point(3,4) == Point(4,6)",
"mul": "assert Point(1,2) * 2 == Point(2,4) and 2 * Point(1,2) == Point(2,4) and Point(1,2) * Point(3,4) == 11",
"chain": "assert (Point(1,2) + Point(1,1)) * 2 == Point(4,6)",
"neg abs": "assert -Point(1,2) == Point(-1,-2) and abs(Point(3,4)) == 5 and abs(Point(1,1) - Point(1,1)) == 0 if hasattr(Point, 'zz') else True\nassert abs(Point(3,4)) == 5",
"repr": "assert repr(Point(1,2)) == 'Point(1, 2)' and str(Point(1,2)) == 'Point(1, 2)' and f'{Point(1,2)}' == 'Point(1, 2)'",
"in": "p = Point(1,2)\nassert p.x == 1\nassert 2 in p and 5 not in p",
"in list": "assert Point(1,2) in [Point(0,0), Point(1,2)]\nassert [Point(1,2)] == [Point(1,2)]",
"hash": "assert len({Point(1,2), Point(1,2)}) == 1 and {Point(1,2): 3}[Point(1,2)] == 3",
"isinstance": "p = Point(1,2)\nassert isinstance(p, Point) and not isinstance(3, Point) and isinstance(Pt3(1,2), Point) and issubclass(Pt3, Point) and isinstance(p.moved(1,1), (int, Point))",
"props": "assert Point(3,4).norm == 5 and Point.origin() == Point(0,0) and Point.dim() == 2",
"bool": "assert Point(1,0) and not Point(0,0)",
"except": "try:\n    Account(1).withdraw(5)\nexcept Insufficient as e:\n    assert e.need == 5 and str(e) == 'need 5' and isinstance(e, BankError) and isinstance(e, ValueError)\nelse: assert 0",
"except base": "try:\n    Account(-1)\nexcept BankError as e:\n    assert str(e) == 'negative' and type(e) is BankError and type(e).__name__ == 'BankError'\nelse: assert 0",
"assertRaises": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        with self.assertRaises(Insufficient) as c: Account(1).withdraw(5)\n        self.assertEqual(c.exception.need, 5)\n        self.assertEqual(Point(1,2), Point(1,2))\nunittest.main()",
"unittest not run": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), (1,2))",
"unittest runner": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), (1,2))\nunittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))",
"test functions": "def test_a():\n    assert f() == (1,2)\ndef test_b():\n    assert f().x == 1",
"test classes": "class TestF:\n    def setup_method(self): self.v = f()\n    def test_a(self): assert self.v == (1,2)",
"test capsys": "def test_a(capsys):\n    show(3)\n    assert capsys.readouterr().out == 'hello 3\\n'",
"namedtuple": "r = f()\nassert r.x == 1 and r == (1,2) and r._asdict() == {'x':1,'y':2} and repr(r) == 'P2(x=1, y=2)' and isinstance(r, P2) and r == P2(1,2) and r._replace(x=5).x == 5 and isinstance(r, tuple)",
"dataclass": "d = mk()\nassert d.a == 1 and d.b == 3\nassert D(1) == D(1,3) and mk() == D(1) and repr(mk()) == 'D(a=1, b=3)' and isinstance(mk(), D)",
"enum": "assert color() == Color.RED and color() is Color.RED and color().value == 1 and color().name == 'RED' and Color['RED'] is Color(1) and [c.name for c in Color] == ['RED','BLUE'] and len(Color) == 2 and color() != Color.BLUE and color() in (Color.RED,) and color() in Color",
"intenum": "assert level() == 2 and level() is Lv.HI and level().name == 'HI' and isinstance(level(), Lv) and level() > Lv.LO and Lv(2) == 2 and int(level()) == 2",
"str sub": "assert s() == 'ab' and md() == {'a': 1}",
"list sub": "t = Stack()\nt.push(3)\nassert len(t) == 1 and t[0] == 3 and t[-1] == 3",
"async": "import asyncio\nassert asyncio.run(co(1)) == 2\nasync def main():\n    assert await co(2) == 3\n    assert await asyncio.gather(co(1), co(2)) == [2, 3]\n    assert [x async for x in agen(3)] == [0,1,2]\nasyncio.run(main())",
"print": "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    show(3)\nassert b.getvalue() == 'hello 3\\n'\nshow(4)\nassert b.getvalue() == 'hello 3\\n'",
"patch stdout": "from unittest.mock import patch\nimport io\nwith patch('sys.stdout', new=io.StringIO()) as o:\n    show(1)\n    assert o.getvalue() == 'hello 1\\n'",
"signature": "import inspect\nsg = inspect.signature(sig)\nassert list(sg.parameters) == ['a','b','args','c','k'] and sg.parameters['b'].default == 'x' and sg.parameters['a'].annotation is int and sg.return_annotation is bool\nassert sig.__doc__ == 'Doc.' and sig.__name__ == 'sig' and sig.__annotations__['a'] is int and Point.__doc__ == 'A point.' and sig(1)",
"with": "with cm() as v:\n    assert v == 5",
"with swallow": "with Swallow():\n    raise ValueError\nassert f() == (1, 2)",
"items": "b = Box()\nb['a'] = 1\nb += ('c', 4)\nassert b['a'] == 1 and 'a' in b and len(b) == 2 and b['c'] == 4\ndel b['a']\nassert 'a' not in b",
"decorator": "@deco\ndef g(x): return x + 1\nassert g(1) == 4",
"attrs": "p = Point(1,2)\np.x = 7\nassert p.x == 7 and hasattr(p, 'y') and not hasattr(p, 'q')\ndel p.y\nassert not hasattr(p, 'y')",
"pass back": "assert Point(1,2) + Point(*f()) == Point(2,4)\nassert isinstance(f(), P2)",
"solution": "from solution import f, Point\nassert f() == (1,2)\nassert Point(1,2).x == 1",
"solution star": "from solution import *\nassert f() == (1,2)",
"solution module": "import solution\nassert solution.f() == (1,2)",
"solution tests": "from solution import f\ndef test_x():\n    assert f() == (1, 2)",
"exit": "assert f() == (1,2)\nexit()",
"main guard": "def main():\n    assert f() == (1,2)\nif __name__ == '__main__':\n    main()",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    """Operations that a test may apply to the submission's objects."""
    report = judge(PROGRAM, RIGHT[name])
    assert (report.result, report.message, report.statuses) == ("passed", "", (0, 0))
    assert report.calls > 0


MORE: list[tuple[str, str, str | None]] = [('import heapq\nclass Solution:\n    def f(self, n): return n',
  "assert Solution().f(3) == 3\nassert Solution().f(Counter('a')) == Counter('a')",
  'Solution().f'),
 ('def f(x): return x+1', 'from math import *\nassert f(sqrt(4)) == 3', None),
 ('def f(x): return x+1', 'from math import *\nassert f(sqrt(4)) == 3', 'f'),
 ('class LRUCache:\n'
  '    def __init__(s,n): s.d={}\n'
  '    def get(s,k): return s.d.get(k,-1)\n'
  '    def put(s,k,v): s.d[k]=v',
  'c = LRUCache(2)\nc.put(1,1)\nassert c.get(1) == 1\nassert c.get(5) == -1',
  None),
 ('class LRUCache:\n'
  '    def __init__(s,n): s.d={}\n'
  '    def get(s,k): return s.d.get(k,-1)\n'
  '    def put(s,k,v): s.d[k]=v',
  'def check(candidate):\n    c = candidate(2)\n    c.put(1,1)\n    assert c.get(1) == 1',
  'LRUCache'),
 ('class Shape:\n'
  '    def area(self): raise NotImplementedError\n'
  'class Sq(Shape):\n'
  '    def __init__(s,a): s.a=a\n'
  '    def area(s): return s.a**2',
  's = Sq(3)\n'
  'assert s.area() == 9 and isinstance(s, Shape)\n'
  'try:\n'
  '    Shape().area()\n'
  'except NotImplementedError: pass\n'
  'else: assert 0',
  None),
 ('import abc\nclass Shape(abc.ABC):\n    @abc.abstractmethod\n    def area(self): ...\n',
  "try:\n    Shape()\nexcept TypeError: pass\nelse: assert 0\nassert hasattr(Shape, 'area')",
  None),
 ('class Money:\n'
  '    def __init__(s,a): s.a=a\n'
  '    def __add__(s,o): return Money(s.a+o.a)\n'
  '    def __radd__(s,o): return s\n'
  '    def __eq__(s,o): return s.a==o.a\n'
  '    def __lt__(s,o): return s.a<o.a',
  'assert sum([Money(1),Money(2)]) == Money(3)\n'
  'assert min(Money(3),Money(1)) == Money(1)\n'
  'assert sorted([Money(3),Money(1)]) == [Money(1),Money(3)]',
  None),
 ('from functools import total_ordering\n'
  '@total_ordering\n'
  'class V:\n'
  '    def __init__(s,x): s.x=x\n'
  '    def __eq__(s,o): return s.x==o.x\n'
  '    def __lt__(s,o): return s.x<o.x',
  'assert V(1) <= V(1) and V(2) > V(1) and V(2) >= V(1) and not V(1) > V(2)',
  None),
 ('class Matrix:\n'
  '    def __init__(s,r): s.r=r\n'
  '    def __matmul__(s,o): return Matrix([[sum(a*b for a,b in zip(x,y)) for y in zip(*o.r)] for x in s.r])\n'
  '    def __getitem__(s,ij): return s.r[ij[0]][ij[1]]\n'
  '    def __eq__(s,o): return s.r==o.r\n'
  '    def __iter__(s): return iter(s.r)\n'
  '    def __call__(s, k): return k',
  'm = Matrix([[1,0],[0,1]])\n'
  'assert m @ m == m and m[0,0] == 1 and [list(r) for r in m] == [[1,0],[0,1]] and m(4) == 4',
  None),
 ('class E(Exception):\n'
  '    def __init__(s, code, msg): super().__init__(msg); s.code = code\n'
  "def f(x): raise E(404, 'nf')",
  "try:\n    f(1)\nexcept E as e:\n    assert e.code == 404 and str(e) == 'nf' and e.args == ('nf',)\nelse: assert 0",
  None),
 ("class E(Exception): pass\ndef f(g):\n    try: return g()\n    except E: return 'caught'",
  "def g(): raise E('x')\nassert f(g) == 'caught'",
  None),
 ('class Node:\n    def __init__(s,v,n=None): s.v=v; s.n=n\ndef f(n): return n.v + n.n.v',
  'assert f(Node(1, Node(2))) == 3',
  'f'),
 ("def f(x):\n    'Doc'\n    return x", "assert f.__doc__ == 'Doc'\nassert callable(f) and f(1) == 1", 'f'),
 ('import contextlib\n'
  'class R:\n'
  '    def __init__(s): s.log=[]\n'
  '    def __enter__(s): s.log.append(1); return s\n'
  '    def __exit__(s,t,v,tb): s.log.append(t.__name__ if t else None); return t is ValueError',
  'r = R()\n'
  'with r as q:\n'
  '    assert q is r\n'
  'assert r.log == [1, None]\n'
  'with r:\n'
  "    raise ValueError('x')\n"
  "assert r.log[-1] == 'ValueError'\n"
  'try:\n'
  '    with r: raise KeyError\n'
  'except KeyError: pass\n'
  'else: assert 0',
  None),
 ('def f(n): return (i*i for i in range(n))', 'assert list(f(3)) == [0,1,4]\nassert sum(f(3)) == 5', None),
 ('def f():\n    return lambda x: x + 1', 'g = f()\nassert g(1) == 2 and f()(3) == 4', None),
 ('class Dog:\n    count = 0\n    def __init__(s): Dog.count += 1', 'Dog(); Dog()\nassert Dog.count == 2', None),
 ('class T:\n'
  '    def __init__(s): s._c = 0\n'
  '    @property\n'
  '    def c(s): return s._c\n'
  '    @c.setter\n'
  '    def c(s, v):\n'
  "        if v < 0: raise ValueError('neg')\n"
  '        s._c = v',
  't = T()\n'
  't.c = 5\n'
  'assert t.c == 5\n'
  'try:\n'
  '    t.c = -1\n'
  "except ValueError as e: assert str(e) == 'neg'\n"
  'else: assert 0',
  None),
 ('import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass P:\n    x: int',
  'p = P(1)\n'
  'try:\n'
  '    p.x = 2\n'
  'except AttributeError: pass\n'
  'else: assert 0\n'
  'assert p == P(1) and hash(p) == hash(P(1)) and p in {P(1)}',
  None),
 ("def greet(name):\n    print('Hi', name)",
  'import sys\n'
  'from io import StringIO\n'
  'old = sys.stdout\n'
  'sys.stdout = StringIO()\n'
  "greet('Bo')\n"
  'out = sys.stdout.getvalue()\n'
  'sys.stdout = old\n'
  "assert out.strip() == 'Hi Bo'",
  None),
 ('def f(x): return x',
  'import unittest\n'
  'from unittest.mock import MagicMock\n'
  'm = MagicMock(return_value=3)\n'
  'assert f(2) == 2\n'
  'class T(unittest.TestCase):\n'
  '    def setUp(self): self.x = 5\n'
  '    def test_f(self): self.assertEqual(f(self.x), 5)\n'
  "if __name__ == '__main__': unittest.main(argv=['first-arg-is-ignored'], exit=False)",
  None),
 ('import enum\nclass Perm(enum.Flag):\n    R = 1\n    W = 2\ndef f(): return Perm.R | Perm.W',
  'assert f() == Perm.R | Perm.W',
  None),
 ('class Temp:\n'
  '    def __init__(s,c): s.c=c\n'
  '    def __float__(s): return float(s.c)\n'
  '    def __int__(s): return int(s.c)\n'
  '    def __round__(s, n=0): return round(s.c, n)\n'
  '    def __bool__(s): return s.c > 0\n'
  '    def __neg__(s): return Temp(-s.c)',
  't = Temp(3.5)\n'
  'assert float(t) == 3.5 and int(t) == 3 and t and not Temp(0) and (-t).c == -3.5 and round(Temp(2.456), 1) == 2.5',
  None)]  # fmt: skip


@pytest.mark.parametrize("place", range(len(MORE)))
def test_right_too(place: int) -> None:
    """Complete programs, as in data sets."""
    report = judge(*MORE[place])
    assert (report.result, report.message, report.statuses) == ("passed", "", (0, 0))


# --- what the submission may not decide ------------------------------------------------------------------------------

LIARS = """
import collections, enum
class Liar:
    def __init__(self, *a, **k): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return True
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __add__(self, other): return 0
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __add__ = __and__ = __xor__ = __truediv__= __add__
    def __abs__(self): return 0
    def __hash__(self): return 3
    def __bool__(self): return True
    def __float__(self): return 3.0
    def __int__(self): return 3
    __index__ = __int__
    def __call__(self, *a, **k): return self
    def __enter__(self): return self
    def __exit__(self, *a): return True
    def __getattr__(self, name): return self
    def __round__(self, *a): return self
    def __len__(self): return 3
class Keep(Liar):
    def __add__(self, other): return self
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __add__ = __and__ = __xor__ = __truediv__= __add__
    def __abs__(self): return self
    def __bool__(self): return False
"""
BODIES = [
    "def {f}(*a): return Liar()",
    "class {f}(Liar): pass",
    "class {f}(Keep): pass",
    "def {f}(*a): return Keep()",
    "class M(type(Liar)):\n    __eq__ = lambda *a: True\n    __hash__ = lambda s: 3\nclass {f}(Liar, metaclass=M): pass",
    "class E(enum.IntEnum):\n    A = 0\n    def __eq__(s, o): return True\n    __hash__ = int.__hash__\ndef {f}(*a): return E.A",
    "class T(collections.namedtuple('T', 'a')):\n    __eq__ = lambda *a: True\ndef {f}(*a): return T(1)",
    "class {f}(Exception):\n    __eq__ = lambda *a: True",
    "async def {f}(*a): return 3",
    "def {f}(*a):\n    yield Liar()",
    "class {f}(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__\n    def __new__(c, *a): return int.__new__(c, 0)",
]
TESTS = [
    "assert {f}(1) == 3",
    "assert 3 == {f}(1)",
    "assert {f}(1) in [3]",
    "assert abs({f}(1) - 3) < 1e-6",
    "assert abs(3 - {f}(1)) < 1e-6",
    "assert not ({f}(1) - 3)",
    "assert not ({f}(1) != 3)",
    "assert {f}(1) <= 3 <= {f}(1)",
    "assert 3 in {f}(1)",
    "assert round({f}(1), 2) == 3.14",
    "assert {f}(1) % 2 == 1",
    "assert {{{f}(1)}} == {{3}}",
    "assert [{f}(1)] == [3]",
    "assert ({f}(1),) == (3,)",
    "assert str({f}(1)) == '3'",
    "r = {f}(1)\nassert r == 3",
    "r = {f}(1)\nassert abs(r - 3) < 1e-9",
    "import math\nassert math.isclose({f}(1), 7)",
    "assert {f}(1) is True",
    "assert isinstance({f}(1), int) and {f}(1) == 3",
    "assert set({f}(1)) == {{1, 2}}",
    "assert sorted({f}(1)) == [2]",
    "assert {f}(1)[0] == 3",
    "assert {f}(1) * 2 == 6",
    "assert ({f}(1) ^ 3) == 0",
    "assert {f}(1) + [1] == [2, 1]",
    "assert {f}({f}(1)) == 3",
    "assert all(x == y for x, y in zip({f}(1), [1]))and {f}(1) == 3",
    "with {f}(1) as r:\n    assert r == 3",
    "assert {f}(1).value == 3",
    "assert {f}(1) and {f}(1) == 3",
    "assert max({f}(1), 3) == 3 and {f}(1) == 3",
    "assert len({f}(1)) == 4",
    "try:\n    r = {f}(1)\n    assert r == 3\nexcept {f}:\n    pass",
    "assert -0.001 < {f}(1) - 3 < 0.001",
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual({f}(1), 3)\n        self.assertAlmostEqual({f}(1), 3)\nunittest.main(exit=False)",
    "def test_a():\n    assert {f}(1) == 3",
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertIn(3, {f}(1))\n",
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertAlmostEqual({f}(1), 3)\n        self.assertTrue({f}(1) == 3)\nunittest.main()",
]


@pytest.mark.parametrize("place", one_in(2, range(len(BODIES))))
@pytest.mark.parametrize("name", ["f", "Area"])
@pytest.mark.parametrize("half", one_in(2, range(2)))
def test_no_kind_of_value_wins(place: int, name: str, half: int) -> None:
    """No kind of value, under the name or returned, passes a test that a plain wrong value fails.

    Each test runs with an entry point against every other program, and without against the rest; the other half is the
    other way about.
    """
    program = LIARS + BODIES[place].format(f=name)
    for number, test in enumerate(TESTS):
        entry_point = name if (number + place + half) % 2 else None
        report = judge(program, test.format(f=name), entry_point, seconds=5)
        assert report.result not in ("passed", "bad_test", ""), (test, report)


def test_the_tests_are_not_vacuous() -> None:
    """A right value passes most of these tests."""
    passed = [judge("def f(*a): return 3", test.format(f="f"), "f").result == "passed" for test in TESTS]
    assert sum(passed) >= 15


LIES = {
    "content": (
        "n = [0]\nclass X(float):\n    def z(self): pass\ndef f(x):\n    import sys\n    frame = sys._getframe()\n"
        "    while 'operations' not in frame.f_globals: frame = frame.f_back\n    def content(value):\n        n[0] += 1\n"
        "        return -1e9 if n[0] % 2 else 1e9\n    frame.f_globals['operations'].CONTENT[float] = content\n    return X()",
        "r = f(1)\nassert 3.14 < r < 3.15",
    ),
    "items": (
        "n = [3]\nclass X:\n    def __getitem__(self, i):\n        n[0] -= 1\n        return n[0]\ndef f(x): return X()",
        "r = f(1)\nassert r[0] == 2 and r[0] == 1",
    ),
    "iteration": (
        "n = [0]\nclass X:\n    def __iter__(self):\n        n[0] += 1\n        return iter([n[0]])\ndef f(x): return X()",
        "r = f(1)\nassert sum(r) == 1 and sum(r) == 2",
    ),
    "attribute": (
        "n = [0]\nclass X:\n    @property\n    def v(self):\n        n[0] += 1\n        return n[0]\ndef f(x): return X()",
        "r = f(1)\nassert r.v == 1 and r.v == 2",
    ),
}
CHANGES = {
    "a default": (
        "class D(dict):\n    def __missing__(self, k):\n        self[k] = 0\n        return 0\ndef f(x): return D()",
        "d = f(1)\nassert len(d) == 0 and d['a'] == 0 and len(d) == 1 and d == {'a': 0}",
    ),
    "a drained queue": (
        "class Q:\n    def __init__(self): self.q = [1, 2]\n    def __iter__(self):\n        while self.q: yield self.q.pop(0)\n"
        "    def __len__(self): return len(self.q)\ndef f(x): return Q()",
        "q = f(1)\nassert len(q) == 2 and list(q) == [1, 2] and len(q) == 0 and list(q) == []",
    ),
    "one iterator": (
        "class R:\n    def __init__(self): self.i = iter([1, 2])\n    def __iter__(self): return self.i\ndef f(x): return R()",
        "r = f(1)\nfor a in r:\n    break\nassert list(r) == [2]",
    ),
    "a method": (
        "class C:\n    n = 0\n    def add(self): self.n += 1\ndef f(x): return C()",
        "c = f(1)\nassert c.n == 0\nc.add()\nassert c.n == 1",
    ),
    "an object of the test's": (
        "class C:\n    _n = 0\n    @property\n    def n(self):\n        self._n += 1\n        return self._n\ndef f(x): return C()",
        "c = C()\nassert c.n == 1 and c.n == 2 and f(1).n == 1",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_returned_object_may_not_change_its_answers(name: str) -> None:
    found = judge(*LIES[name], "f")
    assert found.result == "not_plain"
    assert "another answer to the same request" in found.message


@pytest.mark.parametrize("name", CHANGES)
def test_a_returned_object_may_change(name: str) -> None:
    assert judge(*CHANGES[name], "f").result == "passed"
