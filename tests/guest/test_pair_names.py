"""Name resolution: a submission never supplies a name that the test means from the standard library."""

# ruff: noqa: E501 (rows of programs)

from __future__ import annotations

import pytest

from tests.guest.boxes import judge
from tests.markers import one_in

import name_resolution  # isort: skip
import name_table  # isort: skip

YES = "class Any_:\n    def __init__(s,*a,**k): pass\n    __eq__=lambda s,o: True\n    __hash__=lambda s: 1\n    __contains__=lambda s,o: True\n    __lt__=__gt__=__le__=__ge__=__sub__=__add__=lambda s,o: True\n    __bool__=lambda s: True\n    __float__=lambda s: 3.0\n    def __getattr__(s,n): return lambda *a, **k: True\n"
MODULE = (
    "class Any_:\n    isclose = allclose = loads = match = eq = isna = Counter = simplify = staticmethod(lambda *a: True)\n"
    "    class path: samefile = staticmethod(lambda *a: True)\n"
    "    class SequenceMatcher:\n        def __init__(s, *a): pass\n        def ratio(s): return 1\n"
)
CLASSES = {
    "Counter": "Counter(f(1)) == Counter([1, 1, 2])",
    "OrderedDict": "OrderedDict(f(1)) == OrderedDict(a=1)",
    "deque": "deque(f(1)) == deque([1])",
    "Fraction": "Fraction(f(1)) == Fraction(1, 3)",
    "Decimal": "Decimal(f(1)) == Decimal('1.5')",
    "Path": "Path(f(1)) == Path('/a')",
    "array": "array('i', f(1)) == array('i', [3])",
    "defaultdict": "defaultdict(int, f(1)) == {1: 2}",
    "datetime": "datetime.strptime(f(1), '%Y') == datetime(2020, 1, 1)",
    "date": "date.fromisoformat(f(1)) == date(2020,1,1)",
    "timedelta": "timedelta(days=1) == f(1)",
    "namedtuple": "namedtuple('P', 'x')(f(1)) == (3,)",
    "StringIO": "StringIO(f(1)).read() == 'right'",
    "SequenceMatcher": "SequenceMatcher(None, f(1), 'right').ratio() == 1.0",
    "ChainMap": "ChainMap(f(1)) == {1:2}",
    "PurePath": "PurePath(f(1)).match('right')",
    "Mock": "Mock(return_value=3)() == f(1)",
    "UUID": "UUID(f(1)) == UUID(int=3)",
    "IPv4Address": "IPv4Address(f(1)) == IPv4Address('1.2.3.4')",
    "Random": "Random(1).choice([f(1)]) == 3",
    "Template": "Template(f(1)).substitute() == 'right'",
    "Enum": "Enum('E', f(1)).right.value == 1",
    "SimpleNamespace": "SimpleNamespace(a=f(1)) == SimpleNamespace(a=3)",
    "MappingProxyType": "MappingProxyType(f(1)) == {}",
}
FUNCTIONS = {
    "isclose": "isclose(f(1), 3)",
    "reduce": "reduce(lambda a, b: a + b, f(1)) == 6",
    "deepcopy": "deepcopy(f(1)) == 3",
    "sqrt": "f(1) == sqrt(9)",
    "gcd": "gcd(12, 8) == f(1)",
    "chain": "list(chain(f(1), [1])) == [2,1]",
    "permutations": "f(1) == list(permutations([1,2]))",
    "itemgetter": "sorted(f(1), key=itemgetter(0)) == [3]",
    "heappop": "heappop(f(1)) == 3",
    "bisect_left": "bisect_left(f(1), 3) == 3",
    "loads": "loads(f(1)) == 3",
    "sub": "sub('a', 'b', 'a') == f(1)",
    "mean": "mean(f(1)) == 3",
    "dataclass": "dataclass(f(1)) == 3",
    "fsum": "fsum(f(1)) == 3",
    "product": "f(1) == list(product([1],[2]))",
    "cmp_to_key": "sorted(f(1), key=cmp_to_key(lambda a,b: 0)) == [3]",
    "islice": "list(islice(f(1), 2)) == [1, 2]",
    "partial": "partial(f, 1)() == 3",
    "ceil": "ceil(f(1)) == 3",
    "prod": "prod(f(1)) == 3",
    "md5": "md5(b'3').hexdigest() == f(1)",
    "dedent": "dedent(f(1)) == '3'",
    "quote": "quote(f(1)) == '3'",
    "starmap": "list(starmap(f, [(1,)])) == [3]",
}
MODULES = {
    "math": "math.isclose(f(1), 3)",
    "np": "np.allclose(f(1), 3)",
    "collections": "collections.Counter(f(1)) == collections.Counter([1])",
    "re": "re.match(f(1), 'x')",
    "json": "json.loads(f(1)) == 3",
    "operator": "operator.eq(f(1), 3)",
    "pd": "pd.isna(f(1))",
    "os": "os.path.samefile(f(1), 3)",
    "difflib": "difflib.SequenceMatcher(None, f(1), 'r').ratio() == 1",
    "sympy": "sympy.simplify(f(1)) == 3",
    "torch": "torch.allclose(f(1), 3)",
}


