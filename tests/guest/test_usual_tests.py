"""Usual test programs of data sets pass for usual programs of models, or are masked for every program.

Both halves run without a sandbox. A right program must never get the reward 0.
"""

# ruff: noqa: E501 (rows of programs)

from __future__ import annotations

import pytest

from tests.guest.boxes import judge
from tests.markers import one_in

ACCOUNT = """
class InsufficientFunds(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.need, self.have = need, have
class Account:
    bank = "ACME"
    count = 0
    def __init__(self, owner, balance=0):
        self.owner = owner; self._balance = balance; Account.count += 1
    @property
    def balance(self): return self._balance
    @balance.setter
    def balance(self, v):
        if v < 0: raise ValueError("negative")
        self._balance = v
    @classmethod
    def make(cls, owner): return cls(owner, 10)
    @staticmethod
    def fee(x): return x * 0.01
    def withdraw(self, n):
        if n > self._balance: raise InsufficientFunds(n, self._balance)
        self._balance -= n; return self
    def __repr__(self): return f"Account({self.owner!r}, {self._balance})"
    def __eq__(self, o): return isinstance(o, Account) and self._balance == o._balance
    def __lt__(self, o): return self._balance < o._balance
    def __hash__(self): return hash(self._balance)
    def __len__(self): return 3
    def __bool__(self): return self._balance > 0
    def __iter__(self): yield from range(3)
    def __contains__(self, x): return x == 1
    def __getitem__(self, i): return i * 2
    def __call__(self, x): return x + 1
    def __enter__(self): return self
    def __exit__(self, *a): self._balance = 0; return False
    def __add__(self, o): return Account("sum", self._balance + o._balance)
"""

STACK = """
class Stack:
    def __init__(self, *items):
        self.items, self.by_id, self.rows, self.seen = list(items), {}, [[0, 0], [0, 0]], set()
        self.alias = self.items
    def total(self): return sum(self.items)
    def known(self): return sorted(self.by_id), sorted(self.seen), self.rows
"""

Row = tuple[str, str, str | None]