@pytest.mark.parametrize("entry_point", ["f", None])
@pytest.mark.parametrize("name", one_in(3, CLASSES))
def test_library_classes(name: str, entry_point: str | None) -> None:
    """A submission's class with the name of a library class decides nothing, whether read directly or by a variable."""
    test, wrong = CLASSES[name], "def f(*a): return 'wrong'\n"
    say_yes = YES.replace("Any_", name)
    for program, text in (
        (say_yes + wrong, f"assert {test}"),
        (say_yes + f"def f(*a): return {name}()\n", f"assert {test}"),
        (say_yes + wrong, "x = f(1)\nassert " + test.replace("f(1)", "x")),
    ):
        assert judge(program, text, entry_point).result not in ("passed", "bad_test", "")


@pytest.mark.parametrize("entry_point", ["f", None])
@pytest.mark.parametrize("name", one_in(3, FUNCTIONS))
def test_library_functions(name: str, entry_point: str | None) -> None:
    """A submission's function with the name of a library function decides nothing."""
    for kind in (f"def {name}(*a, **k): return True\n", f"class {name}:\n    def __new__(c, *a, **k): return True\n"):
        for text in (f"assert {FUNCTIONS[name]}", "x = f(1)\nassert " + FUNCTIONS[name].replace("f(1)", "x")):
            report = judge(kind + "def f(*a): return 'wrong'\n", text, entry_point)
            assert report.result not in ("passed", "bad_test", ""), report


@pytest.mark.parametrize("entry_point", ["f", None])
@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str, entry_point: str | None) -> None:
    """A submission never supplies a module, installed or not."""
    program = MODULE.replace("Any_", name) + "def f(*a): return 'wrong'\n"
    assert judge(program, f"assert {MODULES[name]}", entry_point).result not in ("passed", "")