RIGHT: dict[str, Row] = {
    "attribute changed in place": (
        STACK,
        "s = Stack(1, 2)\ns.items.append(3)\nassert s.total() == 6 and s.alias == [1, 2, 3]\n"
        "s.by_id['a'] = 1\ns.seen.add(5)\ns.rows[1][0] = 7\nassert s.known() == (['a'], [5], [[0, 0], [7, 0]])\n"
        "s.items.clear()\nassert s.total() == 0\ndel s.by_id['a']\nassert s.known()[0] == []",
        None,
    ),
    "attribute changed through a variable": (
        STACK,
        "s = Stack()\nitems = s.items\nfor n in range(4):\n    items.append(n)\n    assert s.total() == sum(range(n + 1))\n"
        "assert s.items == [0, 1, 2, 3]",
        None,
    ),
    "attribute of a copy": (
        STACK,
        "import copy\ns = Stack(1)\nt = copy.deepcopy(s)\nt.items.append(2)\nassert s.items == [1] and t.items == [1, 2]\n"
        "u = copy.copy(s)\nu.items.append(4)\nassert s.items == [1, 4]",
        None,
    ),
    "attribute replaced by the submission": (
        "class S:\n    def __init__(self): self.items = []\n    def reset(self): self.items = (9,)\n",
        "s = S()\ni = s.items\ni.append(1)\nassert s.items == [1]\ns.reset()\nassert s.items == (9,)",
        None,
    ),
    "global that functions change": (
        "count = 0\nseen = []\ndef f(x):\n    global count\n    count += 1; seen.append(x); return count\n",
        "assert count == 0\nassert f('a') == 1\nassert count == 1 and seen == ['a']\n"
        "def test_more():\n    f('b')\n    assert count == 2\n    assert seen == ['a', 'b']\ntest_more()",
        None,
    ),
    "paths": (
        "from pathlib import Path, PurePosixPath\ndef f(p='a'): return Path(p) / 'b'\ndef g(): return [PurePosixPath('x')]\n",
        "from pathlib import Path\nassert f() == Path('a/b') and f().name == 'b' and str(f()) == 'a/b'\n"
        "assert f(Path('c')) == Path('c/b') and g() == [Path('x')]",
        None,
    ),
    "props": (
        ACCOUNT,
        "a=Account('x',5)\nassert a.balance==5\na.balance=7\nassert a.balance==7\ntry:\n    a.balance=-1\n    assert False\nexcept ValueError as e:\n    assert str(e)=='negative'\n",
        None,
    ),
    "classmethod": (
        ACCOUNT,
        "a=Account.make('z')\nassert a.owner=='z' and a.balance==10 and Account.fee(100)==1.0 and Account.bank=='ACME'\nassert Account.count>=1",
        None,
    ),
    "exc attrs": (
        ACCOUNT,
        "a=Account('x',5)\ntry:\n    a.withdraw(9)\nexcept InsufficientFunds as e:\n    assert e.need==9 and e.have==5 and 'need 9' in str(e) and e.args==('need 9, have 5',)\nelse:\n    assert False",
        None,
    ),
    "pytest raises": (
        ACCOUNT,
        "import pytest\ndef test_a():\n    a=Account('x',5)\n    with pytest.raises(InsufficientFunds, match='need 9') as ei:\n        a.withdraw(9)\n    assert ei.value.need==9\n    assert ei.type is InsufficientFunds",
        None,
    ),
    "fluent": (ACCOUNT, "a=Account('x',5)\nassert a.withdraw(1).withdraw(1).balance==3", None),
    "identity": (ACCOUNT, "a=Account('x',5)\nassert a.withdraw(1) is a", None),
    "repr": (
        ACCOUNT,
        "a=Account('x',5)\nassert repr(a)==\"Account('x', 5)\" and str(a)==\"Account('x', 5)\" and f'{a}'==str(a)",
        None,
    ),
    "dunder": (
        ACCOUNT,
        "a=Account('x',5)\nb=Account('y',6)\nassert len(a)==3 and list(a)==[0,1,2] and 1 in a and 5 not in a and a[4]==8 and a(1)==2 and bool(a) and a<b and max(a,b) is b and (a+b).balance==11 and a!=b and sorted([b,a])[0].balance==5",
        None,
    ),
    "with": (ACCOUNT, "with Account('x',5) as a:\n    assert a.balance==5\nassert a.balance==0 and not a", None),
    "set of": (ACCOUNT, "s={Account('x',5),Account('y',5),Account('z',1)}\nassert len(s)==2", None),
    "dict key": (ACCOUNT, "d={Account('x',5):1}\nassert d[Account('q',5)]==1", None),
    "hasattr": (
        ACCOUNT,
        "a=Account('x')\nassert hasattr(a,'withdraw') and not hasattr(a,'nope') and callable(a.withdraw) and hasattr(Account,'make')",
        None,
    ),
    "getattr dflt": (ACCOUNT, "a=Account('x')\nassert getattr(a,'nope',3)==3", None),
    "type()": (
        ACCOUNT,
        "a=Account('x')\nassert type(a) is Account and isinstance(a,Account) and type(a).__name__=='Account' and a.__class__.__name__=='Account' and issubclass(InsufficientFunds,Exception)",
        None,
    ),
    "vars": (
        ACCOUNT,
        "a=Account('x',5)\nassert vars(a)=={'owner':'x','_balance':5} and a.__dict__['owner']=='x'",
        None,
    ),
    "setattr": (
        ACCOUNT,
        "a=Account('x',5)\na.owner='q'\nassert a.owner=='q'\ndel a.owner\nassert not hasattr(a,'owner')",
        None,
    ),
    "unittest cls": (
        ACCOUNT,
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.a=Account('x',5)\n    def test_b(self):\n        self.assertEqual(self.a.balance,5)\n        with self.assertRaises(InsufficientFunds): self.a.withdraw(10)\n        self.assertRaises(InsufficientFunds,self.a.withdraw,10)\n        self.assertAlmostEqual(Account.fee(1),0.01)\n        self.assertIn(1,self.a); self.assertIsInstance(self.a,Account); self.assertTrue(self.a)\n        self.assertIs(self.a.withdraw(1),self.a)\nif __name__=='__main__':\n    unittest.main()",
        None,
    ),
    "copy": (
        ACCOUNT,
        "import copy\na=Account('x',5)\nb=copy.copy(a)\nb.balance=1\nassert a.balance==5 and copy.deepcopy(a)==a",
        None,
    ),
    "inf gen": (
        "def g():\n    i=0\n    while True:\n        yield i; i+=1\n",
        "from itertools import islice\nassert list(islice(g(),5))==[0,1,2,3,4]",
        None,
    ),
    "closure": (
        "def make(n):\n    def f(x): return x+n\n    return f\n",
        "f=make(3)\nassert f(4)==7 and make(1)(1)==2\nassert [f(i) for i in range(2)]==[3,4]\nassert list(map(f,[1,2]))==[4,5]",
        None,
    ),
    "callback": (
        "def apply(f,xs): return [f(x) for x in xs]\n",
        "assert apply(lambda x:x*2,[1,2])==[2,4]\nassert apply(str,[1,2])==['1','2']\nassert apply(len,['ab'])==[2]",
        None,
    ),
    "decorator": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def w(*a,**k):\n        f(*a,**k); return f(*a,**k)\n    return w\n",
        "n=[]\n@twice\ndef g(x):\n    'doc'\n    n.append(x); return len(n)\nassert g(1)==2 and n==[1,1] and g.__name__=='g' and g.__doc__=='doc'",
        None,
    ),
    "mutates arg": ("def f(xs):\n    xs.sort(); xs.append(9)\n", "a=[3,1]\nassert f(a) is None and a==[1,3,9]", None),
    "mutates dict": ("def f(d):\n    d['a']=1; d.pop('b')\n", "d={'b':2}\nf(d)\nassert d=={'a':1}", None),
    "mutates nested": ("def f(m):\n    m[0][0]=7\n", "m=[[1],[2]]\nf(m)\nassert m==[[7],[2]]", None),
    "same list": ("def f(x): return x\n", "a=[1]\nassert f(a) is a", None),
    "print capsys": (
        "def hi(n): print('hi',n)\n",
        "def test_p(capsys):\n    hi(3)\n    assert capsys.readouterr().out=='hi 3\\n'",
        None,
    ),
    "print redirect": (
        "def hi(n): print('hi',n)\n",
        "import io,contextlib\nb=io.StringIO()\nwith contextlib.redirect_stdout(b):\n    hi(3)\nassert b.getvalue()=='hi 3\\n'",
        None,
    ),
    "sys.stdout swap": (
        "def hi(n): print('hi',n)\n",
        "import io,sys\nold=sys.stdout\nsys.stdout=io.StringIO()\nhi(1)\ns=sys.stdout.getvalue()\nsys.stdout=old\nassert s.strip()=='hi 1'",
        None,
    ),
    "monkeypatch fn": (
        "def rnd(): \n    import random\n    return random.randint(1,6)\n",
        "import random\nrandom.seed(1)\nassert 1<=rnd()<=6",
        None,
    ),
    "parametrize": (
        "def add(a,b): return a+b\n",
        "import pytest\n@pytest.mark.parametrize('a,b,c',[(1,2,3),(0,0,0),('a','b','ab')])\ndef test_add(a,b,c):\n    assert add(a,b)==c",
        None,
    ),
    "approx": ("def f(): return 0.1+0.2\n", "import pytest\ndef test(): assert f()==pytest.approx(0.3)", None),
    "fixture": (
        "class S:\n    def __init__(self): self.x=[]\n    def push(self,v): self.x.append(v)\n    def pop(self): return self.x.pop()\n    def __len__(self): return len(self.x)\n",
        "import pytest\n@pytest.fixture\ndef s():\n    q=S(); q.push(1); return q\ndef test_x(s):\n    assert s.pop()==1 and len(s)==0\n    with pytest.raises(IndexError): s.pop()",
        None,
    ),
    "from solution import": ("def f(x): return x+1\n", "from solution import f\ndef test_a(): assert f(1)==2", None),
    "import solution": ("def f(x): return x+1\n", "import solution\nassert solution.f(1)==2", None),
    "async": (
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(0); return x*2\n",
        "import asyncio\nassert asyncio.run(f(2))==4\nasync def main():\n    return await asyncio.gather(f(1),f(2))\nassert asyncio.run(main())==[2,4]",
        None,
    ),
    "enum": (
        "from enum import Enum\nclass C(Enum):\n    R=1\n    G=2\n",
        "assert C.R.value==1 and C.R.name=='R' and C(2) is C.G and C['R']==C.R and len(C)==2 and [c.name for c in C]==['R','G'] and C.R!=C.G and C.R in C",
        None,
    ),
    "namedtuple": (
        "from collections import namedtuple\nP=namedtuple('P','x y')\ndef f(): return P(1,2)\n",
        "p=f()\nassert p.x==1 and p==(1,2) and p._asdict()=={'x':1,'y':2} and isinstance(p,tuple) and p==P(1,2)",
        None,
    ),
    "linked": (
        "class Node:\n    def __init__(s,v,n=None): s.v=v; s.next=n\ndef rev(h):\n    p=None\n    while h: h.next,p,h=p,h,h.next\n    return p\n",
        "h=Node(1,Node(2,Node(3)))\nr=rev(h)\no=[]\nwhile r:\n    o.append(r.v); r=r.next\nassert o==[3,2,1]",
        None,
    ),
    "abc": (
        "from abc import ABC,abstractmethod\nclass Sh(ABC):\n    @abstractmethod\n    def area(self): ...\nclass Sq(Sh):\n    def __init__(s,a): s.a=a\n    def area(s): return s.a**2\n",
        "assert Sq(2).area()==4\ntry:\n    Sh(); assert False\nexcept TypeError: pass\nassert issubclass(Sq,Sh) and isinstance(Sq(1),Sh)",
        None,
    ),
    "defaultdict ret": (
        "from collections import defaultdict,Counter,deque,OrderedDict\ndef f(): return defaultdict(list,{'a':[1]})\ndef g(): return Counter('aab')\ndef h(): return deque([1,2])\ndef i(): return OrderedDict(a=1)\n",
        "from collections import Counter,deque,OrderedDict,defaultdict\nassert f()=={'a':[1]} and f()['zz']==[] and g()==Counter('aab') and g().most_common(1)==[('a',2)] and h()==deque([1,2]) and i()==OrderedDict(a=1) and isinstance(g(),Counter)",
        None,
    ),
    "datetime": (
        "import datetime\ndef f(): return datetime.date(2020,1,2)\ndef g(): return datetime.timedelta(days=1)\n",
        "import datetime\nfrom datetime import timedelta,date\nassert f()==date(2020,1,2) and f().year==2020 and g()==timedelta(days=1) and (f()+g()).day==3",
        None,
    ),
    "decimal": (
        "from decimal import Decimal\ndef f(): return Decimal('1.10')\n",
        "from decimal import Decimal\nassert f()==Decimal('1.1') and f()*2==Decimal('2.2')",
        None,
    ),
    "fraction": (
        "from fractions import Fraction\ndef f(): return Fraction(1,3)\n",
        "from fractions import Fraction\nassert f()==Fraction(1,3) and f().denominator==3",
        None,
    ),
    "range/set/frozenset": (
        "def f(): return range(3)\ndef g(): return frozenset([1])\ndef h(): return {1,2}\ndef z(): return zip([1],[2])\n",
        "assert f()==range(3) and g()==frozenset([1]) and h()=={2,1} and list(z())==[(1,2)] and 2 in h()",
        None,
    ),
    "bytes": ("def f(b): return b[::-1]\n", "assert f(b'ab')==b'ba' and f(bytearray(b'ab'))==bytearray(b'ba')", None),
    "regex ret": (
        "import re\ndef f(s): return re.match(r'(a)(b)',s)\n",
        "m=f('ab')\nassert m and m.group(1)=='a' and m.groups()==('a','b') and f('x') is None",
        None,
    ),
    "complex": ("def f(): return 1+2j\n", "assert f()==1+2j and abs(f())>2", None),
    "lru": (
        "from functools import lru_cache\n@lru_cache(None)\ndef fib(n): return n if n<2 else fib(n-1)+fib(n-2)\n",
        "assert fib(80)==23416728348467685\nassert fib.cache_info().hits>0\nfib.cache_clear()",
        None,
    ),
    "kwonly": (
        "def f(a,*,b=2,**k): return a+b+sum(k.values())\n",
        "assert f(1)==3 and f(1,b=1,c=5)==7\ntry:\n    f(1,2); assert 0\nexcept TypeError: pass",
        None,
    ),
    "thread": (
        "import threading\nclass C:\n    def __init__(s): s.n=0; s.l=threading.Lock()\n    def inc(s):\n        with s.l: s.n+=1\n",
        "import threading\nc=C()\nts=[threading.Thread(target=c.inc) for _ in range(10)]\n[t.start() for t in ts]; [t.join() for t in ts]\nassert c.n==10",
        None,
    ),
    "global const": ("MAX=10\nNAMES=['a']\ndef f(): return MAX\n", "assert MAX==10 and NAMES==['a'] and f()==10", None),
    "op table": (
        "OPS={'+':lambda a,b:a+b}\n",
        "assert OPS['+'](1,2)==3 and '+' in OPS and len(OPS)==1 and list(OPS)==['+']",
        None,
    ),
    "exec main guard": (
        "def f(): return 1\nif __name__=='__main__':\n    raise SystemExit(3)\n",
        "assert f()==1",
        None,
    ),
    "check cand": (
        "def f(x): return x\n",
        "def check(candidate):\n    assert candidate(1)==1\n    assert abs(candidate(0.1)-0.1)<1e-9\ncheck(f)",
        None,
    ),
    "check ep": ("def f(x): return x\n", "def check(candidate):\n    assert candidate(1)==1\n", "f"),
    "sorted key": (
        "class V:\n    def __init__(s,k): s.k=k\ndef mk(): return [V(2),V(1)]\n",
        "vs=mk()\nassert [v.k for v in sorted(vs,key=lambda v:v.k)]==[1,2] and len(vs)==2 and vs[0].k==2",
        None,
    ),
    "dict of obj": (
        "class V:\n    def __init__(s,k): s.k=k\ndef mk(): return {'a':V(2)}\n",
        "assert mk()['a'].k==2 and all(isinstance(v,V) for v in mk().values())",
        None,
    ),
    "str sub": (
        "class S(str):\n    def up(self): return self.upper()\n",
        "s=S('ab')\nassert s=='ab' and s.up()=='AB' and len(s)==2 and isinstance(s,str)",
        None,
    ),
    "list sub": (
        "class L(list):\n    def first(self): return self[0]\n",
        "l=L([1,2])\nl.append(3)\nassert l.first()==1 and l==[1,2,3] and len(l)==3 and isinstance(l,list)",
        None,
    ),
    "dict sub": (
        "class D(dict):\n    def __missing__(self,k): return k*2\n",
        "d=D(a=1)\nassert d['a']==1 and d['b']=='bb' and dict(d)=={'a':1}",
        None,
    ),
    "gen that returns": (
        "def g():\n    yield 1\n    return 5\n",
        "def all_of():\n    return (yield from g())\nx=all_of()\nassert next(x)==1\ntry:\n    next(x); assert False\nexcept StopIteration as end:\n    assert end.value==5",
        None,
    ),
    "iter cls": (
        "class R:\n    def __init__(s,n): s.n=n; s.i=0\n    def __iter__(s): return s\n    def __next__(s):\n        if s.i>=s.n: raise StopIteration\n        s.i+=1; return s.i\n",
        "assert list(R(3))==[1,2,3] and sum(R(2))==3\na,b=R(2)\nassert (a,b)==(1,2)",
        None,
    ),
    "ops": (
        "class V:\n    def __init__(s,x): s.x=x\n    def __mul__(s,k): return V(s.x*k)\n    __rmul__=__mul__\n    def __neg__(s): return V(-s.x)\n    def __abs__(s): return abs(s.x)\n    def __iadd__(s,o): s.x+=o.x; return s\n    def __eq__(s,o): return s.x==o.x\n    def __float__(s): return float(s.x)\n    def __int__(s): return int(s.x)\n    def __round__(s,n=None): return round(s.x)\n    def __format__(s,f): return 'V'+format(s.x,f)\n    def __matmul__(s,o): return s.x*o.x\n    def __divmod__(s,o): return (1,2)\n    def __pow__(s,o): return V(s.x**o)\n    def __reversed__(s): return iter([1])\n    def __index__(s): return s.x\n",
        "v=V(2)\nassert v*3==V(6) and 3*v==V(6) and -v==V(-2) and abs(V(-3))==3 and float(v)==2.0 and int(v)==2 and round(v)==2 and f'{v:03d}'=='V002' and v@v==4 and divmod(v,1)==(1,2) and v**3==V(8) and list(reversed(v))==[1] and [5,6,7][v]==7\nw=v\nw+=V(1)\nassert w is v and v.x==3",
        None,
    ),
    "fixture that yields": (
        "class S(list): pass\n",
        "import pytest\nlog = []\n@pytest.fixture\ndef s():\n    q = S(); q.append(1)\n    yield q\n    log.append('end')\n@pytest.fixture(name='two')\ndef _t(s):\n    s.append(2); return s\nclass TestS:\n    @pytest.fixture(autouse=True)\n    def prepare(self): self.q = S()\n    def test_a(self, two):\n        assert two.pop() == 2 and len(self.q) == 0\ndef test_x(s):\n    assert s.pop() == 1 and log == ['end']\n",
        None,
    ),
    "guard that reads": (
        "def f(x): return x\nif __name__ == '__main__':\n    print(f(int(input())))\n",
        "assert f(1) == 1",
        None,
    ),
    "exit at the end": ("def f(x): return x\nimport sys\nsys.exit()\n", "assert f(1) == 1", None),
    "guard that exits": (
        "import sys\ndef f(x): return x\nif __name__ == '__main__':\n    sys.exit(2)\n",
        "def check(candidate):\n    assert candidate(1) == 1",
        "f",
    ),
    "annotations as text": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass P:\n    x: int\n    y: ClassVar[int] = 2\ndef f(x): return P(x).x\n",
        "assert f(3) == 3",
        None,
    ),
    "types": (
        "def f(): return 3\n",
        "class M(type): pass\nclass A(metaclass=M): pass\nX = type('X', (A,), {'y': 1})\nassert type(f()) is int and type(f()) == int and isinstance(int, type) and X.y == 1 and type(X) is M and issubclass(M, type)",
        None,
    ),
}

MASKED: dict[str, Row] = {
    "subclass in test": (
        ACCOUNT,
        "class S(Account):\n    def withdraw(self,n): return 'no'\ns=S('x',1)\nassert s.withdraw(3)=='no' and s.balance==1 and isinstance(s,Account)",
        None,
    ),
    "gen": (
        "def g(n):\n    for i in range(n): yield i*i\n",
        "assert list(g(3))==[0,1,4]\nx=g(2)\nassert next(x)==0 and next(x)==1\ntry:\n    next(x); assert False\nexcept StopIteration: pass\nassert sum(g(4))==14\nimport types,inspect\nassert inspect.isgeneratorfunction(g) and isinstance(g(1),types.GeneratorType)",
        None,
    ),
    "cause of an exception": (
        "def f():\n    try: 1/0\n    except ZeroDivisionError as e: raise ValueError('v') from e\n",
        "try: f()\nexcept ValueError as e: assert isinstance(e.__cause__, ZeroDivisionError)",
        None,
    ),
    "file for the submission": (
        "def f(p): return open('/not/here' + p).read()\n",  # as in a box: the halves of this test share all files
        "import tempfile\nwith tempfile.NamedTemporaryFile('w') as t:\n    t.write('hi'); t.flush()\n    assert f(t.name)=='hi'",
        None,
    ),
    "file of the submission's": (
        "def f(p): pass\n",
        "import os\nf('not-here')\nassert os.path.exists('not-here')\nassert open('not-here').read()=='hi'",
        None,
    ),
    "mock input": (
        "def ask(): return input('n? ')\n",
        "from unittest.mock import patch\nwith patch('builtins.input',return_value='5'):\n    assert ask()=='5'",
        None,
    ),
    "mock print": (
        "def hi(): print('x')\n",
        "from unittest.mock import patch\nwith patch('builtins.print') as p:\n    hi()\n    p.assert_called_once_with('x')",
        None,
    ),
    "tmp_path": (
        "def w(p):\n    with open(p,'w') as f: f.write('hi')\ndef r(p): return open(p).read()\n",
        "def test_t(tmp_path):\n    p=tmp_path/'a.txt'\n    w(str(p))\n    assert r(str(p))=='hi'",
        None,
    ),
    "dataclass": (
        "from dataclasses import dataclass,field\n@dataclass(order=True)\nclass P:\n    x:int\n    y:int=0\n    t:list=field(default_factory=list)\n",
        "p=P(1)\nassert p==P(1,0) and p.x==1 and P(1)<P(2) and repr(p)=='P(x=1, y=0, t=[])'\nfrom dataclasses import asdict,replace\nassert asdict(p)=={'x':1,'y':0,'t':[]}\nassert replace(p,x=3).x==3",
        None,
    ),
    "node in test": (
        "def rev(h):\n    p=None\n    while h: h.next,p,h=p,h,h.next\n    return p\n",
        "class Node:\n    def __init__(s,v,n=None): s.v=v; s.next=n\nh=Node(1,Node(2,Node(3)))\nr=rev(h)\no=[]\nwhile r:\n    o.append(r.v); r=r.next\nassert o==[3,2,1]",
        None,
    ),
    "typing": (
        "from typing import List,Optional\ndef f(x:List[int])->Optional[int]:\n    return x[0] if x else None\n",
        "import typing\nassert f([])is None and f([1])==1\nassert f.__annotations__['return']==typing.Optional[int]",
        None,
    ),
    "warnings": (
        "import warnings\ndef f(): warnings.warn('x',DeprecationWarning); return 1\n",
        "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n    assert f()==1\n    assert len(w)==1",
        None,
    ),
    "logging": (
        "import logging\ndef f(): logging.getLogger('a').warning('hey')\n",
        "def test_l(caplog):\n    f()\n    assert 'hey' in caplog.text",
        None,
    ),
    "other fixture of pytest": ("def f(): return 1\n", "def test_x(tmp_path_factory):\n    assert f() == 1\n", None),
    "limit on its own time": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0.2)\n",
        "import asyncio\nasync def main():\n    try:\n        await asyncio.wait_for(f(), 0.01)\n"
        "    except asyncio.TimeoutError: return 1\nassert asyncio.run(main()) == 1",
        None,
    ),
    "pickled object": (
        "class C:\n    x = 1\n",
        "import pickle\nassert C().x == 1\nassert pickle.loads(pickle.dumps(C())).x == 1",
        None,
    ),
    "skips itself": (
        "def f(): return 1\n",
        "import pytest\npytest.importorskip('no_such_module')\nassert f() == 1",
        None,
    ),
}