OWN = {
    "a class that the library has, used otherwise": (
        "class Queue:\n    def __init__(self): self.all = []\n    def enqueue(self, x): self.all.append(x)\n    def size(self): return len(self.all)\n"
        "def f(): return 1\n",
        "q = Queue()\nq.enqueue(3)\nassert q.size() == 1 and f() == 1",
    ),
    "a class that the library has, made otherwise": (
        "class Event:\n    def __init__(self, name, day): self.name = name\ndef f(e): return e.name\n", "assert f(Event('a', 3)) == 'a'",
    ),
    "functions that the library has, each tried": (
        "def gcd(a, b): return a if not b else gcd(b, a % b)\ndef lcm(a, b): return a * b // gcd(a, b)\n",
        "assert gcd(12, 8) == 4\nassert lcm(4, 6) == 12",
    ),
    "a function that the library has, tried beside another": (
        "def sub(a, b): return a - b\ndef f(x): return x\n", "assert sub(3, 1) == 2\nassert f(1) == 1",
    ),
    "all of them, in a loop": (
        "def add(a, b): return a + b\ndef mul(a, b): return a * b\n", "for a, b in [(1, 2), (3, 4)]:\n    assert add(a, b) == a + b and mul(a, b) == a * b",
    ),
    "the library's, imported by the submission": ("from collections import Counter\ndef f(s): return Counter(s)\n", "assert f('aab') == Counter('aab')"),
    "the library's, not imported at all": ("def f(s): return {'a': 2, 'b': 1}\n", "assert f('aab') == Counter('aab')"),
    "the library's function": ("def f(x): return x * x\n", "assert isclose(f(2), 4) and f(2) == reduce(lambda a, b: a * b, [2, 2]) and math.floor(f(2)) == 4"),
    "a name for a module and for its class": ("def f(): return '2020'\n", "assert datetime.strptime(f(), '%Y') == datetime(2020, 1, 1)"),
    "the module of that name": ("def f(): return '2020'\n", "assert datetime.datetime.strptime(f(), '%Y').year == 2020"),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_right(name: str) -> None:
    """The test's own text distinguishes the two meanings of a name."""
    report = judge(*OWN[name])
    assert (report.result, report.message) == ("passed", "")


def test_a_single_name_is_the_candidate() -> None:
    """Data sets also ask for functions that the library has."""
    for name in ("merge", "gcd", "count", "Counter", "product", "log", "array", "sum"):
        assert judge(f"def {name}(x): return 7\n", f"assert {name}(1) == 7").result == "passed"


MISSING = {
    "some of the functions": ("def sub(a, b): return a - b\n", "assert sub(3, 1) == 2\nassert add(1, 2) == 3", None),
    "others of them": ("def add(a, b): return a + b\n", "assert add(1, 2) == 3\nassert sub(3, 1) == 2", None),
    "all of them": ("x = 1\n", "assert sub(3, 1) == 2\nassert add(1, 2) == 3", None),
    "the class of a helper": ("def f(p): return 3\n", "assert f([Pair(1, 2)]) == 3", "f"),
    "a function instead of that class": ("def f(p): return 3\ndef Pair(a, b): return 3\n", "assert f([Pair(1, 2)]) == 3", "f"),
    "data instead of that class": ("def f(p): return 3\nPair = 3\n", "assert f([Pair(1, 2)]) == 3", "f"),
    "one that the test imports": ("def g(): return 3\n", "from solution import f\nassert f() == 3", None),
    "the only function, and the test swallows it": ("x = 1\n", "try:\n    f(1)\nexcept Exception:\n    pass", "f"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_missing(name: str) -> None:
    """A name that the submission should define and does not is its failure."""
    assert judge(*MISSING[name]).result == "raised"


def test_text_alone_decides() -> None:
    """Names are resolved without the submission."""
    resolution = name_resolution.resolve(
        name_table.TestNames("assert f(Counter(x) + Pair(1), np.inf, eps) == undefined"), {"x": 1}, "f"
    )
    assert (resolution.submission, resolution.submission_classes, resolution.unresolved) == (
        {"f"},
        {"Pair"},
        {"eps", "undefined"},
    )
    assert "Counter" in resolution.library


def test_long_tests_are_read() -> None:
    """The cost of a long expression and of many names is linear."""
    long = "x = " + " + ".join(["1"] * 800) + "\nassert f(math.floor(x)) == g(x) == x\n" + "math.pi\n" * 20_000
    report = judge("def f(x): return x\ndef g(x): return x\n", long)
    assert (report.result, report.message) == ("passed", "")
    assert report.cpu_seconds < 10