PYTEST: dict[str, Row] = {
    "output as a pair": (
        "import sys\ndef f():\n    print('a')\n    print('e', file=sys.stderr)\n",
        "def test_x(capsys):\n    f()\n    out, err = capsys.readouterr()\n    assert (out, err) == ('a\\n', 'e\\n')\n"
        "    assert capsys.readouterr().out == ''",
        "f",
    ),
    "errors redirected": (
        "import sys\ndef f(): print('e', file=sys.stderr)\n",
        "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stderr(b): f()\nassert b.getvalue() == 'e\\n'",
        "f",
    ),
    "params of fixtures": (
        "def f(x): return x\n",
        "import pytest\nSEEN = []\n@pytest.fixture(params=[1, pytest.param(2)])\ndef a(request): return request.param\n"
        "@pytest.fixture\ndef b(a): return a * 10\n@pytest.mark.parametrize('c', [5, 6])\n"
        "def test_x(a, b, c): SEEN.append((f(a), b, c))\n"
        "def test_y(): assert SEEN == [(1, 10, 5), (2, 20, 5), (1, 10, 6), (2, 20, 6)]",
        "f",
    ),
    "used fixtures, and marks of classes": (
        "def f(x): return x\n",
        "import pytest\nX = []\n@pytest.fixture\ndef add(): X.append(1)\n@pytest.mark.usefixtures('add')\n"
        "@pytest.mark.parametrize('n', [1])\nclass TestX:\n    def test_x(self, n): assert f(X) == [n]",
        "f",
    ),
    "expected failures and skips": (
        "def f(x): return x\n",
        "import pytest\n@pytest.mark.xfail(reason='x')\ndef test_a(): assert f(1) == 2\n"
        "@pytest.mark.skipif('True', reason='x')\ndef test_b(): assert 0\ndef test_c():\n    pytest.skip('later')\n"
        "def test_d(): assert f(1) == 1",
        "f",
    ),
}
"""What pytest offers beside assertions."""

LIBRARY_ERRORS = {
    "json": ("JSONDecodeError", "json.loads('{')", "e.pos == 1 and e.msg"),
    "dataclasses": (
        "FrozenInstanceError",
        "dataclasses.make_dataclass('P', ['x'], frozen=True)(1).__setattr__('x', 2)",
        "1",
    ),
    "decimal": ("InvalidOperation", "decimal.Decimal('x')", "isinstance(e, ArithmeticError)"),
    "queue": ("Empty", "queue.Queue().get_nowait()", "1"),
    "re": ("error", "re.compile('(')", "'missing )' in str(e)"),
    "struct": ("error", "struct.unpack('i', b'')", "1"),
    "binascii": ("Error", "binascii.unhexlify('z')", "isinstance(e, ValueError)"),
    "statistics": ("StatisticsError", "statistics.mean([])", "1"),
    "configparser": ("NoSectionError", "configparser.ConfigParser().get('a', 'b')", "e.section == 'a'"),
    "subprocess": (
        "CalledProcessError",
        "(_ for _ in ()).throw(subprocess.CalledProcessError(3, 'x'))",
        "e.returncode == 3",
    ),
    "graphlib": ("CycleError", "graphlib.TopologicalSorter({1: [2], 2: [1]}).prepare()", "1"),
    "xml.etree.ElementTree": ("ParseError", "xml.etree.ElementTree.fromstring('<')", "isinstance(e, SyntaxError)"),
    "sqlite3": ("OperationalError", "sqlite3.connect(':memory:').execute('x')", "'syntax' in str(e)"),
    "pickle": ("UnpicklingError", "pickle.loads(b'x')", "1"),
    "zipfile": ("BadZipFile", "(_ for _ in ()).throw(zipfile.BadZipFile('x'))", "str(e) == 'x'"),
    "numpy.linalg": ("LinAlgError", "numpy.linalg.inv([[0, 0], [0, 0]])", "1"),
}


@pytest.mark.parametrize("module", one_in(3, LIBRARY_ERRORS))
def test_exceptions_of_libraries_are_themselves(module: str) -> None:
    """A test catches them by the class that it imports, and a program's own classes extend them."""
    if module.startswith("numpy"):
        pytest.importorskip("numpy")
    name, raising, also = LIBRARY_ERRORS[module]
    test = f"import pytest\nfrom {module} import {name}\nwith pytest.raises({name}) as found: f()\ne = found.value\n"
    test += f"assert type(e) is {name} and ({also})\ntry:\n    f()\nexcept {name}: pass\nelse: assert 0"
    assert judge(f"import {module}\ndef f(): {raising}", test, "f").result == "passed"
    assert judge("def f(): raise KeyError", test, "f").result == "raised"
    own = f"import {module}\nclass Own({module}.{name}): pass\ndef f(): raise Own.__new__(Own, 'x')"
    caught = f"from {module} import {name}\ntry:\n    f()\nexcept {name} as e:\n    assert isinstance(e, Own)\nelse: assert 0"
    assert judge(own, caught, None).result == "passed"


OBJECTS: dict[str, Row] = {
    "error thrown into a generator": (
        "def g():\n    while True:\n        try:\n            yield 1\n        except ValueError as e:\n            yield str(e)\n",
        "x = g()\nassert next(x) == 1\nassert x.throw(ValueError('a')) == 'a'\nassert next(x) == 1 and x.throw(ValueError) == ''",
        None,
    ),
    "error classes as arguments and results": (
        "import contextlib\n@contextlib.contextmanager\ndef quiet(*kinds):\n    try: yield\n    except kinds: pass\n"
        "def kind(x): return ValueError if x else None\ndef made(): return KeyError('a')\n",
        "with quiet(ValueError):\n    raise ValueError\nassert kind(1) is ValueError\nr = made()\n"
        "assert isinstance(r, LookupError) and r.args == ('a',)",
        None,
    ),
    "named error": (
        "Missing = KeyError\ndef f(): raise Missing('a')\n",
        "try:\n    f()\nexcept Missing: pass\nelse: assert 0",
        None,
    ),
    "async with": (
        "class C:\n    async def __aenter__(self): return 5\n    async def __aexit__(self, t, e, b): return t is KeyError\n",
        "import asyncio\nasync def main():\n    async with C() as v: assert v == 5\n    async with C(): raise KeyError\n"
        "    try:\n        async with C(): raise ValueError\n    except ValueError: return 1\nassert asyncio.run(main()) == 1",
        None,
    ),
    "coroutine function as a callback": (
        "async def f(cb): return await cb(2) + await cb(3)\n",
        "import asyncio\nasync def cb(x):\n    await asyncio.sleep(0.001)\n    return x * 2\nassert asyncio.run(f(cb)) == 10",
        None,
    ),
    "items changed in place": (
        "class G:\n    def __init__(self): self.g = [[0, 0], [0, 0]]; self.d = {'a': []}\n"
        "    def __getitem__(self, k): return self.d[k] if k == 'a' else self.g[k]\n",
        "g = G()\ng[0][1] = 5\ng['a'].append(1)\nrow = g[1]\nrow[0] = 7\nassert g.g == [[0, 5], [7, 0]] and g['a'] == [1]",
        None,
    ),
    "slices, and what only has items": (
        "class S:\n    def __getitem__(self, i):\n        return list(range(3))[i]\n",
        "s = S()\nassert s[0:2] == [0, 1] and s[::-1] == [2, 1, 0]\nassert 2 in S() and 5 not in S()",
        None,
    ),
    "membership in a generator": ("def g(): yield from (1, 2)\n", "assert 2 in g()\nassert 3 not in g()", None),
    "error of an item": (
        "class D:\n    def __getitem__(self, k): raise KeyError(k)\n",
        "try:\n    D()['x']\nexcept KeyError as e: assert e.args == ('x',)\nelse: assert 0",
        None,
    ),
    "singleton": (
        "class S:\n    only = None\n    def __new__(c):\n        c.only = c.only or object.__new__(c)\n        return c.only\n",
        "assert S() is S()",
        None,
    ),
    "named tuple with methods": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 0\n    def norm(self, k=1): return (self.x + self.y) * k\n"
        "    @property\n    def top(self): return self.x\ndef f(): return P(1, 2)\n",
        "r = f()\nassert r == (1, 2) and r.norm() == 3 and r.norm(k=2) == 6 and r.top == 1 and P(4).norm() == 4",
        None,
    ),
    "operators on values of extended classes": (
        "class S(str):\n    def shout(self): return self.upper()\nclass L(list):\n    def total(self): return sum(self)\n"
        "class I(int):\n    def half(self): return self // 2\ndef s(): return S('ab')\ndef l(): return L([1, 2])\ndef i(): return I(8)\n",
        "assert s() + 'c' == 'abc' and 'x' + s() == 'xab' and s().shout() == 'AB'\n"
        "assert l() + [3] == [1, 2, 3] and l() * 2 == [1, 2, 1, 2] and list(reversed(l())) == [2, 1]\n"
        "assert i() + 1 == 9 and 10 - i() == 2 and -i() == -8 and i() ** 2 == 64 and int(i()) == 8 and float(i()) == 8.0",
        None,
    ),
    "returned objects among themselves": (
        "from functools import total_ordering\n@total_ordering\nclass V:\n    def __init__(self, c): self.c = c\n"
        "    def __eq__(self, o): return self.c == o.c\n    def __lt__(self, o): return self.c < o.c\n"
        "    def __add__(self, o): return V(self.c + o.c)\ndef mk(c): return V(c)\n",
        "assert mk(1) == mk(1) and mk(1) != mk(2) and mk(1) < mk(2) and sorted([mk(2), mk(1)])[0].c == 1\n"
        "assert mk(1) + mk(2) == V(3) and (mk(1) + mk(2)).c == 3",
        None,
    ),
    "values of libraries": (
        "import uuid, ipaddress, datetime, zoneinfo\ndef f(): return uuid.UUID(int=1), ipaddress.ip_address('10.2.3.4'), "
        "ipaddress.ip_network('10.0.0.0/8')\ndef g(): return datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('UTC'))\n",
        "import uuid, ipaddress\nu, a, n = f()\nassert u == uuid.UUID(int=1) and a == ipaddress.ip_address('10.2.3.4') and a in n\n"
        "assert g().year == 2024 and g().utcoffset().total_seconds() == 0",
        None,
    ),
    "names in a text that the test runs": (
        "def f(x): return x\n",
        "exec('assert f(1) == 1')\nassert eval('f(2)') == 2",
        None,
    ),
}
"""Objects, exceptions and values of the submission's."""

WRONG: dict[str, Row] = {
    "skip whose condition does not hold": (
        "def f(x): return 2\n",
        "import pytest\n@pytest.mark.skipif(False, reason='x')\ndef test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 2",
        "f",
    ),
    "error that skips a test": (
        "import unittest\ndef f(): raise unittest.SkipTest('x')\n",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(), 1)\n",
        None,
    ),
    "error of pytest": ("import pytest\ndef f(): pytest.skip('x')\n", "def test_a(): assert f() == 1", "f"),
    "named error that catches assertions": (
        "Missing = Exception\ndef f(): return 1\n",
        "try:\n    assert f() == 2\nexcept Missing: pass",
        None,
    ),
    "content of an extended class": (
        "class I(int):\n    def half(self): return 4\n    def __add__(self, o): return 9\n    __radd__ = __sub__ = __add__\n"
        "def f(): return I(3)\n",
        "assert f() + 1 == 9",
        None,
    ),
    "named tuple that equals everything": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    def __eq__(self, o): return True\n"
        "    def count(self, x): return 1\ndef f(): return P(1)\n",
        "assert f() == (2,)",
        None,
    ),
    "item that keeps no change": (
        "class G:\n    def __getitem__(self, k): return [0]\n",
        "g = G()\ng[0].append(3)\nassert g[0] == [0, 3]",
        None,
    ),
    "generator without the item": ("def g(): yield 1\n", "assert 2 in g()", None),
    "objects that equal everything in a generator": (
        "class E:\n    def __eq__(s, o): return True\ndef g(): yield E()\n",
        "assert 2 in g()",
        None,
    ),
    "address": (
        "import ipaddress\ndef f(): return ipaddress.ip_address(1)\n",
        "import ipaddress\nassert f() == ipaddress.ip_address(2)",
        None,
    ),
    "error returned": ("def f(): return ValueError('x')\n", "r = f()\nassert isinstance(r, KeyError)", None),
    "block that swallows a failed assertion": (
        "class C:\n    async def __aenter__(s): return 4\n    async def __aexit__(s, *a): return True\n",
        "import asyncio\nasync def main():\n    async with C() as v: assert v == 5\nasyncio.run(main())",
        None,
    ),
    "attribute changed in place": (
        STACK.replace("sum(self.items)", "0"),
        "s = Stack()\ns.items.append(3)\nassert s.total() == 3",
        None,
    ),
    "attribute that keeps no change": (
        "class S:\n    @property\n    def items(self): return []\n",
        "s = S()\ns.items.append(3)\nassert s.items == [3]",
        None,
    ),
    "path": (
        "from pathlib import Path\ndef f(): return Path('a')\n",
        "from pathlib import Path\nassert f() == Path('b')",
        None,
    ),
    "global": ("MAX = 11\ndef f(): return MAX\n", "assert MAX == 10", None),
    "global that equals everything": (
        "class E:\n    def __eq__(s, o): return True\nMAX = E()\ndef f(): return MAX\n",
        "assert MAX == 10",
        None,
    ),
    "list that equals everything": (
        "class L(list):\n    def __eq__(s, o): return True\n    def g(s): pass\ndef f(): return L()\n",
        "assert f() == [1]",
        None,
    ),
    "list that iterates over other items": (
        "class L(list):\n    def g(s): pass\n    def __iter__(s): return iter([1])\ndef f(): return L([3])\n",
        "assert f() == [1]",
        None,
    ),
    "class that says list": (
        "class L:\n    @property\n    def __class__(s): return list\n    def __eq__(s, o): return True\ndef f(): return L()\n",
        "assert isinstance(f(), list) and f() == [1]",
        None,
    ),
    "data beside a result": (
        "eps = 9\ndef f(): return 4\n",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertLess(abs(f() - 3), eps)\n",
        None,
    ),
    "data as the expected value": (
        "want = 4\ndef f(): return 4\n",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(), want)\n",
        None,
    ),
    "type": ("def f(x): return [x]\n", "assert type(f(1)) is tuple", None),
    "copy that is plain": (
        "class P:\n    def __copy__(s): return 5\n    def __deepcopy__(s, m): return 5\ndef f(): return P()\n",
        "import copy\nassert copy.deepcopy(f()) == 5",
        None,
    ),
    "fixture": (
        "class S(list): pass\n",
        "import pytest\n@pytest.fixture\ndef s(): return S([1])\ndef test_x(s):\n    assert s.pop() == 2\n",
        None,
    ),
    "attribute of an object that equals everything": (
        "class E:\n    def __eq__(s, o): return True\nclass P:\n    def __init__(s): s.x = E()\n",
        "p = P()\nassert p.__dict__ == {'x': 1}",
        None,
    ),
}


@pytest.mark.parametrize("name", RIGHT | PYTEST | OBJECTS)
def test_right_programs_pass(name: str) -> None:
    report = judge(*(RIGHT | PYTEST | OBJECTS)[name])
    assert (report.result, report.message) == ("passed", "")


@pytest.mark.parametrize("name", MASKED)
def test_what_cannot_be_told_is_masked(name: str) -> None:
    assert judge(*MASKED[name]).result == "bad_test"


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_fail(name: str) -> None:
    assert judge(*WRONG[name]).result in ("failed", "raised", "not_plain")
